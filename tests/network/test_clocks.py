"""A wall clock that is set during calls (row B8)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import Face
from helpers.children import tell
from helpers.connection import answer
from helpers.faults import HOLD, JOB, READ_ALL, SEND
from helpers.wire import Wire

SCRIPT = """
import ctypes, threading, time
step = ctypes.CDLL(None).step
step(3600)
assert time.time() - {now} > 1800, "this process has the system's own clock"
step(0)
done = threading.Event()

def swing():
    while not done.is_set():
        for seconds in (3600, -3600, 0, 86400 * 365):
            step(seconds)
            done.wait(0.002)

threading.Thread(target=swing, daemon=True).start()
ours = client(**{settings})
begun = time.monotonic()
told = outcome(lambda: run(lambda: {call}))
told["elapsed"] = time.monotonic() - begun
told["requests"] = ours.stats.requests
done.set()
print(json.dumps(told))
"""


def clocked(wire: Wire, library: Path, call: str, **settings: Any) -> Any:
    """The outcome of a call while the clock swings to and fro."""
    script = SCRIPT.format(now=time.time(), settings=settings, call=call)
    return tell(wire.face.name, script, **wire.environment, LD_PRELOAD=str(library))


def times(wire: Wire) -> list[float]:
    """When each connection's request came, on the clock that nobody sets."""
    return [connection.chunks[0][0] for connection in wire.server.connections]


DONE = SEND(answer(200, JOB))


@pytest.mark.row("B8")
def test_a_pause_is_as_long_as_it_was_when_the_clock_swings(wire: Wire, clock_library: Path) -> None:
    wire.server.script([READ_ALL, SEND(answer(429, None, "Retry-After: 1"))], [READ_ALL, DONE])
    told = clocked(wire, clock_library, "ours.get_job('job-1')", max_retries=1)
    assert told["error"] is None
    first, second = times(wire)
    assert second - first >= 1


@pytest.mark.row("B8")
@pytest.mark.parametrize("settings", [{"timeout": 0.3}, {"deadline": 0.3}], ids=["timeout", "deadline"])
def test_a_call_ends_in_its_time_when_the_clock_swings(
    wire: Wire, clock_library: Path, settings: dict[str, Any]
) -> None:
    wire.server.script([READ_ALL, HOLD])
    told = clocked(wire, clock_library, "ours.get_job('job-1')", **settings)
    assert told["error"] == "RequestTimeoutError"
    assert told["elapsed"] >= 0.3


@pytest.mark.row("B8", "F1")
def test_a_wait_ends_in_its_time_when_the_clock_swings(wire: Wire, clock_library: Path) -> None:
    wire.server.rest(*[READ_ALL, SEND(answer(200, JOB, keep=True))] * 100)
    waits = "poll_interval=0.1, max_poll_interval=0.1, timeout=0.6"
    told = clocked(wire, clock_library, f"ours.wait_for_job('job-1', {waits})")
    assert told["error"] == "WaitTimeoutError"
    assert told["elapsed"] >= 0.6
    # At once, after each interval, a fifth shorter at most, and at the end.
    assert 2 <= told["requests"] <= 1 + 7 + 1


@pytest.mark.row("I18")
def test_a_clock_that_tests_have_stopped_changes_nothing(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = face.client(stub)
    # As libraries do that travel in time; asyncio's own clock is left, or its loop would stand still.
    for name in ("time", "time_ns", "sleep", "gmtime", "localtime"):
        monkeypatch.setattr(time, name, lambda *_: 0)
    stub.fail_next(502, path="/job/")
    job = face.run(client.run_job("Fix it", poll_interval=0.01, timeout=60))
    assert job.is_final
    stub.script_job("active")
    job = face.run(client.create_job("Fix it"))
    with pytest.raises(TimeoutError):
        face.run(client.wait_for_job(job, timeout=0.05, poll_interval=0.01))
