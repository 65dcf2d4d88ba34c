"""Signals while a call is blocked: what handlers may do, and what Ctrl-C must not lose.

Ctrl-C and SIGTERM in each phase of a call are in ``test_phases.py``.
"""

from __future__ import annotations

import signal
import time

import pytest

from docplatform.testing import StubServer
from helpers.marks import posix
from helpers.phases import AT_ONCE, HOLD, UNKNOWN, pending
from helpers.scripts import Script

pytestmark = posix

PRELUDE = """
import os, signal, sys, time
import docplatform

client = docplatform.Client()

def tell(*_):
    # `print` cannot be entered again by the next signal's handler.
    os.write(1, b"told\\n")
"""


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
            got.extend(rows)  # in C: interrupted in the call, or after the end, but never between two rows
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
