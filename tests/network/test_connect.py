"""Connections that fail, come late or lead elsewhere: proven unsent (rows C17, C18, G5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docplatform import ConnectError, DocPlatformError, UnconfirmedWriteError
from helpers.children import tell
from helpers.connection import answer
from helpers.faults import APPLY, HOLD, JOB, READ_ALL, SEND, TLS, Blackhole, FaultServer
from helpers.layers import Authority
from helpers.preload import Resolver
from helpers.wire import Wire

HOST = "docs.example"


def needs(host: str) -> str:
    """A loopback address, where this machine has it."""
    try:
        FaultServer(host).__exit__()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    return host


@pytest.mark.row("C17")
def test_a_host_that_does_not_answer_ends_with_connect_timeout_and_is_retried(wire: Wire) -> None:
    with Blackhole() as nowhere:
        told = wire.not_sent(2, base_url=nowhere.url, connect_timeout=0.1, max_retries=1)
    assert "connect_timeout" in told


@pytest.mark.row("C17", "M2")
@pytest.mark.parametrize("limits", [{"timeout": 0.1}, {"deadline": 0.2}], ids=["timeout", "deadline"])
@pytest.mark.parametrize("by_handle", [False, True], ids=["client", "handle"])
@pytest.mark.parametrize("fault", ["no connection", "no handshake", "no answer"])
def test_the_outcome_follows_from_the_wire_whichever_timer_ends_the_attempt(
    wire: Wire, authority: Authority, limits: dict[str, float], by_handle: bool, fault: str
) -> None:
    settings: dict[str, Any] = {"max_retries": 0, "ca_bundle": authority.pem}
    if fault == "no answer":
        # Within them there must be a connection, also on a busy machine.
        limits = {name: 5 * seconds for name, seconds in limits.items()}
    if fault == "no connection":
        nowhere = Blackhole()
        settings["base_url"] = nowhere.url
    else:
        nowhere = None
        settings["base_url"] = wire.server.https
        handshake = [] if fault == "no handshake" else [TLS(authority.context("localhost")), READ_ALL, APPLY]
        wire.server.script([*handshake, HOLD])
    try:
        client = wire.client(**settings, **({} if by_handle else limits))
        handle = client.with_options(**limits)
        prompt = wire.prompt()
        error = wire.fails(DocPlatformError, handle.create_job, prompt)
    finally:
        if nowhere:
            nowhere.__exit__()
    outcome = "unknown" if fault == "no answer" else "not_sent"
    assert (error.outcome, type(error)) == (
        outcome,
        ConnectError if outcome == "not_sent" else UnconfirmedWriteError,
    )
    assert client.stats.requests == (outcome == "unknown")


@pytest.mark.row("M2")
def test_a_handle_with_more_time_than_its_client_has_it_for_the_connection_too(
    wire: Wire, authority: Authority
) -> None:
    slow = lambda connection: connection.pause(0.5)  # noqa: E731
    wire.server.script([slow, TLS(authority.context("localhost")), READ_ALL, APPLY, SEND(answer(201, JOB))])
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem, timeout=0.1, max_retries=0)
    prompt = wire.prompt()
    assert wire.run(client.with_options(timeout=20).create_job, prompt).id == "job-1"


@pytest.mark.row("C18")
def test_a_name_that_does_not_exist_is_not_sent(wire: Wire) -> None:
    wire.lookups = True
    wire.not_sent(base_url="https://docs.invalid", connect_timeout=2, max_retries=0)


@pytest.mark.row("C18", "G5")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_is_whichever_loopback_answers(wire: Wire, host: str) -> None:
    with FaultServer(needs(host)) as server:
        server.rest(READ_ALL, APPLY, SEND(answer(201, JOB)))
        client = wire.client(base_url=f"http://localhost:{server.port}")
        assert wire.run(wire.create, client).id == "job-1"
        wire.face.close_clients()
        server.wait_closed()
        assert len(server.applied) == 1


# -- with a resolver of the test's own -------------------------------------------------------------

SCRIPT = """
ours = client(base_url={base_url!r}, {settings})
made = []
told = outcome(lambda: made.append(run(lambda: ours.create_job({prompt!r}))))
print(json.dumps({{**told, "id": [job.id for job in made]}}))
"""


@pytest.fixture
def resolver(resolver_library: Path, tmp_path: Path) -> Resolver:
    return Resolver(resolver_library, tmp_path)


def create(wire: Wire, resolver: Resolver, authority: Authority, port: int, **settings: Any) -> Any:
    """The outcome of a write to ``HOST`` in a process that believes the resolver."""
    base_url = settings.pop("base_url", f"https://{HOST}:{port}")
    given = {"ca_bundle": str(authority.pem), **settings}
    script = SCRIPT.format(
        base_url=base_url,
        prompt=wire.prompt(),
        settings=", ".join(f"{name}={value!r}" for name, value in given.items()),
    )
    return tell(wire.face.name, script, **wire.environment, **resolver.environment)


@pytest.mark.row("C18")
def test_a_name_that_leads_nowhere_says_so(wire: Wire, resolver: Resolver, authority: Authority) -> None:
    resolver.leads(HOST)
    told = create(wire, resolver, authority, wire.server.port)
    assert (told["error"], told["outcome"]) == ("ConnectError", "not_sent")
    assert "could not be resolved" in told["text"]
    assert resolver.asked == [HOST]


@pytest.mark.row("C18")
def test_a_resolver_that_takes_its_time_is_bound_by_connect_timeout(
    wire: Wire, resolver: Resolver, authority: Authority
) -> None:
    resolver.leads(HOST, "127.0.0.1", after=1.5)
    told = create(wire, resolver, authority, wire.server.port, connect_timeout=0.2)
    assert (told["error"], told["outcome"]) == ("ConnectError", "not_sent")
    assert "connect_timeout" in told["text"]


@pytest.mark.row("C18")
@pytest.mark.parametrize("dead", ["refuses", "silent"])
@pytest.mark.parametrize("first", ["::1", "127.0.0.1"])
def test_all_addresses_of_a_name_are_tried(
    wire: Wire, resolver: Resolver, authority: Authority, first: str, dead: str
) -> None:
    second = "127.0.0.1" if needs(first) == "::1" else "::1"
    with FaultServer(needs(second)) as server:
        server.rest(TLS(authority.context(HOST)), READ_ALL, APPLY, SEND(answer(201, JOB)))
        resolver.leads(HOST, first, second)
        if dead == "silent":
            with Blackhole(first, server.port):
                told = create(wire, resolver, authority, server.port)
        else:
            told = create(wire, resolver, authority, server.port)
        assert told == {"error": None, "id": ["job-1"]}
        assert len(server.applied) == 1


@pytest.mark.row("C18")
def test_each_connection_looks_its_name_up_again(
    wire: Wire, resolver: Resolver, authority: Authority
) -> None:
    # The service moves between two writes of one client.
    tls = TLS(authority.context(HOST))
    made = SEND(answer(201, JOB))
    with FaultServer("127.0.0.2", wire.server.port) as moved:

        def move(_: object) -> None:
            resolver.leads(HOST, "127.0.0.2")

        resolver.leads(HOST, "127.0.0.1")
        wire.server.script([tls, READ_ALL, APPLY, move, made])
        moved.script([tls, READ_ALL, APPLY, made])
        script = f"""
ours = client(base_url="https://{HOST}:{wire.server.port}", ca_bundle={str(authority.pem)!r})
for prompt in {[wire.prompt(), wire.prompt()]!r}:
    run(lambda: ours.create_job(prompt))
print("null")
"""
        tell(wire.face.name, script, **wire.environment, **resolver.environment)
        assert len(wire.server.applied) == len(moved.applied) == 1
    assert resolver.asked == [HOST, HOST]


@pytest.mark.row("G5")
@pytest.mark.parametrize("spelling", ["localhost", "LocalHost"])
def test_localhost_is_never_looked_up(
    wire: Wire, resolver: Resolver, authority: Authority, spelling: str
) -> None:
    with FaultServer("127.0.0.2", wire.server.port) as astray:
        resolver.leads("localhost", "127.0.0.2")
        wire.server.script([READ_ALL, APPLY, SEND(answer(201, JOB))])
        base_url = f"http://{spelling}:{wire.server.port}"
        told = create(wire, resolver, authority, wire.server.port, base_url=base_url)
        assert told == {"error": None, "id": ["job-1"]}
        assert astray.connections == []
    assert resolver.asked == []
