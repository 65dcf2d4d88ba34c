"""``once=`` and the disk: power cuts, kills at any step, a full or read-only disk, a deleted store (row M11)."""

from __future__ import annotations

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from docplatform import DocPlatformError, UnconfirmedWriteError, UnrecordedJobWarning
from docplatform.testing import StubServer
from helpers import Face, SyncFace
from helpers.children import tell
from helpers.lake import alter, opened
from helpers.marks import linux, posix
from helpers.once import NAME, SCRIPTS, begin, create, done, is_unknown, posts, wait_until_read, write
from helpers.phases import pending
from helpers.preload import build
from helpers.scripts import environment, run_script

pytestmark = pytest.mark.row("M11")


@pytest.fixture(scope="session")
def power_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stands in for the disk of another process."""
    return build("power", tmp_path_factory.mktemp("power"))


# -- power loss and kill -9 --------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("exists", [False, True], ids=["new store", "old store"])
@pytest.mark.parametrize(
    ("cut", "lies", "then"),
    [
        pytest.param("POST ", False, "unknown", id="before the request"),
        pytest.param("job-", False, "created", id="after the call"),
        # Shows that the two above can fail: nothing is there if a sync does nothing.
        pytest.param("POST ", True, "lost", id="before the request, without syncs"),
    ],
)
@pytest.mark.parametrize("kind", SCRIPTS)
def test_what_a_power_cut_leaves(
    stub: StubServer,
    store: Path,
    tmp_path: Path,
    power_library: Path,
    cut: str,
    lies: bool,
    then: str,
    exists: bool,
    kind: str,
) -> None:
    """The name is on the disk before its request leaves, and its job before the call returns, with the folder's entry."""
    platters, after = tmp_path / "platters", tmp_path / "after"
    platters.mkdir()
    after.mkdir()
    begin(stub, kind)
    before = posts(stub)
    if exists:
        stub.client(store=store).close()
        power_goes(store.parent, platters)
    env = {
        "LD_PRELOAD": str(power_library),
        "DISK": str(store.parent),
        "PLATTERS": str(platters),
        "POWER_CUT": cut,
    }
    ended = run_script(SCRIPTS[kind], str(store), stub=stub, env=env | ({"DISK_LIES": "1"} if lies else {}))
    assert (ended.status, ended.out.split()) == (0, ["ready", "job-1"]), ended.err
    assert (platters / "cut").exists()
    for line in (platters / "names").read_text().splitlines() if (platters / "names").exists() else []:
        inode, name = line.split(" ", 1)
        content = platters / inode
        (after / name).write_bytes(content.read_bytes() if content.exists() else b"")
    with closing(SyncFace()) as face:
        client = face.client(stub, store=after / store.name)
        if then == "unknown":
            assert is_unknown(face, client, kind)
        else:
            write(face, client, kind)
    assert posts(stub) - before == (2 if then == "lost" else 1)


def power_goes(folder: Path, platters: Path) -> None:
    """Has all that is in a folder on the platters."""
    files = list(folder.iterdir())
    for file in files:
        (platters / str(file.stat().st_ino)).write_bytes(file.read_bytes())
    (platters / "names").write_text("".join(f"{file.stat().st_ino} {file.name}\n" for file in files))


@linux
@pytest.mark.row("N3")
@pytest.mark.parametrize("kind", SCRIPTS)
def test_killed_at_any_step_a_request_is_made_once(
    stub: StubServer, tmp_path: Path, power_library: Path, kind: str
) -> None:
    """Every write, sync and removal on the disk, and the request: the process is killed before each of them in turn."""
    ends: Counter[str] = Counter()
    for step in count():
        begin(stub, kind)
        folder = tmp_path / str(step)
        folder.mkdir()
        store = folder / "visitors.db"
        with closing(SyncFace()) as face:
            client = face.client(stub, store=store)
            env = {
                "LD_PRELOAD": str(power_library),
                "DISK": str(folder),
                "POWER_CUT": "POST ",
                "KILLED_AT": str(step),
            }
            ended = run_script(SCRIPTS[kind], str(store), stub=stub, env=env)
            wait_until_read(stub)
            sent = posts(stub)
            try:
                write(face, client, kind)
                ends["created" if posts(stub) == sent else "free"] += 1
            except UnconfirmedWriteError:
                ends["unknown"] += 1
                face.run(client.resolve_once(NAME, "job-1" if done(stub) else None))
                write(face, client, kind)
        assert done(stub) == 1, step
        if ended.status == 0:
            break
        assert ended.status == -signal.SIGKILL, ended.err
    assert all(ends[end] for end in ("free", "unknown", "created")), ends


# -- no room, and no right to write ------------------------------------------------------------------


