"""A comparison for people: as text, as the rows that a notebook shows, and as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docplatform._hooks import numbers, plots, shown
from docplatform._native import _safe
from docplatform.types import Totals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from docplatform import Comparison

CHANCE = "Changes are left out if chance, the growth of the whole site, or the usual ups and downs of its pages explain them."
"""A note on the changes that are listed."""
LABELS = {"new": "new", "vanished": "gone"}
"""The words instead of a percentage."""
# The side and the label of a bar say the same, and in print the hatching.
STYLES: dict[str, dict[str, Any]] = {
    "riser": {"facecolor": "#009E73"},
    "new": {"facecolor": "#56B4E9", "hatch": "...", "edgecolor": "white"},
    "faller": {"facecolor": "#D55E00", "hatch": "////", "edgecolor": "white"},
    "vanished": {"facecolor": "#CC79A7", "hatch": "xxx", "edgecolor": "white"},
}
SHOWN = 10
"""The most rows that are shown of a comparison, or of another long table in a notebook."""


def kinds(comparison: Comparison) -> dict[str, str]:
    """The beginning of a sentence about each kind of readers."""
    if comparison._adds_up:
        return {"total": "Views", "human": "Views by people", "ai": "Views by AI agents"}
    return {"total": "Readers", "human": "People", "ai": "AI agents"}


def periods(comparison: Comparison) -> str:
    """The names of the two periods, with their numbers of days if these differ."""
    ends = (
        (comparison.period, comparison.date_from, comparison.date_to),
        (comparison.before, comparison.date_from_before, comparison.date_to_before),
    )
    lengths = [(to - since).days if since and to else 0 for _, since, to in ends]
    found = []
    for (name, _, to), days in zip(ends, lengths, strict=True):
        facts = [numbers.count(days, "day")] if len({*lengths}) > 1 else []
        facts += ["not over"] if to in comparison._running else []
        found.append(f"{name} ({', '.join(facts)})" if facts else name)
    return " and ".join(found)


def site(comparison: Comparison, kind: str) -> str:
    """The change of the whole site, in a sentence. A period that is not over has no verdict."""
    dates = (comparison.date_from_before, comparison.date_to_before, comparison.date_from, comparison.date_to)
    since_before, to_before, since, to = (day for day in dates if day is not None)
    name = kinds(comparison)[kind]
    before, now = (getattr(one, kind) for one in (comparison.totals_before, comparison.totals))
    if running := comparison._running:
        far, far_before = (" so far" if day in running else "" for day in (to, to_before))
        return f"{name}: {now:,}{far}, after {before:,}{far_before}"
    return numbers.site(name, before, now, (since_before, to_before), (since, to))


def lines(comparison: Comparison) -> list[str]:
    """The two periods, and the change of the site."""
    return [periods(comparison), *(site(comparison, kind) for kind in kinds(comparison))]


def notes(comparison: Comparison) -> list[str]:
    """The warnings as sentences."""
    return [f"Note: {_safe(warning, 2_000)}." for warning in comparison.warnings]


def rows(comparison: Comparison) -> tuple[str, list[dict[str, Any]]]:
    """A sentence about the rows to show, and these rows: those with the largest changes, or the first ones of a table with some of the
    rows."""
    moved = {kind: dict(comparison._movements(kind)) for kind in Totals._fields}
    if comparison._is_whole:
        size = {
            at: max(abs(comparison[at][f"{kind}_change"]) for kind in moved if at in moved[kind])
            for at in {at for found in moved.values() for at in found}
        }
        places = sorted(size, key=lambda at: (-size[at], at))[:SHOWN]
        said = (
            f"{len(size):,} of {len(comparison):,} paths changed significantly (*) in at least one column, those that changed most"
            if places
            else "No path changed significantly"
        )
    else:
        places = [*range(min(SHOWN, len(comparison)))]
        first = f"first {SHOWN} of " if len(comparison) > SHOWN else ""
        noun = kinds(comparison)["total"].lower()
        said = f"{first}{numbers.count(len(comparison), 'path')}{shown.order(comparison)}; before and now are all {noun}, * is a significant change"
    names = {"total": "all", "human": "people", "ai": "AI agents"}
    listed = [
        {
            "path": row["path"],
            "before": row["total_before"],
            "now": row["total"],
            **{name: _change(row, kind, moved[kind].get(at)) for kind, name in names.items()},
        }
        for at, row in ((at, comparison[at]) for at in places)
    ]
    return said, listed


def _change(row: dict[str, Any], kind: str, how: str | None) -> str:
    """A change of a path as a share, with a star if it is significant."""
    before, now = row[f"{kind}_before"], row[kind]
    if how in LABELS:
        return f"{LABELS[how]} *"
    share = numbers.percent(before, now) if before else ""
    return f"{share} *" if row[f"{kind}_significant"] else share


def text(comparison: Comparison) -> str:
    """The comparison as ``print`` shows it."""
    said, listed = rows(comparison)
    box: list[str] = []
    if listed:
        columns = [[name, *(shown.value(row[name]) for row in listed)] for name in listed[0]]
        box = [shown.boxed(columns, [name != "path" for name in listed[0]], 1)]
    return shown.printable([*lines(comparison), f"{said}{':' if box else '.'}", *box, *notes(comparison)])


def draw(comparison: Comparison, n: int, of: str, ax: Axes | None) -> Axes:
    """Draws the ``n`` largest significant changes, with new and vanished paths among them, gains first."""
    plots._need(n)
    found = [(comparison[at], how) for at, how in comparison._movements(of)[:n]]
    found.sort(key=lambda one: -one[0][f"{of}_change"])
    drawn = [row for row, _ in found]
    axes = plots._axes(ax, len(found))
    for at, (row, how) in enumerate(found):
        label = _change(row, of, how).removesuffix(" *")
        axes.bar_label(axes.barh(at, row[f"{of}_change"], 0.7, **STYLES[how]), [label], padding=3)
    plots._name_bars(axes, drawn)
    # Room for the labels beside the bars.
    axes.margins(x=0.15)
    if not found:
        axes.set_xlim(-1, 1)
    axes.axvline(0, color="0.5", linewidth=0.8)
    if ax is None:
        plots._lay_out(axes)
    measure = f"change in {plots.measure(comparison, 'page')}"
    below = ". ".join([measure, *(note.removesuffix(".") for note in notes(comparison))])
    plots._name_axis(axes, below)
    # No key: the labels say the same.
    plots._finish(axes, f"{periods(comparison)}. {site(comparison, of)}", "x", handles=[])
    axes.xaxis.set_major_formatter("{x:+,.0f}")
    return axes
