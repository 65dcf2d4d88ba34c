"""``docplatform plan``: what a range costs, without a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.cli import Cli

JANUARY = ("--from", "2024-01-01", "--to", "2024-02-01")


def facts(cli: Cli, *arguments: object) -> dict[str, str]:
    """What it prints, where nothing is sent."""
    before = len(cli.stub.requests)
    ended = cli("plan", *JANUARY, *map(str, arguments))
    assert (ended.status, len(cli.stub.requests)) == (0, before)
    return dict(line.split("\t") for line in ended.out.splitlines())


def document(cli: Cli, *arguments: object) -> Any:
    return json.loads(cli("plan", *JANUARY, *map(str, arguments), "--json").out)


def test_it_sends_nothing_and_needs_no_service(cli: Cli) -> None:
    cli.stub.close()
    assert facts(cli) == {"requests": "1", "cached": "0", "exact": "no"}
    assert facts(cli, "--totals", "--every", "day") == {"requests": "31", "cached": "0", "exact": "yes"}
    assert cli.stub.requests == []


@pytest.mark.parametrize(
    ("options", "command", "requests"),
    [
        ((), ("visitors", "export"), 4),
        ((), ("visitors", "top"), 4),
        ((), ("report", "-o", "-", "--every", "none", "--no-rising"), 4),
        (("--totals",), ("visitors", "totals"), 1),
        (("--totals", "--every", "day"), ("visitors", "trend"), 31),
        (("--every", "week"), ("visitors", "trend", "--by-path", "--every", "week"), 20),
    ],
)
def test_it_is_what_a_command_then_costs(
    cli: Cli, store: Path, options: tuple[str, ...], command: tuple[str, ...], requests: int
) -> None:
    """As its help says; a first plan of pages cannot know more than that there is one a slice."""
    options = (*options, "--store", str(store))
    before = facts(cli, *options)
    assert int(before["requests"]) <= requests
    assert before["exact"] == ("yes" if "--totals" in options else "no")
    assert cli(*command, *JANUARY, "--store", str(store)).status == 0
    assert len(cli.stub.requests) == requests
    assert facts(cli, *options) == {"requests": "0", "cached": str(requests), "exact": "yes"}


def test_a_floor_is_said_to_be_one(cli: Cli) -> None:
    ended = cli("plan", *JANUARY, "--every", "week")
    assert ended.err == (
        "It may be more: the size of 5 of 5 slices is not known, and each counts for one request at least.\n"
    )
    assert cli("plan", *JANUARY, "--every", "week", "-q").err == ""
    assert cli("plan", *JANUARY, "--every", "week", "--totals").err == ""


def test_the_hours_are_those_of_the_budget(cli: Cli, store: Path) -> None:
    options = ("--totals", "--every", "day", "--store", store)
    assert "hours" not in facts(cli, *options)
    assert facts(cli, *options, "--requests-per-hour", 100)["hours"] == "0"
    assert facts(cli, *options, "--requests-per-hour", 12, "--reserve", 2)["hours"] == "3"
    # What was spent counts.
    cli("visitors", "totals", "--store", str(store), "--requests-per-hour", "31")
    assert facts(cli, *options, "--requests-per-hour", 31)["hours"] == "1"


def test_a_line_for_each_slice(cli: Cli, store: Path) -> None:
    options = ("--every", "week", "--totals", "--store", str(store))
    assert cli("visitors", "totals", "--from", "2024-01-08", "--to", "2024-01-15", *options[3:]).status == 0
    ended = cli("plan", *JANUARY, *options, "--slices", "--requests-per-hour", "3")
    assert ended.out.splitlines() == [
        "date_from\tdate_to\trequests\tcached\texact",
        "2024-01-01\t2024-01-08\t1\t0\tyes",
        "2024-01-08\t2024-01-15\t0\t1\tyes",
        "2024-01-15\t2024-01-22\t1\t0\tyes",
        "2024-01-22\t2024-01-29\t1\t0\tyes",
        "2024-01-29\t2024-02-01\t1\t0\tyes",
    ]
    assert ended.err == "In all: 4 requests, 1 cached, 1 hour to wait.\n"


@pytest.mark.row("J11")
def test_json_is_one_document(cli: Cli, store: Path) -> None:
    found = document(cli, "--every", "month", "--requests-per-hour", 5)
    assert found == {
        "date_from": "2024-01-01",
        "date_to": "2024-02-01",
        "every": "month",
        "by_path": True,
        "requests": 1,
        "cached": 0,
        "exact": False,
        "hours": 0.0,
        "slices": [
            {"date_from": "2024-01-01", "date_to": "2024-02-01", "requests": 1, "cached": 0, "exact": False}
        ],
    }
    found = document(cli, "--totals", "--store", store)
    assert (found["every"], found["by_path"], found["hours"], found["exact"]) == (None, False, None, True)
    assert cli.stub.requests == []
