"""The interpreter exits with whatever is under way: quickly, with its own status, and without a word."""

from __future__ import annotations

import pytest

from docplatform.testing import StubServer
from helpers.phases import HOLD
from helpers.scripts import Ended, run_script

ROUNDS = 8
"""Of each; together more than a hundred exits."""

PRELUDE = """
import asyncio, atexit, contextlib, sys, threading, time
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

def napping(job):
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

async def awaited(job):
    called_back.set()
    await asyncio.sleep(60)

def leave(job=None):
    sys.exit(7)

async def run_all(*coroutines):
    await asyncio.gather(*coroutines)

async def export(rows):
    async for row in rows:
        pass

often = {"poll_interval": 0.001, "max_poll_interval": 0.001}
rarely = {"poll_interval": 60, "max_poll_interval": 60}
"""

EXIT = "\ntime.sleep(delay)\nsys.exit(7)\n"

HELD = {
    "a call": "in_a_daemon(client.get_job, 'job-1'); sent(1)",
    "a write": "in_a_daemon(client.create_job, 'Fix it'); sent(1)",
    "an iteration": "in_a_daemon(list, client.visitors()); sent(1)",
    "many calls": "[in_a_daemon(client.get_job, f'job-{n}') for n in range(1, 9)]; sent(8)",
    "a task": "in_a_daemon(asyncio.run, later.get_job('job-1')); sent(1, by=later)",
    "many tasks": "in_a_daemon(asyncio.run, run_all(*map(later.get_job, 'abcdefgh'))); sent(8, by=later)",
    "an iteration in a task": "in_a_daemon(asyncio.run, export(later.visitors())); sent(1, by=later)",
    "a coroutine in its first step": "c = later.get_job('job-1'); in_a_daemon(asyncio.run, c)",
    "nothing": "pass",
    "clients never closed": "docplatform.Client().with_options(); later.with_options()",
}

ACTIVE = {
    "a wait": "in_a_daemon(lambda: client.wait_for_job('job-1', **often)); sent(2)",
    "a wait that rests": "in_a_daemon(lambda: client.wait_for_job('job-1', **rarely)); sent(1)",
    "a wait in a task": "in_a_daemon(asyncio.run, later.wait_for_job('job-1', **often)); sent(2, by=later)",
    "an endless iteration": "rows = client.visitors(page_size=1); in_a_daemon(list, rows); sent(20)",
    "an endless loop of calls": "in_a_daemon(lambda: [client.get_job('job-1') for _ in range(9999)]); sent(20)",
    "a wait whose awaitable callback waits": (
        "in_a_daemon(asyncio.run, later.wait_for_job('job-1', on_poll=awaited)); called_back.wait()"
    ),
}

CALLBACKS = ["sleepy", "napping", "busy", "talkative"]


def rounds(script: str, stub: StubServer) -> list[Ended]:
    """Exits at different moments after the work is under way."""
    return [run_script(script, str(number * number / 1000), stub=stub) for number in range(ROUNDS)]


def check(ended: list[Ended], *, status: int = 7, err: str = "") -> None:
    assert [(end.status, end.out, end.err) for end in ended] == [(status, "", err)] * len(ended)
    # Measured: 0.1 s to 0.2 s, the start of the interpreter included.
    assert max(end.seconds for end in ended) < 5.0


@pytest.mark.row("I7")
@pytest.mark.parametrize("work", HELD.values(), ids=HELD)
def test_exit_while_daemon_threads_are_blocked(stub: StubServer, work: str) -> None:
    stub.latency = HOLD
    check(rounds(PRELUDE + work + EXIT, stub))


@pytest.mark.row("I7")
@pytest.mark.parametrize("work", ACTIVE.values(), ids=ACTIVE)
def test_exit_while_daemon_threads_go_on(stub: StubServer, work: str) -> None:
    stub.script_job("active")
    with stub.client() as client:
        client.create_job("Fix it")
    check(rounds(PRELUDE + work + EXIT, stub))


@pytest.mark.row("I7")
@pytest.mark.parametrize("callback", CALLBACKS)
@pytest.mark.parametrize("face", ["sync", "async"])
def test_exit_while_a_daemon_thread_is_in_a_callback(stub: StubServer, callback: str, face: str) -> None:
    stub.script_job("active")
    with stub.client() as client:
        client.create_job("Fix it")
    wait = f"wait_for_job('job-1', on_poll={callback}, **often)"
    run = f"lambda: client.{wait}" if face == "sync" else f"lambda: asyncio.run(later.{wait})"
    check(rounds(f"{PRELUDE}in_a_daemon({run}); called_back.wait(){EXIT}", stub))


@pytest.mark.row("I7")
@pytest.mark.parametrize(
    "wait",
    [
        "client.wait_for_job('job-1', on_poll=leave)",
        "asyncio.run(later.wait_for_job('job-1', on_poll=leave))",
        "in_a_daemon(list, client.visitors(page_size=1)); client.wait_for_job('job-1', on_poll=leave)",
    ],
)
def test_sys_exit_in_a_callback_gives_the_status(stub: StubServer, wait: str) -> None:
    with stub.client() as client:
        client.create_job("Fix it")
    check(rounds(PRELUDE + wait, stub))


