"""The stub's searches, feedback and conversations, made up or given by a test. Their pages follow each other by cursors;
feedback by page has one page."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from docplatform.testing import _story as story
from docplatform.testing._visitors import (
    GivenRows,
    MadeUpRows,
    Query,
    Rows,
    Served,
    check_served,
    parse_days,
    parse_integer,
)

Given = Served | None

_WORDS = (
    "webhooks",
    "api key",
    "rate limit",
    "terraform provider",
    "on premise",
    "sso",
    "pricing",
    "python sdk",
)
_PAGES = ("/getting-started/quickstart", "/api/errors", "/guides/webhooks", "/sdk/v1")
_RATED = [page.path for page in story.PAGES if page.human > 0.001 and "{" not in page.path]
"""The pages that are rated first; those of the long tail come after them."""
_READERS = 130_000
"""About the sum of each day's people in January 2026. The counts of events in this file are those of such a month."""

Problems = Sequence[story.Problem]


@dataclass(frozen=True)
class Shape:
    """How a listing answers."""

    items: str
    max_limit: int
    default_limit: int
    has_more: bool
    make: Callable[[int, datetime, range, Problems], dict[str, Any]]
    """Makes a row from its number, its time, the days of the range, and the problems that readers have in it."""


def _count(of_month: int, days: range) -> int:
    """The number of events in some days, of ``of_month`` in a usual month. It follows the readers, and days add up to their month exactly."""
    first, end = story.FIRST_DAY.toordinal(), story.END_DAY.toordinal()
    start, stop = (
        int(story.USUAL.until(max(first, min(day, end - 1)))[0] * of_month / _READERS)
        for day in (days.start, days.stop)
    )
    return stop - start


