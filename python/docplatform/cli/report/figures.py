"""The figures of a report, computed from rows while they are read.

Unique visitors are never added up. Sections add up readings: a visitor counts once for each page.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from docplatform import Totals
from docplatform._hooks import ranges
from docplatform._hooks.numbers import Moved, moved
from docplatform._native import _comparison, _is_cut
from docplatform.cli.report.top import Top

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from docplatform._hooks.numbers import Days
    from docplatform.cli.report.parts import Part

MAX_SECTIONS = 2_000
"""The most sections that are counted while rows are read, to limit memory."""
SECTIONS_SHOWN = 12
"""The most sections that are listed."""
MIN_READERS = 20
"""With fewer readers, a page's share of AI agents means nothing."""
OTHER = "…"
"""The section of pages at the top of the site, and of sections beyond MAX_SECTIONS. No path can have this name."""


class Change(NamedTuple):
    """A page, and its visitors before and now."""

    path: str
    before: Totals
    now: Totals
    of: str = "total"
    """The kind of readers that changed."""

    @property
    def counts(self) -> tuple[int, int]:
        """The readers of this kind, before and now."""
        return getattr(self.before, self.of), getattr(self.now, self.of)

    @property
    def gain(self) -> int:
        """How many more of them it has; negative for fewer."""
        before, now = self.counts
        return now - before


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The period before, and the pages that changed since."""

    name: str
    """Such as ``September 2026``."""
    dates: tuple[Days, Days]
    """Its days, and those of the period that is compared with it."""
    totals: Totals
    of: str = "total"
    """The kind of readers whose changes are listed."""
    unfinished: bool = False
    """Whether it had not ended yet."""
    rows: int | None = None
    """How many rows it has; ``None`` if only the totals are compared."""
    risers: Sequence[Change] = ()
    """The pages with significant gains, the largest first."""
    fallers: Sequence[Change] = ()
    """The pages with significant losses, the largest first."""
    new: Sequence[Change] = ()
    """The pages that have significant readers and had none before, the most read first."""
    vanished: Sequence[Change] = ()
    """The pages that had significant readers and have none any more, the most read first."""
    new_pages: int = 0
    vanished_pages: int = 0
    sections: Mapping[str, Section] = field(default_factory=dict)
    """The sections of the period before."""

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.dates[0][1] - self.dates[0][0]).days

    def moved(self, kind: str, now: Totals) -> Moved:
        """The change of the whole site since."""
        return moved(getattr(self.totals, kind), getattr(now, kind), *self.dates)

    def parted(self, now: Totals) -> bool:
        """Whether one of people and AI agents rose, and the other did not."""
        return [self.moved(kind, now).verdict for kind in ("human", "ai")].count("rose") == 1


class Section(NamedTuple):
    """A section of the site: how many pages it has, and how often they were read."""

    pages: int = 0
    readings: Totals = Totals(0, 0, 0)

    def plus(self, pages: int, readings: Totals) -> Section:
        """The section with more pages."""
        return Section(self.pages + pages, Totals(*map(sum, zip(self.readings, readings, strict=True))))


@dataclass(kw_only=True)
class Figures:
    """What :class:`Gathering` computes from rows."""

    rows: int = 0
    """How many rows were read."""
    pages: int = 0
    """How many pages had visitors."""
    top: Sequence[Mapping[str, Any]] = ()
    """The pages with the most visitors, the most read first."""
    top_ai: Sequence[Mapping[str, Any]] = ()
    """The pages with the highest share of AI agents."""
    top_human: Sequence[Mapping[str, Any]] = ()
    """The pages with the highest share of people."""
    sections: Mapping[str, Section] = field(default_factory=dict)


def share(row: Mapping[str, Any]) -> float:
    """The share of AI agents among a page's readers."""
    return row["ai"] / row["total"] if row["total"] else 0.0


def _at_least(part: int, whole: int) -> float:
    """Wilson's lower bound of a share, two standard deviations below it, so that one reader of one does not rank as 100%."""
    if not whole:
        return 0.0
    mean, spread = part / whole, 4 / whole
    return (mean + spread / 2 - 2 * sqrt((mean * (1 - mean) + spread / 4) / whole)) / (1 + spread)


