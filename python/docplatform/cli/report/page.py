"""The report's page: one file, without scripts, that loads nothing. Every value is escaped."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from docplatform._hooks.notebook import text
from docplatform._hooks.paths import BLANK, is_blank, is_turned, shown
from docplatform.cli.report.chart import SHORT, picture
from docplatform.cli.report.content import (
    KINDS,
    TWO_KINDS,
    Block,
    Chart,
    Headline,
    Paragraph,
    Points,
    Section,
    Table,
    Tiles,
    content,
    facts,
)
from docplatform.cli.report.sentences import Command, Phrase, Strong, renderer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docplatform.cli.report.figures import Report
    from docplatform.cli.report.sentences import Render

MAX_PATH = 80
"""The most characters of a path that are shown; hovering shows the whole path."""
QUIET = ' class="quiet"'


def render(report: Report) -> str:
    """The page."""
    style = files("docplatform.cli.report").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # The hash allows this style sheet and no other; scripts, images and requests are forbidden.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title, about = text(report.title), f"{text(report.project)}, {text(report.name)}"
    say = renderer(
        text,
        _path,
        report.site_url,
        "()*",
        {
            tuple: lambda share: text(*share),
            Strong: lambda words: f"<strong>{text(words)}</strong>",
            Phrase: lambda words: f"“{text(words)}”",
            Command: lambda line: f"<code>{text(line)}</code>",
        },
    )
    sections = (_section(section, say) for section in content(report))
    body = "\n".join(section for section in sections if section)
    small = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts(report))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>{title}: {about}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p{QUIET}>{about}</p>
</header>
<main>
{body}
<section class=""><h2>About this report</h2><dl class="facts">{small}</dl></section>
</main>
</body>
</html>
"""


def _section(section: Section, say: Render) -> str:
    title, kind, blocks = section
    body = "".join(_block(block, say) for block in blocks)
    if kind is None or not body:
        return body
    look = f' class="{kind}"' if title or kind else ""
    heading = f"<h2>{title}</h2>" if title else ""
    return f"<section{look}>{heading}{body}</section>"


def _block(block: Block, say: Render) -> str:
    match block:
        case Paragraph():
            return f"<p{QUIET if block.quiet else ''}>{say(block.said)}</p>"
        case Headline():
            return "".join(f"<p>{say(one)}</p>" for one in block)
        case Points():
            return f"<ul>{''.join(f'<li>{say(one)}</li>' for one in block)}</ul>"
        case Chart():
            said = "".join(f"<p>{text(note)}</p>" for note in block.notes)
            opened = " open" if len(block.trend.slices) <= SHORT else ""
            numbers = _table(block.tables[0], say, {}, 0)
            details = f"<details{opened}><summary>The numbers</summary>{numbers}</details>"
            return f"{_key(TWO_KINDS)}{picture(block.trend)}{said}{details}"
        case Tiles():
            changes = [
                f'<dd class="change"><span class="{way}">{change}</span> <span>{since}</span></dd>'
                for way, change, since in block.changes
            ] or [""] * 3
            tiles = "".join(
                f'<div class="{kind}"><dt>{name}</dt><dd>{number:,}</dd>{change}</div>'
                for (kind, name), number, change in zip(KINDS.items(), block.totals, changes, strict=True)
            )
            return f'<dl class="tiles">{tiles}</dl>{_bars(TWO_KINDS, block.totals, max(block.totals))}'
    tables, key = block
    most = max((max(row[1:3]) for table in tables for row in table.rows), default=0) if key else 0
    listed = "".join(_table(table, say, key, most) for table in tables)
    return _key(key) + (
        f'<div class="pair">{listed}</div>' if all(table.title for table in tables) else listed
    )


def _table(table: Table, say: Render, key: Mapping[str, str], most: int) -> str:
    """A table; ``most`` is the number that fills a bar's width."""
    first, *columns = table.columns
    # A phone has no room for both figures of a change.
    double = columns[-1] == "%"
    body = ""
    for name, *cells in table.rows:
        said = [say((cell,)) for cell in cells]
        if double:
            said[-2:] = [f"{said[-2]}<small>{said[-1]}</small>"]
        counts = "".join(f'<td class="count">{cell}</td>' for cell in said)
        body += (
            f'<tr><th scope="row">{say((name,))}{_bars(key, cells, most) if key else ""}</th>{counts}</tr>'
        )
    others = columns[:-1] if double else columns
    head = "".join(f'<th scope="col" class="count">{column}</th>' for column in others)
    written = (
        f'<table class="of-{len(others)}"><thead><tr><th scope="col">{first}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    return f"<div><h3>{table.title}</h3>{written}</div>" if table.title else written


def _key(key: Mapping[str, str]) -> str:
    names = " ".join(f'<span class="key {kind}">{text(name)}</span>' for kind, name in key.items())
    return names and f"<p{QUIET}>{names}</p>"


def _bars(key: Mapping[str, str], numbers: Sequence[int], most: int) -> str:
    """Two bars, one above the other; hovering shows the numbers."""
    said = "; ".join(f"{text(name)}: {number:,}" for name, number in zip(key.values(), numbers, strict=False))
    upper, lower = (
        f'class="{kind}"{y} width="{100 * number / max(most, 1):.2f}" height="5.5"'
        for kind, number, y in zip(key, numbers, ("", ' y="6.5"'), strict=False)
    )
    return (
        f'<svg class="bars" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><title>{said}</title>'
        f"<rect {upper}/><rect {lower}/></svg>"
    )


def _path(value: str, url: str | None) -> str:
    """A path, shortened in the middle, and as a link if its address is known."""
    if is_blank(value):
        return f"<bdi{QUIET}>{BLANK}</bdi>"
    name = shown(value, MAX_PATH)
    # Each part is isolated, so that parts from right to left do not swap places with their neighbours.
    label = (
        "/".join(f"<bdi>{text(part)}</bdi>" for part in name.split("/")) if is_turned(name) else text(name)
    )
    whole = f' title="{text(value)}"' if name != value else ""
    if url is None:
        return f'<bdi dir="ltr"{whole}>{label}</bdi>'
    return f'<a href="{escape(url)}" rel="noopener noreferrer"{whole}><bdi dir="ltr">{label}</bdi></a>'
