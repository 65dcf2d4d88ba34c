"""Exports with a store: fetched once, by any process, and while the store is locked."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from docplatform import DocPlatformError, PaginationError, SyncError, UnrecordedJobWarning
from docplatform.testing import StubServer
from helpers import Face
from helpers.children import tell
from helpers.marks import posix
from helpers.phases import pending
from helpers.scripts import Script, environment, run_script

SETTLED: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}


def test_a_final_range_is_fetched_once(face: Face, stub: StubServer, store: Path, tmp_path: Path) -> None:
    client = face.client(stub, store=store)
    assert not stub.requests
    first = face.all(client.visitors(**SETTLED))
    assert (len(first), len(stub.requests)) == (1_000, 4)
    table = face.run(client.visitors(**SETTLED).collect())
    assert (list(table), table.requests, table.warnings) == (first, 0, [])
    assert face.all(client.visitors(**SETTLED, page_size=77, prefetch=4)) == first
    assert face.all(client.visitors(**SETTLED, offset=123, max_rows=500)) == first[123:623]
    assert face.run(client.visitor_totals(**SETTLED)) == table.totals
    assert face.run(client.visitors(**SETTLED).to_pandas()).to_dict("records") == first
    assert face.run(client.visitors(**SETTLED).to_csv(tmp_path / "visitors.csv")) == 1_000
    # Another process has them, too, and the other face.
    script = f"""
c = client(store={str(store)!r})
rows = everything(lambda: c.visitors(date_from="2024-01-01", date_to="2024-02-01"))
print(json.dumps(rows))
"""
    other = "async" if face.name == "sync" else "sync"
    assert tell(other, script, **environment(stub)) == first
    assert len(stub.requests) == 4


def test_what_is_resumed_is_not_refreshed(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store)
    with pytest.raises(ValueError, match="give one of them"):
        client.visitors(resume=client.visitors(**SETTLED).checkpoint, refresh=True)


@pytest.mark.parametrize(
    "faulty",
    [
        {"searches": [{"searchQuery": "a"}], "nextCursor": "https://other.example/?cursor=1"},
        {"searches": [{"searchQuery": "a"}], "nextCursor": "x" * 70_000},
        {"searches": [{"searchQuery": "a"}], "nextCursor": "/searches?limit=1"},
    ],
)
def test_a_cursor_that_leads_nowhere_is_not_kept(face: Face, store: Path, faulty: dict[str, Any]) -> None:
    with StubServer(searches=[{"searchQuery": name} for name in "abc"]) as stub:
        client = face.client(stub, store=store)
        stub.fail_next(status=200, path="/searches", body=faulty)
        with pytest.raises(PaginationError, match="it sent a cursor") as caught:
            face.run(client.searches(**SETTLED).collect())
        assert [row["searchQuery"] for row in caught.value.partial or ()] == ["a"]
        with pytest.raises(SyncError) as failed:
            stub.fail_next(status=200, path="/searches", body=faulty)
            face.run(client.sync("demo", **SETTLED, listing="searches", every="month"))
        assert isinstance(failed.value.failures[0].error, PaginationError)
        report = face.run(client.sync("demo", **SETTLED, listing="searches", every="month"))
        table = face.run(client.searches(**SETTLED).collect())
        assert ([row["searchQuery"] for row in table], table.requests) == (["a", "b", "c"], 0)
        assert (report.requests, report.rows, len(stub.requests)) == (1, 3, 3)


EXITING = """
import sys, threading, warnings
import docplatform

warnings.simplefilter("ignore", docplatform.WaitWarning)
client = docplatform.Client(store=sys.argv[1], requests_per_hour=int(sys.argv[2]))
busy = threading.Event()

def work():
    while True:
        for _ in client.visitors(date_from="2024-01-01", date_to="2024-02-01", refresh=True):
            busy.set()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