class Gathering:
    """Takes rows one by one, and keeps only what the report shows."""

    def __init__(self, number: int) -> None:
        self._rows = 0
        self._top: Top[Mapping[str, Any]] = Top(number)
        self._top_ai: Top[Mapping[str, Any]] = Top(number)
        self._top_human: Top[Mapping[str, Any]] = Top(number)
        self._sections: dict[str, Section] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds one row. A row without visitors is not a page with visitors."""
        self._rows += 1
        human, ai, total = counts = Totals(row["human"], row["ai"], row["total"])
        if not any(counts):
            return
        self._top.add(total, row)
        if human + ai >= MIN_READERS:
            self._top_ai.add(_at_least(ai, human + ai), row)
            self._top_human.add(_at_least(human, human + ai), row)
        _count(self._sections, row["path"], counts)

    def figures(self) -> Figures:
        """The figures of all rows that were added."""
        # A page counts as read by AI agents if its share of them is above that of all pages together.
        ai, human = (
            sum(getattr(one.readings, kind) for one in self._sections.values()) for kind in ("ai", "human")
        )
        usual = ai / (ai + human) if ai + human else 0.0
        return Figures(
            rows=self._rows,
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


def keep(row: Mapping[str, Any], kept: dict[str, Totals]) -> Totals:
    """The counts of a row, which are kept by its path. If a path comes twice, its highest counts are."""
    counts = Totals(row["human"], row["ai"], row["total"])
    kept[row["path"]] = max(kept.get(row["path"], counts), counts, key=lambda one: one.total)
    return counts


def compare(
    before: Iterable[Mapping[str, Any]],
    now: Mapping[str, Totals],
    number: int,
    *,
    name: str,
    dates: tuple[Days, Days],
    totals: Totals,
    totals_now: Totals,
    unfinished: bool = False,
) -> Comparison:
    """Compares rows as ``compare_visitors()`` does. It is not called here, because without a store it would fetch the period a second time."""
    then: dict[str, Totals] = {}
    sections: dict[str, Section] = {}
    for row in before:
        if any(counts := keep(row, then)):
            _count(sections, row["path"], counts)
    sides = ([(path, one.human, one.ai, one.total) for path, one in rows.items()] for rows in (now, then))
    found = _comparison(next(sides), totals_now, dates[1], next(sides), totals, dates[0])
    comparison = Comparison(
        name=name, dates=dates, totals=totals, unfinished=unfinished, rows=len(then), sections=sections
    )
    # People who leave while AI agents come are not seen in the sum of both.
    kinds = ("human", "ai", "total") if comparison.parted(totals_now) else ("total", "human", "ai")
    movers = {kind: found._movements(kind) for kind in kinds}
    of = next((kind for kind in kinds if movers[kind]), "total")

    def listed(how: str) -> list[Change]:
        places = [at for at, direction in movers[of] if direction == how]
        return [
            Change(row["path"], _side(row, "_before"), _side(row, ""), of)
            for row in map(found.__getitem__, places)
        ]

    risers, fallers, new, vanished = map(listed, ("riser", "faller", "new", "vanished"))
    return replace(
        comparison,
        of=of,
        risers=risers[:number],
        fallers=fallers[:number],
        new=new[:number],
        vanished=vanished[:number],
        new_pages=len(new),
        vanished_pages=len(vanished),
    )


def _side(row: Mapping[str, Any], name: str) -> Totals:
    return Totals(*(row[f"{kind}{name}"] for kind in Totals._fields))


def listed_sections(
    now: Mapping[str, Section], before: Mapping[str, Section]
) -> list[tuple[str, Section, Section | None]]:
    """The sections to list, now and, if any were read, before, the most read first. The rest of the site comes last."""
    none = Section()
    both = {name: (now.get(name, none), before.get(name, none)) for name in {**now, **before}}
    # A section with a single page is a page at the top of the site.
    own = [name for name, pair in both.items() if name != OTHER and max(one.pages for one in pair) > 1]
    own.sort(key=lambda name: (-max(one.readings.total for one in both[name]), name))
    own = own[:SECTIONS_SHOWN]
    rest = [pair for name, pair in both.items() if name not in own]
    listed: list[tuple[str, Section, Section | None]] = [(name, *both[name]) for name in own]
    if rest:
        listed.append((OTHER, _all(one for one, _ in rest), _all(was for _, was in rest)))
    return [(name, one, was if before else None) for name, one, was in listed]


def _all(sections: Iterable[Section]) -> Section:
    whole = Section()
    for one in sections:
        whole = whole.plus(*one)
    return whole


@dataclass(kw_only=True)
class Report(Figures):
    """Everything that a report shows."""

    project: str
    name: str
    """The period, such as ``October 2026``."""
    days: int | None
    """How many days it has; ``None`` if its first or last day was not given."""
    date_from: str | None
    date_to: str | None
    made: datetime
    """When the data was fetched, in UTC."""
    title: str = "Who reads the docs"
    site_url: str | None = None
    """The site's address, for links to its pages."""
    requests: dict[str, int] = field(default_factory=dict)
    """How many requests each part took."""
    totals: Totals | None = None
    warnings: list[str] = field(default_factory=list)
    trend: Trend | None = None
    comparison: Comparison | None = None
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why the trend or the comparison of pages is missing, if no option excludes it."""
    unfinished: bool = False
    """Whether the period had not ended yet."""


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
    """The length of a slice: ``day``, ``week`` or ``month``."""
    slices: Sequence[Slice]
    open_from: date | None = None
    """The first day whose counts may still change."""
    running: Sequence[date] = ()
    """The ends of slices that were not over when they were read."""

    def short(self, one: Slice) -> bool:
        """Whether a slice has less than a whole day, week or month, because the period cuts it or it is not over."""
        return self.cut(one) or self.is_running(one)

    def cut(self, one: Slice) -> bool:
        """Whether the period begins or ends within a slice."""
        return _is_cut(self.every, one.date_from, one.date_to)

    def is_running(self, one: Slice) -> bool:
        """Whether a slice was not over when it was read."""
        return one.date_to in self.running

    def named(self, one: Slice) -> str:
        """A slice's name: ``5 to 11 October 2026``, with ``(4 of 7 days)`` after it if it is cut, or ``(not over)``."""
        name = ranges.name(one.date_from, one.date_to) or ""
        if self.is_running(one):
            return f"{name} (not over)"
        if not self.cut(one):
            return name
        whole = 7 if self.every == "week" else monthrange(one.date_from.year, one.date_from.month)[1]
        return f"{name} ({(one.date_to - one.date_from).days} of {whole} days)"
