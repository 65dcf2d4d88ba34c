"""Reports to be rendered, and what is on their pages."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

from docplatform import Totals
from docplatform.cli.report import chart, page, rising


class Parsed(HTMLParser):
    """The page's elements, the texts of its table cells, and all of its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self.rows[-1][-1] += data


def made(**changes: Any) -> page.Report:
    values: dict[str, Any] = {
        "project": "demo",
        "date_from": "2026-01-01",
        "date_to": "2026-02-01",
        "made": datetime(2026, 2, 3, 4, 5, tzinfo=UTC),
        "pages": 2,
        "requests": {"the pages": 1},
        "totals": Totals(3, 2, 4),
        "top": [{"path": "/a", "human": 3, "ai": 1, "total": 4}],
        "top_ai": [{"path": "/b", "human": 1, "ai": 2, "total": 2}],
    }
    return page.Report(**values | changes)


def trend(*counts: int, every: str = "day", first: date = date(2026, 1, 1), **more: Any) -> chart.Trend:
    days = [first + timedelta(at) for at in range(len(counts) + 1)]
    slices = [chart.Slice(*pair, count, 5, 12) for pair, count in zip(pairwise(days), counts, strict=True)]
    return chart.Trend(every=every, slices=slices, **more)


def comparison(*rows: rising.Rising, **changes: Any) -> rising.Comparison:
    values: dict[str, Any] = {
        "date_from": date(2025, 12, 1),
        "date_to": date(2026, 1, 1),
        "pages": 9,
        "totals": Totals(2, 1, 2),
        "rows": rows,
    }
    return rising.Comparison(**values | changes)


def headings(html: str) -> list[str]:
    return re.findall("<h2>(.*?)</h2>", html)
