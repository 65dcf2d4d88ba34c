"""The trend and the comparison of ``docplatform report``: what they cost, and what the page says without them."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from docplatform import ConfigurationError
from docplatform.cli.days import beside
from docplatform.cli.report import parts, sentences
from docplatform.testing import StubServer
from helpers.cli import Cli
from helpers.reports import Parsed, change, comparison, headings, made

DAYS = ["--from", "2026-01-01", "--to", "2026-02-01"]
JANUARY = [*DAYS, "--no-feedback"]
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

    days, against = beside("2026-01-01", "2026-02-01")
    asked = parts.Asked(days=days, against=against, number=1)
    with pytest.raises(ConfigurationError):
        parts.plan(None, Failing(), asked)  # type: ignore[arg-type]  # all of a client that it takes


def test_a_range_has_a_trend_and_is_compared_with_the_days_before(cli: Cli, file: Path) -> None:
    cli.stub.fail_next(status=200, body=body(("/a", 100), ("/new", 40), ("/gone", 5)))
    cli.stub.fail_next(status=200, body=body(("/a", 10), ("/gone", 50)))
    cli.stub.fail_next(status=200, body=body(), times=12)
    ended = cli("report", "-o", str(file), *JANUARY)
    assert (ended.status, ended.out) == (0, "")
    assert asked(cli.stub) == [
        ("2026-01-01", "2026-02-01", "250"),
        ("2025-12-01", "2026-01-01", "250"),
        *((f"2025-{month:02}-01", f"2025-{month + 1:02}-01", "1") for month in range(2, 12)),
        ("2025-12-01", "2026-01-01", "1"),
        ("2026-01-01", "2026-02-01", "1"),
    ]
    cost = "14 requests: 1 for the pages, 1 for the pages that changed, 12 for the trend"
    assert ended.err.splitlines() == [
        "Requests: one for each 250 pages of January 2026; one for each 250 pages of December 2025; 12 for the trend by month.",
        "Reading visitors",
        "Reading December 2025",
        "Reading the trend by month",
        f"Wrote {file} (3 pages of the site, 14 requests)",
    ]
    html = file.read_text(encoding="utf-8")
    parsed = Parsed(html)
    assert {"The trend", "What changed"} <= set(headings(html))
    assert parsed.tables["Risers"] == [["/a", "10", "100", "+90 +900%"]]
    assert parsed.tables["Fallers"] == [["/gone", "50", "5", "\u221245 \u221290%"]]
    assert parsed.tables["New pages (1)"] == [["/new", "40"]]
    assert cost in parsed.text


def test_it_can_be_compared_with_any_period(cli: Cli, file: Path) -> None:
    found = summary(cli, file, "2026-01", "--before", "2025-01", "--every", "none", "--no-feedback")
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
        (("--before", "2026-02"), "--before has to be over when the period begins, and February 2026 is not"),
    ):
        ended = cli("report", "2026-01", "-o", str(file), "--force", *wrong)
        assert (ended.status, len(cli.stub.requests)) == (2, sent)
        assert says in ended.err


@pytest.mark.parametrize(
    ("days", "every", "slices"),
    [
        (["--from", "2026-01-05", "--to", "2026-01-19"], "month", 12),
        (["--from", "2025-01-05", "--to", "2026-01-05"], "month", 13),
        ([*DAYS, "--every", "day"], "day", 31),
        ([*DAYS, "--every", "week"], "week", 5),
        ([*DAYS, "--every", "month"], "month", 12),
        ([*JANUARY, "--every", "none"], None, 0),
        (["--from", "2026-01-05", "--to", "2026-01-06"], "month", 12),
        # A slice of the whole is no trend.
        (["--from", "2026-01-05", "--to", "2026-01-06", "--every", "day"], None, 0),
        # More than two years are too much to ask for unasked.
        (["--from", "2024-01-01", "--to", "2026-01-01"], "month", 24),
        (["--from", "2023-01-01", "--to", "2026-01-01"], None, 0),
        (["--from", "0001-01-01", "--to", "9999-01-01"], None, 0),
    ],
)
def test_a_trend_is_of_twelve_months_at_least_unless_a_length_is_given(
    cli: Cli, file: Path, days: list[str], every: str | None, slices: int
) -> None:
    found = summary(cli, file, *days, "--no-compare", "--no-feedback")
    assert (found["every"], found["slices"]) == (every, slices)
    assert sum(limit == "1" for *_, limit in asked(cli.stub)) == slices
    assert found["requests"] == len(cli.stub.requests)
    assert ("trend" in found["left_out"]) == (every is None and "none" not in days)
    assert (found["comparison"], "What changed" in file.read_text(encoding="utf-8")) == (None, False)


@pytest.mark.parametrize(
    ("first", "more", "why"),
    [
        (900, [], "the period has not begun"),
        (0, ["--every", "day"], "only one day of the period has begun"),
    ],
)
def test_a_trend_of_days_to_come_is_left_out(
    cli: Cli, file: Path, first: int, more: list[str], why: str
) -> None:
    day = datetime.now(UTC).date() + timedelta(days=first)
    days = ["--from", str(day), "--to", str(day + timedelta(days=5))]
    ended = cli("report", "-o", str(file), *days, *more)
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
        why = "because that takes about 26 more requests."
        options = "--before 2025-12 --no-feedback --every none"
        command = f"docplatform report 2026-01 {options} -o report.html --force --base-url {stub.url}"
        cost = "about 26 requests more than this report"
        assert ended.err.splitlines()[2] == f"Left out: the pages that changed, {why}"
        here = command.replace("report.html", str(file))
        assert ended.err.splitlines()[-1] == f"To add the pages that changed ({cost}): {here}"
        html = file.read_text(encoding="utf-8")
        assert f"It is not known which pages changed, {why}" in html
        assert f"It takes {cost}:<code>{command}</code>" in html
        # A manager reads no options but those of a command.
        assert "--" not in re.sub("<style>.*?</style>|<code>.*?</code>", "", html, flags=re.DOTALL)
        assert "The number of readers rose by 8.5%: from" in html
        stub.reset()
        found = summary(cli, file, *there, "--before", "2025-12", "-n", "7")
        assert (found["requests"], found["left_out"]) == (52, {})
        assert len(found["comparison"]["risers"]) == 2


def test_of_a_large_site_the_pages_are_compared_if_the_store_has_them(cli: Cli, file: Path) -> None:
    with StubServer(visitors=6_300) as stub:
        there = ["--every", "none", "--base-url", stub.url, "--store", str(file.with_name("visitors.db"))]
        there += ["--no-feedback", "--requests-per-hour", "30"]
        summary(cli, file, "2025-12", "--no-compare", *there)
        # The budget has room for a part of January alone, so what is missing of it has to wait.
        line = ("report", "2026-01", "-o", str(file), "--force", "--on-budget", "stop", *there)
        assert cli(*line).status == 4
        there[-1] = "70"
        found = summary(cli, file, "2026-01", *there)
        assert (found["left_out"], found["comparison"]["rows"]) == ({}, 6_300)
        assert len(found["comparison"]["risers"]) == 2
        # The month before that is not in the store: the command is named, with its requests and its hours.
        there[-1] = "60"
        found = summary(cli, file, "2025-12", *there)
    assert found["left_out"] == {"comparison": "too little of the request budget is left"}
    html = file.read_text(encoding="utf-8")
    assert (
        "It takes about 26 requests, about 1 hour:<code>docplatform report 2025-12 --before 2025-11 " in html
    )
    assert "The number of readers" in html


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
        ({"status": 422}, 1, "the numbers could not be read"),
        ({"status": 403}, 3, "the API key may not read the numbers"),
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
    assert (found["error"] is not None) == named
    assert found["rows"] == 1
    assert found["requests"] == len(cli.stub.requests)
    html = file.read_text(encoding="utf-8")
    assert f"Not shown, because {left}." in html
    assert f"It is not known which pages changed, because {left}." in html
    assert "/a" in html
    assert ("The report was written without this part" in ended.err) == named
    assert ended.err.count("Left out: ") == (0 if named else 2)


def test_with_a_store_it_costs_nothing_the_second_time(cli: Cli, file: Path, tmp_path: Path) -> None:
    days = [*JANUARY, "--store", str(tmp_path / "visitors.db")]
    first = summary(cli, file, *days)
    assert (first["requests"], first["left_out"]) == (18, {})
    cli.stub.reset()
    ended = cli("report", "-o", str(file), "--force", *days)
    assert ended.status == 0
    assert ended.err.splitlines()[0] == (
        "Requests: none for the pages of January 2026; none for the pages of December 2025; none for the trend by month."
    )
    assert "(1,000 pages of the site, 0 requests)" in ended.err
    again = summary(cli, file, *days)
    assert {**again, "requests": 18} == first
    assert cli.stub.requests == []
    # Of the twelve months of the next report's trend, one is new. Its totals come with its pages.
    february = summary(cli, file, "2026-02", "--store", str(tmp_path / "visitors.db"), "--no-feedback")
    assert february["slices"] == 12
    assert {day for day, _, limit in asked(cli.stub)} == {"2026-02-01"}
    assert not any(limit == "1" for *_, limit in asked(cli.stub))


def test_a_budget_is_not_waited_for_unasked(cli: Cli, file: Path) -> None:
    # Four requests for the pages, four for the days before, twelve for the trend.
    found = summary(cli, file, *JANUARY, "--requests-per-hour", "8")
    assert found["left_out"] == {"trend": "too little of the request budget is left"}
    assert found["requests"] == len(cli.stub.requests) == 8


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
    ("lost", "gone", "named"),
    [
        (["/changelog/2026-01", "/guides/sso"], ["/changelog/2025-12"], [["/guides/sso"]]),
        (["/blog/2026/01/news"], ["/old"], [["/old"]]),
        (["/v2026", "/guides/sso"], ["/a", "/b"], [["/v2026"], ["/a", "/b"]]),
        ([], [], []),
    ],
)
def test_the_advice_names_no_page_of_a_month_that_is_over(
    lost: list[str], gone: list[str], named: list[list[str]]
) -> None:
    fallers, vanished = [change(path, 90, 10) for path in lost], [change(path, 90, 0) for path in gone]
    found = sentences.advice(made(comparison=comparison(fallers=fallers, vanished=vanished)))
    pages = [sorted(part for part in one if isinstance(part, sentences.PagePath)) for one in found]
    assert pages == named


def test_what_readers_stumble_over_is_read_unless_its_listings_are_missing(cli: Cli, file: Path) -> None:
    with StubServer() as stub:
        there = ["2026-10", "--every", "none", "--base-url", stub.url]
        found = summary(cli, file, *there)
        asked_for = [request.path.rsplit("/", 1)[-1] for request in stub.requests]
        assert found["fixes"][0]["path"] == "/guides/deployment"
        assert {"evidence", "prompt"}.isdisjoint(found["fixes"][0]), "a summary quotes nobody"
        # The visitors are not read a second time.
        assert asked_for.count("visitors") == 8
        command = f"docplatform fix 2026-10 --run /guides/deployment --store docs.db --base-url {stub.url}"
        assert f"<code>{command}</code>" in file.read_text(encoding="utf-8")
        stub.fail_next(status=403, path="/feedback/by-page")
        assert summary(cli, file, *there)["warnings"] == [
            "feedback_by_page: the key may not read this listing (403)"
        ]
        assert "feedback_by_page: the key may not read" in file.read_text(encoding="utf-8")
        stub.fail_next(status=404, times=99, path="feedback")
        found = summary(cli, file, *there)
    assert found["left_out"] == {"fixes": "the numbers could not be read"}
    says = "not shown what readers stumble over, because the numbers could not be read. Write the report again later."
    assert says in file.read_text(encoding="utf-8")
    assert "docplatform fix" not in file.read_text(encoding="utf-8")
    assert "look at this page first" in file.read_text(encoding="utf-8")


def offered(err: str) -> tuple[str, list[str]]:
    """What the command costs that adds the parts that are left out, and its words. It is printed once."""
    ((cost, line),) = re.findall(r"^To add .*? \((.*?)\): docplatform (.*)", err, re.MULTILINE)
    return cost, shlex.split(line)


# With 12 requests, the budget ends while the report reads what readers say.
@pytest.mark.parametrize(
    ("budget", "parts"), [(6, {"comparison", "fixes", "trend"}), (12, {"fixes", "trend"})]
)
def test_the_command_that_the_report_names_adds_all_parts(
    cli: Cli, file: Path, tmp_path: Path, budget: int, parts: set[str]
) -> None:
    file = file.with_suffix(".md")
    with StubServer() as stub:
        there = ["--base-url", stub.url, "--store", str(tmp_path / "docs.db")]
        limit = ["--requests-per-hour", str(budget)]
        ended = cli("report", "2026-10", "-o", str(file), *there, *limit, "--json")
        assert set(json.loads(ended.out)["left_out"]) == parts
        assert "--on-budget" not in ended.err
        cost, words = offered(ended.err)
        # Its cost is the one that its dry run names.
        dry = json.loads(cli(*words, "--dry-run", "--json").out)
        hours = f"{dry['hours']} hour{'s' * (dry['hours'] > 1)}"
        assert cost == f"at least {dry['requests']} requests, about {hours}"
        text = file.read_text(encoding="utf-8")
        # To do, and at the trend.
        assert text.count(f"It takes {cost}, with the other parts that are left out:") == 2
        # With the budget it would wait.
        at = words.index(limit[0])
        ended = cli(*words[:at], *words[at + 2 :], "--json")
        assert (ended.status, json.loads(ended.out)["left_out"]) == (0, {})


def test_a_trend_that_fits_after_the_other_parts_is_shown(cli: Cli, file: Path, tmp_path: Path) -> None:
    with StubServer() as stub:
        there = ["--base-url", stub.url, "--store", str(tmp_path / "docs.db")]
        # 13 for the other parts, and ten for the trend, because two of its months came with them.
        found = summary(cli, file, "2026-10", *there, "--requests-per-hour", "23")
        assert (found["left_out"], found["slices"], len(stub.requests)) == ({}, 12, 23)


def test_without_a_store_one_command_adds_all_parts(cli: Cli, file: Path) -> None:
    with StubServer(visitors=7_000) as stub:
        ended = cli(
            "report", "2022-01-01 to 2024-12-31", "-o", str(file), "--no-feedback", "--base-url", stub.url
        )
        assert ended.err.count("Left out: ") == 2
        cost, words = offered(ended.err)
        assert cost == "about 64 requests more than this report"
        stub.reset()
        ended = cli(*words, "--json")
        assert (ended.status, json.loads(ended.out)["left_out"]) == (0, {})


def test_without_a_store_the_command_keeps_the_parts_that_fit_into_the_budget(cli: Cli, file: Path) -> None:
    with StubServer(visitors=7_000) as stub:
        limit = ("--requests-per-hour", "50")
        ended = cli("report", "2024-01", "-o", str(file), "--base-url", stub.url, *limit)
    assert ended.err.count("Left out: ") == 1
    _, words = offered(ended.err)
    assert words[2:7] == ["--before", "2023-12", "--feedback", "--every", "month"]


def test_the_command_on_stderr_names_the_same_file_and_the_same_key(cli: Cli, tmp_path: Path) -> None:
    file, key, bundle = tmp_path / "out" / "r.html", tmp_path / "key", tmp_path / "ca.pem"
    file.parent.mkdir()
    key.write_text(cli.stub.api_key, encoding="utf-8")
    key.chmod(0o600)
    trustme.CA().cert_pem.write_to_path(str(bundle))
    secret = ("--api-key-file", str(key), "--ca-bundle", str(bundle))
    ended = cli("report", "2026-10", "-o", str(file), "--no-feedback", "--requests-per-hour", "12", *secret)
    _, words = offered(ended.err)
    assert words[words.index("-o") :][:3] == ["-o", str(file), "--force"]
    assert words[words.index("--api-key-file") + 1] == str(key)
    assert words[words.index("--ca-bundle") + 1] == str(bundle)
    # The report is sent to others.
    (line,) = re.findall("<code>(docplatform report .*?)</code>", file.read_text(encoding="utf-8"))
    assert " -o r.html --force " in line
    assert "--api-key-file" not in line
    assert f"--ca-bundle {bundle}" in line
