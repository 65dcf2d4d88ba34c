"""The figures of a report, computed from rows while they are read.

Unique visitors are never added up. Sections add up page visits: a visitor counts once for each page.
"""

from __future__ import annotations

import heapq
from calendar import monthrange
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from docplatform import Totals
from docplatform._hooks import ranges
from docplatform._hooks.numbers import Moved, at_least, moved
from docplatform._hooks.paths import MACHINE
from docplatform._native import _comparison, _is_cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date, datetime

    from docplatform import DocPlatformError
    from docplatform._hooks.numbers import Days
    from docplatform.cli.report.parts import Part

MAX_SECTIONS = 2_000
"""The most sections that are counted while rows are read, to limit memory."""
SECTIONS_SHOWN = 12
"""The most sections that are listed."""
MIN_READERS = 20
"""With fewer readers, a page's share of AI agents means nothing."""
OTHER = "…"
"""The sections beyond MAX_SECTIONS. No path can have this name."""

Row = tuple[str, int, int, int]
"""A path, and its people, AI agents and all visitors."""


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


class Section(NamedTuple):
    """A section of the site: how many pages it has, and how often they were read before and now."""

    name: str
    pages: int
    before: int
    now: int
    way: str = ""
    """``rose`` or ``fell``, if it moved by more than the whole site did."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The period before, and the pages and sections that changed since."""

    name: str
    """Such as ``September 2026``."""
    dates: tuple[Days, Days]
    """Its days, and those of the period that is compared with it."""
    totals: Totals
    of: str = "total"
    """The kind of readers whose changes are listed."""
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
    sections: Sequence[Section] = ()
    """The visits of this kind by section, those that moved first."""

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


@dataclass(kw_only=True)
class Figures:
    """The figures that :class:`Gathering` computes from rows."""

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
    sections: Mapping[str, Visits] = field(default_factory=dict)


class Visits(NamedTuple):
    """The pages of a section, and how often they were read."""

    pages: int
    ai: int
    total: int


class Top:
    """Keeps the ``number`` values with the highest ranks, and only those in memory."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.seen: int = 0
        """How many values were added."""
        self._heap: list[tuple[float, int, Any]] = []

    def add(self, rank: float, value: object) -> None:
        """Adds one value. Of values with the same rank, the earlier ones are kept."""
        self.seen += 1
        # The second place is different in every entry, so that values are never compared.
        heapq.heappush(self._heap, (rank, -self.seen, value))
        if len(self._heap) > self._number:
            heapq.heappop(self._heap)

    def ranked(self) -> list[tuple[float, Any]]:
        """Ranks and values, the highest first."""
        return [(rank, value) for rank, _, value in sorted(self._heap, reverse=True)]


class Gathering:
    """Takes rows one by one, and keeps only what the report shows."""

    def __init__(self, number: int) -> None:
        self._rows = self._human = self._ai = 0
        self._top, self._top_ai, self._top_human = Top(number), Top(number), Top(number)
        self._sections: dict[str, Visits] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds one row. A row without visitors is not a page with visitors."""
        self._rows += 1
        human, ai, total = row["human"], row["ai"], row["total"]
        if not human and not ai and not total:
            return
        self._human, self._ai = self._human + human, self._ai + ai
        self._top.add(total, row)
        if human + ai >= MIN_READERS and not MACHINE.search(row["path"]):
            self._top_ai.add(at_least(ai, human + ai, 2), row)
            self._top_human.add(at_least(human, human + ai, 2), row)
        name = f"/{row['path'].lstrip('/').partition('/')[0]}"
        if name not in self._sections and len(self._sections) >= MAX_SECTIONS:
            name = OTHER
        pages, agents, visits = self._sections.get(name, (0, 0, 0))
        self._sections[name] = Visits(pages + 1, agents + ai, visits + total)

    def figures(self) -> Figures:
        """The figures of all rows that were added."""
        # A page counts as read by AI agents if its share of them is above that of all pages together.
        both = self._ai + self._human
        usual = self._ai / both if both else 0.0
        return Figures(
            rows=self._rows,
            pages=self._top.seen,
            top=[row for _, row in self._top.ranked()],
            top_ai=[row for least, row in self._top_ai.ranked() if least > usual],
            top_human=[row for least, row in self._top_human.ranked() if least > 1 - usual],
            sections=self._sections,
        )


