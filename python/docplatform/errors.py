"""What can go wrong. Every error derives from :class:`DocPlatformError`, pickles, and shows no key.

Wrong arguments are ``ValueError`` or ``TypeError``, misuse of an object is ``RuntimeError``; both are
raised before anything is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from docplatform._native import Job, VisitorTable
    from docplatform.types import Attempt, SyncFailure, SyncReport

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "BudgetError",
    "ConfigurationError",
    "ConflictError",
    "ConnectError",
    "DataChangedWarning",
    "DataWarning",
    "DocPlatformError",
    "JobFailedError",
    "NotFoundError",
    "PaginationError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTimeoutError",
    "ResponseError",
    "ServerError",
    "StatusError",
    "StoreBusyError",
    "SyncError",
    "TransportError",
    "UnconfirmedWriteError",
    "UnprocessableError",
    "WaitTimeoutError",
    "WaitWarning",
]


class DocPlatformError(Exception):
    """The base of all errors of this package."""

    outcome: Literal["not_sent", "rejected", "unknown", "applied"] | None = None
    """What became of a call that writes; ``None`` for a read.

    ``not_sent``: no byte was written, so it may be sent again. ``rejected``: the service refused it, so mend
    the cause first. ``unknown``: it may have happened, so look before sending it again. ``applied``: it happened,
    though its answer cannot be used, or the wait for
    the job failed.
    """
    attempts: tuple[Attempt, ...] = ()
    """Each try, oldest first."""
    deadline_exceeded: bool = False
    """Whether a further try was left out because the call's ``deadline`` came first."""
    checkpoint: str | None = None
    """For an export that broke off, where to continue: ``visitors(resume=error.checkpoint)``."""
    partial: VisitorTable | None = None
    """For an export into memory that broke off, the rows that were fetched: ``checkpoint`` continues after them."""
    report: SyncReport | None = None
    """For a sync that did not come to its end, what it found and fetched before it."""
    job: Job | None
    """For a wait that broke off, the job's last snapshot."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        # Not of the class: one below it always has a job.
        self.job = None


class ConfigurationError(DocPlatformError, ValueError):
    """A setting is missing or cannot be used. The text says what to set."""


class ConnectError(DocPlatformError, ConnectionError):
    """The service was never reached: name resolution, a refused connection, TLS. No byte of the request left."""


class RequestTimeoutError(DocPlatformError, TimeoutError):
    """An attempt took longer than ``timeout``, or the call longer than ``deadline``."""


class TransportError(DocPlatformError, ConnectionError):
    """A read broke off on the way."""


class UnconfirmedWriteError(DocPlatformError):
    """A write that may have happened (``outcome="unknown"``) or did (``outcome="applied"``).

    It is never sent again by itself: look on the platform first. Deliberately neither a
    ``ConnectionError`` nor a ``TimeoutError``, so that no retry wrapper catches it.
    """

    status: int | None = None
    """The HTTP status, where an answer came."""
    request_id: str | None = None
    """The service's ``x-request-id``, where it gave one."""
    body: str | None = None
    """The beginning of the answer, where one came."""


class ResponseError(DocPlatformError, ValueError):
    """A whole answer that cannot be read: not JSON, of the wrong shape, about another job, too large."""

    status: int | None = None
    """The HTTP status."""
    request_id: str | None = None
    """The service's ``x-request-id``, where it gave one."""
    body: str | None = None
    """The beginning of the answer."""


class StatusError(DocPlatformError):
    """The service refused the request. A redirect is one too: none is ever followed."""

    status: int
    """The HTTP status."""
    message: str | None = None
    """The service's own words."""
    body: str | None = None
    """The beginning of the answer."""
    request_id: str | None = None
    """The service's ``x-request-id``, where it gave one."""
    retry_after: float | None = None
    """How long the service asked to wait, in seconds."""


class BadRequestError(StatusError):
    """400: the service does not understand the request."""


class AuthenticationError(StatusError):
    """401: the API key is missing, wrong, of another kind, or expired; keys often expire after 90 days."""


class PermissionDeniedError(StatusError):
    """403: the API key is read-only, bound to other network addresses, or of another project."""


class NotFoundError(StatusError):
    """404: no such project, job or path."""


class ConflictError(StatusError):
    """409: the request contradicts the present state."""


class UnprocessableError(StatusError):
    """422: the request is understood and refused."""


class RateLimitError(StatusError):
    """429, or a throttled call, because an earlier 429 asked this client to wait (``outcome="not_sent"``)."""


class ServerError(StatusError):
    """5xx on a read."""


class PaginationError(DocPlatformError):
    """The service broke its own paging rule: to continue would never end, or lose rows."""


class JobFailedError(DocPlatformError):
    """The job ended as ``failed``; ``job`` is its last snapshot. ``check=False`` returns it instead."""

    job: Job  # pyright: ignore[reportIncompatibleVariableOverride]  # it never lacks one
    """The job's last snapshot."""


class WaitTimeoutError(DocPlatformError, TimeoutError):
    """The job was not final in time. It keeps running: ``wait_for_job(error.job)`` waits for it again."""


class BudgetError(DocPlatformError):
    """The request budget is spent, and the call would not wait (``on_budget="stop"``). Nothing was sent."""

    resets_at: datetime | None = None
    """When the next request may go out, in UTC."""


class SyncError(DocPlatformError):
    """Some slices could not be fetched; the others are in the store, and the next sync fetches what is missing."""

    failures: tuple[SyncFailure, ...] = ()
    """Which, and why. A project that the service refuses as a whole (a 4xx) is listed with the first of its slices."""


class StoreBusyError(DocPlatformError):
    """Another sync is filling the store, and the call would not wait (``on_running="stop"``). Nothing was sent."""


class DataWarning(UserWarning):
    """An export is complete, but something about it is unusual: short pages, invalid characters."""


class DataChangedWarning(DataWarning):
    """The data changed while it was exported: other totals, or a row seen twice."""


class WaitWarning(UserWarning):
    """Nothing is sent for more than 10 seconds: the request budget is spent, the service asked to wait, or another sync or creation runs.

    Raised once for each wait, when it begins, where your code made the call. A progress bar (``progress=True``) and the
    command line show the wait instead. ``on_budget="stop"`` raises :class:`BudgetError` rather than wait for the budget.

    Example:
        >>> warnings.simplefilter("ignore", docplatform.WaitWarning)  # say nothing
        >>> warnings.simplefilter("error", docplatform.WaitWarning)  # raise it, and so end the call
    """

    until: datetime | None = None
    """When the next request goes out; ``None`` where nobody knows, as with another sync or creation."""
