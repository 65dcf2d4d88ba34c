"""One client in many threads and loops, with callbacks that use it, too."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docplatform import DocPlatformError, Job, _native
from docplatform.testing import StubServer
from helpers import Face
from helpers.marks import linux, posix
from helpers.phases import HOLD, pending
from helpers.preload import build
from helpers.scripts import run_script


@pytest.mark.row("I8")
def test_other_threads_run_while_a_call_waits(stub: StubServer) -> None:
    stub.latency = 0.3
    counted = 0
    with stub.client() as client, ThreadPoolExecutor() as pool:
        call = pool.submit(client.visitor_totals)
        stub.wait_for(pending)
        while pending(stub):
            counted += 1
        assert call.result().total > 0
    # With the interpreter held, this thread would have got no turn before the answer.
    assert counted > 100


# -- callbacks -----------------------------------------------------------------------------------


@pytest.mark.row("I16")
def test_a_callback_can_use_its_client(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    rows = client.visitors(page_size=1)
    seen: list[Any] = []

    def use(job: Job) -> None:
        seen.append((client.get_job(job).status, next(rows)["path"], client.visitor_totals()))
        nested = client.run_job("Nested", poll_interval=0.001, on_poll=lambda job: seen.append(job.status))
        seen.append(client.send_message(nested, "And that").id)

    async def use_async(job: Job) -> None:
        seen.append(((await client.get_job(job)).status, (await anext(rows))["path"]))
        seen.append(await asyncio.gather(client.visitor_totals(), client.create_job("Nested")))

    on_poll = use if face.name == "sync" else use_async
    stub.script_job("active", "active", "active", "completed", "completed")
    job = face.run(client.run_job("Fix it", poll_interval=0.001, on_poll=on_poll))
    assert job.is_final
    assert len(seen) > 4
    assert len(stub.jobs) > 2


@pytest.mark.row("I16")
def test_callbacks_and_log_lines_come_in_the_callers_thread(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    threads: set[str] = set()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            threads.add(f"log of {record.threadName}")
            # A handler may wait for another thread that needs the interpreter.
            other = threading.Thread(target=lambda: threads.add("another, for a handler"))
            other.start()
            other.join(30)

    logger = logging.getLogger("docplatform")
    handler = Handler()
    logger.addHandler(handler)
    level, logger.level = logger.level, logging.DEBUG
    try:
        stub.fail_next(502, path="/job/")
        stub.fail_next(502, path="/visitors")

        def on_poll(job: Job) -> None:
            threads.add(f"callback of {threading.current_thread().name}")

        face.run(client.run_job("Fix it", poll_interval=0.001, on_poll=on_poll))
        assert len(face.all(client.visitors(page_size=100))) == 1_000
    finally:
        logger.removeHandler(handler)
        logger.level = level
    here = threading.current_thread().name
    assert threads == {f"log of {here}", f"callback of {here}", "another, for a handler"}


@pytest.mark.row("I16")
@posix
def test_an_iterator_in_a_handler_of_the_thread_that_waits_in_it_says_so(stub: StubServer) -> None:
    stub.latency = HOLD
    client = stub.client()
    rows = client.visitors()
    told: list[str] = []

    def handle(*_: object) -> None:
        for use in (lambda: next(rows), rows.totals, rows.collect):
            with pytest.raises(RuntimeError, match="already executing") as caught:
                use()
            told.append(str(caught.value))
        raise KeyboardInterrupt

    def interrupt() -> None:
        stub.wait_for(pending)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with ThreadPoolExecutor() as pool:
            pool.submit(interrupt)
            with pytest.raises(KeyboardInterrupt):
                next(rows)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(told) == 3
    stub.latency = 0.0
    assert len(list(rows)) == 1_000


# -- no more threads, no more descriptors ----------------------------------------------------------

NO_THREADS = """
import asyncio, os, sys
import docplatform

limit, target, when = sys.argv[1:]
client = docplatform.Client()

def set_limit():
    open(limit, "w").close()

if when == "later":
    client.visitor_totals()
set_limit()
try:
    print(client.create_job("Fix it").id)
except docplatform.ConnectError as error:
    assert "cannot start its threads" in str(error)
    print(error.outcome)
try:
    print(client.visitors().to_csv(target))
except docplatform.ConnectError as error:
    print(error.outcome)