def compare(site: Comparison, before: Sequence[Row], now: Sequence[Row], totals_now: Totals) -> Comparison:
    """Adds pages and sections, compared as ``compare_visitors()`` does. It is not called here, because without a store it would fetch the period a second time."""
    found = _comparison(now, totals_now, site.dates[1], before, site.totals, site.dates[0])
    # People who leave while AI agents come are not seen in the sum of both.
    kinds = ("human", "ai", "total") if site.parted(totals_now) else ("total", "human", "ai")

    def sections(of: Any) -> Iterator[Section]:
        pace = 1 + getattr(found.pace, of)
        for row in found.sections(of):
            then, visits = row["before"], row["now"]
            rose, fell = visits > max(then, pace * then), visits < min(then, pace * then)
            way = "rose" if rose else "fell" if fell else ""
            yield Section(row["section"], row["paths"], then, visits, way if row["significant"] else "")

    moves = ((of, found._movements(of), [*sections(of)]) for of in kinds)
    first = next(moves)
    of, pages, parts = next((one for one in (first, *moves) if one[1] or any(s.way for s in one[2])), first)

    def listed(how: str) -> list[Change]:
        rows = (found[at] for at, direction in pages if direction == how)
        return [Change(row["path"], _side(row, "_before"), _side(row, ""), of) for row in rows]

    return replace(
        site, of=of, rows=len(before), risers=listed("riser"), fallers=listed("faller"), new=listed("new"),
        vanished=listed("vanished"), sections=parts,
    )  # fmt: skip


def _side(row: Mapping[str, Any], name: str) -> Totals:
    return Totals(*(row[f"{kind}{name}"] for kind in Totals._fields))


@dataclass(kw_only=True)
class Report(Figures):
    """Everything that a report shows."""

    project: str
    name: str
    """The period, such as ``October 2026``."""
    days: int
    """How many days it has."""
    made: datetime
    """When it was made, in UTC. What a store had was fetched earlier."""
    title: str = "Who reads the docs"
    number: int = 10
    """How many pages each list shows."""
    site_url: str | None = None
    """The site's address, for links to its pages."""
    requests: dict[str, int] = field(default_factory=dict)
    """How many requests each part took."""
    totals: Totals | None = None
    warnings: list[str] = field(default_factory=list)
    trend: Trend | None = None
    comparison: Comparison | None = None
    fixes: Sequence[tuple[Mapping[str, Any], str]] = ()
    """The problems that readers met, the costliest first, each with the command that hands it to the docs agent."""
    left_out: dict[Part, str] = field(default_factory=dict)
    """Why a part is missing that no option excludes."""
    more: dict[Part, tuple[str, str]] = field(default_factory=dict)
    """The command that adds such a part, and what it costs."""
    unfinished: bool = False
    """Whether the period had not ended yet."""
    failed: DocPlatformError | None = None
    """The error of a part that an option asked for."""

    @property
    def fell(self) -> bool:
        """Whether the site lost readers."""
        found = self.comparison
        return found is not None and self.totals is not None and self.totals.total < found.totals.total


class Slice(NamedTuple):
    """The site's unique visitors of a day, a week or a month."""

    date_from: date
    date_to: date
    human: int
    ai: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Trend:
    """A range in slices, two or more, in order."""

    every: str
    """The length of a slice: ``day``, ``week`` or ``month``."""
    slices: Sequence[Slice]
    open_from: date | None = None
    """The first day whose counts may still change."""
    running: Sequence[date] = ()
    """The ends of slices that were not over when they were read."""
    period: Days | None = None
    """The days of the report, if the trend shows more than these."""

    def marked(self, one: Slice) -> bool:
        """Whether a slice has days of the report, if others have none."""
        return self.period is not None and one.date_from < self.period[1] and one.date_to > self.period[0]

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
        """A slice's name: ``8 to 11 October 2026 (4 of 7 days)``, ``October 2026 (this report, not over)``."""
        facts = []
        if self.period is not None and self.marked(one):
            begins, ends = self.period
            if (one.date_from, one.date_to) == self.period:
                facts.append("this report")
            else:
                is_part = begins <= one.date_from and one.date_to <= ends
                facts.append("part of this report" if is_part else "has days of this report")
        if self.is_running(one):
            facts.append("not over")
        elif self.cut(one):
            whole = 7 if self.every == "week" else monthrange(one.date_from.year, one.date_from.month)[1]
            facts.append(f"{(one.date_to - one.date_from).days} of {whole} days")
        name = ranges.name(one.date_from, one.date_to) or ""
        return f"{name} ({', '.join(facts)})" if facts else name
