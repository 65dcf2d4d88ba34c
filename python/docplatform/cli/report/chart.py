"""The trend on the report's page: lines in SVG. Coordinates are percentages, so that the text keeps its size on any screen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count as count_from
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from docplatform._native import _is_cut
from docplatform.cli.report.markup import KEY, KINDS, cell, section, table, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from docplatform import Totals


class Slice(NamedTuple):
    """The site's unique visitors of a day, a week or a month."""

    date_from: date
    date_to: date
    human: int
    ai: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Trend:
    """The range in slices, two or more, in order."""

    every: str
    """How long a slice is: ``day``, ``week`` or ``month``."""
    slices: Sequence[Slice]
    open_from: date | None = None
    """From which day on slices may still change."""

    def cut(self, one: Slice) -> bool:
        """Whether a slice is shorter than it would be, as the range begins or ends within it."""
        return _is_cut(self.every, one.date_from, one.date_to)


_SHORT = 7
"""Of more slices the numbers are folded away."""
_MARKED = 60
"""Of more slices the points would hide the lines."""
_TOP, _BOTTOM = 6, 86
"""Where the grid begins and ends, in percent of the height."""
_LEFT, _RIGHT = 2, 98
"""Where the first and the last point are, in percent of the width."""


def show(trend: Trend, totals: Totals | None) -> str:
    """The section of the page; ``totals`` are those of the whole range."""
    rows = [
        f'<th scope="row">{_days(trend, one)}</th>' + "".join(cell(getattr(one, kind)) for kind in KINDS)
        for one in trend.slices
    ]
    opened = " open" if len(rows) <= _SHORT else ""
    numbers = table((trend.every.capitalize(), *KINDS.values()), rows)
    notes = "".join(f"<p>{line}</p>" for line in _notes(trend, totals))
    details = f"<details{opened}><summary>The numbers</summary>{numbers}</details>"
    return section("The trend", f"{KEY}{_picture(trend)}{notes}{details}", "trend")


def _notes(trend: Trend, totals: Totals | None) -> Iterator[str]:
    whole = f": the whole range has {totals.total:,}" if totals is not None else ""
    yield (
        f"Each point is the unique visitors of one {trend.every}. They do not add up{whole}. A visitor of two "
        f"{trend.every}s is in both, and once in the range."
    )
    if any(map(trend.cut, trend.slices)):
        yield (
            f"The range begins or ends in the middle of a {trend.every}: a hollow point has fewer days than the others, "
            "and is lower for that reason."
        )
    if trend.open_from is not None:
        yield f"From {text(trend.open_from)} on the counts may still change."


def _days(trend: Trend, one: Slice) -> str:
    if trend.every == "day":
        return text(one.date_from)
    last = one.date_to - timedelta(1)
    return f"{text(one.date_from)} to {text(last)}" + (" (cut)" if trend.cut(one) else "")


def _picture(trend: Trend) -> str:
    slices = trend.slices
    most = max(max(one.human, one.ai) for one in slices)
    step = _step(most)
    top = step * max(ceil(most / step), 1)
    lines = "".join(_line(trend, kind, top) for kind in ("human", "ai"))
    grid = "".join(_grid(value, top) for value in range(0, top + 1, step))
    days = "".join(_day(at, slices) for at in _labelled(len(slices)))
    label = f"Unique visitors of each {trend.every}, from {slices[0].date_from} on: people and AI agents"
    return f'<svg class="plot" role="img" aria-label="{text(label)}">{grid}{days}{lines}</svg>'


def _step(most: int) -> int:
    """Between two lines of the grid: 1, 2 or 5 and zeros, for at most five of them."""
    steps = (first * int(10**zeros) for zeros in count_from(0) for first in (1, 2, 5))
    return next(step for step in steps if 5 * step >= most)


def _x(at: int, number: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * at / (number - 1)


def _y(value: int, top: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value / top


def _grid(value: int, top: int) -> str:
    y = _y(value, top)
    # To the left of the plot, in its padding.
    number = f'<text x="0" y="{y:.2f}%" dx="-.5em" dy=".35em" text-anchor="end">{_short(value)}</text>'
    return f'<line x1="0" x2="100%" y1="{y:.2f}%" y2="{y:.2f}%"/>{number}'


def _short(value: int) -> str:
    """A number of the grid, as short as a phone needs it."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= 10 * unit or (value >= unit and letter == "M"):
            return f"{value / unit:,.1f}".removesuffix(".0") + letter
    return f"{value:,}"


def _labelled(number: int) -> list[int]:
    """Which slices have their day below them: the first and the last, and those that part the way evenly, if any."""
    parts = next((parts for parts in (4, 3, 2) if (number - 1) % parts == 0 and number > 2), 1)
    return sorted({(number - 1) * part // parts for part in range(parts + 1)})


def _day(at: int, slices: Sequence[Slice]) -> str:
    last = len(slices) - 1
    anchor = "start" if at == 0 else "end" if at == last else "middle"
    # A phone has room for three.
    kind = "" if at in (0, last) or 2 * at == last else ' class="wide"'
    return (
        f'<text{kind} x="{_x(at, len(slices)):.2f}%" y="100%" dy="-.5em" text-anchor="{anchor}">'
        f"{text(slices[at].date_from)}</text>"
    )


def _line(trend: Trend, kind: str, top: int) -> str:
    number = len(trend.slices)
    places = [(_x(at, number), _y(getattr(one, kind), top)) for at, one in enumerate(trend.slices)]
    points = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
    line = (
        '<svg viewBox="0 0 100 100" preserveAspectRatio="none">'
        f'<polyline class="{kind}" points="{points}" vector-effect="non-scaling-stroke"/></svg>'
    )
    return line + "".join(
        f'<circle class="{kind}{" cut" if trend.cut(one) else ""}" cx="{x:.2f}%" cy="{y:.2f}%" r="4"/>'
        for (x, y), one in zip(places, trend.slices, strict=True)
        if number <= _MARKED or trend.cut(one)
    )
