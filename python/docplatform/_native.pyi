"""The extension module: both clients, jobs, and the iterators of rows. This file is its documentation."""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import date, datetime, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import (
    Any,
    Final,
    Literal,
    NoReturn,
    Self,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    Unpack,
    final,
    overload,
)

import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
from matplotlib.axes import Axes
from typing_extensions import disjoint_base

from docplatform.types import Plan, RowsPage, Source, Stats, SyncReport, Totals, VisitorRow, VisitorsPage

__all__ = [
    "AsyncClient",
    "AsyncRows",
    "AsyncVisitors",
    "Client",
    "Comparison",
    "Job",
    "Rows",
    "Table",
    "TrendTable",
    "VisitorTable",
    "Visitors",
    "_AsyncPages",
    "_AtHand",
    "_DatasetRows",
    "_Operation",
    "_Pages",
    "_TableRows",
    "_WholeFile",
    "__version__",
    "_api_key",
    "_check",
    "_client",
    "_dataset_rows",
    "_dataset_slices",
    "_is_cut",
    "_is_significant",
    "_job",
    "_panic",
    "_period",
    "_read_visitors",
    "_safe",
    "_table",
]

__version__: Final[str]
"""The package's version."""

_Seconds: TypeAlias = float | timedelta
_Date: TypeAlias = str | date | datetime
_Every: TypeAlias = Literal["day", "week", "month"]
_Row: TypeAlias = dict[str, Any]
_Parameter: TypeAlias = str | float | bool | date | None
_Parameters: TypeAlias = Mapping[str, _Parameter | Sequence[_Parameter]]

class _Changes(TypedDict, total=False):
    api_key: str | None
    base_url: str | None
    project_id: str | None
    timeout: _Seconds
    connect_timeout: _Seconds
    deadline: _Seconds
    max_retries: int
    max_retry_after: _Seconds
    proxy: str | None
    trust_env: bool
    ca_bundle: str | PathLike[str] | None
    headers: Mapping[str, str] | None
    allow_http: bool
    max_response_bytes: int
    job_path: str
    requests_per_hour: int | None
    reserve: int | None
    store: str | PathLike[str] | None
    settle_days: int
    organization: str | None

