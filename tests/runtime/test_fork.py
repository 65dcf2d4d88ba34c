"""After a fork, parent and child work on, each with its own connections and threads."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docplatform import AsyncClient, Client
from docplatform.testing import StubServer
from helpers.children import in_child
from helpers.phases import HOLD, pending
from helpers.scripts import environment, run_script

pytestmark = [
    pytest.mark.row("I6"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a platform without fork"),
    # Python 3.12 and later warn of every fork of a process with threads, and the stub is one.
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]

ROUNDS = 5


def use(client: Client) -> str:
    """A write, a read and a few pages; the id of the job."""
    job = client.create_job("Fix it")
    assert client.get_job(job) == job
    assert len(list(client.visitors(page_size=250))) == 1_000
    return job.id


async def use_async(client: AsyncClient) -> str:
    """The same, with ``await``."""
    job = await client.create_job("Fix it")
    assert await client.get_job(job) == job
    assert len([row async for row in client.visitors(page_size=250)]) == 1_000
    return job.id


@pytest.fixture
def warm(stub: StubServer) -> Iterator[Client]:
    """A client with connections that are kept for the next request."""
    with stub.client() as client:
        use(client)
        yield client


def test_both_halves_go_on(stub: StubServer, warm: Client) -> None:
    for number in range(ROUNDS):
        assert in_child(lambda: use(warm)) == f"job-{2 + 2 * number}"
        assert use(warm) == f"job-{3 + 2 * number}"
    assert not pending(stub)


def test_children_of_children_go_on_also_with_a_client_never_used_before(stub: StubServer) -> None:
    with stub.client() as client:

        def nested() -> list[str]:
            return [use(client), in_child(lambda: use(client)), use(client)]

        assert in_child(nested) == ["job-1", "job-2", "job-3"]
        assert use(client) == "job-4"


def test_handles_and_closing_stay_apart(stub: StubServer, warm: Client) -> None:
    handle = warm.with_options(max_retries=0)

    def close_one() -> str:
        handle.close()
        with pytest.raises(RuntimeError, match="closed"):
            handle.visitor_totals()
        return use(warm)

    assert in_child(close_one) == "job-2"
    assert use(handle) == "job-3"


# -- what is under way ---------------------------------------------------------------------------


@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("taken", [0, 7, 10, 25])
def test_an_iterator_stays_the_parents_and_its_checkpoint_continues_it_in_the_child(
    stub: StubServer, prefetch: int, taken: int
) -> None:
    with stub.client() as client:
        everything = list(client.visitors(max_rows=60))
        rows = client.visitors(page_size=10, prefetch=prefetch, max_rows=60)
        before = [next(rows) for _ in range(taken)]

        def rest() -> list[Any]:
            received: list[Any] = []
            with pytest.raises(RuntimeError, match=r"forked.* checkpoint"):
                received.extend(rows)
            left = 60 - taken - len(received)
            return received + list(client.visitors(resume=rows.checkpoint, max_rows=left))

        assert before + in_child(rest) == everything
        assert before + list(rows) == everything


def test_no_way_of_reading_an_iterator_works_in_the_child(stub: StubServer, tmp_path: Path) -> None:
    with stub.client() as client:
        rows = client.visitors()

        def read() -> None:
            ways: list[Callable[[], object]] = [
                lambda: next(rows),
                rows.totals,
                lambda: next(rows.pages()),
                rows.collect,
                rows.to_dicts,
                lambda: rows.to_csv(tmp_path / "rows.csv"),
            ]
            for way in ways:
                with pytest.raises(RuntimeError, match="forked"):
                    way()

        in_child(read)
        assert not stub.requests
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_an_async_iterator_stays_the_parents(stub: StubServer, prefetch: int) -> None:
    client = stub.async_client()
    rows = client.visitors(page_size=10, prefetch=prefetch, max_rows=60)

    async def some(count: int) -> list[Any]:
        return [await anext(rows) for _ in range(count)]

    async def rest() -> list[Any]:
        received = []
        with pytest.raises(RuntimeError, match=r"forked.* checkpoint"):
            while True:
                received.append(await anext(rows))
        resumed = client.visitors(resume=rows.checkpoint, max_rows=45 - len(received))
        return received + [row async for row in resumed]

    asyncio.run(some(15))
    in_the_child = in_child(lambda: asyncio.run(rest()))
    assert asyncio.run(some(45)) == in_the_child


@pytest.mark.parametrize("used", [False, True], ids=["unused", "warm"])
def test_a_coroutine_made_before_the_fork_runs_in_both_halves(stub: StubServer, used: bool) -> None:
    client = stub.async_client()
    if used:
        asyncio.run(use_async(client))
    totals = asyncio.run(client.visitor_totals())

    async def finish(made: list[Any]) -> list[Any]:
        return await asyncio.wait_for(asyncio.gather(*made), 20)

    made = [
        client.create_job("Fix it"),
        client.visitor_totals(),
        client.request("GET", "/v1/analytics/{project_id}/visitors", params={"limit": 1}),
    ]
    for half in (lambda: in_child(lambda: asyncio.run(finish(made))), lambda: asyncio.run(finish(made))):
        job, got, page = half()
        assert got == totals
        assert len(page["visitors"]) == 1
    assert len(stub.jobs) == 2 + used
    assert job.id == stub.jobs[-1].id


def test_what_the_parent_has_under_way_can_be_dropped_in_the_child(stub: StubServer) -> None:
    client = stub.async_client(timeout=HOLD)

    async def main() -> None:
        rows = client.visitors(page_size=10, prefetch=4)
        held = [client.get_job(f"job-{n}") for n in range(20)] + [client.visitor_totals(), rows.__anext__()]
        stub.latency = HOLD
        for coroutine in held:
            coroutine.send(None)
        await asyncio.to_thread(stub.wait_for, lambda s: len(s.requests) >= 20)
        stub.latency = 0.0

        def drop() -> str:
            nonlocal rows, client
            held.clear()
            del rows, client
            gc.collect()
            asyncio.events._set_running_loop(None)
            return asyncio.run(use_async(stub.async_client()))

        for _ in range(ROUNDS):
            assert in_child(drop).startswith("job-")
        assert len(pending(stub)) >= 20, "the parent's are not touched"
        for coroutine in held:
            coroutine.close()

    asyncio.run(main())
    stub.wait_for(lambda s: not pending(s))


# -- the usual ways to fork ----------------------------------------------------------------------


def in_a_pool(client: Client) -> str:
    return use(client)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes(stub: StubServer, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    for name, value in environment(stub).items():
        if name.startswith("DOCPLATFORM_"):
            monkeypatch.setenv(name, value)
    with (
        stub.client() as client,
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool,
    ):
        use(client)
        ids = list(pool.map(in_a_pool, [client] * 6))
        assert sorted(ids) == sorted(job.id for job in stub.jobs[1:])
        assert use(client) == "job-8"


STEPS = """
import asyncio, os, signal, sys, threading, time, warnings
import docplatform

