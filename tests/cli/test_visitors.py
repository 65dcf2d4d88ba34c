"""``docplatform visitors``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers.cli import ROWS, Cli

TOTALS = {"human": 3, "ai": 2, "total": 4}


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(visitors=ROWS, totals=TOTALS) as stub:
        yield stub


def best(by: str, number: int) -> list[dict[str, Any]]:
    return sorted(ROWS, key=lambda row: -int(row[by]))[:number]


def test_totals(cli: Cli) -> None:
    days = ("--from", "2026-01-01", "--to", "2026-02-01")
    assert cli("visitors", "totals", *days).out == "human\tai\ttotal\n3\t2\t4\n"
    found = json.loads(cli("visitors", "totals", *days, "--json").out)
    assert found == {"date_from": "2026-01-01", "date_to": "2026-02-01", **TOTALS}
    assert [request.query["dateTo"] for request in cli.stub.requests] == ["2026-02-01"] * 2


@pytest.mark.parametrize("by", ["human", "ai", "total"])
def test_top(cli: Cli, by: str) -> None:
    ended = cli("visitors", "top", "--by", by, "-n", "5")
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert lines[0] == ["path", "human", "ai", "total"]
    assert lines[1:] == [[str(row[name]) for name in lines[0]] for row in best(by, 5)]
    assert ended.err.splitlines() == [
        "Reading visitors",
        "It took 3 requests. Uniques do not add up: the whole site has 4 visitors.",
    ]


def test_top_as_json(cli: Cli) -> None:
    found = json.loads(cli("visitors", "top", "--from", "2026-01-01", "--json").out)
    assert found == {
        "date_from": "2026-01-01",
        "date_to": None,
        "by": "total",
        "totals": TOTALS,
        "rows": best("total", 10),
    }


def test_top_of_few_or_none(cli: Cli) -> None:
    assert len(cli("visitors", "top", "-n", "1000").out.splitlines()) == 601
    assert cli("visitors", "top", "-n", "0").status == 2
    assert cli("visitors", "top", "--by", "path").status == 2
    cli.stub.fail_next(status=200, body={"totals": TOTALS, "visitors": [], "hasMore": False})
    assert cli("visitors", "top").out == "path\thuman\tai\ttotal\n"


def test_what_is_odd_about_the_data_is_told(cli: Cli) -> None:
    for rows, total, more in ((ROWS[:250], 10, True), (ROWS[250:], 11, False)):
        cli.stub.fail_next(
            status=200, body={"totals": {**TOTALS, "total": total}, "visitors": rows, "hasMore": more}
        )
    ended = cli("visitors", "top", "-q")
    assert ended.status == 0
    assert ended.err.startswith("Note: the totals moved")
    assert len(ended.err.splitlines()) == 1
