"""``docplatform visitors compare``: the changes, as a table, a document and a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from docplatform.cli import compare
from docplatform.cli.report.words import CHANCE
from helpers.cli import Cli
from helpers.exports import readers

pytestmark = pytest.mark.stub(visitors=readers)


def test_what_moved_is_a_table(cli: Cli) -> None:
    ended = cli("visitors", "compare", "2024-01")
    site, *moved = (line.split("\t") for line in ended.out.splitlines()[1:])
    assert ended.out.splitlines()[0] == "\tpath\tbefore\tnow\tchange"
    with cli.stub.client() as client:
        now, before = (client.visitor_totals(month).total for month in ("2024-01", "2023-12"))
    assert site[:4] == ["site", "", str(before), str(now)]
    assert moved == [
        ["riser", "/a", "100", "300", "+200 (+200%)"],
        ["faller", "/b", "300", "100", "-200 (-67%)"],
        ["new", "/new", "0", "40", "+40"],
        ["vanished", "/gone", "50", "0", "-50 (-100%)"],
    ]
    assert ended.err.splitlines() == [
        "Reading January 2024 and December 2023",
        CHANCE,
        "It took 2 requests.",
    ]


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
    assert compare._change(before, now) == said


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
    assert (found["date_from"], found["date_to_before"]) == ("2024-01-01", "2024-01-01")
    cli.stub.reset()
    assert cli("visitors", "compare", "2024-W02", "--before", "2023-01", "-q").status == 0
    asked = [(request.query["dateFrom"], request.query["dateTo"]) for request in cli.stub.requests]
    assert asked == [("2024-01-08", "2024-01-15"), ("2023-01-01", "2023-02-01")]
