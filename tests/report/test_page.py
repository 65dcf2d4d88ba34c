"""The report's page as HTML: what is on it, and that every foreign text is escaped."""

from __future__ import annotations

import html as html_
import re
from datetime import date
from itertools import pairwise
from typing import Any

import pytest

from docplatform import Totals
from docplatform.cli.report import chart, page, rising
from docplatform.cli.report.top import Top
from helpers.reports import Parsed, comparison, headings, made, trend

EVIL = "<script>alert(1)</script>\"'&</style></title>\u202e\x1b[31m"

# -- foreign text ----------------------------------------------------------------------------------


@pytest.mark.row("J7")
def test_every_value_is_escaped() -> None:
    row = {"path": EVIL, "human": 1, "ai": 1, "total": 1}
    evil = made(
        project=EVIL,
        date_from=EVIL,
        date_to=EVIL,
        top=[row],
        top_ai=[row],
        warnings=[EVIL],
        trend=trend(1, 2, open_from=EVIL),
        rising=comparison(rising.Rising(EVIL, 1, 2)),
        left_out={"trend": EVIL, "rising": EVIL},
    )
    html = page.render(evil)
    parsed = Parsed(html)
    # The same elements as for a harmless one, and every text as it came.
    harmless = page.render(
        made(
            warnings=["x"],
            trend=trend(1, 2, open_from="x"),
            rising=comparison(rising.Rising("x", 1, 2)),
            top_ai=made().top,
        )
    )
    assert [tag for tag, _ in parsed.elements] == [tag for tag, _ in Parsed(harmless).elements]
    assert parsed.text.count("<script>alert(1)</script>\"'&</style></title>") == 12
    missing = page.render(made(left_out={"trend": EVIL, "rising": EVIL}))
    assert Parsed(missing).text.count("<script>alert(1)") == 2
    assert "<script" not in missing
    assert all(c.isprintable() or c == "\n" for c in html)
    assert html_.escape("<script>") in html
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)


@pytest.mark.row("J7")
def test_the_page_loads_nothing_and_its_policy_allows_the_style_alone() -> None:
    """What a browser makes of it is in test_browser.py, for machines that have one."""
    html = page.render(made())
    elements = Parsed(html).elements
    assert not {"script", "link", "img", "iframe", "object", "base", "form", "a"} & {
        tag for tag, _ in elements
    }
    assert not any({"src", "href", "style"} & set(attributes) for _, attributes in elements)
    assert not re.search(r"url\(|@import", html)
    allowed = "default-src 'none'; style-src 'sha256-[^ ']{43}='; base-uri 'none'; form-action 'none'"
    assert re.search(f'http-equiv="Content-Security-Policy" content="{allowed}"', html)


# -- what is on it ---------------------------------------------------------------------------------


def test_a_missing_part_says_why_and_an_unwanted_one_nothing() -> None:
    parts = {"The trend", "Rising pages"}
    assert not parts & set(headings(page.render(made())))
    html = page.render(made(left_out={"trend": "so it is", "rising": "just because"}))
    assert parts <= set(headings(html))
    assert "Not shown: so it is." in html
    assert "Not shown: just because." in html
    empty = page.render(
        made(date_from=None, date_to=None, totals=Totals(0, 0, 0), top=[], top_ai=[], pages=0)
    )
    text = Parsed(empty).text
    assert "where none are named" in text
    assert text.count("No page had a visitor.") == 2
    assert "NaN" not in empty


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
        *(f"2026-01-0{day}" for day in range(1, 6)),
    ]
    assert ["2026-01-02", "20", "5", "12"] in parsed.rows
    assert "They do not add up: the whole range has 4." in parsed.text
    assert "From 2026-01-04 on the counts may still change." in parsed.text
    assert "hollow" not in parsed.text
    assert [a for tag, a in parsed.elements if tag == "circle" and "cut" in str(a["class"])] == []


def test_slices_that_are_cut_are_hollow() -> None:
    # From a Thursday on; the last week ends with its Sunday.
    starts = [date(2026, 1, day) for day in (1, 5, 12, 19)]
    weeks = [chart.Slice(*days, 7, 5, 9) for days in pairwise(starts)]
    parsed = Parsed(page.render(made(trend=chart.Trend(every="week", slices=weeks))))
    hollow = [a["cx"] for tag, a in parsed.elements if tag == "circle" and "cut" in str(a["class"])]
    assert hollow == ["2.00%", "2.00%"]
    assert ["2026-01-01 to 2026-01-04 (cut)", "7", "5", "9"] in parsed.rows
    assert ["2026-01-12 to 2026-01-18", "7", "5", "9"] in parsed.rows
    assert "a hollow point has fewer days than the others" in parsed.text
    months = [
        chart.Slice(date(2026, 1, 1), date(2026, 2, 1), 1, 1, 1),
        chart.Slice(date(2026, 2, 1), date(2026, 2, 28), 1, 1, 1),
    ]
    found = chart.Trend(every="month", slices=months)
    assert [found.cut(one) for one in months] == [False, True]


