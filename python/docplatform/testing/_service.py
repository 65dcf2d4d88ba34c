"""The behaviour of the service, without a socket: routes, jobs, errors, the rate limit."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import parse_qs, unquote

from docplatform.testing import _story as story
from docplatform.testing._listings import CALLER_STATS, THREAD, Listing

API_KEY = "dp_stub_0000000000000000demo"
HOUR = 3600.0
DEFAULT_LINK = "https://github.com/example/docs/pull/{number}"
"""The ``prLink`` of a job; ``{number}`` is that of the job, counted from 1."""

_header = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [\t\x20-\x7e\x80-\xff]*").fullmatch
PHRASES = {status.value: status.phrase for status in HTTPStatus}
_encode = json.JSONEncoder(separators=(",", ":")).encode
_script_lock = threading.RLock()  # a poll reads and writes what a test may be assigning


@dataclass(eq=False)
class StubRequest:
    """A request that a ``StubServer`` received, and what became of it.

    Attributes:
        method: The method, such as ``"GET"``.
        path: The path as sent: percent-encoded, without the query.
        query: The query parameters, decoded: a dict of str; a parameter that came several times is a list of str.
        headers: The headers by lower-case name: a dict. The API key is replaced: ``"Bearer ***"``.
        json: The body's JSON; ``None`` if there is none.
        time: When it was read, in seconds of ``time.monotonic()``.
        status: The HTTP status of the answer; ``None`` until it is answered.
        disconnected: When the client left before the answer, in seconds of ``time.monotonic()``; else ``None``.

    Example:
        >>> client.visitor_totals("2026-01").total
        147011
        >>> request = stub.requests[0]
        >>> request.method, request.path, request.status
        ('GET', '/v1/analytics/demo/visitors', 200)
        >>> request.headers["authorization"]
        'Bearer ***'
    """

    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    json: Any
    time: float
    status: int | None = None
    disconnected: float | None = None


@dataclass(eq=False)
class StubJob:
    """A job of a ``StubServer``, as it is served now. Every field can be set while the server runs.

    Each poll takes the next status from ``script``; when that is empty, the status stays. Setting ``status``
    empties ``script``.

    Attributes:
        id: The id, such as ``"job-1"``.
        project_id: The project's id.
        status: The status that was served last.
        prompts: The first prompt, then that of each message: a list of str.
        script: The statuses still to be shown, one for each poll: a list of str.
        pr_link: The pull request's URL, served while the status is ``completed`` or ``archived``; ``None`` for a
            job without one.
        created_at: ISO 8601 text, served as it is.
        archived_at: ISO 8601 text, served as it is; set when the job is first served as ``archived``.
        model: The AI model's name.
        source: ``repository`` and ``ref``: a dict.
        polls: How many polls were answered.

    Example:
        >>> job = client.create_job("Document release 1.4")
        >>> stub.jobs[0].status = "failed"
        >>> client.get_job(job).status
        'failed'
        >>> stub.jobs[0].polls
        1
    """

    id: str
    project_id: str
    status: str
    prompts: list[str]
    script: list[str]
    pr_link: str | None
    created_at: str
    archived_at: str | None = None
    model: str = "example-model"
    source: dict[str, str | None] = field(
        default_factory=lambda: {"repository": "example/docs", "ref": "main"}
    )
    polls: int = 0

    def __setattr__(self, name: str, value: object) -> None:
        with _script_lock:
            object.__setattr__(self, name, value)
            if name == "status":
                object.__setattr__(self, "script", [])

    def _poll(self) -> None:
        with _script_lock:
            self.polls += 1
            if self.script:
                self.status, self.script = self.script[0], self.script[1:]

    def _to_json(self) -> dict[str, Any]:
        if self.status == "archived" and self.archived_at is None:
            self.archived_at = _now()
        return {
            "id": self.id,
            "status": self.status,
            "source": self.source,
            "model": self.model,
            "prLink": self.pr_link if self.status in ("completed", "archived") else None,
            "createdAt": self.created_at,
            "archivedAt": self.archived_at,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. The server adds framing, date and request id."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Fault:
    """A fault for some requests: another answer, none, or a delay. Without a delay, ``None`` closes the connection."""

    answer: Answer | None
    times: int
    path: str
    lost: bool = False
    """Only the answer is: a write is carried out, and reads are answered."""
    after: int = 0
    """How many requests are served before."""
    delay: float | None = None
    """Seconds before the service's answer. ``None`` is a failure: an answer comes after the server's own latency, and a
    closed connection at once."""


@dataclass(slots=True)
class Call:
    """A request with what must not, or need not, be recorded of it."""

    request: StubRequest
    authorization: str
    broken_json: bool


class Refusal(Exception):  # noqa: N818  # an answer, not a fault of the stub
    """Raised wherever a request cannot be served; carries the answer."""

    def __init__(self, status: int, message: str, *details: str, **headers: str) -> None:
        super().__init__(message)
        body: dict[str, Any] = {"error": message}
        if details:
            body["details"] = [{"message": detail} for detail in details]
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        self.answer = Answer(status, _encode(body).encode(), named)


def make_answer(status: int, body: object, headers: Sequence[tuple[str, str]]) -> Answer:
    """An answer that a test asked for. A header that would break the framing is a ``ValueError``."""
    if not 200 <= status <= 599:
        raise ValueError(f"status must be from 200 to 599, not {status}")
    for name, value in headers:
        if not _header(f"{name}: {value}"):
            raise ValueError(f"{name!r} is not a header that can be sent")
        if name.lower() in ("content-length", "transfer-encoding", "connection"):
            raise ValueError(f"{name} is set by the stub")
    if body is None:
        body = {} if status < 400 else {"error": PHRASES.get(status, "Unknown")}
    if not isinstance(body, str | bytes):
        body = json.dumps(body)
    data = body.encode() if isinstance(body, str) else body
    return Answer(status, b"" if status in (204, 304) else data, tuple(headers))


def read_call(method: str, target: str, headers: dict[str, str], body: bytes) -> Call:
    """Make the record of a request. ``headers`` becomes a part of it, with credentials masked."""
    authorization = headers.get("authorization", "")
    for name in ("authorization", "proxy-authorization", "x-api-key", "cookie"):
        if name in headers:
            bearer = headers[name][:7].lower() == "bearer "
            headers[name] = "Bearer ***" if bearer else "***"
    path, _, query = target.partition("?")
    value, broken = None, False
    if body:
        try:
            value = json.loads(body.decode(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            broken = True
    values = parse_qs(query, keep_blank_values=True)
    decoded = {name: each if each[1:] else each[0] for name, each in values.items()}
    request = StubRequest(method, path, decoded, headers, value, time.monotonic())
    return Call(request, authorization, broken)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")  # Python's parser would take NaN and Infinity


def check_sender(request: StubRequest, hosts: frozenset[str]) -> None:
    """Refuse what a web page may have sent: a page cannot hide its origin, nor choose the host."""
    if "origin" in request.headers:
        raise Refusal(403, "Requests from web pages are refused")
    if request.headers["host"].lower() not in hosts:
        raise Refusal(403, "The Host header does not name this server")


class Hours:
    """Counts what was granted in the last hour, for each name, up to ``most``."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self.granted: defaultdict[str, deque[float]] = defaultdict(deque)

    def take(self, name: str, now: float) -> None:
        """Count one more. Raises :class:`Refusal` if none is left."""
        if self._most is None:
            return
        granted = self.granted[name]
        while granted and granted[0] <= now - HOUR:
            granted.popleft()
        if len(granted) >= self._most:
            free = granted[0] + HOUR - now if granted else HOUR
            raise Refusal(429, "Rate limit exceeded", Retry_After=str(max(1, ceil(free))))
        granted.append(now)