@pytest.mark.row("I7")
def test_a_thread_that_is_no_daemon_is_waited_for(stub: StubServer) -> None:
    stub.latency = 0.2
    script = "threading.Thread(target=lambda: print(client.create_job('Fix it').id)).start()\nsys.exit(7)"
    ended = run_script(PRELUDE + script, "0", stub=stub)
    assert (ended.status, ended.out, ended.err) == (7, "job-1\n", "")


@pytest.mark.row("I7")
def test_an_exception_in_the_main_thread_is_all_that_is_told(stub: StubServer) -> None:
    stub.latency = HOLD
    ended = rounds(PRELUDE + HELD["many calls"] + "\nraise ZeroDivisionError", stub)
    assert [end.status for end in ended] == [1] * ROUNDS
    assert {end.err.splitlines()[-1] for end in ended} == {"ZeroDivisionError"}
    assert {end.err.count("Traceback") for end in ended} == {1}


# -- at the very end -----------------------------------------------------------------------------

AT_EXIT = {
    "closes": "client.close()",
    "calls": "assert client.create_job('Fix it').id",
    "awaits": "assert asyncio.run(later.create_job('Fix it')).id",
    "waits": "assert client.run_job('Fix it', **often).is_final",
    "iterates": "assert len(list(client.visitors(page_size=300 // 3))) == 1000",
    "calls and closes": "client.create_job('Fix it'); client.close(); asyncio.run(later.close())",
}


@pytest.mark.row("I7")
@pytest.mark.parametrize("work", AT_EXIT.values(), ids=AT_EXIT)
@pytest.mark.parametrize("registered", ["before the first use", "after it", "without another use"])
def test_an_atexit_callback_can_use_a_client(stub: StubServer, work: str, registered: str) -> None:
    use = "client.visitor_totals(); asyncio.run(later.visitor_totals())"
    callback = f"@atexit.register\ndef goodbye():\n    {work}\n    print('done')\n"
    script = {
        "before the first use": f"{callback}\n{use}",
        "after it": f"{use}\n{callback}",
        "without another use": callback,
    }[registered]
    ended = run_script(f"{PRELUDE}{script}\nsys.exit(7)", "0", stub=stub)
    assert (ended.status, ended.out, ended.err) == (7, "done\n", "")


@pytest.mark.row("I7")
def test_an_atexit_callback_can_use_a_client_while_daemon_threads_are_blocked(stub: StubServer) -> None:
    script = """
@atexit.register
def goodbye():
    client.close()
    assert docplatform.Client().create_job("Fix it").id

in_a_daemon(lambda: client.wait_for_job("job-1", **rarely)); sent(1)
in_a_daemon(lambda: asyncio.run(later.wait_for_job("job-1", **rarely))); sent(1, by=later)
"""
    stub.script_job("active")
    with stub.client() as client:
        client.create_job("Fix it")
    check(rounds(PRELUDE + script + EXIT, stub))
    assert len(stub.jobs) == 1 + ROUNDS


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
        arrived = len(stub.requests)
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


@pytest.mark.row("I2")
def test_a_hundred_runs_that_leave_tasks_behind(stub: StubServer) -> None:
    script = """
async def main():
    for work in (later.get_job("job-1"), later.visitor_totals(), export(later.visitors())):
        asyncio.create_task(work)
    await asyncio.sleep(0)

for _ in range(100):
    asyncio.run(main())
sys.exit(7)
"""
    stub.latency = HOLD
    ended = run_script(PRELUDE + script, "0", stub=stub)
    assert (ended.status, ended.out, ended.err) == (7, "", "")
    stub.wait_for(lambda s: all(request.disconnected for request in s.requests))


# -- what Python tells of its own ----------------------------------------------------------------

PLAIN = """
import asyncio, sys
async def method():
    await asyncio.sleep(60)
"""


@pytest.mark.parametrize(
    "use",
    [
        "coroutine = {call}\nsys.exit(7)",
        "{call}\nsys.exit(7)",
        "class Holder: pass\nholder = Holder()\nholder.itself = holder\nholder.coroutine = {call}\nsys.exit(7)",
        "coroutine = {call}\ncoroutine.close()\nsys.exit(7)",
    ],
    ids=["kept", "dropped", "in a cycle", "closed"],
)
def test_a_coroutine_never_awaited_is_told_of_as_python_tells_of_its_own(stub: StubServer, use: str) -> None:
    ours = run_script(
        "import docplatform, sys\nlater = docplatform.AsyncClient()\n" + use.format(call="later.close()"),
        stub=stub,
    )
    plain = run_script(PLAIN + use.format(call="method()"))
    assert (ours.status, ours.out) == (plain.status, plain.out) == (7, "")
    assert told(ours) == [line.replace("method", "AsyncClient.close") for line in told(plain)]


def told(ended: Ended) -> list[str]:
    """The warnings, without where they were, and without the hint at tracemalloc."""
    lines = [line.partition("Warning: ")[2] for line in ended.err.splitlines() if "Warning: " in line]
    return [line for line in lines if "tracemalloc" not in line]
