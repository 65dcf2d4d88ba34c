"""The trend on the report's page, as SVG lines. Coordinates are percentages, so that the text keeps its size on any screen.

Two libraries that draw SVG without a browser were tried. pygal needs a script for tooltips and a random id for styles, which the page's policy
forbids; eight points take 20 kB, and its text shrinks on a phone. pysvgchart cannot leave a point out. Neither supports ARIA roles or a dark
scheme. Working around that would be longer than this file.
"""

from __future__ import annotations

from itertools import count as count_from
from math import ceil
from typing import TYPE_CHECKING

from docplatform._hooks.notebook import text
from docplatform.cli.report.words import short

if TYPE_CHECKING:
    from docplatform.cli.report.figures import Trend

SHORT = 7
"""With more slices, the table of numbers is folded."""
_MARKED = 60
"""With more slices, only hollow points are drawn, because all of them would hide the lines."""
_TOP, _BOTTOM = 6, 86
"""Where the grid begins and ends, in percent of the height."""
_LEFT, _RIGHT = 2, 98
"""Where the first and the last point are, in percent of the width."""


def picture(trend: Trend) -> str:
    """The trend as SVG."""
    slices = trend.slices
    most = max(max(one.human, one.ai) for one in slices)
    step = _step(most)
    top = step * max(ceil(most / step), 1)
    lines = "".join(_line(trend, kind, top) for kind in ("human", "ai"))
    grid = "".join(_grid(value, top) for value in range(0, top + 1, step))
    days = "".join(_day(at, trend) for at in _labelled(len(slices)))
    # Hovering shows the numbers of a slice, anywhere above or below its points.
    said = "".join(
        _band(
            trend,
            at,
            "said",
            f"<title>{text(trend.named(one))}: {one.human:,} people, {one.ai:,} AI agents, {one.total:,} in all</title>",
        )
        for at, one in enumerate(slices)
    )
    shade = "".join(_band(trend, at, "this") for at, one in enumerate(slices) if trend.marked(one))
    label = f"Unique visitors of each {trend.every}, people and AI agents, from {slices[0].date_from} on"
    return f'<svg class="plot" role="img" aria-label="{text(label)}">{shade}{grid}{days}{lines}{said}</svg>'


def _band(trend: Trend, at: int, kind: str, inside: str = "") -> str:
    """The area of a slice."""
    width = (_RIGHT - _LEFT) / (len(trend.slices) - 1)
    left = max(_x(at, len(trend.slices)) - width / 2, 0)
    return f'<rect class="{kind}" x="{left:.2f}%" y="0" width="{min(width, 100 - left):.2f}%" height="100%">{inside}</rect>'


def _step(most: int) -> int:
    """The distance of the grid's lines: 1, 2 or 5 times a power of ten, for at most five steps."""
    steps = (first * int(10**zeros) for zeros in count_from(0) for first in (1, 2, 5))
    return next(step for step in steps if 5 * step >= most)


def _x(at: int, number: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * at / (number - 1)


def _y(value: int, top: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value / top


def _grid(value: int, top: int) -> str:
    y = _y(value, top)
    # In the padding to the left of the plot.
    number = f'<text x="0" y="{y:.2f}%" dx="-.5em" dy=".35em" text-anchor="end">{_short(value)}</text>'
    return f'<line x1="0" x2="100%" y1="{y:.2f}%" y2="{y:.2f}%"/>{number}'


def _short(value: int) -> str:
    """A number of the grid, short enough for a phone."""
    for unit, letter in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (1_000, "k")):
        if value >= 10 * unit or (value >= unit and letter != "k"):
            return f"{value / unit:,.1f}".removesuffix(".0") + letter
    return f"{value:,}"


def _labelled(number: int) -> list[int]:
    """Which slices have a label: all of up to 7; of up to 14 the first, and every second counted from the last; else the first, the last, and up to three that are evenly
    spaced between them."""
    if number <= SHORT:
        return [*range(number)]
    if number <= 2 * SHORT:
        return [0, *reversed(range(number - 1, 1, -2))]
    parts = next((parts for parts in (4, 3, 2) if (number - 1) % parts == 0), 1)
    return sorted({(number - 1) * part // parts for part in range(parts + 1)})


def _day(at: int, trend: Trend) -> str:
    slices = trend.slices
    last = len(slices) - 1
    anchor = "start" if at == 0 else "end" if at == last else "middle"
    # A phone has room for three labels.
    kind = "" if at in (0, last) or 2 * at in (last, last - 1) else ' class="wide"'
    return (
        f'<text{kind} x="{_x(at, len(slices)):.2f}%" y="100%" dy="-.5em" text-anchor="{anchor}">'
        f"{short(slices[at].date_from, trend.every)}</text>"
    )


def _line(trend: Trend, kind: str, top: int) -> str:
    number = len(trend.slices)
    places = [(_x(at, number), _y(getattr(one, kind), top)) for at, one in enumerate(trend.slices)]
    # Only the first and the last slice can be short, so the others form one line.
    whole = [place for place, one in zip(places, trend.slices, strict=True) if not trend.short(one)]
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in whole)
    line = (
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none">'
        f'<polyline class="{kind}" points="{points}" vector-effect="non-scaling-stroke"/></svg>'
    )
    return line + "".join(
        f'<circle class="{kind}{" cut" if trend.short(one) else ""}" cx="{x:.2f}%" cy="{y:.2f}%" r="4"/>'
        for (x, y), one in zip(places, trend.slices, strict=True)
        if number <= _MARKED or trend.short(one)
    )
