"""Errors and warnings. Every error of the service and the network derives from ``DocPlatformError``, can be pickled, and never shows the API key.

Invalid arguments are ``ValueError`` or ``TypeError``, and misuse of an object is ``RuntimeError``; both are raised before anything is sent, unless a callback causes them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from docplatform._native import Job, Table
from docplatform.types import Attempt, DatasetReport, JobsReport, SyncFailure, SyncReport

__all__ = [
    "AuthenticationError",
    "BadRequestError",
    "BudgetError",
    "ConfigurationError",
    "ConflictError",
    "ConnectError",
    "DataChangedWarning",
    "DataWarning",
    "DatasetError",
    "DocPlatformError",
    "JobFailedError",
    "NetworkError",
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
    "UnrecordedJobWarning",
    "WaitTimeoutError",
    "WaitWarning",
]


class DocPlatformError(Exception):
    """The base of all errors of this package: catch it to handle any of them.

    Its text says what happened, what it means for your data or job, and what to do next. Errors can be pickled and
    never show the API key. Invalid arguments are ``ValueError`` or ``TypeError`` instead, and misuse of an object
    is ``RuntimeError``; these are raised before anything is sent, unless a callback causes them.

    Attributes:
        outcome: The outcome of a write. For a read it is ``None``, or ``"not_sent"`` if the budget, a store that
            could not count it, or an earlier 429 or 503 held it back. ``"not_sent"``: nothing of the last attempt was sent,
            and the service refused any before it, so you may send it again. ``"rejected"``: the service refused it, so remove the cause first. ``"unknown"``: it may have
            been carried out, so look on the platform before you send it again. ``"applied"``: it was carried out,
            but its answer cannot be used, or the wait for the job failed.
        attempts: The attempts of the call, oldest first: a tuple of ``Attempt``.
        deadline_exceeded: Whether the call's ``deadline`` left no time for an attempt: a bool.
        checkpoint: For an export that failed: where to continue, as in
            ``client.visitors(resume=error.checkpoint)``; else ``None``.
        partial: For an export into memory that failed: a table of the rows that were fetched; ``checkpoint``
            continues after them. Else ``None``.
        report: For a sync that failed: a ``SyncReport`` of what was fetched; for an ``on_done`` of ``run_jobs`` that raised
            the error: a ``JobsReport``; else ``None``.
        job: For a wait that failed: the job's last snapshot, a ``Job``; else ``None``.

    Example:
        >>> stub.fail_next(status=503, times=9)
        >>> try:
        ...     client.with_options(max_retries=1, deadline=5).visitors("2026-01").to_pandas()
        ... except docplatform.DocPlatformError as error:
        ...     print(type(error).__name__, len(error.attempts), error.checkpoint is not None)
        ServerError 2 True
    """

    outcome: Literal["not_sent", "rejected", "unknown", "applied"] | None = None
    attempts: tuple[Attempt, ...] = ()
    deadline_exceeded: bool = False
    checkpoint: str | None = None
    partial: Table | None = None
    report: SyncReport | JobsReport | None = None
    job: Job | None

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        # Not of the class: one below it always has a job.
        self.job = None


class ConfigurationError(DocPlatformError, ValueError):
    """A setting is missing or cannot be used. Nothing was sent, unless the store failed during a call, or
    the function of ``api_key=`` returned an unusable key after a 401.

    The message names the setting and where its value came from, such as ``DOCPLATFORM_API_KEY`` or ``api_key=``:
    correct it there.

    Example:
        >>> Client(base_url="http://docs.example.com")
        Traceback (most recent call last):
            ...
        docplatform.errors.ConfigurationError: ...
    """


class NetworkError(DocPlatformError):
    """The base of the network's errors: ``ConnectError``, ``RequestTimeoutError`` and ``TransportError``.

    Nothing was changed, so it is safe to call again. A write that may have been carried out is an
    ``UnconfirmedWriteError``, which is not one of these. After a poll of ``run_job`` or ``follow_up``
    (``outcome="applied"``), call ``wait_for_job(error.job)``.

    Example:
        >>> stub.fail_next(drop=True, times=3)
        >>> try:
        ...     client.visitor_totals("2026-01")
        ... except docplatform.NetworkError as error:
        ...     print(type(error).__name__, len(error.attempts))
        TransportError 3
    """


class ConnectError(NetworkError, ConnectionError):
    """The service was not reached: the host name is unknown, the connection was refused, or TLS failed. Nothing of
    the last attempt was sent, and those before it were refused or were a read's.

    Check ``base_url``, the network and the proxy; ``ca_bundle=`` adds certificates. It is safe to call again, also
    for a write, unless ``outcome`` is ``"applied"``.

    Example:
        >>> unreachable = client.with_options(base_url="http://127.0.0.1:1", max_retries=0)
        >>> unreachable.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.ConnectError: ...
    """


class RequestTimeoutError(NetworkError, TimeoutError):
    """No complete answer to a read came within ``timeout`` (one attempt) or ``deadline`` (the call). Or a call could
    not be sent in time: a write then has ``outcome="not_sent"``.

    Nothing was changed, so call again, or give the client a longer ``timeout=`` or ``deadline=``. A write that gets
    no answer in time is an ``UnconfirmedWriteError``.

    Example:
        >>> stub.latency = 60.0
        >>> client.with_options(timeout=0.1, max_retries=0).visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.RequestTimeoutError: ...
    """


class TransportError(NetworkError, ConnectionError):
    """The connection broke while a read was in progress.

    Nothing was changed, so call again. A write whose connection breaks is an ``UnconfirmedWriteError``.

    Example:
        >>> stub.fail_next(drop=True)
        >>> client.with_options(max_retries=0).visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.TransportError: ...
    """


class UnconfirmedWriteError(DocPlatformError):
    """A write may have been carried out (``outcome="unknown"``), or was but its answer cannot be used
    (``outcome="applied"``).

    It is ``applied`` only if the answer is the job that was asked for. A sign-in page, an ``{"error": …}`` or an empty
    answer with a status of success proves nothing.

    Look on the platform before you send it again; the client never does so by itself. With ``once=``, then record
    what you found with ``resolve_once``. It is deliberately neither a ``ConnectionError`` nor a ``TimeoutError``,
    so that no retry wrapper for these repeats the write.

    Attributes:
        status: The HTTP status, an int; ``None`` if no answer came.
        request_id: The service's ``x-request-id``, if an answer had one.
        body: The beginning of the answer, withheld if it repeats the prompt or the key; ``None`` if none came.

    Example:
        >>> stub.fail_next(drop=True)
        >>> try:
        ...     client.create_job("Document release 1.4")
        ... except docplatform.UnconfirmedWriteError as error:
        ...     print(error.outcome)
        unknown
    """

    status: int | None = None
    request_id: str | None = None
    body: str | None = None


class ResponseError(DocPlatformError, ValueError):
    """The service answered, but the answer cannot be read: it is not JSON, has the wrong shape, is about another job,
    or is too large.

    Often a proxy or login page answered instead of the service: check ``base_url`` and look at ``body``. If an
    answer is too large, raise ``max_response_bytes=`` or lower ``page_size=``.

    Attributes:
        status: The HTTP status, an int.
        request_id: The service's ``x-request-id``, if it sent one.
        body: The beginning of the answer, withheld if it repeats the prompt or the key.

    Example:
        >>> stub.fail_next(status=200, body="<html>Please log in</html>")
        >>> try:
        ...     client.visitor_totals("2026-01")
        ... except docplatform.ResponseError as error:
        ...     print(error.status, error.body)
        200 <html>Please log in</html>
    """

    status: int | None = None
    request_id: str | None = None
    body: str | None = None


class StatusError(DocPlatformError):
    """The service refused the request with an HTTP status. Its subclasses name the usual ones.

    A redirect is one too, because redirects are never followed: put the final address into ``base_url``.

    Attributes:
        status: The HTTP status, an int.
        message: The service's own explanation, if it gave one.
        body: The beginning of the answer. Like the message, it is withheld if it repeats the prompt or the key.
        request_id: The service's ``x-request-id``, if it sent one: name it when you ask the service's support.
        retry_after: How long the service asked to wait, in seconds, at most a day; ``None`` if it did not.

    Example:
        >>> stub.fail_next(status=418, body={"error": "short and stout"})
        >>> try:
        ...     client.visitor_totals("2026-01")
        ... except docplatform.StatusError as error:
        ...     print(error.status, error.message)
        418 short and stout
    """

    status: int
    message: str | None = None
    body: str | None = None
    request_id: str | None = None
    retry_after: float | None = None


class BadRequestError(StatusError):
    """Status 400: the service did not understand the request.

    Check the arguments; ``message`` says what the service objects to.

    Example:
        >>> stub.fail_next(status=400)
        >>> client.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.BadRequestError: ...
    """


class AuthenticationError(StatusError):
    """Status 401: the API key is missing, wrong, of another kind, or expired.

    Create a new key on the platform and set ``DOCPLATFORM_API_KEY``; keys often expire after 90 days. ``docplatform
    doctor`` checks it.

    Example:
        >>> stub.fail_next(status=401)
        >>> client.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.AuthenticationError: ...
    """


class PermissionDeniedError(StatusError):
    """Status 403: the API key may not do this: it is read-only, limited to other network addresses, or belongs to
    another project.

    Use a key that may; ``docplatform doctor --listings`` shows which listings a key may read.

    Example:
        >>> stub.fail_next(status=403)
        >>> client.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.PermissionDeniedError: ...
    """


class NotFoundError(StatusError):
    """Status 404: the service knows no such project, job or path.

    Check ``project_id``, the job's id and ``base_url``.

    Example:
        >>> client.get_job("job-404")
        Traceback (most recent call last):
            ...
        docplatform.errors.NotFoundError: ...
    """


class ConflictError(StatusError):
    """Status 409: the request contradicts the present state, for example of a job.

    Read the present state, for example with ``get_job``, and decide again.

    Example:
        >>> stub.fail_next(status=409)
        >>> client.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.ConflictError: ...
    """


class UnprocessableError(StatusError):
    """Status 422: the service understood the request and refuses it.

    ``message`` says why; correct the arguments.

    Example:
        >>> stub.fail_next(status=422)
        >>> client.visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.UnprocessableError: ...
    """


class RateLimitError(StatusError):
    """Status 429: the service allows no more requests at present. Or an earlier 429, or 503 with ``Retry-After``,
    makes this client wait: then it was not sent (``outcome="not_sent"``), or not sent again after the ``attempts``, and
    ``status`` is that of the earlier answer. If it was a poll of ``run_job`` or ``follow_up``, ``outcome`` is
    ``"applied"``, and ``wait_for_job(error.job)`` goes on.

    Wait ``retry_after`` seconds, or give the client ``requests_per_hour=`` so that it waits by itself. An export
    continues with ``resume=error.checkpoint``.

    Example:
        >>> stub.fail_next(status=429)
        >>> client.with_options(max_retries=0).visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.RateLimitError: ...
    """


class ServerError(StatusError):
    """Status 500 to 599 in answer to a read: the service failed, in spite of the retries of 500, 502, 503, 504 and
    520 to 524.

    Nothing was changed, so call again later; after a poll of ``run_job`` or ``follow_up`` (``outcome="applied"``), call
    ``wait_for_job(error.job)``. A write that gets such an answer is an ``UnconfirmedWriteError``.

    Example:
        >>> stub.fail_next(status=503)
        >>> client.with_options(max_retries=0).visitor_totals("2026-01")
        Traceback (most recent call last):
            ...
        docplatform.errors.ServerError: ...
    """


class PaginationError(DocPlatformError):
    """The service broke its own paging rule, for example with an empty page that promises more: continuing would never
    end, or lose rows.

    No rows are silently lost: an export into memory has the rows before the page that stopped it in ``partial``, and those of a page with a wrong cursor. After a broken rule the next call asks for that page again, also with a store; ``refresh=True`` asks for all of them. If the error stays, report it to the service; a shorter range or
    ``every="day"`` may avoid it. With ``strict=True`` it also stands for data that is only unusual: without it you
    get a ``DataWarning``.

    Example:
        >>> stub.fail_next(status=200, body={"visitors": [], "totals": {"human": 0, "ai": 0, "total": 0}, "hasMore": True})
        >>> client.visitors("2026-01").collect()
        Traceback (most recent call last):
            ...
        docplatform.errors.PaginationError: ...
    """


class JobFailedError(DocPlatformError):
    """The job that was waited for has the status ``failed``.

    Look at the job on the platform, then give a better prompt with ``follow_up(error.job, …)`` or create another
    job. ``check=False`` returns the job instead.

    Attributes:
        job: The job's last snapshot, a ``Job``.

    Example:
        >>> stub.script_job("failed")
        >>> try:
        ...     client.run_job("Document release 1.4", poll_interval=0.1)
        ... except docplatform.JobFailedError as error:
        ...     print(error.job.status)
        failed
    """

    job: Job  # pyright: ignore[reportIncompatibleVariableOverride]  # it never lacks one


class WaitTimeoutError(DocPlatformError, TimeoutError):
    """The job was not final within the ``timeout`` of the wait. The end of a wait does not stop the job.

    ``wait_for_job`` with its id waits for it again; do not create it again. ``job`` is ``None`` if the call
    got an id alone and no poll was answered.

    Example:
        >>> stub.script_job("active")
        >>> try:
        ...     client.run_job("Document release 1.4", timeout=0.2, poll_interval=0.1)
        ... except docplatform.WaitTimeoutError as error:
        ...     print(error.job.id, error.job.status)
        job-1 active
    """


class BudgetError(DocPlatformError):
    """A budget is spent (``requests_per_hour``, ``jobs_per_hour``), or the service asked a client that has one to wait,
    and the call would not wait: its text says which. Nothing was sent; or an attempt was sent and failed, and it was
    not sent again. After a 429, the ``outcome`` of a write is ``"rejected"``.

    Call again after ``resets_at``, or let the call wait with ``on_budget="wait"``. With a ``store``, what was
    fetched is in it and is not fetched again.

    Attributes:
        resets_at: When the budget allows the next request: a ``datetime`` in UTC.

    Example:
        >>> frugal = client.with_options(requests_per_hour=1)
        >>> frugal.visitor_totals("2026-01").total
        147011
        >>> frugal.visitor_totals("2026-02", on_budget="stop")
        Traceback (most recent call last):
            ...
        docplatform.errors.BudgetError: ...
    """

    resets_at: datetime | None = None


class SyncError(DocPlatformError):
    """Some slices of a ``sync`` could not be fetched. The others are in the store.

    Remove the cause that ``failures`` names and call ``sync`` again: it fetches only what is missing.

    Attributes:
        failures: The slices and why they failed: a tuple of ``SyncFailure``. A listing of a project that the
            service refuses is there with the one slice that was tried.

    Example:
        >>> stub.fail_next(status=403, times=3)
        >>> try:
        ...     Client(store="docs.db").sync("demo", "2026-01", by_path=False)
        ... except docplatform.SyncError as error:
        ...     print(error.failures[0].project_id, type(error.failures[0].error).__name__)
        demo PermissionDeniedError
    """

    failures: tuple[SyncFailure, ...] = ()


class DatasetError(DocPlatformError, ValueError):
    """A dataset has gaps: ``export_dataset(strict=True)`` wrote what the store has, and slices of the range are missing.

    Fetch them with a ``sync`` and call ``export_dataset`` again: it keeps what was written.

    Attributes:
        dataset: The report of the slices that were found and written: a ``DatasetReport``.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01-05").rows
        1000
        >>> try:
        ...     docplatform.export_dataset("visitors", store="docs.db", date_to="2026-01-12", strict=True)
        ... except docplatform.DatasetError as error:
        ...     print(error.dataset)
        DatasetReport(written=1, kept=0, rows=1000, open=0, missing=6)
    """

    dataset: DatasetReport


class StoreBusyError(DocPlatformError):
    """Another sync is filling the store, and the call would not wait (``on_running="stop"``). Nothing was sent.

    Call again later, or wait for the other sync with ``on_running="wait"``.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01", by_path=False, on_running="stop")  # no other sync is running
        SyncReport(slices=31, cached=0, open=0, requests=31, rows=0, left=0, hours=None)
    """


class DataWarning(UserWarning):
    """A Python warning: something about the service's data is unusual, such as short pages, invalid characters, a
    listing that the service cuts off, or a job's status that the client does not know.

    The text says what. For an export, which goes on to its end, it is also in ``warnings`` of the rows and the table, and
    ``strict=True`` gets an error instead.

    Example:
        >>> warnings.simplefilter("error", docplatform.DataWarning)  # raise it as an error
        >>> client.feedback_by_page("2026-01", page_size=10).collect()
        Traceback (most recent call last):
            ...
        docplatform.errors.DataWarning: ...
    """


class DataChangedWarning(DataWarning):
    """A Python warning: the data changed while it was exported, because the totals differ or a row came twice.

    Rows may be missing or doubled. Export a range that is final (it ended more than two days ago), or use
    ``strict=True`` to get an error instead.

    Example:
        >>> row = {"path": "/", "human": 3, "ai": 1, "total": 4}
        >>> with StubServer(visitors=[row, row]) as changing, warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     table = changing.client().visitors("2026-01").collect()
        >>> len(table), caught[0].category.__name__
        (1, 'DataChangedWarning')
    """


class UnrecordedJobWarning(UserWarning):
    """A Python warning: a job was created, or a message sent, under a name of ``once=``, but the store could not record it,
    such as on a disk that became full, or had not yet.

    The job runs, and the call returns it. The name counts as unknown until the store has recorded the job, by itself or
    by ``resolve_once(warning.name, warning.job_id)``.

    Attributes:
        name: The name: a str.
        job_id: The id of its job: a str.
        reason: Why it could not be recorded: a str.

    Example:
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always", docplatform.UnrecordedJobWarning)
        ...     job = Client(store="docs.db").create_job("Document release 1.4", once="docs-1.4")
        >>> [(warning.message.name, warning.message.job_id) for warning in caught]  # the disk had room
        []
    """

    name: str = ""
    job_id: str = ""
    reason: str = ""


class WaitWarning(UserWarning):
    """A Python warning: nothing is sent for more than 10 seconds, because the budget is spent, the service asked to
    wait, or another sync or creation runs.

    It comes when the wait begins, or after 10 seconds if its end is not known, and again if its end moves by more than a
    minute, at the line of your code that made the call. A progress bar
    (``progress=True``) and the command line show the wait instead. Use ``on_budget="stop"`` to get a
    ``BudgetError`` rather than wait for the budget.

    Attributes:
        until: When the next request is sent: a ``datetime`` in UTC; ``None`` if that is not known.

    Example:
        >>> warnings.simplefilter("error", docplatform.WaitWarning)  # end the call instead of waiting
        >>> frugal = client.with_options(requests_per_hour=1)
        >>> frugal.visitor_totals("2026-01").total
        147011
        >>> frugal.visitor_totals("2026-02")
        Traceback (most recent call last):
            ...
        docplatform.errors.WaitWarning: ...
    """

    until: datetime | None = None
