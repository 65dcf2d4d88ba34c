"""An export to a file that fails: the old file stays, no other file is left, and no row is lost."""

from __future__ import annotations

import json
import os
import pickle
import signal
import warnings
from pathlib import Path

import pytest

from docplatform import DataChangedWarning, NotFoundError
from docplatform.testing import StubServer
from helpers import Face
from helpers.children import tell
from helpers.exports import FILES, ROWS, break_off, eventually, export, names, sums
from helpers.marks import posix
from helpers.pages import page, serve
from helpers.scripts import Script, environment, run_script

every_way = pytest.mark.parametrize("way", FILES)


@pytest.mark.row("E10", "J1")
@every_way
@pytest.mark.parametrize(("taken", "pages"), [(0, 1), (10, 2), (250, 2)])
def test_an_error_of_the_service_leaves_all_as_it_was(
    face: Face, given: StubServer, way: str, taken: int, pages: int, tmp_path: Path
) -> None:
    target = tmp_path / "file"
    target.write_text("before")
    break_off(given, pages)
    client = face.client(given)
    visitors = client.visitors(prefetch=0)
    first = [face.next(visitors) for _ in range(taken)]
    before = visitors.checkpoint
    with pytest.raises(NotFoundError) as caught:
        face.run(getattr(visitors, way)(target))
    assert caught.value.partial is None
    assert caught.value.checkpoint == visitors.checkpoint
    assert rows_of(caught.value.checkpoint) == rows_of(before) == taken
    eventually(lambda: names(tmp_path) == ["file"])
    assert target.read_text() == "before"
    # The same call again has all of it, and so has another client's.
    assert first + export(face, visitors, way, target) == ROWS
    assert first + face.all(client.visitors(resume=before)) == ROWS


def rows_of(checkpoint: str | None) -> int:
    assert checkpoint
    return int(json.loads(checkpoint)["rows"])


@every_way
@pytest.mark.row("E6")
def test_a_warning_from_before_is_kept(face: Face, given: StubServer, way: str, tmp_path: Path) -> None:
    moved = {**sums(), "total": 1}
    serve(given, page(ROWS[:250], True, sums()), page(ROWS[250:500], True, moved))
    visitors = face.client(given).visitors(prefetch=0)
    with pytest.warns(DataChangedWarning):
        first = [face.next(visitors) for _ in range(260)]
    (warning,) = visitors.warnings
    given.fail_next(404, path="/v1/")
    with pytest.raises(NotFoundError):
        face.run(getattr(visitors, way)(tmp_path / "file"))
    assert visitors.warnings == [warning]
    with warnings.catch_warnings():
        # The rest of that page is read again by those that let it go.
        warnings.simplefilter("ignore", DataChangedWarning)
        table = face.run(visitors.collect())
    assert first + list(table) == ROWS
    assert table.warnings == visitors.warnings == [warning]


FULL = """
import os, resource, signal, sys
from pathlib import Path

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import docplatform._hooks.frames

# 256 KiB are written at a time: one limit breaks the first block, the other a later one.
results = []
target = Path(os.environ["TARGET"])
library = os.environ["LIBRARY"]
if library:
    docplatform._hooks.frames._MODULES["to_parquet"] = (library,)
    __import__({"pyarrow": "pyarrow.parquet"}.get(library, library))
made = client()
for limit in (1 << 14, 3 << 17):
    target.write_text("before")
    visitors = made.visitors()
    async def one():
        return await anext(visitors)
    first = next(visitors) if face == "sync" else asyncio.run(one())
    before = visitors.checkpoint
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        run(lambda: getattr(visitors, os.environ["WAY"])(target))
        results.append("no error")
    except Exception as error:
        results.append("OSError" if isinstance(error, OSError) or library else type(error).__name__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert [path.name for path in target.parent.iterdir()] == [target.name], list(target.parent.iterdir())
    if results[-1] == "no error":
        continue
    assert target.read_text() == "before"
    assert visitors.checkpoint == before
    assert len(everything(lambda: visitors)) == 13_999
print(json.dumps(results))
"""


