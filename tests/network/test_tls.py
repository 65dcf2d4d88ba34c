"""Servers that cannot prove who they are: found before a byte of a request is written (rows C19, G2, G21, G23)."""

from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from docplatform import (
    ConfigurationError,
    ConnectError,
    DocPlatformError,
    StatusError,
    UnconfirmedWriteError,
)
from helpers.connection import answer
from helpers.faults import APPLY, HOLD, JOB, READ_ALL, SEND, TLS, Step
from helpers.layers import (
    Authority,
    Context,
    lone_leaf_context,
    old_context,
    self_signed_context,
)
from helpers.wire import Wire

DAY = dt.timedelta(days=1)
NOW = dt.datetime.now(dt.UTC)
MADE: Step = SEND(answer(201, JOB))

Make = Callable[[Authority, Path], Context]
IMPOSTORS: dict[str, tuple[Make, str]] = {
    "wrong host": (lambda ours, _: ours.context("other.example"), "is for another host name"),
    "only an address": (lambda ours, _: ours.context("127.0.0.1"), "is for another host name"),
    "expired": (lambda ours, _: ours.context("localhost", not_after=NOW - DAY), "has expired"),
    "not yet valid": (
        lambda ours, _: ours.context("localhost", not_before=NOW + DAY, not_after=NOW + 2 * DAY),
        "not valid yet; is this machine's clock right",
    ),
    "unknown authority": (
        lambda _, path: Authority.make(path, "stranger").context("localhost"),
        "not signed by an authority that this machine trusts",
    ),
    "missing intermediate": (
        lambda ours, path: lone_leaf_context(ours, path, "localhost"),
        "not signed by an authority that this machine trusts",
    ),
    "self-signed": (
        lambda _, path: self_signed_context(path, "localhost", authority=False),
        "not signed by an authority that this machine trusts",
    ),
    "self-signed authority": (
        lambda _, path: self_signed_context(path, "localhost", authority=True),
        "perhaps self-signed",
    ),
    "TLS 1.1": (
        lambda ours, _: old_context(ours.ca.issue_cert("localhost")),
        "no version of TLS, or no cipher, that is safe",
    ),
}


def never_reached(wire: Wire, words: str, base_url: str, ca_bundle: Path | None) -> None:
    """Neither a read nor a write gets anywhere, and neither is tried again."""
    prompt = wire.prompt()
    client = wire.client(base_url=base_url, ca_bundle=ca_bundle)
    calls: list[tuple[Callable[[], object], str | None]] = [
        (lambda: client.get_job("job-1"), None),
        (lambda: client.create_job(prompt), "not_sent"),
    ]
    for number, (call, outcome) in enumerate(calls, start=1):
        error = wire.fails(ConnectError, call)
        text = str(error)
        assert words in text
        assert (error.outcome, len(error.attempts)) == (outcome, 1)
        for unkind in ("{", "Error(", "disable", "skip", "insecure", "verify="):
            assert unkind not in text.replace("{project_id}", "").replace("{id}", "")
        assert len(wire.server.connections) == number
    assert client.stats.retries == 0
    wire.server.wait_closed()
    assert b"".join(connection.stream(tls=True) for connection in wire.server.connections) == b""


@pytest.mark.row("C19")
@pytest.mark.parametrize("fault", IMPOSTORS)
def test_a_server_with_a_wrong_certificate_gets_no_byte(wire: Wire, authority: Authority, fault: str) -> None:
    make, words = IMPOSTORS[fault]
    wire.server.rest(TLS(make(authority, wire.directory)), READ_ALL, APPLY, MADE)
    never_reached(wire, words, wire.server.https, authority.pem)


@pytest.mark.row("C19")
def test_a_port_that_speaks_plain_http_gets_nothing(wire: Wire, authority: Authority) -> None:
    wire.server.rest(SEND(b"HTTP/1.1 400 Bad Request\r\n\r\nThis is the HTTP port"), HOLD)
    never_reached(wire, "does not speak TLS", wire.server.https, authority.pem)


@pytest.mark.row("C19")
def test_a_server_that_wants_a_certificate_of_the_client_is_an_error_that_says_what_left(
    wire: Wire, authority: Authority
) -> None:
    # In TLS 1.3 that is said when the request may be on its way.
    context = authority.context("localhost")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.pem)
    wire.server.script([TLS(context)])
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem, max_retries=0)
    error = wire.fails(DocPlatformError, wire.create, client)
    # Whether it was on its way is known only where it was not.
    kind = {"unknown": UnconfirmedWriteError, "not_sent": ConnectError}[str(error.outcome)]
    assert type(error) is kind


