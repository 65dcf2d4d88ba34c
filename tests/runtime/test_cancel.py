"""A cancellation leaves these behind: notes and log lines of a write, and every row of an export."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from docplatform import AsyncClient, Job
from docplatform.testing import StubServer
from helpers import AsyncFace
from helpers.coroutines import AnyCoroutine, face
from helpers.phases import GOES_ON, HOLD, UNKNOWN, pending

__all__ = ["face"]

PAGES, SIZE = 8, 5

# -- writes ----------------------------------------------------------------------------------------


@pytest.mark.row("A13")
@pytest.mark.parametrize(
    ("write", "note"),
    [
        (lambda client: client.create_job("Fix it"), f"{GOES_ON}|{UNKNOWN}"),
        (lambda client: client.request("POST", "/x", json={}), f"outcome: applied|{UNKNOWN}"),
        (lambda client: client.request("DELETE", "/x"), f"outcome: applied|{UNKNOWN}"),
    ],
)
def test_a_write_that_is_answered_just_before_it_is_cancelled_leaves_a_note(
    face: AsyncFace, write: Callable[[AsyncClient], AnyCoroutine], note: str
) -> None:
    with StubServer() as stub:
        client = face.client(stub)

        async def cancelled() -> list[str] | None:
            stub.fail_next(status=201, body={"id": "job-1", "status": "active"})
            before = len(stub.requests)
            task = asyncio.create_task(write(client))
            await asyncio.sleep(0)
            # The loop is held here, so that the answer is there before the task can look at it.
            stub.wait_for(lambda s: len(s.requests) > before and s.requests[-1].status is not None)
            if not task.cancel():
                # On a busy machine its first step had the answer.
                return None
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            return getattr(caught.value, "__notes__", [])

        seen = 0
        while seen < 20:
            notes = face.run(cancelled())
            seen += notes is not None
            assert notes is None or re.search(note, " ".join(notes)), notes


def test_a_write_that_is_cancelled_before_its_first_step_sends_nothing(face: AsyncFace) -> None:
    with StubServer() as stub:
        client = face.client(stub)
        face.cancel(lambda: client.create_job("Fix it"), lambda: True)
        assert stub.requests == []


def test_a_write_whose_cancellation_is_swallowed_is_logged(
    face: AsyncFace, caplog: pytest.LogCaptureFixture
) -> None:
    with StubServer(latency=HOLD) as stub:

        async def cancelled() -> None:
            task = asyncio.create_task(face.client(stub).create_job("Fix it"))
            await asyncio.to_thread(stub.wait_for, pending)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        face.run(cancelled())
    assert [UNKNOWN in record.getMessage() for record in caplog.records if record.name == "docplatform"] == [
        True
    ]


# -- exports ---------------------------------------------------------------------------------------


def paths(rows: list[dict[str, Any]]) -> list[str]:
    return [row["path"] for row in rows]


@pytest.fixture
def everything(face: AsyncFace) -> list[str]:
    """The paths of a whole export."""
    with StubServer(visitors=PAGES * SIZE) as stub:
        return paths(face.all(face.client(stub).visitors()))


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.row("I1")
@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("by_page", [False, True])
def test_a_page_that_comes_with_the_cancellation_is_not_lost(
    face: AsyncFace, everything: list[str], prefetch: int, by_page: bool
) -> None:
    with StubServer(visitors=PAGES * SIZE) as stub:
        rows = face.client(stub).visitors(page_size=SIZE, prefetch=prefetch)
        pages = rows.pages()
        got: list[dict[str, Any]] = []

        async def cancelled_too_late() -> None:
            coroutine: Any = pages.__anext__() if by_page else rows.__anext__()
            stub.latency = 0.0 if prefetch else 0.01
            waiting = coroutine.send(None)
            if prefetch == 0:
                waiting = waiting or coroutine.send(None)  # the loop may want a turn first
                # The answer is there, and the coroutine would get it in its next step.
                await asyncio.wait([waiting])
            with pytest.raises(asyncio.CancelledError):
                coroutine.throw(asyncio.CancelledError())

        for page in range(PAGES):
            if prefetch:
                stub.wait_for(lambda s: not pending(s))
            face.run(cancelled_too_late())
            assert len(got) == page * SIZE
            got += [face.next(rows) for _ in range(SIZE)]
        assert face.all(rows) == []
        assert paths(got) == everything


@pytest.mark.row("I1")
def test_tasks_that_share_an_iterator_go_on_when_one_is_cancelled(
    face: AsyncFace, everything: list[str]
) -> None:
    with StubServer(visitors=PAGES * SIZE, latency=0.01) as stub:
        rows = face.client(stub).visitors(page_size=SIZE, prefetch=0)
        got: list[dict[str, Any]] = []

        async def take() -> None:
            async for row in rows:
                got.append(row)  # noqa: PERF401  # each at once: the task is going to be cancelled

        async def main() -> None:
            tasks = [asyncio.create_task(take()) for _ in range(6)]
            for task in tasks[:5]:
                arrived = len(stub.requests)
                while len(stub.requests) == arrived:  # noqa: ASYNC110  # set by another thread
                    await asyncio.sleep(0.001)
                await cancel(task)
            await tasks[5]

        face.run(main())
        assert sorted(paths(got)) == sorted(everything)


# -- a callback ------------------------------------------------------------------------------------


@pytest.mark.row("I1", "I16")
def test_a_callback_that_swallows_a_cancellation_has_the_last_word(face: AsyncFace, stub: StubServer) -> None:
    client = face.client(stub)
    job = face.run(client.create_job("Fix it"))
    began = asyncio.Event()

    async def stubborn(job: Job) -> None:
        if not began.is_set():
            began.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(HOLD)

    async def main() -> Any:
        task = asyncio.create_task(client.wait_for_job(job, on_poll=stubborn, poll_interval=0.001))
        await began.wait()
        task.cancel()
        return await task

    assert face.run(main()).is_final
