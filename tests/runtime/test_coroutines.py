"""``AsyncClient``'s methods return coroutines that asyncio accepts everywhere, and that do nothing before they are awaited."""

from __future__ import annotations

import asyncio
import gc
import inspect
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from docplatform import AsyncClient, Job
from docplatform.testing import StubServer
from helpers import AsyncFace
from helpers.coroutines import Call, every_call, face
from helpers.exports import eventually
from helpers.phases import HOLD, pending

__all__ = ["face"]


@every_call
def test_every_method_returns_a_coroutine_of_pythons_own_that_sends_nothing_before_it_is_awaited(
    face: AsyncFace, stub: StubServer, name: str, call: Call
) -> None:
    coroutine = call(face.client(stub))
    assert inspect.iscoroutine(coroutine)
    assert (coroutine.__qualname__, coroutine.__name__) == (name, name.rpartition(".")[2])
    face.run(asyncio.sleep(0.01))
    coroutine.close()
    assert (stub.requests, stub.peak_connections) == ([], 0)


@every_call
def test_one_that_is_dropped_unawaited_warns_and_sends_nothing(
    face: AsyncFace, stub: StubServer, name: str, call: Call
) -> None:
    client = face.client(stub)
    with pytest.warns(RuntimeWarning, match=f"^coroutine '{name}' was never awaited$"):
        call(client)  # type: ignore[unused-coroutine]
    assert (stub.requests, stub.peak_connections) == ([], 0)


@pytest.mark.row("I17")
def test_without_a_running_loop_nothing_is_sent(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)
    for _ in range(50):
        with pytest.raises(RuntimeError, match="no running event loop"):
            client.create_job("Fix it").send(None)
    assert face.run(client.visitor_totals()).total > 0
    assert [request.method for request in stub.requests] == ["GET"]
    assert client.stats.requests == 1


@pytest.mark.row("I14")
def test_one_that_is_awaited_when_its_client_is_closed_says_so_and_sends_nothing(
    face: AsyncFace, stub: StubServer
) -> None:
    client = face.client(stub)
    made: list[Coroutine[Any, Any, Any]] = [
        client.create_job("Fix it"),
        client.get_job("job-1"),
        client.visitor_totals(),
    ]
    made.append(client.visitors().__anext__())
    face.run(client.close())
    for coroutine in made:
        with pytest.raises(RuntimeError, match="this client is closed"):
            face.run(coroutine)
    assert stub.requests == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
def test_eager_tasks(stub: StubServer) -> None:
    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined,unused-ignore]
        async with stub.async_client() as client:
            job, totals = await asyncio.gather(client.create_job("Fix it"), client.visitor_totals())
            assert (job.id, totals.total > 0) == ("job-1", True)
            closing = asyncio.create_task(client.with_options().close())
            assert closing.done(), "what needs no request ends in the first step of an eager task"

    asyncio.run(main())


@pytest.mark.row("I17")
@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("by", ["row", "page", "async for"])
def test_every_page_turn_lets_the_loop_have_a_turn(
    face: AsyncFace, stub: StubServer, prefetch: int, by: str
) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        turns = 0

        def count() -> None:
            nonlocal turns
            turns += 1
            loop.call_soon(count)

        loop.call_soon(count)
        rows = face.client(stub).visitors(page_size=25, prefetch=prefetch)
        passing = aiter(rows) if by == "async for" else rows
        for page in range(40):
            before = turns
            if by == "page":
                await anext(rows.pages())
            else:
                for _ in range(25):
                    await anext(passing)
            assert turns > before, f"page {page} was turned without the loop"

    face.run(main())
    assert len(stub.requests) <= 40 + max(0, prefetch - 1)


# -- collected -----------------------------------------------------------------------------------


class Holder:
    """Something that knows the coroutine that knows it."""

    def __init__(self, client: AsyncClient, job: str) -> None:
        self.polled = asyncio.Event()
        self.coroutine = client.wait_for_job(
            job, on_poll=self.on_poll, poll_interval=60.0, max_poll_interval=60.0
        )

    def on_poll(self, job: Job) -> Coroutine[Any, Any, None]:
        return self.later()

    async def later(self) -> None:
        self.polled.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("at", ["before the start", "in a request", "in a callback"])
