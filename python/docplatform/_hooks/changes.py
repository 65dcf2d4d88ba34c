"""A comparison for people: as text, as HTML for notebooks, and as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docplatform._hooks import numbers, plots, shown
from docplatform._native import _safe
from docplatform.types import Totals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from docplatform import Comparison

CHANCE = "Only changes are listed that chance, the growth of the whole site and the usual ups and downs of its pages do not explain."
"""Which changes are listed."""
# The side and the label tell them apart, and in print the hatching.
STYLES: dict[str, dict[str, Any]] = {
    "riser": {"label": "more", "facecolor": "#009E73"},
    "new": {"label": "new", "facecolor": "#56B4E9", "hatch": "...", "edgecolor": "white"},
    "faller": {"label": "fewer", "facecolor": "#D55E00", "hatch": "////", "edgecolor": "white"},
    "vanished": {"label": "gone", "facecolor": "#CC79A7", "hatch": "xxx", "edgecolor": "white"},
}
SHOWN = 10
"""The most rows that are shown."""


def kinds(comparison: Comparison) -> dict[str, str]:
    """The kinds of readers, and how a sentence about one begins."""
    if comparison._adds_up:
        return {"total": "All views", "human": "Views by people", "ai": "Views by AI agents"}
    return {"total": "All readers", "human": "People", "ai": "AI agents"}


def periods(comparison: Comparison) -> str:
    """The names of the two periods; and their days, if these are not the same."""
    ends = (
        (comparison.period, comparison.date_from, comparison.date_to),
        (comparison.before, comparison.date_from_before, comparison.date_to_before),
    )
    days = [(to - since).days if since and to else 0 for _, since, to in ends]
    found = []
    for (name, _, to), count in zip(ends, days, strict=True):
        facts = [f"{count:,} day{'' if count == 1 else 's'}"] if len({*days}) > 1 else []
        facts += ["not over"] if to in comparison._running else []
        found.append(f"{name} ({', '.join(facts)})" if facts else name)
    return " and ".join(found)


def site(comparison: Comparison, kind: str) -> str:
    """How the whole site changed, in a sentence."""
    dates = (comparison.date_from_before, comparison.date_to_before, comparison.date_from, comparison.date_to)
    since_before, to_before, since, to = (day for day in dates if day is not None)
    before, now = (getattr(one, kind) for one in (comparison.totals_before, comparison.totals))
    return numbers.site(kinds(comparison)[kind], before, now, (since_before, to_before), (since, to))


def lines(comparison: Comparison) -> list[str]:
    """The two periods, and how the site changed."""
    return [periods(comparison), *(site(comparison, kind) for kind in kinds(comparison))]


def notes(comparison: Comparison) -> list[str]:
    """The warnings as sentences."""
    return [f"Note: {_safe(warning, 2_000)}." for warning in comparison.warnings]


def rows(comparison: Comparison) -> tuple[str, list[dict[str, Any]]]:
    """The rows to show, and a sentence about them: of a whole comparison those with the largest changes, else the first."""
    moved = {kind: dict(comparison._movements(kind)) for kind in Totals._fields}
    if comparison._order is None:
        size = {
            at: max(abs(comparison[at][f"{kind}_change"]) for kind in moved if at in moved[kind])
            for at in {at for found in moved.values() for at in found}
        }
        places = sorted(size, key=lambda at: (-size[at], at))[:SHOWN]
        count = f"{len(size):,} of {len(comparison):,} paths changed significantly"
        said = f"{count} (*), those that changed most" if places else "No path changed significantly"
    else:
        places = [*range(min(SHOWN, len(comparison)))]
        first = f"first {SHOWN} of " if len(comparison) > SHOWN else ""
        unit = "path" if len(comparison) == 1 else "paths"
        said = f"{first}{len(comparison):,} {unit}, {comparison._order}; * is a significant change"
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
    if how in ("new", "vanished"):
        return f"{STYLES[how]['label']} *"
    share = numbers.percent(before, now) if before else ""
    return f"{share} *" if row[f"{kind}_significant"] else share


def text(comparison: Comparison) -> str:
    """The comparison as ``print`` shows it."""
    said, listed = rows(comparison)
    box: list[str] = []
    if listed:
        columns = [[name, *(shown.value(row[name]) for row in listed)] for name in listed[0]]
        box = [shown.boxed(columns, [name != "path" for name in listed[0]], 1)]
    return "\n".join([*lines(comparison), f"{said}{':' if box else '.'}", *box, *notes(comparison)])


def draw(comparison: Comparison, n: int, of: str, ax: Axes | None) -> Axes:
    """Draws the ``n`` largest significant changes, with new and vanished paths among them, gains first."""
    if n < 1:
        raise ValueError(f"n: must be 1 or more, not {n}")
    plots._need()
    found = [(comparison[at], how) for at, how in comparison._movements(of)[:n]]
    found.sort(key=lambda one: -one[0][f"{of}_change"])
    drawn = [row for row, _ in found]
    axes = ax if ax is not None else plots._axes(len(found))
    for at, (row, how) in enumerate(found):
        style = {name: value for name, value in STYLES[how].items() if name != "label"}
        label = _change(row, of, how).removesuffix(" *")
        axes.bar_label(axes.barh(at, row[f"{of}_change"], 0.7, **style), [label], padding=3)
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
    axes.set_xlabel(plots._wrapped(axes, below, axes.xaxis.label))
    from matplotlib.patches import Patch

    there = [style for how, style in STYLES.items() if how in {how for _, how in found}]
    title = f"{periods(comparison)}. {site(comparison, of)}"
    plots._finish(axes, title, "x", handles=[Patch(**style) for style in there])
    axes.xaxis.set_major_formatter("{x:+,.0f}")
    return axes
