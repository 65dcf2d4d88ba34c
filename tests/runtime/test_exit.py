"""The interpreter exits while these may still run: callbacks, finalizers, loops that were closed; quickly, and without a word.

Exits in each phase of a call are in ``test_phases.py``.
"""

from __future__ import annotations

import pytest

from docplatform.testing import StubServer
from helpers.phases import HOLD, with_a_job
from helpers.scripts import Ended, run_script

ROUNDS = 4
"""Exits of each, at different moments."""

PRELUDE = """
import asyncio, atexit, sys, threading, time
import docplatform

delay = float(sys.argv[1])
client = docplatform.Client()
later = docplatform.AsyncClient()

def in_a_daemon(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()

def sent(number, *, by=client):
    while by.stats.requests < number:
        time.sleep(0.001)

called_back = threading.Event()

def sleepy(job):
    called_back.set()
    time.sleep(0.3)

def napping(*arguments):
    called_back.set()
    while True:
        time.sleep(0.0005)

def busy(job):
    called_back.set()
    while True:
        pass

def talkative(job):
    called_back.set()
    client.get_job(job)

def leave(job=None):
    sys.exit(7)

async def run_all(*coroutines):
    await asyncio.gather(*coroutines)

often = {"poll_interval": 0.001, "max_poll_interval": 0.001}
rarely = {"poll_interval": 60, "max_poll_interval": 60}
"""

EXIT = "\ntime.sleep(delay)\nsys.exit(7)\n"

BUSY = {
    "nothing": "docplatform.Client().with_options(); later.with_options()",
    "many calls": "[in_a_daemon(client.get_job, f'job-{n}') for n in range(1, 9)]; sent(8)",
    "many tasks": "in_a_daemon(asyncio.run, run_all(*map(later.get_job, 'abcdefgh'))); sent(8, by=later)",
    "a coroutine in its first step": "c = later.get_job('job-1'); in_a_daemon(asyncio.run, c)",
    "polls without a pause": "in_a_daemon(lambda: client.wait_for_job('job-1', **often)); sent(2)",
    "an endless iteration": "rows = client.visitors(page_size=1); in_a_daemon(list, rows); sent(20)",
}


def rounds(script: str, stub: StubServer) -> list[Ended]:
    """Exits at different moments after the work is under way."""
    return [run_script(script, str(number * number / 250), stub=stub) for number in range(ROUNDS)]


def check(ended: list[Ended], *, status: int = 7) -> None:
    assert [(end.status, end.out, end.err) for end in ended] == [(status, "", "")] * len(ended)
    # Measured: 0.1 s to 0.2 s, the start of the interpreter included. One that waits for an answer takes 60.
    assert max(end.seconds for end in ended) < HOLD / 2


@pytest.mark.row("I7")
@pytest.mark.parametrize("work", BUSY)
def test_exit_while_daemon_threads_are_busy(stub: StubServer, work: str) -> None:
    with_a_job(stub)
    stub.latency = HOLD if "many" in work else 0.0
    check(rounds(PRELUDE + BUSY[work] + EXIT, stub))


@pytest.mark.row("I7")
@pytest.mark.parametrize("callback", ["sleepy", "napping", "busy", "talkative"])
@pytest.mark.parametrize("face", ["sync", "async"])
def test_exit_while_a_daemon_thread_is_in_a_callback(stub: StubServer, callback: str, face: str) -> None:
    with_a_job(stub)
    wait = f"wait_for_job('job-1', on_poll={callback}, **often)"
    run = f"lambda: client.{wait}" if face == "sync" else f"lambda: asyncio.run(later.{wait})"
    check(rounds(f"{PRELUDE}in_a_daemon({run}); called_back.wait(){EXIT}", stub))


CALLED = {
    "makes a result": "docplatform.types.Totals = napping; work = client.visitor_totals",
    "makes an error": "docplatform.errors.NotFoundError = napping; work = lambda: client.get_job('none')",
    "warns": "warnings.showwarning = napping; work = client.feedback_by_page(page_size=1).collect",
    "imports": "sys.meta_path.insert(0, Finder); work = client.visitors().to_pandas",
}
"""Python code that the core calls, and that releases the interpreter."""

FINDER = """
import warnings
class Finder:
    find_spec = napping
"""


@pytest.mark.row("I7")
@pytest.mark.parametrize("called", CALLED)
def test_exit_while_a_daemon_thread_is_in_python_code_that_the_core_called(
    stub: StubServer, called: str
) -> None:
    script = f"{PRELUDE}{FINDER}{CALLED[called]}\nin_a_daemon(work); called_back.wait()"
    check(rounds(script + EXIT, stub))


