"""``docplatform visitors trend``: slices as a table, as a document, and in a file."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from docplatform.testing import StubServer
from helpers.cli import Cli

JANUARY = ("--from", "2024-01-01", "--to", "2024-02-01")
WEEKS = ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22", "2024-01-29", "2024-02-01"]
COUNTS = ["human", "ai", "total"]


def trend(cli: Cli, *arguments: object) -> Any:
    return cli("visitors", "trend", *map(str, arguments))


def expected(stub: StubServer, *, by_path: bool = False) -> list[dict[str, Any]]:
    with stub.client() as client:
        found = client.visitor_trend(
            date_from="2024-01-01", date_to="2024-02-01", every="week", by_path=by_path
        ).to_dicts()
    stub.reset()
    return [{name: str(v) if isinstance(v, date) else v for name, v in row.items()} for row in found]


def test_a_table_and_what_it_cost(cli: Cli) -> None:
    rows = expected(cli.stub)
    ended = trend(cli, *JANUARY, "--every", "week")
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert lines[0] == ["date_from", "date_to", *COUNTS]
    assert lines[1:] == [[str(row[name]) for name in lines[0]] for row in rows]
    assert [line[0] for line in lines[1:]] == WEEKS[:-1]
    assert ended.err.splitlines() == [
        "Reading 5 slices for 5 requests",
        "It took 5 requests. Uniques do not add up, over days as over pages.",
    ]
    assert [request.query["dateFrom"] for request in cli.stub.requests] == WEEKS[:-1]


@pytest.mark.parametrize(("every", "slices"), [(None, 31), ("day", 31), ("week", 5), ("month", 1)])
def test_how_long_a_slice_is(cli: Cli, every: str | None, slices: int) -> None:
    ended = trend(cli, *JANUARY, *(["--every", every] if every else []), "-q")
    assert (ended.status, len(ended.out.splitlines()), ended.err) == (0, slices + 1, "")
    assert len(cli.stub.requests) == slices


def test_with_pages_a_row_is_a_slice_and_a_page(cli: Cli) -> None:
    rows = expected(cli.stub, by_path=True)
    ended = trend(cli, *JANUARY, "--every", "week", "--by-path")
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert lines[0] == ["date_from", "date_to", "path", *COUNTS]
    assert lines[1:] == [[str(row[name]) for name in lines[0]] for row in rows]
    assert (len(rows), len(cli.stub.requests)) == (5_000, 20)
    assert ended.err.splitlines()[0] == "Reading 5 slices for at least 5 requests"


@pytest.mark.row("J11")
@pytest.mark.parametrize("options", [(), ("--by-path",)])
def test_json_is_one_document(cli: Cli, options: tuple[str, ...]) -> None:
    rows = expected(cli.stub, by_path=bool(options))
    found = json.loads(trend(cli, *JANUARY, "--every", "week", "--json", *options).out)
    assert found == {
        "date_from": "2024-01-01",
        "date_to": "2024-02-01",
        "every": "week",
        "open_from": None,
        "requests": 20 if options else 5,
        "warnings": [],
        "rows": rows,
    }


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = parquet.read_table(path).to_pylist()
    return [{name: str(v) if isinstance(v, date) else v for name, v in row.items()} for row in rows]


@pytest.mark.row("J15")
@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_a_file_of_the_format_that_its_name_asks_for(
    cli: Cli, tmp_path: Path, name: str, by_path: bool
) -> None:
    rows, file = expected(cli.stub, by_path=by_path), tmp_path / name
    options = (*JANUARY, "--every", "week", "-o", file, *(["--by-path"] if by_path else []))
    ended = trend(cli, *options)
    assert (ended.status, ended.out) == (0, "")
    assert f"Wrote {len(rows):,} rows to {file}." in ended.err
    assert read(file) == rows
    # Nothing is replaced unasked, or asked for to be thrown away.
    cli.stub.reset()
    assert (trend(cli, *options).status, cli.stub.requests) == (2, [])
    found = json.loads(trend(cli, *options, "--force", "--json").out)
    assert (found["file"], found["format"], found["rows"]) == (str(file), file.suffix[1:], len(rows))
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.row("J11")
def test_standard_output_takes_rows_and_nothing_else(cli: Cli) -> None:
    lines = [",".join(map(str, row.values())) for row in expected(cli.stub)]
    for options in (("-o", "-"), ("--format", "csv")):
        assert trend(cli, *JANUARY, "--every", "week", *options).out.splitlines()[1:] == lines


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*JANUARY, "--last", "7"), "give one or the other"),
        ((*JANUARY, "-o", "t.xlsx"), "ends in .csv"),
        ((*JANUARY, "-o", "none/t.csv"), "there is no folder none"),
        ((*JANUARY, "-o", "-", "--json"), "name a file"),
        ((*JANUARY, "--format", "parquet"), "needs a file"),
    ],
)
def test_wrong_usage_sends_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = trend(cli, *arguments)
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert says in ended.err
    assert "Reading" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_what_may_still_change_is_said(cli: Cli) -> None:
    end = datetime.now(UTC).date() + timedelta(2)
    options = ("--from", end - timedelta(10), "--to", end)
    said = trend(cli, *options).err.splitlines()[-1]
    found = json.loads(trend(cli, *options, "--json").out)
    # The day may turn over meanwhile.
    days = {str(end - timedelta(4)), str(end - timedelta(3))}
    assert said in {f"From {day} on the numbers may still change." for day in days}
    assert found["open_from"] in days
    assert "may still change" in found["warnings"][-1]
