"""Visitors that nobody counted: the same in every run, for any range of days, without a wait.

A synthetic page is a closed form of its rank and of the weight of the days asked for. Nothing is
stored and nothing is sorted, so the millionth row costs what the first one does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import accumulate
from typing import Any, Protocol

FIRST_DAY = date(2015, 1, 1).toordinal()
"""The first day that has visitors, as an ordinal."""

END_DAY = date(2100, 1, 1).toordinal()
"""The first day after the last one that has visitors."""

TODAY = date(2026, 1, 1).toordinal()
"""The stub's idea of today: a fixed one, so that a query without dates is the same in every run."""

DEFAULT_DAYS = 30
DEFAULT_LIMIT = 50
MAX_LIMIT = 250

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_SECTIONS = (
    "getting-started api guides concepts cli sdk integrations reference tutorials security faq changelog"
).split()
_TOPICS = (
    "overview installation quickstart authentication configuration errors pagination webhooks "
    "deployment migration testing examples limits troubleshooting permissions billing search "
    "analytics"
).split()
_NAMES = [f"/docs/{section}/{topic}" for topic in _TOPICS for section in _SECTIONS]

# A weekend day of the first year. Every other weight is at least this, which is what keeps the
# totals of two neighbouring ranks apart, and so the order by total the order by rank.
_UNIT = 6
_WEEKDAY = 10


@dataclass(frozen=True, slots=True)
class Query:
    """A visitors query: ordinals of days, how many rows to skip, how many to send."""

    days: range
    offset: int
    limit: int

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Query:
        """Read the parameters as sent. A wrong one is a ``ValueError`` that names it.

        ``dateTo`` is excluded. An end that is left open lies 30 days from the other one; without
        either these are the 30 days before the stub's fixed today, 2026-01-01. An inverted range
        has no days.
        """
        limit = _parse_integer(query, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
        offset = _parse_integer(query, "offset", 0, 0, 2**63 - 1)
        start, end = _parse_day(query, "dateFrom"), _parse_day(query, "dateTo")
        if start is None:
            end = TODAY if end is None else end
            start = end - DEFAULT_DAYS
        return cls(range(start, start + DEFAULT_DAYS if end is None else end), offset, limit)


def _parse_integer(query: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    # The length is looked at first: int() refuses thousands of digits with an error of its own.
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


class Visitors(Protocol):
    """What the analytics route reads its pages from."""

    def page(self, query: Query) -> bytes:
        """The visitors object as JSON."""
        ...


def _page(totals: str, rows: list[str], has_more: bool) -> bytes:
    more = "true" if has_more else "false"
    return f'{{"totals":{totals},"visitors":[{",".join(rows)}],"hasMore":{more}}}'.encode()


def _day_weight(ordinal: int) -> int:
    # Day 1 of the proleptic calendar was a Monday. Traffic grows by a tenth of a weekday a year.
    weekend = ordinal % 7 in (6, 0)
    return (_UNIT if weekend else _WEEKDAY) + (ordinal - FIRST_DAY) // 365


# Running sums over all days: one subtraction gives the weight of any range.
_SUMS = list(accumulate(map(_day_weight, range(FIRST_DAY, END_DAY)), initial=0))


def range_weight(days: range) -> int:
    """How much traffic a range of days sees; 0 for a range without any visitors.

    A quarter of the visitors of every day but the first were there before. Uniques of single days
    therefore do not add up to those of the range, as they do not in the service.
    """
    start, end = max(days.start, FIRST_DAY), min(days.stop, END_DAY)
    if start >= end:
        return 0
    before = _SUMS[start - FIRST_DAY]
    first = _SUMS[start - FIRST_DAY + 1] - before
    return first + (_SUMS[end - FIRST_DAY] - before - first) * 3 // 4


class SyntheticVisitors:
    """``count`` invented documentation pages, the most visited first.

    Counts follow the days asked for: fewer at weekends, slowly growing over the years, none outside
    2015 to 2099. The totals are those of distinct visitors, and far below the sum of the rows.
    """

    def __init__(self, count: int, totals: Mapping[str, Any] | None = None) -> None:
        self._count = count
        self._totals = None if totals is None else json.dumps(dict(totals))

    def page(self, query: Query) -> bytes:
        """See :class:`Visitors`. A range without visitors has no rows."""
        weight = range_weight(query.days)
        count = self._count if weight else 0
        end = query.offset + query.limit
        rows = [self._row(rank, weight) for rank in range(query.offset, min(end, count))]
        return _page(self._totals or self._sum(weight), rows, end < count)

    def _row(self, rank: int, weight: int) -> str:
        # Strictly falling in the rank, so no two pages tie: a long slope, and a steep head on it.
        base = self._count - rank + 4 * self._count // (rank + 1)
        total = base * weight // _UNIT
        ai = total * (10 + rank * 7919 % 36) // 100
        seen_as_both = ai * (rank * 31 % 20) // 100
        human = total - ai + seen_as_both
        path = _NAMES[rank % len(_NAMES)]
        if rank >= len(_NAMES):
            path += f"/{rank // len(_NAMES) + 1}"
        return f'{{"path":"{path}","human":{human},"ai":{ai},"total":{total}}}'

    def _sum(self, weight: int) -> str:
        # Never below the most visited page, never as much as all of them together.
        top = 5 * self._count * weight // _UNIT
        total = top + top * max(self._count.bit_length() - 1, 0) // 8
        return f'{{"human":{total - total // 20},"ai":{(total + 1) // 2},"total":{total}}}'


class GivenVisitors:
    """Rows as a test wrote them, in its order, whatever the dates asked for.

    They are turned into JSON once, here: a row that JSON cannot hold is a ``TypeError`` where it is
    given, and not in the middle of a test. Without ``totals`` these are the sums of the rows, which
    the service's would not be.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], totals: Mapping[str, Any] | None = None) -> None:
        self._rows = [json.dumps(dict(row)) for row in rows]
        if totals is None:
            totals = {name: _total(rows, name) for name in ("human", "ai", "total")}
        self._totals = json.dumps(dict(totals))

    def page(self, query: Query) -> bytes:
        """See :class:`Visitors`."""
        end = query.offset + query.limit
        return _page(self._totals, self._rows[query.offset : end], end < len(self._rows))


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    # A row may be wrong on purpose: what is no count is left out of the sum.
    return sum(count for row in rows if isinstance(count := row.get(name), int))
