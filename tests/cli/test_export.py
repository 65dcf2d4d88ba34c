"""``docplatform visitors export``: formats, what is in the way of a file, and exports that break off."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from docplatform.testing import StubServer
from helpers.cli import FULL_DISK, SCRIPT, Cli, shell
from helpers.scripts import Script, run_script

posix = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and limits are POSIX's")

ROWS = [{"path": f"/{i}", "human": i, "ai": 2 * i, "total": 3 * i} for i in range(600)]
TOTALS = {"human": 3, "ai": 2, "total": 4}
EVIL = "=HYPERLINK(1)"


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(visitors=ROWS, totals=TOTALS) as stub:
        yield stub


def read(path: Path) -> list[dict[str, Any]]:
    match path.suffix:
        case ".csv":
            frame = pl.read_csv(path)
        case ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        case ".parquet":
            frame = pl.read_parquet(path)
        case _:
            frame = pl.read_ipc(path)
    return frame.to_dicts()


def listed(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def export(cli: Cli, *arguments: object) -> Any:
    return cli("visitors", "export", *map(str, arguments))


def limited(cli: Cli, pages: int) -> None:
    """The limit is reached behind so many pages."""
    for at in range(pages):
        rows = ROWS[at * 250 : (at + 1) * 250]
        cli.stub.fail_next(status=200, body={"totals": TOTALS, "visitors": rows, "hasMore": True})
    cli.stub.fail_next(status=429, retry_after=3600)


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.row("J15")
@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet", "v.arrow", "V.CSV"])
def test_a_file_of_the_format_that_its_name_asks_for(cli: Cli, tmp_path: Path, name: str) -> None:
    ended = export(cli, "-o", tmp_path / name, "--from", "2026-01-01", "--to", "2026-02-01")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err.splitlines() == [
        "Reading visitors",
        f"Wrote 600 rows to {tmp_path / name}; it took 3 requests.",
        "Uniques do not add up: the whole site has 4 visitors.",
    ]
    (tmp_path / name).rename(tmp_path / name.lower())
    assert read(tmp_path / name.lower()) == ROWS
    # Nothing else was made, and the names are the caller's.
    assert listed(tmp_path) == [name.lower()]
    assert cli.stub.requests[0].query["dateTo"] == "2026-02-01"


@pytest.mark.row("J11")
@pytest.mark.parametrize("format_", [None, "csv", "jsonl"])
def test_standard_output_takes_rows_and_nothing_else(cli: Cli, tmp_path: Path, format_: str | None) -> None:
    ended = export(cli, "-o", "-", *(["--format", format_] if format_ else []))
    assert ended.status == 0
    file = tmp_path / f"out.{format_ or 'csv'}"
    file.write_text(ended.out)
    assert read(file) == ROWS


@pytest.mark.row("J11")
def test_json_is_a_summary(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    ended = export(cli, "-o", file, "--from", "2026-01-01", "--max-rows", "300", "--json")
    assert json.loads(ended.out) == {
        "file": str(file),
        "format": "csv",
        "rows": 300,
        "date_from": "2026-01-01",
        "date_to": None,
        "totals": TOTALS,
        "requests": 2,
        "warnings": [],
    }


def test_sizes(cli: Cli, tmp_path: Path) -> None:
    assert export(cli, "-o", tmp_path / "v.csv", "--page-size", "100", "--max-rows", "150").status == 0
    assert len(read(tmp_path / "v.csv")) == 150
    assert [request.query["limit"] for request in cli.stub.requests] == ["100", "50"]
    cli.stub.reset()
    assert export(cli, "-o", tmp_path / "none.jsonl", "--max-rows", "0").status == 0
    assert (tmp_path / "none.jsonl").read_text() == ""
    assert cli.stub.requests == []


@pytest.mark.row("J5")
def test_a_formula_is_defused_unless_that_is_not_wanted(cli: Cli, tmp_path: Path) -> None:
    for options, path in (((), f"'{EVIL}"), (("--raw",), EVIL)):
        body = {"totals": TOTALS, "visitors": [{**ROWS[0], "path": EVIL}], "hasMore": False}
        cli.stub.fail_next(status=200, body=body)
        cli.stub.fail_next(status=200, body=body)
        export(cli, "-o", tmp_path / "v.csv", "--force", *options)
        assert (tmp_path / "v.csv").read_text().splitlines()[1] == f"{path},0,0,0"
        assert export(cli, *options).out.splitlines()[1] == f"{path},0,0,0"


@pytest.mark.row("J8")
def test_lines_of_json_hold_nothing_that_a_terminal_obeys(cli: Cli) -> None:
    path = "/\x1b]0;x\x07\u202e\x7f\n"
    cli.stub.fail_next(
        status=200, body={"totals": TOTALS, "visitors": [{**ROWS[0], "path": path}], "hasMore": False}
    )
    out = export(cli, "--format", "jsonl").out
    assert all(c.isprintable() for c in out.removesuffix("\n"))
    assert json.loads(out)["path"] == path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-o", "v.xlsx"), "ends in .csv, .jsonl, .parquet, .arrow"),
        (("-o", "v"), "--format"),
        (("--format", "parquet"), "parquet needs a file"),
        (("--json",), "name a file"),
        (("-o", "v.csv", "--page-size", "251"), "--page-size"),
        (("-o", "v.csv", "--from", "2026-02-01", "--to", "2026-01-01"), "--to"),
        (("-o", "none/v.csv"), "there is no folder none: create it"),
        (("-o", ".", "--format", "csv"), "directory"),
    ],
)
def test_wrong_usage_sends_nothing_and_writes_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = export(cli, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert says in ended.err
    assert cli.stub.requests == []
    assert listed(tmp_path) == []


@pytest.mark.parametrize("name", ["v.parquet", "v.arrow"])
def test_a_library_that_is_missing_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("docplatform._hooks.frames.find_spec", lambda _: None)
    ended = export(cli, "-o", tmp_path / name)
    assert ended.status == 2
    assert 'pip install "docplatform[arrow]"' in ended.err
    assert cli.stub.requests == []


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_arrow_files_by_either_library(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setattr("docplatform._hooks.frames.find_spec", lambda name: name == library or None)
    assert export(cli, "-o", tmp_path / "v.arrow").status == 0
    assert read(tmp_path / "v.arrow") == ROWS


# -- what is in the way of a file ------------------------------------------------------------------


@posix
@pytest.mark.row("J3")
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "pipe"])
def test_nothing_is_replaced_unasked(cli: Cli, tmp_path: Path, kind: str) -> None:
    file, other = tmp_path / "v.csv", tmp_path / "other"
    match kind:
        case "file":
            file.write_text("old")
        case "pipe":
            os.mkfifo(file)
        case _:
            if kind == "link":
                other.write_text("old")
            file.symlink_to(other)
    ended = export(cli, "-o", file)
    assert ended.status == 2
    assert "--force" in ended.err
    assert cli.stub.requests == []
    assert other.exists() is (kind == "link")
    forced = export(cli, "-o", file, "--force")
    assert forced.status == (1 if kind == "pipe" else 0)
    if kind == "pipe":
        assert "no regular file" in forced.err
        assert stat.S_ISFIFO(file.stat().st_mode)
        assert cli.stub.requests == []
    else:
        assert not file.is_symlink()
        assert read(file) == ROWS
    if kind == "link":
        assert other.read_text() == "old"


@posix
@pytest.mark.row("J3")
def test_permissions_are_kept(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("old")
    file.chmod(0o600)
    assert export(cli, "-o", file, "--force").status == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cli.stub.reset()
    kept = file.read_text()
    file.chmod(0o400)
    ended = export(cli, "-o", file, "--force")
    assert (ended.status, file.read_text()) == (1, kept)
    assert ended.err.splitlines()[-1] == f"docplatform: {file}: Permission denied"
    assert cli.stub.requests == []


@posix
@pytest.mark.row("J1")
@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet", "v.arrow"])
def test_a_disk_that_is_full_leaves_what_was_there(stub: StubServer, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("old")
    ended = run_script(FULL_DISK, "visitors", "export", "--force", "-o", str(file), stub=stub)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("docplatform: ")
    assert "Traceback" not in ended.err
    assert file.read_text() == "old"
    assert listed(tmp_path) == [name]


@posix
@pytest.mark.parametrize("command", ["visitors export", "report -o -"])
def test_standard_output_that_is_closed(stub: StubServer, command: str) -> None:
    done = shell(stub, f"$cli {command} >&-")
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr
    assert "Traceback" not in done.stderr
    assert stub.requests == []


@posix
@pytest.mark.row("I5")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_a_reader_that_has_enough(stub: StubServer, format_: str) -> None:
    with StubServer(visitors=100_000) as stub:
        done = shell(stub, f"$cli visitors export -q --format {format_} | head -n 2; exit ${{PIPESTATUS[0]}}")
        assert (done.returncode, done.stderr) == (141, "")
        assert len(done.stdout.splitlines()) == 2
        if format_ == "jsonl":
            # The pipe holds some hundreds of rows; nothing is asked for that nobody reads.
            assert len(stub.requests) < 100


@posix
def test_a_locale_that_is_not_utf_8_changes_no_row(cli: Cli) -> None:
    row = {**ROWS[0], "path": "/größe/διόρθωσε"}
    for format_ in ("csv", "jsonl"):
        cli.stub.fail_next(status=200, body={"totals": TOTALS, "visitors": [row], "hasMore": False})
        env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = shell(cli.stub, f"$cli visitors export -q --format {format_}", **env)
        assert (done.returncode, done.stderr) == (0, "")
        last = done.stdout.splitlines()[-1]
        assert (json.loads(last)["path"] if format_ == "jsonl" else last.split(",")[0]) == row["path"]


@posix
def test_rows_on_their_way_to_standard_output_leave_no_file(cli: Cli, tmp_path: Path) -> None:
    done = shell(cli.stub, "$cli visitors export -q | wc -l", TMPDIR=str(tmp_path))
    assert (done.returncode, done.stdout.strip()) == (0, "601")
    assert listed(tmp_path) == []


# -- exports that break off ------------------------------------------------------------------------


@pytest.mark.row("B2", "J11")
@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet", "v.arrow"])
def test_without_a_store_nothing_is_left(cli: Cli, tmp_path: Path, name: str) -> None:
    limited(cli, 2)
    ended = export(cli, "-o", tmp_path / name, "--json")
    assert (ended.status, ended.out) == (4, "")
    assert listed(tmp_path) == []
    assert ended.err.splitlines()[-1] == (
        "2 requests had been answered, and the answers are lost. With --store FILE they are kept, "
        "and a second run goes on there."
    )


@posix
@pytest.mark.row("I4")
@pytest.mark.parametrize("output", ["v.csv", "v.parquet", "v.arrow", "v.jsonl", "-"])
def test_after_ctrl_c_a_store_continues_and_nothing_else_is_left(
    tmp_path: Path, store: Path, output: str
) -> None:
    file = tmp_path / output if output != "-" else Path("-")
    options = ("--from", "2024-01-01", "--to", "2024-02-01", "--store", str(store), "-o", str(file))
    arguments = ("visitors", "export", *options, *(["--format", "jsonl"] if output == "-" else []))
    with StubServer(visitors=ROWS) as stub:
        body = {"totals": TOTALS, "visitors": ROWS[:250], "hasMore": True}
        stub.fail_next(status=200, body=body)
        stub.fail_next(status=503, retry_after=30)
        with Script(SCRIPT, *arguments, stub=stub) as script:
            # It is in its pause, which no request follows.
            stub.wait_for(lambda s: any(r.status == 503 for r in s.requests))
            script.signal(signal.SIGINT)
            ended = script.end()
        assert ended.status == 130
        assert ended.err.splitlines()[-1] == f"What came is in {store}: the same command goes on there."
        assert [name for name in listed(tmp_path) if not name.startswith(store.name)] == []
        stub.reset()
        again = run_script(SCRIPT, *arguments, stub=stub)
        assert again.status == 0
        assert [request.query["offset"] for request in stub.requests] == ["250", "500"]
    if output == "-":
        file = tmp_path / "out.jsonl"
        file.write_text(again.out)
    assert read(file) == ROWS
