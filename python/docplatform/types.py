"""The small values that answers are made of. Everything here is data: immutable, comparable, picklable."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

if TYPE_CHECKING:
    from docplatform.errors import DocPlatformError

__all__ = [
    "Attempt",
    "DatasetReport",
    "Plan",
    "PlanSlice",
    "RowsPage",
    "Source",
    "Stats",
    "SyncFailure",
    "SyncReport",
    "Totals",
    "VisitorRow",
    "VisitorsPage",
]


def _count(number: float, thing: str) -> str:
    return f"{number:,g} {thing}{'' if number == 1 else 's'}"


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

    def _repr_html_(self) -> str:
        from docplatform._hooks import notebook

        return notebook.tuples("Unique visitors of the whole site (they do not add up)", self._fields, [self])


class VisitorRow(TypedDict):
    """The visitors of one path, as a dict. Whatever else the service sends stands beside these, under the service's names.

    Example:
        >>> next(client.visitors("2026-01"))
        {'path': '/quickstart', 'human': 812, 'ai': 341, 'total': 1109}
    """

    path: str
    """The path of a documentation page."""
    human: int
    """Unique people."""
    ai: int
    """Unique AI agents."""
    total: int
    """Unique visitors, deduplicated; need not be ``human + ai``."""


class VisitorsPage(NamedTuple):
    """One page of visitors, or what was left of it when it was asked for."""

    rows: list[VisitorRow]
    """The rows, one for each path."""
    totals: Totals
    """The totals that came with the page."""
    offset: int
    """The first row's offset in the service's listing."""
    has_more: bool
    """Whether the service said that more follows."""


class RowsPage(NamedTuple):
    """One page of a listing without totals, or what was left of it when it was asked for."""

    rows: list[dict[str, Any]]
    """The rows, as dicts."""
    offset: int
    """How many rows of the listing came before it."""
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
    sent: bool = True
    """Whether any of the request may have left this machine. ``False``, say, where no connection could be made."""


class PlanSlice(NamedTuple):
    """What one slice of a range costs."""

    date_from: date
    """The first day."""
    date_to: date
    """The day after the last."""
    requests: int
    """Requests to be sent."""
    cached: int
    """Requests whose answers are in the client's store."""
    exact: bool
    """Whether ``requests`` is known; else it is an estimate or a minimum."""
    estimated: bool = False
    """Whether ``requests`` is an estimate, from ranges of about the same length in the store."""


class Plan(NamedTuple):
    """What a range costs, before anything is sent."""

    requests: int
    """Requests to be sent."""
    cached: int
    """Requests whose answers are in the client's store, and which are not sent."""
    exact: bool
    """Whether ``requests`` is known, from the store, or as totals cost one each; else it is an estimate or a minimum."""
    hours: float | None
    """Hours to wait for the budget, rounded up to whole ones; ``None`` without a budget."""
    slices: tuple[PlanSlice, ...]
    """The same for each slice, in order."""

    @property
    def estimated(self) -> bool:
        """Whether ``requests`` is an estimate from neighbouring ranges in the store; if neither this nor ``exact``, a minimum."""
        return not self.exact and all(slice_.exact or slice_.estimated for slice_ in self.slices)

    def __str__(self) -> str:
        """As people say it: ``about 12 requests, 3 cached, 2 hours to wait for the budget``."""
        known = "" if self.exact else "about " if self.estimated else "at least "
        waits = "" if self.hours is None else f", {_count(self.hours, 'hour')} to wait for the budget"
        return f"{known}{_count(self.requests, 'request')}, {self.cached:,} cached{waits}"

    def _repr_html_(self) -> str:
        from docplatform._hooks import notebook

        caption = f"Plan: {self}"
        return notebook.tuples(caption, PlanSlice._fields, self.slices, "slices")


class SyncReport(NamedTuple):
    """What :meth:`docplatform.Client.sync` found and fetched."""

    slices: int
    """Slices in all, over all projects."""
    cached: int
    """Those that were in the store already."""
    open: int
    """Those that may still change, and are fetched again the next time."""
    requests: int
    """Requests that were sent, retries included."""
    rows: int
    """Rows that were put into the store."""

    def _repr_html_(self) -> str:
        from docplatform._hooks import notebook

        return notebook.tuples("Sync", self._fields, [self])


class SyncFailure(NamedTuple):
    """A slice that :meth:`docplatform.Client.sync` could not fetch. ``SyncError.failures`` lists them."""

    project_id: str
    """Its project."""
    date_from: date
    """The first day."""
    date_to: date
    """The day after the last."""
    error: DocPlatformError
    """Why not."""


class DatasetReport(NamedTuple):
    """What :func:`docplatform.export_dataset` found and wrote."""

    written: int
    """Files that were written: those of slices that were new, or fetched again."""
    kept: int
    """Files that were there already, and were left as they are."""
    rows: int
    """Rows in the files that were written."""
    open: int
    """Slices, of all of these, that may still change."""


class Stats(NamedTuple):
    """Counts of a client and all its handles at one moment."""

    requests: int
    """Requests that left this machine, retries included. One for which no connection could be made is not counted."""
    retries: int
    """Retries among them."""
    waited: float
    """Seconds spent in pauses between attempts, and waiting for the request budget."""
    budget_left: int | None
    """Requests that the budget would grant now, as far as this client knows: a store is not read for it, so what other
    clients and processes spent counts from this client's next request on. ``None`` without a budget, once the client is
    closed, and in a forked child before its first request."""
