"""The made-up site of the stub: its pages, and how many people and AI agents read each of them on which days.

It is a story to try an analysis on. Fewer people come at weekends and over the new year; each year from 2020 to 2031 has a
quarter more of them. AI agents grow faster, and hardly rest. A release in March and one in October bring a rush, and
pages of their own, which fall from then on and vanish with the next one. Every month has a new page in the changelog.
Some pages rise while others fall. AI agents read ``/llms.txt`` and ``/openapi.json``, which people hardly do; people read tutorials.

Every number is a function of the day, so the stub tells the same story in every run.
"""

from __future__ import annotations

from bisect import bisect_right
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import accumulate
from math import exp, pi, sin

FIRST_DAY = date(2015, 1, 1)
"""The first day that has visitors."""
END_DAY = date(2100, 1, 1)
"""The first day after the last one that has visitors."""

_YEAR = 365.25
_PEOPLE = 5_000.0
"""People on a workday at the beginning of 2026."""
_RELEASE_WEEKS = (11, 42)
"""The ISO weeks on whose Tuesdays there is a release."""
_RELEASE_MONTHS = (3, 10)
"""The months of these weeks."""

Level = Callable[[int], float]
"""How much a page is read in a month, counted from January 2015; 1.0 is its usual."""


def _years(day: date) -> float:
    """Since the beginning of 2026, about."""
    return (day.toordinal() - date(2026, 1, 1).toordinal()) / _YEAR


def _make_releases(year: int) -> list[date]:
    return [date.fromisocalendar(year, week, 2) for week in _RELEASE_WEEKS]


_released = cache(_make_releases)


def _rush(day: date) -> float:
    """The rush after a release: 1.0 on its day, half of that four days later."""
    past = min((ahead for one in _released(day.year) if (ahead := (day - one).days) >= 0), default=365)
    return float(0.5 ** (past / 4))


def _read_on(day: date) -> tuple[float, float]:
    """How many people and how many AI agents read the site on a day."""
    # It has not always grown, and will not for ever.
    years = max(-6.0, min(_years(day), 6.0))
    usual = _PEOPLE * 1.25**years
    # A day is a little better or worse than another, by what looks like chance.
    at = day.toordinal()
    usual *= 1 + ((37 * at + 411) * at % 997 - 498) / 15_000
    agents = usual * 1.1 / (1 + exp(-0.8 * (years - 0.4)))
    if day.weekday() >= 5:
        usual, agents = usual * 0.4, agents * 0.85
    if (day.month, day.day) >= (12, 23) or (day.month, day.day) <= (1, 2):
        usual *= 0.6
    rush = _rush(day)
    return usual * (1 + 0.5 * rush), agents * (1 + 0.2 * rush)


def _make_days(month: int) -> tuple[list[float], list[float]]:
    """The readers of a month, up to each of its days: people, AI agents."""
    year, at = FIRST_DAY.year + month // 12, month % 12 + 1
    read = [_read_on(date(year, at, day)) for day in range(1, monthrange(year, at)[1] + 1)]
    people, agents = zip(*read, strict=True)
    return list(accumulate(people, initial=0.0)), list(accumulate(agents, initial=0.0))


_days_of = cache(_make_days)


def month_of(day: date) -> int:
    """The month of a day, counted from January 2015."""
    return (day.year - FIRST_DAY.year) * 12 + day.month - 1


class Course:
    """How much is read over time where some months are above the usual and others below it."""

    def __init__(self, level: Level = lambda _: 1.0) -> None:
        self._level = level
        self._before = [(0.0, 0.0)]
        """The readers before each month, as far as they were computed."""

    def until(self, ordinal: int) -> tuple[float, float]:
        """The reads of people and AI agents before a day from FIRST_DAY to END_DAY. The difference of two days is a range's."""
        day = date.fromordinal(ordinal)
        month = month_of(day)
        while len(self._before) <= month:
            at = len(self._before) - 1
            people, agents = _days_of(at)
            level, (before, before_ai) = self._level(at), self._before[-1]
            self._before.append((before + level * people[-1], before_ai + level * agents[-1]))
        level, (before, before_ai) = self._level(month), self._before[month]
        people, agents = _days_of(month)
        return before + level * people[day.day - 1], before_ai + level * agents[day.day - 1]


def _wave(size: float, best: float) -> Level:
    """A year's ups and downs; ``best`` is the highest month, 0 for January."""
    return lambda month: exp(size * sin(pi * (month - best + 3) / 6))


def _changing(factor: float, months: int) -> Level:
    """The level is multiplied by ``factor`` every month from the middle of 2025 on, for some months."""
    return lambda month: float(factor ** min(max(month - month_of(date(2025, 6, 1)), 0), months))


def _since_release(month: int) -> float:
    """New with a release, and two fifths less every month from then on."""
    return float(0.6 ** (month - _release(month)))


