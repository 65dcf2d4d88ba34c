"""Thousands of calls at a time, and thousands in a row: bounded connections, flat memory, nothing left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.marks import linux
from helpers.phases import with_a_job
from helpers.scripts import Script, run_script

pytestmark = linux

PRELUDE = """
import asyncio, gc, json, os, random, sys, time
from concurrent.futures import ThreadPoolExecutor
import docplatform

def resident():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def count(what):
    return len(os.listdir(f"/proc/self/{what}"))

def coroutines():
    gc.collect()
    return sum(type(thing).__name__ == "_Operation" for thing in gc.get_objects())
"""

WAITS = (
    PRELUDE
    + """
async def main():
    async with docplatform.AsyncClient() as client:
        await asyncio.gather(*(client.get_job("job-1") for _ in range(100)))
        before, threads, sent = resident(), count("task"), client.stats.requests
        begun = time.monotonic()
        how = {"poll_interval": 1.0, "max_poll_interval": 2.0}
        tasks = [asyncio.create_task(client.wait_for_job("job-1", **how)) for _ in range(10_000)]
        while client.stats.requests < sent + 10_000:
            await asyncio.sleep(0.01)
        grown, more = resident() - before, count("task") - threads
        print("all wait", flush=True)
        jobs = await asyncio.gather(*tasks)
        print(json.dumps({
            "ended": sum(job.status == "completed" for job in jobs),
            "grown": grown,
            "threads": more,
            "seconds": time.monotonic() - begun,
        }))

asyncio.run(main())
"""
)


@pytest.mark.row("F7")
def test_ten_thousand_waits_share_a_few_connections(stub: StubServer) -> None:
    with_a_job(stub)
    with Script(WAITS, stub=stub) as script:
        assert script.read() == "all wait"
        stub.jobs[0].status = "completed"
        figures: dict[str, Any] = json.loads(script.read())
        ended = script.end()
    print(figures)
    assert (ended.status, ended.err) == (0, "")
    assert figures["ended"] == 10_000
    assert stub.peak_connections <= 64
    # Measured: 62 MiB, 14 of them for as many tasks of asyncio's that only sleep.
    assert figures["grown"] < 100
    assert figures["threads"] == 0


CANCELLED = (
    PRELUDE
    + """
async def some(client, number):
    calls = [
        lambda: client.get_job("job-1"),
        lambda: client.visitor_totals(),
        lambda: client.wait_for_job("job-1", poll_interval=0.01),
        lambda: client.visitors(page_size=5).__anext__(),
        lambda: client.request("GET", "/v2/agent/{project_id}/job/job-1"),
    ]
    for _ in range(number // 50):
        tasks = [asyncio.create_task(random.choice(calls)()) for _ in range(50)]
        for _ in range(random.randrange(20)):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(r, asyncio.CancelledError) or not isinstance(r, BaseException) for r in results)

async def main():
    client = docplatform.AsyncClient()
    await some(client, 1000)
    before = resident(), count("task"), coroutines()
    await some(client, 10_000)
    figures = {
        "grown": resident() - before[0],
        "threads": count("task") - before[1],
        "coroutines": coroutines() - before[2],
        "tasks": len(asyncio.all_tasks()),
        "descriptors": count("fd"),
    }
    await client.close()
    print(json.dumps(figures), flush=True)

asyncio.run(main())
sys.stdin.readline()
print(count("fd"))
"""
)


@pytest.mark.row("I13")
def test_ten_thousand_calls_cancelled_half_the_time_leave_nothing_behind(stub: StubServer) -> None:
    with_a_job(stub, "active", "active", "completed")
    stub.latency = 0.002
    with Script(CANCELLED, stub=stub) as script:
        figures: dict[str, Any] = json.loads(script.read())
        stub.wait_for(lambda s: s.connections == 0)
        script.write("all gone")
        descriptors = int(script.read())
        ended = script.end()
    print(figures)
    assert (ended.status, ended.err) == (0, "")
    assert (figures["threads"], figures["tasks"]) == (0, 1)
    # One of the warm-up may only now be collected.
    assert figures["coroutines"] <= 0
    assert figures["descriptors"] < 64 + 16
    assert descriptors < 16
    # Measured: 1 MiB.
    assert figures["grown"] < 20


BLOCKING = (
    PRELUDE
    + """
client = docplatform.Client()

def work(number):
    client.get_job("job-1")
    next(client.visitors(page_size=5))
    docplatform.Client().with_options(timeout=5).visitor_totals()

def some(number):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(number)))

some(100)
before = resident(), count("task"), count("fd")
some(1000)
print(json.dumps({
    "grown": resident() - before[0],
    "threads": count("task") - before[1],
    "descriptors": count("fd") - before[2],
}))
"""
)


@pytest.mark.row("I13")
def test_thousands_of_blocking_calls_and_clients_leave_nothing_behind(stub: StubServer) -> None:
    with_a_job(stub)
    ended = run_script(BLOCKING, stub=stub)
    assert (ended.status, ended.err) == (0, "")
    figures = json.loads(ended.out)
    print(figures)
    # Threads of the pool and connections of clients that are gone may be about to end.
    assert figures["threads"] < 8
    assert figures["descriptors"] < 32
    assert figures["grown"] < 20


EXPORT = (
    PRELUDE
    + """
def blocking():
    rows = docplatform.Client().visitors()
    for _ in range(20_000):
        next(rows)
    before = resident()
    return sum(1 for _ in rows), resident() - before

async def awaiting():
    async with docplatform.AsyncClient() as client:
        rows = client.visitors()
        for _ in range(20_000):
            await anext(rows)
        before, number = resident(), 0
        async for _ in rows:
            number += 1
        return number, resident() - before

print(json.dumps(blocking() if sys.argv[1] == "sync" else asyncio.run(awaiting())))
"""
)


@pytest.mark.row("I13")
@pytest.mark.parametrize("face", ["sync", "async"])
def test_a_long_export_that_is_streamed_takes_no_more_memory_than_a_short_one(face: str) -> None:
    with StubServer(visitors=200_000) as stub:
        ended = run_script(EXPORT, face, stub=stub)
    assert (ended.status, ended.err) == (0, "")
    number, grown = json.loads(ended.out)
    assert number == 180_000
    # The same rows would take some 60 MiB as a list.
    assert grown < 10
