"""The phases that a call can be in when it is ended from outside: one list for cancel, Ctrl-C, SIGTERM, exit and fork."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile

from docplatform.testing import StubRequest, StubServer

HOLD = 60.0
"""The latency that holds a request until its client gives it up."""

AT_ONCE = 10.0
"""Seconds within which what was to end has ended, also on a busy machine: without it, ``HOLD`` would be over first."""

UNKNOWN = "its outcome is unknown"
GOES_ON = "job job-1; it keeps running"
NOT_SEEN = "job job-1; wait for it with"

RARELY = "poll_interval=60, max_poll_interval=60"


def pending(stub: StubServer) -> list[StubRequest]:
    """The requests that wait for their answers."""
    return [r for r in stub.requests if r.status is None and r.disconnected is None]


def with_a_job(stub: StubServer, *statuses: str) -> None:
    """Lets the stub have a job-1, which is active."""
    stub.script_job(*statuses or ("active",))
    with stub.client() as client:
        client.create_job("Fix it")


def unread(requests: list[StubRequest]) -> int:
    """The number of answers from the first pending one on, in reading order."""
    in_order = sorted(requests, key=lambda r: int(r.query.get("offset", 0)))
    return sum(1 for _ in dropwhile(lambda r: r.status is not None, in_order))


@dataclass(frozen=True)
class Phase:
    """A call that is held somewhere.

    ``call`` is an expression over ``client``, ``hold`` (an ``on_poll`` that does not return), ``target`` (a file that is
    there already) and ``read`` (reads an iterator to its end): of either client, so it is a coroutine for ``AsyncClient``.
    ``note`` is a pattern for what the exception says of it, empty for nothing. ``answered`` requests come before it is
    reached; then ``in_flight`` others were sent, all that it sends before the first of them is answered.
    """

    call: str
    note: str = ""
    in_flight: int = 1
    answered: int = 0
    prepare: Callable[[StubServer], object] = lambda stub: None

    def begin(self, stub: StubServer) -> int:
        """Sets the stub up, with an active job-1; how many requests there were before the call."""
        with_a_job(stub)
        self.prepare(stub)
        if self.in_flight and not self.answered:
            stub.latency = HOLD
        return len(stub.requests)

    def reach(self, stub: StubServer, begun: int) -> None:
        """Returns when the call is in this phase; requests that come from now on are answered."""
        stub.wait_for(lambda s: sum(r.status is not None for r in s.requests[begun:]) >= self.answered, 30)
        if self.in_flight:
            stub.latency = HOLD
            already = len(stub.requests) if self.answered else begun
            stub.wait_for(
                lambda s: (
                    len(s.requests) > already
                    and all(r.status is not None for r in s.requests[begun:already])
                    and unread(s.requests[begun:]) >= self.in_flight
                ),
                30,
            )
        stub.latency = 0.0


def _refuse(stub: StubServer) -> None:
    stub.fail_next(429, retry_after=30, path="/job")


PHASES = {
    "a read in flight": Phase("client.get_job('job-1')"),
    "a write in flight": Phase("client.create_job('Fix it')", UNKNOWN),
    "a message in flight": Phase("client.send_message('job-1', 'And that')", UNKNOWN),
    "a write by hand in flight": Phase("client.request('POST', '/x', json={})", UNKNOWN),
    "the write of a run in flight": Phase("client.run_job('Fix it')", UNKNOWN),
    "a poll in flight": Phase("client.wait_for_job('job-1')", NOT_SEEN),
    # The answer may not have come through when the phase is said to be reached.
    "between message and poll": Phase(
        f"client.follow_up('job-1', 'And that', {RARELY})", f"{GOES_ON}|{UNKNOWN}", 0, 1
    ),
    "between polls": Phase(f"client.wait_for_job('job-1', {RARELY})", f"{GOES_ON}|{NOT_SEEN}", 0, 1),
    "in on_poll": Phase("client.wait_for_job('job-1', on_poll=hold)", f"{GOES_ON}|{NOT_SEEN}", 0, 1),
    "paused before a retry": Phase("client.get_job('job-1')", "", 0, 1, _refuse),
    "paused before a write is repeated": Phase(
        "client.create_job('Fix it')", f"{UNKNOWN}|outcome: rejected", 0, 1, _refuse
    ),
    "the first page in flight": Phase("read(client.visitors())"),
    "reading": Phase("read(client.visitors(page_size=1, prefetch=0))", answered=3),
    "reading ahead": Phase("read(client.visitors(page_size=1, prefetch=4))", in_flight=4, answered=3),
    "collecting": Phase("client.visitors(page_size=1).collect()", answered=3),
    "exporting to a file": Phase("client.visitors(page_size=1).to_csv(target)", answered=3),
}
