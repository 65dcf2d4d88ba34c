"""The trend and the comparison of ``docplatform report``: what they cost, and what the page says without them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import ConfigurationError
from docplatform.cli.report import parts, sentences
from docplatform.testing import StubServer
from helpers.cli import Cli
from helpers.reports import Parsed, change, comparison, headings, made

JANUARY = ["--from", "2026-01-01", "--to", "2026-02-01"]
TOTALS = {"human": 3, "ai": 2, "total": 4}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


def body(*rows: tuple[str, int], more: bool = False) -> dict[str, Any]:
    """A page of paths and how many people read them."""
    return {
        "totals": TOTALS,
        "visitors": [{"path": path, "human": count, "ai": 0, "total": count} for path, count in rows],
        "hasMore": more,
    }


def asked(stub: StubServer) -> list[tuple[str, str, str]]:
    """The days and the limit of each request."""
    return [(q["dateFrom"], q["dateTo"], q["limit"]) for q in (request.query for request in stub.requests)]


def summary(cli: Cli, file: Path, *arguments: str) -> Any:
    ended = cli("report", "-o", str(file), "--json", "--force", *arguments)
    assert ended.status == 0, ended.err
    return json.loads(ended.out)


def test_a_store_that_fails_is_an_error_and_no_reason_to_leave_out() -> None:
    class Failing:
        def plan_visitors(self, **_: object) -> Any:
            raise ConfigurationError("the store is damaged")

    asked = parts.Asked(date_from="2026-01-01", date_to="2026-02-01", number=1)
    with pytest.raises(ConfigurationError):
        parts.plan(Failing(), asked)  # type: ignore[arg-type]  # all of a client that it takes


def test_a_range_has_a_trend_and_is_compared_with_the_days_before(cli: Cli, file: Path) -> None:
    cli.stub.fail_next(status=200, body=body(("/a", 100), ("/new", 40), ("/gone", 5)))
    cli.stub.fail_next(status=200, body=body(), times=5)
    cli.stub.fail_next(status=200, body=body(("/a", 10), ("/gone", 50)))
    ended = cli("report", "-o", str(file), *JANUARY)
    assert (ended.status, ended.out) == (0, "")
    assert asked(cli.stub) == [
        ("2026-01-01", "2026-02-01", "250"),
        *(
            (*days, "1")
            for days in [
                ("2026-01-01", "2026-01-05"),
                ("2026-01-05", "2026-01-12"),
                ("2026-01-12", "2026-01-19"),
                ("2026-01-19", "2026-01-26"),
                ("2026-01-26", "2026-02-01"),
            ]
        ),
        ("2025-12-01", "2026-01-01", "250"),
    ]
    cost = "7 requests: 1 for the pages, 5 for the trend, 1 for the pages that changed"
    assert ended.err.splitlines() == [
        "Requests: one for each 250 pages of January 2026; 5 for the trend by week; one for each 250 pages of December 2025.",
        "Reading visitors",
        "Reading the trend by week",
        "Reading December 2025",
        f"Wrote {file}, about 3 pages; it took {cost}.",
    ]
    html = file.read_text(encoding="utf-8")
    parsed = Parsed(html)
    assert {"The trend", "What changed"} <= set(headings(html))
    assert parsed.tables["Risers"] == [["/a", "10", "100", "+90 +900%"]]
    assert parsed.tables["Fallers"] == [["/gone", "50", "5", "\u221245 \u221290%"]]
    assert parsed.tables["New pages (1)"] == [["/new", "40"]]
    assert cost in parsed.text


def test_the_report_and_the_comparison_say_the_same(cli: Cli, file: Path) -> None:
    told = summary(cli, file, "2026-09", "-n", "500")["comparison"]
    compared = json.loads(cli("visitors", "compare", "2026-09", "-n", "500", "--json").out)
    assert told["totals"] == compared["totals_before"]
    for kind in ("risers", "fallers", "new", "vanished"):
        moved = [(row["path"], row["before"]["total"], row["now"]["total"]) for row in told[kind]]
        assert moved
        assert moved == [(row["path"], row["total_before"], row["total"]) for row in compared[kind]]


def test_it_can_be_compared_with_any_period(cli: Cli, file: Path) -> None:
    found = summary(cli, file, "2026-01", "--before", "2025-01", "--every", "none")
    assert found["comparison"]["period"] == "January 2025"
    assert {days[:2] for days in asked(cli.stub)} == {
        ("2026-01-01", "2026-02-01"),
        ("2025-01-01", "2025-02-01"),
    }
    assert "in January 2025 to" in file.read_text(encoding="utf-8")
    sent = len(cli.stub.requests)
    for wrong, says in (
        (("--before", "soon"), "--before"),
        (("--before", "2026-01-01 to 2026-01-31"), "--before is the period itself, January 2026"),
        (("--before", "2025", "--no-compare"), "contradict"),
    ):
        ended = cli("report", "2026-01", "-o", str(file), "--force", *wrong)
        assert (ended.status, len(cli.stub.requests)) == (2, sent)
        assert says in ended.err


@pytest.mark.parametrize(
    ("days", "every", "slices"),
    [
        (["--from", "2026-01-05", "--to", "2026-01-19"], "day", 14),
        (["--from", "2026-01-05", "--to", "2026-01-20"], "week", 3),
        (["--from", "2026-01-01", "--to", "2026-04-03"], "week", 14),
        (["--from", "2026-01-01", "--to", "2026-04-04"], "month", 4),
        ([*JANUARY, "--every", "none"], None, 0),
        # A slice of the whole is no trend.
        (["--from", "2026-01-05", "--to", "2026-01-06"], None, 0),
        # Two years and more are too much to ask for unasked.
        (["--from", "2024-01-01", "--to", "2026-01-01"], "month", 24),
        (["--from", "2023-01-01", "--to", "2026-01-01"], None, 0),
        (["--from", "0001-01-01", "--to", "9999-01-01"], None, 0),
    ],
)
def test_the_range_decides_the_length_of_the_slices(
    cli: Cli, file: Path, days: list[str], every: str | None, slices: int
) -> None:
    found = summary(cli, file, *days, "--no-compare")
    assert (found["every"], found["slices"]) == (every, slices)
    assert sum(limit == "1" for *_, limit in asked(cli.stub)) == slices
    assert found["requests"] == len(cli.stub.requests)
    assert ("trend" in found["left_out"]) == (every is None and "none" not in days)
    assert (found["comparison"], "What changed" in file.read_text(encoding="utf-8")) == (None, False)


@pytest.mark.parametrize(
    ("days", "why"),
    [
        (["--from", "2026-01-01"], "the first or the last day was not given"),
        (["--from", "2026-01-01T12:00", "--to", "2026-02-01"], "the period does not consist of whole days"),
    ],
)
def test_without_days_there_is_no_trend_and_no_comparison(
    cli: Cli, file: Path, days: list[str], why: str
) -> None:
    ended = cli("report", "-o", str(file), *days)
    assert ended.status == 0
    assert f"Left out: the trend, because {why}." in ended.err
    assert f"Left out: the pages that changed, because {why}." in ended.err
    assert file.read_text(encoding="utf-8").count(f"not shown, because {why}.") == 2
    for option in (["--before", "2025"], ["--every", "week"]):
        ended = cli("report", "-o", str(file), "--force", *days, *option)
        assert (ended.status, ended.out) == (2, "")
        assert f"{option[0]} needs a period such as 2026-01" in ended.err


@pytest.mark.parametrize(
    ("first", "why"), [(9, "the period has not begun"), (0, "only one day of the period has begun")]
)
def test_a_trend_of_days_to_come_is_left_out(cli: Cli, file: Path, first: int, why: str) -> None:
    day = datetime.now(UTC).date() + timedelta(days=first)
    ended = cli("report", "-o", str(file), "--from", str(day), "--to", str(day + timedelta(days=5)))
    assert ended.status == 0
    # The day may turn over meanwhile.
    assert f"Left out: the trend, because {why}." in ended.err or datetime.now(UTC).date() > day


def test_of_a_large_site_the_totals_are_compared_unasked(cli: Cli, file: Path) -> None:
    with StubServer(visitors=6_300) as stub:
        there = [*JANUARY, "--every", "none", "--base-url", stub.url]
        ended = cli("report", "-o", str(file), *there)
        # 26 for the rows, one for the totals of the month before.
        assert (ended.status, len(stub.requests)) == (0, 27)
        assert asked(stub)[-1] == ("2025-12-01", "2026-01-01", "1")
        why = "that takes 26 more requests, and --before was not given"
        assert ended.err.splitlines()[2:3] == [f"Left out: the pages that changed, because {why}."]
        html = file.read_text(encoding="utf-8")
        assert f"not shown, because {why}." in html
        assert "The number of readers rose by 8.5%: from" in html
        stub.reset()
        found = summary(cli, file, *there, "--before", "2025-12", "-n", "7")
        assert (found["requests"], found["left_out"]) == (52, {})
        assert len(found["comparison"]["risers"]) == 2


def test_of_a_large_site_the_totals_are_compared_also_if_the_store_has_the_pages(
    cli: Cli, file: Path
) -> None:
    with StubServer(visitors=6_300) as stub:
        there = ["--every", "none", "--base-url", stub.url, "--store", str(file.with_name("visitors.db"))]
        summary(cli, file, "2025-12", "--no-compare", *there)
        found = summary(cli, file, "2026-01", *there)
    assert found["left_out"] == {
        "comparison": "the period has more than 6,250 pages, and --before was not given"
    }
    assert (found["comparison"]["rows"], found["comparison"]["vanished"]) == (None, [])
    assert "The number of readers rose by 8.5%: from" in file.read_text(encoding="utf-8")


def test_a_range_that_has_not_ended_is_marked(cli: Cli, file: Path) -> None:
    today = datetime.now(UTC).date()
    summary(cli, file, "--from", str(today - timedelta(9)), "--to", str(today + timedelta(5)))
    html = file.read_text(encoding="utf-8")
    assert " had not ended when this report was made" in html
    assert "on may still change." in html


@pytest.mark.parametrize(
    ("part", "name", "left"),
    [
        ({"status": 429, "retry_after": 3600}, 4, "the request limit was reached"),
        ({"status": 422}, 1, "it could not be read (UnprocessableError)"),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_part_that_cannot_be_read_is_left_out_alone(
    cli: Cli, file: Path, part: dict[str, Any], name: int, left: str, named: bool
) -> None:
    """The exit code says so only if the part was asked for by name."""
    cli.stub.fail_next(status=200, body=body(("/a", 1)))
    cli.stub.fail_next(**part, times=7)
    more = ["--every", "week", "--before", "2025-12"] if named else []
    ended = cli("report", "-o", str(file), "--json", *JANUARY, *more)
    assert ended.status == (name if named else 0)
    found = json.loads(ended.out)
    assert found["left_out"] == {"trend": left, "comparison": left}
    assert found["rows"] == 1
    assert found["requests"] == len(cli.stub.requests)
    html = file.read_text(encoding="utf-8")
    assert html.count(f"not shown, because {left}.") == 2
    assert "/a" in html
    assert ("The report was written without this part" in ended.err) == named
    assert ended.err.count("Left out: ") == (0 if named else 2)


def test_with_a_store_it_costs_nothing_the_second_time(cli: Cli, file: Path, tmp_path: Path) -> None:
    days = [*JANUARY, "--store", str(tmp_path / "visitors.db")]
    first = summary(cli, file, *days)
    assert (first["requests"], first["left_out"]) == (13, {})
    cli.stub.reset()
    ended = cli("report", "-o", str(file), "--force", *days)
    assert ended.status == 0
    assert ended.err.splitlines()[0] == (
        "Requests: none for the pages of January 2026; none for the trend by week; none for the pages of December 2025."
    )
    assert "it took 0 requests" in ended.err
    again = summary(cli, file, *days)
    assert {**again, "requests": 13} == first
    assert cli.stub.requests == []


def test_a_budget_is_not_waited_for_unasked(cli: Cli, file: Path) -> None:
    # Four requests for the pages, five for the trend, four for the days before.
    found = summary(cli, file, *JANUARY, "--requests-per-hour", "8")
    assert found["left_out"] == {"trend": "too little of the request budget is left"}
    assert found["requests"] == len(cli.stub.requests) == 8


def test_a_budget_stops_a_part_that_was_asked_for(cli: Cli, file: Path) -> None:
    budget = ["--requests-per-hour", "7", "--on-budget", "stop"]
    ended = cli("report", "-o", str(file), "--json", *JANUARY, "--every", "week", "--no-compare", *budget)
    assert ended.status == 4
    found = json.loads(ended.out)
    assert found["left_out"] == {"trend": "the request limit was reached"}
    assert found["totals"] is not None
    assert "not shown, because the request limit was reached." in file.read_text(encoding="utf-8")
    # The range itself is not written in part.
    file.unlink()
    ended = cli("report", "-o", str(file), *JANUARY, "--requests-per-hour", "3", "--on-budget", "stop")
    assert (ended.status, file.exists()) == (4, False)


def test_warnings_say_where_they_come_from(cli: Cli, file: Path) -> None:
    cli.stub.fail_next(status=200, body=body(("/a", 100)))
    cli.stub.fail_next(status=200, body=body(("/b", 1), ("/b", 2)))
    found = summary(cli, file, *JANUARY, "--every", "none")
    assert [warning.split(":")[0] for warning in found["warnings"]] == ["in December 2025"]


def test_of_a_path_that_comes_twice_the_higher_counts_are_compared(cli: Cli, file: Path) -> None:
    for _ in range(2):
        cli.stub.fail_next(status=200, body=body(("/a", 90), ("/a", 100), ("/a", 1)))
    found = summary(cli, file, *JANUARY, "--every", "none")["comparison"]
    assert [found[kind] for kind in ("risers", "fallers", "new", "vanished")] == [[]] * 4


@pytest.mark.parametrize(
    ("lost", "named"),
    [
        (["/changelog/2026-01", "/guides/sso"], "/guides/sso"),
        (["/blog/2026/01/news"], "/blog/2026/01/news"),
        (["/v2026", "/guides/sso"], "/v2026"),
    ],
)
def test_the_advice_names_a_page_that_need_not_be_read_less(lost: list[str], named: str) -> None:
    fallers = [change(path, 90, 10) for path in lost]
    first = next(sentences.advice(made(comparison=comparison(fallers=fallers))))
    assert [part for part in first if isinstance(part, sentences.PagePath)] == [named]
