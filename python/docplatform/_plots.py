"""Pictures, through matplotlib: what they return is its own, for users to go on with."""

from __future__ import annotations

import heapq
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from docplatform._native import _safe
from docplatform.types import Totals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from docplatform._native import TrendTable, VisitorTable

# Two colours of Okabe and Ito, which the colour-blind tell apart; in print they differ in lightness, and by the hatching.
HUMAN: dict[str, Any] = {"label": "people", "color": "#0072B2"}
AI: dict[str, Any] = {"label": "AI agents", "color": "#E69F00", "hatch": "////", "edgecolor": "white"}

_MOST_LABEL = 60
"""The most of a path that is shown, in characters."""
_BAR = 0.38
"""How thick a bar is, where the two of a page have 1."""


def top_pages(table: VisitorTable, n: int, by: str, ax: Axes | None) -> Axes:
    """The ``n`` most read pages, the bars of people and AI agents side by side."""
    if n < 1:
        raise ValueError(f"n: must be 1 or more, not {n}")
    if by not in Totals._fields:
        raise ValueError(f"by: must be one of {', '.join(Totals._fields)}, not {_safe(by, 60)!r}")
    _need()
    counts = memoryview(table._counts(by)).cast("q")
    rows = [table[at] for at in heapq.nlargest(n, range(len(table)), key=counts.__getitem__)]
    axes = ax if ax is not None else _axes(len(rows))
    places = range(len(rows))
    axes.barh([at - _BAR / 2 for at in places], [row["human"] for row in rows], _BAR, **HUMAN)
    axes.barh([at + _BAR / 2 for at in places], [row["ai"] for row in rows], _BAR, **AI)
    # A path is no formula, whatever dollars are in it.
    axes.set_yticks(places, [_safe(row["path"], _MOST_LABEL) for row in rows], parse_math=False)
    axes.invert_yaxis()
    axes.set_title(_title(table, len(rows)), parse_math=False)
    axes.set_xlabel("unique visitors of each page (they do not add up)")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis="x", integer=True)
    axes.grid(visible=True, axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.margins(y=0.02)
    axes.legend()
    return axes


def trend(table: TrendTable, ax: Axes | None) -> Axes:
    """People and AI agents by slice, each over the day that its slice begins with."""
    if "path" in table._columns():
        raise ValueError(
            "plot() draws the whole site by slice; this trend has a row for each path: use pages=False"
        )
    _need()
    axes = ax if ax is not None else _axes(8)
    days = [row["date_from"] for row in table]
    for name, style, mark in (("human", HUMAN, "o"), ("ai", AI, "s")):
        look = {"label": style["label"], "color": style["color"], "marker": mark if len(days) < _MANY else ""}
        axes.plot(days, [row[name] for row in table], **look)
    axes.set_title(_trend_title(table), parse_math=False)
    axes.set_ylabel(f"unique visitors of each {table.every or 'range'} (they do not add up)")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend()
    return axes


_MANY = 100
"""From so many slices on their marks would hide the line."""


def _need() -> None:
    if find_spec("matplotlib") is None:
        raise ImportError('plot() needs matplotlib: pip install "docplatform[plot]"', name="matplotlib")


def _axes(rows: int) -> Axes:
    # pyplot, so that a notebook shows the figure.
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * max(rows, 2)), layout="constrained")
    return axes


def _trend_title(table: TrendTable) -> str:
    title = f"Visitors by {table.every or 'range'}, from {table.date_from} up to {table.date_to}"
    return f"{title}; from {table.open_from} on they may still change" if table.open_from else title


def _title(table: VisitorTable, rows: int) -> str:
    pages = f"The {rows} most read of {len(table):,} pages" if rows < len(table) else f"{rows} pages"
    if not (table.date_from or table.date_to):
        return pages
    days = f"from {table.date_from or 'the beginning'} up to {table.date_to or 'now'}"
    return f"{pages}, {_safe(days, 2 * _MOST_LABEL)}"
