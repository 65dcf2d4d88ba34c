"""What ``AsyncClient``'s methods return: a coroutine that everything takes, and that does nothing before."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from docplatform import AsyncClient, Job, Totals
from docplatform.testing import StubServer
from support import AsyncFace
from support.coroutines import Call, every_call, face

__all__ = ["face"]


@every_call
def test_every_method_returns_a_coroutine(face: AsyncFace, stub: StubServer, name: str, call: Call) -> None:
    coroutine = call(face.client(stub))
    assert isinstance(coroutine, Coroutine)
    assert asyncio.iscoroutine(coroutine)
    assert inspect.isawaitable(coroutine)
    assert not hasattr(coroutine, "__iter__")
    coroutine.close()


@every_call
def test_nothing_is_sent_before_it_is_awaited(
    face: AsyncFace, stub: StubServer, name: str, call: Call
) -> None:
    coroutine = call(face.client(stub))
    face.run(asyncio.sleep(0.01))
    assert (stub.requests, stub.peak_connections) == ([], 0)
    coroutine.close()
    assert (stub.requests, stub.peak_connections) == ([], 0)


async def in_a_task(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.create_task(coroutine)


async def in_a_named_task(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.get_running_loop().create_task(coroutine, name="export")


async def gathered(coroutine: Coroutine[Any, Any, Any]) -> Any:
    (result,) = await asyncio.gather(coroutine)
    return result


async def waited_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.wait_for(coroutine, 30)


async def within_a_timeout(coroutine: Coroutine[Any, Any, Any]) -> Any:
    async with asyncio.timeout(30):
        return await coroutine


async def in_a_group(coroutine: Coroutine[Any, Any, Any]) -> Any:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(coroutine)
    return task.result()


async def shielded(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.shield(coroutine)


async def as_completed(coroutine: Coroutine[Any, Any, Any]) -> Any:
    (first,) = asyncio.as_completed([coroutine])
    return await first


async def ensured(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.ensure_future(coroutine)


async def from_another_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    loop = asyncio.get_running_loop()
    run = asyncio.run_coroutine_threadsafe
    return await asyncio.to_thread(lambda: run(coroutine, loop).result(30))


async def in_its_own_context(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.create_task(coroutine, context=contextvars.Context())


WAYS: list[Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]]] = [
    in_a_task,
    in_a_named_task,
    gathered,
    waited_for,
    within_a_timeout,
    in_a_group,
    shielded,
    as_completed,
    ensured,
    from_another_thread,
    in_its_own_context,
]


@pytest.mark.row("I17")
@pytest.mark.parametrize("way", WAYS)
def test_asyncio_takes_it_as_it_is(
    face: AsyncFace, stub: StubServer, way: Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, Any]]
) -> None:
    client = face.client(stub)
    assert face.run(way(client.create_job("Fix it"))) == face.run(client.get_job("job-1"))
    assert len(stub.jobs) == 1


@pytest.mark.row("I3")
def test_a_runner_and_a_loop_take_it_as_it_is(stub: StubServer) -> None:
    with pytest.raises(RuntimeError, match="is closed"):
        asyncio.run(use_after_close(stub.async_client()))
    assert asyncio.run(stub.async_client().visitor_totals()).total > 0
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(stub.async_client().visitor_totals()).total > 0
    loop.close()


async def use_after_close(client: AsyncClient) -> None:
    async with client:
        await client.visitor_totals()
    await client.visitor_totals()


def test_a_set_of_coroutines_is_refused_as_python_refuses_its_own(face: AsyncFace, stub: StubServer) -> None:
    coroutine: Any = face.client(stub).visitor_totals()
    with pytest.raises(TypeError, match="coroutines is forbidden"):
        face.run(asyncio.wait([coroutine]))
    coroutine.close()


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


def test_a_value_that_is_a_tuple_arrives_whole(face: AsyncFace, stub: StubServer) -> None:
    totals = face.run(face.client(stub).visitor_totals())
    assert isinstance(totals, Totals)
    assert face.run(gathered(face.client(stub).visitor_totals())) == totals
    page = face.run(face.client(stub).visitors(page_size=3).pages().__anext__())
    assert (len(page.rows), page.totals) == (3, totals)


def test_no_value_is_none(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)
    stub.fail_next(200, body=b"")
    assert face.run(client.request("GET", "/empty")) is None
    assert face.run(client.__aexit__(None, None, None)) is None
    assert face.run(client.close()) is None


def test_the_end_of_an_iterator_fits_through_every_door(face: AsyncFace, stub: StubServer) -> None:
    rows = face.client(stub).visitors(max_rows=1)
    assert face.run(rows.__anext__())["path"]

    async def at_the_end() -> None:
        for way in (in_a_task, gathered, waited_for):
            with pytest.raises(StopAsyncIteration):
                await way(rows.__anext__())
        assert await anext(rows, "nothing left") == "nothing left"

    face.run(at_the_end())


@pytest.mark.row("I17")
@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("pages", [False, True])
def test_every_page_turn_lets_the_loop_have_a_turn(
    face: AsyncFace, stub: StubServer, prefetch: int, pages: bool
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
        for page in range(40):
            before = turns
            if pages:
                await anext(rows.pages())
            else:
                for _ in range(25):
                    await anext(rows)
            assert turns > before, f"page {page} was turned without the loop"

    face.run(main())
    assert len(stub.requests) <= 40 + max(0, prefetch - 1)


def test_a_callback_runs_in_the_callers_context(face: AsyncFace, stub: StubServer) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    seen: list[str] = []

    async def later() -> None:
        seen.append(variable.get())
        variable.set("set by the awaitable")

    def on_poll(job: Job) -> Awaitable[None] | None:
        seen.append(variable.get())
        variable.set(f"set at poll {len(seen)}")
        return later() if job.is_final else None

    async def main() -> None:
        client = face.client(stub)
        job = await client.create_job("Fix it")
        variable.set("set by the caller")
        await client.wait_for_job(job, poll_interval=0.001, on_poll=on_poll)
        seen.append(variable.get())

    face.run(main())
    assert seen == [
        "set by the caller",
        "set at poll 1",
        "set at poll 2",
        "set at poll 3",
        "set by the awaitable",
    ]
