"""A store as a partitioned dataset: complete, written once, whole at any moment, and readable by every library."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem  # type: ignore[import-untyped]

import docplatform
from docplatform import DatasetError, DatasetReport, export_dataset
from docplatform.dataset import catalog, places
from docplatform.testing import StubServer
from helpers import Face
from helpers.lake import (
    COLUMNS,
    READERS,
    alter,
    backup,
    expected,
    files,
    fill,
    ordered,
    with_polars,
    with_pyarrow,
)
from helpers.marks import linux, posix
from helpers.pages import page, row, serve
from helpers.scripts import command, environment, run_command, run_script


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "lake" / "visitors"


every_reader = pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__.removeprefix("with_"))


@every_reader
def test_every_row_is_there(stub: StubServer, store: Path, root: Path, read: Callable[[Path], Any]) -> None:
    fill(store, stub)
    sent = len(stub.requests)
    assert export_dataset(root, store=store) == DatasetReport(written=4, kept=0, rows=4_000, open=0)
    assert ordered(read(root)) == ordered(expected(stub, store))
    assert len(stub.requests) == sent == 16
    assert sorted(files(root)) == [
        f"listing=visitors/project=demo/date=2024-01-0{day}/part-0.parquet" for day in range(1, 5)
    ]


ODD = ["007", "1e5", "2024-01-01", "true", "null", "a/b", "a", "x=y", "50%", "%41", "ünï cødé 🦀", "..", ".", "-", "~", "it's",
       '"', "[x]*?{}", "a b", "\t", "\x01", "__HIVE_DEFAULT_PARTITION__", "_hidden", ".hidden", "p" * 256, "ü" * 128]  # fmt: skip


@every_reader
def test_any_project_name_is_read_back(store: Path, root: Path, read: Callable[[Path], Any]) -> None:
    names = [f"project-{number}" for number in range(len(ODD))]
    with StubServer(visitors=3, projects=names) as stub:
        fill(store, stub, names, date_to="2024-01-03")
        rows = [line for name in names for line in expected(stub, store, name, 2)]
    for name, odd in zip(names, ODD, strict=True):
        alter(store, "UPDATE export SET project_id = ? WHERE project_id = ?", odd, name)
    assert export_dataset(root, store=store).written == 2 * len(ODD)
    renamed = [line | {"project_id": ODD[names.index(line["project_id"])]} for line in rows]
    assert ordered(read(root)) == ordered(renamed)
    assert all(path.parent.parent.parent.parent == root for path in root.rglob("*.parquet"))
    assert export_dataset(root, store=store, projects=ODD[-1]).kept == 2
    # Also where a reader might infer a number of it.
    export_dataset(root.with_name("digits"), store=store, projects="007")
    assert {line["project_id"] for line in read(root.with_name("digits"))} == {"007"}


@every_reader
def test_a_file_system_of_arrow_has_whole_files_only(
    stub: StubServer,
    store: Path,
    root: Path,
    read: Callable[[Path], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(store, stub)
    root.parent.mkdir()
    how: dict[str, Any] = {
        "store": store,
        "filesystem": SubTreeFileSystem(str(root.parent), LocalFileSystem()),
    }
    put, count = places.Remote._put, itertools.count()

    def fails(self: places.Remote, path: str, data: Any) -> None:
        number = next(count)
        put(self, path, data.slice(0, 10) if number == 2 else data)
        if number == 2:
            raise OSError("the connection broke")

    with monkeypatch.context() as patch:
        patch.setattr(places.Remote, "_put", fails)
        with pytest.raises(OSError, match="broke"):
            export_dataset("visitors", **how)
    whole = len(files(root))
    assert whole < 4
    assert len(list(read(root))) == whole * 1_000
    report = export_dataset("visitors/", **how)
    assert (report.written, report.kept) == (4 - whole, whole)
    assert [path.name for path in root.parent.iterdir()] == ["visitors"]
    assert ordered(read(root)) == ordered(expected(stub, store))
    before = files(root)
    # A file system of this machine is a folder, and has its checks.
    for same in (how, {"store": store}, {"store": store, "filesystem": LocalFileSystem()}):
        target = "visitors" if same is how else root
        assert export_dataset(target, "2024-01-01 to 2024-01-04", **same).kept == 4
    assert export_dataset(root.as_uri(), store=store).kept == 4
    assert files(root) == before


@pytest.mark.parametrize(
    ("every", "filled", "asked", "missing", "first"),
    [
        ("day", [("2024-01-01", "2024-01-03"), ("2024-01-04", "2024-01-05")], {}, 1, "2024-01-03"),
        ("day", [("2024-01-01", "2024-01-05")], {"date_from": "2024-01-02", "date_to": "2024-01-04"}, 0, ""),
        ("week", [("2024-01-01", "2024-01-15")], {"date_from": "2023-12-31", "date_to": "2024-01-28"}, 1, "2024-01-15"),
        ("month", [("2023-12-01", "2024-01-01")], {"date_from": "2023-11-15", "date_to": "2024-03-15"}, 2, "2024-01-01"),
    ],
)  # fmt: skip
def test_slices_that_are_missing_are_counted_and_told(
    stub: StubServer,
    store: Path,
    root: Path,
    every: Any,
    filled: list[tuple[str, str]],
    asked: dict[str, Any],
    missing: int,
    first: str,
) -> None:
    for date_from, date_to in filled:
        fill(store, stub, date_from=date_from, date_to=date_to, every=every)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        report = export_dataset(root, store=store, projects="demo", every=every, **asked)
    assert report.missing == missing
    assert [first in str(warning.message) for warning in told] == [True] * bool(missing)
    strict: dict[str, Any] = {"store": store, "projects": "demo", "every": every, **asked, "strict": True}
    if missing:
        with pytest.raises(DatasetError, match=f"first from {first}") as caught:
            export_dataset(root / "strict", **strict)
        assert caught.value.dataset == report
    else:
        assert export_dataset(root / "strict", **strict).missing == 0
    # Stored slices are written in any case.
    assert len(files(root / "strict")) == report.written


@pytest.mark.row("N10")
def test_projects_that_the_store_lacks_are_all_named(store: Path, root: Path) -> None:
    projects = [f"p{number:02}" for number in range(20)]
    with StubServer(visitors=2, projects=projects) as stub:
        fill(store, stub, projects[:5])
    how: dict[str, Any] = {"store": store, "projects": projects}
    for period, missing in ((None, 60), ("2024-01-01 to 2024-01-02", 30)):
        with pytest.raises(DatasetError, match="nothing of 15 of the 20 projects in") as caught:
            export_dataset(root, period, **how, strict=True)
        assert [repr(project) in str(caught.value) for project in projects] == [False] * 5 + [True] * 15
        assert caught.value.dataset.missing == missing
    with pytest.warns(docplatform.DataWarning, match="'p05', .* 'p19'"):
        assert export_dataset(root, **how).kept == 20
    with pytest.raises(DatasetError, match="nothing of 1 of the 1 projects in these days, 'typo'"):
        export_dataset(root, store=store, projects="typo", strict=True)


def test_no_name_is_not_the_working_directory(stub: StubServer, store: Path) -> None:
    fill(store, stub)
    with pytest.raises(ValueError, match="target is empty"):
        export_dataset("", store=store)


def test_slices_that_have_not_begun_are_neither_fetched_nor_missing(
    face: Face, stub: StubServer, store: Path, root: Path
) -> None:
    today = datetime.now(UTC).date()
    days: dict[str, Any] = {"date_from": today - timedelta(days=2), "date_to": today + timedelta(days=40)}
    client = face.client(stub, store=store)
    report = face.run(client.sync("demo", **days))
    assert (report.slices, report.requests) == (3, 3 * 4)
    assert export_dataset(root, store=store, **days, strict=True).written == 3
    with pytest.raises(ValueError, match=f"no slice of the range has begun: today is {today}"):
        client.sync("demo", date_from=today + timedelta(days=1), date_to=days["date_to"])


def test_what_was_fetched_again_replaces_its_file(stub: StubServer, store: Path, root: Path) -> None:
    fill(store, stub)
    export_dataset(root, store=store)
    before = files(root)
    serve(stub, page([row(1), row(2)]))
    with stub.client(store=store) as client:
        client.visitors(date_from="2024-01-02", date_to="2024-01-03", refresh=True).collect()
    assert export_dataset(root, store=store) == DatasetReport(written=1, kept=3, rows=2, open=0)
    assert ordered(with_polars(root)) == ordered(expected(stub, store))
    after = files(root)
    assert {name for name in before if after[name] != before[name]} == {
        "listing=visitors/project=demo/date=2024-01-02/part-0.parquet"
    }
    # An older export, as another store may have it, does not come back.
    alter(store, "DELETE FROM export WHERE id = (SELECT max(id) FROM export)")
    assert export_dataset(root, store=store).kept == 4
    assert files(root) == after


@pytest.mark.parametrize(
    ("there", "stored", "written"),
    [("9999999999999", "1700000000000", 1), ("0", "1700000000000", 1), ("1700000000000", "0", 0)],
    ids=["from the future", "doubted", "newer than what is doubted"],
)
def test_a_file_from_a_clock_that_was_ahead_does_not_stay(
    stub: StubServer, store: Path, root: Path, there: str, stored: str, written: int
) -> None:
    """The store marks with 0 what was fetched while a clock was ahead."""
    fill(store, stub)
    alter(store, f"UPDATE export SET begun = {there} WHERE date_from = '2024-01-02'")
    export_dataset(root, store=store)
    # As another store has it, or the same one after it was fetched again.
    alter(store, f"UPDATE export SET begun = {stored} WHERE date_from = '2024-01-02'")
    assert export_dataset(root, store=store).written == written
    assert export_dataset(root, store=store).written == 0


def test_what_may_still_change_is_marked_and_replaced(stub: StubServer, store: Path, root: Path) -> None:
    fill(store, stub, settle_days=30_000)
    late: dict[str, Any] = {"store": store, "settle_days": 30_000}
    assert export_dataset(root, **late) == DatasetReport(written=4, kept=0, rows=4_000, open=4)
    assert {line["settled"] for line in with_pyarrow(root)} == {False}
    assert export_dataset(root, **late) == DatasetReport(written=0, kept=4, rows=0, open=4)
    fill(store, stub, settle_days=30_000)
    assert export_dataset(root, **late) == DatasetReport(written=4, kept=0, rows=4_000, open=4)
    assert export_dataset(root, store=store) == DatasetReport(written=4, kept=0, rows=4_000, open=0)
    assert {line["settled"] for line in with_pyarrow(root)} == {True}


def test_the_columns_are_the_same_whatever_came(store: Path, root: Path) -> None:
    import pyarrow.parquet  # type: ignore[import-untyped]

    odd = [row(1, title="Ü", depth=[1, {"a": None}]), row(2), row(3, project="x", date="y", extra=1.50)]
    urls = []
    with StubServer(odd) as stub:
        fill(store, stub, date_to="2024-01-02")
        urls.append(stub.url)
    with StubServer(projects=("other",)) as stub:
        fill(store, stub, ("other",), date_from="2014-01-01", date_to="2014-01-02")
        urls.append(stub.url)
    for name, url in zip("ab", urls, strict=True):
        export_dataset(root / name, store=store, base_url=url)
    schemas = {pyarrow.parquet.read_schema(path).remove_metadata() for path in root.rglob("*.parquet")}
    (schema,) = schemas
    assert schema.names == COLUMNS
    types = "string date32[day] date32[day] string int64 int64 int64 bool string".split()
    assert [str(field.type) for field in schema] == types
    assert [field.nullable for field in schema] == [False] * 8 + [True]
    extras = [line["extra"] for line in with_pyarrow(root / "a")]
    assert [extra and json.loads(extra) for extra in extras] == [
        {"title": "Ü", "depth": [1, {"a": None}]},
        None,
        {"project": "x", "date": "y", "extra": 1.5},
    ]


def test_a_slice_without_rows_has_its_file_and_totals_have_none(
    stub: StubServer, store: Path, root: Path
) -> None:
    fill(store, stub, by_path=False)
    with pytest.warns(
        docplatform.DataWarning, match="the store has no rows of visitors of these days in slices of a day"
    ):
        assert export_dataset(root, store=store) == DatasetReport(0, 0, 0, 0)
    assert not root.exists()
    fill(store, stub, date_from="2014-01-01", date_to="2014-01-03")
    assert export_dataset(root, store=store) == DatasetReport(written=2, kept=0, rows=0, open=0)
    assert len(files(root)) == 2
    for read in READERS:
        assert list(read(root)) == []


def test_slices_have_one_length(stub: StubServer, store: Path, root: Path) -> None:
    # The parts at the ends are neither weeks nor months.
    every: Any
    for every in ("day", "week", "month"):
        fill(store, stub, date_from="2024-01-02", date_to="2024-03-02", every=every)
    for every, count, length in [("day", 60, 1), ("week", 7, 7), ("month", 1, 29)]:
        assert export_dataset(root / every, store=store, every=every).written == count
        days = {(line["date_to"] - line["date_from"]).days for line in with_pyarrow(root / every)}
        assert days == {length}
    with pytest.raises(ValueError, match="a slice for each day"):
        export_dataset(root / "day", store=store, every="month")


def test_projects_and_days_are_chosen(store: Path, root: Path) -> None:
    with StubServer(visitors=2, projects=("a", "b", "c")) as stub:
        fill(store, stub, ("a", "b", "c"))
    few: dict[str, Any] = {"projects": ["a", "c"], "date_from": date(2024, 1, 2), "date_to": "2024-01-04"}
    assert export_dataset(root, store=store, **few).written == 4
    found = {(line["project_id"], line["date_from"].day) for line in with_pyarrow(root)}
    assert found == {("a", 2), ("a", 3), ("c", 2), ("c", 3)}
    assert export_dataset(root, store=store, projects="b").written == 4
    assert export_dataset(root, store=store) == DatasetReport(written=4, kept=8, rows=8, open=0)


def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(
    store: Path, root: Path, tmp_path: Path
) -> None:
    with pytest.raises(
        ValueError,
        match=r"there is no store there: .* fill it with client\.sync\(\.\.\., listing=.visitors., every=.day.\)",
    ):
        export_dataset(root, store=store)
    store.touch()
    with pytest.raises(ValueError, match="there is no store there"):
        export_dataset(root, store=store)
    alter(store, "CREATE TABLE theirs (a)")
    before = store.read_bytes()
    with pytest.raises(ValueError, match="another program"):
        export_dataset(root, store=store)
    assert store.read_bytes() == before
    store.write_bytes(b"no database, but long enough to be looked at")
    with pytest.raises(ValueError, match="not an SQLite file"):
        export_dataset(root, store=store)
    with pytest.raises(ValueError, match="a directory"):
        export_dataset(root, store=tmp_path)
    assert not root.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["visitors.db"]


def test_a_choice_that_the_store_does_not_have_is_an_error(stub: StubServer, store: Path, root: Path) -> None:
    fill(store, stub)
    wrong: Any
    for wrong, text in (
        ({"every": "hour"}, "every must be"),
        (
            {"every": "week"},
            r"no whole week of visitors, but other slices, such as 1 January 2024; give every=\"day\", or fetch whole ones with client\.sync\(\.\.\., listing=\"visitors\", every=\"week\"\)",
        ),
        (
            {"every": "month", "period": "2024-01", "projects": "demo"},
            r"visitors of these projects in this range, but other slices, such as 1 January 2024; give every=\"day\"",
        ),
        ({"period": "2026-13"}, "months are 01 to 12"),
        ({"period": "2026-01", "date_from": "2026-01-01"}, "not both"),
        ({"filesystem": LocalFileSystem(), "target": "s3://bucket/lake"}, "target: give a URI alone"),
        ({"target": "nope://key:hush@bucket/lake"}, "pyarrow cannot use this nope:// URI: correct it"),
    ):
        with pytest.raises(ValueError, match=text) as caught:
            export_dataset(**{"target": root, "store": store, **wrong})
        assert "hush" not in str(caught.value)
    for wrong in ({"settle_days": "two"}, {"every": 7}, {"projects": 5}, {"filesystem": "s3"}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
            export_dataset(root, store=store, **wrong)
    assert not root.exists()


def test_several_organizations_need_a_choice(stub: StubServer, store: Path, root: Path) -> None:
    fill(store, stub, organization="acme")
    fill(store, stub, organization="other", date_to="2024-01-03")
    with pytest.raises(ValueError, match=r'organization="name:acme"; .*organization="name:other"'):
        export_dataset(root, store=store)
    assert export_dataset(root, store=store, organization="other").written == 2
    assert export_dataset(root, store=store, organization="name:acme", base_url=f"{stub.url}/").kept == 2, (
        "of what both have the newest"
    )
    with pytest.raises(ValueError, match=r"is of http://127.0.0.1:\d+, not of http://127.0.0.1:1:"):
        alter(store, "UPDATE account SET base_url = 'http://127.0.0.1:1'")
        export_dataset(root, store=store, organization="acme")


def write_a_table(target: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), target)


@pytest.mark.parametrize(
    "make",
    [
        write_a_table,
        lambda target: target.write_text("no Parquet"),
        Path.touch,
        Path.mkdir,
        pytest.param(
            lambda target: os.mkfifo(target),
            marks=posix,
            id="pipe",
        ),
    ],
)
def test_what_is_something_else_is_refused_and_left_alone(
    stub: StubServer, store: Path, root: Path, make: Callable[[Path], None]
) -> None:
    fill(store, stub)
    target = root / "listing=visitors" / "project=demo" / "date=2024-01-03" / "part-0.parquet"
    target.parent.mkdir(parents=True)
    make(target)
    before = target.stat()
    with pytest.raises(ValueError, match="was not written by"):
        export_dataset(root, store=store)
    assert os.path.samestat(target.stat(), before)
    assert (target.stat().st_size, target.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_a_file_of_another_version_is_left_alone(
    stub: StubServer, store: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, stub)
    note = catalog.StoredSlice.note
    with monkeypatch.context() as later:
        later.setattr(
            catalog.StoredSlice, "note", lambda self: note(self).replace('"version": 1', '"version": 2')
        )
        assert export_dataset(root, store=store).written == 4
    before = files(root)
    with pytest.raises(ValueError, match="was not written by this"):
        export_dataset(root, store=store)
    assert files(root) == before


@posix
@pytest.mark.parametrize(
    ("link", "dangling"),
    [
        ("listing=visitors/project=demo", False),
        ("listing=visitors/project=demo/date=2024-01-02", True),
    ],
)
def test_no_link_leads_out_of_the_folder(
    stub: StubServer, store: Path, root: Path, tmp_path: Path, link: str, *, dangling: bool
) -> None:
    fill(store, stub)
    outside = tmp_path / "outside"
    if not dangling:
        outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    with pytest.raises(ValueError, match="leads out of"):
        export_dataset(root, store=store)
    assert not outside.exists() or list(outside.iterdir()) == []
    # The folder itself may be a link.
    root.with_name("linked").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    assert export_dataset(root.with_name("linked"), store=store).written == 4


def test_projects_that_the_file_system_cannot_tell_apart_are_an_error(store: Path, root: Path) -> None:
    with StubServer(visitors=2, projects=("Docs", "docs")) as stub:
        fill(store, stub, ("Docs", "docs"), date_to="2024-01-02")
    export_dataset(root, store=store, projects="Docs")
    # As it is where names are equal but for their letters' case.
    (root / "listing=visitors" / "project=docs").symlink_to("project=Docs")
    before = files(root)
    with pytest.raises(ValueError, match="takes the projects 'Docs' and 'docs' for one"):
        export_dataset(root, store=store)
    assert files(root) == before


@pytest.mark.parametrize("left", ["pyarrow", "polars", "duckdb"])
def test_any_one_of_the_libraries_is_enough(
    stub: StubServer, store: Path, root: Path, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, stub, date_to="2024-01-03")
    with monkeypatch.context() as patch:
        for module in ("pyarrow", "polars", "duckdb"):
            patch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=r'or duckdb: pip install "docplatform\[arrow\]"'):
            export_dataset(root, store=store)
        with pytest.raises(ImportError, match=r"export_dataset\(\) to an object store needs pyarrow: pip"):
            export_dataset("s3://bucket/lake", store=store)
        assert not root.exists()
    with monkeypatch.context() as patch:
        for module in {"pyarrow", "polars", "duckdb"} - {left}:
            patch.setitem(sys.modules, module, None)
        assert export_dataset(root, store=store).written == 2
        assert export_dataset(root, store=store).kept == 2
        bad = root / "listing=visitors" / "project=demo" / "date=2024-01-03"
        bad.mkdir()
        (bad / "part-0.parquet").write_text("no Parquet")
        alter(
            store,
            "UPDATE export SET date_from = '2024-01-03', date_to = '2024-01-04' WHERE date_from = '2024-01-01'",
        )
        with pytest.raises(ValueError, match="was not written by"):
            export_dataset(root, store=store)
        shutil.rmtree(bad)
    assert export_dataset(root, store=store).written == 1
    assert len(list(with_polars(root))) == 3_000
    assert {tuple(line) for line in with_pyarrow(root)} == {(*COLUMNS, "listing", "project", "date")}


def test_a_dataset_needs_no_key_and_no_service(store: Path, root: Path) -> None:
    with StubServer() as stub:
        fill(store, stub)
    script = """
