"""The stub server itself: its thread, what it records, and the faults that a test sets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Self, cast

from docplatform import AsyncClient, Client
from docplatform.testing._listings import CursorListing, Given
from docplatform.testing._service import (
    API_KEY,
    DEFAULT_LINK,
    Answer,
    Call,
    Fault,
    Hours,
    Refusal,
    Service,
    StubJob,
    StubRequest,
    check_sender,
    make_answer,
    read_call,
)
from docplatform.testing._visitors import Served, listing

from ._http import Exchange, Received, ServerThread, bind


class StubServer:
    """A stand-in for the service that listens on this machine only, for tests and for trying things out.

    The real client talks to it over a real connection, so timeouts, retries, paging and cancelling happen as with
    the service. Its site is made up and the same in every run: people come mostly on workdays;
    they grow by a quarter a year (2020 to 2031), and AI agents faster. Releases in March and October bring a rush, and pages that
    fall from then on. Every month has new paths, and paths that are gone. AI agents read ``/llms.txt``, people
    hardly do.

    Args:
        visitors: How many pages the site has; or the rows to serve, as they are, whatever the dates; or a function
            of the first day and of the day after the last day (two ``date``) that returns the rows of that range
            and is called for every request. 1,000 pages by default.
        active_polls: How many polls show a job as ``active`` before it is ``completed``; 2 by default.
        latency: Seconds before each answer; 0 by default.
        requests_per_hour: How many analytics requests are answered in any hour, over all projects; the others get a
            429. By default there is no limit.
        jobs_per_hour: How many jobs are created in any hour in one project; the others get a 429. By default there is
            no limit.
        stale_polls: How many polls after a message still show the status from before it; 0 by default.
        page_cap: The largest number of rows per page, whatever the client asks for. By default there is no cap.
        projects: The ids of the projects; others get a 404. By default any id is one. All have the same visitors.
        port: The port on ``127.0.0.1`` and ``::1``; 0, the default, takes a free one.
        totals: The totals of visitors. By default those of the site; for rows of your own their sums, although the
            service's would be smaller.
        views: The page views, in the forms of ``visitors``. By default as many pages as there are of visitors, or
            the rows of ``visitors``.
        searches: The searches: how many rows are made up, whatever the range; or the rows; or a function as for
            ``visitors``. 120 by default. Made-up counts of searches and of feedback by page add up over ranges.
            Readers stumble over some made-up pages. Once a job whose prompt names such a page is completed, readers
            have no problem with it in ranges that begin after the job's day.
        feedback: The feedback, in the same forms. ``source`` and ``status`` choose among the rows. 80 by default.
        feedback_by_page: The feedback by page, in the same forms; the rows beyond ``limit`` are cut off. ``source`` and
            ``status`` choose among rows that have them; made-up ones do not. 30 by default.
        conversations: The assistant's questions and answers, in the same forms. 200 by default.

    Raises:
        ValueError: A setting is out of range.
        TypeError: A setting has the wrong type.

    Example:
        >>> with StubServer(visitors=500, active_polls=1) as stub, stub.client() as client:
        ...     print(len(client.visitors("2026-01").collect()))
        ...     print(client.run_job("Update the changelog", poll_interval=0.1).status)
        500
        completed
    """

    def __init__(
        self,
        visitors: Served = 1_000,
        active_polls: int = 2,
        latency: float | timedelta = 0.0,
        requests_per_hour: int | None = None,
        *,
        jobs_per_hour: int | None = None,
        stale_polls: int = 0,
        page_cap: int | None = None,
        projects: Sequence[str] | None = None,
        port: int = 0,
        totals: Mapping[str, Any] | None = None,
        views: Served | None = None,
        searches: Given = 120,
        feedback: Given = 80,
        feedback_by_page: Given = 30,
        conversations: Given = 200,
    ) -> None:
        if isinstance(projects, str):
            raise TypeError("projects must be a sequence of ids, not one string")
        if projects is not None and (not projects or not all(projects)):
            raise ValueError("projects must name at least one project, and none may be empty")
        self.latency = latency
        self._port = _at_least(0, port, "port")
        if port > 65_535:
            raise ValueError(f"port must be at most 65535, not {port}")
        self._projects = None if projects is None else tuple(projects)
        by_cursor = {
            "searches": searches,
            "feedback": feedback,
            "feedback/by-page": feedback_by_page,
            "assistant": conversations,
        }
        self._service = Service(
            listings={
                "visitors": listing("visitors", visitors, totals),
                "views": listing("views", visitors if views is None else views),
                **{name: CursorListing(name, given) for name, given in by_cursor.items()},
            },
            projects=self._projects,
            active_polls=_at_least(0, active_polls, "active_polls"),
            stale_polls=_at_least(0, stale_polls, "stale_polls"),
            analytics=Hours(_limit(0, requests_per_hour, "requests_per_hour")),
            created=Hours(_limit(0, jobs_per_hour, "jobs_per_hour")),
            page_cap=_limit(1, page_cap, "page_cap"),
        )
        self._changed = threading.Condition()  # guards the service, and what is counted and recorded below
        self._events = 0
        self._requests: list[StubRequest] = []
        self._faults: list[Fault] = []
        self._open = self._peak = 0
        self._hosts: frozenset[str] = frozenset()
        self._thread: ServerThread | None = None

    # -- life ------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Starts to listen, and returns the server itself. Does nothing if it runs already. A ``with`` block calls it.

        After ``close`` it starts again on the same port, and still has what it recorded.

        Returns:
            The same ``StubServer``.

        Raises:
            OSError: The port is in use.

        Example:
            >>> stub = StubServer(visitors=3).start()
            >>> stub.client().visitor_totals("2026-01").total > 0
            True
            >>> stub.close()
        """
        if self._thread is None:
            sockets = bind(self._port)
            self._port = sockets[0].getsockname()[1]
            names = ("127.0.0.1", "[::1]", "localhost")
            bare = names if self._port == 80 else ()  # clients leave out the default port
            self._hosts = frozenset((*bare, *(f"{name}:{self._port}" for name in names)))
            self._thread = ServerThread(sockets, self)
        return self

    def close(self) -> None:
        """Closes all connections and the port, and waits for the server's thread to end. Calling it again does nothing.

        Example:
            >>> stub = StubServer().start()
            >>> stub.close()
            >>> stub.connections
            0
        """
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def __enter__(self) -> Self:
        """Start the stub."""
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        """Close the stub."""
        self.close()

    def __repr__(self) -> str:
        state = "running" if self._thread else "closed"
        return f"<StubServer on port {self._port}, {state}>"

    # -- what a test reads -----------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The base URL for a client: a str, known from the first start on. Before that it is a ``RuntimeError``.

        Example:
            >>> stub.url
            'http://127.0.0.1:...'
        """
        if not self._hosts:
            raise RuntimeError("The stub has no address yet: start() it, or use it in a with block")
        return f"http://127.0.0.1:{self._port}"

    @property
    def api_key(self) -> str:
        """The only API key that is accepted: a str. It is a demo key, the same in every run, and no secret.

        Example:
            >>> stub.api_key
            'dp_stub_0000000000000000demo'
        """
        return API_KEY

    @property
    def project_id(self) -> str:
        """The first of ``projects``: a str, ``"demo"`` by default.

        Example:
            >>> stub.project_id
            'demo'
        """
        return "demo" if self._projects is None else self._projects[0]

    @property
    def requests(self) -> list[StubRequest]:
        """The requests that arrived since the first start or the last ``reset``, oldest first: a new list of ``StubRequest``.

        A request that could not be read completely, because it is not HTTP or too large, is not in it.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> stub.requests[0].query["dateFrom"]
            '2026-01-01'
        """
        with self._changed:
            return list(self._requests)

    @property
    def jobs(self) -> list[StubJob]:
        """The jobs that were created since the first start or the last ``reset``, oldest first: a new list of ``StubJob``, whose fields
        can be set.

        Example:
            >>> client.create_job("Document release 1.4").status
            'active'
            >>> stub.jobs[0].prompts
            ['Document release 1.4']
            >>> stub.jobs[0].status = "failed"
            >>> client.get_job("job-1").status
            'failed'
        """
        with self._changed:
            return list(self._service.jobs)

    @property
    def connections(self) -> int:
        """How many connections are open now: an int.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> stub.connections
            1
        """
        return self._open

    @property
    def peak_connections(self) -> int:
        """The largest number of connections that were open at the same time since the first start or the last ``reset``: an int.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> stub.peak_connections
            1
        """
        return self._peak

    def wait_for(self, predicate: Callable[[StubServer], object], timeout: float | timedelta = 5.0) -> None:
        """Waits until a condition is true, without sleeping: it is checked whenever a request arrives or is answered, or a
        connection opens or closes. It blocks: in a coroutine, use ``await asyncio.to_thread(stub.wait_for, …)``, so that
        the requests of its tasks can leave.

        Args:
            predicate: A function of this ``StubServer``; its result is taken as true or false.
            timeout: The longest time to wait, in seconds or as a ``timedelta``; 5 by default.

        Raises:
            TimeoutError: It was not true in time. The message lists the last requests and jobs.
            ValueError: ``timeout`` is out of range.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> stub.wait_for(lambda stub: len(stub.requests) == 1)
            >>> len(stub.requests)
            1
        """
        deadline = time.monotonic() + _seconds(timeout, "timeout")
        while True:
            with self._changed:
                seen = self._events
            # Without the lock: a predicate may well send a request of its own.
            if predicate(self):
                return
            with self._changed:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"Not true within {timeout} s. Seen: {self._describe()}")
                if self._events == seen:
                    self._changed.wait(left)

    # -- what a test sets ------------------------------------------------------------------------

    @property
    def latency(self) -> float:
        """Seconds before each answer: a float. It can be set while the server runs, for the requests that follow.

        Example:
            >>> stub.latency
            0.0
            >>> stub.latency = 0.2
        """
        return self._latency

    @latency.setter
    def latency(self, value: float | timedelta) -> None:
        self._latency = _seconds(value, "latency")

    def client(self, **settings: Any) -> Client:
        """Returns a ``Client`` for this server, which needs no settings. It uses no store unless you name one.

        Args:
            settings: The settings of ``Client``, by name.

        Returns:
            A ``docplatform.Client``.

        Raises:
            ValueError: A setting is out of range.
            RuntimeError: The server was not started.

        Example:
            >>> with stub.client(max_retries=0) as client:
            ...     print(client.visitor_totals("2026-01").total)
            147011
        """
        return Client(**self._client_settings(settings))

    def async_client(self, **settings: Any) -> AsyncClient:
        """Returns an ``AsyncClient`` for this server, which needs no settings. It uses no store unless you name one.

        Args:
            settings: The settings of ``AsyncClient``, by name.

        Returns:
            A ``docplatform.AsyncClient``.

        Raises:
            ValueError: A setting is out of range.
            RuntimeError: The server was not started.

        Example:
            >>> async with stub.async_client(max_retries=0) as async_client:
            ...     print((await async_client.visitor_totals("2026-01")).total)
            147011
        """
        return AsyncClient(**self._client_settings(settings))

    def fail_next(
        self,
        status: int = 503,
        *,
        times: int = 1,
        after: int = 0,
        retry_after: float | timedelta | str | None = None,
        path: str | None = None,
        drop: bool = False,
        lost: bool = False,
        body: object = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
    ) -> None:
        """Lets the next requests fail. They are recorded, and have no other effect, except with ``lost``.

        Several calls queue up: a request gets the oldest failure that fits its path and is due.

        Args:
            status: The HTTP status of the answer, 200 to 599; 503 by default.
            times: How many requests fail; 1 by default.
            after: How many requests that fit ``path`` (with ``lost``, writes) are let by before; 0 by default. ``after=6`` fails the seventh page
                of an export.
            retry_after: The ``Retry-After`` header: whole seconds, a ``timedelta``, or a str that is sent as it is. A
                client ignores a header with a fraction of a second.
            path: Only requests whose path contains this text; all by default.
            drop: Whether to close the connection instead of answering, after the request was read; false by default.
            lost: Whether to carry a write out and then close the connection instead of answering: the job is created, and its
                creator does not know. Reads are answered. False by default.
            body: The body: ``str`` and ``bytes`` are sent as they are, anything else as JSON. By default ``{"error":
                …}``, or ``{}`` for a status below 400.
            headers: Further headers, as a mapping or pairs. They replace ``Content-Type``, ``Date`` and
                ``x-request-id``.

        Raises:
            ValueError: A value is out of range, or a header cannot be sent.
            TypeError: A value has the wrong type.

        Example:
            >>> stub.fail_next(status=429, times=2, retry_after=1, path="/visitors")
            >>> client.visitor_totals("2026-01").total
            147011
            >>> [request.status for request in stub.requests]
            [429, 429, 200]
        """
        given = headers.items() if isinstance(headers, Mapping) else headers or ()
        pairs = list(cast("Iterable[tuple[str, str]]", given))
        if retry_after is not None:
            text = retry_after
            if not isinstance(text, str):
                text = f"{_seconds(text, 'retry_after'):f}".rstrip("0").rstrip(".")
            pairs.append(("Retry-After", text))
        answer = None if drop or lost else make_answer(status, body, pairs)
        self._queue(answer, times, path, lost=lost, after=_at_least(0, after, "after"))

    def slow_next(self, seconds: float | timedelta, *, times: int = 1, path: str | None = None) -> None:
        """Lets the next requests wait for their answer; ``latency`` is for all requests.

        They queue up with the failures of ``fail_next``: a request gets the oldest one that fits its path.

        Args:
            seconds: Seconds before the answer, or a ``timedelta``. They replace ``latency``.
            times: How many requests are slow; 1 by default.
            path: Only requests whose path contains this text; all by default.

        Raises:
            ValueError: A value is out of range.
            TypeError: A value has the wrong type.

        Example:
            >>> stub.slow_next(5.0, path="/visitors")
            >>> with stub.client(timeout=0.2, max_retries=1) as client:
            ...     print(client.visitor_totals("2026-01").total, client.stats.retries)
            147011 1
        """
        self._queue(None, times, path, delay=_seconds(seconds, "seconds"))

    def _queue(self, answer: Answer | None, times: int, path: str | None, **more: Any) -> None:
        if path is not None and not isinstance(path, str):
            raise TypeError(f"path must be a str, not {type(path).__name__}")
        fault = Fault(answer, _at_least(1, times, "times"), path or "", **more)
        with self._changed:
            self._faults.append(fault)

    def script_job(self, *statuses: str, pr_link: str | None = DEFAULT_LINK) -> None:
        """Sets the statuses that the next job shows, one for each poll; the last one stays. Several calls queue up.

        The answer to the job's creation shows ``active`` in any case. A message to the job ends the script: ``active``
        and ``completed`` follow.

        Args:
            statuses: The statuses, at least one.
            pr_link: The pull request's URL, served with ``completed`` and ``archived``; ``{number}`` in it becomes the
                number of the job. ``None`` is a job without a pull request.

        Raises:
            ValueError: There is no status.
            TypeError: A status is not a str.

        Example:
            >>> stub.script_job("active", "failed")
            >>> client.run_job("Document release 1.4", poll_interval=0.1, check=False).status
            'failed'
        """
        if not statuses:
            raise ValueError("script_job needs at least one status")
        if not all(isinstance(status, str) for status in statuses):
            raise TypeError('script_job takes strs, such as script_job("active", "failed")')
        with self._changed:
            self._service.scripts.append((list(statuses), pr_link))

    def reset(self) -> None:
        """Forgets jobs, scripts, requests, failures and delays to come, and the used rate limit.

        Example:
            >>> client.visitor_totals("2026-01").total
            147011
            >>> stub.reset()
            >>> stub.requests
            []
        """
        with self._changed:
            self._service.reset()
            self._requests.clear()
            self._faults.clear()
            self._peak = self._open

    # -- what the wire reports, in the server's thread -------------------------------------------

    def _opened(self) -> None:
        with self._changed:
            self._open += 1
            self._peak = max(self._peak, self._open)
            self._notify()

    def _closed(self) -> None:
        with self._changed:
            self._open -= 1
            self._notify()

    def _received(self, received: Received) -> Exchange:
        call = read_call(*received[:4])
        with self._changed:
            self._requests.append(call.request)
            exchange = Exchange(call.request, *self._decide(call))
            self._notify()
        return exchange

    def _answered(self, request: StubRequest, status: int) -> None:
        with self._changed:
            request.status = status
            self._notify()

    def _abandoned(self, request: StubRequest) -> None:
        """Records that the client left before its answer."""
        with self._changed:
            request.disconnected = time.monotonic()
            self._notify()

    def _notify(self) -> None:
        self._events += 1
        self._changed.notify_all()

    def _decide(self, call: Call) -> tuple[Answer | None, float]:
        # The latency is read now, because a test that waits for this request may set another one at once.
        fault, delay = None, self._latency
        try:
            check_sender(call.request, self._hosts)
            fault = self._take_fault(call.request)
            if fault is not None and fault.delay is not None:
                delay = fault.delay
            elif fault is not None and not fault.lost:
                return fault.answer, delay
            answer = self._service.answer(call)
        except Refusal as refusal:
            answer = refusal.answer
        return None if fault is not None and fault.lost else answer, delay

    def _take_fault(self, request: StubRequest) -> Fault | None:
        for fault in self._faults:
            if fault.path in request.path and not (fault.lost and request.method == "GET"):
                if fault.after:
                    fault.after -= 1
                    continue
                fault.times -= 1
                if not fault.times:
                    self._faults.remove(fault)
                return fault
        return None

    def _describe(self) -> str:
        shown = [f"{r.method} {r.path} {r.status or 'unanswered'}" for r in self._requests[-5:]]
        jobs = [f"{job.id} {job.status}" for job in self._service.jobs[-5:]]
        return (
            f"{len(self._requests)} requests ({', '.join(shown) or 'none'}), "
            f"{len(self._service.jobs)} jobs ({', '.join(jobs) or 'none'}), "
            f"{self._open} connections open"
        )

    def _client_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {
            "api_key": self.api_key,
            "base_url": self.url,
            "project_id": self.project_id,
            # A test never writes to the store that the environment names, and has its own budget to itself.
            "store": "",
            "reserve": 0,
            **settings,
        }


def _at_least(least: int, value: int, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


def _limit(least: int, value: int | None, name: str) -> int | None:
    return None if value is None else _at_least(least, value, name)


def _seconds(value: float | timedelta, name: str) -> float:
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} must be a number of seconds from 0 on, not {value}")
    return seconds
