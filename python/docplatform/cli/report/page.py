"""The report's page: one file, without scripts, that loads nothing. Every value is escaped."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import docplatform
from docplatform.cli.report import chart, rising
from docplatform.cli.report.markup import KEY, KINDS, account, bars, cell, section, table, text
from docplatform.cli.report.parts import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from docplatform import Totals


@dataclass(kw_only=True)
class Report:
    """What the page shows."""

    project: str
    date_from: str | None
    date_to: str | None
    made: datetime
    """When it was asked for, in UTC."""
    pages: int = 0
    """How many pages had visitors."""
    requests: dict[str, int] = field(default_factory=dict)
    """How many each part took."""
    totals: Totals | None = None
    top: Sequence[dict[str, Any]] = ()
    """The pages that most visitors read, the first one ahead."""
    top_ai: Sequence[dict[str, Any]] = ()
    """The same for AI agents."""
    warnings: list[str] = field(default_factory=list)
    trend: chart.Trend | None = None
    rising: rising.Comparison | None = None
    left_out: Mapping[Part, str] = field(default_factory=dict)
    """Why the trend or the rising pages are missing, where they were not unwanted."""


def render(report: Report) -> str:
    """The page."""
    style = files("docplatform.cli.report").joinpath("page.css").read_text(encoding="utf-8")
    # The hash allows this style and no other; nothing else is allowed at all.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    trend = chart.show(report.trend, report.totals) if report.trend is not None else ""
    risen = rising.show(report.rising, report.totals) if report.rising is not None else ""
    parts = [
        "<header>",
        "<h1>Who reads the docs</h1>",
        f'<p class="quiet">{text(report.project)}, {_days(report)}</p>',
        "</header>",
        "<main>",
        _totals(report.totals),
        _part(report, Part.TREND, "The trend", trend),
        _top("The most read pages", report.top, "total"),
        _part(report, Part.RISING, "Rising pages", risen),
        _top("What AI agents read most", report.top_ai, "ai"),
        _reading(),
        _asked(report),
        "</main>",
    ]
    body = "\n".join(part for part in parts if part)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Who reads the docs: {text(report.project)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _days(report: Report) -> str:
    if not (report.date_from or report.date_to):
        return "the days that the service takes where none are named"
    return f"from {text(report.date_from or 'the first day')} up to, not including, {text(report.date_to or 'now')}"


def _totals(totals: Totals | None) -> str:
    if totals is None:
        return ""
    tiles = "".join(
        f'<div class="{kind}"><dt>{name}</dt><dd>{getattr(totals, kind):,}</dd></div>'
        for kind, name in KINDS.items()
    )
    most = max(totals)
    return (
        f'<section><dl class="tiles">{tiles}</dl>{_pair(totals.human, totals.ai, most)}'
        f"<p>Of {totals.total:,} unique visitors of the whole site, {totals.human:,} were seen as people and "
        f"{totals.ai:,} as AI agents. A visitor seen as both is in both.</p></section>"
    )


def _top(title: str, rows: Sequence[dict[str, Any]], by: str) -> str:
    if not rows:
        return section(title, "<p>No page had a visitor.</p>")
    most = max(max(row["human"], row["ai"]) for row in rows)
    listed = [
        f'<th scope="row"><bdi>{text(row["path"])}</bdi>{_pair(row["human"], row["ai"], most)}</th>'
        + "".join(cell(row[kind]) for kind in KINDS)
        for row in rows
    ]
    return section(title, KEY + table(("Page", *KINDS.values()), listed), f"top-{by}")


def _pair(human: int, ai: int, most: int) -> str:
    return bars(("human", human), ("ai", ai), most)


def _part(report: Report, part: Part, title: str, shown: str) -> str:
    """A part that may be missing; the page says why, unless it was not wanted."""
    if shown or part not in report.left_out:
        return shown
    return section(title, f'<p class="quiet">Not shown: {text(report.left_out[part])}.</p>')


def _reading() -> str:
    return section(
        "How to read these numbers",
        "<p>All counts are <em>unique visitors</em>: a visitor who comes back is counted once.</p>"
        "<p><strong>They do not add up.</strong> Not over pages: a visitor of two pages is in both rows, and once in "
        "the site's total. Not over days: a visitor of two days of the trend is in both, and the months of a year together are more than the year. Not over kinds: a visitor "
        "was seen both as a person and as an AI agent is in both, and once in “All”.</p>"
        "<p>The counts are approximate, and those of the last days may still change.</p>",
    )


def _asked(report: Report) -> str:
    facts: Iterable[tuple[str, object]] = (
        ("Project", report.project),
        ("First day", report.date_from or "not named"),
        ("Up to, not including", report.date_to or "not named"),
        ("Asked on", f"{report.made:%Y-%m-%d %H:%M} UTC"),
        ("Pages with visitors", f"{report.pages:,}"),
        ("Requests", account(report.requests)),
        ("Made by", f"docplatform {docplatform.__version__}"),
        *(("Found on the way", warning) for warning in report.warnings),
    )
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts)
    return section("What was asked for", f'<dl class="facts">{listed}</dl>')