import os, sys, docplatform
assert not [name for name in os.environ if name.startswith("DOCPLATFORM_")]
print("docplatform.dataset.export" in sys.modules, docplatform.export_dataset(sys.argv[1], store=sys.argv[2]).written)
"""
    ended = run_script(script, str(root), str(store))
    assert (ended.out, ended.err) == ("False 4\n", "")
    assert set(dir(docplatform)) == {*docplatform.__all__, "errors", "types"}


@linux
def test_a_read_only_store_is_enough(stub: StubServer, store: Path, root: Path, tmp_path: Path) -> None:
    fill(store, stub)
    locked = tmp_path / "locked"
    locked.mkdir()
    backup(store, locked / "visitors.db")
    (locked / "visitors.db").chmod(0o444)
    locked.chmod(0o555)
    script = (
        "import sys, docplatform; print(docplatform.export_dataset(sys.argv[1], store=sys.argv[2]).written)"
    )
    line = command(script, str(root), str(locked / "visitors.db"))
    if os.geteuid() == 0:
        # Root without its capabilities is kept from what the modes forbid.
        if shutil.which("setpriv") is None:
            pytest.skip("there is no setpriv")
        line = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *line]
    ended = run_command(line)
    assert (ended.out, ended.err) == ("4\n", "")
    assert [path.name for path in locked.iterdir()] == ["visitors.db"]
    locked.chmod(0o755)


KILLED = """
import os, signal, sys
import docplatform
from docplatform._hooks import parquet