def test_a_cycle_through_it_is_collected(face: AsyncFace, stub: StubServer, at: str) -> None:
    client = face.client(stub)
    job = face.run(client.create_job("Fix it"))
    stub.latency = 60.0 if at == "in a request" else 0.0

    async def main() -> weakref.ref[Holder]:
        holder = Holder(client, job.id)
        waiting: Any = None
        if at != "before the start":
            waiting = holder.coroutine.send(None)
            await asyncio.to_thread(stub.wait_for, lambda s: len(s.requests) == 2)
        while at == "in a callback" and not holder.polled.is_set():
            await asyncio.wait([waiting])
            waiting = holder.coroutine.send(None)
        return weakref.ref(holder)

    holder = face.run(main())
    assert holder() is not None
    if at == "before the start":
        with pytest.warns(RuntimeWarning, match="never awaited"):
            gc.collect()
    else:
        gc.collect()
    assert holder() is None
    if at == "in a request":
        stub.wait_for(lambda s: s.requests[1].disconnected)


# -- nobody waits any more -----------------------------------------------------------------------


def test_a_task_that_nobody_refers_to_runs_to_its_end(face: AsyncFace, stub: StubServer) -> None:
    """The loop keeps it, though the extension refers to it weakly."""
    stub.latency = 0.05
    client = face.client(stub)

    async def main() -> None:
        ended = threading.Event()
        # Without a reference, on purpose.
        asyncio.create_task(client.create_job("Fix it")).add_done_callback(lambda _: ended.set())
        await asyncio.to_thread(stub.wait_for, pending)
        gc.collect()
        assert await asyncio.to_thread(ended.wait, 20)

    face.run(main())


def run_until(loop: asyncio.AbstractEventLoop, reached: Callable[[], object]) -> None:
    async def until() -> None:
        while not reached():  # noqa: ASYNC110  # set by another thread
            await asyncio.sleep(0.001)

    loop.run_until_complete(until())


def abandoned(call: Coroutine[Any, Any, Any], reached: Callable[[], object]) -> asyncio.Task[Any]:
    """A task whose loop was closed in the middle of it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(call)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    run_until(loop, reached)
    loop.close()
    return task


@pytest.mark.row("I2")
@pytest.mark.parametrize("closed", [True, False])
def test_a_call_on_a_loop_that_is_gone_is_collected_and_its_request_ends(
    stub: StubServer, closed: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    stub.latency = HOLD
    client = stub.async_client()
    loop = asyncio.new_event_loop()
    task = loop.create_task(client.get_job("job-1"))
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    run_until(loop, lambda: pending(stub))
    if closed:
        loop.close()
    del loop, task
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()
    stub.wait_for(lambda s: s.requests[0].disconnected)
    assert capfd.readouterr().err == ""


@pytest.mark.row("I2")
def test_a_wait_ends_with_its_loop_though_its_task_is_kept(stub: StubServer) -> None:
    client = stub.async_client()
    stub.script_job("active")
    wait = client.run_job("Fix it", poll_interval=0.005, max_poll_interval=0.005)
    task = abandoned(wait, lambda: len(stub.requests) > 2)

    def is_quiet() -> bool:
        before = len(stub.requests)
        with suppress(TimeoutError):
            stub.wait_for(lambda s: len(s.requests) > before, timeout=0.2)
        return len(stub.requests) == before

    eventually(is_quiet)
    assert not task.done()


@pytest.mark.row("I3")
@pytest.mark.parametrize("way", ["__anext__", "collect"])
@pytest.mark.parametrize("came", [False, True])
def test_an_iterator_goes_on_in_another_loop_after_one_was_closed_in_the_middle(
    stub: StubServer, way: str, came: bool
) -> None:
    stub.latency = 0.1 if came else HOLD
    rows = stub.async_client().visitors(prefetch=0)
    task = abandoned(getattr(rows, way)(), lambda: pending(stub))
    if came:
        stub.wait_for(lambda s: s.requests[0].status is not None)
    stub.latency = 0.0

    async def rest() -> list[Any]:
        return [row async for row in rows]

    assert len(asyncio.run(rest())) == 1_000
    assert not task.done()
