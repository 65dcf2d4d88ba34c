"""Calls and processes that want the same ranges at the same time: each page is requested once."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.exports import eventually, names
from helpers.preload import build
from helpers.scripts import Script

TRENDS = """
import sys, docplatform
from concurrent.futures import ThreadPoolExecutor
calls, days = int(sys.argv[2]), {"date_from": "2024-01-01", "date_to": "2024-01-21"}
with docplatform.Client(store=sys.argv[1]) as client, ThreadPoolExecutor(calls) as pool:
    print("ready", flush=True)
    sys.stdin.readline()
    trends = [pool.submit(client.visitor_trend, **days, every="day", by_path=True) for _ in range(calls)]
    print(sum(trend.result().requests for trend in trends))
"""

PAGES = """
import logging, sys, docplatform
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
with docplatform.Client(store=sys.argv[1]) as client:
    print(len(client.visitors(date_from="2024-01-01", date_to="2024-02-01").collect()), flush=True)
"""


@pytest.mark.one_python
@pytest.mark.stub(visitors=3, latency=0.02)
@pytest.mark.parametrize(
    ("count", "calls", "delay"), [(1, 1, 0), (2, 1, 0), (4, 1, 0), (8, 1, 0), (1, 10, 0), (3, 8, 10_000)]
)
def test_processes_at_once_share_their_requests(
    stub: StubServer,
    store: Path,
    tmp_path_factory: pytest.TempPathFactory,
    count: int,
    calls: int,
    delay: int,
) -> None:
    if delay and sys.platform != "linux":
        pytest.skip("stands in for a function of the C library")
    # Each sync takes ``delay`` microseconds longer.
    slow = str(build("disk", tmp_path_factory.mktemp("disk"))) if delay else ""
    env = {"LD_PRELOAD": slow, "DISK_DELAY": str(delay)} if delay else {}
    for wanted in (20, 0):
        before = len(stub.requests)
        with ExitStack() as stack:
            trends = [Script(TRENDS, str(store), str(calls), stub=stub, env=env) for _ in range(count)]
            scripts = [stack.enter_context(script) for script in trends]
            assert {script.read() for script in scripts} == {"ready"}
            for script in scripts:
                script.write("go")
            requests = sum(int(script.read()) for script in scripts)
            assert [(end.status, end.err) for end in (script.end() for script in scripts)] == [
                (0, "")
            ] * count
        assert requests == len(stub.requests) - before == wanted
    assert names(store.parent) == ["visitors.db"]


@pytest.mark.one_python
def test_a_killed_process_holds_up_no_other(stub: StubServer, store: Path) -> None:
    stub.slow_next(60.0)
    with Script(PAGES, str(store), stub=stub) as first:
        eventually(lambda: stub.requests)
        assert [name for name in names(store.parent) if "-page-" in name]
        with Script(PAGES, str(store), stub=stub) as second:
            waits = "another call is fetching the same page: waiting for it"
            eventually(lambda: second.read().endswith(waits))
            first.signal(signal.SIGKILL)
            assert second.read() == "1000"
            assert second.end().status == 0
    assert len(stub.requests) == 5
    assert names(store.parent) == ["visitors.db"]
