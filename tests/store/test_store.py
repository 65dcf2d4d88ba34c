"""Exports by way of the store: bought once, in any process, and not lost to whatever ends the reader."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from docplatform import AsyncClient, Client, ConfigurationError, DocPlatformError
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.children import PRELUDE, tell
from helpers.exchange import Connection, answer
from helpers.faults import PATIENCE, FaultServer
from helpers.forks import in_child
from helpers.pages import page, rows
from helpers.scripts import environment, run_script

SETTLED: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}
OPEN: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2099-01-01"}


def test_a_settled_range_is_bought_once(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store)
    assert not stub.requests
    first = face.all(client.visitors(**SETTLED))
    assert (len(first), len(stub.requests)) == (1_000, 4)
    table = face.run(client.visitors(**SETTLED).collect())
    assert (list(table), table.requests, table.warnings) == (first, 0, [])
    assert face.all(client.visitors(**SETTLED, page_size=77, prefetch=4)) == first
    assert face.all(client.visitors(**SETTLED, offset=123, max_rows=500)) == first[123:623]
    assert face.run(client.visitor_totals(**SETTLED)) == table.totals
    script = f"""
c = client(store={str(store)!r})
rows = everything(lambda: c.visitors(date_from="2024-01-01", date_to="2024-02-01"))
print(json.dumps(rows))
"""
    assert tell(face.name, script, **environment(stub)) == first
    assert len(stub.requests) == 4


def test_both_faces_have_one_store(stub: StubServer, store: Path) -> None:
    with stub.client(store=store) as client:
        first = list(client.visitors(**SETTLED))

    async def again() -> list[dict[str, Any]]:
        async with stub.async_client(store=store) as client:
            return [row async for row in client.visitors(**SETTLED)]

    assert asyncio.run(again()) == first
    assert len(stub.requests) == 4


def test_refresh_buys_anew(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store)
    face.all(client.visitors(**SETTLED))
    face.all(client.visitors(**SETTLED, refresh=True))
    assert len(stub.requests) == 8
    visitors = client.visitors(**SETTLED, refresh=True)
    face.next(visitors)
    with pytest.raises(ValueError, match="give one of them"):
        client.visitors(resume=visitors.checkpoint, refresh=True)
    face.all(visitors)
    face.all(client.visitors(**SETTLED))
    assert len(stub.requests) == 12


def test_files_and_frames_come_from_the_store(
    face: Face, stub: StubServer, store: Path, tmp_path: Path
) -> None:
    client = face.client(stub, store=store)
    bought = face.run(client.visitors(**SETTLED).to_pandas())
    held = face.run(client.visitors(**SETTLED).to_pandas())
    assert held.equals(bought)
    assert face.run(client.visitors(**SETTLED).to_csv(tmp_path / "visitors.csv")) == 1_000
    assert len(stub.requests) == 4


def test_a_page_that_is_damaged_is_told(face: Face, stub: StubServer, store: Path) -> None:
    face.all(face.client(stub, store=store).visitors(**SETTLED))
    face.close_clients()
    with sqlite3.connect(store) as connection:
        bad = zlib.compress(b'{"visitors": "none"}')
        connection.execute(f"UPDATE page SET body = x'{bad.hex()}', size = 20 WHERE \"offset\" = 500")
    connection.close()
    with pytest.raises(ConfigurationError, match="damaged"):
        face.all(face.client(stub, store=store).visitors(**SETTLED))
    assert len(stub.requests) == 4


def test_a_cancelled_export_keeps_its_pages(stub: StubServer, store: Path) -> None:
    face = AsyncFace()
    client = face.client(stub, store=store)

    async def cancelled() -> None:
        task = asyncio.create_task(client.visitors(**SETTLED).collect())
        while len(stub.requests) < 3:  # noqa: ASYNC110  # for the server
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    face.run(cancelled())
    assert len(face.all(client.visitors(**SETTLED))) == 1_000
    # What was under way may have been asked for again.
    assert len(stub.requests) <= 5
    face.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a platform without fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_in_the_middle_of_an_export(stub: StubServer, store: Path) -> None:
    with stub.client(store=store) as client:
        visitors = client.visitors(**SETTLED, prefetch=0)
        got = [next(visitors) for _ in range(300)]
        rest = in_child(lambda: list(visitors))
        assert [*got, *rest] == [*got, *visitors] == list(client.visitors(**SETTLED))
    assert len(stub.requests) == 4


EXITING = """
import sys, threading
import docplatform

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
    for _ in range(5):
        store.unlink(missing_ok=True)
        ended = run_script(EXITING, str(store), str(per_hour), stub=stub)
        assert (ended.status, ended.out, ended.err) == (0, "", "")


