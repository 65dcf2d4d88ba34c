"""What a report says, whether as a page or as Markdown: the rows as they are read become the figures that are shown.

Nothing here adds unique visitors up, but for sections: what is summed there are readings, of which a visitor has one for each page.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from docplatform import Totals
from docplatform._hooks import ranges
from docplatform._native import _is_cut, _is_significant
from docplatform.cli.report.top import Top

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from docplatform.cli.report.parts import Part

MAX_SECTIONS = 2_000
"""How many sections are counted apart while rows are read, which limits the memory that they take."""
SECTIONS_SHOWN = 12
"""How many sections are listed."""
MIN_READERS = 20
"""Of fewer readers a page has, the share of one kind among them says nothing."""
OTHER = "…"
"""The section of what has no section of its own: pages at the top of the site, and sections beyond MAX_SECTIONS. No path has it."""


class Change(NamedTuple):
    """A page, and who read it before and now."""

    path: str
    before: Totals
    now: Totals

    @property
    def gain(self) -> int:
        """How many visitors more it has; below 0 for fewer."""
        return self.now.total - self.before.total


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The period before, beside which the report's own is set."""

    name: str
    """What it is called: ``September 2026``."""
    days: int
    """How many days it has."""
    totals: Totals
    pages: int | None = None
    """How many pages had visitors in it; ``None`` where the totals alone are compared."""
    risers: Sequence[Change] = ()
    """The pages that gained most beyond chance, the first one ahead."""
    fallers: Sequence[Change] = ()
    """The pages that lost most beyond chance."""
    new: Sequence[Change] = ()
    """The most read pages that nobody had read before."""
    vanished: Sequence[Change] = ()
    """The pages that nobody reads any more, those that were read most ahead."""
    new_pages: int = 0
    vanished_pages: int = 0
    sections: Mapping[str, Section] = field(default_factory=dict)
    """The sections as they were."""


class Section(NamedTuple):
    """A part of the site: its pages, and their readings."""

    pages: int = 0
    readings: Totals = Totals(0, 0, 0)

    def plus(self, pages: int, readings: Totals) -> Section:
        """With more pages in it."""
        return Section(self.pages + pages, Totals(*map(sum, zip(self.readings, readings, strict=True))))


@dataclass(kw_only=True)
class Figures:
    """What rows come to; see :class:`Gathering`."""

    pages: int = 0
    """How many pages had visitors."""
    top: Sequence[Mapping[str, Any]] = ()
    """The pages that most visitors read, the first one ahead."""
    top_ai: Sequence[Mapping[str, Any]] = ()
    """The pages of whose readers most are AI agents, by their share."""
    top_human: Sequence[Mapping[str, Any]] = ()
    """The pages of whose readers most are people, by their share."""
    sections: Mapping[str, Section] = field(default_factory=dict)


def share(row: Mapping[str, Any]) -> float:
    """Which part of a page's readers are AI agents."""
    both: int = row["human"] + row["ai"]
    return row["ai"] / both if both else 0.0


def _at_least(part: int, whole: int) -> float:
    """What a share most likely is at the least: Wilson's bound, two standard deviations below it. One reader of one is no proof."""
    if not whole:
        return 0.0
    mean, spread = part / whole, 4 / whole
    return (mean + spread / 2 - 2 * sqrt((mean * (1 - mean) + spread / 4) / whole)) / (1 + spread)


class Gathering:
    """Rows as they come, of which only that is kept which is shown."""

    def __init__(self, number: int) -> None:
        self._top: Top[Mapping[str, Any]] = Top(number)
        self._top_ai: Top[Mapping[str, Any]] = Top(number)
        self._top_human: Top[Mapping[str, Any]] = Top(number)
        self._sections: dict[str, Section] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """One more row."""
        human, ai = row["human"], row["ai"]
        self._top.add(row["total"], row)
        if human + ai >= MIN_READERS:
            self._top_ai.add(_at_least(ai, human + ai), row)
            self._top_human.add(_at_least(human, human + ai), row)
        _count(self._sections, row["path"], Totals(human, ai, row["total"]))

    def figures(self) -> Figures:
        """What they come to."""
        # A page is among those of AI agents if it has more of them than the pages together.
        ai, human = (
            sum(getattr(one.readings, kind) for one in self._sections.values()) for kind in ("ai", "human")
        )
        usual = ai / (ai + human) if ai + human else 0.0
        return Figures(
            pages=self._top.seen,
            top=[row for _, row in self._top.ranked()],
            top_ai=[row for least, row in self._top_ai.ranked() if least > usual],
            top_human=[row for least, row in self._top_human.ranked() if least > 1 - usual],
            sections=self._sections,
        )


def _count(sections: dict[str, Section], path: str, readings: Totals) -> None:
    """Counts a page in its section."""
    name = section_of(path)
    if name not in sections and len(sections) >= MAX_SECTIONS:
        name = OTHER
    sections[name] = sections.get(name, Section()).plus(1, readings)


