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
from support.cli import FULL_DISK, SCRIPT, Cli, shell
from support.scripts import Script, run_script

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
        (("-o", "v.csv", "--from", "2026-02-01", "--to", "2026-01-01"), "date_to"),
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
    monkeypatch.setattr("docplatform._frames.find_spec", lambda _: None)
    ended = export(cli, "-o", tmp_path / name)
    assert ended.status == 2
    assert 'pip install "docplatform[arrow]"' in ended.err
    assert cli.stub.requests == []


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_arrow_files_by_either_library(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setattr("docplatform._frames.find_spec", lambda name: name == library or None)
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
def test_permissions_are_kept_and_a_folder_that_is_missing_is_told(cli: Cli, tmp_path: Path) -> None:
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
    assert "Permission denied" in ended.err
    for name in ("none/v.csv", "none/v.parquet", "none/v.arrow"):
        for options in ((), ("--checkpoint", tmp_path / "place")):
            ended = export(cli, "-o", tmp_path / name, *options)
            assert ended.status == 1
            assert "No such file or directory" in ended.err
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


@pytest.mark.row("J1")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_standard_output_that_is_full(stub: StubServer, format_: str) -> None:
    line = f"$cli visitors export -q --format {format_} > /dev/full"
    done = shell(stub, line)
    assert done.returncode == 1
    assert done.stderr == "docplatform: [Errno 28] No space left on device\n"


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
def test_without_a_checkpoint_nothing_is_left(cli: Cli, tmp_path: Path, name: str) -> None:
    limited(cli, 2)
    ended = export(cli, "-o", tmp_path / name, "--json")
    assert (ended.status, ended.out) == (4, "")
    assert listed(tmp_path) == []
    assert ended.err.splitlines()[-1] == (
        "500 rows had come, and nothing was written. With --checkpoint FILE they are kept, "
        "and a second run goes on behind them."
    )


@pytest.mark.row("B2", "J14")
@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet", "v.arrow"])
def test_a_checkpoint_leads_behind_the_rows_that_were_kept(cli: Cli, tmp_path: Path, name: str) -> None:
    place, first, rest = tmp_path / "place.json", tmp_path / name, tmp_path / f"rest-{name}"
    options = ("--from", "2026-01-01", "--checkpoint", place)
    limited(cli, 2)
    ended = export(cli, "-o", first, *options)
    assert (ended.status, ended.out) == (4, "")
    assert ended.err.splitlines()[-1] == (
        f"Wrote the 500 rows that came to {first}. To go on behind them: the same command with "
        f"--checkpoint {place}, and another file."
    )
    assert read(first) == ROWS[:500]
    if sys.platform != "win32":
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert cli.stub.api_key not in place.read_text()
    cli.stub.reset()
    # The same command does not replace what came.
    assert export(cli, "-o", first, *options).status == 2
    assert export(cli, "-o", rest, *options).status == 0
    assert read(rest) == ROWS[500:]
    assert [request.query["offset"] for request in cli.stub.requests] == ["500"]
    assert not place.exists()


@pytest.mark.row("B2")
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_a_checkpoint_for_a_pipe(cli: Cli, tmp_path: Path, format_: str) -> None:
    place, out = tmp_path / "place.json", []
    limited(cli, 1)
    for code in (4, 0):
        ended = export(cli, "--format", format_, "--checkpoint", place)
        assert ended.status == code
        out += ended.out.splitlines()[format_ == "csv" :]
        assert place.exists() is (code == 4)
        cli.stub.reset()
    assert len(out) == len(set(out)) == 600


def test_an_export_in_pieces(cli: Cli, tmp_path: Path) -> None:
    place, found = tmp_path / "place.json", []
    for at in range(3):
        file = tmp_path / f"{at}.jsonl"
        assert export(cli, "-o", file, "--checkpoint", place, "--max-rows", "250").status == 0
        found += read(file)
        assert place.exists() is (at < 2)
    assert found == ROWS
    assert len(cli.stub.requests) == 3


@pytest.mark.row("J3")
def test_what_came_before_is_not_replaced_even_by_force(cli: Cli, tmp_path: Path) -> None:
    place, file = tmp_path / "place.json", tmp_path / "v.csv"
    limited(cli, 1)
    assert export(cli, "-o", file, "--checkpoint", place).status == 4
    cli.stub.reset()
    kept = file.read_text()
    ended = export(cli, "-o", file, "--checkpoint", place, "--force")
    assert (ended.status, file.read_text()) == (2, kept)
    assert "name another file" in ended.err
    for wrong in (file, tmp_path / "none" / "place.json"):
        assert export(cli, "-o", file, "--checkpoint", wrong, "--force").status == 2
    assert cli.stub.requests == []


@pytest.mark.row("E11", "J14")
def test_a_checkpoint_that_is_none_or_of_another_query(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "place.json"
    limited(cli, 1)
    assert export(cli, "-o", tmp_path / "a.csv", "--from", "2026-01-01", "--checkpoint", place).status == 4
    cli.stub.reset()
    kept = place.read_text()
    for text, options in ((kept, ("--from", "2026-01-02")), ("{}", ()), ("\x00", ())):
        place.write_text(text)
        ended = export(cli, "-o", tmp_path / "b.csv", "--checkpoint", place, *options)
        assert (ended.status, ended.out) == (2, "")
        assert place.read_text() == text
    place.write_bytes(b"\xff")
    assert export(cli, "-o", tmp_path / "b.csv", "--checkpoint", place).status == 2
    assert export(cli, "-o", tmp_path / "b.csv", "--checkpoint", tmp_path).status == 2
    assert cli.stub.requests == []


@posix
@pytest.mark.row("I4")
@pytest.mark.parametrize("name", ["v.csv", "v.parquet", "v.arrow"])
def test_ctrl_c_leaves_no_file(tmp_path: Path, name: str) -> None:
    with StubServer(visitors=ROWS) as stub:
        stub.fail_next(status=503, retry_after=30)
        with Script(SCRIPT, "visitors", "export", "-o", str(tmp_path / name), stub=stub) as script:
            # It is in its pause, which no request follows.
            stub.wait_for(lambda s: any(r.status for r in s.requests))
            script.signal(signal.SIGINT)
            ended = script.end()
    assert ended.status == 130
    assert "Traceback" not in ended.err
    assert listed(tmp_path) == []