@dataclass(kw_only=True)
class Service:
    """The state of the service and its rules. Not locked: the caller's lock is held throughout."""

    listings: Mapping[str, Listing]
    projects: Sequence[str] | None
    active_polls: int
    stale_polls: int
    page_cap: int | None
    analytics: Hours
    """The requests of all projects."""
    created: Hours
    """The jobs of each project."""
    jobs: list[StubJob] = field(default_factory=list)
    jobs_by_id: dict[str, StubJob] = field(default_factory=dict)
    scripts: deque[tuple[list[str], str | None]] = field(default_factory=deque)
    """The statuses and links of jobs to come."""
    _api_key: str = API_KEY
    _clock: Callable[[], float] = time.monotonic

    def reset(self) -> None:
        """Back to how it was when new."""
        self.jobs.clear()
        self.jobs_by_id.clear()
        self.scripts.clear()
        self.analytics.granted.clear()
        self.created.granted.clear()

    def answer(self, call: Call) -> Answer:
        """Do what is asked for. Raises :class:`Refusal`."""
        scheme, _, key = call.authorization.partition(" ")
        if scheme.lower() != "bearer" or key != self._api_key:
            raise Refusal(401, "Missing or unknown API key", WWW_Authenticate="Bearer")
        method = call.request.method
        match [unquote(part) for part in call.request.path.split("/")]:
            case ["", "v2", "agent", project, "job"]:
                self._check(method, "POST", project)
                prompt = _prompt(call)
                self.created.take(project, self._clock())
                return _job_answer(201, self._create(project, prompt))
            case ["", "v2", "agent", project, "job", job_id]:
                self._check(method, "GET", project)
                job = self._find(project, job_id)
                job._poll()
                return _job_answer(200, job)
            case ["", "v2", "agent", project, "job", job_id, "message"]:
                self._check(method, "POST", project)
                job = self._find(project, job_id)
                return _job_answer(200, self._message(job, _prompt(call)))
            case ["", "v1", "analytics", project, "assistant", "threads", name]:
                self._check(method, "GET", project)
                if name != THREAD["threadId"]:
                    raise Refusal(404, "No such conversation")
                return self._object(THREAD)
            case ["", "v1", "analytics", project, "assistant", "caller-stats"]:
                self._check(method, "GET", project)
                return self._object(CALLER_STATS)
            case ["", "v1", "analytics", project, *names] if listing := self.listings.get("/".join(names)):
                self._check(method, "GET", project)
                return self._page("/".join(names), call, listing)
        raise Refusal(404, "No such path")

    def _check(self, method: str, allowed: str, project: str) -> None:
        if method != allowed:
            raise Refusal(405, "Method not allowed", Allow=allowed)
        if self.projects is not None and project not in self.projects:
            raise Refusal(404, "No such project")

    def _create(self, project: str, prompt: str) -> StubJob:
        number = len(self.jobs) + 1
        usual = (["active"] * self.active_polls + ["completed"], DEFAULT_LINK)
        script, link = self.scripts.popleft() if self.scripts else usual
        link = link and link.replace("{number}", str(number))
        job = StubJob(f"job-{number}", project, "active", [prompt], script, link, _now())
        self.jobs.append(job)
        self.jobs_by_id[job.id] = job
        return job

    def _problems(self, day: int) -> list[story.Problem]:
        """The problems that readers have on a day. A page that a completed job was for has none after the job's day."""
        before = date.fromordinal(max(day, 1)).isoformat()
        done = [
            job.prompts[0] for job in self.jobs if job.status == "completed" and str(job.created_at) < before
        ]
        return [one for one in story.PROBLEMS if not any(one.path in prompt for prompt in done)]

    def _find(self, project: str, job_id: str) -> StubJob:
        job = self.jobs_by_id.get(job_id)
        if job is None or job.id != job_id:  # a test may have given a job another id
            job = next((job for job in self.jobs if job.id == job_id), None)
        if job is None or job.project_id != project:
            raise Refusal(404, "No such job")
        return job

    def _message(self, job: StubJob, prompt: str) -> StubJob:
        with _script_lock:
            job.prompts.append(prompt)
            stale = [job.status] * self.stale_polls
            job.status = job.status if stale else "active"
            job.script = [*stale, *["active"] * self.active_polls, "completed"]
            job.archived_at = None
        return job

    def _object(self, value: Mapping[str, Any]) -> Answer:
        self.analytics.take("", self._clock())
        return Answer(200, _encode(value).encode())

    def _page(self, name: str, call: Call, listing: Listing) -> Answer:
        try:
            # The last value of a repeated parameter counts.
            given = call.request.query.items()
            query = listing.parse({key: each[-1] if isinstance(each, list) else each for key, each in given})
        except ValueError as error:
            raise Refusal(400, "Invalid request", str(error)) from error
        self.analytics.take("", self._clock())
        limit = min(query.limit, self.page_cap or query.limit)
        try:
            return Answer(200, listing.page(replace(query, limit=limit), self._problems(query.days.start)))
        except Exception as error:  # a test may serve rows of its own making: tell it
            what = f"{name}: {type(error).__name__}: {error}"
            raise Refusal(500, "The stub cannot serve these rows", what) from error


def _job_answer(status: int, job: StubJob) -> Answer:
    try:
        return Answer(status, _encode(job._to_json()).encode())
    except (TypeError, ValueError) as error:  # a test may assign anything: tell it
        raise Refusal(500, "The stub cannot serve this job", f"{job.id}: {error}") from error


def _prompt(call: Call) -> str:
    if call.broken_json:
        raise Refusal(400, "The body is not valid JSON")
    body = call.request.json
    prompt = body.get("prompt") if isinstance(body, dict) else None
    if not isinstance(prompt, str) or not prompt:
        raise Refusal(400, "Invalid request", "prompt: must be a string of at least 1 character")
    return prompt


def _now() -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return now.replace("+00:00", "Z")
