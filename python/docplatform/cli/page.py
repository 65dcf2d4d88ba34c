"""The report's page: one file, without scripts, that loads nothing. Every value is escaped."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import docplatform
from docplatform._html import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from docplatform import Totals

KINDS = {"human": "People", "ai": "AI agents", "total": "All"}
"""The kinds of visitors, as the page calls them."""


class Slice(NamedTuple):
    """The site's unique visitors of a day, a week or a month."""

    date_from: str
    date_to: str
    human: int
    ai: int
    total: int


class Rising(NamedTuple):
    """A page that more visitors read than before."""

    path: str
    before: int
    after: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the page tells."""

    project: str
    date_from: str | None
    date_to: str | None
    made: datetime
    """When it was asked for, in UTC."""
    pages: int
    """How many pages had visitors."""
    requests: int
    totals: Totals | None
    top: Sequence[dict[str, Any]]
    """The pages that most visitors read, the first one ahead."""
    top_ai: Sequence[dict[str, Any]]
    """The same for AI agents."""
    warnings: Sequence[str] = ()
    trend: Sequence[Slice] = field(default=())
    rising: Sequence[Rising] = field(default=())


def render(report: Report) -> str:
    """The page."""
    style = files("docplatform.cli").joinpath("report.css").read_text(encoding="utf-8")
    # The hash allows this style and no other; nothing else is allowed at all.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    parts = [
        "<header>",
        "<h1>Who reads the docs</h1>",
        f'<p class="quiet">{text(report.project)}, {_days(report)}</p>',
        "</header>",
        "<main>",
        _totals(report.totals),
        _trend(report.trend),
        _top("The most read pages", report.top, "total"),
        _rising(report.rising),
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
        f'<section><dl class="tiles">{tiles}</dl>{_bars(totals.human, totals.ai, most)}'
        f"<p>Of {totals.total:,} unique visitors of the whole site, {totals.human:,} were seen as people and "
        f"{totals.ai:,} as AI agents. Whoever was seen as both is in both.</p></section>"
    )


def _bars(human: int, ai: int, most: int) -> str:
    """A bar for people above one for AI agents; ``most`` is the whole width."""
    most = max(most, 1)
    return (
        '<svg class="bars" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="human" width="{100 * human / most:.2f}" height="5.5"/>'
        f'<rect class="ai" y="6.5" width="{100 * ai / most:.2f}" height="5.5"/></svg>'
    )


_KEY = '<p class="quiet"><span class="key human">People</span> <span class="key ai">AI agents</span></p>'


def _top(title: str, rows: Sequence[dict[str, Any]], by: str) -> str:
    most = max((max(row["human"], row["ai"]) for row in rows), default=0)
    head = "".join(f'<th scope="col" class="count">{name}</th>' for name in KINDS.values())
    body = "".join(
        f'<tr><th scope="row"><bdi>{text(row["path"])}</bdi>{_bars(row["human"], row["ai"], most)}</th>'
        + "".join(f'<td class="count">{row[kind]:,}</td>' for kind in KINDS)
        + "</tr>"
        for row in rows
    )
    if not rows:
        return f"<section><h2>{title}</h2><p>No page had a visitor.</p></section>"
    return (
        f'<section class="top-{by}"><h2>{title}</h2>{_KEY}<table><thead><tr><th scope="col">Page</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></section>"
    )


_WIDTH, _HEIGHT, _EDGE = 600, 180, 10


def _trend(slices: Sequence[Slice]) -> str:
    if not slices:
        return ""
    most = max(1, *(max(one.human, one.ai) for one in slices))
    lines = "".join(_line(kind, [getattr(one, kind) for one in slices], most) for kind in ("human", "ai"))
    rows = "".join(
        f'<tr><th scope="row">{text(one.date_from)}</th>'
        + "".join(f'<td class="count">{getattr(one, kind):,}</td>' for kind in KINDS)
        + "</tr>"
        for one in slices
    )
    head = "".join(f'<th scope="col" class="count">{name}</th>' for name in KINDS.values())
    return (
        f"<section><h2>The trend</h2>{_KEY}"
        f'<svg class="trend" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="Unique visitors over time, at most {most:,}">{lines}</svg>'
        f'<p class="quiet ends"><span>{text(slices[0].date_from)}</span><span>at most {most:,}</span>'
        f"<span>{text(slices[-1].date_from)}</span></p>"
        f'<details><summary>The numbers</summary><table><thead><tr><th scope="col">From</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></details></section>"
    )


def _line(kind: str, counts: Sequence[int], most: int) -> str:
    step = (_WIDTH - 2 * _EDGE) / max(len(counts) - 1, 1)
    places = [
        (_EDGE + at * step, _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * count / most)
        for at, count in enumerate(counts)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
    return f'<polyline class="{kind}" points="{points}"/>{dots}'


def _rising(pages: Sequence[Rising]) -> str:
    if not pages:
        return ""
    body = "".join(
        f'<tr><th scope="row"><bdi>{text(page.path)}</bdi></th><td class="count">{page.before:,}</td>'
        f'<td class="count">{page.after:,}</td></tr>'
        for page in pages
    )
    return (
        '<section><h2>Rising pages</h2><table><thead><tr><th scope="col">Page</th>'
        f'<th scope="col" class="count">Before</th><th scope="col" class="count">Now</th></tr></thead>'
        f"<tbody>{body}</tbody></table></section>"
    )


def _reading() -> str:
    return _section(
        "How to read these numbers",
        "<p>All counts are <em>unique visitors</em>: whoever comes back is counted once.</p>"
        "<p><strong>They do not add up.</strong> Not over pages: whoever read two pages is in both rows, and once in "
        "the site's total. Not over days: the months of a year together are more than the year. Not over kinds: whoever "
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
        ("Requests", f"{report.requests:,}"),
        ("Made by", f"docplatform {docplatform.__version__}"),
        *(("Found on the way", warning) for warning in report.warnings),
    )
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts)
    return _section("What was asked for", f'<dl class="facts">{listed}</dl>')


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>"