@pytest.mark.parametrize(
    ("most", "labels"),
    [
        (5, ["0", "1", "2", "3", "4", "5"]),
        (11, ["0", "5", "10", "15"]),
        (25_000, ["0", "5,000", "10k", "15k", "20k", "25k"]),
        (1_500_000, ["0", "500k", "1M", "1.5M"]),
        (2**63 - 1, [f"{n and f'{n},000,000,000,000M'}" for n in (0, 2, 4, 6, 8, 10)]),
    ],
)
def test_the_grid_has_round_numbers(most: int, labels: list[str]) -> None:
    html = page.render(made(trend=trend(most, 0)))
    found = re.findall("<text [^>]*>(.*?)</text>", html)
    assert found[:-2] == labels


def test_a_trend_without_visitors_is_a_flat_line() -> None:
    days = [date(2026, 1, day) for day in (1, 2, 3)]
    slices = [chart.Slice(*pair, 0, 0, 0) for pair in pairwise(days)]
    parsed = Parsed(page.render(made(trend=chart.Trend(every="day", slices=slices), totals=Totals(0, 0, 0))))
    lines = {a["points"] for tag, a in parsed.elements if tag == "polyline"}
    assert lines == {"2.00,86.00 98.00,86.00"}


def test_the_table_of_a_long_trend_is_folded() -> None:
    parsed = Parsed(page.render(made(trend=trend(*range(400)))))
    assert [tag for tag, _ in parsed.elements if tag == "circle"] == []
    assert [a for tag, a in parsed.elements if tag == "details"] == [{}]
    short = Parsed(page.render(made(trend=trend(1, 2))))
    assert [a for tag, a in short.elements if tag == "details"] == [{"open": None}]


def test_rising_pages_show_before_now_and_gain() -> None:
    found = comparison(
        rising.Rising("/new", 0, 1_000), rising.Rising("/old", 100, 130), rising.Rising("/up", 1, 99)
    )
    parsed = Parsed(page.render(made(rising=found)))
    assert ["/new", "0", "1,000", "+1,000", "new"] in parsed.rows
    assert ["/old", "100", "130", "+30", "+30%"] in parsed.rows
    assert ["/up", "1", "99", "+98", ">999%"] in parsed.rows
    assert "over the 31 days before (2025-12-01 up to, not including, 2026-01-01)" in parsed.text
    assert "The whole site had 2 visitors then, and 4 now (+100%)." in parsed.text
    for not_said in ("Compared were", "had not ended", "nothing to compare"):
        assert not_said not in parsed.text
    widths = [a["width"] for tag, a in parsed.elements if tag == "rect" and a["class"] in ("before", "now")]
    assert widths == ["0.00", "100.00", "10.00", "13.00", "0.10", "9.90"]


def test_an_incomplete_comparison_says_so() -> None:
    def said(**changes: Any) -> str:
        return Parsed(page.render(made(rising=comparison(**changes)))).text

    assert "No page gained more than chance may bring." in said()
    assert "Compared were the 20,000 most read pages." in said(whole=False)
    assert "its pages had fewer days than those before" in said(unfinished=True)
    assert "There is nothing to compare with" in said(pages=0, totals=Totals(0, 0, 0))
    # Nothing is divided by it.
    assert "The whole site had 0 visitors then, and 4 now." in said(totals=Totals(0, 0, 0))


def test_rising_pages_are_those_that_gain_most_beyond_chance() -> None:
    before = {"/busy": 1_000, "/quiet": 2, "/less": 500, "/same": 100, "/noise": 1_000}
    now = {"/busy": 1_200, "/quiet": 9, "/less": 400, "/same": 100, "/noise": 1_080, "/new": 50, "/one": 1}
    found = rising.risen(before, now, 10)
    assert [(page.path, page.gain) for page in found] == [("/busy", 200), ("/new", 50), ("/quiet", 7)]
    assert [page.path for page in rising.risen(before, now, 1)] == ["/busy"]
    assert rising.risen({}, {}, 3) == []


def test_the_top_rows_are_those_of_all_and_ties_keep_the_first() -> None:
    top: Top[str] = Top(3)
    for at, count in enumerate([5, 1, 9, 5, 9, 5]):
        top.add(count, f"/{at}")
    assert top.ranked() == [(9, "/2"), (9, "/4"), (5, "/0")]
    assert top.seen == 6
    nothing: Top[str] = Top(0)
    nothing.add(1, "/")
    assert nothing.ranked() == []
