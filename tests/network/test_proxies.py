"""Proxies: what they see, and that one that fails proves a write unsent (rows G10, G11, G13)."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import pytest

from docplatform import ConfigurationError, ConnectError
from helpers.connection import answer
from helpers.faults import (
    APPLY,
    FIN,
    HOLD,
    JOB,
    READ_ALL,
    READ_HEAD,
    RST,
    SEND,
    TLS,
    FaultServer,
    Script,
)
from helpers.layers import Authority
from helpers.wire import Wire

HOST = "docs.example"
PASSWORD = "a-password-that-is-nobodys"
ESTABLISHED = SEND(b"HTTP/1.1 200 Connection established\r\n\r\n")

Set = Callable[[pytest.MonkeyPatch, str], dict[str, str]]


def by_argument(_: pytest.MonkeyPatch, url: str) -> dict[str, str]:
    return {"proxy": url}


def by_environment(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, str]:
    monkeypatch.setenv("HTTPS_PROXY", url)
    return {}


@pytest.mark.row("G10")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_no_proxy_of_the_environment_sees_what_goes_to_loopback(
    wire: Wire, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, wire.elsewhere.url)
    wire.server.script([READ_ALL, APPLY, SEND(answer(201, JOB))])
    client = wire.client(base_url=f"http://{host}:{wire.server.port}")
    assert wire.run(wire.create, client).id == "job-1"


@pytest.mark.row("G11")
def test_plain_http_goes_through_the_proxy_of_the_environment_where_that_is_trusted(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", wire.server.url)
    settings = {"base_url": "http://docs.invalid", "allow_http": True, "max_retries": 0}
    wire.server.script([READ_ALL, SEND(answer(200, JOB))])
    client = wire.client(**settings)
    assert wire.run(client.get_job, "job-1").id == "job-1"
    assert wire.server.requests[0].target == "http://docs.invalid/v2/agent/demo/job/job-1"
    wire.lookups = True
    careful = wire.client(**settings, trust_env=False)
    wire.fails(ConnectError, careful.get_job, "job-1")


def test_a_proxy_that_is_named_is_used_for_loopback_too(wire: Wire) -> None:
    wire.server.script([READ_ALL, SEND(answer(200, JOB))])
    client = wire.client(base_url=wire.elsewhere.url, proxy=wire.server.url)
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("G11")
@pytest.mark.parametrize("given", [by_argument, by_environment])
def test_a_proxy_sees_a_tunnel_and_nothing_in_it(
    wire: Wire, authority: Authority, given: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.secrets.append(PASSWORD)
    proxy = given(monkeypatch, f"http://user:{PASSWORD}@127.0.0.1:{wire.server.port}")
    tunnel: Script = [READ_HEAD, ESTABLISHED, TLS(authority.context(HOST))]
    wire.server.script(
        [*tunnel, READ_ALL, SEND(answer(200, JOB))], [*tunnel, READ_ALL, APPLY, SEND(answer(201, JOB))]
    )
    client = wire.client(base_url=f"https://{HOST}", ca_bundle=authority.pem, **proxy)
    wire.run(client.get_job, "job-1")
    wire.run(wire.create, client)
    user = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    for connection in wire.server.connections:
        connect, request = connection.requests
        assert connect.head.startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\n".encode())
        assert [value for name, value in connect.headers if "auth" in name] == [f"Basic {user}"]
        assert "docplatform/" in dict(connect.headers)["user-agent"]
        # The service has no business with the proxy's password.
        assert request.header("authorization") == f"Bearer {wire.key}"
        assert request.header("proxy-authorization") is None
        assert connection.stream(tls=False) == connect.head


@pytest.mark.row("G11")
def test_a_proxy_over_tls_sees_no_more(wire: Wire, authority: Authority) -> None:
    wire.secrets.append(PASSWORD)
    proxy = f"https://user:{PASSWORD}@localhost:{wire.server.port}"
    wire.server.script(
        [
            *[TLS(authority.context("localhost")), READ_HEAD, ESTABLISHED],
            *[TLS(authority.context(HOST)), READ_ALL, SEND(answer(200, JOB))],
        ]
    )
    client = wire.client(base_url=f"https://{HOST}", ca_bundle=authority.pem, proxy=proxy)
    wire.run(client.get_job, "job-1")
    connect, request = wire.server.requests
    assert (connect.method, connect.header("authorization")) == ("CONNECT", None)
    assert request.header("authorization") == f"Bearer {wire.key}"


NO_CONNECTION = r"docs\.example:443: the proxy 127\.0\.0\.1:\d+ made no connection"
REFUSALS: dict[str, tuple[Script, str]] = {
    "403": ([READ_HEAD, SEND(answer(403, b"<html>blocked"))], NO_CONNECTION + r".*403"),
    "302": (
        [READ_HEAD, SEND(answer(302, None, "Location: https://login.example"))],
        NO_CONNECTION,
    ),
    "407": (
        [READ_HEAD, SEND(answer(407, None, 'Proxy-Authenticate: Basic realm="proxy"'))],
        r"refuses the user name or password of its URL \(407\); check proxy=",
    ),
    "closes": ([READ_HEAD, FIN], NO_CONNECTION),
    "resets": ([READ_HEAD, RST], r"reset before it was ready \(through the proxy 127.0.0.1:\d+\)"),
    "closes the tunnel": ([READ_HEAD, ESTABLISHED, FIN], "closed before it was ready"),
    "hangs": ([READ_HEAD, HOLD], r"within connect_timeout.*check proxy="),
    "hangs in the tunnel": ([READ_HEAD, ESTABLISHED, HOLD], "within connect_timeout"),
}


@pytest.mark.row("G13", "A4")
@pytest.mark.parametrize("fault", REFUSALS)
def test_a_proxy_that_fails_proves_a_write_unsent(wire: Wire, fault: str) -> None:
    wire.secrets.append(PASSWORD)
    steps, words = REFUSALS[fault]
    # One that wants a password is asked once.
    attempts = 1 if fault == "407" else 2
    wire.server.script(*[steps] * attempts)
    proxy = f"http://user:{PASSWORD}@127.0.0.1:{wire.server.port}"
    patience = 0.1 if "within" in words else 10
    settings: dict[str, Any] = {"proxy": proxy, "connect_timeout": patience, "max_retries": 1}
    assert re.search(words, wire.not_sent(attempts, base_url=f"https://{HOST}", **settings))


@pytest.mark.row("G13", "C19")
def test_a_proxy_with_a_wrong_certificate_gets_no_request(wire: Wire, authority: Authority) -> None:
    wire.secrets.append(PASSWORD)
    wire.server.script([TLS(authority.context("localhost")), READ_HEAD])
    proxy = f"https://user:{PASSWORD}@localhost:{wire.server.port}"
    assert "not signed by an authority" in wire.not_sent(base_url=f"https://{HOST}", proxy=proxy)
    assert wire.server.requests == []


@pytest.mark.row("G13")
def test_the_certificate_of_a_server_is_checked_through_a_proxy(wire: Wire, authority: Authority) -> None:
    wire.server.script([READ_HEAD, ESTABLISHED, TLS(authority.context("localhost")), READ_ALL, APPLY])
    through = wire.server.url
    told = wire.not_sent(base_url=f"https://{HOST}", ca_bundle=authority.pem, proxy=through)
    assert "another host name" in told


@pytest.mark.row("G13")
@pytest.mark.parametrize("given", [by_argument, by_environment])
@pytest.mark.parametrize("unknown", [False, True])
def test_a_proxy_that_cannot_be_reached_is_named_and_proves_a_write_unsent(
    wire: Wire, given: Set, unknown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.secrets.append(PASSWORD)
    with FaultServer() as gone:
        address = "proxy.invalid:3128" if unknown else f"127.0.0.1:{gone.port}"
    wire.lookups = unknown
    proxy = given(monkeypatch, f"http://user:{PASSWORD}@{address}")
    says = f"the proxy {address} refused the connection"
    if unknown:
        says = f"the host name of the proxy {address} could not be resolved"
    told = wire.not_sent(1, base_url=f"https://{HOST}", max_retries=0, **proxy)
    assert f"not sent: {HOST}:443: {says}" in told
    assert "base_url" not in told


@pytest.mark.row("G13")
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("socks4://proxy.example:1", "(socks4)"),
        ("socks5h://proxy.example:1", "(socks5h)"),
        ("http://user:p#ss@proxy.example:1", "is not the URL of a proxy"),
        ("http://user:12#p#ss@proxy.example:1", "is not the URL of a proxy"),
        ("http://user:12/p#ss@proxy.example:1", "is not the URL of a proxy"),
        ('"http://proxy.example:1"', "is not the URL of a proxy"),
        ("http://", "is not the URL of a proxy"),
    ],
)
@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_that_cannot_be_used_is_refused_and_not_bypassed(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, url: str, why: str, name: str
) -> None:
    monkeypatch.setenv(name, url)
    with pytest.raises(ConfigurationError) as caught:
        wire.client(base_url=f"https://{HOST}")
    assert f"the environment's {name} " in str(caught.value)
    assert why in str(caught.value)
    assert "p#ss" not in str(caught.value)
    # It does not count for these.
    wire.client(base_url=f"https://{HOST}", trust_env=False)
    monkeypatch.setenv("NO_PROXY", HOST)
    wire.client(base_url=f"https://{HOST}")
