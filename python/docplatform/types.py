"""The small values that answers are made of. Everything here is data: immutable, comparable, picklable."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Attempt", "Source", "Stats", "Totals", "VisitorsPage"]


class Totals(NamedTuple):
    """Unique visitors of a whole site and range.

    Uniques do not add up: not over paths, not over days, and not over kinds, as a visitor seen both
    as human and as AI counts once in ``total``. Counts are approximate.
    """

    human: int
    """Unique people."""
    ai: int
    """Unique AI agents."""
    total: int
    """Unique visitors, deduplicated; need not be ``human + ai``."""


class VisitorsPage(NamedTuple):
    """One page of visitors, or what was left of it when it was asked for."""

    rows: list[dict[str, Any]]
    """``{"path": str, "human": int, "ai": int, "total": int}`` and whatever else the service sent."""
    totals: Totals | None
    """The totals that came with the page."""
    offset: int
    """The first row's offset in the service's listing."""
    has_more: bool
    """Whether the service said that more follows."""


class Source(NamedTuple):
    """What a job's agent works on."""

    repository: str | None
    """The repository."""
    ref: str | None
    """The branch, tag or commit; may be missing."""


class Attempt(NamedTuple):
    """One try of a call that failed. ``DocPlatformError.attempts`` lists them, oldest first."""

    number: int
    """1 for the first."""
    status: int | None
    """The HTTP status, where an answer came."""
    error: str
    """The class of the failure and its reason, with the service's request id where it gave one."""
    elapsed: float
    """How long the try took, in seconds."""
    waited: float
    """How long was paused before it, in seconds."""


class Stats(NamedTuple):
    """Counts of a client and all its handles at one moment."""

    requests: int
    """Requests that were sent, retries included."""
    retries: int
    """Retries among them."""
    waited: float
    """Seconds spent in pauses between attempts, and waiting for the request budget."""
    budget_left: int | None
    """Requests that the budget would grant now; ``None`` without a budget, and once the client is closed."""
