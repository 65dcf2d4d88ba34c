"""Files that ``visitors export`` and ``visitors trend`` write: formats, refusals, and what an interrupted export leaves."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from docplatform.testing import StubServer
from helpers.cli import JANUARY, ROWS, TOTALS, Cli, kept, page, shell
from helpers.exports import names
from helpers.marks import posix

pytestmark = pytest.mark.stub(visitors=ROWS, totals=TOTALS)


EVIL = "=HYPERLINK(1)"
EXPORT = ("visitors", "export", *JANUARY)


def read(path: Path) -> list[dict[str, Any]]:
    return (pl.read_csv(path) if path.suffix == ".csv" else pl.read_ndjson(path)).to_dicts()


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.row("J15")
@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("v.csv", b""),
        ("v.jsonl", b'{"'),
        ("v.parquet", b"PAR1"),
        ("v.arrow", b"ARROW1"),
        ("v.xlsx", b"PK"),
        ("V.CSV", b""),
    ],
)
@pytest.mark.parametrize("command", ["export", "trend", "trend --by-path"])
def test_the_name_of_a_file_chooses_its_format(
    cli: Cli, tmp_path: Path, command: str, name: str, begins: bytes
) -> None:
    """What is in the files of each format is tested in tests/files and tests/tables."""
    file = tmp_path / name
    every = () if command == "export" else ("--every", "week")
    line = ("visitors", *command.split(), *JANUARY, "-o", str(file), *every)
    ended = cli(*line)
    assert (ended.status, ended.out) == (0, "")
    assert file.read_bytes().startswith(begins or (b"path," if command == "export" else b"date_from,"))
    found = json.loads(cli(*line, "--force", "--json").out)
    assert (found["file"], found["format"]) == (str(file), name.lower()[2:])
    assert f"Wrote {found['rows']:,} rows to {file}" in ended.err
    assert names(tmp_path) == [name]


def test_an_export_says_what_it_wrote(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    assert cli(*EXPORT, "-o", str(file)).err.splitlines() == [
        "Reading visitors",
        f"Wrote 600 rows to {file}; it took 3 requests.",
        "Uniques do not add up: the whole site has 4 visitors.",
    ]
    assert {request.query["dateTo"] for request in cli.stub.requests} == {"2024-02-01"}
    line = ("visitors", "export", "-o", str(file), "--force", "--from", "2026-01-01", "--max-rows", "300")
    facts: Any = {"date_from": "2026-01-01", "date_to": None, "totals": TOTALS, "requests": 2, "warnings": []}
    found = json.loads(cli(*line, "--json").out)
    assert found == {"file": str(file), "format": "csv", "rows": 300, **facts}


@pytest.mark.row("J5")
@pytest.mark.parametrize(("options", "path"), [((), f"'{EVIL}"), (("--raw",), EVIL)])
def test_a_formula_is_escaped_in_csv_unless_it_is_to_be_raw(
    cli: Cli, tmp_path: Path, options: tuple[str, ...], path: str
) -> None:
    body = page({"path": EVIL, "human": 0, "ai": 0, "total": 0})
    cli.stub.fail_next(status=200, body=body, times=2)
    cli(*EXPORT, "-o", str(tmp_path / "v.csv"), *options)
    assert (tmp_path / "v.csv").read_text().splitlines()[1] == f"{path},0,0,0"
    assert cli(*EXPORT, *options).out.splitlines()[1] == f"{path},0,0,0"


@pytest.mark.parametrize(
    ("name", "extra"), [("v.parquet", "arrow"), ("v.arrow", "arrow"), ("v.xlsx", "excel")]
)
def test_a_missing_library_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    monkeypatch.setattr("docplatform._hooks.frames.find_spec", lambda _: None)
    ended = cli(*EXPORT, "-o", str(tmp_path / name))
    assert (ended.status, cli.stub.requests) == (2, [])
    assert f'pip install "docplatform[{extra}]"' in ended.err


def test_a_byte_order_mark_is_written_where_it_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    for options, begin in (([], b"path,"), (["--bom"], b"\xef\xbb\xbfpath,")):
        assert cli(*EXPORT, *options, "--force", "-o", str(tmp_path / "v.csv")).status == 0
        assert (tmp_path / "v.csv").read_bytes().startswith(begin)


# -- what is in the way of a file ------------------------------------------------------------------


@posix
@pytest.mark.row("J3")
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "pipe"])
def test_force_alone_replaces_what_is_there(cli: Cli, tmp_path: Path, kind: str) -> None:
    file, other = tmp_path / "v.csv", tmp_path / "other"
    if kind in ("file", "link"):
        (file if kind == "file" else other).write_text("old")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind != "file":
        file.symlink_to(other)
    ended = cli(*EXPORT, "-o", str(file))
    assert (ended.status, cli.stub.requests) == (2, [])
    assert "--force" in ended.err
    forced = cli(*EXPORT, "-o", str(file), "--force")
    if kind == "pipe":
        assert (forced.status, cli.stub.requests) == (1, [])
        assert "not a regular file" in forced.err
        assert stat.S_ISFIFO(file.stat().st_mode)
    else:
        assert (forced.status, file.is_symlink(), read(file)) == (0, False, ROWS)
    # A link is replaced, never what it points to.
    assert (other.read_text() if other.exists() else None) == ("old" if kind == "link" else None)


@posix
@pytest.mark.row("J3")
def test_a_file_that_cannot_be_written_is_named_before_anything_is_sent(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("old")
    file.chmod(0o400)
    ended = cli(*EXPORT, "-o", str(file), "--force")
    assert (ended.status, file.read_text(), cli.stub.requests) == (1, "old", [])
    assert (
        ended.err.splitlines()[-1]
        == f"docplatform: {file}: Permission denied: change the permissions, or write to another folder"
    )


@posix
@pytest.mark.row("I5")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_a_reader_that_leaves_early_ends_an_export_quietly(format_: str) -> None:
    with StubServer(visitors=100_000) as stub:
        done = shell(stub, f"$cli visitors export -q --format {format_} | head -n 2; exit ${{PIPESTATUS[0]}}")
        assert (done.status, done.err) == (141, "")
        assert len(done.out.splitlines()) == 2
        # The pipe has room for some hundreds of rows; lines that nobody reads are not fetched.
        assert format_ == "csv" or len(stub.requests) < 100


@posix
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_rows_are_utf_8_in_any_locale_and_leave_no_temporary_file(
    cli: Cli, tmp_path: Path, format_: str
) -> None:
    path = "/größe/διόρθωσε"
    cli.stub.fail_next(status=200, body=page({**ROWS[0], "path": path}))
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TMPDIR": str(tmp_path)}
    done = shell(cli.stub, f"$cli visitors export -q --format {format_}", **env)
    assert (done.status, done.err, names(tmp_path)) == (0, "", [])
    last = done.out.splitlines()[-1]
    assert last.startswith(f'{{"path":"{path}",' if format_ == "jsonl" else f"{path},")


# -- exports that end early ------------------------------------------------------------------------


@posix
@pytest.mark.row("I4")
@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "-"])
def test_after_ctrl_c_an_export_with_a_store_continues(
    cli: Cli, tmp_path: Path, store: Path, name: str
) -> None:
    stub = cli.stub
    file = tmp_path / name if name != "-" else Path("-")
    line = (*EXPORT, "--store", str(store), "-o", str(file), *(["--format", "jsonl"] if name == "-" else []))
    stub.fail_next(status=200, body=page(*ROWS[:250], more=True))
    stub.fail_next(status=503, retry_after=30)
    # It is in its pause, which no request follows.
    ended = cli.interrupted(*line, when=lambda s: any(r.status == 503 for r in s.requests))
    assert (ended.status, ended.err.splitlines()[-1]) == (130, kept(store))
    assert [name for name in names(tmp_path) if not name.startswith(store.name)] == []
    stub.reset()
    again = cli(*line)
    assert again.status == 0
    assert [request.query["offset"] for request in stub.requests] == ["250", "500"]
    if name == "-":
        file = tmp_path / "out.jsonl"
        file.write_text(again.out)
    assert read(file) == ROWS