def _release(month: int) -> int:
    """The month of the last release."""
    in_year = [at - 1 for at in _RELEASE_MONTHS]
    found = bisect_right(in_year, month % 12)
    return month - month % 12 + (in_year[found - 1] if found else in_year[-1] - 12)


USUAL = Course()
"""How much is read of a page that is nothing special, and of the whole site."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site, and which part of the people and of the AI agents who come reads it."""

    path: str
    """With ``{month}``, ``{before}`` or ``{release}`` in it there is another such page from month to month, or from release to release."""
    human: float
    ai: float
    course: Course = USUAL

    def path_in(self, month: int) -> str:
        """Its path in a month."""
        if "{" not in self.path:
            return self.path
        released = _release(month)
        spring = released % 12 + 1 == _RELEASE_MONTHS[0]
        return self.path.format(
            month=_named(month),
            before=_named(month - 1),
            release=f"v{(FIRST_DAY.year + released // 12) % 100}.{1 if spring else 2}",
        )


def _named(month: int) -> str:
    return f"{FIRST_DAY.year + month // 12}-{month % 12 + 1:02}"


PAGES = (
    Page("/", 0.34, 0.09),
    Page("/getting-started/quickstart", 0.25, 0.17),
    Page("/llms.txt", 0.0006, 0.12, Course(_changing(1.1, 18))),
    Page("/api/authentication", 0.15, 0.22, Course(_wave(0.3, 11))),
    Page("/guides/webhooks", 0.09, 0.08, Course(_wave(0.6, 0))),
    Page("/sdk/v1", 0.3, 0.15, Course(_changing(0.88, 36))),
    Page("/api/reference", 0.12, 0.26),
    Page("/changelog/{month}", 0.07, 0.02),
    Page("/openapi.json", 0.0004, 0.06, Course(_changing(1.1, 18))),
    Page("/releases/{release}", 0.2, 0.06, Course(_since_release)),
    Page("/tutorials/first-project", 0.11, 0.0008),
    Page("/guides/migrate-to-{release}", 0.09, 0.05, Course(_since_release)),
    Page("/changelog/{before}", 0.02, 0.015),
    Page("/guides/deployment", 0.08, 0.05, Course(_wave(0.7, 6))),
    Page("/api/errors", 0.03, 0.13),
    Page("/cli/installation", 0.07, 0.04, Course(_wave(0.2, 5))),
    Page("/llms-full.txt", 0.0002, 0.03, Course(_changing(1.1, 18))),
    Page("/tutorials/build-a-dashboard", 0.05, 0.0005, Course(_wave(0.3, 3))),
    Page("/concepts/architecture", 0.05, 0.03),
    Page("/community/showcase", 0.03, 0.0003),
)
"""The pages that the story is about; those of :func:`tail` come after them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A page that readers stumble over and turn away from, and what they say of it."""

    path: str
    thumbs: tuple[int, int]
    """Up and down, in a month like January 2026."""
    comment: str
    question: str


PROBLEMS = (
    Problem("/guides/deployment", (10, 30), "Step 3 fails with a proxy", "How do I deploy through a proxy?"),
    Problem("/sdk/v1", (8, 52), "The example calls a removed function", "What replaces connect()?"),
    Problem("/cli/installation", (28, 12), "The command is not found", "How do I install it without root?"),
)
"""The pages that readers stumble over, the costliest of October 2026 first."""
MISSED = ("terraform provider", "on premise")
"""The phrases that readers search for, without a page to open."""


_SECTIONS = {
    "getting-started": 0.6,
    "guides": 0.8,
    "api": 1.6,
    "reference": 1.7,
    "sdk": 1.4,
    "cli": 1.1,
    "concepts": 0.8,
    "integrations": 1.0,
    "tutorials": 0.15,
    "security": 0.9,
    "faq": 0.3,
    "changelog": 0.4,
}
"""The site's sections, and how much of a page's readers AI agents are there, beside what is usual."""
_TOPICS = (
    "overview configuration errors pagination authentication permissions deployment testing examples limits migration "
    "troubleshooting billing search analytics monitoring caching localization"
).split()
_NAMES = [(f"/{section}/{topic}", ai) for topic in _TOPICS for section, ai in _SECTIONS.items()]
_TAKEN = {page.path for page in PAGES}
_NAMED = [named for named in _NAMES if named[0] not in _TAKEN]
COURSES = [Course(_wave(0.05 + 0.03 * (at % 7), at * 12 / 23)) for at in range(23)]
"""How much the pages of the long tail are read."""


def tail(rank: int) -> tuple[str, float, float, int]:
    """A page of the long tail: its path, its parts of the people and of the AI agents, and which of COURSES it takes."""
    name, ai = _NAMED[rank % len(_NAMED)]
    part = 0.22 * (rank + len(PAGES)) ** -0.75
    if rank >= len(_NAMED):
        name = f"{name}/{rank // len(_NAMED) + 1}"
    return name, part, part * ai * (0.6 + rank * 7_919 % 41 / 50), rank * 7 % len(COURSES)
