"""``docplatform visitors compare``: the changes, as a table, a document and a file."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from docplatform._hooks.changes import CHANCE
from docplatform.cli import visitors
from helpers.cli import Cli
from helpers.exports import readers

pytestmark = pytest.mark.stub(visitors=readers)


def test_what_moved_is_a_table(cli: Cli) -> None:
    ended = cli("visitors", "compare", "2024-01")
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert rows[0] == ["", "path", "before", "now", "change"]
    assert rows[1:] == [
        ["human", "", "275", "272", "-3 (-1.1%)"],
        ["ai", "", "110", "109", "-1 (-0.9%)"],
        ["total", "", "550", "545", "-5 (-0.9%)"],
        ["section", "/a", "100", "300", "+200 (+200%)"],
        ["section", "/b", "300", "100", "-200 (-67%)"],
        ["section", "/gone", "50", "0", "-50 (-100%)"],
        ["section", "/new", "0", "40", "+40"],
        ["riser", "/a", "100", "300", "+200 (+200%)"],
        ["faller", "/b", "300", "100", "-200 (-67%)"],
        ["new", "/new", "0", "40", "+40"],
        ["vanished", "/gone", "50", "0", "-50 (-100%)"],
    ]
    assert ended.err.splitlines() == [
        "Reading January 2024 and December 2023",
        "January 2024 and December 2023.",
        "Readers hardly changed: 545 after 550 (0.9% fewer).",
        "People hardly changed: 272 after 275 (1.1% fewer).",
        "AI agents hardly changed: 109 after 110 (0.9% fewer).",
        CHANCE,
        "People: 4 paths rose or fell; --of human lists them.",
        "AI agents: 2 paths rose or fell; --of ai lists them.",
        "It took 2 requests.",
    ]
    people = cli("visitors", "compare", "2024-01", "--of", "human", "-q").out.splitlines()
    assert people[-4].split("\t") == ["riser", "/a", "50", "150", "+100 (+200%)"]


def _three_risers(date_from: date, date_to: date) -> list[dict[str, Any]]:
    grown = 300 if date_from.month == 1 else 100
    counts = {f"/{name}": grown for name in "abc"} | {f"/still/{n}": 100 for n in range(20)}
    return [{"path": path, "human": n, "ai": n, "total": 2 * n} for path, n in counts.items()]


@pytest.mark.stub(visitors=_three_risers)
def test_a_list_that_is_cut_names_the_number_that_shows_all(cli: Cli) -> None:
    ended = cli("visitors", "compare", "2024-01", "--of", "human", "-n", "2")
    assert ended.out.count("\nriser\t") == 2
    assert "\nPeople: 3 paths rose or fell; -n 3 lists them.\n" in ended.err
    assert "\nAI agents: 3 paths rose or fell; --of ai -n 3 lists them.\n" in ended.err
    assert "-n" not in cli("visitors", "compare", "2024-01", "--of", "human", "-n", "3").err


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (1_000, 4, "-996 (-99%)"),
        (1_000, 1_001, "+1 (+0.1%)"),
        (100, 99, "-1 (-1.0%)"),
        (5, 500, "+495 (100 times)"),
    ],
)
def test_a_small_change_is_not_said_to_be_none_and_a_large_one_not_to_be_all(
    before: int, now: int, said: str
) -> None:
    assert visitors._change(before, now) == (before, now, said)


def test_every_path_goes_into_a_file_and_a_summary_into_a_document(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "january.csv"
    found = json.loads(cli("visitors", "compare", "2024-01", "-o", str(file), "--json", "-n", "1").out)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["path"], row["total_change"]) for row in rows] == [
        ("/a", "200"),
        ("/b", "-200"),
        ("/c", "5"),
        ("/new", "40"),
        ("/gone", "-50"),
    ]
    assert (found["period"], found["before"], found["rows"]) == ("January 2024", "December 2023", 5)
    assert [row["path"] for row in found["risers"] + found["vanished"]] == ["/a", "/gone"]
    assert list(found["change"]) == list(found["pace"]) == ["human", "ai", "total"]
    assert found["sections"][0]["section"] == "/a"
    assert (found["date_from"], found["date_to_before"]) == ("2024-01-01", "2024-01-01")
    cli.stub.reset()
    assert cli("visitors", "compare", "2024-W02", "--before", "2023-01", "-q").status == 0
    asked = [(request.query["dateFrom"], request.query["dateTo"]) for request in cli.stub.requests]
    assert asked == [("2024-01-08", "2024-01-15"), ("2023-01-01", "2023-02-01")]