# -- kill -9 ---------------------------------------------------------------------------------------

PAGES, SIZE = 40, 25
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


def reader(face: Face, store: Path, url: str, most: int = -1) -> subprocess.Popen[bytes]:
    """A process that exports everything, and kills itself once so many rows were handed out."""
    arguments = [sys.executable, "-c", READER, face.name, str(store), str(most)]
    key = {"DOCPLATFORM_API_KEY": "dp_stub_0000000000000000demo", "DOCPLATFORM_PROJECT_ID": "demo"}
    return subprocess.Popen(arguments, env={**os.environ, **key, "DOCPLATFORM_BASE_URL": url})


def what_is_held(store: Path, make: Callable[..., Client | AsyncClient], face: Face) -> list[dict[str, Any]]:
    client = make(store=store)
    held = face.all(client.visitors(**SETTLED, page_size=SIZE))
    face.run(client.close())
    return held


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_killed_at_every_page_boundary(face: Face, store: Path) -> None:
    with StubServer(GIVEN) as stub:
        for boundary in range(PAGES):
            process = reader(face, store, stub.url, boundary * SIZE)
            assert process.wait(PATIENCE) == -signal.SIGKILL
        assert reader(face, store, stub.url).wait(PATIENCE) == 0
        # At most the one request that was under way is lost with a kill.
        assert len(stub.requests) <= PAGES + PAGES
        sent = len(stub.requests)
        make = stub.client if face.name == "sync" else stub.async_client
        assert what_is_held(store, make, face) == GIVEN
        assert len(stub.requests) == sent


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_killed_inside_every_body(face: Face, store: Path) -> None:
    victims: dict[int, subprocess.Popen[bytes]] = {}
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
                victim.kill()
                connection.drain()
            connection.send(whole)

    with FaultServer() as server:
        server.rest(serve)
        for number in range(PAGES):
            victims[number * SIZE] = process = reader(face, store, server.url)
            assert process.wait(PATIENCE) == -signal.SIGKILL
            assert not victims
        assert reader(face, store, server.url).wait(PATIENCE) == 0
        assert next(asked) <= PAGES + PAGES
        asked = count()
        settings = {"api_key": "dp_stub_0000000000000000demo", "base_url": server.url, "project_id": "demo"}
        assert what_is_held(store, lambda **more: face.make(**settings, **more), face) == GIVEN
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
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(store)], **pipes) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        yield
        holder.communicate(timeout=PATIENCE)


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
import os, signal, sys, threading
import docplatform

ended = threading.Event()

def interrupt():
    while not ended.wait(0.05):
        os.kill(os.getpid(), signal.SIGINT)

def once(*_):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, once)

threading.Thread(target=interrupt).start()
try:
    getattr(docplatform, sys.argv[2])(store=sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
finally:
    ended.set()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_ctrl_c_ends_the_wait_for_a_locked_store(stub: StubServer, store: Path) -> None:
    stub.client(store=store).close()
    with locked(store):
        for name in ("Client", "AsyncClient"):
            ended = run_script(CONSTRUCTED, str(store), name, stub=stub)
            assert (ended.status, ended.out, ended.err) == (0, "interrupted\n", "")
