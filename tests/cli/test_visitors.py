"""``docplatform visitors totals|top|trend``: their numbers and costs, as tables and as documents."""

from __future__ import annotations

import csv
import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform.cli.report.words import AI_TRAFFIC
from helpers.cli import JANUARY, ROWS, TOTALS, Cli, page

pytestmark = pytest.mark.stub(visitors=ROWS, totals=TOTALS)

WEEKS = ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22", "2024-01-29"]
COUNTS = ["human", "ai", "total"]


def table(text: str) -> list[dict[str, str]]:
    """The rows of lines with tabs."""
    header, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


def shown(rows: list[dict[str, Any]], *names: str) -> list[dict[str, str]]:
    return [{name: str(row[name]) for name in names} for row in rows]


def best(by: str, number: int) -> list[dict[str, Any]]:
    return sorted(ROWS, key=lambda row: -int(row[by]))[:number]


# -- totals and top --------------------------------------------------------------------------------


def test_totals(cli: Cli) -> None:
    assert cli("visitors", "totals", *JANUARY).out == "human\tai\ttotal\n3\t2\t4\n"
    found = json.loads(cli("visitors", "totals", *JANUARY, "--json").out)
    assert found == {"date_from": "2024-01-01", "date_to": "2024-02-01", **TOTALS}
    assert [request.query["dateTo"] for request in cli.stub.requests] == ["2024-02-01"] * 2


@pytest.mark.parametrize("by", COUNTS)
def test_top_lists_the_most_read_paths(cli: Cli, by: str) -> None:
    ended = cli("visitors", "top", "--by", by, "-n", "5")
    assert table(ended.out) == shown(best(by, 5), "path", *COUNTS)
    assert ended.err.splitlines() == [
        "Reading visitors",
        "It took 3 requests. Uniques do not add up: the whole site has 4 visitors.",
    ]


def test_top_as_json(cli: Cli) -> None:
    found = json.loads(cli("visitors", "top", "--from", "2026-01-01", "--json").out)
    said = {"date_from": "2026-01-01", "date_to": None, "by": "total", "requests": 3}
    assert found == {**said, "warnings": [], "totals": TOTALS, "rows": best("total", 10)}


def test_top_goes_into_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "top.csv"
    ended = cli("visitors", "top", "--by", "ai", "-n", "3", "-o", str(file))
    with file.open(encoding="utf-8", newline="") as lines:
        assert shown([*csv.DictReader(lines)], "path", *COUNTS) == shown(best("ai", 3), "path", *COUNTS)
    assert ended.err.splitlines()[1] == f"Wrote 3 rows to {file}, sorted by ai."
    found = json.loads(cli("visitors", "top", "-o", str(file), "--force", "--json").out)
    assert (found["file"], found["format"], found["by"], found["rows"]) == (str(file), "csv", "total", 10)
    assert json.loads(cli("visitors", "top", "-n", "1", "--format", "jsonl").out) == best("total", 1)[0]


@pytest.mark.parametrize("line", [("top", "-q"), ("compare", "2024-01"), ("compare", "2024-01", "-q")])
def test_changed_data_is_warned_about_once(cli: Cli, line: tuple[str, ...]) -> None:
    cli.stub.fail_next(status=200, body=page(*ROWS[:250], more=True))
    cli.stub.fail_next(status=200, body=page(*ROWS[250:]) | {"totals": {**TOTALS, "total": 11}})
    ended = cli("visitors", *line)
    assert ended.status == 0
    assert len(re.findall("Note: ", ended.err)) == len(re.findall("the totals changed", ended.err)) == 1
    assert "-q" not in line or len(ended.err.splitlines()) == 1


# -- trend -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_path", [False, True])
def test_trend_as_a_table_and_as_json(cli: Cli, by_path: bool) -> None:
    with cli.stub.client() as client:
        days: Any = {"date_from": "2024-01-01", "date_to": "2024-02-01"}
        trend = client.visitor_trend(**days, every="week", by_path=by_path)
    rows = [{k: str(v) if isinstance(v, date) else v for k, v in row.items()} for row in trend.to_dicts()]
    requests = len(cli.stub.requests)
    line = ("visitors", "trend", *JANUARY, "--every", "week", *(["--by-path"] if by_path else []))
    ended = cli(*line)
    assert table(ended.out) == shown(
        rows, "date_from", "date_to", "days", *(["path"] if by_path else []), *COUNTS
    )
    assert list(dict.fromkeys(row["date_from"] for row in table(ended.out))) == WEEKS
    assert ended.err.splitlines() == [
        f"Reading 5 slices for {'at least ' if by_path else ''}5 requests",
        f"It took {requests} requests. Uniques do not add up over days or paths.",
        AI_TRAFFIC,
    ]
    facts: Any = {**days, "every": "week", "open_from": None, "requests": requests, "warnings": []}
    assert json.loads(cli(*line, "--json").out) == {**facts, "rows": rows}


def test_a_trend_leaves_cut_slices_out(cli: Cli) -> None:
    line = ("visitors", "trend", "2026-01", "--every", "week", "--whole")
    assert cli(*line, "--dry-run").out.startswith("requests\t3\n")
    ended = cli(*line)
    assert [row["days"] for row in table(ended.out)] == ["7"] * 3
    assert ended.err.startswith("Reading 3 slices for 3 requests\n")
    assert len(cli.stub.requests) == 3


def test_a_trend_says_from_which_day_it_may_still_change(cli: Cli) -> None:
    end = datetime.now(UTC).date() + timedelta(2)
    line = ("visitors", "trend", "--from", str(end - timedelta(10)), "--to", str(end))
    said = cli(*line).err.splitlines()[-1]
    found = json.loads(cli(*line, "--json").out)
    # The day may turn over meanwhile.
    days = {str(end - timedelta(4)), str(end - timedelta(3))}
    assert said in {f"From {day} on the numbers may still change." for day in days}
    assert found["open_from"] in days
    assert "may still change" in found["warnings"][-1]


# -- what a command would cost ---------------------------------------------------------------------


def test_a_refresh_that_is_cut_short_says_that_the_next_one_fetches_everything(cli: Cli, store: Path) -> None:
    line = ("visitors", "export", *JANUARY, "--store", str(store), "-o", "-", "--refresh")
    ended = cli(*line, "--requests-per-hour", "2", "--on-budget", "stop")
    said = f"What was fetched is in {store}. With --refresh the next run fetches all of it again."
    assert (ended.status, ended.err.splitlines()[-1]) == (4, said)


def test_a_dry_run_as_json_has_each_slice(cli: Cli, store: Path) -> None:
    line = ("visitors", "trend", *JANUARY, "--every", "week", "--store", str(store), "--json")
    cli("visitors", "totals", "2024-W02", "--store", str(store))
    found = json.loads(cli(*line, "--dry-run", "--requests-per-hour", "3").out)
    assert [one["date_from"] for one in found.pop("slices")] == WEEKS
    assert found == {
        "dry_run": True,
        "requests": 4,
        "cached": 1,
        "exact": True,
        "estimated": False,
        "hours": 1,
        "budget_left": 3,
    }