NO_DESCRIPTORS = """
import errno, os, resource, sys
import docplatform

visitors = docplatform.Client().visitors()
next(visitors)
# A module that is imported now cannot fail later for want of descriptors.
assert "pathlib" not in sys.modules or sys.modules.pop("pathlib")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
try:
    visitors.to_csv(sys.argv[1])
except OSError as error:
    assert (error.errno, error.filename) == (errno.EMFILE, sys.argv[1]), error
    print("Too many open files" in str(error))
for descriptor in taken:
    os.close(descriptor)
print(visitors.to_csv(sys.argv[1]))
"""


@posix
@pytest.mark.row("I11", "J1")
def test_without_descriptors_a_file_says_so_and_can_be_written_later(
    given: StubServer, tmp_path: Path
) -> None:
    ended = run_script(NO_DESCRIPTORS, str(tmp_path / "file"), stub=given)
    assert (ended.status, ended.out, ended.err) == (0, "True\n599\n", "")


@posix
@pytest.mark.row("J1")
@pytest.mark.parametrize(
    ("way", "library"),
    [("to_csv", ""), ("to_jsonl", ""), *(("to_parquet", name) for name in ("pyarrow", "polars", "duckdb"))],
)
def test_a_full_disk_leaves_all_as_it_was(face: Face, way: str, library: str, tmp_path: Path) -> None:
    with StubServer(visitors=14_000) as stub:
        env = environment(stub, TARGET=str(tmp_path / "file"), WAY=way, LIBRARY=library)
        results = tell(face.name, FULL, **env)
    assert results[0] == "OSError"
    # A library's compressed file may have room.
    assert results[1] == "OSError" or library


KILLED = """
import os, pickle, random, signal, sys, time
from pathlib import Path

folder, way, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tables = [pickle.loads((folder / name).read_bytes()) for name in ("one", "other")]
out = folder / "out"
out.mkdir()
target = out / "file"
whole = []
for table in tables:
    getattr(table, way)(target)
    whole.append(target.read_bytes())
assert whole[0] != whole[1]
random.seed(seed)
left = 0
for _ in range(20):
    child = os.fork()
    if not child:
        while True:
            for table in tables:
                getattr(table, way)(target)
    time.sleep(random.uniform(0, 0.015))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert target.read_bytes() in whole
    for other in out.iterdir():
        if other != target:
            assert other.name.startswith(".docplatform-"), other
            assert other.name.endswith(".part"), other
            other.unlink()
            left += 1
print(left)
"""


@posix
@pytest.mark.row("J2")
@pytest.mark.parametrize("way", ["to_csv"])
def test_a_file_is_whole_whenever_its_writer_is_killed(way: str, tmp_path: Path) -> None:
    with StubServer(visitors=2_000) as stub, stub.client() as client:
        for name, rows in (("one", 2_000), ("other", 1_500)):
            table = client.visitors(max_rows=rows).collect()
            (tmp_path / name).write_bytes(pickle.dumps(table))
    ended = run_script(KILLED, str(tmp_path), way, "1", options=("-W", "ignore::DeprecationWarning"))
    assert (ended.status, ended.err) == (0, "")
    if is_unnamed(tmp_path):
        # A file has a second name for the moment of its replacement alone.
        assert int(ended.out) <= 3


def is_unnamed(folder: Path) -> bool:
    """Whether files there can be without a name until they are whole."""
    try:
        os.close(os.open(folder, os.O_RDWR | os.O_TMPFILE))
    except (AttributeError, OSError):
        return False
    return True


SIGNALLED = """
import signal
import sys
from pathlib import Path

import docplatform

folder, way = Path(sys.argv[1]), sys.argv[2]
# Where the suite's parent ignores it, as nohup does, so would this process.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
getattr(docplatform.Client().visitors(prefetch=0), way)(folder / "file")
"""


@posix
@pytest.mark.row("I5")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@every_way
def test_a_signal_leaves_no_part_of_a_file(way: str, number: signal.Signals, tmp_path: Path) -> None:
    if not is_unnamed(tmp_path):
        pytest.skip("this file system has no files without a name")
    (tmp_path / "file").write_text("before")
    with StubServer(ROWS) as stub:
        stub.fail_next(retry_after=30)
        with Script(SIGNALLED, str(tmp_path), way, stub=stub) as script:
            stub.wait_for(lambda s: len(s.requests) == 1)
            script.signal(number)
            assert script.end().status == -number
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "before"
