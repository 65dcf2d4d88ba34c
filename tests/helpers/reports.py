"""Makes reports to render, and reads their pages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

from docplatform import Totals
from docplatform.cli.report import figures

DATES = (date(2025, 12, 1), date(2026, 1, 1)), (date(2026, 1, 1), date(2026, 2, 1))
"""December and January."""


class Parsed(HTMLParser):
    """The page's elements, the texts of its table cells, what it says on hover, and all of its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        """The rows of each table, without its head, by the heading above it."""
        self.hovers: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self._heading = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "rect", "line", "circle", "polyline"):
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
            if "tbody" in self._open:
                self.tables.setdefault(self._heading, []).append(self.rows[-1])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("h2", "h3"):
            self._heading = ""
        if tag == "title" and "svg" in self._open:
            self.hovers.append("")
        if tag == "small":
            self.rows[-1][-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "title" and "svg" in self._open:
            self.hovers[-1] += data
            return
        if "style" in self._open:
            return
        self.text += data
        if "h2" in self._open or "h3" in self._open:
            self._heading += data
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data


def counted(path: str, human: int, ai: int) -> dict[str, Any]:
    """A row."""
    return {"path": path, "human": human, "ai": ai, "total": human + ai}


def made(**changes: Any) -> figures.Report:
    values: dict[str, Any] = {
        "project": "demo",
        "name": "January 2026",
        "days": 31,
        "made": datetime(2026, 2, 3, 4, 5, tzinfo=UTC),
        "pages": 2,
        "requests": {"the pages": 1},
        "totals": Totals(3, 2, 4),
        "top": [counted("/a", 3, 1)],
        "top_ai": [counted("/b", 1, 2)],
    }
    return figures.Report(**values | changes)


def trend(*counts: int, every: str = "day", first: date = date(2026, 1, 1), **more: Any) -> figures.Trend:
    days = [first + timedelta(at) for at in range(len(counts) + 1)]
    slices = [figures.Slice(*pair, count, 5, 12) for pair, count in zip(pairwise(days), counts, strict=True)]
    return figures.Trend(every=every, slices=slices, **more)


def change(path: str, before: int, now: int) -> figures.Change:
    """A page that only people read."""
    return figures.Change(path, Totals(before, 0, before), Totals(now, 0, now))


def comparison(**changes: Any) -> figures.Comparison:
    values: dict[str, Any] = {
        "name": "December 2025",
        "dates": DATES,
        "rows": 9,
        "totals": Totals(2, 1, 2),
    }
    return figures.Comparison(**values | changes)


def headings(html: str) -> list[str]:
    return re.findall("<h2>(.*?)</h2>", html)
