"""Pictures, through matplotlib: what they return is its own, for users to go on with."""

from __future__ import annotations

import heapq
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from docplatform._native import _is_cut, _safe
from docplatform.types import Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from docplatform._native import TrendTable, VisitorTable

# Two colours of Okabe and Ito, which the colour-blind tell apart; in print they differ in lightness, and by the hatching.
HUMAN: dict[str, Any] = {"label": "people", "facecolor": "#0072B2"}
AI: dict[str, Any] = {"label": "AI agents", "facecolor": "#E69F00", "hatch": "////", "edgecolor": "white"}

# What people and AI agents are as lines: told apart without colours by the mark, or where there are too many by the dashes.
LINES: list[tuple[str, dict[str, Any], str, str]] = [("human", HUMAN, "o", "-"), ("ai", AI, "s", "--")]

FONTS = (
    *(
        "Noto Sans CJK SC",
        "Noto Sans CJK JP",
        "Noto Sans CJK KR",
        "Noto Sans SC",
        "Noto Sans JP",
        "Noto Sans KR",
    ),
    *("Source Han Sans SC", "WenQuanYi Micro Hei", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"),
    *(
        "Microsoft YaHei",
        "Yu Gothic",
        "Malgun Gothic",
        "Nirmala UI",
        "Noto Sans Devanagari",
        "Arial Unicode MS",
    ),
)
"""Fonts that systems have for letters which matplotlib's own lacks; those that are there stand in for it."""

_MOST_LABEL = 48
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
    rows: list[Any] = [table[at] for at in heapq.nlargest(n, range(len(table)), key=counts.__getitem__)]
    axes = ax if ax is not None else _axes(len(rows))
    for style, kind, at in ((HUMAN, "human", -_BAR / 2), (AI, "ai", _BAR / 2)):
        axes.barh([at + place for place in range(len(rows))], [row[kind] for row in rows], _BAR, **style)
    names = [_safe(row["path"], _MOST_LABEL) for row in rows]
    # A path is no formula, whatever dollars are in it.
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    if not all(map(str.isascii, names)):
        for label in axes.get_yticklabels():
            label.set_fontfamily(_families(label.get_fontfamily()))
    # The first on top, and room for three, as fewer would be beams.
    axes.set_ylim(max(len(rows), 3) - 0.4, -0.6)
    if not any(row["human"] or row["ai"] for row in rows):
        axes.set_xlim(0, 1)
    axes.set_xlabel("unique visitors of each page (they do not add up)")
    axes.tick_params(axis="y", length=0)
    from matplotlib.patches import Patch

    # Also where there is no bar to take it from.
    _finish(axes, _title(table, len(rows)), "x", handles=[Patch(**HUMAN), Patch(**AI)])
    return axes


def trend(table: TrendTable, ax: Axes | None) -> Axes:
    """People and AI agents by slice, each over the day that its slice begins with."""
    if "path" in table._columns():
        raise ValueError(
            "plot() draws the whole site by slice; this trend has a row for each path: use by_path=False"
        )
    _need()
    from matplotlib.dates import DateFormatter

    axes = ax if ax is not None else _axes(8)
    slices = list(table)
    days = [one["date_from"] for one in slices]
    cut = [at for at, one in enumerate(slices) if _is_cut(table.every, one["date_from"], one["date_to"])]
    for name, style, mark, dashes in LINES:
        color, counts = style["facecolor"], [one[name] for one in slices]
        marker = mark if len(days) < _MANY else ""
        axes.plot(days, counts, label=style["label"], color=color, marker=marker, linestyle=dashes)
        if cut:
            hollow: dict[str, Any] = {"facecolors": axes.get_facecolor(), "edgecolors": color, "zorder": 3}
            axes.scatter([days[at] for at in cut], [counts[at] for at in cut], marker=mark, **hollow)
            axes.set_xlabel(f"hollow: a {table.every} that is cut to fit the range, and has fewer days")
    # Where slices begin, and no more of them than have room.
    room = max(int(axes.bbox.width / axes.figure.dpi / _DAY), 2)
    axes.set_xticks(days[:: -(-len(days) // room) or 1])
    axes.xaxis.set_major_formatter(DateFormatter("%Y-%m-%d"))  # type: ignore[no-untyped-call]
    if len(days) == 1:
        axes.set_xlim(days[0] - timedelta(1), days[0] + timedelta(1))
    axes.set_ylabel(f"unique visitors of each {table.every or 'range'} (they do not add up)")
    axes.set_ylim(bottom=0, top=None if any(one["human"] or one["ai"] for one in slices) else 1)
    _finish(axes, _trend_title(table), "y")
    return axes


_DAY = 0.9
"""The room that a day's name takes below a trend, in inches."""
_MANY = 100
"""With this many slices or more, their marks would hide the line."""
_TITLE = 22
"""The room of a title above the axes, in points."""


def _finish(axes: Axes, title: str, counts: Literal["x", "y"], **key: Any) -> None:
    """What both pictures have in common; ``counts`` is the axis of the numbers."""
    axis = axes.xaxis if counts == "x" else axes.yaxis
    axis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis=counts, integer=True)
    axes.grid(visible=True, axis=counts, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    from matplotlib.transforms import ScaledTranslation

    # The key has a line above the title: there, it hides nothing, also under a title of the user's own, which has no `pad`.
    axes.set_title(title, parse_math=False)
    above = axes.transAxes + ScaledTranslation(0, _TITLE / 72, axes.figure.dpi_scale_trans)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "bbox_transform": above}
    axes.legend(**place, ncols=2, frameon=False, borderaxespad=0, **key)


def _families(known: Sequence[str]) -> list[str]:
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [*known, *(font for font in FONTS if font in there)]


def _need() -> None:
    if find_spec("matplotlib") is None:
        raise ImportError('plot() needs matplotlib: pip install "docplatform[plot]"', name="matplotlib")


def _axes(rows: int) -> Axes:
    # pyplot, so that a notebook shows the figure.
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * max(rows, 2)), layout="constrained")
    return axes


def _trend_title(table: TrendTable) -> str:
    kind = f"Visitors by {table.every}" if table.every else "Visitors"
    title = f"{kind}, from {table.date_from} up to {table.date_to}"
    return f"{title}; from {table.open_from} on they may still change" if table.open_from else title


def _title(table: VisitorTable, rows: int) -> str:
    pages = f"The {rows} most read of {len(table):,} pages" if rows < len(table) else _pages(rows)
    if not (table.date_from or table.date_to):
        return pages
    days = f"from {table.date_from or 'the beginning'} up to {table.date_to or 'now'}"
    return f"{pages}, {_safe(days, 2 * _MOST_LABEL)}"


def _pages(rows: int) -> str:
    return "No page had a visitor" if not rows else "1 page" if rows == 1 else f"{rows:,} pages"