warnings.simplefilter("ignore")

def call(work):
    async def main():
        return await work(client)
    return work(client) if face == "Client" else asyncio.run(main())

async def hundred(client):
    return len([row async for row in client.visitors(max_rows=100)])

face, begin = sys.argv[1:]
client = getattr(docplatform, face)()
calls = {
    "get_job": lambda client: client.get_job("job-1"),
    "read": hundred if face == "AsyncClient" else lambda client: len(list(client.visitors(max_rows=100))),
    "collect": lambda client: client.visitors(max_rows=100).collect(),
}
# No thread has to give the interpreter up: the other one comes as far as its next wait, or its next lock.
sys.setswitchinterval(1000)
threading.Thread(target=call, args=(calls[begin],), daemon=True).start()
children = []
for _ in range(60):
    time.sleep(0)
    if not (child := os.fork()):
        signal.alarm(60)  # a child that hangs is a failure, and no test that never ends
        asyncio.set_event_loop(None)
        read = call(calls["read" if begin == "get_job" else begin])
        os._exit(read if begin != "collect" else len(read))
    children.append(child)
print({os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children})
"""


@pytest.mark.parametrize("begin", ["get_job", "read", "collect"])
@pytest.mark.parametrize("client", ["Client", "AsyncClient"])
def test_a_child_that_is_forked_at_any_step_of_the_first_call_waits_for_no_thread_that_it_lacks(
    stub: StubServer, client: str, begin: str
) -> None:
    stub.script_job("active")
    with stub.client() as other:
        other.create_job("Fix it")
    stub.latency = 0.2
    ended = run_script(STEPS, client, begin, stub=stub)
    assert (ended.status, ended.out, ended.err) == (0, "{100}\n", "")
