"""A signal during a write: the first leaves the service some time for its answer, the second ends the command (row A15)."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from helpers.cli import SCRIPT, SIGNALS
from helpers.connection import answer
from helpers.faults import APPLY, GATE, JOB, READ_ALL, SEND, FaultServer
from helpers.marks import posix
from helpers.once import posts
from helpers.phases import HOLD, pending
from helpers.scripts import Ended, Script, run_script

pytestmark = [
    pytest.mark.row("A15"),
    posix,
]

WAITS = "Waiting up to 5 s for the service's answer"
GOES_ON = "Job job-1 keeps running. To wait for it: docplatform job wait job-1"


@pytest.fixture
def gate() -> threading.Event:
    """Lets the answers to all writes go."""
    return threading.Event()


@pytest.fixture
def server(gate: threading.Event) -> Iterator[FaultServer]:
    """A service that carries a write out at once, and answers when the gate opens."""
    with FaultServer() as server:
        server.rest(READ_ALL, APPLY, GATE(gate), SEND(answer(201, JOB)))
        yield server
        gate.set()


@pytest.fixture
def env(server: FaultServer, stub: StubServer) -> dict[str, str]:
    """The settings of a command for that service."""
    return {
        "DOCPLATFORM_BASE_URL": server.url,
        "DOCPLATFORM_API_KEY": stub.api_key,
        "DOCPLATFORM_PROJECT_ID": "demo",
    }


def interrupted(
    env: dict[str, str], server: FaultServer, gate: threading.Event, number: int, *line: str, writes: int = 1
) -> Ended:
    """A command that gets a signal while its writes are in flight, and then their answers."""
    with Script(SCRIPT, *line, env=env) as script:
        server.wait_for(lambda server: len(server.applied) == writes)
        script.signal(number)
        while WAITS not in script.listen():
            pass
        gate.set()
        return script.end()


@SIGNALS
def test_an_answer_that_comes_after_the_signal_is_printed_and_recorded(
    server: FaultServer,
    env: dict[str, str],
    gate: threading.Event,
    store: Path,
    number: int,
    code: int,
    says: str,
) -> None:
    line = ("job", "create", "Fix it", "--once", "links", "--store", str(store))
    ended = interrupted(env, server, gate, number, *line)
    assert (ended.status, ended.out) == (code, "job-1\n")
    assert ended.err.splitlines()[-2:] == [f"docplatform: {says}", GOES_ON]
    again = run_script(SCRIPT, *line, env=env)
    assert (again.status, again.out, len(server.applied)) == (0, "job-1\n", 1)


@pytest.mark.parametrize(
    ("line", "out"),
    [
        (("run", "Fix it"), ""),
        (("run", "--no-wait", "Fix it"), "job-1\n"),
        (("create", "Fix it", "--json"), '"job": {"id": "job-1"}'),
        (("message", "job-1", "And that"), ""),
        (("message", "--wait", "job-1", "And that"), ""),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_every_write_is_given_the_time(
    server: FaultServer, env: dict[str, str], gate: threading.Event, line: tuple[str, ...], out: str
) -> None:
    ended = interrupted(env, server, gate, signal.SIGINT, "job", *line)
    assert ended.status == 130
    assert out in ended.out if "--json" in line else out == ended.out
    assert ended.err.splitlines()[-2:] == ["docplatform: interrupted", GOES_ON]
    assert len(server.applied) == 1


def test_of_several_jobs_those_in_flight_are_answered_and_no_other_is_created(
    server: FaultServer, env: dict[str, str], gate: threading.Event, tmp_path: Path
) -> None:
    file = tmp_path / "prompts.json"
    file.write_text(json.dumps({f"page-{number}": f"Fix page {number}" for number in range(20)}))
    line = ("job", "run", "--file", str(file), "--concurrency", "2", "--json")
    ended = interrupted(env, server, gate, signal.SIGINT, *line, writes=2)
    assert ended.status == 130, ended.err
    assert json.loads(ended.out)["error"]["message"] == "interrupted"
    jobs = json.loads(ended.out)["jobs"]
    assert [(job["name"], job["result"]) for job in jobs] == [("page-0", "unknown"), ("page-1", "unknown")]
    assert all("job-1" in (job["job"] or job["error"]["message"]) for job in jobs), jobs
    assert len(server.applied) == 2


@pytest.mark.parametrize("stored", [True, False])
def test_several_jobs_that_keep_running_are_said_to(
    server: FaultServer, env: dict[str, str], gate: threading.Event, tmp_path: Path, stored: bool
) -> None:
    file = tmp_path / "prompts.json"
    file.write_text('{"page": "Fix it"}')
    more = ["--store", str(tmp_path / "docs.db")] if stored else []
    ended = interrupted(env, server, gate, signal.SIGINT, "job", "run", "--file", str(file), *more)
    assert (ended.status, ended.out.splitlines()[1:]) == (130, ["page\tunknown\tjob-1"])
    how = (
        "Run the same command again: it creates no job twice."
        if stored
        else "To wait for one: docplatform job wait ID"
    )
    assert f"The jobs that were created keep running. {how}" in ended.err


@SIGNALS
def test_a_second_signal_ends_the_command_and_nothing_is_sent_before_somebody_has_looked(
    stub: StubServer, store: Path, number: int, code: int, says: str
) -> None:
    stub.latency = HOLD
    line = ("job", "run", "Fix it", "--once", "links", "--store", str(store))
    with Script(SCRIPT, *line, stub=stub) as script:
        stub.wait_for(pending, 30)
        script.signal(number)
        while WAITS not in script.listen():
            pass
        script.signal(number)
        ended = script.end()
    assert (ended.status, ended.out) == (code, "")
    assert f"docplatform: {says}" in ended.err
    assert f"`docplatform job once links --never-created --store {store}`. Then run this again." in ended.err
    stub.latency = 0
    assert run_script(SCRIPT, *line, stub=stub).status == 7
    assert posts(stub) == 1


def test_before_the_request_leaves_one_signal_ends_the_command(stub: StubServer, store: Path) -> None:
    """Another process is creating the job, and this one waits for that."""
    stub.latency = HOLD
    line = ("job", "create", "Fix it", "--once", "links", "--store", str(store), "-v")
    with Script(SCRIPT, *line, stub=stub) as first:
        stub.wait_for(pending, 30)
        with Script(SCRIPT, *line, stub=stub) as second:
            while "waiting for it" not in second.listen():
                pass
            second.signal(signal.SIGINT)
            ended = second.end()
        assert ended.status == 130
        assert re.search("the request was not sent", ended.err)
        assert WAITS not in ended.err
        first.signal(signal.SIGKILL)
    assert posts(stub) == 1
