"""What the sections of the report's page share. Every foreign text goes through :func:`text`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docplatform._hooks.notebook import text
from docplatform.cli.output import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KEY", "KINDS", "account", "bars", "cell", "section", "table", "text"]

KINDS = {"human": "People", "ai": "AI agents", "total": "All"}
"""The kinds of visitors, as the page calls them."""

KEY = '<p class="quiet"><span class="key human">People</span> <span class="key ai">AI agents</span></p>'


def section(title: str, body: str, kind: str = "") -> str:
    """A section; ``kind`` is its class."""
    return f'<section class="{kind}"><h2>{title}</h2>{body}</section>'


def cell(value: object) -> str:
    """A table's cell with a number, or with words in a number's place."""
    shown = f"{value:,}" if isinstance(value, int) else text(value)
    return f'<td class="count">{shown}</td>'


def table(columns: Sequence[str], rows: Sequence[str]) -> str:
    """A table of rows that are HTML; the first column is of texts, the others are of numbers."""
    first, *others = columns
    head = "".join(f'<th scope="col" class="count">{name}</th>' for name in others)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table><thead><tr><th scope="col">{first}</th>{head}</tr></thead><tbody>{body}</tbody></table>'


def bars(upper: tuple[str, int], lower: tuple[str, int], most: int) -> str:
    """Two bars, one above the other, each with its class; ``most`` is the whole width."""
    widths = [f"{100 * number / max(most, 1):.2f}" for _, number in (upper, lower)]
    return (
        '<svg class="bars" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{upper[0]}" width="{widths[0]}" height="5.5"/>'
        f'<rect class="{lower[0]}" y="6.5" width="{widths[1]}" height="5.5"/></svg>'
    )


def account(requests: Mapping[str, int]) -> str:
    """How many requests each part took, and all of them."""
    total = count(sum(requests.values()), "request")
    if len(requests) < 2:
        return total
    return f"{total}: {', '.join(f'{number:,} for {part}' for part, number in requests.items())}"
