"""The stub's visitors and views: made up, given by a test, or made by a test's function."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from docplatform.testing import _story as story

if TYPE_CHECKING:
    _Kind = Literal["visitors", "views"]

TODAY = date(2026, 1, 1).toordinal()
"""The stub's idea of today: a fixed one, so that a query without dates is the same in every run."""

DEFAULT_DAYS = 30
DEFAULT_LIMIT = 50
MAX_LIMIT = 250

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Query:
    """A query of an analytics listing: ordinals of days, how many rows to skip, how many to send."""

    days: range
    offset: int
    limit: int
    filters: Mapping[str, list[str]] = field(default_factory=dict)
    """The values of each column that are asked for."""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Query:
        """Read the parameters as sent. A wrong one is a ``ValueError`` that names it.

        ``dateTo`` is excluded. An end that is left open lies 30 days from the other one; without
        either these are the 30 days before the stub's fixed today, 2026-01-01. An inverted range
        has no days.
        """
        limit = parse_integer(query, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
        offset = parse_integer(query, "offset", 0, 0, 2**63 - 1)
        return cls(parse_days(query), offset, limit)


def parse_days(query: Mapping[str, str]) -> range:
    """The days of a query, as ordinals; a wrong date is a ``ValueError`` that names it."""
    start, end = _parse_day(query, "dateFrom"), _parse_day(query, "dateTo")
    if start is None:
        end = TODAY if end is None else end
        start = end - DEFAULT_DAYS
    return range(start, start + DEFAULT_DAYS if end is None else end)


def parse_integer(query: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    """A number of a query; a wrong one is a ``ValueError`` that names it."""
    text = query.get(name)
    if text is None:
        return default
    # The length is checked first, because int() refuses thousands of digits with an error of its own.
    number = int(text) if len(text) < 20 and text.isascii() and text.isdigit() else -1
    if not low <= number <= high:
        raise ValueError(f"{name}: must be an integer from {low} to {high}")
    return number


def _parse_day(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError("of another form")
        moment = datetime.fromisoformat(text)
        # The time zone of a date is open in the contract: here a day is one of UTC. The time of
        # day is cut off.
        return (moment.astimezone(UTC) if moment.tzinfo else moment).toordinal()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}: must be YYYY-MM-DD or an ISO 8601 date-time") from error


Rows = Sequence[Mapping[str, Any]]


def _page(name: str, totals: str, rows: Sequence[str], has_more: bool) -> bytes:
    more = "true" if has_more else "false"
    return f'{{"totals":{totals},"{name}":[{",".join(rows)}],"hasMore":{more}}}'.encode()


class MadeUpRows:
    """The first ``count`` pages of the made-up site, roughly the most read first: the service promises no order.

    There is nobody outside 2015 to 2099. What the rows of a range have in common is prepared once, and a row is a formula of its
    rank: the millionth costs what the first one does.
    """

    def __init__(self, kind: _Kind, count: int, totals: Mapping[str, Any] | None = None) -> None:
        self.parse = Query.parse
        self._kind = kind
        self._count = count
        self._given = None if totals is None else json.dumps(dict(totals))
        self._prepared = lru_cache(maxsize=64)(self._prepare)
        self._totals = lru_cache(maxsize=64)(self._total)

    def page(self, query: Query, _: Sequence[story.Problem]) -> bytes:
        """The answer as JSON. A range without readers has no rows."""
        days = range(max(query.days.start, _FIRST), min(query.days.stop, _END))
        count = self._count if days else 0
        end = query.offset + query.limit
        rows = [
            f'{{"path":"{path}","human":{human},"ai":{ai},"total":{total}}}'
            for path, human, ai, total in self._rows(days, query.offset, min(end, count))
        ]
        totals = self._given or (self._totals(days) if count else '{"human":0,"ai":0,"total":0}')
        return _page(self._kind, totals, rows, end < count)

    def _rows(self, days: range, first: int, end: int) -> Iterator[_Row]:
        if first >= end:
            return
        pages, courses = self._prepared(days)
        yield from pages[first:end]
        for rank in range(max(first, len(pages)), end):
            path, human, ai, course = story.tail(rank - len(pages))
            yield self._made(path, human, ai, courses[course], days)

    def _prepare(self, days: range) -> tuple[list[_Row], list[_Ends]]:
        month = story.month_of(date.fromordinal(days.stop - 1))
        pages = [
            self._made(page.path_in(month), page.human, page.ai, _ends(page.course, days), days)
            for page in story.PAGES[: self._count]
        ]
        return sorted(pages, key=lambda row: -row[-1]), [_ends(course, days) for course in story.COURSES]

    def _made(self, path: str, human: float, ai: float, ends: _Ends, days: range) -> _Row:
        """A row of the readers of this part of the site."""
        (people, agents), (people_first, agents_first), (people_end, agents_end) = ends
        if self._kind == "views":
            # Whole numbers of all views until a day: what is between two days adds up exactly. One more a day, so that
            # none has fewer views than visitors.
            seen = len(days) + int(_VIEWS * human * people_end) - int(_VIEWS * human * people)
            seen_ai = int(_VIEWS_AI * ai * agents_end) - int(_VIEWS_AI * ai * agents)
            return path, seen, seen_ai, seen + seen_ai
        # A quarter of the visitors of every day but the first had been there before: uniques do not add up.
        unique = int(human * (people_first - people + 0.75 * (people_end - people_first)))
        unique_ai = int(ai * (agents_first - agents + 0.75 * (agents_end - agents_first)))
        # A row is a page that somebody read.
        unique = max(unique, 0 if unique_ai else 1)
        return path, unique, unique_ai, unique + unique_ai - min(unique, unique_ai) * 3 // 100

    def _total(self, days: range) -> str:
        if self._kind == "views":
            counts = [0, 0, 0]
            for _, *row in self._rows(days, 0, self._count):
                counts = [sum(pair) for pair in zip(counts, row, strict=True)]
        else:
            _, *counts = self._made("", 1.0, 1.0, _ends(story.USUAL, days), days)
        return json.dumps(dict(zip(_COUNTS, counts, strict=True)))


_Row = tuple[str, int, int, int]
_Ends = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
"""The reads of people and AI agents before a range, after its first day, and at its end."""

_FIRST, _END = story.FIRST_DAY.toordinal(), story.END_DAY.toordinal()
_COUNTS = ("human", "ai", "total")
_VIEWS, _VIEWS_AI = 1.7, 1.2
"""How often a visitor of a day opens a page: people, and AI agents."""


def _ends(course: story.Course, days: range) -> _Ends:
    return course.until(days.start), course.until(days.start + 1), course.until(days.stop)


class GivenRows:
    """Rows that a test makes for the days of each request. Without ``totals`` these are the sums of the rows, which the service's would
    not be.
    """

    def __init__(
        self, kind: _Kind, rows: Callable[[date, date], Rows], totals: Mapping[str, Any] | None = None
    ) -> None:
        self.parse = Query.parse
        self._kind = kind
        self._rows = rows
        self._totals = totals

    def page(self, query: Query, _: Sequence[story.Problem]) -> bytes:
        """The answer as JSON."""
        last = date.max.toordinal()
        start, stop = (date.fromordinal(min(day, last)) for day in (query.days.start, query.days.stop))
        rows = self._rows(start, stop)
        end = query.offset + query.limit
        totals = json.dumps(_sums(rows) if self._totals is None else dict(self._totals))
        listed = [json.dumps(dict(row)) for row in rows[query.offset : end]]
        return _page(self._kind, totals, listed, end < len(rows))


def _sums(rows: Rows) -> dict[str, int]:
    # A row may be wrong on purpose: what is no count is left out of the sum.
    return {name: sum(count for row in rows if isinstance(count := row.get(name), int)) for name in _COUNTS}


Served = int | Rows | Callable[[date, date], Rows]
"""A number of made-up pages, rows, or a function that makes the rows of a range."""


def listing(kind: _Kind, served: Served, totals: Mapping[str, Any] | None = None) -> MadeUpRows | GivenRows:
    """The source for what a test gives; a ``ValueError`` or ``TypeError`` if that cannot be served."""
    check_served(kind, served)
    if isinstance(served, int):
        return MadeUpRows(kind, served, totals)
    if callable(served):
        return GivenRows(kind, lambda *days: list(served(*days)), totals)
    # In the test's order, whatever the dates asked for, and added up only once.
    rows = [dict(row) for row in served]
    return GivenRows(kind, lambda *_: rows, _sums(rows) if totals is None else totals)


def check_served(name: str, served: Any) -> None:
    """A ``ValueError`` or ``TypeError`` where it is given, and not in the middle of a test, if it cannot be served."""
    if isinstance(served, int) and not isinstance(served, bool):
        if served < 0:
            raise ValueError(f"{name} must be at least 0, not {served}")
    elif not callable(served) and (
        # An iterator would be empty at the second page.
        isinstance(served, str | bytes | Mapping | Iterator) or not isinstance(served, Iterable)
    ):
        raise TypeError(
            f"{name} must be a number of rows, a sequence of rows, or a function that returns one"
        )
    elif not callable(served):
        for row in served:
            if not isinstance(row, Mapping):
                # Such as the columns of a frame.
                raise TypeError(f"{name}: a row must be a dict, not {type(row).__name__}")
            try:
                json.dumps(dict(row))
            except (TypeError, ValueError) as error:
                raise TypeError(f"{name}: a row cannot be sent as JSON: {error}") from error