def _search(number: int, at: datetime, days: range, _: Problems) -> dict[str, Any]:
    word, page = _WORDS[number % len(_WORDS)], _PAGES[number % len(_PAGES)]
    misses = word in story.MISSED
    return {
        "searchQuery": word if number < len(_WORDS) else f"{word} {number // len(_WORDS) + 1}",
        # One a day at least: a phrase that nobody searched for would not be listed.
        "hits": len(days) + _count(400 // (number + 1), days),
        "ctr": 0.0 if misses else round(0.2 + number % 7 / 10, 2),
        "topClickedPage": None if misses else page,
        "lastSearchedAt": _text(at),
    }


def _feedback(number: int, at: datetime, _: range, problems: Problems) -> dict[str, Any]:
    source = ("contextual", "code_snippet", "agent")[number % 3]
    problem = problems[number // 6 % len(problems)] if number % 2 and problems else None
    row: dict[str, Any] = {
        "id": f"feedback-{at:%m%d}-{number + 1}",
        "path": problem.path if problem else _PAGES[number % len(_PAGES)],
        "source": source,
        "status": ("pending", "in_progress", "resolved")[number % 5 % 3],
        "comment": problem.comment
        if problem
        else None
        if source == "code_snippet"
        else "Thanks, this helped",
        "createdAt": _text(at),
    }
    row |= (
        {"code": "print(1)", "lang": "python"} if source == "code_snippet" else {"helpful": problem is None}
    )
    return row


def _turn(number: int, at: datetime, _: range, problems: Problems) -> dict[str, Any]:
    problem = problems[number // 4 % len(problems)] if number % 4 == 2 and problems else None
    page = problem.path if problem else _PAGES[number % len(_PAGES)]
    return {
        "id": f"turn-{at:%m%d}-{number + 1}",
        "timestamp": _text(at),
        "query": problem.question if problem else f"How do I set up {_WORDS[number % len(_WORDS)]}?",
        "response": "" if problem else "See the guide.",
        "responseType": "text",
        "sources": [{"title": page.rpartition("/")[2], "url": page}],
        "resolutionStatus": "unanswered" if problem else "answered",
        "queryCategory": ("setup", "reference", "other")[number % 3],
        "pageUrl": page,
    }


def _rated(number: int, _: datetime, days: range, problems: Problems) -> dict[str, Any]:
    path = _RATED[number] if number < len(_RATED) else story.tail(number - len(_RATED))[0]
    votes = (32 - number * 11 % 30, number % 3 if number >= len(_RATED) else 0, number % 3)
    for problem in problems:
        if problem.path == path:
            votes = (*problem.thumbs, number % 3)
    up, down, code = (_count(of_month, days) for of_month in votes)
    return {"path": path, "thumbsUp": up, "thumbsDown": down, "code": code, "total": up + down + code}


def _text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


SHAPES = {
    "searches": Shape("searches", 100, 50, False, _search),
    "feedback": Shape("feedback", 100, 50, True, _feedback),
    "feedback/by-page": Shape("feedback", 100, 10, True, _rated),
    "assistant": Shape("conversations", 1000, 100, True, _turn),
}


class CursorListing:
    """The rows of a listing, page by page. A cursor holds the position and the days, so that it may be sent without the dates."""

    def __init__(self, name: str, given: Given) -> None:
        self.name, self._shape, self._given = name, SHAPES[name], given
        if given is not None:
            check_served(self._shape.items, given)

    def parse(self, query: Mapping[str, str]) -> Query:
        """Read the parameters as sent; a wrong one is a ``ValueError`` that names it."""
        limit = parse_integer(query, "limit", self._shape.default_limit, 1, self._shape.max_limit)
        days, start = parse_days(query), 0
        if "cursor" in query:
            days, start = _read_cursor(query["cursor"])
        filters = {name: query[name].split(",") for name in ("source", "status") if name in query}
        return Query(days, start, limit, filters)

    def page(self, query: Query, problems: Problems) -> bytes:
        """The answer as JSON; ``problems`` are those that readers have on its days."""
        shape, days = self._shape, query.days
        rows = [dict(row) for row in self._rows(days, problems) if _is_wanted(row, query.filters)]
        end, is_cut_off = query.offset + query.limit, self.name.endswith("by-page")
        answer: dict[str, Any] = {shape.items: rows[query.offset : end]}
        if shape.has_more:
            answer["hasMore"] = end < len(rows)
        if self.name == "searches":
            answer["totalSearches"] = len(rows)
        if not is_cut_off:
            answer["nextCursor"] = _cursor(days, end) if end < len(rows) else None
        return json.dumps(answer, separators=(",", ":")).encode()

    def _rows(self, days: range, problems: Problems) -> Rows:
        first = date.fromordinal(days.start)
        if callable(self._given):
            return self._given(first, date.fromordinal(max(days.stop, days.start)))
        if not isinstance(self._given, int):
            return self._given or ()
        if days.stop <= days.start:
            return ()
        begin = datetime(first.year, first.month, first.day, tzinfo=UTC)
        step = timedelta(days=days.stop - days.start) / max(self._given, 1)
        return [
            self._shape.make(number, begin + number * step, days, problems) for number in range(self._given)
        ]


Listing = MadeUpRows | GivenRows | CursorListing
"""The source of an analytics route's pages."""


def _is_wanted(row: Mapping[str, Any], filters: Mapping[str, list[str]]) -> bool:
    return all(row.get(name) in values for name, values in filters.items() if name in row)


def _cursor(days: range, position: int) -> str:
    return urlsafe_b64encode(json.dumps([days.start, days.stop, position]).encode()).decode()


def _read_cursor(text: str) -> tuple[range, int]:
    try:
        start, stop, position = json.loads(urlsafe_b64decode(text))
        return range(start, stop), int(position)
    except (ValueError, TypeError) as error:
        raise ValueError("cursor: is not one of this listing") from error


THREAD = {
    "threadId": "thread-1",
    "createdAt": "2025-12-30T09:00:00Z",
    "messages": [
        {
            "id": "message-1",
            "role": "user",
            "content": "How do I rotate my API key?",
            "createdAt": "2025-12-30T09:00:00Z",
        },
        {
            "id": "message-2",
            "role": "assistant",
            "content": "See the guide.",
            "createdAt": "2025-12-30T09:00:04Z",
        },
    ],
}
"""The one conversation that can be read by its id."""

CALLER_STATS = {"web": 310, "api": 25, "other": 4, "total": 339}
