"""A table as text, as ``print`` shows it: its shape, the first and the last rows, and each column's type."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from docplatform._native import FixList, _safe

if TYPE_CHECKING:
    from docplatform._native import AsyncRows, Rows, Table

HEAD = 5
"""How many rows are shown at each end of a long table."""
WHOLE = 12
"""The most rows that are all shown: the months of a year."""
LEAST = 12
"""The least width of a shortened text column; if that is not enough, columns are left out."""
ALIKE = 0.85
"""How alike a wrong name and the one that may be meant are at least."""
MAX_TEXT = 2_000
"""The most characters of a text that are considered."""
GAP = "…"
ASCII = str.maketrans("│┆─═┌┬┐╞╪╡└┴┘…\u2212", "||-=+++++++++~-")
"""What takes the place of characters that a code page of Windows lacks."""
TYPES = {"days": "date", "count": "i64", "int": "i64", "float": "f64", "bool": "bool", "time": "datetime"}
"""The types of columns as polars names them, instants without unit and zone. All others are texts."""


def text(table: Table) -> str:
    """The table in the width of the terminal, or 80 characters if there is none."""
    schema, count = table._schema(), len(table)
    columns, notes = schema, []
    if isinstance(table, FixList):
        # Its other texts are long.
        columns = [column for column in schema if column[0] in {"path", "query", "readers", "why"}]
        notes = [f"{_safe(note, MAX_TEXT)}." for note in table.warnings]
    parts = [(0, count)] if count <= WHOLE else [(0, HEAD), (count - HEAD, count)]
    names = [name for name, *_ in schema]
    values = [dict(zip(names, table._part(*part), strict=True)) for part in parts]
    cells = [
        [
            _safe(name, MAX_TEXT),
            "---",
            TYPES.get(kind, "str"),
            *(value(one) for one in values[0][name]),
            *(cell for rest in values[1:] for cell in (GAP, *(value(one) for one in rest[name]))),
        ]
        for name, kind, _ in columns
    ]
    shape = f"shape: ({count:,}, {len(schema)}){order(table)}"
    return printable(
        [shape, boxed(cells, [kind in {"count", "int", "float"} for _, kind, _ in columns], 3), *notes]
    )


def printable(lines: list[str]) -> str:
    """The lines as one text. If standard output cannot have all of it, as in a pipe on Windows, boxes are drawn in ASCII, and other
    characters are escaped."""
    whole, encoding = "\n".join(lines), getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        whole.encode(encoding)
    except UnicodeEncodeError:
        return whole.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return whole


def order(table: Table) -> str:
    """The order of the rows, for the end of a sentence, if there is one to mention."""
    return f", {table._order}" if table._order and len(table) > 1 else ""


def boxed(cells: list[list[str]], right: list[bool], head: int) -> str:
    """Columns in a box, with a line below the first ``head`` cells of each. Those of ``right`` are numbers."""
    cells, right = _fitted(cells, right, shutil.get_terminal_size().columns)
    widths = [max(map(_width, column)) for column in cells]
    lines = ["│ " + " ┆ ".join(map(_padded, line, widths, right)) + " │" for line in zip(*cells, strict=True)]
    rule = ["─" * (width + 2) for width in widths]
    return "\n".join(
        [
            f"┌{'┬'.join(rule)}┐",
            *lines[:head],
            f"╞{'╪'.join('═' * len(part) for part in rule)}╡",
            *lines[head:],
            f"└{'┴'.join(rule)}┘",
        ]
    )


def column(table: Table, name: str) -> str:
    """What to write instead of ``table["path"]``."""
    known = [column for column, *_ in table._schema()]
    name = _safe(name, 60)
    if name not in known:
        return (
            f"rows are numbered: table[0] or table[:10]; there is no column {name!r}, but {', '.join(known)}"
        )
    return (
        f"table[{name!r}]: rows are numbered, table[0] or table[:10]; for a column, use "
        f"table.to_pandas()[{name!r}], table.to_polars()[{name!r}] or [row[{name!r}] for row in table]"
    )


def no_attribute(owner: Table | Rows | AsyncRows, name: str) -> AttributeError:
    """The error for ``table.columns`` or ``client.visitors(…).plot()``, with what to write instead."""
    from difflib import get_close_matches

    from docplatform import AsyncRows, AsyncVisitors, Table, Visitors, VisitorTable

    frame = f"to_pandas().{name}"
    public = [one for one in dir(owner) if not one.startswith("_")]
    if isinstance(owner, Table) and name in {column for column, *_ in owner._schema()}:
        advice = column(owner, name)
    elif meant := get_close_matches(name, public, 1, ALIKE):
        advice = f"did you mean {meant[0]!r}?"
    elif name == "sum" and isinstance(owner, VisitorTable):
        why = "" if owner._adds_up else f"; unique {owner.listing} do not add up over rows"
        advice = f"table.totals has the counts of the whole site{why}"
    elif isinstance(owner, Table):
        advice = f"a frame may have it: table.{frame}"
    else:
        made = VisitorTable if isinstance(owner, Visitors | AsyncVisitors) else Table
        collect = "(await rows.collect())" if isinstance(owner, AsyncRows) else "rows.collect()"
        member = name if hasattr(made, name) else frame
        advice = f"read the rows into a table, instead of one by one or into a file: {collect}.{member}"
    text = f"{type(owner).__name__!r} object has no attribute {name!r}: {advice}"
    return AttributeError(text, name=name, obj=owner)


def value(value: object) -> str:
    """A value as a cell shows it."""
    if value is None:
        return "null"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, datetime):
        # All are in UTC.
        value = value.replace(tzinfo=None)
    # A text in quotes would be two characters longer, and a line break would break the line.
    return _safe(str(value), MAX_TEXT)


def _fitted(cells: list[list[str]], right: list[bool], width: int) -> tuple[list[list[str]], list[bool]]:
    """Leaves out columns before the last, and shortens the widest texts, until a line fits."""
    cells, dropped = [*cells], 0

    def beyond(widths: list[int]) -> int:
        return sum(width + 3 for width in widths) + 1 - width

    def widest(column: list[str]) -> int:
        return max(map(_width, column))

    # A shortened number would be a wrong number.
    while (
        len(cells) > 2 + dropped
        and beyond(
            [
                widest(column) if is_number else min(LEAST, widest(column))
                for column, is_number in zip(cells, right, strict=True)
            ]
        )
        > 0
    ):
        # One column represents all that are left out.
        del cells[-2 - dropped], right[-2 - dropped]
        if not dropped:
            cells.insert(-1, [GAP] * len(cells[0]))
            right.insert(-1, False)
        dropped = 1
    widths = [*map(widest, cells)]
    while beyond(widths) > 0:
        at = max(range(len(widths)), key=lambda at: 0 if right[at] else widths[at])
        if right[at] or widths[at] <= LEAST:
            break
        widths[at] -= 1
    return [
        [_shortened(cell, width) for cell in column] for column, width in zip(cells, widths, strict=True)
    ], right


def _shortened(cell: str, limit: int) -> str:
    """The beginning and the end of a text, which tell paths apart."""
    if _width(cell) <= limit:
        return cell
    begin, end = cell, ""
    while begin and _width(begin) > (limit - 1) // 2:
        begin = begin[:-1]
    for character in reversed(cell):
        if _width(begin + GAP + character + end) > limit:
            break
        end = character + end
    return begin + GAP + end


def _width(cell: str) -> int:
    """The width of a text on a terminal."""
    if cell.isascii():
        return len(cell)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in cell)


def _padded(cell: str, width: int, right: bool) -> str:  # for `map`
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space