@pytest.mark.row("C19")
def test_no_setting_turns_the_checks_off(wire: Wire) -> None:
    for name in ("verify", "verify_ssl", "insecure", "danger_accept_invalid_certs", "ssl", "ssl_context"):
        with pytest.raises(TypeError):
            wire.client(**{name: False})
    wire.server.rest(TLS(Authority.make(wire.directory).context("localhost")), READ_ALL)
    client = wire.client(base_url=wire.server.https, allow_http=True)
    wire.fails(ConnectError, client.get_job, "job-1")


# -- whom to trust ---------------------------------------------------------------------------------


@pytest.mark.row("G21")
def test_an_authority_of_ones_own_is_trusted_where_it_is_named(wire: Wire, authority: Authority) -> None:
    wire.server.rest(TLS(authority.context("localhost")), READ_ALL, MADE)
    stranger = wire.client(base_url=wire.server.https)
    error = wire.fails(ConnectError, stranger.get_job, "job-1")
    assert "ca_bundle=" in str(error)
    for path in (authority.pem, str(authority.pem)):
        client = wire.client(base_url=wire.server.https, ca_bundle=path)
        assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("G21")
def test_a_bundle_adds_to_what_the_machine_trusts(
    wire: Wire, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Authority.make(wire.directory, "other")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.pem))
    for context in (authority.context("localhost"), other.context("localhost")):
        wire.server.script([TLS(context), READ_ALL, SEND(answer(200, JOB))])
    client = wire.client(base_url=wire.server.https, ca_bundle=other.pem)
    for _ in range(2):
        assert wire.run(client.get_job, "job-1").id == "job-1"
        wire.server.wait_closed()


@pytest.mark.row("G21")
def test_the_machines_store_is_the_default_and_can_be_replaced(
    wire: Wire, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.server.rest(TLS(authority.context("localhost")), READ_ALL, MADE)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.pem))
    client = wire.client(base_url=wire.server.https)
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("G21")
@pytest.mark.parametrize("name", ["empty.pem", ""])
def test_a_machine_without_a_store_can_still_speak_plain_http(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    empty = wire.directory / "empty.pem"
    empty.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", name and str(empty))
    monkeypatch.setenv("SSL_CERT_DIR", str(wire.directory / "nowhere"))
    wire.server.script([READ_ALL, SEND(answer(200, JOB))])
    client = wire.client()
    assert wire.run(client.get_job, "job-1").id == "job-1"
    with pytest.raises(ConfigurationError, match=r"SSL_CERT_FILE replaces .* or pass ca_bundle="):
        wire.client(base_url=wire.server.https)


@pytest.mark.row("G23")
@pytest.mark.parametrize(("name", "fits"), [("127.0.0.1", True), ("localhost", False), ("::1", False)])
def test_an_address_needs_a_certificate_for_it(
    wire: Wire, authority: Authority, name: str, fits: bool
) -> None:
    wire.server.rest(TLS(authority.context(name)), READ_ALL, APPLY, MADE)
    base_url = f"https://127.0.0.1:{wire.server.port}"
    if not fits:
        never_reached(wire, "is for another host name", base_url, authority.pem)
        return
    client = wire.client(base_url=base_url, ca_bundle=authority.pem)
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("G2")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_answer_leads_from_https_to_http(wire: Wire, authority: Authority, status: int) -> None:
    led = SEND(answer(status, None, f"Location: {wire.elsewhere.url}/v2/agent/demo/job"))
    tls = TLS(authority.context("localhost"))
    wire.server.rest(tls, READ_ALL, led)
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem)
    assert wire.fails(StatusError, client.get_job, "job-1").status == status
    error = wire.fails(StatusError, wire.create, client)
    assert (error.status, error.outcome) == (status, "rejected")
    assert len(wire.server.connections) == 2


def test_no_key_of_a_session_is_written_where_the_environment_says(
    wire: Wire, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a debugger of traffic would have it: with these, what was recorded can be read.
    monkeypatch.setenv("SSLKEYLOGFILE", str(wire.directory / "work" / "keys"))
    wire.server.script([TLS(authority.context("localhost")), READ_ALL, APPLY, MADE])
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem)
    assert wire.run(wire.create, client).id == "job-1"
    assert list((wire.directory / "work").iterdir()) == []