def test_nothing_is_sent_that_could_not_be_noted(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    create(face, client, once="another")
    alter(store, "CREATE TRIGGER full BEFORE INSERT ON once BEGIN SELECT raise(FAIL, 'no room'); END")
    with pytest.raises(DocPlatformError, match=r"could not record the name.*no room") as caught:
        create(face, client)
    assert caught.value.outcome == "not_sent"
    assert posts(stub) == 1
    alter(store, "DROP TRIGGER full")
    assert create(face, client).id == "job-2"


FULL = {
    "no space": "open(os.environ['DISK_FULL'], 'w').close()",
    "a limit": """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
""",
}


@posix
@pytest.mark.parametrize("way", [pytest.param("no space", marks=linux), "a limit"])
def test_on_a_full_disk_nothing_is_sent(
    face: Face, stub: StubServer, store: Path, tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    script = f"""
import os
made = client(store=os.environ["STORE"])
{FULL[way]}
told = outcome(lambda: run(lambda: made.create_job("Document release 1.4", once="docs-1.4")))
print(json.dumps([told["outcome"], made.stats.requests, "disk is full" in told["text"]]))
"""
    env = environment(stub, STORE=str(store))
    if way == "no space":
        library = request.getfixturevalue("power_library")
        env |= {"LD_PRELOAD": str(library), "DISK": str(store.parent), "DISK_FULL": str(tmp_path / "full")}
    assert tell(face.name, script, **env) == ["not_sent", 0, True]
    assert stub.requests == []
    assert create(face, face.client(stub, store=store)).id == "job-1"


NO_OVERRIDE = """
import ctypes, os
# Root may write everything, but for this.
CAP_DAC_OVERRIDE, VERSION = 1, 0x20080522
if os.geteuid() == 0:
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capget(header, sets) == 0
    sets[0] &= ~(1 << CAP_DAC_OVERRIDE)
    assert ctypes.CDLL(None).capset(header, sets) == 0
"""


@linux
@pytest.mark.parametrize("which", ["the file", "the folder"])
def test_a_store_that_cannot_be_written_sends_nothing(
    face: Face, stub: StubServer, store: Path, which: str
) -> None:
    path = store if which == "the file" else store.parent
    script = f"""
{NO_OVERRIDE}
made = client(store=os.environ["STORE"])
while len(os.listdir({str(store.parent)!r})) > 1:
    pass  # until the file is closed
os.chmod({str(path)!r}, 0o500)
told = outcome(lambda: run(lambda: made.create_job("Document release 1.4", once="docs-1.4")))
print(json.dumps([told["outcome"], made.stats.requests]))
"""
    assert tell(face.name, script, **environment(stub, STORE=str(store))) == ["not_sent", 0]
    path.chmod(0o700)
    assert stub.requests == []
    assert create(face, face.client(stub, store=store)).id == "job-1"


# -- the store ---------------------------------------------------------------------------------------


def test_a_job_that_could_not_be_noted_is_returned_and_counts_as_unknown(
    face: Face, stub: StubServer, store: Path, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    create(face, client, once="another")
    alter(store, "CREATE TRIGGER full BEFORE UPDATE ON once BEGIN SELECT raise(FAIL, 'no room'); END")
    with pytest.warns(UnrecordedJobWarning, match=r"resolve_once\(\"docs-1.4\", \"job-2\"\)") as caught:
        assert create(face, client).id == "job-2"
    (warning,) = (each.message for each in caught)
    assert isinstance(warning, UnrecordedJobWarning)
    assert (warning.name, warning.job_id, "no room" in warning.reason) == (NAME, "job-2", True)
    record: Any = next(each for each in caplog.records if "under the name" in each.getMessage())
    assert "was carried out for job job-2" in record.getMessage()
    assert "no room" in record.getMessage()
    known = (record.project_id, record.job_id, record.host, record.error_type)
    assert known == (stub.project_id, "job-2", "127.0.0.1", "DocPlatformError")
    assert is_unknown(face, client)


def test_a_store_that_is_deleted_under_a_creation_knows_the_job_all_the_same(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    stub.latency = 0.5

    def delete() -> None:
        stub.wait_for(pending)
        for file in store.parent.iterdir():
            file.unlink()

    with ThreadPoolExecutor(1) as pool:
        deleted = pool.submit(delete)
        create(face, client)
        deleted.result()
    assert create(face, client).id == "job-1"
    assert posts(stub) == 1


def test_a_store_of_version_1_keeps_its_exports_and_learns_names(
    face: Face, stub: StubServer, store: Path
) -> None:
    dates: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-01-02"}
    face.all(face.client(stub, store=store).visitors(**dates))
    face.close_clients()
    with opened(store) as connection:
        connection.execute("DROP TABLE once")
        connection.execute("PRAGMA user_version = 1")
    sent = len(stub.requests)
    client = face.client(stub, store=store)
    assert face.all(client.visitors(**dates))
    assert len(stub.requests) == sent
    assert create(face, client) == create(face, client)
    assert posts(stub) == 1
