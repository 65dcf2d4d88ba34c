"""Signals end a blocking call at once, whatever it waits for."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.phases import GOES_ON, HOLD, UNKNOWN, pending
from helpers.scripts import Script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

AT_ONCE = 2.0
"""In seconds, and generous: a blocked call looks for signals every 50 ms, and that is what was measured."""

PRELUDE = """
import asyncio, json, os, signal, sys, time
import docplatform

client = docplatform.Client()
later = docplatform.AsyncClient()

def tell(*_):
    # `print` cannot be entered again by the next signal's handler.
    os.write(1, b"told\\n")

def hold(job):
    tell()
    # In steps: a signal that comes before a long sleep has begun does not end it.
    while True:
        time.sleep(0.01)

def rows(prefetch):
    rows = client.visitors(page_size=100, prefetch=prefetch)
    next(rows)
    tell()
    sys.stdin.readline()
    return rows
"""

INTERRUPTED = (
    PRELUDE
    + """
try:
    {call}
except KeyboardInterrupt as error:
    at = time.monotonic()
    assert type(error) is KeyboardInterrupt and error.args == ()
    # asyncio.run raises one of its own, from the CancelledError that came out of the call.
    raised = error.__context__ or error
    print(json.dumps([at, getattr(raised, "__notes__", [])]), flush=True)
sys.stdin.readline()
assert client.visitor_totals().total > 0
assert asyncio.run(later.visitor_totals()).total > 0
"""
)


@dataclass(frozen=True)
class Phase:
    """A call, what its exception's note says (a pattern; empty for nothing), and where it is held."""

    call: str
    note: str = ""
    in_flight: bool = True
    prepare: Callable[[StubServer], object] | None = None

    @property
    def prefetch(self) -> int | None:
        """How many pages its iterator asks for ahead; ``None`` where it has none."""
        found = re.search(r"rows\(prefetch=(\d)", self.call)
        return found and int(found[1])


def refuse(stub: StubServer) -> None:
    stub.fail_next(429, retry_after=30, path="/job/")


PHASES = {
    "get": Phase("client.get_job('job-1')"),
    "create": Phase("client.create_job('Fix it')", UNKNOWN),
    "message": Phase("client.send_message('job-1', 'And that')", UNKNOWN),
    "run": Phase("client.run_job('Fix it')", UNKNOWN),
    "poll": Phase("client.wait_for_job('job-1')", GOES_ON),
    "between polls": Phase(
        "client.wait_for_job('job-1', on_poll=tell, poll_interval=60, max_poll_interval=60)", GOES_ON, False
    ),
    "on_poll": Phase("client.wait_for_job('job-1', on_poll=hold)", GOES_ON, False),
    "pause before a retry": Phase("client.get_job('job-1')", in_flight=False, prepare=refuse),
    "totals": Phase("client.visitor_totals()"),
    "first page": Phase("next(client.visitors())"),
    "rows": Phase("list(rows(prefetch=0))"),
    "rows, prefetched": Phase("list(rows(prefetch=1))"),
    "rows, speculated": Phase("list(rows(prefetch=4))"),
    "pages": Phase("list(rows(prefetch=1).pages())"),
    "asyncio get": Phase("asyncio.run(later.get_job('job-1'))"),
    "asyncio create": Phase("asyncio.run(later.create_job('Fix it'))", UNKNOWN),
    "asyncio wait": Phase(
        "asyncio.run(later.wait_for_job('job-1', on_poll=tell, poll_interval=60, max_poll_interval=60))",
        GOES_ON,
        False,
    ),
}


def reach(script: Script, stub: StubServer, phase: Phase) -> None:
    """Returns when the script is held in its phase."""
    if (prefetch := phase.prefetch) is not None:
        assert script.read() == "told"
        pages = 1 + prefetch
        stub.wait_for(lambda s: sum("offset" in r.query for r in s.requests) == pages and not pending(s))
        stub.latency = HOLD
        script.write("go on")
    elif "on_poll" in phase.call:
        assert script.read() == "told"
    if phase.in_flight:
        stub.wait_for(pending, timeout=30)
    elif phase.prepare:
        stub.wait_for(lambda s: len(s.requests) == 2 and s.requests[-1].status, timeout=30)


@pytest.mark.row("A13", "I4")
@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
def test_ctrl_c_ends_a_call_and_its_request(phase: Phase) -> None:
    with StubServer() as stub, stub.client() as client:
        stub.script_job("active")
        client.create_job("Fix it")
        stub.latency = HOLD if phase.in_flight and phase.prefetch is None else 0.0
        if phase.prepare:
            phase.prepare(stub)
        with Script(INTERRUPTED.format(call=phase.call), stub=stub) as script:
            reach(script, stub, phase)
            sent = script.signal(signal.SIGINT)
            caught, notes = json.loads(script.read())
            assert caught - sent < AT_ONCE
            check_notes(phase, notes)
            stub.wait_for(lambda s: not pending(s))
            gone = [r.disconnected for r in stub.requests if r.disconnected is not None]
            assert bool(gone) == phase.in_flight
            assert all(at - sent < AT_ONCE for at in gone)
            requests = len(stub.requests)
            stub.latency = 0.0
            script.write("go on")
            ended = script.end()
        assert (ended.status, ended.out, ended.err) == (0, "", "")
        assert len(stub.requests) == requests + 2


