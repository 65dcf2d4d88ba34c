"""The coroutines of ``AsyncClient`` behave as Python's own do, also where they are misused."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from docplatform import AsyncClient, Job, NotFoundError
from docplatform.testing import StubServer
from support import AsyncFace
from support.coroutines import CALLS, Call, every_call, face
from support.phases import HOLD, pending

__all__ = ["face"]

AnyCoroutine: TypeAlias = Coroutine[Any, Any, Any]
Step: TypeAlias = Callable[[AnyCoroutine], object]


class CauseError(Exception):
    pass


def drop(coroutine: AnyCoroutine) -> None:
    """Takes it, and lets it go."""


# -- dropped -------------------------------------------------------------------------------------


@every_call
def test_one_that_is_dropped_unawaited_warns_and_sends_nothing(
    face: AsyncFace, stub: StubServer, name: str, call: Call
) -> None:
    client = face.client(stub)
    with pytest.warns(RuntimeWarning, match=f"^coroutine '{name}' was never awaited$"):
        drop(call(client))
    assert (stub.requests, stub.peak_connections) == ([], 0)


def test_the_warning_names_the_line_that_dropped_it(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)
    with pytest.warns(RuntimeWarning) as caught:
        client.get_job("job-1")  # type: ignore[unused-coroutine]
    assert caught[0].filename == __file__


def test_an_exception_on_its_way_survives_the_warning(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)
    for _ in range(3):
        with (
            pytest.warns(RuntimeWarning, match="never awaited"),
            pytest.raises(ZeroDivisionError, match="division by zero"),
        ):
            # The coroutine lies on the stack that the exception unwinds.
            print(client.get_job("job-1"), 1 / 0)


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_it_is_reported_and_nothing_else_is_lost(
    face: AsyncFace, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = face.client(stub)
    reported: list[tuple[str, str]] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda seen: reported.append((str(seen.object), repr(seen.exc_value)))
    )
    drop(client.get_job("job-1"))
    with pytest.raises(ZeroDivisionError):
        print(client.create_job("Fix it"), 1 / 0)
    assert reported == [
        (f"<coroutine object {name}>", f"RuntimeWarning(\"coroutine '{name}' was never awaited\")")
        for name in ("AsyncClient.get_job", "AsyncClient.create_job")
    ]
    assert face.run(client.visitor_totals()).total > 0


@pytest.mark.filterwarnings("error")
@every_call
def test_one_that_was_closed_or_thrown_into_does_not_warn(
    face: AsyncFace, stub: StubServer, name: str, call: Call
) -> None:
    call(face.client(stub)).close()
    coroutine = call(face.client(stub))
    with pytest.raises(CauseError):
        coroutine.throw(CauseError())
    del coroutine
    task_cancelled_before_its_first_step(face, call(face.client(stub)))
    gc.collect()
    assert stub.requests == []


def task_cancelled_before_its_first_step(face: AsyncFace, coroutine: AnyCoroutine) -> None:
    async def main() -> None:
        task = asyncio.create_task(coroutine)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    face.run(main())


# -- driven by hand ------------------------------------------------------------------------------


async def own() -> Job:
    await asyncio.sleep(0)
    raise AssertionError("not to be reached")


def begin(coroutine: AnyCoroutine) -> None:
    coroutine.send(None)


def throw(*what: Any) -> Step:
    return lambda coroutine: coroutine.throw(*what)


def send(value: Any) -> Step:
    return lambda coroutine: coroutine.send(value)


def close(coroutine: AnyCoroutine) -> None:
    coroutine.close()


cause = CauseError("the same one")
MISUSE: dict[str, list[Step]] = {
    "a value before the start": [send(1), close],
    "closed before the start": [close, close, send(None), throw(cause)],
    "closed on the way": [begin, close, close, send(None)],
    "thrown into before the start": [throw(cause), send(None), throw(cause), close],
    "thrown into on the way": [begin, throw(cause), send(None), close],
    "thrown a class": [begin, throw(CauseError)],
    "thrown a class and a value": [begin, throw(CauseError, "text")],
    "thrown a class, a value and no traceback": [begin, throw(CauseError, cause, None)],
    "cancelled on the way": [begin, throw(asyncio.CancelledError("why")), close],
    "thrown GeneratorExit": [begin, throw(GeneratorExit()), close],
    "iterated": [lambda c: iter(c), lambda c: list(c), close],  # type: ignore[call-overload]
    "called": [lambda coroutine: coroutine(), close],  # type: ignore[operator]
    "given an attribute": [lambda coroutine: setattr(coroutine, "x", 1), close],
}


@pytest.mark.filterwarnings("ignore:the .* signature of throw:DeprecationWarning")
@pytest.mark.parametrize("steps", MISUSE.values(), ids=MISUSE)
def test_misuse_is_answered_as_python_answers_it(
    face: AsyncFace, stub: StubServer, steps: list[Step]
) -> None:
    stub.latency = 60.0

    async def outcomes(coroutine: AnyCoroutine) -> list[str]:
        seen = []
        for step in steps:
            try:
                step(coroutine)
                seen.append("nothing raised")
            except BaseException as error:  # noqa: BLE001  # to be compared
                text = str(error).replace("docplatform._native.Coroutine", "coroutine")
                seen.append(f"{type(error).__name__}: {text}")
        return seen

    expected = face.run(outcomes(own()))
    assert face.run(outcomes(face.client(stub).get_job("job-1"))) == expected


@pytest.mark.row("I1")
def test_what_is_thrown_comes_out_as_it_is_and_drops_the_request(face: AsyncFace, stub: StubServer) -> None:
    stub.latency = 60.0

    async def main() -> None:
        coroutine = face.client(stub).visitor_totals()
        coroutine.send(None)
        await asyncio.to_thread(stub.wait_for, lambda s: s.requests)
        with pytest.raises(CauseError) as caught:
            coroutine.throw(cause)
        assert caught.value is cause
        await asyncio.to_thread(stub.wait_for, lambda s: s.requests[0].disconnected)

    face.run(main())
    assert len(stub.requests) == 1


def test_one_that_was_awaited_cannot_be_awaited_again(face: AsyncFace, stub: StubServer) -> None:
    coroutine = face.client(stub).create_job("Fix it")
    assert face.run(coroutine).id == "job-1"
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
            face.run(coroutine)
    assert len(stub.jobs) == 1


def test_one_that_failed_cannot_be_awaited_again(face: AsyncFace, stub: StubServer) -> None:
    coroutine = face.client(stub).get_job("job-7")
    with pytest.raises(NotFoundError):
        face.run(coroutine)
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        face.run(coroutine)


@pytest.mark.row("A17")
def test_two_that_await_the_same_one_cannot_send_it_twice(face: AsyncFace, stub: StubServer) -> None:
    stub.latency = 0.05

    async def main() -> list[Any]:
        coroutine = face.client(stub).create_job("Fix it")
        tasks = [asyncio.create_task(coroutine) for _ in range(2)]
        return await asyncio.gather(*tasks, return_exceptions=True)

    job, error = face.run(main())
    assert job.id == "job-1"
    assert isinstance(error, RuntimeError)
    assert len(stub.jobs) == 1


def test_one_that_is_closed_while_it_is_awaited_lets_its_awaiter_go(
    face: AsyncFace, stub: StubServer
) -> None:
    stub.latency = HOLD

    async def main() -> None:
        coroutine = face.client(stub).visitor_totals()
        task = asyncio.create_task(coroutine)
        await asyncio.to_thread(stub.wait_for, pending)
        coroutine.close()
        with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
            await task

    face.run(main())


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
    made: list[AnyCoroutine] = [client.create_job("Fix it"), client.get_job("job-1"), client.visitor_totals()]
    made.append(client.visitors().__anext__())
    face.run(client.close())
    for coroutine in made:
        with pytest.raises(RuntimeError, match="this client is closed"):
            face.run(coroutine)
    assert stub.requests == []


# -- looked at -----------------------------------------------------------------------------------


@every_call
def test_it_has_the_names_of_its_method(face: AsyncFace, stub: StubServer, name: str, call: Call) -> None:
    coroutine: Any = call(face.client(stub))
    assert (coroutine.__qualname__, coroutine.__name__) == (name, name.rpartition(".")[2])
    assert repr(coroutine) == f"<coroutine object {name}>"
    assert coroutine.cr_running is False
    coroutine.close()


def test_a_task_can_be_shown_at_any_time(face: AsyncFace, stub: StubServer) -> None:
    stub.latency = 60.0

    async def main() -> None:
        asyncio.get_running_loop().set_debug(True)
        task = asyncio.create_task(face.client(stub).get_job("job-1"))
        shown = [repr(task)]
        await asyncio.to_thread(stub.wait_for, lambda s: s.requests)
        shown.append(repr(task))
        assert task.get_stack() == []
        task.print_stack()
        task.cancel()
        await asyncio.wait([task])
        shown.append(repr(task))
        assert all("AsyncClient.get_job" in text for text in shown), shown

    face.run(main())


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


@pytest.mark.row("I13")
def test_thousands_leave_nothing_behind(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)

    def alive() -> int:
        gc.collect()
        return sum(type(thing).__name__ == "Coroutine" for thing in gc.get_objects())

    before = alive()
    for call in CALLS.values():
        for _ in range(200):
            call(client).close()
    face.run(client.visitor_totals())
    assert alive() == before