busy.wait()
"""


@pytest.mark.parametrize("per_hour", [2, 100_000], ids=["waiting", "writing"])
def test_a_process_may_exit_while_the_store_is_in_use(stub: StubServer, store: Path, per_hour: int) -> None:
    for _ in range(2):
        store.unlink(missing_ok=True)
        ended = run_script(EXITING, str(store), str(per_hour), stub=stub)
        assert (ended.status, ended.out, ended.err) == (0, "", "")


# -- A store that another process keeps locked ------------------------------------------------------

# In the process of a client, Python's own SQLite would drop the client's locks.
HOLDER = """
import sqlite3, sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = " + sys.argv[2])
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE meta SET value = value")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(store: Path, mode: str = "EXCLUSIVE") -> Iterator[None]:
    """Keeps everyone else out, readers too; ``"NORMAL"``: only those who write."""
    with Script(HOLDER, str(store), mode) as holder:
        assert holder.read() == "locked"
        yield
        holder.end()


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "NORMAL"])
def test_no_call_waits_for_a_locked_store_longer_than_its_deadline(
    face: Face, stub: StubServer, store: Path, mode: str
) -> None:
    client = face.client(stub, store=store, requests_per_hour=9)
    impatient = client.with_options(deadline=0.5)
    with locked(store, mode):
        begun = time.monotonic()
        for _ in range(3):
            with pytest.raises(DocPlatformError, match="did not answer in time"):
                face.run(impatient.visitor_totals())
        with pytest.raises(DocPlatformError, match="did not answer in time") as failed:
            face.run(impatient.create_job("Rewrite the guide.", once="guide"))
        assert failed.value.outcome == "not_sent"
        assert time.monotonic() - begun < 15
        # Without the file, and so at once also in an event loop.
        assert client.stats.budget_left == 9
    assert not stub.requests
    face.run(client.visitor_totals())
    assert client.stats.budget_left == 8
    # Of the call that was too late, nothing is left.
    face.run(client.create_job("Rewrite the guide.", once="guide"))


def test_a_job_that_is_created_in_a_locked_store_is_returned_in_time_and_noted_later(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store, deadline=2)
    face.run(client.create_job("Rewrite the guide.", once="other"))
    stub.latency = 1
    with Script(f"import sys; sys.stdin.readline()\n{HOLDER}", str(store), "NORMAL") as holder:

        def lock() -> None:
            stub.wait_for(pending)
            holder.write("now")
            assert holder.read() == "locked"

        with ThreadPoolExecutor(1) as pool:
            locking = pool.submit(lock)
            with pytest.warns(UnrecordedJobWarning, match="did not answer in time"):
                created = face.run(client.create_job("Rewrite the guide.", once="guide"))
            locking.result()
        holder.end()
    again = face.run(client.create_job("Rewrite the guide.", once="guide"))
    assert (again.id, len(stub.jobs)) == (created.id, 2)


CONSTRUCTED = """
import os, signal, sys, threading, time
import docplatform

ended = []

def interrupt():
    while not ended:
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

def interrupted(*_):
    # One that strikes in a finalizer is only printed, so that it is not the last one.
    if not ended:
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupted)
try:
    try:
        threading.Thread(target=interrupt).start()
        getattr(docplatform, sys.argv[1])()
    finally:
        ended.append(True)
except KeyboardInterrupt:
    print("interrupted")
"""


@posix
def test_ctrl_c_ends_the_wait_for_a_locked_store(stub: StubServer, store: Path) -> None:
    stub.client(store=store).close()
    with locked(store):
        for name in ("Client", "AsyncClient"):
            ended = run_script(CONSTRUCTED, name, env=environment(stub, DOCPLATFORM_STORE=str(store)))
            assert (ended.status, ended.out) == (0, "interrupted\n"), ended.err


@posix
def test_ctrl_c_ends_the_wait_for_a_key_that_nobody_writes(stub: StubServer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key", 0o600)
    env = environment(stub, DOCPLATFORM_API_KEY="", DOCPLATFORM_API_KEY_FILE=str(tmp_path / "key"))
    ended = run_script(CONSTRUCTED, "Client", env=env)
    assert (ended.status, ended.out) == (0, "interrupted\n"), ended.err
