"""The trend on the report's page: its lines, what they leave out, and their table."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

import pytest

from docplatform.cli.report import figures, page
from helpers.reports import Parsed, made, trend


def test_a_trend_is_two_lines_and_a_table() -> None:
    days = trend(10, 20, 30, 20, 10, open_from=date(2026, 1, 4))
    html = page.render(made(trend=days))
    parsed = Parsed(html)
    lines = [a["points"] for tag, a in parsed.elements if tag == "polyline"]
    assert lines == [
        "2.00,59.33 26.00,32.67 50.00,6.00 74.00,32.67 98.00,59.33",
        "2.00,72.67 26.00,72.67 50.00,72.67 74.00,72.67 98.00,72.67",
    ]
    assert re.findall("<text [^>]*>(.*?)</text>", html) == [
        *("0", "10", "20", "30"),
        *(f"{day} Jan" for day in range(1, 6)),
    ]
    assert ["2 January 2026", "20", "5", "12"] in parsed.tables["The trend"]
    assert "2 January 2026: 20 people, 5 AI agents, 12 in all" in parsed.hovers
    assert "Points do not add up: a visitor who comes in two days counts in both." in parsed.text
    assert "Counts from 2026-01-04 on may still change." in parsed.text
    assert "The service decides which visitors are AI agents" in parsed.text
    assert "A hollow point" not in parsed.text
    assert [a for tag, a in parsed.elements if tag == "circle" and "cut" in str(a["class"])] == []


def test_slices_that_are_cut_are_off_the_line_and_marked() -> None:
    # From a Thursday on; the last week ends with its Sunday.
    starts = [date(2026, 1, day) for day in (1, 5, 12, 19)]
    weeks = [figures.Slice(*days, 7, 5, 9) for days in pairwise(starts)]
    parsed = Parsed(page.render(made(trend=figures.Trend(every="week", slices=weeks))))
    hollow = [a["cx"] for tag, a in parsed.elements if tag == "circle" and "cut" in str(a["class"])]
    assert hollow == ["2.00%", "2.00%"]
    lines = [str(a["points"]).split(",")[0] for tag, a in parsed.elements if tag == "polyline"]
    assert lines == ["50.00", "50.00"]
    assert ["1 to 4 January 2026 (4 of 7 days)", "7", "5", "9"] in parsed.rows
    assert ["week 3 of 2026 (from 12 January)", "7", "5", "9"] in parsed.rows
    assert "The period begins or ends in the middle of a week. A hollow point covers less time" in parsed.text
    months = [
        figures.Slice(date(2026, 1, 1), date(2026, 2, 1), 1, 1, 1),
        figures.Slice(date(2026, 2, 1), date(2026, 2, 28), 1, 1, 1),
    ]
    found = figures.Trend(every="month", slices=months)
    assert [found.named(one) for one in months] == ["January 2026", "1 to 27 February 2026 (27 of 28 days)"]


def test_a_slice_that_is_not_over_is_off_the_line_and_marked() -> None:
    days = trend(10, 20, 5, running=[date(2026, 1, 4)])
    parsed = Parsed(page.render(made(trend=days)))
    hollow = [a["cx"] for tag, a in parsed.elements if tag == "circle" and "cut" in str(a["class"])]
    assert hollow == ["98.00%", "98.00%"]
    assert ["3 January 2026 (not over)", "5", "5", "12"] in parsed.tables["The trend"]
    assert (
        "The last day was not over when this report was made. A hollow point covers less time" in parsed.text
    )


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (5, ["0", "1", "2", "3", "4", "5"]),
        (11, ["0", "5", "10", "15"]),
        (25_000, ["0", "5,000", "10k", "15k", "20k", "25k"]),
        (1_500_000, ["0", "500k", "1M", "1.5M"]),
        (2_500_000_000, ["0", "500M", "1B", "1.5B", "2B", "2.5B"]),
    ],
)
def test_the_grid_has_round_numbers(most: int, labels: list[str]) -> None:
    html = page.render(made(trend=trend(most, 0)))
    found = re.findall("<text [^>]*>(.*?)</text>", html)
    assert found[:-2] == labels


def test_the_table_of_a_long_trend_is_folded() -> None:
    parsed = Parsed(page.render(made(trend=trend(*range(400)))))
    assert [tag for tag, _ in parsed.elements if tag == "circle"] == []
    assert [a for tag, a in parsed.elements if tag == "details"] == [{}]
    short = Parsed(page.render(made(trend=trend(1, 2))))
    assert [a for tag, a in short.elements if tag == "details"] == [{"open": None}]


def test_a_year_has_the_month_of_the_report_shaded() -> None:
    firsts = [date(2025 + at // 12, at % 12 + 1, 1) for at in range(1, 14)]
    slices = [figures.Slice(*pair, 7, 5, 9) for pair in pairwise(firsts)]
    year = figures.Trend(every="month", slices=slices, period=(firsts[-2], firsts[-1]))
    html = page.render(made(trend=year))
    parsed = Parsed(html)
    assert [a["x"] for tag, a in parsed.elements if a.get("class") == "this"] == ["93.64%"]
    assert ["January 2026 (this report)", "7", "5", "9"] in parsed.tables["The trend"]
    assert parsed.text.count("(this report)") == 1
    assert "The month of this report is shaded." in parsed.text
    # A longer report has several of them, and a shorter one a part of one.
    for period, facts in {
        (firsts[-3], firsts[-1]): ["part of this report"] * 2,
        (firsts[-2], date(2026, 1, 8)): ["has days of this report"],
    }.items():
        other = figures.Trend(every="month", slices=slices, period=period)
        text = Parsed(page.render(made(trend=other))).text
        assert re.findall(r"\((.*? this report)\)", text) == facts
        assert (
            "The 2 months of this report are" if len(facts) > 1 else "The month of this report is"
        ) in text
    # The report's month has a label, every second one before it back to May, and the first.
    assert re.findall("<text [^>]*>([A-Z][^<]*)</text>", html) == [
        *("Feb 25", "May 25", "Jul 25", "Sep 25", "Nov 25", "Jan 26"),
    ]
