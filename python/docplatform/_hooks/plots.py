"""Charts with matplotlib. They return its own objects, so that users can change them."""

from __future__ import annotations

import heapq
import warnings
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from operator import itemgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from docplatform._hooks import ranges
from docplatform._hooks.numbers import moved
from docplatform._hooks.paths import BLANK, is_blank, shown
from docplatform._native import _is_cut, _safe
from docplatform.types import Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    from docplatform._native import Table, TrendTable, VisitorTable

# Two colours of Okabe and Ito, which colour-blind readers can tell apart; in print, lightness and hatching differ.
HUMAN: dict[str, Any] = {"label": "people", "facecolor": "#0072B2"}
AI: dict[str, Any] = {"label": "AI agents", "facecolor": "#E69F00", "hatch": "////", "edgecolor": "white"}

# The lines of people and AI agents: without colours, the marks tell them apart, or the dashes if there are too many marks.
LINES: list[tuple[str, dict[str, Any], str, str]] = [("human", HUMAN, "o", "-"), ("ai", AI, "s", "--")]

FONTS = (
    "Noto Sans CJK SC, Noto Sans CJK JP, Noto Sans CJK KR, Noto Sans SC, Noto Sans JP, Noto Sans KR, Source Han Sans SC, "
    "WenQuanYi Micro Hei, PingFang SC, Hiragino Sans, Apple SD Gothic Neo, Microsoft YaHei, Yu Gothic, Malgun Gothic, Nirmala UI, "
    "Noto Sans Devanagari, Arial Unicode MS"
).split(", ")
"""Fonts for characters that matplotlib's own font lacks; those that are installed are used."""

_MOST_LABEL = 40
"""The most of a path that is shown, in characters."""
_LEAST_LABEL = 16
"""The same in axes that have little room."""
_LABEL_INCHES = 0.22
"""The width of axes for each character of a path, so that more than half is left for the bars."""
_BAR = 0.38
"""The thickness of a bar; the two bars of a page and their gap take 1 of the axis."""
_MAX_BARS = 40
"""The most pages in a chart of the most read ones with a figure of its own, so that it fits on a screen."""
_BAR_INCHES = 0.2
"""The least height for each page, so that its path can be read."""


def top_pages(table: VisitorTable, n: int, by: str, ax: Axes | None) -> Axes:
    """The ``n`` most read pages, or as many as there is room for, the bars of people and AI agents side by side."""
    _need(n)
    if by not in Totals._fields:
        raise ValueError(f"by: must be one of {', '.join(Totals._fields)}, not {_safe(by, 60)!r}")
    counts = memoryview(table._numbers(by)).cast("q")
    axes = _axes(ax, min(n, len(table), _MAX_BARS))
    room = _MAX_BARS if ax is None else max(int(axes.bbox.height / axes.figure.dpi / _BAR_INCHES), 1)
    best = heapq.nlargest(min(n, room), range(len(table)), key=counts.__getitem__)
    rows: list[Any] = [table[at] for at in best]
    for style, kind, at in ((HUMAN, "human", -_BAR / 2), (AI, "ai", _BAR / 2)):
        axes.barh([at + place for place in range(len(rows))], [row[kind] for row in rows], _BAR, **style)
    _name_bars(axes, rows)
    if not any(row["human"] or row["ai"] for row in rows):
        axes.set_xlim(0, 1)
    if ax is None:
        _lay_out(axes)
    _name_axis(axes, measure(table, "page"))
    from matplotlib.patches import Patch

    # Also where there is no bar to take it from.
    _finish(axes, _title(table, len(rows), by), "x", handles=[Patch(**HUMAN), Patch(**AI)])
    return axes


