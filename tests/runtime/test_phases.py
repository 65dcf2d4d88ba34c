"""Every phase of a call by cancel, Ctrl-C, exit and fork; SIGTERM and other ways to cancel in some."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from docplatform import DocPlatformError
from docplatform.testing import StubServer
from helpers import AsyncFace
from helpers.coroutines import AnyCoroutine, face
from helpers.phases import AT_ONCE, PHASES, Phase, pending
from helpers.scripts import Script

__all__ = ["face"]

# Some phases are a long pause, which is announced.
pytestmark = pytest.mark.filterwarnings("ignore::docplatform.WaitWarning")

every_phase = pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
either_client = pytest.mark.parametrize("client", ["Client", "AsyncClient"])


# -- in this process: a task of asyncio's ----------------------------------------------------------

Cancelled: TypeAlias = tuple[float, BaseException | None]
"""When it was cancelled, and what came out of the call."""


class Scene:
    """A call of ``AsyncClient`` that is about to be made in a phase."""

    def __init__(self, phase: Phase, stub: StubServer, client: Any, target: Path) -> None:
        self.phase = phase
        self.stub = stub
        self.begun = phase.begin(stub)
        self.error: BaseException | None = None
        self._names = {"client": client, "hold": self._hold, "read": self._read, "target": target}
        self._called_back = False

    async def _hold(self, job: object) -> None:
        self._called_back = True
        await asyncio.Event().wait()

    async def _read(self, rows: Any) -> list[Any]:
        return [row async for row in rows]

    def start(self) -> AnyCoroutine:
        coroutine: AnyCoroutine = eval(self.phase.call, self._names)
        return coroutine

    async def watched(self) -> None:
        """The call, keeping what comes out of it."""
        try:
            await self.start()
        except BaseException as error:
            self.error = error
            raise

    async def reached(self) -> float:
        """Waits for the phase; when it was there."""
        await asyncio.to_thread(self.phase.reach, self.stub, self.begun)
        while "hold" in self.phase.call and not self._called_back:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        return time.monotonic()


async def task_cancel(scene: Scene) -> Cancelled:
    task = asyncio.create_task(scene.watched())
    now = await scene.reached()
    task.cancel("not needed any more")
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value is scene.error
    assert caught.value.args == ("not needed any more",)
    return now, scene.error


async def wait_for(scene: Scene) -> Cancelled:
    waiting = asyncio.create_task(asyncio.wait_for(scene.watched(), 0.5))
    await scene.reached()
    with pytest.raises(TimeoutError) as caught:
        await waiting
    assert not isinstance(caught.value, DocPlatformError)
    return time.monotonic(), scene.error


async def timeout(scene: Scene) -> Cancelled:
    now = 0.0

    async def end(ending: asyncio.Timeout) -> None:
        nonlocal now
        now = await scene.reached()
        ending.reschedule(0.0)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(60) as ending:
            ender = asyncio.create_task(end(ending))
            await scene.watched()
    await ender
    return now, scene.error


async def task_group(scene: Scene) -> Cancelled:
    now = 0.0

    async def fail() -> None:
        nonlocal now
        now = await scene.reached()
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(scene.watched())
    assert [type(error) for error in caught.value.exceptions] == [ZeroDivisionError]
    return now, scene.error


async def closed(scene: Scene) -> Cancelled:
    coroutine = scene.start()
    coroutine.send(None)
    now = await scene.reached()
    coroutine.close()
    return now, None


async def dropped(scene: Scene) -> Cancelled:
    coroutine = scene.start()
    coroutine.send(None)
    now = await scene.reached()
    del coroutine
    gc.collect()
    return now, None


Way: TypeAlias = Callable[[Scene], Awaitable[Cancelled]]
WAYS: list[Way] = [wait_for, timeout, task_group, closed, dropped]
CANCELLED = [(name, task_cancel) for name in PHASES] + [("a write in flight", way) for way in WAYS]


@pytest.mark.row("A13", "I1")
@pytest.mark.parametrize(
    ("name", "way"), CANCELLED, ids=[f"{name}-{way.__name__}" for name, way in CANCELLED]
)
def test_a_cancelled_call_ends_at_once_with_its_request_and_says_what_became_of_it(
    face: AsyncFace, tmp_path: Path, name: str, way: Way, capfd: pytest.CaptureFixture[str]
) -> None:
    phase = PHASES[name]
    with a_file(tmp_path) as target, StubServer() as stub:
        client = face.client(stub)
        scene = Scene(phase, stub, client, target)

        async def main() -> Cancelled:
            return await way(scene)

        cancelled_at, error = face.run(main())
        assert time.monotonic() - cancelled_at < AT_ONCE
        if error is not None:
            assert type(error) is asyncio.CancelledError
            check_notes(phase, getattr(error, "__notes__", []))
            # An iterator that is still referred to keeps the pages that it asked for ahead.
            error.__traceback__ = None
            gc.collect()
        check_gone(phase, stub, cancelled_at)
        sent = len(stub.requests)
        assert face.run(client.visitor_totals()).total > 0
        assert len(stub.requests) == sent + 1, "something went on"
    gc.collect()
    assert capfd.readouterr().err == ""


@contextmanager
def a_file(folder: Path) -> Iterator[Path]:
    """A file that an export is to replace, and never does."""
    target = folder / "visitors.csv"
    target.write_text("as before")
    yield target
    assert target.read_text() == "as before"


def check_notes(phase: Phase, notes: list[str]) -> None:
    assert bool(notes) == bool(phase.note)
    assert re.search(phase.note, " ".join(notes)), notes


def check_gone(phase: Phase, stub: StubServer, ended_at: float) -> None:
    """Its request went with it."""
    stub.wait_for(lambda s: not pending(s), timeout=5)
    gone = [r.disconnected for r in stub.requests if r.disconnected is not None]
    assert bool(gone) == bool(phase.in_flight)
    assert all(at - ended_at < AT_ONCE for at in gone)


# -- in a process of its own -----------------------------------------------------------------------

PRELUDE = """
import asyncio, json, os, signal, sys, threading, time, warnings
import docplatform

