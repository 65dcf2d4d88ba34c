"""The report's page: one file, without scripts, that loads nothing. Every value is escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from docplatform.cli.report import chart, facts, sentences
from docplatform.cli.report.figures import OTHER, listed_sections
from docplatform.cli.report.markup import KEY, KINDS, bars, cell, path, section, sentence, table, text
from docplatform.cli.report.parts import NAMES, Part
from docplatform.cli.report.words import part, percent, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docplatform import Totals
    from docplatform.cli.report.figures import Change, Comparison, Report


def render(report: Report) -> str:
    """The page."""
    style, digest = _style()
    # The hash allows this style sheet and no other; scripts, images and requests are forbidden.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    parts = [
        "<header>",
        f"<h1>{text(report.title)}</h1>",
        f'<p class="quiet">{text(report.project)}, {text(report.name)}</p>',
        "</header>",
        "<main>",
        *(_answers(report) if report.pages or any(report.totals or ()) else _nobody(report)),
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
<title>{text(report.title)}: {text(report.project)}, {text(report.name)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _read_style() -> tuple[str, str]:
    """The style sheet and its hash, in the form that the policy takes."""
    style = files("docplatform.cli.report").joinpath("page.css").read_text(encoding="utf-8")
    return style, base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


_style = cache(_read_style)


def _answers(report: Report) -> list[str]:
    found = report.comparison
    trend = chart.show(report.trend, sentences.trend_notes(report)) if report.trend is not None else ""
    return [
        _summary(report),
        _totals(report.totals, found),
        "".join(f'<p class="quiet">{text(note)}</p>' for note in sentences.notes(report)),
        _advice(report),
        _changes(report, found),
        _part(report, Part.COMPARISON, "What changed", ""),
        _part(report, Part.TREND, "The trend", trend),
        _top(report),
        _shares(report),
        _sections(report),
    ]


def _nobody(report: Report) -> list[str]:
    checks = "".join(f"<li>{text(check)}</li>" for check in sentences.checks(report))
    return [
        f"<section><p><strong>{text(sentences.capital(report.name))}: nobody read a page.</strong> What to check:</p><ul>{checks}</ul></section>"
    ]


def _summary(report: Report) -> str:
    said = "".join(f"<p>{sentence(one, report.site_url)}</p>" for one in sentences.summary(report))
    return f'<section class="summary">{said}</section>' if said else ""


def _totals(totals: Totals | None, found: Comparison | None) -> str:
    if totals is None:
        return ""
    before = found.totals if found is not None and found.totals.total else None
    tiles = "".join(
        f'<div class="{kind}"><dt>{name}</dt><dd>{getattr(totals, kind):,}</dd>'
        + (_change(getattr(before, kind), getattr(totals, kind)) if before is not None else "")
        + "</div>"
        for kind, name in KINDS.items()
    )
    return (
        f'<section><dl class="tiles">{tiles}</dl>{_pair(totals.human, totals.ai, max(totals))}'
        "<p>Unique visitors of the whole site. A visitor seen both as a person and as an AI agent counts as both, "
        "but only once in “All”.</p></section>"
    )


def _change(before: int, now: int) -> str:
    change = percent(before, now)
    way = "same" if change == "0%" else "up" if now > before else "down"
    return f'<dd class="change"><span class="{way}">{change}</span> <span>from {before:,}</span></dd>'


def _advice(report: Report) -> str:
    said = "".join(f"<li>{sentence(one, report.site_url)}</li>" for one in sentences.advice(report))
    return section("What to do", f"<ul>{said}</ul>", "advice") if said else ""


def _changes(report: Report, found: Comparison | None) -> str:
    if found is None or found.rows is None or not found.totals.total:
        return ""
    if not (found.risers or found.fallers or found.new or found.vanished):
        return section("What changed", f"<p>{sentences.NOTHING}</p>", "changes")
    most = max((max(one.counts) for one in (*found.risers, *found.fallers)), default=0)
    key = f'<p class="quiet"><span class="key before">{text(found.name)}</span> <span class="key now">{text(report.name)}</span></p>'
    sides = [
        _side(
            "Risers",
            _moved(report, found, found.risers, most),
            "No page gained more than was expected.",
        ),
        _side(
            "Fallers",
            _moved(report, found, found.fallers, most),
            "No page lost more than was expected.",
        ),
    ]
    if report.totals is not None and report.totals.total < found.totals.total:
        # A site that lost readers shows first where.
        sides.reverse()
    came = _side(
        f"New pages ({found.new_pages:,})",
        _once(report, "Readers", [(one.path, one.counts[1]) for one in found.new]),
        "No new page has many readers.",
    )
    came += _side(
        f"Vanished pages ({found.vanished_pages:,})",
        _once(report, "Readers before", [(one.path, one.counts[0]) for one in found.vanished]),
        "No page that vanished had many readers.",
    )
    return section(
        "What changed",
        f'<p>{text(sentences.chance(found))}</p>{key}<div class="pair">{"".join(sides)}</div><div class="pair">{came}</div>',
        "changes",
    )


def _side(title: str, listed: str, nothing: str) -> str:
    return f"<div><h3>{title}</h3>{listed or f'<p>{nothing}</p>'}</div>"


def _moved(report: Report, found: Comparison, pages: Sequence[Change], most: int) -> str:
    rows = [
        f'<th scope="row">{path(one.path, report.site_url)}'
        + bars(("before", found.name, one.counts[0]), ("now", report.name, one.counts[1]), most)
        + f"</th>{''.join(map(cell, one.counts))}"
        + cell(signed(one.gain), percent(*one.counts))
        for one in pages
    ]
    return table(("Page", "Before", "Now", "Change"), rows) if rows else ""


def _once(report: Report, title: str, pages: Sequence[tuple[str, int]]) -> str:
    rows = [f'<th scope="row">{path(name, report.site_url)}</th>{cell(number)}' for name, number in pages]
    return table(("Page", title), rows) if rows else ""


def _top(report: Report) -> str:
    if not report.top:
        return ""
    most = max(max(row["human"], row["ai"]) for row in report.top)
    rows = [
        f'<th scope="row">{path(row["path"], report.site_url)}{_pair(row["human"], row["ai"], most)}</th>'
        + "".join(cell(row[kind]) for kind in KINDS)
        for row in report.top
    ]
    return section("The most read pages", KEY + table(("Page", *KINDS.values()), rows), "top")


def _shares(report: Report) -> str:
    if not report.top_ai and not report.top_human:
        return ""
    agents = _side(
        "Read by AI agents", _by_share(report, report.top_ai), "AI agents prefer no page to others."
    )
    people = _side("Read by people", _by_share(report, report.top_human), "People prefer no page to others.")
    said = (
        "<p>Pages where the share of AI agents is higher or lower than on the whole site, by more than chance can explain. "
        "Pages with few readers rank lower, because their share is less certain.</p>"
    )
    return section(
        "What AI agents read, and people do not", f'{said}<div class="pair">{agents}{people}</div>', "shares"
    )


def _by_share(report: Report, listed: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        f'<th scope="row">{path(row["path"], report.site_url)}</th>{cell(row["human"])}{cell(row["ai"])}'
        + cell(part(row["ai"], row["total"]))
        for row in listed
    ]
    return table(("Page", "People", "AI agents", "AI share"), rows) if rows else ""


def _sections(report: Report) -> str:
    found = report.comparison
    was_read = found.sections if found is not None else {}
    listed = listed_sections(report.sections, was_read)
    if len(listed) < 2:
        return ""
    rows = []
    for name, now, before in listed:
        label = "All other pages" if name == OTHER else path(name)
        readings = now.readings
        cells = cell(now.pages) + cell(readings.total) + cell(part(readings.ai, readings.total))
        if before is not None:
            was = before.readings.total
            cells += cell(signed(readings.total - was), percent(was, readings.total))
        rows.append(f'<th scope="row">{label}</th>{cells}')
    changed = ("Change",) if was_read else ()
    columns = ("Section", "Pages", "Readings", "AI share", *changed)
    said = "<p>Readings, grouped by the first part of the path. A visitor of three pages counts three times, so readings are not people.</p>"
    return section("Sections", said + table(columns, rows), "sections")


def _pair(human: int, ai: int, most: int) -> str:
    return bars(("human", KINDS["human"], human), ("ai", KINDS["ai"], ai), most)


def _part(report: Report, missing: Part, title: str, shown: str) -> str:
    """A part, or why it is missing if no option excludes it."""
    if shown or missing not in report.left_out:
        return shown
    return section(
        title,
        f'<p class="quiet">{NAMES[missing].capitalize()}: not shown, because {text(report.left_out[missing])}.</p>',
    )


def _reading() -> str:
    return section("How to read these numbers", f"<p>{' '.join(map(text, sentences.READING))}</p>")


def _asked(report: Report) -> str:
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts.facts(report))
    return section("About this report", f'<dl class="facts">{listed}</dl>')