def section_of(path: str) -> str:
    """The first part of a path, with its slash; :data:`OTHER` for the start page."""
    first = path.lstrip("/").partition("/")[0]
    return f"/{first}" if first else OTHER


def compare(
    before: Iterable[Mapping[str, Any]],
    now: Mapping[str, Totals],
    number: int,
    *,
    name: str,
    days: int,
    totals: Totals,
) -> Comparison:
    """The rows of the period before beside those of now, by the rules of ``compare_visitors()``, which is not asked here: without a store it would
    fetch the period once more, whose rows have just been read.
    """
    then: dict[str, Totals] = {}
    sections: dict[str, Section] = {}
    for row in before:
        counts = Totals(row["human"], row["ai"], row["total"])
        # A path that came twice counts as it was highest.
        if row["path"] not in then or then[row["path"]].total < counts.total:
            then[row["path"]] = counts
        _count(sections, row["path"], counts)
    none = Totals(0, 0, 0)
    changes = [Change(path, then.get(path, none), now.get(path, none)) for path in {**now, **then}]
    # As compare_visitors() orders them.
    changes.sort(key=lambda one: (-abs(one.gain), -max(one.before.total, one.now.total), one.path))
    stayed = [one for one in changes if one.before.total and one.now.total]
    moved = [one for one in stayed if _is_significant(one.before.total, one.now.total)]
    new = [one for one in changes if not one.before.total and one.now.total]
    vanished = [one for one in changes if one.before.total and not one.now.total]
    return Comparison(
        name=name,
        days=days,
        totals=totals,
        pages=len(then),
        risers=[one for one in moved if one.gain > 0][:number],
        fallers=[one for one in moved if one.gain < 0][:number],
        new=new[:number],
        vanished=vanished[:number],
        new_pages=len(new),
        vanished_pages=len(vanished),
        sections=sections,
    )


def listed_sections(
    now: Mapping[str, Section], before: Mapping[str, Section] | None
) -> list[tuple[str, Section, Section | None]]:
    """The sections to list, the most read ahead, with what they were before; the rest of the site is the last one."""
    none, then = Section(), before or {}
    both = {name: (now.get(name, none), then.get(name, none)) for name in {**now, **then}}
    # A section of one page is a page at the top of the site.
    own = [name for name, pair in both.items() if name != OTHER and max(one.pages for one in pair) > 1]
    own.sort(key=lambda name: (-max(one.readings.total for one in both[name]), name))
    own = own[:SECTIONS_SHOWN]
    rest = [pair for name, pair in both.items() if name not in own]
    listed: list[tuple[str, Section, Section | None]] = [(name, *both[name]) for name in own]
    if rest:
        listed.append((OTHER, _all(one for one, _ in rest), _all(was for _, was in rest)))
    return [(name, one, was if before is not None else None) for name, one, was in listed]


def _all(sections: Iterable[Section]) -> Section:
    whole = Section()
    for one in sections:
        whole = whole.plus(*one)
    return whole


@dataclass(kw_only=True)
class Report(Figures):
    """All that is shown."""

    project: str
    name: str
    """What the period is called: ``October 2026``."""
    days: int | None
    """How many days it has; ``None`` where they were not named."""
    date_from: str | None
    date_to: str | None
    made: datetime
    """When it was asked for, in UTC."""
    title: str = "Who reads the docs"
    site_url: str | None = None
    """What stands before each path in a link."""
    requests: dict[str, int] = field(default_factory=dict)
    """How many each part took."""
    totals: Totals | None = None
    warnings: list[str] = field(default_factory=list)
    trend: Trend | None = None
    comparison: Comparison | None = None
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why the trend or the pages of the comparison are missing, where they were not unwanted."""
    unfinished: bool = False
    """Whether the period had days to come."""


class Slice(NamedTuple):
    """The site's unique visitors of a day, a week or a month."""

    date_from: date
    date_to: date
    human: int
    ai: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Trend:
    """The period in slices, two or more, in order."""

    every: str
    """How long a slice is: ``day``, ``week`` or ``month``."""
    slices: Sequence[Slice]
    open_from: date | None = None
    """From which day on slices may still change."""

    def cut(self, one: Slice) -> bool:
        """Whether a slice is shorter than it would be, as the period begins or ends within it."""
        return _is_cut(self.every, one.date_from, one.date_to)

    def named(self, one: Slice) -> str:
        """What a slice is called: ``5 to 11 October 2026``, and ``4 of 7 days`` of it where it is cut."""
        name = ranges.name(one.date_from, one.date_to) or ""
        if not self.cut(one):
            return name
        whole = 7 if self.every == "week" else monthrange(one.date_from.year, one.date_from.month)[1]
        return f"{name} ({(one.date_to - one.date_from).days} of {whole} days)"
