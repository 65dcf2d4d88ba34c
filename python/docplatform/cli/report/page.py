"""The report's page: one file, without scripts, that loads nothing. Every value is escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from docplatform._hooks.numbers import share
from docplatform.cli.report import chart, facts, sentences
from docplatform.cli.report.figures import OTHER
from docplatform.cli.report.markup import (
    KEY,
    KINDS,
    bars,
    cell,
    command,
    path,
    section,
    sentence,
    table,
    text,
)
from docplatform.cli.report.parts import Part
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
    return [
        _summary(report),
        _advice(report),
        _totals(report, report.totals, found),
        "".join(f'<p class="quiet">{text(note)}</p>' for note in sentences.notes(report)),
        _changes(report, found),
        _sections(report),
        _trend(report),
        _top(report),
        _shares(report),
    ]


def _nobody(report: Report) -> list[str]:
    checks = "".join(f"<li>{text(check)}</li>" for check in sentences.checks(report))
    return [
        f"<section><p><strong>{text(sentences.capital(report.name))}: no readers were recorded.</strong> What to check:</p><ul>{checks}</ul></section>"
    ]


def _summary(report: Report) -> str:
    said = "".join(f"<p>{sentence(one, report.site_url)}</p>" for one in sentences.summary(report))
    return f'<section class="summary">{said}</section>' if said else ""


def _totals(report: Report, totals: Totals | None, found: Comparison | None) -> str:
    if totals is None:
        return ""
    tiles = "".join(
        f'<div class="{kind}"><dt>{name}</dt><dd>{getattr(totals, kind):,}</dd>'
        + (_change(report, found, kind, totals) if found is not None and found.totals.total else "")
        + "</div>"
        for kind, name in KINDS.items()
    )
    return (
        f'<section><dl class="tiles">{tiles}</dl>{_pair(totals.human, totals.ai, max(totals))}'
        "<p>Unique visitors of the whole site. A visitor seen both as a person and as an AI agent counts as both, "
        "but only once in “All”.</p></section>"
    )


def _change(report: Report, found: Comparison, kind: str, totals: Totals) -> str:
    before = getattr(found.totals, kind)
    moved = found.moved(kind, totals)
    # A period that is not over has not fallen.
    way = "same" if report.unfinished else {"rose": "up", "fell": "down"}.get(moved.verdict, "same")
    change, since = percent(before, getattr(totals, kind)), f"from {before:,}"
    if moved.per:
        # The headline has the same figure.
        change, since = f"{share(moved.change)} per {moved.per}", f"{since} ({moved.more})"
    return f'<dd class="change"><span class="{way}">{change}</span> <span>{since}</span></dd>'


def _advice(report: Report) -> str:
    said = "".join(
        f"<li>{sentence(one.said, report.site_url)}{command(one.command) if one.command else ''}</li>"
        for one in sentences.advice(report)
    )
    note = f'<p class="quiet">{sentences.COMMANDS}</p>' if report.fixes else ""
    return section("What to do", f"<ul>{said}</ul>{note}", "advice") if said else ""


def _changes(report: Report, found: Comparison | None) -> str:
    if found is None or not (found.risers or found.fallers or found.new or found.vanished):
        return ""
    most = max(
        (max(one.counts) for one in (*found.risers[: report.number], *found.fallers[: report.number])),
        default=0,
    )
    key = f'<p class="quiet"><span class="key before">{text(found.name)}</span> <span class="key now">{text(report.name)}</span></p>'
    sides = [_side(title, _moved(report, found, pages, most)) for title, pages in report.sides if pages]
    came = "".join(_new_or_gone(report, *one) for one in sentences.new_and_gone(report))
    return section(
        "What changed",
        f'<p>{text(sentences.chance(found))}</p>{key}<div class="pair">{"".join(sides)}</div><div class="pair">{came}</div>',
        "changes",
    )


def _side(title: str, listed: str) -> str:
    return f"<div><h3>{title}</h3>{listed}</div>"


def _moved(report: Report, found: Comparison, pages: Sequence[Change], most: int) -> str:
    rows = [
        f'<th scope="row">{path(one.path, report.site_url)}'
        + bars(("before", found.name, one.counts[0]), ("now", report.name, one.counts[1]), most)
        + f"</th>{''.join(map(cell, one.counts))}"
        + cell(signed(one.gain), percent(*one.counts))
        for one in pages[: report.number]
    ]
    return table(("Page", "Before", "Now", "Change"), rows)


def _new_or_gone(report: Report, title: str, column: str, pages: Sequence[tuple[str, int]]) -> str:
    rows = [f'<th scope="row">{path(name, report.site_url)}</th>{cell(number)}' for name, number in pages]
    return _side(title, table(("Page", column), rows))


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
    sides = (("Read by AI agents", report.top_ai), ("Read by people", report.top_human))
    pair = "".join(_side(title, _by_share(report, rows)) for title, rows in sides if rows)
    said = (
        "<p>Pages where the share of AI agents is higher or lower than on the whole site, by more than chance can explain. "
        "Pages with few readers rank lower, because their share is less certain. Files for machines, such as /llms.txt, are left out.</p>"
    )
    return section(
        "What AI agents prefer, and what people prefer", f'{said}<div class="pair">{pair}</div>', "shares"
    )


def _by_share(report: Report, listed: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        f'<th scope="row">{path(row["path"], report.site_url)}</th>{cell(row["human"])}{cell(row["ai"])}'
        + cell(part(row["ai"], row["total"]))
        for row in listed
    ]
    return table(("Page", "People", "AI agents", "AI share"), rows)


def _sections(report: Report) -> str:
    columns, listed = sentences.sections(report)
    rows = [
        f'<th scope="row">{"All other sections" if name == OTHER else path(name)}</th>'
        + "".join(map(cell, cells))
        for name, *cells in listed
    ]
    said = f"<p>{sentences.visits(report)}</p>"
    return section("Sections", said + table(columns, rows), "sections") if len(rows) > 1 else ""


def _pair(human: int, ai: int, most: int) -> str:
    return bars(("human", KINDS["human"], human), ("ai", KINDS["ai"], ai), most)


def _trend(report: Report) -> str:
    """The trend, or why it is missing if no option excludes it."""
    if report.trend is not None:
        return chart.show(report.trend, sentences.trend_notes(report))
    if Part.TREND not in report.left_out:
        return ""
    line, cost = report.more.get(Part.TREND, ("", ""))
    more = f" This command shows it. It takes {cost}: {command(line)}" if line else ""
    return section(
        "The trend", f'<p class="quiet">Not shown, because {text(report.left_out[Part.TREND])}.{more}</p>'
    )


def _reading() -> str:
    return section("How to read these numbers", f"<p>{' '.join(map(text, sentences.READING))}</p>")


def _asked(report: Report) -> str:
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts.facts(report))
    return section("About this report", f'<dl class="facts">{listed}</dl>')
