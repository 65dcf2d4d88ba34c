"""HTML for notebooks. Every value is escaped, and only https addresses become links."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docplatform._hooks import changes, ranges
from docplatform._hooks.numbers import count
from docplatform._hooks.shown import WHOLE, order
from docplatform._native import _safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Sized

    from docplatform._native import Job, Table, VisitorTable

# Notebooks take what is between two dollars for a formula, unless the table says that it has none.
_TABLE = '<table class="tex2jax_ignore mathjax_ignore">'
MOST = 2_000
"""The most characters of a value that are shown."""


def text(value: object) -> str:
    """``value`` as HTML text, with invisible characters and those that change the reading direction made visible."""
    return escape(_safe(str(value), MOST))


def link(url: str) -> str:
    """``url`` as a link if it is plain https, else as text."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return text(url)
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or "\\" in url:
        return text(url)
    if any(character.isspace() or not character.isprintable() for character in url):
        return text(url)
    return f'<a href="{escape(url)}" rel="noopener noreferrer" target="_blank">{text(url)}</a>'


def job(value: Job) -> str:
    """A job as a small table."""
    rows = [
        ("status", text(value.status)),
        ("pull request", link(value.pr_link) if value.pr_link else "none"),
        ("repository", text(value.source.repository or "")),
        ("created", _shown(value.created_at)),
    ]
    return _table(f"Job {text(value.id)}", rows)


def fields(caption: str, values: Sequence[tuple[str, object]]) -> str:
    """Names and values as a small table: for clients."""
    return _table(text(caption), [(text(name), text(value)) for name, value in values])


def _table(caption: str, rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"{_TABLE}<caption>{caption}</caption><tbody>{cells}</tbody></table>"


def _shown_of(rows: Sized) -> int:
    """How many rows are shown: all of a short table."""
    return len(rows) if len(rows) <= WHOLE else changes.SHOWN


def table(table: Table) -> str:
    """The first rows of a table, or the last slices of a trend of totals, and what it is about."""
    from docplatform._native import Comparison, FixList, TrendTable, VisitorTable

    if isinstance(table, Comparison):
        said, rows = changes.rows(table)
        caption = ". ".join([*changes.lines(table), said, *changes.notes(table)])
        return _grid(caption, rows, [*rows[0]] if rows else ["path"])
    if isinstance(table, FixList):
        about = ["What to fix first", *_range(table, "problem"), *table.warnings]
        return _grid("; ".join(about), table[: _shown_of(table)], ("path", "query", "readers", "why"))
    if isinstance(table, VisitorTable):
        return _rows(table, _caption(table))
    name = f"{_name(table)} by {table.every or 'range'}" if isinstance(table, TrendTable) else _name(table)
    # The newest slices are the last.
    end = "first" if table._order else "last"
    return _rows(table, f"{name}: {'; '.join(_range(table, 'row', end))}", end)


def _name(table: Table) -> str:
    return (table.listing or "rows").replace("_", " ").capitalize()


def tuples(caption: str, names: Sequence[str], rows: Sequence[tuple[object, ...]], unit: str = "rows") -> str:
    """Named tuples as a table, the first of them."""
    most = _shown_of(rows)
    if len(rows) > most:
        caption = f"{caption}; first {most} of {len(rows):,} {unit}"
    return _grid(caption, [dict(zip(names, row, strict=True)) for row in rows[:most]], names)


def _rows(table: Table, caption: str, end: str = "first") -> str:
    most = _shown_of(table)
    start = len(table) - most if end == "last" else 0
    parts = table._part(start, start + most)
    schema = table._schema()
    # Extra columns of the service are left out if these rows have no value for them.
    columns = {
        name: values
        for (name, _, is_own), values in zip(schema, parts, strict=True)
        if is_own or any(value is not None for value in values)
    }
    rows = [{name: values[at] for name, values in columns.items()} for at in range(most)]
    return _grid(caption, rows, list(columns))


def _grid(caption: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    styles = [_style(name, [row.get(name) for row in rows]) for name in names]
    head = "".join(
        f'<th style="{style}">{text(name)}</th>' for name, style in zip(names, styles, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(row.get(name), style) for name, style in zip(names, styles, strict=True))}</tr>"
        for row in rows
    )
    return f"{_TABLE}<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_LONG_WORD = 30
"""A word with more characters may be broken to fit its column."""


def _style(name: str, values: Sequence[object]) -> str:
    """The CSS of a column: whole numbers to the right, texts wrapped (within very long words, too), all others never wrapped."""
    values = [value for value in values if value is not None]
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "text-align: right"
    if any(isinstance(value, str) for value in values):
        longest = max(len(word) for value in (name, *values) for word in str(value)[:MOST].split() or [""])
        return f"text-align: left; min-width: {min(longest, _LONG_WORD) + 2}ch; overflow-wrap: anywhere"
    return "text-align: left; white-space: nowrap"


def _cell(value: object, style: str) -> str:
    return f'<td style="{style}">{_shown(value)}</td>'


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if number else text("" if value is None else value)


def _caption(table: VisitorTable) -> str:
    parts = _range(table, "page")
    if table.totals is not None:
        human, ai, total = table.totals
        # "3 views by people", but "3 people".
        by = "by " if table._adds_up else ""
        parts.append(f"the whole site: {human:,} {by}people, {ai:,} {by}AI agents, {total:,} in all")
    return f"{_name(table)}: {'; '.join(parts)}"


def _range(table: Table, unit: str, end: str = "first") -> list[str]:
    shown = count(len(table), unit)
    if len(table) > _shown_of(table):
        shown = f"{end} {_shown_of(table)} of {shown}"
    parts = [shown + order(table)]
    named = ranges.name(table.date_from, table.date_to)
    return [*parts, named] if named else parts