def test_the_suite_interrupts_also_where_its_parent_ignores_ctrl_c() -> None:
    """As under `nohup`, or in a background job."""
    here = shlex.join(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            "ends_a_call and get",
            __file__,
        ]
    )
    done = subprocess.run(
        ["sh", "-c", f"trap '' INT; exec {here}"], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout


def check_notes(phase: Phase, notes: list[str]) -> None:
    assert bool(notes) == bool(phase.note)
    assert re.search(phase.note, " ".join(notes))


@pytest.mark.row("I4")
def test_ctrl_c_that_nobody_catches_ends_the_process_as_python_does(stub: StubServer) -> None:
    stub.latency = HOLD
    with Script(PRELUDE + "client.create_job('Fix it')", stub=stub) as script:
        stub.wait_for(pending, timeout=30)
        script.signal(signal.SIGINT)
        ended = script.end()
    assert ended.status == -signal.SIGINT
    assert ended.seconds < AT_ONCE
    traceback = ended.err.splitlines()
    assert traceback[0] == "Traceback (most recent call last):"
    assert traceback[-2] == "KeyboardInterrupt"
    assert UNKNOWN in traceback[-1]
    assert len(stub.jobs) == 1


@pytest.mark.row("I4")
def test_a_second_ctrl_c_ends_the_cleaning_up(stub: StubServer) -> None:
    stub.latency = HOLD
    script = """
        try:
            client.get_job("job-1")
        except KeyboardInterrupt:
            client.visitor_totals()
    """
    with Script(PRELUDE + re.sub("(?m)^        ", "", script), stub=stub) as running:
        stub.wait_for(lambda s: len(s.requests) == 1, timeout=30)
        running.signal(signal.SIGINT)
        stub.wait_for(lambda s: len(s.requests) == 2, timeout=30)
        running.signal(signal.SIGINT)
        ended = running.end()
    assert ended.status == -signal.SIGINT
    assert ended.seconds < AT_ONCE
    stub.wait_for(lambda s: all(request.disconnected for request in s.requests))


@pytest.mark.row("I5")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE])
@pytest.mark.parametrize("call", ["client.get_job('job-1')", "asyncio.run(later.get_job('job-1'))"])
def test_other_signals_have_their_usual_effect(stub: StubServer, number: signal.Signals, call: str) -> None:
    stub.latency = HOLD
    # Python itself ignores SIGPIPE; a script that wants it back, as filters do, gets it.
    prepare = f"signal.signal({number}, signal.SIG_DFL)\n"
    with Script(PRELUDE + prepare + call, stub=stub) as script:
        stub.wait_for(pending, timeout=30)
        script.signal(number)
        ended = script.end()
    assert (ended.status, ended.out, ended.err) == (-number, "", "")
    assert ended.seconds < AT_ONCE
    stub.wait_for(lambda s: not pending(s))


def test_a_handler_runs_while_a_call_is_blocked(stub: StubServer) -> None:
    stub.latency = HOLD
    script = """
signal.signal(signal.SIGUSR1, tell)
signal.signal(signal.SIGUSR2, lambda *_: 1 / 0)
try:
    client.get_job("job-1")
except ZeroDivisionError:
    print(time.monotonic(), flush=True)
"""
    with Script(PRELUDE + script, stub=stub) as running:
        stub.wait_for(pending, timeout=30)
        for _ in range(2):
            sent = running.signal(signal.SIGUSR1)
            assert running.read() == "told"
            assert time.monotonic() - sent < AT_ONCE
        assert pending(stub), "a handler that returns lets the call go on"
        sent = running.signal(signal.SIGUSR2)
        assert float(running.read()) - sent < AT_ONCE
        ended = running.end()
    assert (ended.status, ended.out, ended.err) == (0, "", "")


@pytest.mark.row("I4")
@pytest.mark.parametrize("way", ["to_csv", "to_jsonl"])
def test_ctrl_c_during_an_export_leaves_what_was_there(stub: StubServer, tmp_path: Path, way: str) -> None:
    target = tmp_path / "visitors"
    target.write_text("as before")
    script = f"rows = rows(prefetch=1)\nrows.{way}({str(target)!r})"
    with Script(PRELUDE + script, stub=stub) as running:
        reach(running, stub, Phase(script))
        running.signal(signal.SIGINT)
        ended = running.end()
    assert ended.status == -signal.SIGINT
    assert ended.seconds < AT_ONCE
    assert target.read_text() == "as before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.row("I4")
@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_ctrl_c_during_a_log_line_is_not_swallowed(stub: StubServer, level: str) -> None:
    script = f"""
import logging

class Handler(logging.Handler):
    def emit(self, record):
        signal.raise_signal(signal.SIGINT)

logging.basicConfig(level="{level}", handlers=[Handler()])
try:
    client.get_job("job-1")
except KeyboardInterrupt:
    tell()
"""
    stub.fail_next(503, times=3)
    with Script(PRELUDE + script, stub=stub) as running:
        ended = running.end()
    assert (ended.status, ended.out, ended.err) == (0, "told\n", "")


@pytest.mark.row("I4")
@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_a_page_that_comes_with_ctrl_c_is_not_lost(prefetch: int) -> None:
    script = f"""
import os, threading
from docplatform.testing import StubServer

stub = StubServer(visitors=40, latency=0.02).start()
rows = stub.client().visitors(page_size=5, prefetch={prefetch})

def interrupt():
    for number in range(1, 9):
        stub.wait_for(lambda s: len(s.requests) >= number)
        # The page comes within the step that the blocked call takes before it looks for signals.
        os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=interrupt)
thread.start()
got, interrupted, ended = [], 0, False
while not ended:
    try:
        while len(got) < 40:
            got.extend(rows)  # in C: interrupted in the call, or behind the end, but never between two rows
        thread.join()
        ended = True
    except KeyboardInterrupt:
        interrupted += 1
assert interrupted
got = [row["path"] for row in got]
assert got == [row["path"] for row in stub.client().visitors()], len(got)
"""
    with StubServer() as stub, Script(PRELUDE + script, stub=stub) as running:
        ended = running.end()
    assert (ended.status, ended.out, ended.err) == (0, "", "")
