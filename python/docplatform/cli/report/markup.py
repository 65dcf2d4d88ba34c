"""HTML that several sections of the report's page use. All foreign text is escaped with :func:`text`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from docplatform._hooks.notebook import text
from docplatform._hooks.paths import BLANK, is_blank, is_turned, shown
from docplatform.cli.output import count
from docplatform.cli.report.sentences import PagePath, SectionPath

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docplatform.cli.report.sentences import Sentence

__all__ = [
    "KEY",
    "KINDS",
    "account",
    "bars",
    "cell",
    "command",
    "path",
    "section",
    "sentence",
    "table",
    "text",
]

KINDS = {"human": "People", "ai": "AI agents", "total": "All"}
"""The kinds of visitors, and their names on the page."""

KEY = '<p class="quiet"><span class="key human">People</span> <span class="key ai">AI agents</span></p>'
MAX_PATH = 80
"""The most characters of a path that are shown; hovering shows the whole path."""


def section(title: str, body: str, kind: str = "") -> str:
    """A section of the page; ``kind`` is its CSS class."""
    return f'<section class="{kind}"><h2>{title}</h2>{body}</section>'


def path(value: str, site_url: str | None = None) -> str:
    """A path, shortened in the middle, and as a link if the site's address is known."""
    if is_blank(value):
        return f'<bdi class="quiet">{BLANK}</bdi>'
    name = shown(value, MAX_PATH)
    # Each part is isolated, so that parts from right to left do not swap places with their neighbours.
    label = (
        "/".join(f"<bdi>{text(part)}</bdi>" for part in name.split("/")) if is_turned(name) else text(name)
    )
    whole = f' title="{text(value)}"' if name != value else ""
    if site_url is None:
        return f'<bdi dir="ltr"{whole}>{label}</bdi>'
    url = escape(site_url + quote(f"/{value.removeprefix('/')}", safe="/%:@!$&'()*+,;=~", errors="replace"))
    return f'<a href="{url}" rel="noopener noreferrer"{whole}><bdi dir="ltr">{label}</bdi></a>'


def sentence(parts: Sentence, site_url: str | None = None) -> str:
    """A sentence as HTML, with its paths as :func:`path` shows them."""
    return "".join(
        path(part, site_url if isinstance(part, PagePath) else None)
        if isinstance(part, PagePath | SectionPath)
        else text(part)
        if part
        else ""
        for part in parts
    )


def command(line: str) -> str:
    """A command to copy."""
    return f"<code>{text(line)}</code>"


def cell(value: object, more: str = "") -> str:
    """A table cell with a number or a short text; ``more`` is a second line."""
    said = f"{value:,}" if isinstance(value, int) else text(value)
    below = f"<small>{text(more)}</small>" if more else ""
    return f'<td class="count">{said}{below}</td>'


def table(columns: Sequence[str], rows: Sequence[str]) -> str:
    """A table. Rows are HTML; the first column has texts, the others numbers."""
    first, *others = columns
    head = "".join(f'<th scope="col" class="count">{name}</th>' for name in others)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table class="of-{len(others)}"><thead><tr><th scope="col">{first}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def bars(upper: tuple[str, str, int], lower: tuple[str, str, int], most: int) -> str:
    """Two bars, one above the other, each with its CSS class and name. ``most`` fills the width; hovering shows the numbers."""
    widths = [f"{100 * number / max(most, 1):.2f}" for *_, number in (upper, lower)]
    said = "; ".join(f"{text(name)}: {number:,}" for _, name, number in (upper, lower))
    return (
        f'<svg class="bars" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"><title>{said}</title>'
        f'<rect class="{upper[0]}" width="{widths[0]}" height="5.5"/>'
        f'<rect class="{lower[0]}" y="6.5" width="{widths[1]}" height="5.5"/></svg>'
    )


def account(requests: Mapping[str, int]) -> str:
    """How many requests were sent, in all and for each part."""
    total = count(sum(requests.values()), "request")
    if len(requests) < 2:
        return total
    return f"{total}: {', '.join(f'{number:,} for {part}' for part, number in requests.items())}"