def _name_bars(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """The paths beside bars, the first on top."""
    width = axes.bbox.width / axes.figure.dpi
    most = min(max(int(width / _LABEL_INCHES), _LEAST_LABEL), _MOST_LABEL)
    names = [BLANK if is_blank(row["path"]) else shown(row["path"], most) for row in rows]
    # Dollars in a path must not start a formula.
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    if not all(map(str.isascii, names)):
        for label in axes.get_yticklabels():
            label.set_fontfamily(_families(label.get_fontfamily()))
    # At least room for three, so that one bar is not a beam.
    axes.set_ylim(max(len(rows), 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def trend(table: TrendTable, ax: Axes | None) -> Axes:
    """People and AI agents by slice, each over the day that its slice begins with."""
    if ("path", "text", True) in table._schema():
        raise ValueError(
            "plot() draws the whole site by slice; this trend has a row for each path: use by_path=False"
        )
    _need()
    from matplotlib.dates import DateFormatter

    axes = _axes(ax, 8)
    slices = sorted(table, key=itemgetter("date_from"))
    days = [one["date_from"] for one in slices]
    ends, running = [one["date_to"] for one in slices], table._running
    cut = [end for day, end in zip(days, ends, strict=True) if _is_cut(table.every, day, end)]
    short = [at for at, end in enumerate(ends) if end in cut or end in running]
    whole = [at for at in range(len(slices)) if at not in short]
    for name, style, mark, dashes in LINES:
        color, counts = style["facecolor"], [one[name] for one in slices]
        marker = mark if len(days) < _MANY else ""
        line = [days[at] for at in whole], [counts[at] for at in whole]
        axes.plot(*line, label=style["label"], color=color, marker=marker, linestyle=dashes)
        if short:
            hollow: dict[str, Any] = {"facecolors": axes.get_facecolor(), "edgecolors": color, "zorder": 3}
            axes.scatter([days[at] for at in short], [counts[at] for at in short], marker=mark, **hollow)
    said = []
    if short:
        days_of = "fewer than seven days" if table.every == "week" else "only some of their days"
        why = {f"with {days_of} in the range": cut, "that were not over when they were read": running}
        which = " and ".join(f"{table.every or 'range'}s {words}" for words, found in why.items() if found)
        said.append(f"Hollow points are {which}.")
    if table.open_from:
        said.append(f"From {table.open_from} on the counts may still change.")
    if said:
        _name_axis(axes, " ".join(said))
    # Where slices begin, and no more of them than have room. One that the range cuts is nearer to the next.
    room = _beside(axes)
    named: list[Any] = []
    for day in days:
        if not named or (day - named[-1]) * room >= days[-1] - days[0]:
            named.append(day)
    axes.set_xticks(named)
    form = "%b %Y" if table.every == "month" else "%Y-%m-%d"
    axes.xaxis.set_major_formatter(DateFormatter(form))  # type: ignore[no-untyped-call]
    if len(days) == 1:
        axes.set_xlim(days[0] - timedelta(1), days[0] + timedelta(1))
    axes.set_ylabel(measure(table, table.every or "range").replace(" (", "\n("))
    axes.set_ylim(bottom=0, top=None if any(one["human"] or one["ai"] for one in slices) else 1)
    _finish(axes, _trend_title(table, [slices[at] for at in whole]), "y")
    return axes


def measure(table: Table, each: str) -> str:
    """The name of a table's numbers, and whether they add up."""
    if table._adds_up:
        return f"{table.listing} of each {each}"
    return f"unique {table.listing} of each {each} (they do not add up)"


_NAME = 6.48
"""The room that a day or a number takes below a chart, relative to the size of its font."""
_MANY = 100
"""With this many slices or more, their marks would hide the line."""
_LETTER = 0.55
"""The usual width of a letter, relative to the size of its font."""


def _sizes(axes: Axes, text: Text) -> float:
    """The width of axes, relative to the size of a text's font."""
    return axes.bbox.width / axes.figure.dpi * 72 / float(text.get_fontsize())


def _beside(axes: Axes) -> int:
    """How many days or numbers have room below axes."""
    return max(int(_sizes(axes, axes.xaxis.label) / _NAME), 2)


def _wrapped(axes: Axes, words: str, text: Text) -> str:
    """Words wrapped to the width of axes that stand beside others, for a text in its font."""
    return "\n".join(wrap(words, max(int(_sizes(axes, text) / _LETTER), 20)))


def _name_axis(axes: Axes, words: str) -> None:
    """Writes words below axes."""
    axes.set_xlabel(_wrapped(axes, words, axes.xaxis.label))


def _finish(axes: Axes, title: str, counts: Literal["x", "y"], **key: Any) -> None:
    """Draws the parts that all charts have; ``counts`` is the axis of the numbers."""
    axis = axes.xaxis if counts == "x" else axes.yaxis
    axis.set_major_formatter("{x:,.0f}")
    axes.locator_params(axis=counts, integer=True, nbins=_beside(axes) if counts == "x" else 10)
    axes.grid(visible=True, axis=counts, alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    lines = (_wrapped(axes, line, axes.title) for line in title.split("\n"))
    axes.set_title("\n".join(lines), parse_math=False)
    if not key.get("handles", True):
        return
    key |= {"loc": "upper left", "ncols": 2, "frameon": False, "borderaxespad": 0}
    # Placed again at each drawing, so that the key is below the axis, also where the user names the axis later.
    setattr(axes.legend(**key), "get_bbox_to_anchor", partial(_below_axis, axes))  # noqa: B010  # a method, to mypy


_GAP = 6
"""The space above the key, in points."""


def _below_axis(axes: Axes) -> Bbox:
    """A line as wide as the axes, below the numbers and the name of their lower axis."""
    from matplotlib.transforms import Bbox

    box, named = axes.bbox, axes.xaxis.get_tightbbox()
    below = (named.y0 if named is not None else box.y0) - _GAP * axes.figure.dpi / 72
    return Bbox.from_extents(box.x0, below, box.x1, below)


def _families(known: Sequence[str]) -> list[str]:
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [*known, *(font for font in FONTS if font in there)]


def _need(n: int = 1) -> None:
    """Fails if a number of pages is wrong, or if there is no matplotlib."""
    if n < 1:
        raise ValueError(f"n: must be 1 or more, not {n}")
    if find_spec("matplotlib") is None:
        raise ImportError('plot() needs matplotlib: pip install "docplatform[plot]"', name="matplotlib")


def _axes(ax: Axes | None, rows: int) -> Axes:
    """The axes that a user gives, or new ones."""
    if ax is not None:
        return ax
    # pyplot, so that a notebook shows the figure.
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * max(rows, 2)), layout="constrained")
    return axes


def _lay_out(axes: Axes) -> None:
    """Gives the paths beside bars their room, so that words are wrapped to what is left."""
    figure: Any = axes.figure
    # The drawing that the user sees warns of missing letters.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure.draw_without_rendering()


def _trend_title(table: TrendTable, whole: Sequence[Mapping[str, Any]]) -> str:
    """How people and AI agents changed over the slices on the lines, as a sentence; below it the range."""
    every = f"By {table.every}, " if table.every else ""
    below = f"{every}{ranges.name(table.date_from, table.date_to)}"
    kinds = ("Views by people", "views by AI agents") if table._adds_up else ("People", "AI agents")
    went = (f"{name} {_went(table, whole, kind)}" for name, kind in zip(kinds, ("human", "ai"), strict=True))
    return "\n".join([*([", and ".join(went)] if whole else []), below])


def _went(table: TrendTable, whole: Sequence[Mapping[str, Any]], kind: str) -> str:
    """The change from the first slice to the last one. Days have their least and their most: the first and the last may be a Thursday
    and a Sunday."""
    counts = [row[kind] for row in whole]
    if len(whole) == 1:
        return f"were {counts[0]:,}"
    if table.every == "day" and min(counts) < max(counts):
        return f"were between {min(counts):,} and {max(counts):,} a day"
    if counts[0] == counts[-1]:
        return f"stayed at {counts[0]:,}"
    first, last = ((row["date_from"], row["date_to"]) for row in (whole[0], whole[-1]))
    verdict = moved(counts[0], counts[-1], first, last).verdict
    comma = "" if verdict in ("rose", "fell") else ","
    return f"{verdict}{comma} from {counts[0]:,} to {counts[-1]:,}"


def _title(table: VisitorTable, rows: int, by: str) -> str:
    readers = {"human": "people", "ai": "AI agents"}.get(by, "readers")
    if table._adds_up:
        readers = "views" if by == "total" else f"views by {readers}"
    these = f"These {rows}" if rows > 1 else "This one"
    most = f"{these} of {len(table):,} pages had the most {readers}"
    pages = most if rows < len(table) else _pages(table, rows)
    days = ranges.name(table.date_from, table.date_to)
    return f"{pages}, {days}" if days else pages


def _pages(table: VisitorTable, rows: int) -> str:
    nothing = f"No page had a {(table.listing or '').removesuffix('s')}"
    # The table may be a choice of the site's pages.
    return nothing if not rows else "This page was read" if rows == 1 else f"These {rows:,} pages were read"
