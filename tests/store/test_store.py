"""Exports with a store: fetched once, by any process, and kept however the reader ends."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from docplatform import DocPlatformError
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.children import PRELUDE, in_child, tell
from helpers.connection import Connection, answer
from helpers.faults import FaultServer
from helpers.pages import page, rows
from helpers.scripts import Script, environment, run_script

SETTLED: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}
OPEN: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2099-01-01"}


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


def test_a_cancelled_export_keeps_its_pages(async_face: AsyncFace, stub: StubServer, store: Path) -> None:
    client = async_face.client(stub, store=store)
    stub.fail_next(after=2, retry_after=9)
    async_face.cancel(client.visitors(**SETTLED).collect, lambda: len(stub.requests) == 3)
    # One that the service did not ask to wait.
    other = async_face.client(stub, store=store)
    assert len(async_face.all(other.visitors(**SETTLED))) == 1_000
    assert len(stub.requests) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a platform without fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_reads_the_parents_export_from_the_store(stub: StubServer, store: Path) -> None:
    with stub.client(store=store) as client:
        visitors = client.visitors(**SETTLED, prefetch=0)
        got = [next(visitors) for _ in range(300)]
        rest = in_child(lambda: list(client.visitors(resume=visitors.checkpoint)))
        assert [*got, *rest] == [*got, *visitors] == list(client.visitors(**SETTLED))
    assert len(stub.requests) == 4


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


# -- kill -9 ---------------------------------------------------------------------------------------

PAGES, SIZE, KILLS = 40, 25, 8
GIVEN = rows(0, PAGES * SIZE)

READER = (
    PRELUDE
    + """
import os, signal
store, most = sys.argv[2], int(sys.argv[3])
c = client(store=store)
visitors = c.visitors(date_from="2024-01-01", date_to="2024-02-01", page_size=25)

def handed(number):
    if number == most:
        os.kill(os.getpid(), signal.SIGKILL)

def sync():
    handed(0)
    for number, row in enumerate(visitors, 1):
        handed(number)

async def later():
    handed(0)
    number = 0
    async for row in visitors:
        number += 1
        handed(number)

sync() if face == "sync" else asyncio.run(later())
"""
)


def reader(face: Face, store: Path, url: str, most: int = -1) -> Script:
    """A process that exports everything, and kills itself after ``most`` rows."""
    key = {"DOCPLATFORM_API_KEY": "dp_stub_0000000000000000demo", "DOCPLATFORM_PROJECT_ID": "demo"}
    return Script(READER, face.name, str(store), str(most), env={**key, "DOCPLATFORM_BASE_URL": url})


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_killed_at_random_positions_an_export_keeps_its_pages(face: Face, store: Path) -> None:
    """In turn after a row that was handed out, and within the body of a page."""
    victims: dict[int, Script] = {}
    asked = count()

    def serve(connection: Connection) -> None:
        while True:
            connection.read_all()
            next(asked)
            offset = int(parse_qs(connection.request.target)["offset"][0])
            body = page(GIVEN[offset : offset + SIZE], has_more=offset + SIZE < len(GIVEN))
            whole = answer(200, body, keep=True)
            victim = victims.pop(offset, None)
            if victim is not None:
                connection.send(whole[: len(whole) // 2])
                victim.signal(signal.SIGKILL)
                connection.drain()
            connection.send(whole)

    chosen = random.Random(face.name)
    # Apart by more than the page that is fetched ahead.
    positions = [chosen.randrange(5 * kill * SIZE, (5 * kill + 4) * SIZE) for kill in range(KILLS)]
    with FaultServer() as server:
        server.rest(serve)
        for kill, position in enumerate(positions):
            process = reader(face, store, server.url, -1 if kill % 2 else position)
            if kill % 2:
                victims[position // SIZE * SIZE] = process
            assert process.end().status == -signal.SIGKILL
            assert not victims
        assert reader(face, store, server.url).end().status == 0
        # A kill loses at most the request that was under way.
        assert next(asked) <= PAGES + KILLS
        asked = count()
        settings = {"api_key": "dp_stub_0000000000000000demo", "base_url": server.url, "project_id": "demo"}
        client = face.make(**settings, store=store)
        assert face.all(client.visitors(**SETTLED, page_size=SIZE)) == GIVEN
        face.run(client.close())
        assert next(asked) == 0
        assert not server.faults


# -- A store that another process keeps locked ------------------------------------------------------

# In the process of a client, Python's own SQLite would drop the client's locks.
HOLDER = """
import sqlite3, sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE meta SET value = value")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Keeps everyone else out, readers too."""
    with Script(HOLDER, str(store)) as holder:
        assert holder.read() == "locked"
        yield
        holder.end()


def test_no_call_waits_for_a_locked_store_longer_than_its_deadline(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store, requests_per_hour=9)
    impatient = client.with_options(deadline=0.5)
    with locked(store):
        for _ in range(3):
            with pytest.raises(DocPlatformError, match="within the call's deadline"):
                face.run(impatient.visitor_totals())
        # Without the file, and so at once also in an event loop.
        assert client.stats.budget_left == 9
    assert not stub.requests
    face.run(client.visitor_totals())
    assert client.stats.budget_left == 8


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
        getattr(docplatform, sys.argv[2])(store=sys.argv[1])
    finally:
        ended.append(True)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_ends_the_wait_for_a_locked_store(stub: StubServer, store: Path) -> None:
    stub.client(store=store).close()
    with locked(store):
        for name in ("Client", "AsyncClient"):
            ended = run_script(CONSTRUCTED, str(store), name, stub=stub)
            assert (ended.status, ended.out) == (0, "interrupted\n"), ended.err
