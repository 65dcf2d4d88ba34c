"""The phases in which a call of ``AsyncClient`` can be cancelled, and the ways to cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from docplatform import AsyncClient, Job
from docplatform.testing import StubRequest, StubServer

HOLD = 60.0
"""The latency that holds a request until it is cancelled."""

UNKNOWN = "its outcome is unknown"
GOES_ON = "job job-1 goes on by itself"

AnyCoroutine: TypeAlias = Coroutine[Any, Any, Any]


def pending(stub: StubServer) -> list[StubRequest]:
    """The requests that wait for their answers."""
    return [r for r in stub.requests if r.status is None and r.disconnected is None]


class Scene:
    """A stub with an active job, and a client of it."""

    def __init__(self, stub: StubServer, client: AsyncClient, job: Job) -> None:
        self.stub = stub
        self.client = client
        self.job = job
        self.called_back = False

    def on_poll(self, job: Job) -> None:
        """Tells that a poll was seen."""
        self.called_back = True

    async def on_poll_for_ever(self, job: Job) -> None:
        """Tells that a poll was seen, and does not return."""
        self.called_back = True
        await asyncio.Event().wait()

    def answered(self, number: int) -> bool:
        """Whether so many requests were answered."""
        return sum(r.status is not None for r in self.stub.requests) >= number


@dataclass(frozen=True)
class Phase:
    """A call that is held somewhere.

    ``start`` makes it, without awaiting; ``reached`` tells when it is where it is to be cancelled. ``note`` is a
    pattern for what the exception says of it, empty for nothing; ``in_flight`` whether a request is under way there.
    """

    name: str
    start: Callable[[Scene], AnyCoroutine]
    reached: Callable[[Scene], object]
    note: str | None
    in_flight: bool = True


def _held(name: str, call: Callable[[AsyncClient, Job], AnyCoroutine], note: str | None = "") -> Phase:
    def start(scene: Scene) -> AnyCoroutine:
        scene.stub.latency = HOLD
        return call(scene.client, scene.job)

    return Phase(name, start, lambda scene: pending(scene.stub), note)


def _resting(name: str, start: Callable[[Scene], AnyCoroutine], note: str | None = None) -> Phase:
    return Phase(name, start, lambda scene: scene.answered(2), note, in_flight=False)


def _refused(path: str, call: Callable[[Scene], AnyCoroutine]) -> Callable[[Scene], AnyCoroutine]:
    def start(scene: Scene) -> AnyCoroutine:
        scene.stub.fail_next(429, retry_after=30, path=path)
        return call(scene)

    return start


_rarely: dict[str, Any] = {"poll_interval": HOLD, "max_poll_interval": HOLD}

PHASES = [
    _held("GET", lambda c, job: c.get_job(job)),
    _held("POST", lambda c, job: c.create_job("Fix it"), UNKNOWN),
    _held("POST of a message", lambda c, job: c.send_message(job, "And that"), UNKNOWN),
    _held("POST of a run", lambda c, job: c.run_job("Fix it"), UNKNOWN),
    _held("POST by hand", lambda c, job: c.request("POST", "/x", json={}), UNKNOWN),
    _held("poll", lambda c, job: c.wait_for_job(job), GOES_ON),
    _held("poll of an id", lambda c, job: c.wait_for_job(job.id), GOES_ON),
    _held("totals", lambda c, job: c.visitor_totals()),
    _held("totals of an iterator", lambda c, job: c.visitors().totals()),
    _held("first page", lambda c, job: c.visitors().__anext__()),
    Phase(
        "between polls",
        lambda s: s.client.wait_for_job(s.job, on_poll=s.on_poll, **_rarely),
        lambda s: s.called_back,
        GOES_ON,
        in_flight=False,
    ),
    Phase(
        "on_poll",
        lambda s: s.client.wait_for_job(s.job, on_poll=s.on_poll_for_ever),
        lambda s: s.called_back,
        GOES_ON,
        in_flight=False,
    ),
    # The answer may not have come through when the phase is said to be reached.
    _resting(
        "between POST and poll", lambda s: s.client.follow_up(s.job, "On", **_rarely), f"{GOES_ON}|{UNKNOWN}"
    ),
    _resting("pause of a GET", _refused("/job/", lambda s: s.client.get_job(s.job)), ""),
    _resting(
        "pause of a POST",
        _refused("/job", lambda s: s.client.create_job("Fix it")),
        f"{UNKNOWN}|outcome: rejected",
    ),
]
