"""A call that is cancelled ends at once, and so does its request; nothing else is touched."""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from docplatform import AsyncClient, DocPlatformError
from docplatform.testing import StubServer
from helpers import AsyncFace
from helpers.coroutines import face
from helpers.phases import GOES_ON, HOLD, PHASES, UNKNOWN, AnyCoroutine, Phase, Scene, pending

__all__ = ["face"]

Cancelled: TypeAlias = tuple[float, BaseException | None]
"""When it was cancelled, and what came out of the call."""
Way: TypeAlias = Callable[[Phase, Scene], Awaitable[Cancelled]]


async def until(reached: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not reached():  # noqa: ASYNC110  # set by another thread
            await asyncio.sleep(0.001)


class Watched:
    """What comes out of a coroutine, wherever it goes from there."""

    error: BaseException | None = None

    async def run(self, coroutine: AnyCoroutine) -> Any:
        try:
            return await coroutine
        except BaseException as error:
            self.error = error
            raise


async def task_cancel(phase: Phase, scene: Scene) -> Cancelled:
    task = asyncio.create_task(phase.start(scene))
    await until(lambda: phase.reached(scene))
    now = time.monotonic()
    task.cancel("not needed any more")
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value.args == ("not needed any more",)
    return now, caught.value


async def outer_task_cancel(phase: Phase, scene: Scene) -> Cancelled:
    watched = Watched()
    task = asyncio.create_task(watched.run(phase.start(scene)))
    await until(lambda: phase.reached(scene))
    now = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value is watched.error
    return now, watched.error


async def wait_for(phase: Phase, scene: Scene) -> Cancelled:
    # A time-out may come before the call is where it is wanted: then a longer one is tried.
    before = len(scene.stub.requests)
    for timeout in (0.05, 0.2, 1.0, 5.0):
        with pytest.raises(TimeoutError) as caught:
            await asyncio.wait_for(phase.start(scene), timeout)
        now = time.monotonic()
        assert not isinstance(caught.value, DocPlatformError)
        if len(scene.stub.requests) > before and (phase.in_flight or phase.reached(scene)):
            break
    return now, caught.value.__cause__


async def timeout(phase: Phase, scene: Scene) -> Cancelled:
    watched = Watched()
    now = 0.0

    async def end(ending: asyncio.Timeout) -> None:
        nonlocal now
        await until(lambda: phase.reached(scene))
        now = time.monotonic()
        ending.reschedule(0.0)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(60) as ending:
            ender = asyncio.create_task(end(ending))
            await watched.run(phase.start(scene))
    await ender
    return now, watched.error


async def task_group(phase: Phase, scene: Scene) -> Cancelled:
    watched = Watched()
    now = 0.0

    async def fail() -> None:
        nonlocal now
        await until(lambda: phase.reached(scene))
        now = time.monotonic()
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(watched.run(phase.start(scene)))
    assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError]
    return now, watched.error


async def drive(phase: Phase, scene: Scene, coroutine: AnyCoroutine) -> None:
    """What a task does, up to where the phase is reached."""
    waiting = coroutine.send(None)
    async with asyncio.timeout(30):
        while not phase.reached(scene):
            if waiting is not None:
                await asyncio.wait({waiting}, timeout=0.001)
            if waiting is None or waiting.done():
                await asyncio.sleep(0)
                waiting = coroutine.send(None)


async def closed(phase: Phase, scene: Scene) -> Cancelled:
    coroutine = phase.start(scene)
    await drive(phase, scene, coroutine)
    now = time.monotonic()
    coroutine.close()
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        coroutine.send(None)
    return now, None


async def dropped(phase: Phase, scene: Scene) -> Cancelled:
    coroutine = phase.start(scene)
    await drive(phase, scene, coroutine)
    now = time.monotonic()
    del coroutine
    gc.collect()
    return now, None


WAYS: list[Way] = [task_cancel, outer_task_cancel, wait_for, timeout, task_group, closed, dropped]


@pytest.mark.row("A13", "I1")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_a_cancelled_call_ends_at_once_and_so_does_its_request(
    face: AsyncFace,
    phase: Phase,
    way: Way,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with StubServer() as stub:
        client = face.client(stub)
        stub.script_job("active")
        scene = Scene(stub, client, face.run(client.create_job("Fix it")))

        async def main() -> Cancelled:
            return await way(phase, scene)

        cancelled_at, error = face.run(main())
        ended_at = time.monotonic()
        check_error(phase, error)

        stub.wait_for(lambda s: not pending(s), timeout=5)
        gone = [r.disconnected for r in stub.requests if r.disconnected is not None]
        assert bool(gone) == phase.in_flight
        # Measured: less than 10 ms each. The bounds leave room for a machine that does other things.
        assert all(at - cancelled_at < 5 for at in gone)
        assert ended_at - cancelled_at < 5
        sent = len(stub.requests)

        stub.latency = 0.0
        assert face.run(client.visitor_totals()).total > 0
        assert len(stub.requests) == sent + 1
    gc.collect()
    assert capfd.readouterr().err == ""


def check_error(phase: Phase, error: BaseException | None) -> None:
    """The exception passed as it is, and says what became of the call."""
    if error is None:
        return
    assert type(error) is asyncio.CancelledError
    notes = getattr(error, "__notes__", [])
    if phase.note is not None:
        assert bool(notes) == bool(phase.note)
        assert re.search(phase.note, " ".join(notes)), notes


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

        async def cancelled() -> list[str]:
            stub.fail_next(status=201, body={"id": "job-1", "status": "active"})
            before = len(stub.requests)
            task = asyncio.create_task(write(client))
            await asyncio.sleep(0)
            # The loop is held here, so that the answer is there before the task can look at it.
            stub.wait_for(lambda s: len(s.requests) > before and s.requests[-1].status is not None)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            return getattr(caught.value, "__notes__", [])

        for _ in range(50):
            notes = face.run(cancelled())
            assert re.search(note, " ".join(notes)), notes


def test_a_write_that_is_cancelled_before_its_first_step_sends_nothing(face: AsyncFace) -> None:
    with StubServer() as stub:

        async def cancelled() -> None:
            task = asyncio.create_task(face.client(stub).create_job("Fix it"))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        face.run(cancelled())
        assert stub.requests == []


def test_a_write_whose_cancellation_is_swallowed_is_logged(
    face: AsyncFace, caplog: pytest.LogCaptureFixture
) -> None:
    with StubServer(latency=HOLD) as stub:

        async def cancelled() -> None:
            task = asyncio.create_task(face.client(stub).create_job("Fix it"))
            await until(lambda: pending(stub))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        face.run(cancelled())
    assert [UNKNOWN in record.getMessage() for record in caplog.records if record.name == "docplatform"] == [
        True
    ]
