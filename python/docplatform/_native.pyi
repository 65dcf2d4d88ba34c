"""The extension module: clients, jobs, rows and tables.

Its docstrings are written here and nowhere else: `build.rs` puts them into the extension, and `release/twins.py` writes the asynchronous classes.
"""

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
from datetime import date, datetime, time, timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import (
    Any,
    Final,
    Literal,
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

from docplatform.errors import DocPlatformError
from docplatform.types import (
    Attempt,
    Fractions,
    JobsReport,
    Plan,
    RowsPage,
    Source,
    Stats,
    SyncReport,
    Totals,
    VisitorRow,
    VisitorsPage,
)

__all__ = [
    "AsyncClient",
    "AsyncRows",
    "AsyncVisitors",
    "Client",
    "Comparison",
    "FixList",
    "Job",
    "Rows",
    "Table",
    "TrendTable",
    "VisitorTable",
    "Visitors",
    "_AsyncPages",
    "_AtHand",
    "_DatasetRows",
    "_Key",
    "_Operation",
    "_Pages",
    "_WholeFile",
    "__version__",
    "_all_parts",
    "_api_key",
    "_begun",
    "_check",
    "_comparison",
    "_dataset_rows",
    "_dataset_slices",
    "_endpoints",
    "_instrument",
    "_is_cut",
    "_is_like_a_key",
    "_job",
    "_panic",
    "_period",
    "_proxy",
    "_read_stored",
    "_safe",
    "_site_change",
    "_table",
]

__version__: Final[str]
"""The package's version."""

_Seconds: TypeAlias = float | timedelta
_Date: TypeAlias = str | date | datetime
_Every: TypeAlias = Literal["day", "week", "month"]
_Listing: TypeAlias = Literal[
    "visitors", "views", "searches", "feedback", "conversations", "feedback_by_page"
]
_Parameter: TypeAlias = str | float | bool | date | None
_Parameters: TypeAlias = Mapping[str, _Parameter | Sequence[_Parameter]]

class _Changes(TypedDict, total=False):
    api_key: str | Callable[[], Awaitable[str] | str] | None
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
    jobs_per_hour: int | None
    store: str | PathLike[str] | None
    settle_days: int
    refresh: bool
    organization: str | None
    on_attempt: Callable[[Attempt], object] | None

@final
class Client:
    """Connects to one documentation platform: runs jobs of its docs agent and reads its analytics.

    ``Client`` blocks until a call is done; threads may share it, and Ctrl-C ends any call. ``AsyncClient`` has the
    same methods with the same arguments: those that may send a request return a coroutine to ``await``, and nothing
    is sent before. It is bound to no event loop, and cancelling a call drops its request. Use either in a ``with``
    (``async with``) block, or call ``close()`` at the end.

    Args:
        api_key: The platform's API key, or a function without arguments that returns it. By default it comes from the
            variable ``DOCPLATFORM_API_KEY``, or from the file that ``DOCPLATFORM_API_KEY_FILE`` names, which only you
            may be able to read. The function is called for the first request, and again after a 401, on the thread or
            in the event loop of the caller; for ``AsyncClient`` it may be a coroutine function. A file is read again
            after a 401, too. If that brings another key, the request is sent once more. The key is sent in the
            ``Authorization`` header and appears nowhere else: not in an error, a log line or a pickle. A ``repr``
            shows only the last four characters of a long key.
        base_url: The address of your documentation platform, with https; by default ``DOCPLATFORM_BASE_URL``. Plain
            http works for ``127.0.0.1``, ``[::1]`` and ``localhost``. The address may have a path.
        project_id: The project for calls that name none; by default ``DOCPLATFORM_PROJECT_ID``.
        timeout: Seconds for one attempt, up to the last byte of the answer; 30 by default. A write has twice as
            long, because giving up on it leaves its outcome unknown. Wherever seconds are expected, a ``timedelta``
            is fine.
        connect_timeout: Seconds to resolve the host name, connect and complete the TLS handshake; 5 by default.
        deadline: Seconds for one call, or for one page of an export, with all retries and pauses; 90 by default. A
            retry whose pause would not end a second before the deadline is not made.
        max_retries: Retries after the first attempt; 2 by default. Temporary failures of reads are retried. A write
            is retried only if the service never received it, or refused it with a 429 and a ``Retry-After``, or a 401 and
            ``api_key`` has another key; no setting changes that.
        max_retry_after: The longest ``Retry-After`` of the service that a retry waits for, in seconds; 60 by default. A
            longer one raises the error at once; later calls wait for it, or raise at once if it ends after their ``deadline``. With ``requests_per_hour`` or
            ``jobs_per_hour``, a call that the budget counts waits for a 429 as for the budget; a creation whose 429 has no
            ``Retry-After`` raises, and later ones wait.
        proxy: An ``http://`` or ``https://`` proxy for every request; by default the one of the environment, if
            any.
        trust_env: Whether ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` are used; true by default.
            They are never used for loopback addresses.
        ca_bundle: A PEM file with certificates to trust in addition to the system's.
        headers: Extra headers for every request. Their values are treated as secrets.
        allow_http: Whether plain http to other machines is allowed; false by default. The API key then travels
            unencrypted.
        max_response_bytes: The largest answer to read, in bytes; 32 MiB by default. Answers about a job are limited
            to 4 MiB.
        job_path: The path at which a job is read. Change it only if the service moved it.
        requests_per_hour: How many analytics requests may be sent in any hour. The service was seen to allow 100 for a whole
            organization. By default ``DOCPLATFORM_REQUESTS_PER_HOUR``, or else no limit. The budget is shared by
            all clients that have one and the same ``store``, in any process; without a store it holds for this client. A call that
            waits for the budget for more than ten seconds warns (``WaitWarning``); ``deadline`` does not count this time.
        reserve: How many of these requests to leave for others; by default ``DOCPLATFORM_RESERVE``, or else 0.
        jobs_per_hour: How many jobs may be created in any hour in one project. The service was seen to allow 100. By default
            ``DOCPLATFORM_JOBS_PER_HOUR``, or else no limit. It is shared and waited for like ``requests_per_hour``.
        store: A file that caches what was fetched, counts the requests of clients with a budget, and keeps the names of
            ``once=``; it holds no key. By default ``DOCPLATFORM_STORE``, or else none; ``""`` means none even if the variable is set.
        settle_days: How many days after its end a range is treated as final; 2 by default. A final range is fetched
            only once.
        refresh: Whether to fetch ranges again that the store has; false by default. The store then has the new counts.
            ``client.with_options(refresh=True)`` does so for some calls.
        organization: The organization whose budget this is, if several keys share one; by default
            ``DOCPLATFORM_ORGANIZATION``, or else each key has a budget of its own.
        on_attempt: A function that is called with each ``Attempt`` of a request after it ended, also of polls and pages,
            on the thread or in the event loop of the caller. It is not awaited. An exception that it raises is logged
            and changes nothing.

    Raises:
        ConfigurationError: A setting is missing or cannot be used. The message says which, and where its value came
            from.
        ValueError: A setting is out of range.

    Example:
        >>> client = Client()  # with DOCPLATFORM_API_KEY, DOCPLATFORM_BASE_URL and DOCPLATFORM_PROJECT_ID
        >>> client.visitor_totals("2026-01")
        Totals(human=94961, ai=53659, total=147011)
        >>> async with AsyncClient() as async_client:
        ...     print(await async_client.visitor_totals("2026-01"))
        Totals(human=94961, ai=53659, total=147011)
    """

    def __new__(
        cls,
        api_key: str | Callable[[], str] | None = None,
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
        jobs_per_hour: int | None = None,
        store: str | PathLike[str] | None = None,
        settle_days: int = 2,
        refresh: bool = False,
        organization: str | None = None,
        on_attempt: Callable[[Attempt], object] | None = None,
    ) -> Self: ...
    def create_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Job:
        """Creates a job for the docs agent and returns it without waiting for its end.

        The request is sent again only if the service certainly did nothing: it never came there, or was refused with
        429 and a ``Retry-After``, or with 401 and ``api_key`` has another key. If its answer is lost, the job may or may not exist; give it a name with ``once`` to
        make a repetition safe.

        Args:
            prompt: The task for the agent, in plain words.
            once: A name for this job that makes it safe to call this again, even from another process: the same name
                and prompt return the same job and send nothing. Needs a client with a ``store``. Names are kept for
                each organization and project. If two calls come at the same time, one creates the job and the other
                waits for it, up to its ``deadline``. A creation that was not sent, or that the service refused, frees
                the name.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The new ``Job``. For a name that was used before, it is the job as it was when it was created; if
            ``resolve_once`` named its id, its status is ``"unknown"`` until it is read with ``get_job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt.
                Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            BudgetError: ``jobs_per_hour`` jobs were created, or the service asked a client with ``jobs_per_hour`` to wait
                (429 with ``Retry-After``), and ``on_budget="stop"``. No job was created.
            UnconfirmedWriteError: The job may exist: no answer confirms it. Look on the platform before you create it
                again. With ``once``, every further call raises this and sends nothing, until ``resolve_once`` says
                whether the job exists. So does a call with a name and a prompt that the store knows from another
                organization or key at this address.
            StatusError: The service refused the request; nothing was changed.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.

        Example:
            >>> client = Client(store="docs.db")
            >>> job = client.create_job("Document release 1.4", once="docs-1.4")
            >>> job.id
            'job-1'
            >>> client.create_job("Document release 1.4", once="docs-1.4").id  # sends nothing
            'job-1'
            >>> (await async_client.create_job("Document release 1.5")).id  # an AsyncClient
            'job-2'
        """
    def get_job(self, job: Job | str, *, project_id: str | None = None) -> Job:
        """Returns the present state of a job.

        Args:
            job: A ``Job`` or its id.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            A new ``Job``; the one that you passed does not change.

        Raises:
            NotFoundError: The project has no such job.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.get_job(job).status
            'active'
            >>> (await async_client.get_job("job-1")).status  # an AsyncClient
            'completed'
        """
    def send_message(
        self, job: Job | str, prompt: str, *, once: str | None = None, project_id: str | None = None
    ) -> Job:
        """Sends a further instruction to a job, and returns the job without waiting for it.

        The answer, and polls right after it, may still show the status from before the message. ``follow_up`` sends a
        message and waits.

        Args:
            job: A ``Job`` or its id.
            prompt: The instruction, in plain words.
            once: A name for this message that makes it safe to call this again, even from another process: the same
                name, job and prompt send nothing and return the job of the first answer. It works as for
                ``create_job``, with the same names. Needs a client with a ``store``.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The ``Job`` as the service answered.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt or
                for something else. Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again. With ``once``, every further call raises this and sends
                nothing, until ``resolve_once`` says whether the message arrived.
            NotFoundError: The project has no such job.
            StatusError: The service refused the request; nothing was changed.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.

        Example:
            >>> client = Client(store="docs.db")
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.send_message(job, "Also check the footer", once="footer-1.4").status
            'active'
            >>> client.send_message(job, "Also check the footer", once="footer-1.4").status  # sends nothing
            'active'
            >>> (await async_client.send_message("job-1", "And the header")).status  # an AsyncClient
            'active'
        """
    def wait_for_job(
        self,
        job: Job | str,
        *,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Polls a job until its status is final (``completed``, ``archived`` or ``failed``), and returns it.

        Temporary failures of a poll are tolerated until ``timeout``, unless the service asks for a longer pause than is left. A job that this client created less than 10
        seconds ago may still be unknown to the service, which is tolerated too.

        Args:
            job: A ``Job`` or its id.
            timeout: The longest time to wait, in seconds or as a ``timedelta``; 30 minutes by default, ``None`` waits
                for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the second poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The final ``Job``.

        Raises:
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.
            NotFoundError: The project has no such job.
            StatusError: The service refused a poll. The error's ``job`` is the last snapshot, if there is one.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.wait_for_job(job, poll_interval=0.5).pr_link
            'https://github.com/example/docs/pull/1'
            >>> (await async_client.wait_for_job("job-1")).status  # an AsyncClient
            'completed'
        """
    def run_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Creates a job, waits until its status is final (``completed``, ``archived`` or ``failed``), and returns it.

        If the wait is interrupted, the exception has a note with the job's id, so that ``wait_for_job`` can continue.
        With ``once``, simply run it again: it waits for the same job.

        Args:
            prompt: The task for the agent, in plain words.
            once: A name for this job that makes it safe to call this again, even from another process: the same name
                and prompt wait for the same job and create no other, also if that job failed. Needs a client with a
                ``store``. Names are kept for each organization and project. If two calls come at the same time, one
                creates the job, and both wait for it. A creation that was not sent, or that the service refused, frees
                the name.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` raises ``BudgetError``.
            timeout: The longest time to wait once the job is created, in seconds or as a ``timedelta``; 30 minutes by
                default, ``None`` waits for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the first poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The final ``Job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt.
                Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            BudgetError: ``jobs_per_hour`` jobs were created, or the service asked a client with ``jobs_per_hour`` to wait
                (429 with ``Retry-After``), and ``on_budget="stop"``. No job was created.
            UnconfirmedWriteError: The job may exist: no answer confirms it. Look on the platform before you create it
                again. With ``once``, every further call raises this and sends nothing, until ``resolve_once`` says
                whether the job exists. So does a call with a name and a prompt that the store knows from another
                organization or key at this address.
            StatusError: The service refused the request; nothing was changed. Or it refused a poll: ``outcome`` is then
                ``"applied"``, and ``wait_for_job(error.job)`` goes on.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.

        Example:
            >>> job = client.run_job("Document release 1.4", poll_interval=0.5, on_poll=lambda job: print(job.status))
            active
            completed
            >>> job.pr_link
            'https://github.com/example/docs/pull/1'
            >>> (await async_client.run_job("Document release 1.5", poll_interval=0.5)).status  # an AsyncClient
            'completed'
        """
    def run_jobs(
        self,
        prompts: Mapping[str, str],
        *,
        concurrency: int = 8,
        once: bool = False,
        on_done: Callable[[str, Job | DocPlatformError], object] | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        final: Sequence[str] = (),
        progress: bool | None = None,
        project_id: str | None = None,
    ) -> JobsReport:
        """Creates many jobs, waits until each is final, and returns a ``JobsReport`` with the outcome of every job.

        No single job raises an error. If the call is interrupted, the exception has the attribute ``report``: a
        ``JobsReport`` of the jobs that were begun. With ``once=True``, run it again: no job is created twice.

        Args:
            prompts: A dict from a name of yours to what the agent is to do.
            concurrency: How many jobs run at the same time; 8 by default.
            once: Whether each name is also a name of ``once``, as for ``create_job``, so that it is safe to call this
                again, even from another process. Needs a client with a ``store``. False by default.
            on_done: A function that is called with the name and the ``Job`` or error of each job that has ended, in your
                thread or task. With ``AsyncClient`` it may return an awaitable. An exception that it raises ends the
                call.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` puts a ``BudgetError`` into ``report.failed``.
            timeout: The longest time to wait for each job once it is created, in seconds or as a ``timedelta``; 30
                minutes by default, ``None`` waits for ever.
            poll_interval: Seconds before the first poll of a job; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous
                one, varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            final: Further statuses that end the wait for a job, such as ``("cancelled",)``; the job is then in ``done``, or in ``failed`` if it failed. A
                status that the client does not know causes a ``DataWarning``, and the wait goes on.
            progress: Whether to show progress on stderr; by default on a terminal and in a notebook.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``JobsReport``: the dicts ``done``, ``failed`` and ``unknown``, and the number of ``requests``.

        Raises:
            ValueError: A prompt is empty or contains invalid characters, or a name cannot be a name of ``once``. Nothing
                was sent.
            ConfigurationError: ``once=True`` was given, but the client has no store. Nothing was sent.

        Example:
            >>> prompts = {"links": "Fix the broken links", "footer": "Shorten the footer"}
            >>> report = client.run_jobs(prompts, poll_interval=0.5)
            >>> sorted(report.done)
            ['footer', 'links']
            >>> report.failed, report.unknown
            ({}, {})
            >>> len((await async_client.run_jobs({"header": "Shorten the header"}, poll_interval=0.5)).done)  # an AsyncClient
            1
        """
    def fix_first(
        self,
        period: str | None = None,
        *,
        n: int = 20,
        unanswered: Sequence[str] = ("unanswered", "unresolved"),
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> FixList:
        """Lists what readers of the docs stumble over, the costliest problem first, with an instruction for the docs agent.

        It reads ``visitors``, ``feedback_by_page``, ``feedback``, ``conversations`` and ``searches`` of the period, each
        once and through the client's store. A listing that is empty, or that the key may not read (403), is named in the
        table's ``warnings``. Files for machines, such as ``/llms.txt``, are no rows. ``run_jobs`` hands the prompts to the agent. Review each pull request, because prompts quote
        readers.

        Args:
            period: A period such as ``"2026-10"`` or ``"last 4 weeks"``; ``"last month"`` by default.
            n: The most rows; 20 by default. While there are pages to list, phrases take no more than half of 20 rows, or of
                more; a shorter list is the beginning of that one.
            unanswered: The values of ``resolutionStatus`` of a question that was not answered. The service does not
                document them.
            on_budget: What to do when the request budget is spent: ``"wait"`` (the default) waits for the next free
                request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``FixList``: one row for each page, and one for each phrase whose searches hardly ever led to a click.

        Raises:
            ValueError: The period cannot be read. Nothing was sent.
            BudgetError: The request budget is spent, and ``on_budget="stop"``.
            StatusError: The service refused a request; a 403 only if it refused every listing but ``visitors``, or all five.
            NetworkError: The service was not reached, or a request timed out.

        Example:
            >>> fixes = client.fix_first("2026-10")
            >>> fixes[0]["path"], fixes[0]["why"]
            ('/guides/deployment', '39 of 52 ratings are thumbs down, and 17 questions on this page were not answered.')
            >>> prompts = {row["path"]: row["prompt"] for row in fixes[:2]}
            >>> client.run_jobs(prompts, poll_interval=0.5).done["/guides/deployment"].status
            'completed'
        """
    def resolve_once(self, name: str, job: Job | str | None, *, project_id: str | None = None) -> None:
        """Records what became of a creation or a message under a name of ``once=`` whose outcome is unknown. Sends
        nothing.

        Look on the platform first: if you say that the job or the message is not there although it is, the next call
        sends it a second time.

        Args:
            name: The name that was given as ``once=``.
            job: The job that you found, or that has the message, or its id, which is not checked (``get_job(id)`` does,
                and returns a ``Job``); ``None`` if the job or the message is not there after some minutes, which frees
                the name.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Raises:
            ValueError: The store has no such name, another outcome is recorded, its message is for another job, or its
                request is under way at this moment; or, for a creation, another one has the job. The same job can be recorded again.
            ConfigurationError: The client has no store.

        Example:
            >>> client = Client(store="docs.db")
            >>> stub.fail_next(drop=True)  # the answer gets lost
            >>> client.create_job("Document release 1.4", once="docs-1.4")
            Traceback (most recent call last):
                ...
            docplatform.errors.UnconfirmedWriteError: ...
            >>> client.resolve_once("docs-1.4", "job-17")
            >>> client.create_job("Document release 1.4", once="docs-1.4").id  # sends nothing
            'job-17'
            >>> async_client = AsyncClient(store="docs.db")
            >>> await async_client.resolve_once("docs-1.5", None)
            Traceback (most recent call last):
                ...
            ValueError: ...
        """
    def _once(self, *, project_id: str | None = None) -> list[tuple[str, str, str, str | None, datetime]]: ...
    def follow_up(
        self,
        job: Job | str,
        prompt: str,
        *,
        once: str | None = None,
        settle: _Seconds = 15.0,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], object] | None = None,
        project_id: str | None = None,
    ) -> Job:
        """Sends a further instruction to a job, waits until its status is final again, and returns it.

        Args:
            job: A ``Job`` or its id.
            prompt: The instruction, in plain words.
            once: A name for this message that makes it safe to call this again, even from another process: the same
                name, job and prompt send nothing and only wait. It works as for ``create_job``, with the same names.
                Needs a client with a ``store``.
            settle: How many seconds a final status may still be the one from before the message; 15 by default. A poll
                that shows the job active ends this time early.
            timeout: The longest time to wait, in seconds or as a ``timedelta``; 30 minutes by default, ``None`` waits
                for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the first poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The final ``Job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt or
                for something else. Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again. With ``once``, every further call raises this and sends
                nothing, until ``resolve_once`` says whether the message arrived.
            StatusError: The service refused the request; nothing was changed. Or it refused a poll: ``outcome`` is then
                ``"applied"``, and ``wait_for_job(error.job)`` goes on.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.follow_up(job, "Also check the footer", poll_interval=0.5).status
            'completed'
            >>> (await async_client.follow_up("job-1", "And the header", poll_interval=0.5)).status  # an AsyncClient
            'completed'
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
        """Lists how many people and AI agents read each page of the site. No request is sent until you ask for the first
        row.

        Each row is ``{"path": str, "human": int, "ai": int, "total": int}`` and whatever else the service sends. The
        counts are unique visitors: they cannot be added up over paths or days. ``visitor_totals`` has those of the
        whole site. Rows come in the service's order, which is no ranking; ``collect().top()`` ranks them.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            page_size: Rows per request, 1 to 250; 250 by default. Smaller pages cost more requests.
            offset: How many rows to skip; 0 by default.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead, 0 to 16. 1, the default, requests the next page while you work on
                this one, which wastes a request only if you stop early. 0 requests a page only when a row of it is
                needed. A number n above 1 is faster over a slow connection, and sends at most n - 1 requests beyond the last page.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, filters, project, page size and offset; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Visitors``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncVisitors``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> for row in client.visitors("2026-01", max_rows=2):
            ...     print(row)
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            {'path': '/api/authentication', 'human': 18470, 'ai': 15307, 'total': 33318}
            >>> client.visitors("2026-01").to_pandas().shape
            (1000, 4)
            >>> (await async_client.visitors("2026-01").to_pandas()).shape  # an AsyncClient
            (1000, 4)
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
        """Lists how often people and AI agents opened each page of the site. No request is sent until you ask for the
        first row.

        Each row is ``{"path": str, "human": int, "ai": int, "total": int}`` and whatever else the service sends. The
        counts are page views: they can be added up over paths and days. Rows come in the service's order, which is no
        ranking; ``collect().top()`` ranks them.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            page_size: Rows per request, 1 to 250; 250 by default. Smaller pages cost more requests.
            offset: How many rows to skip; 0 by default.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead, 0 to 16. 1, the default, requests the next page while you work on
                this one, which wastes a request only if you stop early. 0 requests a page only when a row of it is
                needed. A number n above 1 is faster over a slow connection, and sends at most n - 1 requests beyond the last page.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, filters, project, page size and offset; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Visitors``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncVisitors``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.views("2026-01").collect()
            >>> table[0]
            {'path': '/', 'human': 72655, 'ai': 7646, 'total': 80301}
            >>> sum(row["total"] for row in table) == table.totals.total
            True
            >>> len(await async_client.views("2026-01").collect())  # an AsyncClient
            1000
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
        """Lists what readers searched for. No request is sent until you ask for the first row.

        Each row is one search phrase: ``searchQuery`` (str), ``hits`` (int, how often), ``ctr`` (float, the share of
        searches with a click), ``topClickedPage`` (str, or ``None`` if nobody clicked), ``lastSearchedAt``
        (``datetime`` in UTC) and ``path`` (the path in ``topClickedPage``, to join it with other listings).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 100; 100 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.searches("2026-01").collect()
            >>> table[0]["searchQuery"], table[0]["hits"]
            ('webhooks', 418)
            >>> [row["searchQuery"] for row in table if not row["topClickedPage"]][:3]
            ['terraform provider', 'on premise', 'terraform provider 2']
            >>> len(await async_client.searches("2026-01").collect())  # an AsyncClient
            120
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
        """Lists what readers said about pages. No request is sent until you ask for the first row.

        Each row is one piece of feedback: ``id``, ``path``, ``source``, ``status``, ``comment`` (str or ``None``),
        ``createdAt`` (``datetime`` in UTC), and further fields that depend on the ``source``, such as ``helpful``
        (bool) or ``code`` (str).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            source: Only feedback from this source, or from these: a str or several, such as ``"code_snippet"``. All by
                default.
            status: Only feedback with this status, or with one of these, such as ``"pending"``. All by default.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 100; 100 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.feedback("2026-01", status="pending").collect()
            >>> table[0]["path"], table[0]["comment"]
            ('/getting-started/quickstart', 'Thanks, this helped')
            >>> len(await async_client.feedback("2026-01").collect())  # an AsyncClient
            80
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
        """Lists how many thumbs up and down each page received. No request is sent until you ask for the first row.

        Each row is ``path`` (str), ``thumbsUp``, ``thumbsDown``, ``code`` (feedback about code) and ``total`` (int).
        The service cuts this listing off at ``page_size`` rows and does not list the rest. You then get a
        ``DataWarning``, or with ``strict=True`` a ``PaginationError``. Shorter periods, such as ``every="day"``, bring
        more of it.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            source: Only feedback from this source, or from these: a str or several, such as ``"code_snippet"``. All by
                default.
            status: Only feedback with this status, or with one of these, such as ``"pending"``. All by default.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: The most rows of the range, or of each slice, 1 to 100; 100 by default. Fewer save no request.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.feedback_by_page("2026-01").collect()
            >>> worst = max(table, key=lambda row: row["thumbsDown"])
            >>> worst["path"], worst["thumbsDown"]
            ('/sdk/v1', 51)
            >>> len(await async_client.feedback_by_page("2026-01").collect())  # an AsyncClient
            30
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
        """Lists what readers asked the site's assistant, and what it answered. No request is sent until you ask for the
        first row.

        Each row is one question with its answer: ``id``, ``timestamp`` (``datetime`` in UTC), ``query``, ``response``,
        ``responseType``, ``sources`` (a list of dicts), ``resolutionStatus``, ``queryCategory``, ``pageUrl`` and
        ``path`` (the path in ``pageUrl``, to join it with other listings).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 1000; 1000 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.conversations("2026-01").collect()
            >>> [row["query"] for row in table if row["resolutionStatus"] == "unanswered"][:2]
            ['How do I deploy through a proxy?', 'What replaces connect()?']
            >>> len(await async_client.conversations("2026-01").collect())  # an AsyncClient
            200
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
        """Returns the unique visitors of the whole site in a range. Costs one request, or none if the store has a final range.

        Unique visitors cannot be added up over days or paths, so ask for the range that you want to report.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.visitor_totals("2026-01")
            Totals(human=94961, ai=53659, total=147011)
            >>> await async_client.visitor_totals("2026-01")  # an AsyncClient
            Totals(human=94961, ai=53659, total=147011)
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
        """Returns the page views of the whole site in a range. Costs one request, or none if the store has a final range. Page views can be added up over days and
        paths.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.view_totals("2026-01")
            Totals(human=1057715, ai=377949, total=1435664)
            >>> await async_client.view_totals("2026-01")  # an AsyncClient
            Totals(human=1057715, ai=377949, total=1435664)
        """
    def conversation(
        self,
        thread_id: str,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> dict[str, Any]:
        """Returns one conversation with the site's assistant, with all its messages. Costs one request.

        Args:
            thread_id: The conversation's id: a str, as on the dashboard. It is not the ``id`` of a row of ``conversations``, which
                is a turn's.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The conversation as the service sent it: a dict.

        Raises:
            NotFoundError: The project has no such conversation.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> [message["content"] for message in client.conversation("thread-1")["messages"]]
            ['How do I rotate my API key?', 'See the guide.']
            >>> (await async_client.conversation("thread-1"))["threadId"]  # an AsyncClient
            'thread-1'
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
        """Returns how often the site's assistant was asked, by where the question came from. Costs one request.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The counts as the service sent them: a dict of str to int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.caller_stats("2026-01")
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
            >>> await async_client.caller_stats("2026-01")  # an AsyncClient
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
        whole: bool = False,
        before: str | Literal[True] | None = None,
        project_id: str | None = None,
    ) -> Plan:
        """Returns what a range costs in requests, and in hours at the budget, before anything is sent. Reads only the
        store.

        Totals cost one request per slice. Final answers in the store cost nothing; other pages are estimated from the
        last time or from similar ranges in the store, or each slice counts as one request, and ``exact`` is false.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` (the default) for the range
                as a whole. The range cuts the first and the last slice to fit; a slice that has not begun is left out.
            by_path: Whether one row for each path is wanted (the default without ``every``, as ``visitors`` reads it)
                or only totals (the default with ``every``, as ``visitor_trend`` reads it).
            whole: Whether to leave out slices that the range cuts; false by default. ``whole=True`` of ``visitor_trend`` leaves
                out the same ones.
            before: Plans ``compare_visitors``: the period to compare with, or ``True`` for the same kind of period before.
                A comparison reads both periods as a whole, by path.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Plan``: ``requests``, ``cached``, ``exact``, ``hours`` and ``slices``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.

        Example:
            >>> print(client.plan_visitors("2026-01", every="day"))
            31 requests for totals, 0 cached
            >>> print(client.plan_visitors("2026-10", before="2025-10"))  # a comparison
            size unknown: at least 2 requests, 0 cached
            >>> (await async_client.plan_visitors("2026-01", every="week")).requests  # an AsyncClient
            5
        """
    def plan_views(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        by_path: bool | None = None,
        whole: bool = False,
        before: str | Literal[True] | None = None,
        project_id: str | None = None,
    ) -> Plan:
        """Returns what a range of page views costs in requests, and in hours at the budget, before anything is sent. Reads only the
        store.

        Totals cost one request per slice. Final answers in the store cost nothing; other pages are estimated from the
        last time or from similar ranges in the store, or each slice counts as one request, and ``exact`` is false.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` (the default) for the range
                as a whole. The range cuts the first and the last slice to fit; a slice that has not begun is left out.
            by_path: Whether one row for each path is wanted (the default without ``every``, as ``views`` reads it)
                or only totals (the default with ``every``, as ``view_trend`` reads it).
            whole: Whether to leave out slices that the range cuts; false by default. ``whole=True`` of ``view_trend`` leaves
                out the same ones.
            before: Plans ``compare_views``: the period to compare with, or ``True`` for the same kind of period before.
                A comparison reads both periods as a whole, by path.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Plan``: ``requests``, ``cached``, ``exact``, ``hours`` and ``slices``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.

        Example:
            >>> print(client.plan_views("2026-01", every="day"))
            31 requests for totals, 0 cached
            >>> print(client.plan_views("2026-10", before="2025-10"))  # a comparison
            size unknown: at least 2 requests, 0 cached
            >>> (await async_client.plan_views("2026-01", every="week")).requests  # an AsyncClient
            5
        """
    def _hours(self, requests: int) -> float | None: ...
    def _plan(
        self,
        listing: str,
        *,
        date_from: _Date,
        date_to: _Date,
        every: _Every | None,
        by_path: bool,
        whole: bool = False,
        project_id: str | None = None,
    ) -> Plan: ...
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
        """Returns how visitors developed over a range: one row per day, week or month.

        Each row costs one request; with ``by_path=True`` each slice costs one request per 250 paths. With a ``store``,
        slices that are final are fetched only once: run it again tomorrow, and only the days that were not final today cost
        a request, three by default for a range up to yesterday. If it is interrupted, call it again to continue.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for one
                slice. They cover the range without gap or overlap; the range cuts the first and the last one to fit,
                and one that has not begun is left out.
            by_path: Whether to read one row for each slice and path; false by default, which reads the totals of each
                slice.
            whole: Whether to leave out a first or last slice that the range cuts; false by default. A cut slice has
                fewer ``days``, and so fewer visitors. Nothing is sent for a slice that is left out.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``TrendTable`` with the columns ``date_from`` and ``date_to`` (``date``), ``days``, ``human``, ``ai`` and
            ``total`` (int64), and ``path`` (str) with ``by_path=True``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week", whole=True)
            >>> [(str(row["date_from"]), row["total"]) for row in trend]
            [('2026-01-05', 35328), ('2026-01-12', 35733), ('2026-01-19', 35650)]
            >>> len(await async_client.visitor_trend("2026-01"))  # an AsyncClient
            31
        """
    def view_trend(
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
        """Returns how page views developed over a range: one row per day, week or month.

        Views are events, so the rows add up: ``TrendTable.sum`` gives the views of the whole range.

        Each row costs one request; with ``by_path=True`` each slice costs one request per 250 paths. With a ``store``,
        slices that are final are fetched only once: run it again tomorrow, and only the days that were not final today cost
        a request, three by default for a range up to yesterday. If it is interrupted, call it again to continue.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for one
                slice. They cover the range without gap or overlap; the range cuts the first and the last one to fit,
                and one that has not begun is left out.
            by_path: Whether to read one row for each slice and path; false by default, which reads the totals of each
                slice.
            whole: Whether to leave out a first or last slice that the range cuts; false by default. A cut slice has
                fewer ``days``, and so fewer views. Nothing is sent for a slice that is left out.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``TrendTable`` with the columns ``date_from`` and ``date_to`` (``date``), ``days``, ``human``, ``ai`` and
            ``total`` (int64), and ``path`` (str) with ``by_path=True``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> trend = client.view_trend("2026-01", every="week", whole=True)
            >>> [(str(row["date_from"]), row["total"]) for row in trend]
            [('2026-01-05', 330951), ('2026-01-12', 334281), ('2026-01-19', 333313)]
            >>> (await async_client.view_trend("2026-01")).sum()  # an AsyncClient
            Totals(human=1057715, ai=377949, total=1435664)
        """
    def compare_visitors(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Comparison:
        """Returns how visitors changed between two periods, path by path.

        It reads both periods: one request per 250 paths of each. With a ``store``, a final period that was fetched before costs
        nothing, and a comparison that was interrupted continues when you call it again.

        Args:
            period: The period, such as ``"2026-01"``, ``"2026-W03"``, ``"2026-Q1"`` or ``"last 7 days"``; by default
                last month.
            before: The period to compare it with; by default the one before it: the month, quarter or year before a month,
                quarter or year, or as many days before any other range.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Comparison``: one row for each path of either period, with ``human``, ``human_before``,
            ``human_change`` (int64), ``human_growth`` (float64) and ``human_significant`` (bool), and the same for
            ``ai`` and ``total``. A path that a period lacks counts 0 there. If one period is more than a tenth shorter
            than the other, a ``DataWarning`` says so.

        Raises:
            ValueError: A period is unknown or has not begun, or both are the same. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.totals.total, change.totals_before.total
            (213862, 188280)
            >>> [(row["path"], row["total_change"]) for row in change.risers(2)]
            [('/api/authentication', 10648), ('/guides/webhooks', 6402)]
            >>> (await async_client.compare_visitors("2026-10")).before  # an AsyncClient
            'September 2026'
        """
    def compare_views(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Comparison:
        """Returns how page views changed between two periods, path by path.

        It reads both periods: one request per 250 paths of each. With a ``store``, a final period that was fetched before costs
        nothing, and a comparison that was interrupted continues when you call it again.

        Args:
            period: The period, such as ``"2026-01"``, ``"2026-W03"``, ``"2026-Q1"`` or ``"last 7 days"``; by default
                last month.
            before: The period to compare it with; by default the one before it: the month, quarter or year before a month,
                quarter or year, or as many days before any other range.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Comparison``: one row for each path of either period, with ``human``, ``human_before``,
            ``human_change`` (int64), ``human_growth`` (float64) and ``human_significant`` (bool), and the same for
            ``ai`` and ``total``. A path that a period lacks counts 0 there. If one period is more than a tenth shorter
            than the other, a ``DataWarning`` says so.

        Raises:
            ValueError: A period is unknown or has not begun, or both are the same. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> change = client.compare_views("2026-10")
            >>> change.totals.total, change.totals_before.total
            (2142582, 1789490)
            >>> [(row["path"], row["total_change"]) for row in change.risers(2)]
            [('/guides/webhooks', 12974)]
            >>> (await async_client.compare_views("2026-10")).before  # an AsyncClient
            'September 2026'
        """
    def sync(
        self,
        projects: str | Iterable[str],
        period: str | None = None,
        *,
        listing: _Listing | Iterable[_Listing] = "visitors",
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = True,
        until: str | time | datetime | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        on_running: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
    ) -> SyncReport:
        """Fetches into the client's store what it does not have yet of some projects, slice by slice.

        Final slices come first, project by project and the oldest first, because they are fetched only once; those of
        several listings are fetched together. Then come the slices that may still change, the one fetched longest ago first.
        Slices that have not begun are left out.
        If it is interrupted, call it again to continue. Only one sync at a time fills a store, across all processes.

        A slice that cannot be fetched does not stop the others; if the service refuses a listing of a project, its other
        slices are skipped. A 401, a 429 and a connection that cannot be made end the sync, and are raised. Three
        failures in a row end it, too, with a ``SyncError``, in three cases: no slice was fetched before; the last one is temporary;
        a slice of the same project and listing has failed before. A project that the service refuses counts once for all its listings.

        Args:
            projects: The ids of the projects, or one id.
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            listing: What to fetch: ``"visitors"`` (the default), ``"views"``, ``"searches"``, ``"feedback"``,
                ``"conversations"`` or ``"feedback_by_page"``, or several of them. Their methods then read the same
                slices from the store, as in ``client.searches("2026-01", every="day")``.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for the range
                as a whole.
            by_path: Whether to fetch one row for each path (the default) or only the totals of each slice,
                which only visitors and views have.
            until: When to end, whatever is left: the next such time of day as ``"06:00"`` or a ``time``, or a
                ``datetime``; local time unless it has a zone. By default everything is fetched.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            on_running: What to do while another sync fills the store: ``"wait"`` (the default) waits for its end,
                ``"stop"`` raises ``StoreBusyError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``SyncReport``: ``slices``, ``cached``, ``open``, ``requests`` and ``rows``; and ``left``, the requests that
            are missing, and ``hours``, the time that they take at the budget. With an ``until`` that is over,
            nothing is sent, and ``left`` and ``hours`` are a forecast.

        Raises:
            ConfigurationError: The client has no store.
            SyncError: Some slices could not be fetched; ``error.failures`` lists them, and ``error.report`` says what
                was fetched.
            BudgetError: The request budget is spent, with ``on_budget="stop"``. With a ``store``, what was fetched is
                in it.
            StoreBusyError: Another sync fills the store, with ``on_running="stop"``.

        Example:
            >>> client = Client(store="docs.db")
            >>> client.sync("demo", "2026-01", by_path=False)
            SyncReport(slices=31, cached=0, open=0, requests=31, rows=0, left=0, hours=None)
            >>> client.sync("demo", "2026-01", listing=["searches", "feedback"], every="week").slices
            10
            >>> async_client = AsyncClient(store="docs.db")
            >>> await async_client.sync("demo", "2026-01", by_path=False)
            SyncReport(slices=31, cached=31, open=0, requests=0, rows=0, left=0, hours=None)
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
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Rows:
        """Lists the rows of any other endpoint of the service, with paging, retries, checkpoints, tables and files. No
        request is sent until you ask for the first row.

        Args:
            path: The endpoint's path. ``{project_id}`` in it stands for the project.
            items: The field of the answer that holds the rows. It may be a path into the answer, such as
                ``"data.items"``; so may the next two.
            has_more: The field that says whether more rows follow; ``"hasMore"`` by default.
            next_cursor: The field that holds the cursor of the next page. If the answer has no ``has_more`` field, a
                cursor means that more rows follow. By default pages are requested by ``offset``.
            params: Further query parameters. A list or tuple repeats its name; ``None`` leaves it out.
            page_size: Rows per request; 250 by default.
            offset: How many rows to skip; 0 by default. Not available with ``next_cursor``.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead; 1 by default, at most 1 with ``next_cursor``. 0 requests a page
                only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received.
            on_budget: What to do when the client's request budget is spent, for a path that counts in it: ``"wait"`` (the
                default) waits until it allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project that ``{project_id}`` in the path stands for; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, with methods for tables (``collect``), frames (``to_pandas``) and files
            (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and ``await`` its methods.

        Raises:
            ValueError: An argument is invalid, or the checkpoint belongs to another query. Raised at the call; nothing
                was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> rows = client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor", max_rows=3)
            >>> [row["searchQuery"] for row in rows]
            ['webhooks', 'api key', 'rate limit']
            >>> rows = async_client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor", max_rows=3)
            >>> [row["searchQuery"] async for row in rows]  # an AsyncClient
            ['webhooks', 'api key', 'rate limit']
        """
    def request(
        self,
        method: str,
        path: str,
        *,
        params: _Parameters | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: _Seconds | None = None,
        raw: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Any:
        """Sends any request to the service, with the client's key, retries and errors, and returns the answer's JSON.

        A ``GET`` is a read: temporary failures are retried. Everything else is a write, which is retried only if the
        service never received it, or refused it with a 429 and a ``Retry-After``, or a 401 and ``api_key`` has another key.

        Args:
            method: ``"GET"``, ``"POST"``, ``"PUT"``, ``"PATCH"`` or ``"DELETE"``.
            path: The path. ``{project_id}`` in it stands for the project.
            params: Query parameters. A list or tuple repeats its name; ``None`` leaves it out.
            json: The body of a write: anything that can be JSON.
            headers: Headers for this request, besides those of the client. Their values are treated as secrets.
            timeout: Seconds for one attempt; by default the client's ``timeout``. A write has twice as long. The call's
                ``deadline`` is at least twice this time.
            raw: Whether to return the answer as it came, a ``Response``, also if it is not JSON; false by default. An
                answer with another status than 2xx raises in both cases.
            on_budget: What to do when the client's budget is spent, for a path that counts in it: ``"wait"`` (the
                default) waits until it allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project that ``{project_id}`` in the path stands for; by default the client's ``project_id``.

        Returns:
            The answer's JSON as Python objects, ``None`` for an empty answer; with ``raw=True`` a ``Response``.

        Raises:
            ValueError: An argument is invalid. Nothing was sent.
            BudgetError: The budget is spent, with ``on_budget="stop"``.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again.
            DocPlatformError: The request failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", params={"dateFrom": "2026-01-01"})
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
            >>> answer = client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", raw=True)
            >>> answer.status, answer.headers["content-type"], answer.json()["total"]
            (200, 'application/json', 339)
            >>> (await async_client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats"))["total"]  # an AsyncClient
            339
        """
    def with_options(self, **changes: Unpack[_Changes]) -> Self:
        """Returns a second client with other settings, which shares the connections and ``stats`` of this one. Sends
        nothing.

        Each of the two is closed on its own. A change of the key, the address, the proxy, ``trust_env``, TLS,
        ``connect_timeout``, ``store`` or, with a store, ``organization`` opens connections of its own.

        Args:
            changes: The settings to change, by name: those of ``Client``.

        Returns:
            A client of the same class.

        Raises:
            ConfigurationError: A setting cannot be used.
            ValueError: A setting is out of range.
            TypeError: There is no such setting.

        Example:
            >>> patient = client.with_options(timeout=120, max_retries=5)
            >>> patient.visitor_totals("2026-01").total
            147011
            >>> async_client.with_options(project_id="other")  # an AsyncClient
            AsyncClient(base_url='http://127.0.0.1:...', project_id='other', api_key='…demo')
        """
    @property
    def stats(self) -> Stats:
        """What this client and all handles from ``with_options`` have sent so far: a ``Stats`` tuple. Sends nothing.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> client.stats
            Stats(requests=1, retries=0, waited=0.0, budget_left=None, jobs_left=None)
        """
    def close(self) -> None:
        """Closes the client; its connections are closed with the last client that shares them. Calling it again does
        nothing. With a ``store``, everything is then in its one file, which you can copy.

        Any other call on a closed client is a ``RuntimeError``. Calls that are running are not ended: cancel them, or
        wait for them, before you close the client.

        Example:
            >>> client.close()
            >>> client.visitor_totals("2026-01")
            Traceback (most recent call last):
                ...
            RuntimeError: ...
            >>> await async_client.close()  # an AsyncClient
        """
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
class Job:
    """A job of the docs agent, as the service showed it at one moment. One that ``resolve_once`` named by its id alone has
    only that id and the status ``unknown``, until ``get_job`` reads it.

    A job is data: it never changes. Ask ``client.get_job(job)`` for its present state. Jobs can be compared, hashed
    and pickled. A field that the service left out is ``None``; ``id`` and ``status`` are always there.

    Example:
        >>> client.create_job("Fix the broken links on the quickstart page")
        Job(id='job-1', status='active', pr_link=None)
    """

    @property
    def id(self) -> str:
        """The job's id, a str: pass it to another process to wait there.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.id
            'job-1'
        """
    @property
    def status(self) -> str:
        """The status, a str: ``active``, ``completed``, ``archived`` or ``failed``. A newer version of the service may add
        others. ``unknown``: this client has not read it, because a store or ``resolve_once`` named the job.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.status
            'active'
        """
    @property
    def source(self) -> Source:
        """The repository and the branch, tag or commit that the agent works on: a ``Source`` tuple.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.source
            Source(repository='example/docs', ref='main')
        """
    @property
    def model(self) -> str | None:
        """The AI model of the agent: a str or ``None``.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.model
            'example-model'
        """
    @property
    def pr_link(self) -> str | None:
        """The URL of the pull request: a str, or ``None``.

        It is ``None`` while the job is active, and if there is no pull request: nothing changed, or this project
        publishes without one. The URL comes from the service: check it before you open it.

        Example:
            >>> job = client.run_job("Fix the broken links on the quickstart page", poll_interval=0.5)
            >>> job.pr_link
            'https://github.com/example/docs/pull/1'
        """
    @property
    def created_at(self) -> datetime | None:
        """When the job was created: a ``datetime`` in UTC, or ``None``.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.created_at
            datetime.datetime(..., tzinfo=datetime.timezone.utc)
        """
    @property
    def archived_at(self) -> datetime | None:
        """When the job was archived: a ``datetime`` in UTC, or ``None`` if it was not.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.archived_at is None
            True
        """
    @property
    def project_id(self) -> str:
        """The id of the project that the job belongs to: a str.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.project_id
            'demo'
        """
    @property
    def is_final(self) -> bool:
        """Whether the job has ended: its status is ``completed``, ``archived`` or ``failed``. An unknown status is not
        final.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.is_final
            False
        """
    @property
    def raw(self) -> dict[str, Any]:
        """The service's whole answer about the job, with fields that this version does not know: a new dict each time.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> job.raw["source"]
            {'repository': 'example/docs', 'ref': 'main'}
        """
    def to_dict(self) -> dict[str, Any]:
        """Returns the job's fields by their Python names, for example to build a frame of jobs. For JSON, take ``job.raw``.

        Returns:
            A new dict: ``source`` is a dict, times are ``datetime`` in UTC or ``None``.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> sorted(job.to_dict())
            ['archived_at', 'created_at', 'id', 'is_final', 'model', 'pr_link', 'project_id', 'source', 'status']
        """
    def _repr_html_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class Rows:
    """Goes once through the rows of a listing. Each row is a dict with the service's own field names; times are
    ``datetime`` in UTC.

    ``Rows`` comes from a ``Client``: use ``for``, or a method that reads all rows, such as ``collect`` or
    ``to_csv``. ``AsyncRows`` comes from an ``AsyncClient``: use ``async for``, and ``await`` the methods. You may
    stop and continue as with any iterator. A second pass after the end is a ``RuntimeError``: ask the client for a
    new one, or keep a table. Several threads or tasks may share it; each row is handed out once.

    Example:
        >>> rows = client.searches("2026-01")
        >>> next(rows)["searchQuery"]
        'webhooks'
        >>> len(rows.to_dicts())  # the other rows
        119
        >>> async for row in async_client.searches("2026-01", max_rows=2):
        ...     print(row["searchQuery"], row["hits"])
        webhooks 418
        api key 225
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    def pages(self) -> Iterator[RowsPage] | Iterator[VisitorsPage]:
        """Returns the remaining rows page by page, as the service sends them.

        Returns:
            An iterator of ``RowsPage``, or ``VisitorsPage`` for visitors and views. With ``AsyncRows`` it is an
            asynchronous one.

        Raises:
            RuntimeError: The rows were read to their end before.
            DocPlatformError: While pages are read: the read failed after all retries. ``error.checkpoint`` continues
                after the last page.

        Example:
            >>> [len(page.rows) for page in client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
            >>> [len(page.rows) async for page in async_client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
        """
    def collect(self, progress: bool | None = None) -> Table:
        """Returns all remaining rows as a table.

        Rows that the service repeats are found over the whole export. The table of visitors or
        views needs about 60 bytes of memory per row; one with texts needs more.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``Table``; of visitors and views a ``VisitorTable``.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").collect()
            VisitorTable(1000 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
            >>> len(await async_client.visitors("2026-01").collect())
            1000
        """
    def to_pandas(self, *, progress: bool | None = None) -> pd.DataFrame:
        """Returns all remaining rows as a ``pandas.DataFrame``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``pandas.DataFrame`` with one column per field: counts as int64 (Int64 where a value may be missing),
            texts as pandas' own text dtype, times as ``datetime64[us, UTC]``.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[pandas]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> frame = client.visitors("2026-01").to_pandas()
            >>> frame.shape
            (1000, 4)
            >>> frame.nlargest(2, "ai")["path"].to_list()
            ['/api/authentication', '/api/reference']
            >>> (await async_client.visitors("2026-01").to_pandas()).shape
            (1000, 4)
        """
    def to_polars(self, *, progress: bool | None = None) -> pl.DataFrame:
        """Returns all remaining rows as a ``polars.DataFrame``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``polars.DataFrame`` with one column per field: texts as String, counts as Int64, times as Datetime in
            UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[polars]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_polars().dtypes
            [String, Int64, Int64, Int64]
            >>> (await async_client.visitors("2026-01").to_polars()).shape
            (1000, 4)
        """
    def to_arrow(self, *, progress: bool | None = None) -> pa.Table:
        """Returns all remaining rows as a ``pyarrow.Table``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``pyarrow.Table`` with one column per field: texts as string, counts as int64, times as timestamp in UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[arrow]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_arrow().schema.names
            ['path', 'human', 'ai', 'total']
            >>> (await async_client.visitors("2026-01").to_arrow()).shape
            (1000, 4)
        """
    def to_dicts(self, *, progress: bool | None = None) -> list[Any]:
        """Returns all remaining rows as a list of dicts.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            >>> len(await async_client.visitors("2026-01").to_dicts())
            1000
        """
    def to_csv(
        self,
        path: str | PathLike[str],
        *,
        escape_formulas: bool = True,
        bom: bool = False,
        progress: bool | None = None,
    ) -> int:
        """Writes all remaining rows to a CSV file, and returns how many.

        The file is UTF-8 with a header line, and lines end with a line feed. Rows are written while pages arrive, so
        memory does not grow with the number of rows. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            escape_formulas: Whether a text that a spreadsheet would run as a formula (one that begins with ``=``,
                ``+``, ``-``, ``@``, a tab, a carriage return, a NUL or a full-width form of these) gets an apostrophe
                in front; true by default.
            bom: Whether the file begins with a byte order mark, which Excel needs to read it as UTF-8; false by
                default.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. The unfinished file is removed; ``error.checkpoint``
                continues where this call began.

        Example:
            >>> client.visitors("2026-01").to_csv("january.csv")
            1000
            >>> with open("january.csv") as file:
            ...     print(file.readline(), end="")
            path,human,ai,total
            >>> await async_client.visitors("2026-01").to_csv("january.csv")
            1000
        """
    def to_jsonl(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all remaining rows to a JSON Lines file, one object per line, and returns how many.

        Rows are written while pages arrive, so memory does not grow with the number of rows. The file is UTF-8, and it
        is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. The unfinished file is removed; ``error.checkpoint``
                continues where this call began.

        Example:
            >>> client.visitors("2026-01").to_jsonl("january.jsonl")
            1000
            >>> with open("january.jsonl") as file:
            ...     print(file.readline(), end="")
            {"path":"/","human":32286,"ai":4829,"total":36971}
            >>> await async_client.visitors("2026-01").to_jsonl("january.jsonl")
            1000
        """
    def to_parquet(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all remaining rows to a Parquet file, and returns how many. It needs pyarrow, polars or duckdb.

        The rows are collected first, so they need memory. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            ImportError: None of the libraries is there: ``pip install "docplatform[arrow]"``. Nothing was sent.
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. No file is written; ``error.checkpoint`` continues
                where this call began.

        Example:
            >>> client.visitors("2026-01").to_parquet("january.parquet")
            1000
            >>> await async_client.visitors("2026-01").to_parquet("january.parquet")
            1000
        """
    def to_excel(self, path: str | PathLike[str], *, progress: bool | None = None) -> int:
        """Writes all remaining rows to an Excel workbook (``.xlsx``) with one sheet and a header, and returns how many.

        Dates are dates and counts are numbers. A text stays a text: no formula runs, and no URL becomes a link. The
        rows are collected first, so they need memory. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            ValueError: A sheet has no room for more than 1,048,575 rows, or for a text of more than 32,767 characters.
                No file was written; use ``to_csv``.
            ImportError: XlsxWriter is missing: ``pip install "docplatform[excel]"``. Nothing was sent.
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. No file is written; ``error.checkpoint`` continues
                where this call began.

        Example:
            >>> client.visitors("2026-01").to_excel("january.xlsx")
            1000
            >>> await async_client.visitors("2026-01").to_excel("january.xlsx")
            1000
        """
    @property
    def checkpoint(self) -> str:
        """Where to continue: pass it as ``resume=`` to the method that made these rows, to continue after the last row
        that you received.

        It is a JSON text without secrets: the query, and usually at most some 9 KB more. You can read it at any time, also after an error, and
        use it in another process.

        Example:
            >>> rows = client.visitors("2026-01")
            >>> next(rows)["path"]
            '/'
            >>> next(client.visitors(resume=rows.checkpoint))["path"]
            '/api/authentication'
        """
    @property
    def warnings(self) -> list[str]:
        """What was unusual so far, as a list of str: data that changed, short pages, a listing that was cut off, invalid
        characters.

        Example:
            >>> rows = client.visitors("2026-01")
            >>> len(rows.to_dicts()), rows.warnings
            (1000, [])
        """

@final
class Visitors(Rows):
    """Goes once through the rows of visitors or views: ``{"path": str, "human": int, "ai": int, "total": int}`` and
    whatever else the service sent.

    ``Visitors`` comes from ``Client.visitors`` or ``Client.views``: use ``for``, or a method that reads all rows,
    such as ``collect`` or ``to_csv``. ``AsyncVisitors`` comes from an ``AsyncClient``: use ``async for``, and
    ``await`` the methods. You may stop and continue as with any iterator. A second pass after the end is a
    ``RuntimeError``: ask the client for a new one, or keep a table.

    Example:
        >>> next(client.visitors("2026-01"))
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
        >>> async for row in async_client.visitors("2026-01", max_rows=1):
        ...     print(row)
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
    """

    def __next__(self) -> VisitorRow: ...
    def totals(self) -> Totals:
        """Returns the totals of the whole site in the range, which come with the first page of rows. Fetches that page if
        it was not fetched yet.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).
            RuntimeError: ``max_rows=0``, so there is no page.

        Example:
            >>> client.visitors("2026-01").totals()
            Totals(human=94961, ai=53659, total=147011)
            >>> await async_client.visitors("2026-01").totals()
            Totals(human=94961, ai=53659, total=147011)
        """
    def pages(self) -> Iterator[VisitorsPage]:
        """Returns the remaining rows page by page, as the service sends them.

        Returns:
            An iterator of ``RowsPage``, or ``VisitorsPage`` for visitors and views. With ``AsyncRows`` it is an
            asynchronous one.

        Raises:
            RuntimeError: The rows were read to their end before.
            DocPlatformError: While pages are read: the read failed after all retries. ``error.checkpoint`` continues
                after the last page.

        Example:
            >>> [len(page.rows) for page in client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
            >>> [len(page.rows) async for page in async_client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
        """
    def collect(self, progress: bool | None = None) -> VisitorTable:
        """Returns all remaining rows as a table.

        Rows that the service repeats are found over the whole export. The table of visitors or
        views needs about 60 bytes of memory per row; one with texts needs more.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``Table``; of visitors and views a ``VisitorTable``.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").collect()
            VisitorTable(1000 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
            >>> len(await async_client.visitors("2026-01").collect())
            1000
        """
    def to_dicts(self, *, progress: bool | None = None) -> list[VisitorRow]:
        """Returns all remaining rows as a list of dicts.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            >>> len(await async_client.visitors("2026-01").to_dicts())
            1000
        """

# Makes a `Job` from its pickle.
def _job(raw: str, project_id: str) -> Job: ...

# For tests of the faces: each setting and each advice as a part of a message.
def _all_parts() -> tuple[Any, ...]: ...

# For the command line: where the API key is from, and the key as ``api_key=`` takes it; whether a client takes these settings alone.
def _api_key(file: str | PathLike[str] | None = None) -> tuple[str, Any] | None: ...
def _check(settings: dict[str, Any], *, opens: bool) -> None: ...
def _is_like_a_key(file: str) -> bool: ...
def _proxy(base_url: str) -> str | None: ...

# For `docplatform.otel`: what makes spans, a `docplatform._hooks.spans.Spans`.
def _instrument(spans: object) -> None: ...

# Foreign text as every error of this package shows it: nothing that a terminal would obey, cut to that many characters.
def _safe(text: str, most: int) -> str: ...

# Whether a slice of a range is shorter than a whole day, week or month, as the range begins or ends within it: it has fewer uniques for that reason alone.
def _is_cut(every: str | None, date_from: date, date_to: date) -> bool: ...

# The first days of the whole slices of a range that have begun.
def _begun(every: str | None, date_from: _Date, date_to: _Date) -> list[date]: ...

# Of each endpoint its name, the largest page, whether it has only one page, whether it has totals, whether its counts add up, and its filters.
def _endpoints() -> list[tuple[str, int, bool, bool, bool, list[str]]]: ...

# The change of a site's totals, "rose", "fell" or "hardly changed", the plain change, and the change per "day" or "working day" if that was
# used instead, or contradicts the plain one.
def _site_change(
    before: int, now: int, days_before: tuple[date, date], days: tuple[date, date]
) -> tuple[float | None, str, float | None, tuple[str, float] | None]: ...

# A comparison of visitors that the caller has read: of each period the rows (path, human, ai, total), the totals and the days.
def _comparison(
    rows: Sequence[tuple[str, int, int, int]],
    totals: Sequence[int],
    days: tuple[date, date],
    rows_before: Sequence[tuple[str, int, int, int]],
    totals_before: Sequence[int],
    days_before: tuple[date, date],
) -> Comparison: ...

# A range of whole days, and the one of the same kind before it: the two days, the kind and the name of each. With every, the whole
# slices around the days. None unless both ends are days.
def _period(
    period: str | None = None,
    date_from: _Date | None = None,
    date_to: _Date | None = None,
    every: _Every | None = None,
) -> tuple[tuple[date, date, str, str], tuple[date, date, str, str] | None] | None: ...

# How a test sees what becomes of a bug.
def _panic(client: Client | AsyncClient) -> Any: ...

@disjoint_base
class Table:
    """All rows of a listing in memory, in Arrow's format. It never changes and never sends a request.

    ``len(table)``, ``table[0]``, ``table[:10]`` and iteration give dicts. Every library that reads Arrow's
    PyCapsule interface takes it without a copy: ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``duckdb.sql("from table")``. It can be pickled.

    The columns are those of the listing, by the service's own names: string, int64, float64, bool, timestamp in
    UTC, and JSON text for nested values. Where a row names a page by its URL, ``path`` has the path of it. If the range was read slice by slice, ``date_from`` and ``date_to`` come
    first. Further fields that the service sent follow as nullable int64, float64, bool or string: the first 100
    have a column each, the others are together in ``other_fields`` as JSON text. A field that has the name of one
    of these columns, or a value that does not fit its column, is in a column named ``service_`` and its name.

    Example:
        >>> table = client.searches("2026-01").collect()
        >>> table
        Table(120 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
        >>> table.to_pandas().columns.to_list()
        ['searchQuery', 'hits', 'ctr', 'topClickedPage', 'lastSearchedAt', 'path']
    """

    @property
    def listing(self) -> str | None:
        """What the rows are: ``"visitors"``, ``"views"``, ``"searches"``, ``"feedback"``, ``"feedback_by_page"`` or
        ``"conversations"``; ``None`` for other endpoints (``Client.paginate``) and for a ``FixList``.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.listing
            'visitors'
        """
    @property
    def date_from(self) -> Any:
        """The first day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None`` without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_from
            datetime.date(2026, 1, 1)
        """
    @property
    def date_to(self) -> Any:
        """The day after the last day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None``
        without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_to
            datetime.date(2026, 2, 1)
        """
    @property
    def project_id(self) -> str | None:
        """The project's id: a str, or ``None`` if the path named no project.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.project_id
            'demo'
        """
    @property
    def requests(self) -> int:
        """How many requests the export cost, with those for rows that were taken before, and with retries: an int.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.requests
            4
        """
    @property
    def warnings(self) -> list[str]:
        """What was unusual about the export, as a list of str: data that changed, short pages, a listing that was cut off,
        invalid characters.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.warnings
            []
        """
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def top(self, n: int = 10, *, by: str = "total") -> Self:
        """Returns the rows with the highest values of a column, the highest first. The service promises no order, so the
        first rows of a listing are not the most read ones.

        Args:
            n: The largest number of rows; 10 by default.
            by: A column of numbers or times; ``"total"`` by default. Rows without a value come last, and rows with the
                same value stay in their order.

        Returns:
            A table of the same kind with these rows. Its ``totals``, ``requests`` and ``warnings`` are still those of
            the whole export.

        Raises:
            ValueError: ``n`` is negative, or ``by`` is no such column.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> [(row["path"], row["ai"]) for row in table.top(2, by="ai")]
            [('/api/authentication', 15307), ('/api/reference', 13951)]
        """
    def head(self, n: int = 10) -> Self:
        """Returns the first rows, in the order of the table.

        Args:
            n: The largest number of rows; 10 by default.

        Returns:
            A table of the same kind with these rows. Its ``totals``, ``requests`` and ``warnings`` are still those of
            the whole export.

        Raises:
            ValueError: ``n`` is negative.

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week")
            >>> [str(row["date_from"]) for row in trend.head(2)]
            ['2026-01-01', '2026-01-05']
        """
    def __arrow_c_schema__(self) -> object:
        """The schema, for libraries that read Arrow's PyCapsule interface. It is the same for a table without rows."""
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows, for libraries that read Arrow's PyCapsule interface, any number of times. ``requested_schema`` is
        ignored.
        """
    def to_pandas(self) -> pd.DataFrame:
        """Returns the rows as a ``pandas.DataFrame``.

        Returns:
            A ``pandas.DataFrame`` with one column per field: counts as int64 (Int64 where a value may be missing),
            texts as pandas' own text dtype, times as ``datetime64[us, UTC]``.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[pandas]"``.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_pandas().shape
            (1000, 4)
        """
    def to_polars(self) -> pl.DataFrame:
        """Returns the rows as a ``polars.DataFrame`` that shares the table's memory.

        Returns:
            A ``polars.DataFrame`` with one column per field: texts as String, counts as Int64, times as Datetime in
            UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[polars]"``.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_polars().dtypes
            [String, Int64, Int64, Int64]
        """
    def to_arrow(self) -> pa.Table:
        """Returns the rows as a ``pyarrow.Table`` that shares the table's memory.

        Returns:
            A ``pyarrow.Table`` with one column per field: texts as string, counts as int64, times as timestamp in UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[arrow]"``.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_arrow().schema.names
            ['path', 'human', 'ai', 'total']
        """
    def to_dicts(self) -> list[Any]:
        """Returns the rows as a list of dicts.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
        """
    def to_csv(self, path: str | PathLike[str], *, escape_formulas: bool = True, bom: bool = False) -> int:
        """Writes the rows to a CSV file, and returns how many. The file is UTF-8 with a header line; it is complete or not
        there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            escape_formulas: Whether a text that a spreadsheet would run as a formula (one that begins with ``=``,
                ``+``, ``-``, ``@``, a tab, a carriage return, a NUL or a full-width form of these) gets an apostrophe
                in front; true by default.
            bom: Whether the file begins with a byte order mark, which Excel needs to read it as UTF-8; false by
                default.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_csv("january.csv")
            1000
        """
    def to_jsonl(self, path: str | PathLike[str]) -> int:
        """Writes the rows to a JSON Lines file, one object per line, and returns how many. The file is UTF-8; it is
        complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_jsonl("january.jsonl")
            1000
        """
    def to_parquet(self, path: str | PathLike[str]) -> int:
        """Writes the rows to a Parquet file, and returns how many. It needs pyarrow, polars or duckdb. The file is
        complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.

        Returns:
            The number of rows, an int.

        Raises:
            ImportError: None of the libraries is there: ``pip install "docplatform[arrow]"``.
            OSError: The file cannot be written.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_parquet("january.parquet")
            1000
        """
    def to_excel(self, path: str | PathLike[str]) -> int:
        """Writes the rows to an Excel workbook (``.xlsx``) with one sheet and a header, and returns how many.

        Dates are dates and counts are numbers. A text stays a text: no formula runs, and no URL becomes a link. The
        file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.

        Returns:
            The number of rows, an int.

        Raises:
            ValueError: A sheet has no room for more than 1,048,575 rows, or for a text of more than 32,767 characters.
                No file was written; use ``to_csv``.
            ImportError: XlsxWriter is missing: ``pip install "docplatform[excel]"``.
            OSError: The file cannot be written.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_excel("january.xlsx")
            1000
        """
    def _repr_html_(self) -> str: ...
    def _schema(self) -> list[tuple[str, str, bool]]: ...
    @property
    def _adds_up(self) -> bool: ...
    @property
    def _running(self) -> list[date]: ...
    @property
    def _order(self) -> str | None: ...
    def _numbers(self, name: str) -> bytearray: ...
    def _missing(self, name: str) -> bytearray: ...
    def _values(self, name: str) -> list[Any]: ...
    def _extras(self) -> dict[str, list[Any]]: ...
    def _part(self, start: int, stop: int) -> list[list[Any]]: ...

@final
class VisitorTable(Table):
    """All rows of visitors or views in memory, in Arrow's format. It never changes and never sends a request.

    The columns are ``path`` (string), ``human``, ``ai`` and ``total`` (int64), then whatever else the service sent.
    ``len(table)``, ``table[0]``, ``table[:10]`` and iteration give dicts. Every library that reads Arrow's
    PyCapsule interface takes it without a copy. The rows are in the service's order, which is no ranking; ``top``
    ranks them.

    The counts of visitors are unique visitors of each path: they cannot be added up to those of the site, which are
    in ``totals``. The counts of views can be added up.

    Example:
        >>> table = client.visitors("2026-01").collect()
        >>> table[0]
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
        >>> table.totals
        Totals(human=94961, ai=53659, total=147011)
    """

    @property
    def totals(self) -> Totals | None:
        """The totals of the whole site when the export began: a ``Totals`` tuple, or ``None`` if no page was requested
        (``max_rows=0``).

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.totals
            Totals(human=94961, ai=53659, total=147011)
        """
    @property
    def date_from(self) -> date | str | None:
        """The first day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None`` without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_from
            datetime.date(2026, 1, 1)
        """
    @property
    def date_to(self) -> date | str | None:
        """The day after the last day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None``
        without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_to
            datetime.date(2026, 2, 1)
        """
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> VisitorRow: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[VisitorRow]: ...
    def __iter__(self) -> Iterator[VisitorRow]: ...
    def to_dicts(self) -> list[VisitorRow]:
        """Returns the rows as a list of dicts.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
        """
    def plot(
        self, n: int = 15, *, by: Literal["human", "ai", "total"] = "total", ax: Axes | None = None
    ) -> Axes:
        """Draws the most read pages, with a bar for people and a bar for AI agents, and returns the chart.

        The bars of visitors are unique visitors of each page and do not add up to those of the site; those of views do. The colours can be told apart
        by people who are colour-blind, and the hatching also in black and white.

        Args:
            n: The most pages to show; 15 by default. A new figure shows at most 40, and axes of your own as many as they
                have room for.
            by: Which readers decide the order: ``"total"`` (the default), ``"human"`` or ``"ai"``.
            ax: The matplotlib ``Axes`` to draw on; by default a new figure.

        Returns:
            The matplotlib ``Axes``, to change; ``matplotlib.pyplot.savefig("january.png")`` saves a new figure.

        Raises:
            ImportError: matplotlib is missing: ``pip install "docplatform[plot]"``.
            ValueError: ``n`` is below 1, or ``by`` is none of the three.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.plot().get_title()
            'These 15 of 1,000 pages had the most readers, January 2026'
        """

@final
class TrendTable(Table):
    """Visitors or views per day, week or month, in Arrow's format: one row per slice, in order. It never changes and never
    sends a request.

    The columns are ``date_from`` and ``date_to`` (date; ``date_to`` is exclusive), ``days`` (fewer for a slice that
    the range cuts), ``path`` with ``by_path=True``, and ``human``, ``ai`` and ``total`` (int64), then whatever else
    the service sent. ``len(trend)``, ``trend[0]`` and iteration give dicts.

    Unique visitors of slices cannot be added up: a visitor who came on two days counts on both, and once in the
    range. Views can. The service decides what counts as an AI agent, and has changed that before: a sudden step in ``ai`` may
    come from there.

    Example:
        >>> trend = client.visitor_trend("2026-01", every="week")
        >>> trend[1]["date_from"], trend[1]["total"]
        (datetime.date(2026, 1, 5), 35328)
    """

    @property
    def date_from(self) -> date | None:
        """The first day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None`` without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_from
            datetime.date(2026, 1, 1)
        """
    @property
    def date_to(self) -> date | None:
        """The day after the last day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None``
        without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_to
            datetime.date(2026, 2, 1)
        """
    @property
    def every(self) -> str | None:
        """How long a slice is: ``"day"``, ``"week"`` or ``"month"``; ``None`` if the range is one slice.

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week")
            >>> trend.every
            'week'
        """
    @property
    def open_from(self) -> date | None:
        """The first day whose slice may still change, because it is not over, or ended less than ``settle_days`` ago: a
        ``date``; ``None`` if all are final.

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week")
            >>> trend.open_from is None
            True
        """
    def sum(self, *args: Any, **kwargs: Any) -> Totals:
        """Returns the counts of all rows together, for a trend of views. Unique visitors cannot be added up: for them it
        raises ``TypeError``, and ``Client.visitor_totals`` has those of the whole range.

        Args:
            args: None is taken.
            kwargs: None is taken.

        Returns:
            ``Totals``: ``human``, ``ai`` and ``total``.

        Raises:
            TypeError: The trend is of visitors, or there are arguments.

        Example:
            >>> client.view_trend("2026-01", every="week").sum()
            Totals(human=1057715, ai=377949, total=1435664)
            >>> client.visitor_trend("2026-01", every="week").sum()
            Traceback (most recent call last):
                ...
            TypeError: ...
        """
    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draws a line for people and a line for AI agents over the slices, and returns the chart.

        The title says how readers changed from the first to the last slice on the line, and of days what the lowest and the
        highest count were. A slice that the range cuts, or that was not over when it was read, covers less time: it is a
        hollow point beside the line, and the caption says so.

        Args:
            ax: The matplotlib ``Axes`` to draw on; by default a new figure.

        Returns:
            The matplotlib ``Axes``, to change; ``matplotlib.pyplot.savefig("january.png")`` saves a new figure.

        Raises:
            ValueError: The trend has a row for each path (``by_path=True``).
            ImportError: matplotlib is missing: ``pip install "docplatform[plot]"``.

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week")
            >>> [text.get_text() for text in trend.plot().get_legend().get_texts()]
            ['people', 'AI agents']
        """

@final
class FixList(Table):
    """What readers of the docs stumble over, in Arrow's format: one row for each page, and one for each phrase whose
    searches hardly ever led to a click, the costliest first. It never changes and never sends a request.

    ``readers`` is about how many people met the problem. It adds up three estimates: the people who read the page
    (``human``, or those who rated it if they are more), times the lower end of the 95 % Wilson interval of the share of
    thumbs down; the unanswered questions that were asked on the page; the searches that ended without a click, which are
    ``hits * (1 - ctr)`` for phrases with a click-through rate below 0.1.

    The columns are ``path`` (string, null for a phrase), ``query`` (string, null for a page), ``readers`` (int64),
    ``human`` (int64, null if no visitors of the page are known), ``thumbs_up``, ``thumbs_down``, ``unanswered`` and
    ``searches`` (int64), ``evidence`` (JSON: up to ten comments and questions in readers' words, and how many ``times``
    each came), ``why`` (string: the evidence in one sentence) and ``prompt`` (string: an instruction for the agent).
    Ratings of a page that ``feedback_by_page`` does not list are counted in ``feedback``. A prompt quotes readers' words as
    data that the agent must not obey: at most ten texts of 300 characters, without control characters.

    Example:
        >>> fixes = client.fix_first("2026-10")
        >>> fixes[0]["readers"], fixes[0]["thumbs_down"], fixes[0]["unanswered"]
        (6350, 39, 17)
        >>> print(fixes[0]["prompt"].splitlines()[-1])
        > question (17 times): "How do I deploy through a proxy?"
    """

@final
class Comparison(Table):
    """Visitors or views of two periods side by side, in Arrow's format: one row for each path of either period. It never
    changes and never sends a request.

    The columns are ``path`` (string), and for each kind of readers (``human``, ``ai`` and ``total``) the count now
    (``human``), ``human_before``, ``human_change`` (int64), ``human_growth`` (float64: the change as a fraction, null if
    nobody read the path before) and ``human_significant`` (bool). A path that a period lacks counts 0 there. The rows
    are in the service's order, which is no ranking. ``len(change)``, ``change[0]`` and iteration give dicts; ``print``
    shows the largest changes.

    A change is significant if neither chance, nor the growth of a typical path (``pace``), nor the usual scatter of
    the site's paths explains it. At most about 5 % of significant changes are false alarms, if most paths
    scatter by no more than a fifth; on a site with larger ups and downs there are more. A significant count is
    also at least 10 readers, and at least 10 %, away from what the pace predicts. Each kind is judged by itself.

    Unique visitors of paths cannot be added up to those of the site, which are in ``totals`` and ``totals_before``.

    Example:
        >>> change = client.compare_visitors("2026-10")
        >>> change[0]["path"], change[0]["total"], change[0]["total_before"], change[0]["total_significant"]
        ('/', 51276, 44919, False)
    """

    @property
    def period(self) -> str:
        """The period's name, a str.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.period
            'October 2026'
        """
    @property
    def before(self) -> str:
        """The name of the period that it is compared with, a str.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.before
            'September 2026'
        """
    @property
    def date_from(self) -> date | None:
        """The first day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None`` without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_from
            datetime.date(2026, 1, 1)
        """
    @property
    def date_to(self) -> date | None:
        """The day after the last day of the range: a ``date``. Of rows, a str if you gave it with a time, and ``None``
        without a range.

        Example:
            >>> table = client.visitors("2026-01").collect()
            >>> table.date_to
            datetime.date(2026, 2, 1)
        """
    @property
    def date_from_before(self) -> date | None:
        """The first day of the period that it is compared with: a ``date``.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.date_from_before
            datetime.date(2026, 9, 1)
        """
    @property
    def date_to_before(self) -> date | None:
        """The day after the last day of the period that it is compared with: a ``date``.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.date_to_before
            datetime.date(2026, 10, 1)
        """
    @property
    def totals(self) -> Totals:
        """The totals of the whole site in the period: a ``Totals`` tuple.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.totals
            Totals(human=128117, ai=88396, total=213862)
        """
    @property
    def totals_before(self) -> Totals:
        """The totals of the whole site in the period that it is compared with: a ``Totals`` tuple.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.totals_before
            Totals(human=111899, ai=78743, total=188280)
        """
    @property
    def change(self) -> Fractions:
        """The change of the whole site that the calendar does not explain: a ``Fractions`` tuple.

        It is the one of three changes that is nearest to zero: of the totals, of the totals per day, and of the totals
        per working day (Monday to Friday), which is left out if a period has no such day. It is 0 if they disagree whether the site rose or fell, and ``None`` if
        there are readers, and were none before. ``totals`` and ``totals_before`` give the plain change.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> round(change.change.total, 3), round(change.totals.total / change.totals_before.total - 1, 3)
            (0.099, 0.136)
        """
    @property
    def pace(self) -> Fractions:
        """The growth of a typical path, by kind of readers: a ``Fractions`` tuple. Paths are judged against it.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> round(change.pace.human, 3), round(change.pace.ai, 3)
            (0.141, 0.122)
        """
    def risers(self, n: int = 10, of: Literal["human", "ai", "total"] = "total") -> Comparison:
        """Returns the paths with a significant gain, the largest gain first. New paths are not among them.

        Args:
            n: The largest number of paths; 10 by default.
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.

        Returns:
            A ``Comparison`` with these rows.

        Raises:
            ValueError: ``n`` is negative, or ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> [(row["path"], row["total_change"]) for row in change.risers(2)]
            [('/api/authentication', 10648), ('/guides/webhooks', 6402)]
        """
    def fallers(self, n: int = 10, of: Literal["human", "ai", "total"] = "total") -> Comparison:
        """Returns the paths with a significant loss, the largest loss first. Vanished paths are not among them.

        Args:
            n: The largest number of paths; 10 by default.
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.

        Returns:
            A ``Comparison`` with these rows.

        Raises:
            ValueError: ``n`` is negative, or ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> [(row["path"], row["human_change"]) for row in change.fallers(2, of="human")]
            [('/changelog/2026-09', -5270), ('/guides/deployment', -2454)]
        """
    def new(self, n: int = 10, of: Literal["human", "ai", "total"] = "total") -> Comparison:
        """Returns the paths that have a significant number of readers now and had none before, the most read first.

        Args:
            n: The largest number of paths; 10 by default.
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.

        Returns:
            A ``Comparison`` with these rows.

        Raises:
            ValueError: ``n`` is negative, or ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> [(row["path"], row["total"]) for row in change.new(2)]
            [('/releases/v26.2', 30767), ('/guides/migrate-to-v26.2', 15817)]
        """
    def vanished(self, n: int = 10, of: Literal["human", "ai", "total"] = "total") -> Comparison:
        """Returns the paths that had a significant number of readers before and have none now, the most read first.

        Args:
            n: The largest number of paths; 10 by default.
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.

        Returns:
            A ``Comparison`` with these rows.

        Raises:
            ValueError: ``n`` is negative, or ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> [(row["path"], row["total_before"]) for row in change.vanished(2)]
            [('/changelog/2026-08', 3383), ('/releases/v26.1', 1258)]
        """
    def sections(self, of: Literal["human", "ai", "total"] = "total") -> Table:
        """Returns how the sections of the site changed, those that moved first.

        A section is the first segment of a path, such as ``/guides``. Its numbers are sums over its paths: visits of
        paths, and not readers. It moved (``significant``) if it differs from the pace of the site by more than chance
        and the usual scatter explain, and by at least 5 % and 20 visits.

        Args:
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.

        Returns:
            A ``Table`` with one row for each section that was read: ``section`` (string), ``paths`` (how many were
            read), ``now``, ``before``, ``change`` (int64), ``growth`` (float64, null if nobody read it before) and
            ``significant`` (bool).

        Raises:
            ValueError: ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> [(row["section"], row["change"]) for row in change.sections() if row["significant"]]
            [('/releases', 29509), ('/guides', 23997)]
        """
    def plot(
        self, n: int = 10, *, of: Literal["human", "ai", "total"] = "total", ax: Axes | None = None
    ) -> Axes:
        """Draws the largest significant changes, new and vanished paths among them, and returns the chart.

        Args:
            n: How many paths to show; 10 by default.
            of: The kind of readers: ``"total"`` (the default), ``"human"`` or ``"ai"``.
            ax: The matplotlib ``Axes`` to draw on; by default a new figure.

        Returns:
            The matplotlib ``Axes``, to change; ``matplotlib.pyplot.savefig("october.png")`` saves a new figure.

        Raises:
            ImportError: matplotlib is missing: ``pip install "docplatform[plot]"``.
            ValueError: ``n`` is below 1, or ``of`` is none of the three.

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> len(change.plot(n=5).patches)
            5
        """
    @property
    def _is_whole(self) -> bool: ...
    def _movements(self, of: str) -> list[tuple[int, str]]: ...

def _table(meta: str, lines: bytes) -> Table: ...
def _dataset_slices(
    store: str | PathLike[str],
    every: str,
    listing: str,
    projects: str | Iterable[str] | None,
    date_from: _Date | None,
    date_to: _Date | None,
    base_url: str | None,
    organization: str | None,
    settle_days: int,
) -> list[tuple[int, str, str, date, date, int, int, bool]]: ...
def _read_stored(
    store: str | PathLike[str],
    listing: str,
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
    store: str | PathLike[str], export: int, listing: str, settle_days: int
) -> _DatasetRows: ...

@final
class _DatasetRows:
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

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
class _Key: ...

@final
class _WholeFile:
    def __new__(cls, path: str | PathLike[str], *, aside: str | PathLike[str] | None = None) -> Self: ...
    @property
    def path(self) -> Path: ...  # until `commit` or `discard`
    def commit(self) -> None: ...
    def discard(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
        /,
    ) -> None: ...

# generated from here on by release/twins.py

@final
class AsyncClient:
    """Connects to one documentation platform: runs jobs of its docs agent and reads its analytics.

    ``Client`` blocks until a call is done; threads may share it, and Ctrl-C ends any call. ``AsyncClient`` has the
    same methods with the same arguments: those that may send a request return a coroutine to ``await``, and nothing
    is sent before. It is bound to no event loop, and cancelling a call drops its request. Use either in a ``with``
    (``async with``) block, or call ``close()`` at the end.

    Args:
        api_key: The platform's API key, or a function without arguments that returns it. By default it comes from the
            variable ``DOCPLATFORM_API_KEY``, or from the file that ``DOCPLATFORM_API_KEY_FILE`` names, which only you
            may be able to read. The function is called for the first request, and again after a 401, on the thread or
            in the event loop of the caller; for ``AsyncClient`` it may be a coroutine function. A file is read again
            after a 401, too. If that brings another key, the request is sent once more. The key is sent in the
            ``Authorization`` header and appears nowhere else: not in an error, a log line or a pickle. A ``repr``
            shows only the last four characters of a long key.
        base_url: The address of your documentation platform, with https; by default ``DOCPLATFORM_BASE_URL``. Plain
            http works for ``127.0.0.1``, ``[::1]`` and ``localhost``. The address may have a path.
        project_id: The project for calls that name none; by default ``DOCPLATFORM_PROJECT_ID``.
        timeout: Seconds for one attempt, up to the last byte of the answer; 30 by default. A write has twice as
            long, because giving up on it leaves its outcome unknown. Wherever seconds are expected, a ``timedelta``
            is fine.
        connect_timeout: Seconds to resolve the host name, connect and complete the TLS handshake; 5 by default.
        deadline: Seconds for one call, or for one page of an export, with all retries and pauses; 90 by default. A
            retry whose pause would not end a second before the deadline is not made.
        max_retries: Retries after the first attempt; 2 by default. Temporary failures of reads are retried. A write
            is retried only if the service never received it, or refused it with a 429 and a ``Retry-After``, or a 401 and
            ``api_key`` has another key; no setting changes that.
        max_retry_after: The longest ``Retry-After`` of the service that a retry waits for, in seconds; 60 by default. A
            longer one raises the error at once; later calls wait for it, or raise at once if it ends after their ``deadline``. With ``requests_per_hour`` or
            ``jobs_per_hour``, a call that the budget counts waits for a 429 as for the budget; a creation whose 429 has no
            ``Retry-After`` raises, and later ones wait.
        proxy: An ``http://`` or ``https://`` proxy for every request; by default the one of the environment, if
            any.
        trust_env: Whether ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` are used; true by default.
            They are never used for loopback addresses.
        ca_bundle: A PEM file with certificates to trust in addition to the system's.
        headers: Extra headers for every request. Their values are treated as secrets.
        allow_http: Whether plain http to other machines is allowed; false by default. The API key then travels
            unencrypted.
        max_response_bytes: The largest answer to read, in bytes; 32 MiB by default. Answers about a job are limited
            to 4 MiB.
        job_path: The path at which a job is read. Change it only if the service moved it.
        requests_per_hour: How many analytics requests may be sent in any hour. The service was seen to allow 100 for a whole
            organization. By default ``DOCPLATFORM_REQUESTS_PER_HOUR``, or else no limit. The budget is shared by
            all clients that have one and the same ``store``, in any process; without a store it holds for this client. A call that
            waits for the budget for more than ten seconds warns (``WaitWarning``); ``deadline`` does not count this time.
        reserve: How many of these requests to leave for others; by default ``DOCPLATFORM_RESERVE``, or else 0.
        jobs_per_hour: How many jobs may be created in any hour in one project. The service was seen to allow 100. By default
            ``DOCPLATFORM_JOBS_PER_HOUR``, or else no limit. It is shared and waited for like ``requests_per_hour``.
        store: A file that caches what was fetched, counts the requests of clients with a budget, and keeps the names of
            ``once=``; it holds no key. By default ``DOCPLATFORM_STORE``, or else none; ``""`` means none even if the variable is set.
        settle_days: How many days after its end a range is treated as final; 2 by default. A final range is fetched
            only once.
        refresh: Whether to fetch ranges again that the store has; false by default. The store then has the new counts.
            ``client.with_options(refresh=True)`` does so for some calls.
        organization: The organization whose budget this is, if several keys share one; by default
            ``DOCPLATFORM_ORGANIZATION``, or else each key has a budget of its own.
        on_attempt: A function that is called with each ``Attempt`` of a request after it ended, also of polls and pages,
            on the thread or in the event loop of the caller. It is not awaited. An exception that it raises is logged
            and changes nothing.

    Raises:
        ConfigurationError: A setting is missing or cannot be used. The message says which, and where its value came
            from.
        ValueError: A setting is out of range.

    Example:
        >>> client = Client()  # with DOCPLATFORM_API_KEY, DOCPLATFORM_BASE_URL and DOCPLATFORM_PROJECT_ID
        >>> client.visitor_totals("2026-01")
        Totals(human=94961, ai=53659, total=147011)
        >>> async with AsyncClient() as async_client:
        ...     print(await async_client.visitor_totals("2026-01"))
        Totals(human=94961, ai=53659, total=147011)
    """

    def __new__(
        cls,
        api_key: str | Callable[[], Awaitable[str] | str] | None = None,
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
        jobs_per_hour: int | None = None,
        store: str | PathLike[str] | None = None,
        settle_days: int = 2,
        refresh: bool = False,
        organization: str | None = None,
        on_attempt: Callable[[Attempt], object] | None = None,
    ) -> Self: ...
    def create_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Creates a job for the docs agent and returns it without waiting for its end.

        The request is sent again only if the service certainly did nothing: it never came there, or was refused with
        429 and a ``Retry-After``, or with 401 and ``api_key`` has another key. If its answer is lost, the job may or may not exist; give it a name with ``once`` to
        make a repetition safe.

        Args:
            prompt: The task for the agent, in plain words.
            once: A name for this job that makes it safe to call this again, even from another process: the same name
                and prompt return the same job and send nothing. Needs a client with a ``store``. Names are kept for
                each organization and project. If two calls come at the same time, one creates the job and the other
                waits for it, up to its ``deadline``. A creation that was not sent, or that the service refused, frees
                the name.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The new ``Job``. For a name that was used before, it is the job as it was when it was created; if
            ``resolve_once`` named its id, its status is ``"unknown"`` until it is read with ``get_job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt.
                Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            BudgetError: ``jobs_per_hour`` jobs were created, or the service asked a client with ``jobs_per_hour`` to wait
                (429 with ``Retry-After``), and ``on_budget="stop"``. No job was created.
            UnconfirmedWriteError: The job may exist: no answer confirms it. Look on the platform before you create it
                again. With ``once``, every further call raises this and sends nothing, until ``resolve_once`` says
                whether the job exists. So does a call with a name and a prompt that the store knows from another
                organization or key at this address.
            StatusError: The service refused the request; nothing was changed.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.

        Example:
            >>> client = Client(store="docs.db")
            >>> job = client.create_job("Document release 1.4", once="docs-1.4")
            >>> job.id
            'job-1'
            >>> client.create_job("Document release 1.4", once="docs-1.4").id  # sends nothing
            'job-1'
            >>> (await async_client.create_job("Document release 1.5")).id  # an AsyncClient
            'job-2'
        """
    def get_job(self, job: Job | str, *, project_id: str | None = None) -> Coroutine[Any, Any, Job]:
        """Returns the present state of a job.

        Args:
            job: A ``Job`` or its id.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            A new ``Job``; the one that you passed does not change.

        Raises:
            NotFoundError: The project has no such job.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.get_job(job).status
            'active'
            >>> (await async_client.get_job("job-1")).status  # an AsyncClient
            'completed'
        """
    def send_message(
        self, job: Job | str, prompt: str, *, once: str | None = None, project_id: str | None = None
    ) -> Coroutine[Any, Any, Job]:
        """Sends a further instruction to a job, and returns the job without waiting for it.

        The answer, and polls right after it, may still show the status from before the message. ``follow_up`` sends a
        message and waits.

        Args:
            job: A ``Job`` or its id.
            prompt: The instruction, in plain words.
            once: A name for this message that makes it safe to call this again, even from another process: the same
                name, job and prompt send nothing and return the job of the first answer. It works as for
                ``create_job``, with the same names. Needs a client with a ``store``.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The ``Job`` as the service answered.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt or
                for something else. Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again. With ``once``, every further call raises this and sends
                nothing, until ``resolve_once`` says whether the message arrived.
            NotFoundError: The project has no such job.
            StatusError: The service refused the request; nothing was changed.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.

        Example:
            >>> client = Client(store="docs.db")
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.send_message(job, "Also check the footer", once="footer-1.4").status
            'active'
            >>> client.send_message(job, "Also check the footer", once="footer-1.4").status  # sends nothing
            'active'
            >>> (await async_client.send_message("job-1", "And the header")).status  # an AsyncClient
            'active'
        """
    def wait_for_job(
        self,
        job: Job | str,
        *,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Polls a job until its status is final (``completed``, ``archived`` or ``failed``), and returns it.

        Temporary failures of a poll are tolerated until ``timeout``, unless the service asks for a longer pause than is left. A job that this client created less than 10
        seconds ago may still be unknown to the service, which is tolerated too.

        Args:
            job: A ``Job`` or its id.
            timeout: The longest time to wait, in seconds or as a ``timedelta``; 30 minutes by default, ``None`` waits
                for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the second poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The final ``Job``.

        Raises:
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.
            NotFoundError: The project has no such job.
            StatusError: The service refused a poll. The error's ``job`` is the last snapshot, if there is one.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.wait_for_job(job, poll_interval=0.5).pr_link
            'https://github.com/example/docs/pull/1'
            >>> (await async_client.wait_for_job("job-1")).status  # an AsyncClient
            'completed'
        """
    def run_job(
        self,
        prompt: str,
        *,
        once: str | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Creates a job, waits until its status is final (``completed``, ``archived`` or ``failed``), and returns it.

        If the wait is interrupted, the exception has a note with the job's id, so that ``wait_for_job`` can continue.
        With ``once``, simply run it again: it waits for the same job.

        Args:
            prompt: The task for the agent, in plain words.
            once: A name for this job that makes it safe to call this again, even from another process: the same name
                and prompt wait for the same job and create no other, also if that job failed. Needs a client with a
                ``store``. Names are kept for each organization and project. If two calls come at the same time, one
                creates the job, and both wait for it. A creation that was not sent, or that the service refused, frees
                the name.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` raises ``BudgetError``.
            timeout: The longest time to wait once the job is created, in seconds or as a ``timedelta``; 30 minutes by
                default, ``None`` waits for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the first poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The final ``Job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt.
                Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            BudgetError: ``jobs_per_hour`` jobs were created, or the service asked a client with ``jobs_per_hour`` to wait
                (429 with ``Retry-After``), and ``on_budget="stop"``. No job was created.
            UnconfirmedWriteError: The job may exist: no answer confirms it. Look on the platform before you create it
                again. With ``once``, every further call raises this and sends nothing, until ``resolve_once`` says
                whether the job exists. So does a call with a name and a prompt that the store knows from another
                organization or key at this address.
            StatusError: The service refused the request; nothing was changed. Or it refused a poll: ``outcome`` is then
                ``"applied"``, and ``wait_for_job(error.job)`` goes on.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.

        Example:
            >>> job = client.run_job("Document release 1.4", poll_interval=0.5, on_poll=lambda job: print(job.status))
            active
            completed
            >>> job.pr_link
            'https://github.com/example/docs/pull/1'
            >>> (await async_client.run_job("Document release 1.5", poll_interval=0.5)).status  # an AsyncClient
            'completed'
        """
    def run_jobs(
        self,
        prompts: Mapping[str, str],
        *,
        concurrency: int = 8,
        once: bool = False,
        on_done: Callable[[str, Job | DocPlatformError], Awaitable[object] | object] | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        final: Sequence[str] = (),
        progress: bool | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, JobsReport]:
        """Creates many jobs, waits until each is final, and returns a ``JobsReport`` with the outcome of every job.

        No single job raises an error. If the call is interrupted, the exception has the attribute ``report``: a
        ``JobsReport`` of the jobs that were begun. With ``once=True``, run it again: no job is created twice.

        Args:
            prompts: A dict from a name of yours to what the agent is to do.
            concurrency: How many jobs run at the same time; 8 by default.
            once: Whether each name is also a name of ``once``, as for ``create_job``, so that it is safe to call this
                again, even from another process. Needs a client with a ``store``. False by default.
            on_done: A function that is called with the name and the ``Job`` or error of each job that has ended, in your
                thread or task. With ``AsyncClient`` it may return an awaitable. An exception that it raises ends the
                call.
            on_budget: What to do when ``jobs_per_hour`` jobs were created: ``"wait"`` (the default) waits until the next
                one is allowed, ``"stop"`` puts a ``BudgetError`` into ``report.failed``.
            timeout: The longest time to wait for each job once it is created, in seconds or as a ``timedelta``; 30
                minutes by default, ``None`` waits for ever.
            poll_interval: Seconds before the first poll of a job; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous
                one, varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            final: Further statuses that end the wait for a job, such as ``("cancelled",)``; the job is then in ``done``, or in ``failed`` if it failed. A
                status that the client does not know causes a ``DataWarning``, and the wait goes on.
            progress: Whether to show progress on stderr; by default on a terminal and in a notebook.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``JobsReport``: the dicts ``done``, ``failed`` and ``unknown``, and the number of ``requests``.

        Raises:
            ValueError: A prompt is empty or contains invalid characters, or a name cannot be a name of ``once``. Nothing
                was sent.
            ConfigurationError: ``once=True`` was given, but the client has no store. Nothing was sent.

        Example:
            >>> prompts = {"links": "Fix the broken links", "footer": "Shorten the footer"}
            >>> report = client.run_jobs(prompts, poll_interval=0.5)
            >>> sorted(report.done)
            ['footer', 'links']
            >>> report.failed, report.unknown
            ({}, {})
            >>> len((await async_client.run_jobs({"header": "Shorten the header"}, poll_interval=0.5)).done)  # an AsyncClient
            1
        """
    def fix_first(
        self,
        period: str | None = None,
        *,
        n: int = 20,
        unanswered: Sequence[str] = ("unanswered", "unresolved"),
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, FixList]:
        """Lists what readers of the docs stumble over, the costliest problem first, with an instruction for the docs agent.

        It reads ``visitors``, ``feedback_by_page``, ``feedback``, ``conversations`` and ``searches`` of the period, each
        once and through the client's store. A listing that is empty, or that the key may not read (403), is named in the
        table's ``warnings``. Files for machines, such as ``/llms.txt``, are no rows. ``run_jobs`` hands the prompts to the agent. Review each pull request, because prompts quote
        readers.

        Args:
            period: A period such as ``"2026-10"`` or ``"last 4 weeks"``; ``"last month"`` by default.
            n: The most rows; 20 by default. While there are pages to list, phrases take no more than half of 20 rows, or of
                more; a shorter list is the beginning of that one.
            unanswered: The values of ``resolutionStatus`` of a question that was not answered. The service does not
                document them.
            on_budget: What to do when the request budget is spent: ``"wait"`` (the default) waits for the next free
                request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``FixList``: one row for each page, and one for each phrase whose searches hardly ever led to a click.

        Raises:
            ValueError: The period cannot be read. Nothing was sent.
            BudgetError: The request budget is spent, and ``on_budget="stop"``.
            StatusError: The service refused a request; a 403 only if it refused every listing but ``visitors``, or all five.
            NetworkError: The service was not reached, or a request timed out.

        Example:
            >>> fixes = client.fix_first("2026-10")
            >>> fixes[0]["path"], fixes[0]["why"]
            ('/guides/deployment', '39 of 52 ratings are thumbs down, and 17 questions on this page were not answered.')
            >>> prompts = {row["path"]: row["prompt"] for row in fixes[:2]}
            >>> client.run_jobs(prompts, poll_interval=0.5).done["/guides/deployment"].status
            'completed'
        """
    def resolve_once(
        self, name: str, job: Job | str | None, *, project_id: str | None = None
    ) -> Coroutine[Any, Any, None]:
        """Records what became of a creation or a message under a name of ``once=`` whose outcome is unknown. Sends
        nothing.

        Look on the platform first: if you say that the job or the message is not there although it is, the next call
        sends it a second time.

        Args:
            name: The name that was given as ``once=``.
            job: The job that you found, or that has the message, or its id, which is not checked (``get_job(id)`` does,
                and returns a ``Job``); ``None`` if the job or the message is not there after some minutes, which frees
                the name.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Raises:
            ValueError: The store has no such name, another outcome is recorded, its message is for another job, or its
                request is under way at this moment; or, for a creation, another one has the job. The same job can be recorded again.
            ConfigurationError: The client has no store.

        Example:
            >>> client = Client(store="docs.db")
            >>> stub.fail_next(drop=True)  # the answer gets lost
            >>> client.create_job("Document release 1.4", once="docs-1.4")
            Traceback (most recent call last):
                ...
            docplatform.errors.UnconfirmedWriteError: ...
            >>> client.resolve_once("docs-1.4", "job-17")
            >>> client.create_job("Document release 1.4", once="docs-1.4").id  # sends nothing
            'job-17'
            >>> async_client = AsyncClient(store="docs.db")
            >>> await async_client.resolve_once("docs-1.5", None)
            Traceback (most recent call last):
                ...
            ValueError: ...
        """
    def _once(
        self, *, project_id: str | None = None
    ) -> Coroutine[Any, Any, list[tuple[str, str, str, str | None, datetime]]]: ...
    def follow_up(
        self,
        job: Job | str,
        prompt: str,
        *,
        once: str | None = None,
        settle: _Seconds = 15.0,
        timeout: _Seconds | None = 1800.0,
        poll_interval: _Seconds = 2.0,
        max_poll_interval: _Seconds = 30.0,
        check: bool = True,
        final: Sequence[str] = (),
        on_poll: Callable[[Job], Awaitable[object] | object] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Job]:
        """Sends a further instruction to a job, waits until its status is final again, and returns it.

        Args:
            job: A ``Job`` or its id.
            prompt: The instruction, in plain words.
            once: A name for this message that makes it safe to call this again, even from another process: the same
                name, job and prompt send nothing and only wait. It works as for ``create_job``, with the same names.
                Needs a client with a ``store``.
            settle: How many seconds a final status may still be the one from before the message; 15 by default. A poll
                that shows the job active ends this time early.
            timeout: The longest time to wait, in seconds or as a ``timedelta``; 30 minutes by default, ``None`` waits
                for ever. A poll that is under way when it ends may take up to 5 seconds more.
            poll_interval: Seconds before the first poll; 2 by default, or ``max_poll_interval`` if that is shorter. Each interval is 1.5 times the previous one,
                varied at random by 20 %.
            max_poll_interval: The longest interval between polls before it is varied, in seconds; by default 30, or
                ``poll_interval`` if that is longer.
            check: Whether a failed job raises ``JobFailedError`` (the default) or is returned. An archived job is
                returned in both cases.
            final: Further statuses that end the wait, such as ``("cancelled",)``. A status that the client does not
                know causes a ``DataWarning``, and the wait goes on.
            on_poll: A function that is called with each snapshot of the job, a ``Job``, in your thread or task. With
                ``AsyncClient`` it may return an awaitable. An exception that it raises ends the wait; ``timeout`` does
                not interrupt it.
            project_id: The project's id; by default that of the ``Job``, or else the client's.

        Returns:
            The final ``Job``.

        Raises:
            ValueError: The prompt is empty or contains invalid characters, or the name was used with another prompt or
                for something else. Nothing was sent.
            ConfigurationError: ``once`` was given, but the client has no store. Nothing was sent.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again. With ``once``, every further call raises this and sends
                nothing, until ``resolve_once`` says whether the message arrived.
            StatusError: The service refused the request; nothing was changed. Or it refused a poll: ``outcome`` is then
                ``"applied"``, and ``wait_for_job(error.job)`` goes on.
            ConnectError: The service was not reached. Nothing was done, so it is safe to call this again.
            JobFailedError: The job's status is ``failed``, and ``check`` is true. ``error.job`` is the last snapshot.
            WaitTimeoutError: The job was not final within ``timeout``. ``wait_for_job`` with its id waits for it again. If
                the last poll failed, that error is the ``__cause__``.

        Example:
            >>> job = client.create_job("Fix the broken links on the quickstart page")
            >>> client.follow_up(job, "Also check the footer", poll_interval=0.5).status
            'completed'
            >>> (await async_client.follow_up("job-1", "And the header", poll_interval=0.5)).status  # an AsyncClient
            'completed'
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
        """Lists how many people and AI agents read each page of the site. No request is sent until you ask for the first
        row.

        Each row is ``{"path": str, "human": int, "ai": int, "total": int}`` and whatever else the service sends. The
        counts are unique visitors: they cannot be added up over paths or days. ``visitor_totals`` has those of the
        whole site. Rows come in the service's order, which is no ranking; ``collect().top()`` ranks them.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            page_size: Rows per request, 1 to 250; 250 by default. Smaller pages cost more requests.
            offset: How many rows to skip; 0 by default.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead, 0 to 16. 1, the default, requests the next page while you work on
                this one, which wastes a request only if you stop early. 0 requests a page only when a row of it is
                needed. A number n above 1 is faster over a slow connection, and sends at most n - 1 requests beyond the last page.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, filters, project, page size and offset; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Visitors``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncVisitors``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> for row in client.visitors("2026-01", max_rows=2):
            ...     print(row)
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            {'path': '/api/authentication', 'human': 18470, 'ai': 15307, 'total': 33318}
            >>> client.visitors("2026-01").to_pandas().shape
            (1000, 4)
            >>> (await async_client.visitors("2026-01").to_pandas()).shape  # an AsyncClient
            (1000, 4)
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
        """Lists how often people and AI agents opened each page of the site. No request is sent until you ask for the
        first row.

        Each row is ``{"path": str, "human": int, "ai": int, "total": int}`` and whatever else the service sends. The
        counts are page views: they can be added up over paths and days. Rows come in the service's order, which is no
        ranking; ``collect().top()`` ranks them.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            page_size: Rows per request, 1 to 250; 250 by default. Smaller pages cost more requests.
            offset: How many rows to skip; 0 by default.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead, 0 to 16. 1, the default, requests the next page while you work on
                this one, which wastes a request only if you stop early. 0 requests a page only when a row of it is
                needed. A number n above 1 is faster over a slow connection, and sends at most n - 1 requests beyond the last page.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, filters, project, page size and offset; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Visitors``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncVisitors``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.views("2026-01").collect()
            >>> table[0]
            {'path': '/', 'human': 72655, 'ai': 7646, 'total': 80301}
            >>> sum(row["total"] for row in table) == table.totals.total
            True
            >>> len(await async_client.views("2026-01").collect())  # an AsyncClient
            1000
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
        """Lists what readers searched for. No request is sent until you ask for the first row.

        Each row is one search phrase: ``searchQuery`` (str), ``hits`` (int, how often), ``ctr`` (float, the share of
        searches with a click), ``topClickedPage`` (str, or ``None`` if nobody clicked), ``lastSearchedAt``
        (``datetime`` in UTC) and ``path`` (the path in ``topClickedPage``, to join it with other listings).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 100; 100 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.searches("2026-01").collect()
            >>> table[0]["searchQuery"], table[0]["hits"]
            ('webhooks', 418)
            >>> [row["searchQuery"] for row in table if not row["topClickedPage"]][:3]
            ['terraform provider', 'on premise', 'terraform provider 2']
            >>> len(await async_client.searches("2026-01").collect())  # an AsyncClient
            120
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
        """Lists what readers said about pages. No request is sent until you ask for the first row.

        Each row is one piece of feedback: ``id``, ``path``, ``source``, ``status``, ``comment`` (str or ``None``),
        ``createdAt`` (``datetime`` in UTC), and further fields that depend on the ``source``, such as ``helpful``
        (bool) or ``code`` (str).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            source: Only feedback from this source, or from these: a str or several, such as ``"code_snippet"``. All by
                default.
            status: Only feedback with this status, or with one of these, such as ``"pending"``. All by default.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 100; 100 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.feedback("2026-01", status="pending").collect()
            >>> table[0]["path"], table[0]["comment"]
            ('/getting-started/quickstart', 'Thanks, this helped')
            >>> len(await async_client.feedback("2026-01").collect())  # an AsyncClient
            80
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
        """Lists how many thumbs up and down each page received. No request is sent until you ask for the first row.

        Each row is ``path`` (str), ``thumbsUp``, ``thumbsDown``, ``code`` (feedback about code) and ``total`` (int).
        The service cuts this listing off at ``page_size`` rows and does not list the rest. You then get a
        ``DataWarning``, or with ``strict=True`` a ``PaginationError``. Shorter periods, such as ``every="day"``, bring
        more of it.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            source: Only feedback from this source, or from these: a str or several, such as ``"code_snippet"``. All by
                default.
            status: Only feedback with this status, or with one of these, such as ``"pending"``. All by default.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: The most rows of the range, or of each slice, 1 to 100; 100 by default. Fewer save no request.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.feedback_by_page("2026-01").collect()
            >>> worst = max(table, key=lambda row: row["thumbsDown"])
            >>> worst["path"], worst["thumbsDown"]
            ('/sdk/v1', 51)
            >>> len(await async_client.feedback_by_page("2026-01").collect())  # an AsyncClient
            30
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
        """Lists what readers asked the site's assistant, and what it answered. No request is sent until you ask for the
        first row.

        Each row is one question with its answer: ``id``, ``timestamp`` (``datetime`` in UTC), ``query``, ``response``,
        ``responseType``, ``sources`` (a list of dicts), ``resolutionStatus``, ``queryCategory``, ``pageUrl`` and
        ``path`` (the path in ``pageUrl``, to join it with other listings).

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: ``"day"``, ``"week"`` (from Monday) or ``"month"`` reads the range slice by slice; each row then has
                the ``date_from`` and ``date_to`` of its slice. Slices that have not begun are left out. Use it if the
                service finds the range too long. By default the range is read as a whole.
            page_size: Rows per request, 1 to 1000; 1000 by default. Smaller pages cost more requests.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: 1, the default, requests the next page while you work on this one, which wastes a request only if
                you stop early. 0 requests a page only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received. The checkpoint holds the range, ``every``, filters, project and page size; if
                you give one of these too, it must be the same. ``max_rows`` and the other arguments are those of this call.
            strict: Whether unusual data raises ``PaginationError``: data that changes during the export, short pages, a
                listing that the service cuts off. By default each is a Python warning and an entry in ``warnings``.
            refresh: Whether to fetch the range again even if the client's ``store`` has it; false by default.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, one for each row, with methods for tables (``collect``), frames
            (``to_pandas``) and files (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and
            ``await`` its methods.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or the
                checkpoint belongs to another query. Raised at the call; nothing was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> table = client.conversations("2026-01").collect()
            >>> [row["query"] for row in table if row["resolutionStatus"] == "unanswered"][:2]
            ['How do I deploy through a proxy?', 'What replaces connect()?']
            >>> len(await async_client.conversations("2026-01").collect())  # an AsyncClient
            200
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
        """Returns the unique visitors of the whole site in a range. Costs one request, or none if the store has a final range.

        Unique visitors cannot be added up over days or paths, so ask for the range that you want to report.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.visitor_totals("2026-01")
            Totals(human=94961, ai=53659, total=147011)
            >>> await async_client.visitor_totals("2026-01")  # an AsyncClient
            Totals(human=94961, ai=53659, total=147011)
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
        """Returns the page views of the whole site in a range. Costs one request, or none if the store has a final range. Page views can be added up over days and
        paths.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.view_totals("2026-01")
            Totals(human=1057715, ai=377949, total=1435664)
            >>> await async_client.view_totals("2026-01")  # an AsyncClient
            Totals(human=1057715, ai=377949, total=1435664)
        """
    def conversation(
        self, thread_id: str, *, on_budget: Literal["wait", "stop"] = "wait", project_id: str | None = None
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Returns one conversation with the site's assistant, with all its messages. Costs one request.

        Args:
            thread_id: The conversation's id: a str, as on the dashboard. It is not the ``id`` of a row of ``conversations``, which
                is a turn's.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The conversation as the service sent it: a dict.

        Raises:
            NotFoundError: The project has no such conversation.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> [message["content"] for message in client.conversation("thread-1")["messages"]]
            ['How do I rotate my API key?', 'See the guide.']
            >>> (await async_client.conversation("thread-1"))["threadId"]  # an AsyncClient
            'thread-1'
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
        """Returns how often the site's assistant was asked, by where the question came from. Costs one request.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, an ISO 8601 date-time, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            The counts as the service sent them: a dict of str to int.

        Raises:
            ValueError: The period is unknown or has not begun, or the range is empty (``date_to`` is exclusive).
                Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.caller_stats("2026-01")
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
            >>> await async_client.caller_stats("2026-01")  # an AsyncClient
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
        whole: bool = False,
        before: str | Literal[True] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Plan]:
        """Returns what a range costs in requests, and in hours at the budget, before anything is sent. Reads only the
        store.

        Totals cost one request per slice. Final answers in the store cost nothing; other pages are estimated from the
        last time or from similar ranges in the store, or each slice counts as one request, and ``exact`` is false.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` (the default) for the range
                as a whole. The range cuts the first and the last slice to fit; a slice that has not begun is left out.
            by_path: Whether one row for each path is wanted (the default without ``every``, as ``visitors`` reads it)
                or only totals (the default with ``every``, as ``visitor_trend`` reads it).
            whole: Whether to leave out slices that the range cuts; false by default. ``whole=True`` of ``visitor_trend`` leaves
                out the same ones.
            before: Plans ``compare_visitors``: the period to compare with, or ``True`` for the same kind of period before.
                A comparison reads both periods as a whole, by path.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Plan``: ``requests``, ``cached``, ``exact``, ``hours`` and ``slices``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.

        Example:
            >>> print(client.plan_visitors("2026-01", every="day"))
            31 requests for totals, 0 cached
            >>> print(client.plan_visitors("2026-10", before="2025-10"))  # a comparison
            size unknown: at least 2 requests, 0 cached
            >>> (await async_client.plan_visitors("2026-01", every="week")).requests  # an AsyncClient
            5
        """
    def plan_views(
        self,
        period: str | None = None,
        *,
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = None,
        by_path: bool | None = None,
        whole: bool = False,
        before: str | Literal[True] | None = None,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Plan]:
        """Returns what a range of page views costs in requests, and in hours at the budget, before anything is sent. Reads only the
        store.

        Totals cost one request per slice. Final answers in the store cost nothing; other pages are estimated from the
        last time or from similar ranges in the store, or each slice counts as one request, and ``exact`` is false.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"``, ``"week"`` (from Monday), ``"month"``, or ``None`` (the default) for the range
                as a whole. The range cuts the first and the last slice to fit; a slice that has not begun is left out.
            by_path: Whether one row for each path is wanted (the default without ``every``, as ``views`` reads it)
                or only totals (the default with ``every``, as ``view_trend`` reads it).
            whole: Whether to leave out slices that the range cuts; false by default. ``whole=True`` of ``view_trend`` leaves
                out the same ones.
            before: Plans ``compare_views``: the period to compare with, or ``True`` for the same kind of period before.
                A comparison reads both periods as a whole, by path.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Plan``: ``requests``, ``cached``, ``exact``, ``hours`` and ``slices``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.

        Example:
            >>> print(client.plan_views("2026-01", every="day"))
            31 requests for totals, 0 cached
            >>> print(client.plan_views("2026-10", before="2025-10"))  # a comparison
            size unknown: at least 2 requests, 0 cached
            >>> (await async_client.plan_views("2026-01", every="week")).requests  # an AsyncClient
            5
        """
    def _hours(self, requests: int) -> Coroutine[Any, Any, float | None]: ...
    def _plan(
        self,
        listing: str,
        *,
        date_from: _Date,
        date_to: _Date,
        every: _Every | None,
        by_path: bool,
        whole: bool = False,
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Plan]: ...
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
        """Returns how visitors developed over a range: one row per day, week or month.

        Each row costs one request; with ``by_path=True`` each slice costs one request per 250 paths. With a ``store``,
        slices that are final are fetched only once: run it again tomorrow, and only the days that were not final today cost
        a request, three by default for a range up to yesterday. If it is interrupted, call it again to continue.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for one
                slice. They cover the range without gap or overlap; the range cuts the first and the last one to fit,
                and one that has not begun is left out.
            by_path: Whether to read one row for each slice and path; false by default, which reads the totals of each
                slice.
            whole: Whether to leave out a first or last slice that the range cuts; false by default. A cut slice has
                fewer ``days``, and so fewer visitors. Nothing is sent for a slice that is left out.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``TrendTable`` with the columns ``date_from`` and ``date_to`` (``date``), ``days``, ``human``, ``ai`` and
            ``total`` (int64), and ``path`` (str) with ``by_path=True``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> trend = client.visitor_trend("2026-01", every="week", whole=True)
            >>> [(str(row["date_from"]), row["total"]) for row in trend]
            [('2026-01-05', 35328), ('2026-01-12', 35733), ('2026-01-19', 35650)]
            >>> len(await async_client.visitor_trend("2026-01"))  # an AsyncClient
            31
        """
    def view_trend(
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
        """Returns how page views developed over a range: one row per day, week or month.

        Views are events, so the rows add up: ``TrendTable.sum`` gives the views of the whole range.

        Each row costs one request; with ``by_path=True`` each slice costs one request per 250 paths. With a ``store``,
        slices that are final are fetched only once: run it again tomorrow, and only the days that were not final today cost
        a request, three by default for a range up to yesterday. If it is interrupted, call it again to continue.

        Args:
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for one
                slice. They cover the range without gap or overlap; the range cuts the first and the last one to fit,
                and one that has not begun is left out.
            by_path: Whether to read one row for each slice and path; false by default, which reads the totals of each
                slice.
            whole: Whether to leave out a first or last slice that the range cuts; false by default. A cut slice has
                fewer ``days``, and so fewer views. Nothing is sent for a slice that is left out.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``TrendTable`` with the columns ``date_from`` and ``date_to`` (``date``), ``days``, ``human``, ``ai`` and
            ``total`` (int64), and ``path`` (str) with ``by_path=True``.

        Raises:
            ValueError: The period is unknown or has not begun, the range is empty (``date_to`` is exclusive), or it
                does not consist of whole days. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> trend = client.view_trend("2026-01", every="week", whole=True)
            >>> [(str(row["date_from"]), row["total"]) for row in trend]
            [('2026-01-05', 330951), ('2026-01-12', 334281), ('2026-01-19', 333313)]
            >>> (await async_client.view_trend("2026-01")).sum()  # an AsyncClient
            Totals(human=1057715, ai=377949, total=1435664)
        """
    def compare_visitors(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Comparison]:
        """Returns how visitors changed between two periods, path by path.

        It reads both periods: one request per 250 paths of each. With a ``store``, a final period that was fetched before costs
        nothing, and a comparison that was interrupted continues when you call it again.

        Args:
            period: The period, such as ``"2026-01"``, ``"2026-W03"``, ``"2026-Q1"`` or ``"last 7 days"``; by default
                last month.
            before: The period to compare it with; by default the one before it: the month, quarter or year before a month,
                quarter or year, or as many days before any other range.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Comparison``: one row for each path of either period, with ``human``, ``human_before``,
            ``human_change`` (int64), ``human_growth`` (float64) and ``human_significant`` (bool), and the same for
            ``ai`` and ``total``. A path that a period lacks counts 0 there. If one period is more than a tenth shorter
            than the other, a ``DataWarning`` says so.

        Raises:
            ValueError: A period is unknown or has not begun, or both are the same. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> change = client.compare_visitors("2026-10")
            >>> change.totals.total, change.totals_before.total
            (213862, 188280)
            >>> [(row["path"], row["total_change"]) for row in change.risers(2)]
            [('/api/authentication', 10648), ('/guides/webhooks', 6402)]
            >>> (await async_client.compare_visitors("2026-10")).before  # an AsyncClient
            'September 2026'
        """
    def compare_views(
        self,
        period: str | None = None,
        before: str | None = None,
        *,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Comparison]:
        """Returns how page views changed between two periods, path by path.

        It reads both periods: one request per 250 paths of each. With a ``store``, a final period that was fetched before costs
        nothing, and a comparison that was interrupted continues when you call it again.

        Args:
            period: The period, such as ``"2026-01"``, ``"2026-W03"``, ``"2026-Q1"`` or ``"last 7 days"``; by default
                last month.
            before: The period to compare it with; by default the one before it: the month, quarter or year before a month,
                quarter or year, or as many days before any other range.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project's id; by default the client's ``project_id``.

        Returns:
            A ``Comparison``: one row for each path of either period, with ``human``, ``human_before``,
            ``human_change`` (int64), ``human_growth`` (float64) and ``human_significant`` (bool), and the same for
            ``ai`` and ``total``. A path that a period lacks counts 0 there. If one period is more than a tenth shorter
            than the other, a ``DataWarning`` says so.

        Raises:
            ValueError: A period is unknown or has not begun, or both are the same. Nothing was sent.
            BudgetError: The request budget is spent, with ``on_budget="stop"``.
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> change = client.compare_views("2026-10")
            >>> change.totals.total, change.totals_before.total
            (2142582, 1789490)
            >>> [(row["path"], row["total_change"]) for row in change.risers(2)]
            [('/guides/webhooks', 12974)]
            >>> (await async_client.compare_views("2026-10")).before  # an AsyncClient
            'September 2026'
        """
    def sync(
        self,
        projects: str | Iterable[str],
        period: str | None = None,
        *,
        listing: _Listing | Iterable[_Listing] = "visitors",
        date_from: _Date | None = None,
        date_to: _Date | None = None,
        every: _Every | None = "day",
        by_path: bool = True,
        until: str | time | datetime | None = None,
        on_budget: Literal["wait", "stop"] = "wait",
        on_running: Literal["wait", "stop"] = "wait",
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, SyncReport]:
        """Fetches into the client's store what it does not have yet of some projects, slice by slice.

        Final slices come first, project by project and the oldest first, because they are fetched only once; those of
        several listings are fetched together. Then come the slices that may still change, the one fetched longest ago first.
        Slices that have not begun are left out.
        If it is interrupted, call it again to continue. Only one sync at a time fills a store, across all processes.

        A slice that cannot be fetched does not stop the others; if the service refuses a listing of a project, its other
        slices are skipped. A 401, a 429 and a connection that cannot be made end the sync, and are raised. Three
        failures in a row end it, too, with a ``SyncError``, in three cases: no slice was fetched before; the last one is temporary;
        a slice of the same project and listing has failed before. A project that the service refuses counts once for all its listings.

        Args:
            projects: The ids of the projects, or one id.
            period: The range by name: ``"2026"``, ``"2026-Q1"``, ``"2026-01"``, ``"2026-W03"``, ``"2026-01-31"``,
                ``"2026-01-15 to 2026-02-14"``, ``"yesterday"``, ``"last 7 days"``, ``"last 4 weeks"``, ``"last month"``,
                ``"last quarter"`` or ``"last year"``. Names with "last" and "yesterday" mean whole days, weeks or
                months in UTC and leave the current one out. Give a period or dates, not both.
            listing: What to fetch: ``"visitors"`` (the default), ``"views"``, ``"searches"``, ``"feedback"``,
                ``"conversations"`` or ``"feedback_by_page"``, or several of them. Their methods then read the same
                slices from the store, as in ``client.searches("2026-01", every="day")``.
            date_from: The first day: ``"2026-01-31"``, a ``date`` or a ``datetime``.
            date_to: The day after the last day, in the same forms.
            every: The slices: ``"day"`` (the default), ``"week"`` (from Monday), ``"month"``, or ``None`` for the range
                as a whole.
            by_path: Whether to fetch one row for each path (the default) or only the totals of each slice,
                which only visitors and views have.
            until: When to end, whatever is left: the next such time of day as ``"06:00"`` or a ``time``, or a
                ``datetime``; local time unless it has a zone. By default everything is fetched.
            on_budget: What to do when the client's request budget is spent: ``"wait"`` (the default) waits until it
                allows the next request, ``"stop"`` raises ``BudgetError``.
            on_running: What to do while another sync fills the store: ``"wait"`` (the default) waits for its end,
                ``"stop"`` raises ``StoreBusyError``.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``SyncReport``: ``slices``, ``cached``, ``open``, ``requests`` and ``rows``; and ``left``, the requests that
            are missing, and ``hours``, the time that they take at the budget. With an ``until`` that is over,
            nothing is sent, and ``left`` and ``hours`` are a forecast.

        Raises:
            ConfigurationError: The client has no store.
            SyncError: Some slices could not be fetched; ``error.failures`` lists them, and ``error.report`` says what
                was fetched.
            BudgetError: The request budget is spent, with ``on_budget="stop"``. With a ``store``, what was fetched is
                in it.
            StoreBusyError: Another sync fills the store, with ``on_running="stop"``.

        Example:
            >>> client = Client(store="docs.db")
            >>> client.sync("demo", "2026-01", by_path=False)
            SyncReport(slices=31, cached=0, open=0, requests=31, rows=0, left=0, hours=None)
            >>> client.sync("demo", "2026-01", listing=["searches", "feedback"], every="week").slices
            10
            >>> async_client = AsyncClient(store="docs.db")
            >>> await async_client.sync("demo", "2026-01", by_path=False)
            SyncReport(slices=31, cached=31, open=0, requests=0, rows=0, left=0, hours=None)
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
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> AsyncRows:
        """Lists the rows of any other endpoint of the service, with paging, retries, checkpoints, tables and files. No
        request is sent until you ask for the first row.

        Args:
            path: The endpoint's path. ``{project_id}`` in it stands for the project.
            items: The field of the answer that holds the rows. It may be a path into the answer, such as
                ``"data.items"``; so may the next two.
            has_more: The field that says whether more rows follow; ``"hasMore"`` by default.
            next_cursor: The field that holds the cursor of the next page. If the answer has no ``has_more`` field, a
                cursor means that more rows follow. By default pages are requested by ``offset``.
            params: Further query parameters. A list or tuple repeats its name; ``None`` leaves it out.
            page_size: Rows per request; 250 by default.
            offset: How many rows to skip; 0 by default. Not available with ``next_cursor``.
            max_rows: The largest number of rows to return; all by default. 0 returns none and sends nothing.
            prefetch: How many pages to request ahead; 1 by default, at most 1 with ``next_cursor``. 0 requests a page
                only when a row of it is needed.
            resume: A checkpoint (``rows.checkpoint`` or ``error.checkpoint``): continues after the last row that you
                received.
            on_budget: What to do when the client's request budget is spent, for a path that counts in it: ``"wait"`` (the
                default) waits until it allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project that ``{project_id}`` in the path stands for; by default the client's ``project_id``.

        Returns:
            ``Rows``: an iterator of dicts, with methods for tables (``collect``), frames (``to_pandas``) and files
            (``to_csv``). ``AsyncClient`` returns ``AsyncRows``: use ``async for``, and ``await`` its methods.

        Raises:
            ValueError: An argument is invalid, or the checkpoint belongs to another query. Raised at the call; nothing
                was sent.
            DocPlatformError: While rows are read: the read failed after all retries, or the service broke its paging
                rule (``PaginationError``). Pass ``error.checkpoint`` as ``resume=`` to continue after the last row that
                you received.

        Example:
            >>> rows = client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor", max_rows=3)
            >>> [row["searchQuery"] for row in rows]
            ['webhooks', 'api key', 'rate limit']
            >>> rows = async_client.paginate("/v1/analytics/{project_id}/searches", items="searches", next_cursor="nextCursor", max_rows=3)
            >>> [row["searchQuery"] async for row in rows]  # an AsyncClient
            ['webhooks', 'api key', 'rate limit']
        """
    def request(
        self,
        method: str,
        path: str,
        *,
        params: _Parameters | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: _Seconds | None = None,
        raw: bool = False,
        on_budget: Literal["wait", "stop"] = "wait",
        project_id: str | None = None,
    ) -> Coroutine[Any, Any, Any]:
        """Sends any request to the service, with the client's key, retries and errors, and returns the answer's JSON.

        A ``GET`` is a read: temporary failures are retried. Everything else is a write, which is retried only if the
        service never received it, or refused it with a 429 and a ``Retry-After``, or a 401 and ``api_key`` has another key.

        Args:
            method: ``"GET"``, ``"POST"``, ``"PUT"``, ``"PATCH"`` or ``"DELETE"``.
            path: The path. ``{project_id}`` in it stands for the project.
            params: Query parameters. A list or tuple repeats its name; ``None`` leaves it out.
            json: The body of a write: anything that can be JSON.
            headers: Headers for this request, besides those of the client. Their values are treated as secrets.
            timeout: Seconds for one attempt; by default the client's ``timeout``. A write has twice as long. The call's
                ``deadline`` is at least twice this time.
            raw: Whether to return the answer as it came, a ``Response``, also if it is not JSON; false by default. An
                answer with another status than 2xx raises in both cases.
            on_budget: What to do when the client's budget is spent, for a path that counts in it: ``"wait"`` (the
                default) waits until it allows the next request, ``"stop"`` raises ``BudgetError``.
            project_id: The project that ``{project_id}`` in the path stands for; by default the client's ``project_id``.

        Returns:
            The answer's JSON as Python objects, ``None`` for an empty answer; with ``raw=True`` a ``Response``.

        Raises:
            ValueError: An argument is invalid. Nothing was sent.
            BudgetError: The budget is spent, with ``on_budget="stop"``.
            UnconfirmedWriteError: The request was sent, but no answer confirms it, so it may have been carried out.
                Check on the platform before you call this again.
            DocPlatformError: The request failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).

        Example:
            >>> client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", params={"dateFrom": "2026-01-01"})
            {'web': 310, 'api': 25, 'other': 4, 'total': 339}
            >>> answer = client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats", raw=True)
            >>> answer.status, answer.headers["content-type"], answer.json()["total"]
            (200, 'application/json', 339)
            >>> (await async_client.request("GET", "/v1/analytics/{project_id}/assistant/caller-stats"))["total"]  # an AsyncClient
            339
        """
    def with_options(self, **changes: Unpack[_Changes]) -> Self:
        """Returns a second client with other settings, which shares the connections and ``stats`` of this one. Sends
        nothing.

        Each of the two is closed on its own. A change of the key, the address, the proxy, ``trust_env``, TLS,
        ``connect_timeout``, ``store`` or, with a store, ``organization`` opens connections of its own.

        Args:
            changes: The settings to change, by name: those of ``Client``.

        Returns:
            A client of the same class.

        Raises:
            ConfigurationError: A setting cannot be used.
            ValueError: A setting is out of range.
            TypeError: There is no such setting.

        Example:
            >>> patient = client.with_options(timeout=120, max_retries=5)
            >>> patient.visitor_totals("2026-01").total
            147011
            >>> async_client.with_options(project_id="other")  # an AsyncClient
            AsyncClient(base_url='http://127.0.0.1:...', project_id='other', api_key='…demo')
        """
    @property
    def stats(self) -> Stats:
        """What this client and all handles from ``with_options`` have sent so far: a ``Stats`` tuple. Sends nothing.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> client.stats
            Stats(requests=1, retries=0, waited=0.0, budget_left=None, jobs_left=None)
        """
    def close(self) -> Coroutine[Any, Any, None]:
        """Closes the client; its connections are closed with the last client that shares them. Calling it again does
        nothing. With a ``store``, everything is then in its one file, which you can copy.

        Any other call on a closed client is a ``RuntimeError``. Calls that are running are not ended: cancel them, or
        wait for them, before you close the client.

        Example:
            >>> client.close()
            >>> client.visitor_totals("2026-01")
            Traceback (most recent call last):
                ...
            RuntimeError: ...
            >>> await async_client.close()  # an AsyncClient
        """
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

class AsyncRows:
    """Goes once through the rows of a listing. Each row is a dict with the service's own field names; times are
    ``datetime`` in UTC.

    ``Rows`` comes from a ``Client``: use ``for``, or a method that reads all rows, such as ``collect`` or
    ``to_csv``. ``AsyncRows`` comes from an ``AsyncClient``: use ``async for``, and ``await`` the methods. You may
    stop and continue as with any iterator. A second pass after the end is a ``RuntimeError``: ask the client for a
    new one, or keep a table. Several threads or tasks may share it; each row is handed out once.

    Example:
        >>> rows = client.searches("2026-01")
        >>> next(rows)["searchQuery"]
        'webhooks'
        >>> len(rows.to_dicts())  # the other rows
        119
        >>> async for row in async_client.searches("2026-01", max_rows=2):
        ...     print(row["searchQuery"], row["hits"])
        webhooks 418
        api key 225
    """

    def __aiter__(self) -> AsyncIterator[Any]: ...
    def __anext__(self) -> Coroutine[Any, Any, Any]: ...
    def pages(self) -> AsyncIterator[RowsPage] | AsyncIterator[VisitorsPage]:
        """Returns the remaining rows page by page, as the service sends them.

        Returns:
            An iterator of ``RowsPage``, or ``VisitorsPage`` for visitors and views. With ``AsyncRows`` it is an
            asynchronous one.

        Raises:
            RuntimeError: The rows were read to their end before.
            DocPlatformError: While pages are read: the read failed after all retries. ``error.checkpoint`` continues
                after the last page.

        Example:
            >>> [len(page.rows) for page in client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
            >>> [len(page.rows) async for page in async_client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
        """
    def collect(self, progress: bool | None = None) -> Coroutine[Any, Any, Table]:
        """Returns all remaining rows as a table.

        Rows that the service repeats are found over the whole export. The table of visitors or
        views needs about 60 bytes of memory per row; one with texts needs more.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``Table``; of visitors and views a ``VisitorTable``.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").collect()
            VisitorTable(1000 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
            >>> len(await async_client.visitors("2026-01").collect())
            1000
        """
    def to_pandas(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pd.DataFrame]:
        """Returns all remaining rows as a ``pandas.DataFrame``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``pandas.DataFrame`` with one column per field: counts as int64 (Int64 where a value may be missing),
            texts as pandas' own text dtype, times as ``datetime64[us, UTC]``.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[pandas]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> frame = client.visitors("2026-01").to_pandas()
            >>> frame.shape
            (1000, 4)
            >>> frame.nlargest(2, "ai")["path"].to_list()
            ['/api/authentication', '/api/reference']
            >>> (await async_client.visitors("2026-01").to_pandas()).shape
            (1000, 4)
        """
    def to_polars(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pl.DataFrame]:
        """Returns all remaining rows as a ``polars.DataFrame``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``polars.DataFrame`` with one column per field: texts as String, counts as Int64, times as Datetime in
            UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[polars]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_polars().dtypes
            [String, Int64, Int64, Int64]
            >>> (await async_client.visitors("2026-01").to_polars()).shape
            (1000, 4)
        """
    def to_arrow(self, *, progress: bool | None = None) -> Coroutine[Any, Any, pa.Table]:
        """Returns all remaining rows as a ``pyarrow.Table``.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``pyarrow.Table`` with one column per field: texts as string, counts as int64, times as timestamp in UTC.

        Raises:
            ImportError: The library is missing: ``pip install "docplatform[arrow]"``. Nothing was sent.
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_arrow().schema.names
            ['path', 'human', 'ai', 'total']
            >>> (await async_client.visitors("2026-01").to_arrow()).shape
            (1000, 4)
        """
    def to_dicts(self, *, progress: bool | None = None) -> Coroutine[Any, Any, list[Any]]:
        """Returns all remaining rows as a list of dicts.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            >>> len(await async_client.visitors("2026-01").to_dicts())
            1000
        """
    def to_csv(
        self,
        path: str | PathLike[str],
        *,
        escape_formulas: bool = True,
        bom: bool = False,
        progress: bool | None = None,
    ) -> Coroutine[Any, Any, int]:
        """Writes all remaining rows to a CSV file, and returns how many.

        The file is UTF-8 with a header line, and lines end with a line feed. Rows are written while pages arrive, so
        memory does not grow with the number of rows. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            escape_formulas: Whether a text that a spreadsheet would run as a formula (one that begins with ``=``,
                ``+``, ``-``, ``@``, a tab, a carriage return, a NUL or a full-width form of these) gets an apostrophe
                in front; true by default.
            bom: Whether the file begins with a byte order mark, which Excel needs to read it as UTF-8; false by
                default.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. The unfinished file is removed; ``error.checkpoint``
                continues where this call began.

        Example:
            >>> client.visitors("2026-01").to_csv("january.csv")
            1000
            >>> with open("january.csv") as file:
            ...     print(file.readline(), end="")
            path,human,ai,total
            >>> await async_client.visitors("2026-01").to_csv("january.csv")
            1000
        """
    def to_jsonl(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all remaining rows to a JSON Lines file, one object per line, and returns how many.

        Rows are written while pages arrive, so memory does not grow with the number of rows. The file is UTF-8, and it
        is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. The unfinished file is removed; ``error.checkpoint``
                continues where this call began.

        Example:
            >>> client.visitors("2026-01").to_jsonl("january.jsonl")
            1000
            >>> with open("january.jsonl") as file:
            ...     print(file.readline(), end="")
            {"path":"/","human":32286,"ai":4829,"total":36971}
            >>> await async_client.visitors("2026-01").to_jsonl("january.jsonl")
            1000
        """
    def to_parquet(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all remaining rows to a Parquet file, and returns how many. It needs pyarrow, polars or duckdb.

        The rows are collected first, so they need memory. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            ImportError: None of the libraries is there: ``pip install "docplatform[arrow]"``. Nothing was sent.
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. No file is written; ``error.checkpoint`` continues
                where this call began.

        Example:
            >>> client.visitors("2026-01").to_parquet("january.parquet")
            1000
            >>> await async_client.visitors("2026-01").to_parquet("january.parquet")
            1000
        """
    def to_excel(
        self, path: str | PathLike[str], *, progress: bool | None = None
    ) -> Coroutine[Any, Any, int]:
        """Writes all remaining rows to an Excel workbook (``.xlsx``) with one sheet and a header, and returns how many.

        Dates are dates and counts are numbers. A text stays a text: no formula runs, and no URL becomes a link. The
        rows are collected first, so they need memory. The file is complete or not there at all.

        Args:
            path: The file's path. An existing file is replaced, once the new one is complete.
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            The number of rows, an int.

        Raises:
            ValueError: A sheet has no room for more than 1,048,575 rows, or for a text of more than 32,767 characters.
                No file was written; use ``to_csv``.
            ImportError: XlsxWriter is missing: ``pip install "docplatform[excel]"``. Nothing was sent.
            OSError: The file cannot be written. A missing folder, for example, is found before anything is sent.
            DocPlatformError: The read failed after all retries. No file is written; ``error.checkpoint`` continues
                where this call began.

        Example:
            >>> client.visitors("2026-01").to_excel("january.xlsx")
            1000
            >>> await async_client.visitors("2026-01").to_excel("january.xlsx")
            1000
        """
    @property
    def checkpoint(self) -> str:
        """Where to continue: pass it as ``resume=`` to the method that made these rows, to continue after the last row
        that you received.

        It is a JSON text without secrets: the query, and usually at most some 9 KB more. You can read it at any time, also after an error, and
        use it in another process.

        Example:
            >>> rows = client.visitors("2026-01")
            >>> next(rows)["path"]
            '/'
            >>> next(client.visitors(resume=rows.checkpoint))["path"]
            '/api/authentication'
        """
    @property
    def warnings(self) -> list[str]:
        """What was unusual so far, as a list of str: data that changed, short pages, a listing that was cut off, invalid
        characters.

        Example:
            >>> rows = client.visitors("2026-01")
            >>> len(rows.to_dicts()), rows.warnings
            (1000, [])
        """

@final
class AsyncVisitors(AsyncRows):
    """Goes once through the rows of visitors or views: ``{"path": str, "human": int, "ai": int, "total": int}`` and
    whatever else the service sent.

    ``Visitors`` comes from ``Client.visitors`` or ``Client.views``: use ``for``, or a method that reads all rows,
    such as ``collect`` or ``to_csv``. ``AsyncVisitors`` comes from an ``AsyncClient``: use ``async for``, and
    ``await`` the methods. You may stop and continue as with any iterator. A second pass after the end is a
    ``RuntimeError``: ask the client for a new one, or keep a table.

    Example:
        >>> next(client.visitors("2026-01"))
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
        >>> async for row in async_client.visitors("2026-01", max_rows=1):
        ...     print(row)
        {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
    """

    def __aiter__(self) -> AsyncIterator[VisitorRow]: ...
    def __anext__(self) -> Coroutine[Any, Any, VisitorRow]: ...
    def totals(self) -> Coroutine[Any, Any, Totals]:
        """Returns the totals of the whole site in the range, which come with the first page of rows. Fetches that page if
        it was not fetched yet.

        Returns:
            ``Totals``: a named tuple ``(human, ai, total)`` of int.

        Raises:
            DocPlatformError: The read failed after all retries. The class says how: ``StatusError`` (the service
                refused it), ``ConnectError``, ``RequestTimeoutError``, ``TransportError`` or ``ResponseError`` (the
                answer cannot be read).
            RuntimeError: ``max_rows=0``, so there is no page.

        Example:
            >>> client.visitors("2026-01").totals()
            Totals(human=94961, ai=53659, total=147011)
            >>> await async_client.visitors("2026-01").totals()
            Totals(human=94961, ai=53659, total=147011)
        """
    def pages(self) -> AsyncIterator[VisitorsPage]:
        """Returns the remaining rows page by page, as the service sends them.

        Returns:
            An iterator of ``RowsPage``, or ``VisitorsPage`` for visitors and views. With ``AsyncRows`` it is an
            asynchronous one.

        Raises:
            RuntimeError: The rows were read to their end before.
            DocPlatformError: While pages are read: the read failed after all retries. ``error.checkpoint`` continues
                after the last page.

        Example:
            >>> [len(page.rows) for page in client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
            >>> [len(page.rows) async for page in async_client.visitors("2026-01").pages()]
            [250, 250, 250, 250]
        """
    def collect(self, progress: bool | None = None) -> Coroutine[Any, Any, VisitorTable]:
        """Returns all remaining rows as a table.

        Rows that the service repeats are found over the whole export. The table of visitors or
        views needs about 60 bytes of memory per row; one with texts needs more.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A ``Table``; of visitors and views a ``VisitorTable``.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").collect()
            VisitorTable(1000 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
            >>> len(await async_client.visitors("2026-01").collect())
            1000
        """
    def to_dicts(self, *, progress: bool | None = None) -> Coroutine[Any, Any, list[VisitorRow]]:
        """Returns all remaining rows as a list of dicts.

        Args:
            progress: Whether to show on stderr how far it is, with tqdm if that is installed; not by default.

        Returns:
            A list with one dict for each row; times are ``datetime`` in UTC.

        Raises:
            DocPlatformError: The read failed after all retries. ``error.partial`` is a table of the rows that were
                fetched, and ``error.checkpoint`` continues after them. After Ctrl-C or a cancelled task, call this
                again. No row is lost, and a ``store`` saves the pages that came, except of ``paginate``.

        Example:
            >>> client.visitors("2026-01").to_dicts()[0]
            {'path': '/', 'human': 32286, 'ai': 4829, 'total': 36971}
            >>> len(await async_client.visitors("2026-01").to_dicts())
            1000
        """
