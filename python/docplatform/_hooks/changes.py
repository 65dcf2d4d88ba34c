"""The chart of a comparison: the paths that changed most, gains to the right and losses to the left."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from docplatform._hooks import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from docplatform import Comparison

# The side tells them apart, and in print the hatching.
GAIN: dict[str, Any] = {"label": "more", "facecolor": "#009E73"}
LOSS: dict[str, Any] = {
    "label": "fewer",
    "facecolor": "#D55E00",
    "hatch": "////",
    "edgecolor": "white",
}


def largest(comparison: Comparison, n: int) -> list[dict[str, Any]]:
    """The rows of the ``n`` largest significant changes."""
    found = (row for row in comparison if row["significant"])
    return heapq.nsmallest(n, found, key=lambda row: (-abs(row["total_change"]), row["path"]))


def title(comparison: Comparison) -> str:
    """The chart's title: the two periods, their totals and the change."""
    now, before = comparison.totals, comparison.totals_before
    change = f", {(now.total - before.total) / before.total:+.0%}" if before.total else ""
    ends = {comparison.period: comparison.date_to, comparison.before: comparison.date_to_before}
    names = (f"{name} (not over)" if end in comparison._running else name for name, end in ends.items())
    return f"{' and '.join(names)}: {now.total:,} and {before.total:,} {comparison.listing}{change}"


def draw(comparison: Comparison, n: int, ax: Axes | None) -> Axes:
    """Draws the ``n`` largest significant changes, with new and vanished paths among them, gains first."""
    if n < 1:
        raise ValueError(f"n: must be 1 or more, not {n}")
    plots._need()
    rows = sorted(largest(comparison, n), key=lambda row: -row["total_change"])
    changes = [row["total_change"] for row in rows]
    axes = ax if ax is not None else plots._axes(len(rows))
    styles = [GAIN if change > 0 else LOSS for change in changes]
    for at, (change, style) in enumerate(zip(changes, styles, strict=True)):
        axes.barh(at, change, 0.7, **{name: value for name, value in style.items() if name != "label"})
    plots._name_bars(axes, rows)
    if not rows:
        axes.set_xlim(-1, 1)
    axes.axvline(0, color="0.5", linewidth=0.8)
    if ax is None:
        plots._lay_out(axes)
    measure = f"change in {plots.measure(comparison, 'page')}"
    axes.set_xlabel(plots._wrapped(axes, measure, axes.xaxis.label))
    from matplotlib.patches import Patch

    counted = comparison.listing if comparison._adds_up else "readers"
    key: list[dict[str, Any]] = [{**style, "label": f"{style['label']} {counted}"} for style in (GAIN, LOSS)]
    plots._finish(axes, title(comparison), "x", handles=[Patch(**style) for style in key])
    axes.xaxis.set_major_formatter("{x:+,.0f}")
    return axes