@final
class Client:
    """A blocking client for one documentation platform. Threads may share it; Ctrl-C ends any call.

    Args:
        api_key: The platform's API key, from ``DOCPLATFORM_API_KEY`` where ``None``, or else from the file that
            ``DOCPLATFORM_API_KEY_FILE`` names, which only you may be able to read. It appears nowhere but in
            the ``Authorization`` header: not in a ``repr``, an error, a log line or a pickle.
        base_url: The address of your documentation platform, from ``DOCPLATFORM_BASE_URL`` where ``None``. https,
            or http to ``127.0.0.1``, ``[::1]`` or ``localhost``. It may have a path.
        project_id: The project where a call names none, from ``DOCPLATFORM_PROJECT_ID`` where ``None``.
        timeout: Seconds for one attempt, to the last byte of the answer. A write has twice that, as giving up on
            it leaves its outcome unknown.
        connect_timeout: Seconds to resolve the name, connect and shake hands. ``timeout`` and ``deadline`` hold for it, too.
        deadline: Seconds for one call, or one page of an export, with every retry and every pause. A pause that
            would reach beyond it is not begun.
        max_retries: Retries after the first attempt. Reads are tried again when the connection or the service
            fails in passing; a write only where it is proven that it did not happen. No setting changes that.
        max_retry_after: The longest ``Retry-After``, in seconds, that is waited for. Beyond it the error is raised.
        proxy: An ``http://`` or ``https://`` proxy, which then holds for every request.
        trust_env: Whether ``HTTPS_PROXY`` and the like are used. They never are for loopback.
        ca_bundle: A PEM file of certificates to trust besides the system's.
        headers: Extra headers for every request. Their values are treated as secrets.
        allow_http: Allow plain http to other machines. The API key then travels in the clear.
        max_response_bytes: The largest answer that is read. An answer about a job is cut at 4 MiB in any case.
        job_path: Where a job is read; the one path that the service does not document.
        requests_per_hour: How many analytics requests may go out in any hour: 100 is what one deployment grants to a whole
            organization. From ``DOCPLATFORM_REQUESTS_PER_HOUR`` where ``None``, or else no budget is kept.
            It holds for all processes that use the same ``store``, or else for this client and its handles.
            A call that has to wait for the next hour says so in the log; ``deadline`` does not run meanwhile.
        reserve: How many of them are left to others, from ``DOCPLATFORM_RESERVE`` where ``None``, or else 0.
        store: A file that caches what was fetched and counts requests, from ``DOCPLATFORM_STORE`` where ``None``, or
            else none is kept: see ``docs/store.md``. It holds no key. ``""`` is none, whatever the variable says.
        settle_days: Days after its end from which a range is treated as final. A final range is fetched once.
        organization: Whose budget it is, where several keys share one, from ``DOCPLATFORM_ORGANIZATION`` where
            ``None``. Without it each key has its own.

    Raises:
        ConfigurationError: A setting is missing or cannot be used.
        ValueError: A setting is out of its range.

    Example:
        >>> client = Client()
        >>> job = client.run_job("Fix the broken links on the quickstart page")
        >>> job.pr_link
    """

    def __new__(
        cls,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        project_id: str | None = None,
        timeout: _Seconds = 30.0,
        connect_timeout: _Seconds = 5.0,
        deadline: _Seconds = 90.0,
        max_retries: int = 2,
        max_retry_after: _Seconds = 60.0,
        proxy: str | None = None,
        trust_env: bool = True,
        ca_bundle: str | PathLike[str] | None = None,
        headers: Mapping[str, str] | None = None,
        allow_http: bool = False,
        max_response_bytes: int = 33554432,
        job_path: str = "/v2/agent/{project_id}/job/{id}",
        requests_per_hour: int | None = None,
        reserve: int | None = None,
        store: str | PathLike[str] | None = None,
        settle_days: int = 2,
        organization: str | None = None,
    ) -> Self: ...
    def create_job(self, prompt: str, *, once: str | None = None, project_id: str | None = None) -> Job:
        """Asks the docs agent to do what ``prompt`` says, and returns the new job without waiting for it.

        Sent once: if the answer is lost the outcome is unknown, and only you can look.

        Args:
            prompt: What the agent is to do, in plain words.
            once: A name that makes it safe to run this again, from any process of the machine: the same name and prompt
                return the same job and send nothing. It needs a ``store``, where the name is kept by organization and
                project. If two calls come at the same time, one creates the job and the other waits for it, within its
                ``deadline``. A job that was not sent, or was refused, frees the name.
            project_id: Overrides the client's.

        Returns:
            The job. Under a name it is as the service showed it when it was created; where :meth:`resolve_once` named its
            id, its status is ``unknown`` until it is read.

        Raises:
            ValueError: The prompt is empty or no valid text, or the name was used with another prompt. Nothing was sent.
            UnconfirmedWriteError: The job may have been created, or was and its answer cannot be read. Under a name, each
                further call raises it too and sends nothing, until :meth:`resolve_once` has said what became of it.
            ConfigurationError: ``once`` without a store. Nothing was sent.
            StatusError: The service refused it; 100 jobs an hour and project have been seen as the limit.
            ConnectError: The service was never reached.

        Example:
            >>> job = client.create_job("Document release 1.4", once="docs-1.4")
            >>> job == client.create_job("Document release 1.4", once="docs-1.4")  # sends nothing
            True
        """
    def get_job(self, job: Job | str, *, project_id: str | None = None) -> Job:
        """Reads a job.

        Args:
            job: The job or its id.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            NotFoundError: No such job in this project.
            ResponseError: The answer cannot be read, or is about another job.
        """
    def send_message(self, job: Job | str, prompt: str, *, project_id: str | None = None) -> Job:
        """Sends a follow-up message to a job. The answer, and polls right after it, may still show the old status.

        Raises the same errors as :meth:`create_job`. To wait for the outcome too, use :meth:`follow_up`.
        """
    def wait_for_job(
        self,
        job: Job | str,
        *,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Polls a job until it is final, and returns it.

        Each interval is 1.5 times the one before, up to ``max_poll_interval``, and jittered by 20 %. Temporary
        failures are tolerated until the timeout. A job that this client created less than 10 s ago may be missing.

        Args:
            job: The job or its id.
            timeout: Seconds to wait in all; ``None`` for ever. The wait may last up to 5 s longer: a poll that is under
                way at its end is given that long to be answered.
            poll_interval: Seconds to the second poll.
            max_poll_interval: The longest interval, in seconds.
            check: Raise for a job that failed instead of returning it. An archived job is returned.
            on_poll: Called with each snapshot on the calling thread. What it raises ends the wait. ``timeout`` does not
                interrupt it: one that never returns is never ended. It cannot be a coroutine function here: see
                :class:`AsyncClient`.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            JobFailedError: The job failed, and ``check`` is set; ``error.job`` is its last snapshot.
            WaitTimeoutError: It was not final in time; ``error.job`` is its last snapshot. The job goes on by itself.
                Where the last poll failed or was not answered, that is the error's ``__cause__``.
        """
    def run_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Creates a job and waits until it is final: :meth:`create_job`, then :meth:`wait_for_job`.

        Interrupted, the exception carries a note with the job's id, so that the wait can be taken up again. With ``once``, a
        name, running it again waits for the same job, whatever ended the first run.
        """
    def resolve_once(self, name: str, job: Job | str | None, *, project_id: str | None = None) -> None:
        """Says what became of a creation under a name of ``once`` whose outcome is unknown. Sends nothing.

        Look on the platform first: if the job is there and this says that it is not, the next call creates it again.

        Args:
            name: The name, as it was given to :meth:`create_job` or :meth:`run_job`.
            job: The job that was created, or its id; ``None`` if it never was, which frees the name.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            ValueError: There is no such name in the store, its outcome is known, or its job is being created right now.
            ConfigurationError: The client has no store.

        Example:
            >>> client.resolve_once("docs-1.4", "job-17")
        """
    def _once(self, *, project_id: str | None = None) -> list[tuple[str, str, str | None, datetime]]: ...
    def follow_up(
        self,
        job: Job | str,
        prompt: str,
        *,
        settle: _Seconds = 15.0,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Sends a message and waits until the job is final again: :meth:`send_message`, then :meth:`wait_for_job`.

        Args:
            job: The job or its id.
            prompt: The message.
            settle: Seconds during which a final status is taken for the old one, unless a poll after the message
                has shown the job active.
            timeout: As in :meth:`wait_for_job`, as are the arguments that follow.
        """
    def visitors(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        page_size: int | None = None,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Visitors:
        """The site's readers, human and AI, as an iterator of dicts. Sends nothing before the first row is asked for.

        Unique visitors do not add up: not over days, not over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            page_size: Rows a request, 1 to 250, which is the default. Fewer rows a request cost more requests.
            offset: Rows to skip.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted. n above 1 (up to 16) speculates n pages ahead: faster
                over a slow link, for at most n-1 requests beyond the end.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table[0]
            {'path': '/docs/start', 'human': 120, 'ai': 40, 'total': 150}
        """
    def views(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        page_size: int | None = None,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Visitors:
        """The site's page views, human and AI, as an iterator of dicts. Sends nothing before the first row is asked for.

        Views are events: they do add up, over days and over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            page_size: Rows a request, 1 to 250, which is the default. Fewer rows a request cost more requests.
            offset: Rows to skip.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted. n above 1 (up to 16) speculates n pages ahead: faster
                over a slow link, for at most n-1 requests beyond the end.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.views("2026-01").collect()
            >>> sum(row["total"] for row in table) == table.totals.total
            True
        """
    def searches(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Rows:
        """What readers searched for, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row sums up one search phrase over the range: ``searchQuery``, ``hits``, ``ctr``, ``topClickedPage`` and ``lastSearchedAt``.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.searches("2026-01").collect()
            >>> [row["searchQuery"] for row in table if not row["topClickedPage"]]
            ['terraform provider', 'on premise']
        """
    def feedback(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        source: str | Iterable[str] | None = None,
        status: str | Iterable[str] | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Rows:
        """What readers said about pages, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row is one piece of feedback; which fields it has depends on its ``source``.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            source: Only feedback of this kind, or of these: a str, or several.
            status: Only feedback with this status, or with these.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.feedback("2026-01", status="pending").collect()
            >>> table[0]["comment"]
            'The example does not run'
        """
    def feedback_by_page(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        source: str | Iterable[str] | None = None,
        status: str | Iterable[str] | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Rows:
        """Thumbs up and down of each page, as an iterator of dicts. Sends nothing before the first row is asked for.

        The service cuts this listing off and has no way to the rest: that is a :class:`DataWarning`, or with ``strict=True`` an error.
        Shorter periods, such as ``every="day"``, bring more of it.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            source: Only feedback of this kind, or of these: a str, or several.
            status: Only feedback with this status, or with these.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.feedback_by_page("2026-01").collect()
            >>> max(table, key=lambda row: row["thumbsDown"])["path"]
            '/docs/errors'
        """
    def conversations(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Rows:
        """The turns of readers' conversations with the assistant, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row is one turn: the question (``query``), the answer (``response``), its ``sources`` and what became of it.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 1000, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = client.conversations("last 7 days").collect()
            >>> [row["query"] for row in table if row["resolutionStatus"] == "unresolved"]
            ['How do I rotate my API key?']
        """
    def visitor_totals(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Totals:
        """The unique visitors of a whole range, in one request. Uniques do not add up: not over days, not over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> client.visitor_totals("2026-01")
            Totals(human=5100, ai=2300, total=7000)
        """
    def view_totals(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Totals:
        """The page views of a whole range, in one request. Views do add up.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> client.view_totals("2026-01")
            Totals(human=18100, ai=9300, total=27400)
        """
    def conversation(
        self,
        thread_id: str,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> dict[str, Any]:
        """One conversation with the assistant, with all its messages, as the service has it. One request.

        Args:
            thread_id: The conversation's id, as a row of :meth:`conversations` or the dashboard has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> client.conversation("thread-1")
            {'threadId': 'thread-1', 'createdAt': '2026-01-05T09:30:00Z', 'messages': [...]}
        """
    def caller_stats(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> dict[str, Any]:
        """How often the assistant was asked, by where from, as the service counts it. One request.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> client.caller_stats("2026-01")
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
        """
    def plan_visitors(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        by_path: bool | None = None,
        project_id: str | None = None,
    ) -> Plan:
        """What a range costs in requests, and in hours at the budget, before anything is sent; looks into the store alone.

        It is what is then sent, where the store knows how many pages there are: as many as the last time. Where it does not,
        each slice counts for one request at least, and ``exact`` is false. Totals cost one request a slice.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day.
            date_to: The day after the last.
            every: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` for the range as it is. The first and the last slice
                are cut to fit.
            by_path: Whether all rows are wanted (as :meth:`visitors` reads them, the default without ``every``) or one for each
                slice (as :meth:`visitor_trend` reads them, the default with ``every``).
            project_id: Overrides the client's project.

        Raises:
            ValueError: The range is empty (``date_to`` is exclusive), or does not consist of whole days.
        """
    def visitor_trend(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = False,
        whole: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
        project_id: str | None = None,
    ) -> TrendTable:
        """The site's visitors slice by slice, in order: one request a slice, or with ``pages`` one for each 250 rows.

        With a ``store``, slices that have settled are fetched once: the next day costs the new slice, and whatever was still
        open. An interrupted trend goes on there when it is called again.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day.
            date_to: The day after the last.
            every: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` for one slice. The slices tile the range without
                gap or overlap; the first and the last are cut to fit.
            by_path: A row for each slice and path, in place of one for each slice.
            whole: Leave out the first and the last slice where the range cuts them, and send nothing for them: they have fewer
                ``days``, and fewer visitors for that reason alone.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            progress: Whether to show on stderr how far it is, in slices.
            project_id: Overrides the client's project.

        Raises:
            ValueError: The range is empty (``date_to`` is exclusive), or does not consist of whole days.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.
        """
    def compare_visitors(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Comparison:
        """A period beside the one before it: the site's totals, and every path's counts in both.

        It costs two exports, one request for each 250 rows of each period. With a ``store``, what was fetched before costs nothing, and
        a comparison that ended early continues when it is called again.

        A change is ``significant`` if it is larger than twice the difference that two counts of the same readers would
        usually show: if its square is more than four times the sum of both counts.

        Args:
            period: As in :meth:`visitors`; the last month if ``None``.
            before: The period to compare with; the same kind of period before it if ``None``: the month before a month, as
                many days before any other number of days.
            on_budget: When the request budget is spent: ``"wait"`` for the next free slot, or ``"stop"`` with a
                :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            A table with a row for each path of either period; a path that one of them lacks counts 0 there.

        Raises:
            ValueError: A period is not known or has not begun, or both are the same.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.
            DocPlatformError: Any error of a read, with the ``checkpoint`` of the export that it ended.

        Example:
            >>> month = client.compare_visitors("2026-10")
            >>> month.totals.total, month.totals_before.total
            (12840, 11710)
            >>> [(row["path"], row["total_change"]) for row in month.risers(2)]
            [('/auth', 412), ('/quickstart', 230)]
        """
    def sync(
        self,
        projects: str | Iterable[str],
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = True,
        on_budget: Literal["wait", "stop"] = "wait",
        on_running: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
    ) -> SyncReport:
        """Fetches into the store what it lacks of some projects.

        What has settled comes first, project by project and oldest first, as it is fetched once; then what may still change,
        beginning with what was fetched the longest ago. Ended at any point, it goes on there when it is called again. Two at
        a time never fill one store, from whatever processes.

        A slice that cannot be fetched holds up no other: it is passed over, and with it its project where the service refuses
        that as a whole; else what is left of its project comes last. Three failures before the first success, three in
        passing one after another, or three when nothing else is left, end it.

        Args:
            projects: The projects' ids.
            period: As in :meth:`visitor_trend`, as are the arguments that follow.
            by_path: All rows, or the totals alone.
            on_running: While another sync fills the store: ``"wait"`` waits for its end and says so;
                ``"stop"`` raises a :class:`StoreBusyError`.
            progress: Whether to show on stderr how far it is, in slices.

        Raises:
            ConfigurationError: The client has no store.
            SyncError: Some slices could not be fetched; its ``failures`` lists them.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.

        Each error carries as ``report`` what was found and fetched until then.
        """
    def paginate(
        self,
        path: str,
        *,
        items: str,
        has_more: str = "hasMore",
        next_cursor: str | None = None,
        params: _Parameters | None = None,
        page_size: int = 250,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
    ) -> Rows:
        """Any other listing of the service, with the same engine: paging, retries, checkpoints, tables and files.

        Args:
            path: As ``"/v1/analytics/{project_id}/searches"``; the client's project is filled in.
            items: The field that holds the rows, as ``"searches"``.
            has_more: The field that says whether there are more.
            next_cursor: The field that holds the cursor, where each page names the next one; where ``has_more`` is missing, a cursor says
                that there are more. ``None``: pages are skipped to by ``offset``.
            params: Further query parameters. A list or tuple repeats its name, ``None`` leaves it out.
            page_size: As in :meth:`visitors`, as are the arguments that follow.

        Example:
            >>> rows = client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor")
            >>> [row["searchQuery"] for row in rows]
            ["webhooks", "rate limit"]
        """
    def request(
        self,
        method: str,
        path: str,
        *,
        params: _Parameters | None = None,
        json: Any = None,
    ) -> Any:
        """The escape hatch: any request of the service, with this client's key, retries and errors.

        Everything but ``GET`` is a write: tried again only where it is proven that it did not happen.

        Args:
            method: ``GET``, ``POST``, ``PUT``, ``PATCH`` or ``DELETE``.
            path: As ``"/v1/analytics/{project_id}/visitors"``; the client's project is filled in.
            params: Query parameters. A list or tuple repeats its name, ``None`` leaves it out.
            json: The body of a write.

        Returns:
            The answer's JSON, or ``None`` for an empty answer.
        """
    def with_options(self, **changes: Unpack[_Changes]) -> Self:
        """A second handle with other settings, on the same connections and counts; each is closed apart.

        A change of the key, the address, the proxy or TLS gets connections of its own.
        """
    @property
    def stats(self) -> Stats:
        """Counts of this client and all its handles, at this moment, without I/O."""
    def close(self) -> None:
        """Closes the connections once no other handle needs them. Closing twice is fine; use after it is a
        ``RuntimeError``."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None = ...,
        exc: BaseException | None = ...,
        tb: TracebackType | None = ...,
        /,
    ) -> None: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AsyncClient:
    """An asyncio client for one documentation platform. Every call returns a lazy coroutine object: nothing is sent
    before it is awaited. Bound to no event loop; cancelling a call drops its request.

    Args:
        api_key: The platform's API key, from ``DOCPLATFORM_API_KEY`` where ``None``, or else from the file that
            ``DOCPLATFORM_API_KEY_FILE`` names, which only you may be able to read. It appears nowhere but in
            the ``Authorization`` header: not in a ``repr``, an error, a log line or a pickle.
        base_url: The address of your documentation platform, from ``DOCPLATFORM_BASE_URL`` where ``None``. https,
            or http to ``127.0.0.1``, ``[::1]`` or ``localhost``. It may have a path.
        project_id: The project where a call names none, from ``DOCPLATFORM_PROJECT_ID`` where ``None``.
        timeout: Seconds for one attempt, to the last byte of the answer. A write has twice that, as giving up on
            it leaves its outcome unknown.
        connect_timeout: Seconds to resolve the name, connect and shake hands. ``timeout`` and ``deadline`` hold for it, too.
        deadline: Seconds for one call, or one page of an export, with every retry and every pause. A pause that
            would reach beyond it is not begun.
        max_retries: Retries after the first attempt. Reads are tried again when the connection or the service
            fails in passing; a write only where it is proven that it did not happen. No setting changes that.
        max_retry_after: The longest ``Retry-After``, in seconds, that is waited for. Beyond it the error is raised.
        proxy: An ``http://`` or ``https://`` proxy, which then holds for every request.
        trust_env: Whether ``HTTPS_PROXY`` and the like are used. They never are for loopback.
        ca_bundle: A PEM file of certificates to trust besides the system's.
        headers: Extra headers for every request. Their values are treated as secrets.
        allow_http: Allow plain http to other machines. The API key then travels in the clear.
        max_response_bytes: The largest answer that is read. An answer about a job is cut at 4 MiB in any case.
        job_path: Where a job is read; the one path that the service does not document.
        requests_per_hour: How many analytics requests may go out in any hour: 100 is what one deployment grants to a whole
            organization. From ``DOCPLATFORM_REQUESTS_PER_HOUR`` where ``None``, or else no budget is kept.
            It holds for all processes that use the same ``store``, or else for this client and its handles.
            A call that has to wait for the next hour says so in the log; ``deadline`` does not run meanwhile.
        reserve: How many of them are left to others, from ``DOCPLATFORM_RESERVE`` where ``None``, or else 0.
        store: A file that caches what was fetched and counts requests, from ``DOCPLATFORM_STORE`` where ``None``, or
            else none is kept: see ``docs/store.md``. It holds no key. ``""`` is none, whatever the variable says.
        settle_days: Days after its end from which a range is treated as final. A final range is fetched once.
        organization: Whose budget it is, where several keys share one, from ``DOCPLATFORM_ORGANIZATION`` where
            ``None``. Without it each key has its own.

    Raises:
        ConfigurationError: A setting is missing or cannot be used.
        ValueError: A setting is out of its range.

    Example:
        >>> async with AsyncClient() as client:
        ...     job = await client.run_job("Fix the broken links on the quickstart page")
    """

    def __new__(
        cls,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        project_id: str | None = None,
        timeout: _Seconds = 30.0,
        connect_timeout: _Seconds = 5.0,
        deadline: _Seconds = 90.0,
        max_retries: int = 2,
        max_retry_after: _Seconds = 60.0,
        proxy: str | None = None,
        trust_env: bool = True,
        ca_bundle: str | PathLike[str] | None = None,
        headers: Mapping[str, str] | None = None,
        allow_http: bool = False,
        max_response_bytes: int = 33554432,
        job_path: str = "/v2/agent/{project_id}/job/{id}",
        requests_per_hour: int | None = None,
        reserve: int | None = None,
        store: str | PathLike[str] | None = None,
        settle_days: int = 2,
        organization: str | None = None,
    ) -> Self: ...
    def create_job(
        self, prompt: str, *, once: str | None = None, project_id: str | None = None
    ) -> Coroutine[Any, Any, Job]:
        """Asks the docs agent to do what ``prompt`` says, and returns the new job without waiting for it.

        Sent once: if the answer is lost the outcome is unknown, and only you can look.

        Args:
            prompt: What the agent is to do, in plain words.
            once: A name that makes it safe to run this again, from any process of the machine: the same name and prompt
                return the same job and send nothing. It needs a ``store``, where the name is kept by organization and
                project. If two calls come at the same time, one creates the job and the other waits for it, within its
                ``deadline``. A job that was not sent, or was refused, frees the name.
            project_id: Overrides the client's.

        Returns:
            The job. Under a name it is as the service showed it when it was created; where :meth:`resolve_once` named its
            id, its status is ``unknown`` until it is read.

        Raises:
            ValueError: The prompt is empty or no valid text, or the name was used with another prompt. Nothing was sent.
            UnconfirmedWriteError: The job may have been created, or was and its answer cannot be read. Under a name, each
                further call raises it too and sends nothing, until :meth:`resolve_once` has said what became of it.
            ConfigurationError: ``once`` without a store. Nothing was sent.
            StatusError: The service refused it; 100 jobs an hour and project have been seen as the limit.
            ConnectError: The service was never reached.

        Example:
            >>> job = await client.create_job("Document release 1.4", once="docs-1.4")
            >>> job == await client.create_job("Document release 1.4", once="docs-1.4")  # sends nothing
            True
        """
    def get_job(self, job: Job | str, *, project_id: str | None = None) -> Coroutine[Any, Any, Job]:
        """Reads a job.

        Args:
            job: The job or its id.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            NotFoundError: No such job in this project.
            ResponseError: The answer cannot be read, or is about another job.
        """
    def send_message(
        self, job: Job | str, prompt: str, *, project_id: str | None = None
    ) -> Coroutine[Any, Any, Job]:
        """Sends a follow-up message to a job. The answer, and polls right after it, may still show the old status.

        Raises the same errors as :meth:`create_job`. To wait for the outcome too, use :meth:`follow_up`.
        """
    def wait_for_job(
        self,
        job: Job | str,
        *,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Polls a job until it is final, and returns it.

        Each interval is 1.5 times the one before, up to ``max_poll_interval``, and jittered by 20 %. Temporary
        failures are tolerated until the timeout. A job that this client created less than 10 s ago may be missing.

        Args:
            job: The job or its id.
            timeout: Seconds to wait in all; ``None`` for ever. The wait may last up to 5 s longer: a poll that is under
                way at its end is given that long to be answered.
            poll_interval: Seconds to the second poll.
            max_poll_interval: The longest interval, in seconds.
            check: Raise for a job that failed instead of returning it. An archived job is returned.
            on_poll: Called with each snapshot in the calling task. It may return an awaitable. What it raises ends the
                wait. ``timeout`` does not interrupt it: one that never returns is never ended.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            JobFailedError: The job failed, and ``check`` is set; ``error.job`` is its last snapshot.
            WaitTimeoutError: It was not final in time; ``error.job`` is its last snapshot. The job goes on by itself.
                Where the last poll failed or was not answered, that is the error's ``__cause__``.
        """
    def run_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Creates a job and waits until it is final: :meth:`create_job`, then :meth:`wait_for_job`.

        Interrupted, the exception carries a note with the job's id, so that the wait can be taken up again. With ``once``, a
        name, running it again waits for the same job, whatever ended the first run.
        """
    def resolve_once(
        self, name: str, job: Job | str | None, *, project_id: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Says what became of a creation under a name of ``once`` whose outcome is unknown. Sends nothing.

        Look on the platform first: if the job is there and this says that it is not, the next call creates it again.

        Args:
            name: The name, as it was given to :meth:`create_job` or :meth:`run_job`.
            job: The job that was created, or its id; ``None`` if it never was, which frees the name.
            project_id: Overrides the job's own project, which overrides the client's.

        Raises:
            ValueError: There is no such name in the store, its outcome is known, or its job is being created right now.
            ConfigurationError: The client has no store.

        Example:
            >>> await client.resolve_once("docs-1.4", "job-17")
        """
    def _once(
        self, *, project_id: str | None = None
    ) -> Coroutine[Any, Any, list[tuple[str, str, str | None, datetime]]]: ...
    def follow_up(
        self,
        job: Job | str,
        prompt: str,
        *,
        settle: _Seconds = 15.0,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Sends a message and waits until the job is final again: :meth:`send_message`, then :meth:`wait_for_job`.

        Args:
            job: The job or its id.
            prompt: The message.
            settle: Seconds during which a final status is taken for the old one, unless a poll after the message
                has shown the job active.
            timeout: As in :meth:`wait_for_job`, as are the arguments that follow.
        """
    def visitors(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        page_size: int | None = None,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncVisitors:
        """The site's readers, human and AI, as an iterator of dicts. Sends nothing before the first row is asked for.

        Unique visitors do not add up: not over days, not over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            page_size: Rows a request, 1 to 250, which is the default. Fewer rows a request cost more requests.
            offset: Rows to skip.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted. n above 1 (up to 16) speculates n pages ahead: faster
                over a slow link, for at most n-1 requests beyond the end.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.visitors("2026-01").collect()
            >>> table[0]
            {'path': '/docs/start', 'human': 120, 'ai': 40, 'total': 150}
        """
    def views(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        page_size: int | None = None,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncVisitors:
        """The site's page views, human and AI, as an iterator of dicts. Sends nothing before the first row is asked for.

        Views are events: they do add up, over days and over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            page_size: Rows a request, 1 to 250, which is the default. Fewer rows a request cost more requests.
            offset: Rows to skip.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted. n above 1 (up to 16) speculates n pages ahead: faster
                over a slow link, for at most n-1 requests beyond the end.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.views("2026-01").collect()
            >>> sum(row["total"] for row in table) == table.totals.total
            True
        """
    def searches(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncRows:
        """What readers searched for, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row sums up one search phrase over the range: ``searchQuery``, ``hits``, ``ctr``, ``topClickedPage`` and ``lastSearchedAt``.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.searches("2026-01").collect()
            >>> [row["searchQuery"] for row in table if not row["topClickedPage"]]
            ['terraform provider', 'on premise']
        """
    def feedback(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        source: str | Iterable[str] | None = None,
        status: str | Iterable[str] | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncRows:
        """What readers said about pages, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row is one piece of feedback; which fields it has depends on its ``source``.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            source: Only feedback of this kind, or of these: a str, or several.
            status: Only feedback with this status, or with these.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.feedback("2026-01", status="pending").collect()
            >>> table[0]["comment"]
            'The example does not run'
        """
    def feedback_by_page(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        source: str | Iterable[str] | None = None,
        status: str | Iterable[str] | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncRows:
        """Thumbs up and down of each page, as an iterator of dicts. Sends nothing before the first row is asked for.

        The service cuts this listing off and has no way to the rest: that is a :class:`DataWarning`, or with ``strict=True`` an error.
        Shorter periods, such as ``every="day"``, bring more of it.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            source: Only feedback of this kind, or of these: a str, or several.
            status: Only feedback with this status, or with these.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 100, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.feedback_by_page("2026-01").collect()
            >>> max(table, key=lambda row: row["thumbsDown"])["path"]
            '/docs/errors'
        """
    def conversations(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        page_size: int | None = None,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
        strict: bool = False,
        refresh: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncRows:
        """The turns of readers' conversations with the assistant, as an iterator of dicts. Sends nothing before the first row is asked for.

        A row is one turn: the question (``query``), the answer (``response``), its ``sources`` and what became of it.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            every: Reads the range in slices, one after another: ``"day"``, ``"week"`` (from Monday) or ``"month"``. Each row then says which by
                ``date_from`` and ``date_to``. For ranges that the service finds too long.
            page_size: Rows a request, 1 to 1000, which is the default. Fewer rows a request cost more requests.
            max_rows: The most rows to hand out; 0 sends nothing.
            prefetch: 1 asks for the next page, which the service has promised, while you work on this one; no request
                is wasted. 0 asks only when a row is wanted.
            resume: A checkpoint: the export continues after the last row handed out. The query comes from it, or is
                the same again. Rows that come a second time are found among the last 500 before the checkpoint, too.
            strict: Raise :class:`PaginationError` where an oddity would only be told: data that moved, short pages, a listing that is cut off.
            refresh: Fetch the range again even if the client's ``store`` has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            An iterator of dicts, which is also the way to a table, a frame or a file.

        Raises:
            ValueError: The period is not known or has not begun, the range is empty (``date_to`` is exclusive), or the checkpoint is of another query.

        While it is read, it raises :class:`PaginationError` where the service breaks its paging rule, and the errors of
        any read; each carries the ``checkpoint`` to go on with.

        Example:
            >>> table = await client.conversations("last 7 days").collect()
            >>> [row["query"] for row in table if row["resolutionStatus"] == "unresolved"]
            ['How do I rotate my API key?']
        """
    def visitor_totals(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Totals]:
        """The unique visitors of a whole range, in one request. Uniques do not add up: not over days, not over paths.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> await client.visitor_totals("2026-01")
            Totals(human=5100, ai=2300, total=7000)
        """
    def view_totals(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Totals]:
        """The page views of a whole range, in one request. Views do add up.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> await client.view_totals("2026-01")
            Totals(human=18100, ai=9300, total=27400)
        """
    def conversation(
        self,
        thread_id: str,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """One conversation with the assistant, with all its messages, as the service has it. One request.

        Args:
            thread_id: The conversation's id, as a row of :meth:`conversations` or the dashboard has it.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> await client.conversation("thread-1")
            {'threadId': 'thread-1', 'createdAt': '2026-01-05T09:30:00Z', 'messages': [...]}
        """
    def caller_stats(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """How often the assistant was asked, by where from, as the service counts it. One request.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day, included. ``YYYY-MM-DD``, an ISO 8601 date-time, ``date`` or ``datetime``.
            date_to: The first day that is not included any more. The service's time zone is not documented.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            project_id: Overrides the client's project.

        Example:
            >>> await client.caller_stats("2026-01")
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
        """
    def plan_visitors(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        by_path: bool | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Plan]:
        """What a range costs in requests, and in hours at the budget, before anything is sent; looks into the store alone.

        It is what is then sent, where the store knows how many pages there are: as many as the last time. Where it does not,
        each slice counts for one request at least, and ``exact`` is false. Totals cost one request a slice.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day.
            date_to: The day after the last.
            every: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` for the range as it is. The first and the last slice
                are cut to fit.
            by_path: Whether all rows are wanted (as :meth:`visitors` reads them, the default without ``every``) or one for each
                slice (as :meth:`visitor_trend` reads them, the default with ``every``).
            project_id: Overrides the client's project.

        Raises:
            ValueError: The range is empty (``date_to`` is exclusive), or does not consist of whole days.
        """
    def visitor_trend(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = False,
        whole: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, TrendTable]:
        """The site's visitors slice by slice, in order: one request a slice, or with ``pages`` one for each 250 rows.

        With a ``store``, slices that have settled are fetched once: the next day costs the new slice, and whatever was still
        open. An interrupted trend goes on there when it is called again.

        Args:
            period: The range by its name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last week"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. The relative ones are of whole days in UTC, without today.
            date_from: Instead of ``period``: the first day.
            date_to: The day after the last.
            every: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` for one slice. The slices tile the range without
                gap or overlap; the first and the last are cut to fit.
            by_path: A row for each slice and path, in place of one for each slice.
            whole: Leave out the first and the last slice where the range cuts them, and send nothing for them: they have fewer
                ``days``, and fewer visitors for that reason alone.
            on_budget: Where the client has a request budget and it is spent: ``"wait"`` waits for the next request that it
                grants and says so; ``"stop"`` raises a :class:`BudgetError`.
            progress: Whether to show on stderr how far it is, in slices.
            project_id: Overrides the client's project.

        Raises:
            ValueError: The range is empty (``date_to`` is exclusive), or does not consist of whole days.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.
        """
    def compare_visitors(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Comparison]:
        """A period beside the one before it: the site's totals, and every path's counts in both.

        It costs two exports, one request for each 250 rows of each period. With a ``store``, what was fetched before costs nothing, and
        a comparison that ended early continues when it is called again.

        A change is ``significant`` if it is larger than twice the difference that two counts of the same readers would
        usually show: if its square is more than four times the sum of both counts.

        Args:
            period: As in :meth:`visitors`; the last month if ``None``.
            before: The period to compare with; the same kind of period before it if ``None``: the month before a month, as
                many days before any other number of days.
            on_budget: When the request budget is spent: ``"wait"`` for the next free slot, or ``"stop"`` with a
                :class:`BudgetError`.
            project_id: Overrides the client's project.

        Returns:
            A table with a row for each path of either period; a path that one of them lacks counts 0 there.

        Raises:
            ValueError: A period is not known or has not begun, or both are the same.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.
            DocPlatformError: Any error of a read, with the ``checkpoint`` of the export that it ended.

        Example:
            >>> month = await client.compare_visitors("2026-10")
            >>> month.totals.total, month.totals_before.total
            (12840, 11710)
            >>> [(row["path"], row["total_change"]) for row in month.risers(2)]
            [('/auth', 412), ('/quickstart', 230)]
        """
    def sync(
        self,
        projects: str | Iterable[str],
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = True,
        on_budget: Literal["wait", "stop"] = "wait",
        on_running: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, SyncReport]:
        """Fetches into the store what it lacks of some projects.

        What has settled comes first, project by project and oldest first, as it is fetched once; then what may still change,
        beginning with what was fetched the longest ago. Ended at any point, it goes on there when it is called again. Two at
        a time never fill one store, from whatever processes.

        A slice that cannot be fetched holds up no other: it is passed over, and with it its project where the service refuses
        that as a whole; else what is left of its project comes last. Three failures before the first success, three in
        passing one after another, or three when nothing else is left, end it.

        Args:
            projects: The projects' ids.
            period: As in :meth:`visitor_trend`, as are the arguments that follow.
            by_path: All rows, or the totals alone.
            on_running: While another sync fills the store: ``"wait"`` waits for its end and says so;
                ``"stop"`` raises a :class:`StoreBusyError`.
            progress: Whether to show on stderr how far it is, in slices.

        Raises:
            ConfigurationError: The client has no store.
            SyncError: Some slices could not be fetched; its ``failures`` lists them.
            BudgetError: With ``on_budget="stop"``; what was fetched is in the store.

        Each error carries as ``report`` what was found and fetched until then.
        """
    def paginate(
        self,
        path: str,
        *,
        items: str,
        has_more: str = "hasMore",
        next_cursor: str | None = None,
        params: _Parameters | None = None,
        page_size: int = 250,
        offset: int = 0,
        max_rows: int | None = None,
        prefetch: int = 1,
        resume: str | None = None,
    ) -> AsyncRows:
        """Any other listing of the service, with the same engine: paging, retries, checkpoints, tables and files.

        Args:
            path: As ``"/v1/analytics/{project_id}/searches"``; the client's project is filled in.
            items: The field that holds the rows, as ``"searches"``.
            has_more: The field that says whether there are more.
            next_cursor: The field that holds the cursor, where each page names the next one; where ``has_more`` is missing, a cursor says
                that there are more. ``None``: pages are skipped to by ``offset``.
            params: Further query parameters. A list or tuple repeats its name, ``None`` leaves it out.
            page_size: As in :meth:`visitors`, as are the arguments that follow.

        Example:
            >>> rows = client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor")
            >>> [row["searchQuery"] async for row in rows]
            ["webhooks", "rate limit"]
        """
    def request(
        self,
        method: str,
        path: str,
        *,
        params: _Parameters | None = None,
        json: Any = None,
    ) -> Coroutine[Any, Any, Any]:
        """The escape hatch: any request of the service, with this client's key, retries and errors.

        Everything but ``GET`` is a write: tried again only where it is proven that it did not happen.

        Args:
            method: ``GET``, ``POST``, ``PUT``, ``PATCH`` or ``DELETE``.
            path: As ``"/v1/analytics/{project_id}/visitors"``; the client's project is filled in.
            params: Query parameters. A list or tuple repeats its name, ``None`` leaves it out.
            json: The body of a write.

        Returns:
            The answer's JSON, or ``None`` for an empty answer.
        """
    def with_options(self, **changes: Unpack[_Changes]) -> Self:
        """A second handle with other settings, on the same connections and counts; each is closed apart.

        A change of the key, the address, the proxy or TLS gets connections of its own.
        """
    @property
    def stats(self) -> Stats:
        """Counts of this client and all its handles, at this moment, without I/O."""
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes the connections once no other handle needs them. Closing twice is fine; use after it is a
        ``RuntimeError``."""
    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(
        self,
        exc_type: type[BaseException] | None = ...,
        exc: BaseException | None = ...,
        tb: TracebackType | None = ...,
        /,
    ) -> Coroutine[Any, Any, None]: ...
    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Job:
    """A job of the docs agent, as the service showed it at one moment.

    A job is data, not a handle: clients act on it. It compares and hashes by its content, pickles, and
    never changes; ask :meth:`Client.get_job` for a newer snapshot. Fields other than ``id`` and ``status``
    may be missing from an answer and are ``None`` then.
    """

    @property
    def id(self) -> str:
        """The identifier."""
    @property
    def status(self) -> str:
        """``active``, ``completed``, ``archived`` or ``failed``; a newer service may know more words."""
    @property
    def source(self) -> Source:
        """The repository and the reference that the agent works on."""
    @property
    def model(self) -> str | None:
        """The AI model."""
    @property
    def pr_link(self) -> str | None:
        """The pull request's URL; ``None`` while the job is active, and where it made no pull request: it changed no file, or its
        project publishes without one. Data from outside: check it before you open it."""
    @property
    def created_at(self) -> datetime | None:
        """When the job was created, in UTC."""
    @property
    def archived_at(self) -> datetime | None:
        """When the job was archived, in UTC."""
    @property
    def project_id(self) -> str:
        """The project that this client asked about."""
    @property
    def is_final(self) -> bool:
        """Whether polling can stop: ``completed``, ``archived`` or ``failed``. An unknown status is not final."""
    @property
    def raw(self) -> dict[str, Any]:
        """The whole body as received, unknown fields included; a new dict each time."""
    def to_dict(self) -> dict[str, Any]:
        """The documented fields by their Python names; ``source`` is a dict, times are ``datetime``."""
    def _repr_html_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class Rows(Iterator[Any]):
    """A single-pass iterator over what an endpoint lists: a dict for each row, its keys named as the service names them, instants as
    ``datetime`` in UTC. Break and go on as with any iterator; a new pass after the end is a ``RuntimeError``. Several threads may share
    it: each row is handed out once.
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    def pages(self) -> Iterator[RowsPage] | Iterator[VisitorsPage]:
        """What is left, page by page."""
    def collect(self, progress: bool | None = None) -> Table:
        """All that is left, as a table.

        Repeats are looked for over the whole export. Memory: the table, some 60 bytes a row.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm where that is installed.

        Raises:
            DocPlatformError: with the rows that came as ``partial``, and the ``checkpoint`` behind them. An interrupt
                (Ctrl-C, a cancelled task) keeps what came: the next table or frame has it without asking again.
        """
    def to_pandas(self, *, progress: bool | None = None) -> pd.DataFrame:
        """All that is left, as a ``pandas.DataFrame``; errors as from :meth:`collect`."""
    def to_polars(self, *, progress: bool | None = None) -> pl.DataFrame:
        """All that is left, as a ``polars.DataFrame``; errors as from :meth:`collect`."""
    def to_arrow(self, *, progress: bool | None = None) -> pa.Table:
        """All that is left, as a ``pyarrow.Table``; errors as from :meth:`collect`."""
    def to_dicts(self, *, progress: bool | None = None) -> list[Any]:
        """All that is left, as a list of dicts; errors as from :meth:`collect`."""
    def to_csv(
        self,
        path: str | PathLike[str],
        *,
        escape_formulas: bool = True,
        bom: bool = False,
        progress: bool | None = None,
    ) -> int:
        """Writes all that is left into a CSV file (UTF-8, a header, lines ending in a line feed) as the pages come.

        The file is written whole or not at all, and replaces what was there. Memory does not grow with the rows.
        An error removes what was written, and its ``checkpoint`` is where this call began.

        Args:
            path: Where the file is to be.
            escape_formulas: Whether a text that a spreadsheet would run as a formula (``=``, ``+``, ``-``, ``@``, a tab,
                a carriage return, a NUL or a full-width form at its beginning) gets an apostrophe before it.
            bom: Whether the file begins with a byte order mark, without which Excel does not take it for UTF-8.
            progress: As for :meth:`collect`.

        Returns:
            The number of rows.

        Raises:
            OSError: The file cannot be written; what can be known of that before is raised before anything is sent.
        """
    def to_jsonl(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all that is left into a JSON Lines file: one object a row. Otherwise as :meth:`to_csv`."""
    def to_parquet(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all that is left into a Parquet file, with pyarrow, polars or duckdb, whichever is there.

        The rows are collected first, and errors are as from :meth:`to_csv`: no row counts as handed out, and those that
        came are there for the next call. The file is whole or not there.
        """
    def to_excel(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all that is left into an Excel workbook (``.xlsx``), with XlsxWriter: one sheet with a header.

        Dates are dates and counts are numbers. A text is a text: no formula runs, and no URL becomes a link. The rows are
        collected first, and the file is whole or not there.

        Args:
            path: Where the file is to be.
            progress: As for :meth:`collect`.

        Returns:
            The number of rows.

        Raises:
            ValueError: More than 1,048,575 rows, or a text of more than 32,767 characters: a sheet has no room for them. No
                file was written, and the rows are there for the next call, such as :meth:`to_csv`.
            ImportError: XlsxWriter is missing; says which extra to install. Nothing was sent.
            OSError: The file cannot be written; what can be known of that before is raised before anything is sent.

        Example:
            >>> client.visitors("2026-01").to_excel("january.xlsx")
            1000
        """
    @property
    def checkpoint(self) -> str:
        """Where to continue: after the last row that was handed out. A JSON text of at most
        some 9 KB without secrets, for ``resume=`` of the method that made this, in another process too; readable at any time, also after an
        error."""
    @property
    def warnings(self) -> list[str]:
        """What was found on the way: data that moved, short pages, a listing that was cut off, invalid characters."""
    def _repr_html_(self) -> str: ...

@final
class Visitors(Rows):
    """A single-pass iterator over visitors or views: ``{"path": str, "human": int, "ai": int, "total": int}`` and
    whatever else the service sent. It is used as any :class:`Rows`.
    """

    def totals(self) -> Totals:
        """The totals of the whole range, which come with the first page; asks for it if it did not come yet."""
    def pages(self) -> Iterator[VisitorsPage]:
        """What is left, page by page."""
    def collect(self, progress: bool | None = None) -> VisitorTable:
        """All that is left, as a table; as :meth:`Rows.collect`."""
    def to_dicts(self, *, progress: bool | None = None) -> list[VisitorRow]:
        """All that is left, as a list of dicts; errors as from :meth:`collect`."""

class AsyncRows(AsyncIterator[Any]):
    """A single-pass iterator over what an endpoint lists: a dict for each row, its keys named as the service names them, instants as
    ``datetime`` in UTC. Break and go on as with any iterator; a new pass after the end is a ``RuntimeError``. Several tasks may share
    it: each row is handed out once.
    """

    def __aiter__(self) -> AsyncIterator[Any]: ...  # noqa: PYI034 - a generator over what is left
    def __anext__(self) -> Coroutine[Any, Any, Any]: ...
    def pages(self) -> AsyncIterator[RowsPage] | AsyncIterator[VisitorsPage]:
        """What is left, page by page."""
    def collect(self, progress: bool | None = None) -> Coroutine[Any, Any, Table]:
        """All that is left, as a table.

        Repeats are looked for over the whole export. Memory: the table, some 60 bytes a row.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm where that is installed.

        Raises:
            DocPlatformError: with the rows that came as ``partial``, and the ``checkpoint`` behind them. An interrupt
                (Ctrl-C, a cancelled task) keeps what came: the next table or frame has it without asking again.
        """
    def to_pandas(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pd.DataFrame]:
        """All that is left, as a ``pandas.DataFrame``; errors as from :meth:`collect`."""
    def to_polars(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pl.DataFrame]:
        """All that is left, as a ``polars.DataFrame``; errors as from :meth:`collect`."""
    def to_arrow(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pa.Table]:
        """All that is left, as a ``pyarrow.Table``; errors as from :meth:`collect`."""
    def to_dicts(self, *, progress: bool | None = None) -> Coroutine[Any, Any, list[Any]]:
        """All that is left, as a list of dicts; errors as from :meth:`collect`."""
    def to_csv(
        self,
        path: str | PathLike[str],
        *,
        escape_formulas: bool = True,
        bom: bool = False,
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, int]:
        """Writes all that is left into a CSV file (UTF-8, a header, lines ending in a line feed) as the pages come.

        The file is written whole or not at all, and replaces what was there. Memory does not grow with the rows.
        An error removes what was written, and its ``checkpoint`` is where this call began.

        Args:
            path: Where the file is to be.
            escape_formulas: Whether a text that a spreadsheet would run as a formula (``=``, ``+``, ``-``, ``@``, a tab,
                a carriage return, a NUL or a full-width form at its beginning) gets an apostrophe before it.
            bom: Whether the file begins with a byte order mark, without which Excel does not take it for UTF-8.
            progress: As for :meth:`collect`.

        Returns:
            The number of rows.

        Raises:
            OSError: The file cannot be written; what can be known of that before is raised before anything is sent.
        """
    def to_jsonl(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all that is left into a JSON Lines file: one object a row. Otherwise as :meth:`to_csv`."""
    def to_parquet(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all that is left into a Parquet file, with pyarrow, polars or duckdb, whichever is there.

        The rows are collected first, and errors are as from :meth:`to_csv`: no row counts as handed out, and those that
        came are there for the next call. The file is whole or not there.
        """
    def to_excel(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all that is left into an Excel workbook (``.xlsx``), with XlsxWriter: one sheet with a header.

        Dates are dates and counts are numbers. A text is a text: no formula runs, and no URL becomes a link. The rows are
        collected first, and the file is whole or not there.

        Args:
            path: Where the file is to be.
            progress: As for :meth:`collect`.

        Returns:
            The number of rows.

        Raises:
            ValueError: More than 1,048,575 rows, or a text of more than 32,767 characters: a sheet has no room for them. No
                file was written, and the rows are there for the next call, such as :meth:`to_csv`.
            ImportError: XlsxWriter is missing; says which extra to install. Nothing was sent.
            OSError: The file cannot be written; what can be known of that before is raised before anything is sent.

        Example:
            >>> await client.visitors("2026-01").to_excel("january.xlsx")
            1000
        """
    @property
    def checkpoint(self) -> str:
        """Where to continue: after the last row that was handed out. A JSON text of at most
        some 9 KB without secrets, for ``resume=`` of the method that made this, in another process too; readable at any time, also after an
        error."""
    @property
    def warnings(self) -> list[str]:
        """What was found on the way: data that moved, short pages, a listing that was cut off, invalid characters."""
    def _repr_html_(self) -> str: ...

@final
class AsyncVisitors(AsyncRows):
    """A single-pass iterator over visitors or views: ``{"path": str, "human": int, "ai": int, "total": int}`` and
    whatever else the service sent. It is used as any :class:`AsyncRows`.
    """

    def totals(self) -> Coroutine[Any, Any, Totals]:
        """The totals of the whole range, which come with the first page; asks for it if it did not come yet."""
    def pages(self) -> AsyncIterator[VisitorsPage]:
        """What is left, page by page."""
    def collect(self, progress: bool | None = None) -> Coroutine[Any, Any, VisitorTable]:
        """All that is left, as a table; as :meth:`Rows.collect`."""
    def to_dicts(self, *, progress: bool | None = None) -> Coroutine[Any, Any, list[VisitorRow]]:
        """All that is left, as a list of dicts; errors as from :meth:`collect`."""

# How pickles find back.
def _client(class_: type[Any], settings: dict[str, Any]) -> Any: ...
def _job(raw: str, project_id: str) -> Job: ...

# For the command line: where the API key is from, and the key; whether a client takes these settings alone.
def _api_key(file: str | PathLike[str] | None = None) -> tuple[str, str]: ...
def _check(settings: dict[str, Any]) -> None: ...

# Foreign text as every error of this package shows it: nothing that a terminal would obey, cut to that many characters.
def _safe(text: str, most: int) -> str: ...

# Whether a slice of a range is shorter than a whole day, week or month, as the range begins or ends within it: it has fewer uniques for that reason alone.
def _is_cut(every: str | None, date_from: date, date_to: date) -> bool: ...

# Whether two counts differ by more than chance may bring: the one judgement of comparisons and reports.
def _is_significant(before: int, now: int) -> bool: ...

# What a range of whole days is called and the one of the same kind before it, where both ends are days: of each the two days, the
# kind and the name.
def _period(
    period: str | None = None, date_from: _Date | None = None, date_to: _Date | None = None
) -> tuple[tuple[date, date, str, str], tuple[date, date, str, str] | None] | None: ...

# How a test sees what becomes of a bug.
def _panic(client: Client | AsyncClient) -> Any: ...

@disjoint_base
class Table:
    """All rows of an export, in Arrow's memory. It never changes and never asks the service for anything.

    ``len``, ``[i]``, slices and iteration give dicts. Every library that knows Arrow's PyCapsule interface takes it as
    it is, without a copy: ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``duckdb.sql("from table")``. The columns are those
    of its endpoint, named as the service names them: string, int64, float64, bool, timestamp in UTC, and JSON text for what is deeper;
    then whatever else the service sent, as nullable int64, float64, bool or string. Where the range was read in slices, ``date_from`` and
    ``date_to`` come first. The first 100 further fields have a column of their own, the others are together in ``other_fields``, as JSON
    text; one that is named as a column of this table, and a value that does not fit its column, is in ``service_`` and its name. It pickles.

    >>> table = client.searches("2026-01").collect()
    >>> table.to_pandas().columns.to_list()
    ['searchQuery', 'hits', 'ctr', 'topClickedPage', 'lastSearchedAt']
    """

    @property
    def listing(self) -> str | None:
        """What is listed: ``"visitors"``, ``"views"``, ``"searches"``, ``"feedback"``, ``"conversations"`` or
        ``"feedback_by_page"``; ``None`` for a listing of :meth:`Client.paginate`."""
    @property
    def date_from(self) -> Any:
        """Where the range begins, as it was asked for."""
    @property
    def date_to(self) -> Any:
        """Where the range ends, as it was asked for; the end is exclusive."""
    @property
    def project_id(self) -> str | None:
        """The project."""
    @property
    def requests(self) -> int:
        """How many requests the rows cost, retries included."""
    @property
    def warnings(self) -> list[str]:
        """What was found on the way: data that moved, short pages, a listing that was cut off, invalid characters."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule interface: the schema, which stands for zero rows too."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface: the rows; may be asked for any number of times. ``requested_schema`` is passed over."""
    def to_pandas(self) -> pd.DataFrame:
        """A ``pandas.DataFrame``: texts with the dtype that pandas gives to them, counts as int64, instants as datetimes in UTC.

        Raises:
            ImportError: pandas is missing; says which extra to install.
        """
    def to_polars(self) -> pl.DataFrame:
        """A ``polars.DataFrame`` on the same memory; ``ImportError`` where polars is missing."""
    def to_arrow(self) -> pa.Table:
        """A ``pyarrow.Table`` on the same memory; ``ImportError`` where pyarrow is missing."""
    def to_dicts(self) -> list[Any]:
        """A list of dicts."""
    def to_csv(self, path: str | PathLike[str], *, escape_formulas: bool = True, bom: bool = False) -> int:
        """Writes a CSV file; returns the number of rows. As :meth:`Rows.to_csv`."""
    def to_jsonl(self, path: str | PathLike[str]) -> int:
        """Writes a JSON Lines file; returns the number of rows. As :meth:`Rows.to_jsonl`."""
    def to_parquet(self, path: str | PathLike[str]) -> int:
        """Writes a Parquet file with pyarrow, polars or duckdb; returns the number of rows."""
    def to_excel(self, path: str | PathLike[str]) -> int:
        """Writes an Excel workbook with XlsxWriter; returns the number of rows. As :meth:`Rows.to_excel`."""
    def _repr_html_(self) -> str: ...
    def _schema(self) -> list[tuple[str, str]]: ...
    def _columns(self) -> dict[str, str]: ...
    def _days(self, name: str) -> bytearray: ...
    def _counts(self, name: str) -> bytearray: ...
    def _values(self, name: str) -> list[Any]: ...
    def _extras(self) -> dict[str, tuple[str, list[Any]]]: ...
    def _arrow_bytes(self) -> int: ...

@final
class VisitorTable(Table):
    """All rows of an export of visitors or views. It is used as any :class:`Table`; its columns are ``path`` (string), ``human``, ``ai``
    and ``total`` (int64), then whatever else the service sent.

    Of visitors, ``human``, ``ai`` and ``total`` of a row are unique visitors of that page: they do not add up to those of the site,
    which are in :attr:`totals`. Of views they are events, which do add up.
    """

    @property
    def totals(self) -> Totals | None:
        """The totals of the whole range, as they were when the export began; ``None`` where no page was asked for."""
    @property
    def date_from(self) -> str | None:
        """Where the range begins, as it was asked for."""
    @property
    def date_to(self) -> str | None:
        """Where the range ends, as it was asked for; the end is exclusive."""
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> VisitorRow: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[VisitorRow]: ...
    def __iter__(self) -> Iterator[VisitorRow]: ...
    def to_dicts(self) -> list[VisitorRow]:
        """A list of dicts."""
    def plot(
        self, n: int = 15, *, by: Literal["human", "ai", "total"] = "total", ax: Axes | None = None
    ) -> Axes:
        """A chart of the most read pages, people and AI agents side by side, through matplotlib.

        The two bars of a page are unique visitors of that page: a visitor who was seen as both is in both, and the
        bars of the pages do not add up to those of the site. The colours can be told apart by the colour-blind,
        and the hatching in print.

        Args:
            n: How many pages to show, the most read first.
            by: Which readers count for that.
            ax: Where to draw; a new figure where ``None``.

        Returns:
            matplotlib's own ``Axes``: go on with it as you know it, as in ``table.plot().set_title("January")``.

        Raises:
            ImportError: matplotlib is missing; says which extra to install.
            ValueError: ``n`` is below 1, or ``by`` is none of the three.

        Example:
            >>> table = client.visitors(date_from="2026-01-01", date_to="2026-02-01").collect()
            >>> table.plot()
            >>> matplotlib.pyplot.savefig("january.png")
        """

@final
class TrendTable(Table):
    """Visitors slice by slice, in Arrow's memory: in order, half-open, without gap or overlap. It never changes and never
    asks the service for anything. It is used as any :class:`Table`, and pickles.

    The columns are ``date_from`` and ``date_to`` (days; ``date_to`` is exclusive), ``days`` (how many; a slice that the range cuts has
    fewer), with ``by_path=True`` ``path``, and ``human``, ``ai`` and
    ``total`` (int64), then whatever else the service sent. In a dict the days are ``datetime.date``, in pandas datetimes.

    Uniques of slices do not add up: a visitor who came on two days counts in both, and once in the range. What counts as AI
    traffic is for the service to say, and has changed before: a sudden step in ``ai`` may come from that.
    """

    @property
    def date_from(self) -> date | None:
        """The first day."""
    @property
    def date_to(self) -> date | None:
        """The day after the last."""
    @property
    def every(self) -> str | None:
        """How long a slice is: ``day``, ``week`` or ``month``; ``None`` for one slice."""
    @property
    def open_from(self) -> date | None:
        """From which day on slices may still change, as they ended less than ``settle_days`` ago or have not ended yet;
        ``None`` where all have settled."""
    def sum(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses with a ``TypeError``: unique visitors do not add up. :meth:`Client.visitor_totals` has those of a range."""
    def plot(self, *, ax: Axes | None = None) -> Axes:
        """People and AI agents by slice as a matplotlib chart, for a trend without ``pages``; returns its ``Axes``.

        Raises:
            ValueError: The trend has a row for each path.
            ImportError: matplotlib is missing; says which extra to install.
        """

@final
class Comparison(Table):
    """Two periods side by side, in Arrow's memory: a row for each path of either, those of the period itself first. It
    never changes and never asks the service for anything. It is used as any :class:`Table`, and pickles.

    The columns are ``path`` (string), then ``human``, ``human_before``, ``human_change``, the same for ``ai`` and ``total`` (int64), and
    ``significant`` (bool): whether the change of ``total`` is larger than twice the difference that two counts of the same
    readers would usually show. A path that one of the periods lacks counts 0 there.

    Counts of paths do not add up to those of the site, which are in :attr:`totals` and :attr:`totals_before`.
    """

    @property
    def period(self) -> str:
        """What the period is called, as ``"October 2026"``."""
    @property
    def before(self) -> str:
        """What the period that it is compared with is called."""
    @property
    def date_from(self) -> date | None:
        """The first day of the period."""
    @property
    def date_to(self) -> date | None:
        """The day after its last."""
    @property
    def date_from_before(self) -> date | None:
        """The first day of the period that it is compared with."""
    @property
    def date_to_before(self) -> date | None:
        """The day after its last."""
    @property
    def totals(self) -> Totals:
        """The site's totals in the period."""
    @property
    def totals_before(self) -> Totals:
        """The site's totals in the period that it is compared with."""
    def risers(self, n: int = 10) -> list[_Row]:
        """The paths that gained most: read in both periods, with a significant change; the largest gain first."""
    def fallers(self, n: int = 10) -> list[_Row]:
        """The paths that lost most: read in both periods, with a significant change; the largest loss first."""
    def new(self, n: int = 10) -> list[_Row]:
        """The paths that nobody had read before, the most read first."""
    def vanished(self, n: int = 10) -> list[_Row]:
        """The paths that nobody reads any more, those first that were most read."""
    def plot(self, n: int = 10, *, ax: Axes | None = None) -> Axes:
        """A chart of the significant changes that are largest, new and vanished paths among them, through matplotlib.

        Args:
            n: How many paths to show.
            ax: Where to draw; a new figure if ``None``.

        Returns:
            matplotlib's own ``Axes``.

        Raises:
            ImportError: matplotlib is missing; says which extra to install.
            ValueError: ``n`` is below 1.

        Example:
            >>> client.compare_visitors("2026-10").plot()
            <Axes: ...>
        """

def _table(meta: str, lines: bytes) -> Table: ...
def _dataset_slices(
    store: str | PathLike[str],
    every: str,
    *,
    listing: str = "visitors",
    projects: str | Iterable[str] | None = None,
    date_from: _Date | None = None,
    date_to: _Date | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> list[tuple[int, str, str, str, date, date, int, int, bool]]: ...
def _read_visitors(
    store: str | PathLike[str],
    every: str | None,
    by_path: bool,
    *,
    period: str | None = None,
    date_from: _Date | None = None,
    date_to: _Date | None = None,
    project_id: str | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable: ...
def _dataset_rows(
    store: str | PathLike[str], exports: list[int], *, listing: str = "visitors", settle_days: int = 2
) -> _DatasetRows: ...

@final
class _DatasetRows:
    def __new__(cls, listing: str = "visitors") -> Self: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class _TableRows(Iterator[_Row]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> _Row: ...

@final
class _Pages(Iterator[Any]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...

@final
class _AsyncPages(AsyncIterator[Any]):
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Coroutine[Any, Any, Any]: ...

@final
class _AtHand(Iterator[Any]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    def turn(self) -> Coroutine[Any, Any, Any]: ...

@final
class _Operation:
    def step(self, given: object) -> Awaitable[Any] | None: ...
    def interrupt(self, error: BaseException) -> None: ...
    def result(self) -> Any: ...

@final
class _WholeFile:
    def __new__(cls, path: str | PathLike[str], *, aside: str | PathLike[str] | None = None) -> Self: ...
    @property
    def path(self) -> Path: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...