# Some phases are a long pause, which is announced.
warnings.simplefilter("ignore", docplatform.WaitWarning)

face, work, target = sys.argv[1:]
client = getattr(docplatform, face)()

def say(*values):
    print(json.dumps(values), flush=True)

if face == "Client":
    read = list

    def hold(job):
        # In steps: a signal that comes before a long sleep has begun does not end it.
        while True:
            time.sleep(0.001)

    def call(expression):
        return eval(expression)
else:
    async def read(rows):
        return [row async for row in rows]

    async def hold(job):
        await asyncio.Event().wait()

    def call(expression):
        async def main():
            return await eval(expression)
        return asyncio.run(main())
"""

INTERRUPTED = """
try:
    call(work)
except KeyboardInterrupt as error:
    at = time.monotonic()
    assert type(error) is KeyboardInterrupt and error.args == ()
    # asyncio.run raises one of its own, from the CancelledError that came out of the call.
    say(at, getattr(error.__context__ or error, "__notes__", []))
sys.stdin.readline()
assert call("client.visitor_totals()").total > 0
"""

IN_A_THREAD = "threading.Thread(target=call, args=(work,), daemon=True).start()"

EXITS = f"""
{IN_A_THREAD}
sys.stdin.readline()
sys.exit(7)
"""

FORKS = f"""
{IN_A_THREAD}
sys.stdin.readline()
if not (idle := os.fork()):
    sys.exit(6)
if not (child := os.fork()):
    signal.alarm(20)  # a child that hangs is a failure, and no test that never ends
    if face == "AsyncClient":
        asyncio.set_event_loop(None)
    assert len(call("read(client.visitors(max_rows=300))")) == 300
    sys.exit(5)
say(*[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (idle, child)], call("client.visitor_totals()").total > 0)
sys.stdin.readline()
sys.exit(7)
"""


@contextmanager
def running(phase: Phase, client: str, folder: Path, script: str) -> Iterator[tuple[Script, StubServer]]:
    """A script that is in a phase."""
    with a_file(folder) as target, StubServer() as stub:
        begun = phase.begin(stub)
        with Script(PRELUDE + script, client, phase.call, str(target), stub=stub) as running:
            phase.reach(stub, begun)
            yield running, stub


@pytest.mark.row("A13", "I4")
@every_phase
@either_client
def test_ctrl_c_ends_a_call_and_its_request_and_says_what_became_of_it(
    phase: Phase, client: str, tmp_path: Path
) -> None:
    with running(phase, client, tmp_path, INTERRUPTED) as (script, stub):
        sent = script.signal(signal.SIGINT)
        caught, notes = json.loads(script.read())
        assert caught - sent < AT_ONCE
        check_notes(phase, notes)
        check_gone(phase, stub, sent)
        requests = len(stub.requests)
        script.write("go on")
        ended = script.end()
        assert (ended.status, ended.out, ended.err) == (0, "", "")
        assert len(stub.requests) == requests + 1
    assert [path.name for path in tmp_path.iterdir()] == ["visitors.csv"]


@pytest.mark.row("I5")
@pytest.mark.parametrize("name", ["a write in flight", "between polls", "exporting to a file"])
@either_client
def test_sigterm_has_its_usual_effect(name: str, client: str, tmp_path: Path) -> None:
    """The system ends the process, whatever it does: one phase of each kind."""
    phase = PHASES[name]
    with running(phase, client, tmp_path, "call(work)") as (script, stub):
        sent = script.signal(signal.SIGTERM)
        ended = script.end()
        assert (ended.status, ended.out, ended.err) == (-signal.SIGTERM, "", "")
        assert ended.seconds < AT_ONCE
        check_gone(phase, stub, sent)


@pytest.mark.row("I7")
@every_phase
@either_client
def test_the_interpreter_exits_at_once_and_without_a_word(phase: Phase, client: str, tmp_path: Path) -> None:
    with running(phase, client, tmp_path, EXITS) as (script, stub):
        script.write("exit")
        ended = script.end()
        assert (ended.status, ended.out, ended.err) == (7, "", "")
        assert ended.seconds < AT_ONCE
        stub.wait_for(lambda s: not pending(s), timeout=5)


@pytest.mark.row("I6")
@every_phase
@either_client
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a platform without fork")
def test_a_forked_child_has_connections_of_its_own_and_leaves_the_parents_call_alone(
    phase: Phase, client: str, tmp_path: Path
) -> None:
    # Python 3.12 and later warn of every fork of a process with threads.
    script = 'import warnings; warnings.simplefilter("ignore", DeprecationWarning)\n' + FORKS
    with running(phase, client, tmp_path, script) as (forking, stub):
        held = pending(stub)
        forking.write("fork")
        assert json.loads(forking.read()) == [6, 5, True]
        assert bool(held) == bool(phase.in_flight)
        assert not any(request.disconnected for request in held), "the parent's request was dropped"
        forking.write("exit")
        ended = forking.end()
        assert (ended.status, ended.out, ended.err) == (7, "", "")
