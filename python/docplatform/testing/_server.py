"""The stub server itself: its thread, what it records, and the faults that a test sets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, cast

from docplatform.testing._http import App, Exchange, Received, ServerThread, bind
from docplatform.testing._listings import CursorListing, Given
from docplatform.testing._service import (
    DEFAULT_LINK,
    Answer,
    Call,
    Fault,
    Refusal,
    Service,
    StubJob,
    StubRequest,
    check_sender,
    make_answer,
    read_call,
)
from docplatform.testing._visitors import Served, listing

if TYPE_CHECKING:
    from docplatform import AsyncClient, Client

API_KEY = "dp_stub_0000000000000000demo"


class StubServer:
    """The service, on loopback, for tests.

    Example::

        with StubServer(visitors=500, active_polls=1) as stub, stub.client() as client:
            stub.fail_next(status=503, path="/job/")
            assert client.run_job("Update the changelog", poll_interval=0.01).is_final

    Args:
        visitors: How many pages the made-up site has (see below); or the rows themselves, served as
            they are, in their order, whatever the dates; or a function of the first day and of the
            day after the last one, both a ``date``, which is called for every request and returns
            the rows of that range.
        active_polls: How many polls show a job as ``active`` before it is ``completed``.
        latency: Seconds before each answer. What a request does is done when it has been read.
        requests_per_hour: How many analytics requests are answered in any 3,600 seconds, over all
            projects; the others get a 429. Only those answered count. ``None``: no limit.
        stale_polls: How many polls after a message still show the status from before it.
        page_cap: The maximum number of rows per page, whatever ``limit`` asks for. ``None``: no cap.
        projects: The ids of the projects there are. All have the same visitors.
        port: The port on ``127.0.0.1`` and ``::1``; 0 takes a free one.
        totals: The totals of visitors to serve. By default those of the made-up site, and for rows of
            yours their sums, which the service's own, deduplicated, would not be.
        views: The same as ``visitors``, for page views. ``None``: as many pages of the made-up site
            as ``visitors`` says, or the rows of ``visitors``.

        searches: How many rows this listing has, made up and the same in every run; or the rows; or a
            function of the first day and of the day after the last one that returns them.
        feedback: The same for feedback. ``source`` and ``status`` choose among the rows.
        feedback_by_page: The same for feedback by page, of which more rows than ``limit`` are cut off.
        conversations: The same for the assistant's turns.

    A setting out of range is a ``ValueError``, one of a wrong type a ``TypeError``.

    The made-up site tells a story, the same in every run. People come on workdays and stay away at weekends;
    they grow by a quarter a year, and AI agents faster. Releases in March and October bring a rush, and pages that
    fall from then on. Every month has new paths, and paths that are gone. AI agents read ``/llms.txt``, people do not.
    """

    def __init__(
        self,
        visitors: Served = 1_000,
        active_polls: int = 2,
        latency: float | timedelta = 0.0,
        requests_per_hour: int | None = None,
        *,
        stale_polls: int = 0,
        page_cap: int | None = None,
        projects: Sequence[str] = ("demo",),
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
        if not projects or not all(projects):
            raise ValueError("projects must name at least one project, and none may be empty")
        self.latency = latency
        self._port = _at_least(0, port, "port")
        if port > 65_535:
            raise ValueError(f"port must be at most 65535, not {port}")
        self._projects = tuple(projects)
        self._service = Service(
            {
                "visitors": listing("visitors", visitors, totals),
                "views": listing("views", visitors if views is None else views),
            },
            {
                "searches": CursorListing("searches", searches),
                "feedback": CursorListing("feedback", feedback),
                "feedback/by-page": CursorListing("feedback/by-page", feedback_by_page),
                "assistant": CursorListing("assistant", conversations),
            },
            api_key=API_KEY,
            projects=self._projects,
            active_polls=_at_least(0, active_polls, "active_polls"),
            stale_polls=_at_least(0, stale_polls, "stale_polls"),
            requests_per_hour=None
            if requests_per_hour is None
            else _at_least(0, requests_per_hour, "requests_per_hour"),
            page_cap=None if page_cap is None else _at_least(1, page_cap, "page_cap"),
        )
        self._changed = threading.Condition()  # guards all below, and the service
        self._events = 0
        self._requests: list[StubRequest] = []
        self._faults: list[Fault] = []
        self._open = self._peak = 0
        self._hosts: frozenset[str] = frozenset()
        self._thread: ServerThread | None = None

    # -- life ------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Listen, and return the stub itself. Does nothing while it runs.

        After :meth:`close` it starts again on the port it had, with what it had recorded. Raises
        ``OSError`` where the port is taken.
        """
        if self._thread is None:
            sockets = bind(self._port)
            self._port = sockets[0].getsockname()[1]
            names = ("127.0.0.1", "[::1]", "localhost")
            bare = names if self._port == 80 else ()  # clients leave out the default port
            self._hosts = frozenset((*bare, *(f"{name}:{self._port}" for name in names)))
            app = App(self._opened, self._closed, self._received, self._answered, self._abandoned)
            self._thread = ServerThread(sockets, app)
        return self

    def close(self) -> None:
        """Close every connection and the port, and wait for the thread to end. May be repeated."""
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
        """The base URL, such as ``"http://127.0.0.1:49152"``. Known from the first start on."""
        if not self._hosts:
            raise RuntimeError("The stub has no address yet: start() it, or use it in a with block")
        return f"http://127.0.0.1:{self._port}"

    @property
    def api_key(self) -> str:
        """The one key that is accepted: a demo key, the same in every run, and no secret."""
        return API_KEY

    @property
    def project_id(self) -> str:
        """The first of ``projects``: ``"demo"`` unless others were given."""
        return self._projects[0]

    @property
    def requests(self) -> list[StubRequest]:
        """What arrived, oldest first, kept until :meth:`reset`: a new list of the live records.

        What was not read whole, as it is no HTTP or too large, is not among them.
        """
        with self._changed:
            return list(self._requests)

    @property
    def jobs(self) -> list[StubJob]:
        """What was created, oldest first: a new list of the live jobs, whose fields can be set."""
        with self._changed:
            return list(self._service.jobs)

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return self._open

    @property
    def peak_connections(self) -> int:
        """The most connections that were open at one time, since the start or :meth:`reset`."""
        return self._peak

    def wait_for(self, predicate: Callable[[StubServer], object], timeout: float | timedelta = 5.0) -> None:
        """Block until ``predicate(stub)`` is true; ``TimeoutError`` after ``timeout`` seconds.

        It is asked again whenever a request arrives or is answered, or a connection opens or
        closes. The error says what did happen.

        Example: ``stub.wait_for(lambda s: s.requests and s.requests[-1].disconnected)``.
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
        """Seconds before each answer; may be set while the stub runs, for the requests to come."""
        return self._latency

    @latency.setter
    def latency(self, value: float | timedelta) -> None:
        self._latency = _seconds(value, "latency")

    def client(self, **settings: Any) -> Client:
        """A :class:`docplatform.Client` for this stub. Takes the settings of ``Client``.

        Example: ``stub.client(max_retries=0)``.
        """
        from docplatform import Client

        return Client(**self._client_settings(settings))

    def async_client(self, **settings: Any) -> AsyncClient:
        """A :class:`docplatform.AsyncClient` for this stub; see :meth:`client`."""
        from docplatform import AsyncClient

        return AsyncClient(**self._client_settings(settings))

    def fail_next(
        self,
        status: int = 503,
        *,
        times: int = 1,
        retry_after: float | timedelta | str | None = None,
        path: str | None = None,
        drop: bool = False,
        body: object = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
    ) -> None:
        """Answer the next requests with a fault. They are recorded, and do nothing else.

        Args:
            status: The status, 200 to 599.
            times: How many requests.
            retry_after: The ``Retry-After`` header: seconds, or any text as it is.
            path: Only requests whose path, as sent, contains this text.
            drop: Close the connection unanswered instead, once the request was read.
            body: ``str`` and ``bytes`` are sent as they are, anything else as JSON. By default
                ``{"error": ...}``, or ``{}`` for a status below 400.
            headers: Further headers, as a mapping or pairs. They replace ``Content-Type``
                (``application/json``), ``Date`` and ``x-request-id``; the framing cannot be set.

        Several calls queue up: a request gets the oldest fault that fits its path. Faults come
        before everything the service would check, but not before the refusal of other hosts.

        Example: ``stub.fail_next(status=429, times=2, retry_after=1, path="/visitors")``.
        """
        given = headers.items() if isinstance(headers, Mapping) else headers or ()
        pairs = list(cast("Iterable[tuple[str, str]]", given))
        if retry_after is not None:
            text = retry_after
            if not isinstance(text, str):
                text = f"{_seconds(text, 'retry_after'):f}".rstrip("0").rstrip(".")
            pairs.append(("Retry-After", text))
        answer = None if drop else make_answer(status, body, pairs)
        fault = Fault(answer, _at_least(1, times, "times"), path or "")
        with self._changed:
            self._faults.append(fault)

    def script_job(self, *statuses: str, pr_link: str | None = DEFAULT_LINK) -> None:
        """Let the next job created show these statuses, one for each poll, the last for ever.

        The answer to its creation is ``active`` all the same. ``pr_link`` is served with
        ``completed`` and ``archived``; ``{number}`` in it becomes the number of the job, and
        ``None`` stands for a job without a pull request. Several calls queue up. A message to the job ends the
        script: what follows is the usual ``active``, then ``completed``.

        Example: ``stub.script_job("active", "paused", "failed")``.
        """
        if not statuses:
            raise ValueError("script_job needs at least one status")
        with self._changed:
            self._service.script(list(statuses), pr_link)

    def reset(self) -> None:
        """Forget jobs, scripts, requests, faults, the spent rate limit, and the peak."""
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
        call = read_call(received.method, received.target, received.headers, received.body)
        with self._changed:
            self._requests.append(call.request)
            # With the latency of this moment: who waits for the request may set another as soon as it is seen.
            exchange = Exchange(call.request, self._decide(call), self._latency)
            self._notify()
        return exchange

    def _answered(self, request: StubRequest, status: int) -> None:
        with self._changed:
            request.status = status
            self._notify()

    def _abandoned(self, request: StubRequest) -> None:
        with self._changed:
            request.disconnected = time.monotonic()
            self._notify()

    def _notify(self) -> None:
        self._events += 1
        self._changed.notify_all()

    def _decide(self, call: Call) -> Answer | None:
        try:
            check_sender(call.request, self._hosts)
            for fault in self._faults:
                if fault.path in call.request.path:
                    fault.times -= 1
                    if not fault.times:
                        self._faults.remove(fault)
                    return fault.answer
            return self._service.answer(call)
        except Refusal as refusal:
            return refusal.answer

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
            # A test never writes to the store that the environment names.
            "store": "",
            **settings,
        }


def _at_least(least: int, value: int, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


def _seconds(value: float | timedelta, name: str) -> float:
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} must be a number of seconds from 0 on, not {value}")
    return seconds
