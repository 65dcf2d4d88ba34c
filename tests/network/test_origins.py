"""Requests reveal nothing to strangers: one origin, one key (rows A10, G1, G17)."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from docplatform import StatusError
from helpers import AnyClient
from helpers.connection import Request, answer
from helpers.faults import JOB, READ_ALL, SEND
from helpers.wire import Wire

CALLS: dict[str, Callable[[AnyClient], Any]] = {
    "create_job": lambda client: client.create_job("Fix it"),
    "get_job": lambda client: client.get_job("job-1"),
    "wait_for_job": lambda client: client.wait_for_job("job-1"),
    "visitor_totals": lambda client: client.visitor_totals(),
    "request": lambda client: client.request("GET", "/v3/things"),
    "delete": lambda client: client.request("DELETE", "/v3/things/1"),
}


@pytest.mark.row("A10", "G1")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("where", ["{elsewhere}/1", "//{host}/1", "/here"])
def test_no_call_is_led_anywhere(wire: Wire, call: str, status: int, where: str) -> None:
    host = wire.elsewhere.url.removeprefix("http://")
    location = where.format(elsewhere=wire.elsewhere.url, host=host)
    wire.server.script([READ_ALL, SEND(answer(status, None, f"Location: {location}"))])
    client = wire.client()
    error = wire.fails(StatusError, CALLS[call], client)
    assert (error.status, len(error.attempts)) == (status, 1)
    assert error.outcome == ("rejected" if call in ("create_job", "delete") else None)


@pytest.mark.row("G1")
@pytest.mark.parametrize(
    "header",
    ["Refresh: 0; url={}", "Content-Location: {}", "Link: <{}>; rel=preload", 'Alt-Svc: h2="{}"'],
)
def test_no_other_header_leads_anywhere(wire: Wire, header: str) -> None:
    wire.server.script(*[[READ_ALL, SEND(answer(200, JOB, header.format(wire.elsewhere.url)))]] * 2)
    client = wire.client()
    for _ in range(2):
        assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("G17")
def test_two_keys_never_meet(wire: Wire) -> None:
    other = f"dp_{secrets.token_hex(20)}"
    wire.keys.append(other)
    names = {wire.key: "ours", other: "theirs"}

    def whose(request: Request) -> bytes:
        # The job is named after the key that came, whatever was asked for.
        key = (request.header("authorization") or "").removeprefix("Bearer ")
        return answer(200, {**JOB, "id": names[key]}, keep=True)

    wire.server.rest(*[READ_ALL, SEND(whose)] * 200)
    clients = {"ours": wire.client(), "theirs": wire.client(api_key=other)}
    # A handle with another key has connections of its own.
    handles = {
        "ours": clients["theirs"].with_options(api_key=wire.key),
        "theirs": clients["theirs"].with_options(timeout=10),
    }
    turns = itertools.islice(itertools.cycle([clients, handles]), 100)
    for turn, name in itertools.product(turns, names.values()):
        assert wire.run(turn[name].get_job, name).id == name
    assert len(wire.server.requests) == 200
    assert 2 <= len(wire.server.connections) <= 4
    for handle in handles.values():
        wire.face.run(handle.close())