os.remove(limit)
print(client.create_job("Fix it").id, asyncio.run(docplatform.AsyncClient().get_job("job-1")).id)
"""


@pytest.mark.row("I11")
@linux
@pytest.mark.parametrize("when", ["from the start", "later"])
def test_where_no_thread_can_be_started(when: str, stub: StubServer, tmp_path: Path) -> None:
    library, limit = build("threads", tmp_path), tmp_path / "limit"
    env = {"LD_PRELOAD": str(library), "NO_THREADS": str(limit)}
    ended = run_script(NO_THREADS, str(limit), str(tmp_path / "file"), when, stub=stub, env=env)
    answers = (
        ["not_sent", "None", "job-1 job-1"] if when == "from the start" else ["job-1", "1000", "job-2 job-1"]
    )
    assert (ended.out.splitlines(), ended.err) == (answers, "")


NO_DESCRIPTORS = """
import asyncio, errno, json, os, resource, sys
import docplatform

client, later = docplatform.Client(max_retries=0), docplatform.AsyncClient(max_retries=0)
calls = [
    lambda: client.create_job("Fix it"),
    lambda: client.request("POST", "/v2/agent/{project_id}/job", json={"prompt": "Fix it"}),
]
reads = [lambda: client.get_job("job-1"), lambda: next(client.visitors())]
loop = asyncio.new_event_loop()
calls += [lambda: loop.run_until_complete(later.create_job("Fix it"))]
reads += [lambda: loop.run_until_complete(later.visitor_totals())]
if sys.argv[1] == "warm":
    warm = docplatform.Client()
    warm.visitor_totals()
loop.run_until_complete(asyncio.sleep(0))

resource.setrlimit(resource.RLIMIT_NOFILE, (32, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
for call in calls + reads:
    try:
        print(call())
    except docplatform.ConnectError as error:
        assert error.outcome == ("not_sent" if call in calls else None), error.outcome
        assert "Too many open files" in str(error)
    except OSError as error:
        assert sys.argv[1] == "cold" and error.errno == errno.EMFILE, error
        assert "docplatform" in str(error)
while held:
    os.close(held.pop())
for call in calls + reads:
    assert call()
"""


@pytest.mark.row("I11")
@posix
@pytest.mark.parametrize("at", ["cold", "warm"])
def test_without_descriptors_a_call_says_so_and_recovers(stub: StubServer, at: str) -> None:
    ended = run_script(NO_DESCRIPTORS, at, stub=stub)
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert len(stub.jobs) == 3


# -- loops ---------------------------------------------------------------------------------------


@pytest.mark.row("I15")
def test_blocking_calls_work_inside_a_running_loop(stub: StubServer) -> None:
    async def as_in_a_notebook() -> list[Any]:
        with stub.client() as client:
            job = client.run_job("Fix it", poll_interval=0.001, on_poll=lambda job: None)
            return [job.status, len(list(client.visitors())), client.visitor_totals().total > 0]

    assert asyncio.run(as_in_a_notebook()) == ["completed", 1_000, True]


@pytest.mark.row("I3")
def test_two_loops_in_two_threads_at_the_same_time(stub: StubServer) -> None:
    client = stub.async_client()
    rows = client.visitors(page_size=2, prefetch=2)
    together = threading.Barrier(2)

    async def work() -> tuple[list[Any], list[str]]:
        together.wait(30)
        jobs = await asyncio.gather(*(client.run_job("Fix it", poll_interval=0.001) for _ in range(20)))
        return jobs, [row["path"] async for row in rows]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: asyncio.run(work()), range(2))
    assert len({job.id for job in first[0] + second[0]}) == 40
    assert sorted(first[1] + second[1]) == sorted({*first[1], *second[1]})
    assert len(first[1] + second[1]) == 1_000
    asyncio.run(client.close())


# -- a bug ---------------------------------------------------------------------------------------


@pytest.mark.row("D18")
@pytest.mark.skipif(not hasattr(_native, "_panic"), reason="no way to force a panic in this build")
def test_a_panic_is_an_ordinary_error(
    face: Face, stub: StubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    client = face.client(stub)
    for _ in range(3):
        with pytest.raises(DocPlatformError, match="a bug in docplatform: on purpose") as caught:
            face.run(_native._panic(client))
        assert type(caught.value) is DocPlatformError
        assert face.run(client.visitor_totals()).total > 0
    # Where it was is in the error, and not on the console.
    assert "client/mod.rs:" in str(caught.value)
    assert capfd.readouterr() == ("", "")