root, store, where, most = sys.argv[1:]
write, count = parquet.write, 0

def killing(*args):
    global count
    count += 1
    if count > int(most) and where == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    write(*args)
    if count > int(most):
        os.kill(os.getpid(), signal.SIGKILL)

parquet.write = killing
docplatform.export_dataset(root, store=store)
"""


@posix
@pytest.mark.parametrize("where", ["before", "after"])
def test_killed_at_a_file_a_dataset_has_whole_files_only(
    stub: StubServer, store: Path, root: Path, where: str
) -> None:
    fill(store, stub)
    for most in (0, 2):
        shutil.rmtree(root, ignore_errors=True)
        process = run_script(KILLED, str(root), str(store), where, str(most))
        assert process.status == -signal.SIGKILL
        assert len(files(root)) == most, "only whole files are within"
        for read in READERS if most else ():
            assert len(list(read(root))) == 1_000 * most
        before = files(root)
        assert export_dataset(root, store=store) == DatasetReport(4 - most, most, 1_000 * (4 - most), 0)
        assert before.items() <= files(root).items()
        assert ordered(with_polars(root)) == ordered(expected(stub, store))


SYNCING = """
import sys
import docplatform

with docplatform.Client(store=sys.argv[1]) as client:
    client.sync(["demo"], date_from="2024-01-01", date_to="2024-01-31")
"""


def test_a_dataset_is_exported_beside_a_running_sync(stub: StubServer, store: Path, root: Path) -> None:
    fill(store, stub, date_to="2024-01-02")
    process = subprocess.Popen(command(SYNCING, str(store)), env=environment(stub), stderr=subprocess.PIPE)
    written = [0]
    while process.poll() is None:
        written.append(export_dataset(root, store=store).written)
    assert process.communicate()[1] == b""
    written.append(export_dataset(root, store=store).written)
    assert sum(written) == 30
    assert len(stub.requests) == 120
    assert ordered(with_polars(root)) == ordered(expected(stub, store, days=30))