@pytest.mark.row("I7")
@pytest.mark.parametrize(
    "wait",
    [
        "client.wait_for_job('job-1', on_poll=leave)",
        "asyncio.run(later.wait_for_job('job-1', on_poll=leave))",
    ],
)
def test_sys_exit_in_a_callback_gives_the_status(stub: StubServer, wait: str) -> None:
    with_a_job(stub)
    check(rounds(PRELUDE + wait, stub))


@pytest.mark.row("I7")
def test_a_thread_that_is_no_daemon_is_waited_for(stub: StubServer) -> None:
    stub.latency = 0.2
    script = "threading.Thread(target=lambda: print(client.create_job('Fix it').id)).start()\nsys.exit(7)"
    ended = run_script(PRELUDE + script, "0", stub=stub)
    assert (ended.status, ended.out, ended.err) == (7, "job-1\n", "")


@pytest.mark.row("I7")
def test_an_exception_in_the_main_thread_is_all_that_is_printed(stub: StubServer) -> None:
    stub.latency = HOLD
    ended = rounds(PRELUDE + BUSY["many calls"] + "\nraise ZeroDivisionError", stub)
    assert [end.status for end in ended] == [1] * ROUNDS
    assert {end.err.splitlines()[-1] for end in ended} == {"ZeroDivisionError"}
    assert {end.err.count("Traceback") for end in ended} == {1}


# -- at the very end -----------------------------------------------------------------------------

GOODBYE = """
@atexit.register
def goodbye():
    assert client.create_job('Fix it').id
    assert asyncio.run(later.create_job('Fix it')).id
    assert client.run_job('Fix it', **often).is_final
    assert len(list(client.visitors(page_size=100))) == 1000
    client.close()
    asyncio.run(later.close())
    print('done')
"""
USE = "client.visitor_totals(); asyncio.run(later.visitor_totals())\n"
BLOCKED = """
in_a_daemon(lambda: client.with_options().wait_for_job("job-1", **rarely)); sent(1)
in_a_daemon(lambda: asyncio.run(later.with_options().wait_for_job("job-1", **rarely))); sent(1, by=later)
"""


@pytest.mark.row("I7")
@pytest.mark.parametrize(
    "before",
    [GOODBYE + USE, USE + GOODBYE, GOODBYE, GOODBYE + BLOCKED],
    ids=["before the first use", "after it", "without another use", "while daemon threads are blocked"],
)
def test_an_atexit_callback_can_use_a_client(stub: StubServer, before: str) -> None:
    if before.endswith(BLOCKED):
        with_a_job(stub)
        stub.script_job("active", "completed")
    ended = run_script(f"{PRELUDE}{before}\nsys.exit(7)", "0", stub=stub)
    assert (ended.status, ended.out, ended.err) == (7, "done\n", "")


@pytest.mark.row("I7", "I14")
def test_a_finalizer_can_use_a_client(stub: StubServer) -> None:
    script = """
class Session:
    def __init__(self):
        self.client = docplatform.Client()
    def __del__(self):
        self.client.send_message("job-1", "Goodbye")
        self.client.close()

session = Session()
with docplatform.Client() as other:
    other.create_job("Fix it")
"""
    check(rounds(PRELUDE + script + EXIT, stub))
    assert stub.jobs[0].prompts == ["Fix it", *["Goodbye"] * ROUNDS]


# -- loops ---------------------------------------------------------------------------------------

CLOSED_LOOPS = """
import asyncio, gc, sys
from docplatform.testing import StubServer
{prepare}

with StubServer(visitors=300, latency=0.003) as stub:
    client, blocking = stub.async_client(), stub.client()
    stub.script_job("active")
    blocking.create_job("Fix it")

    def works():
        return [
            client.get_job("job-1"),
            client.create_job("Fix it"),
            client.wait_for_job("job-1", poll_interval=0.001),
            client.visitors().__anext__(),
        ]

    left = []
    for round in range(100):
        loop = {loop}
        tasks = [loop.create_task(work) for work in works()]
        for task in tasks:
            # Python would tell of a task that is never ended; here it is the answer's way that matters.
            task._log_destroy_pending = False
        for step in range(round % 5 + 1):
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        left.append(tasks)
        if round % 2:
            left.clear()
    # The answers of what is left come to loops that are closed.
    stub.wait_for(lambda s: all(r.status or r.disconnected for r in s.requests))
    assert blocking.get_job("job-1").status == "active"
    left.clear()
    gc.collect()
    assert asyncio.run(client.visitor_totals()).total > 0
sys.exit(7)
"""


@pytest.mark.row("I2")
@pytest.mark.parametrize(
    ("prepare", "loop"),
    [("", "asyncio.new_event_loop()"), ("import uvloop", "uvloop.new_event_loop()")],
    ids=["asyncio", "uvloop"],
)
def test_loops_that_are_closed_with_work_in_flight(prepare: str, loop: str) -> None:
    ended = run_script(CLOSED_LOOPS.format(prepare=prepare, loop=loop))
    assert (ended.status, ended.out, ended.err) == (7, "", "")
