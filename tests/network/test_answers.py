"""Answers that break off or are about something else, and connections that end while idle (rows C)."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    ResponseError,
    TransportError,
    UnconfirmedWriteError,
)
from helpers.connection import Connection, Request, answer
from helpers.faults import (
    APPLY,
    CLOSE,
    CUT_TLS,
    FIN,
    JOB,
    READ_ALL,
    READ_HEAD,
    RST,
    SEND,
    TLS,
    Step,
)
from helpers.layers import Authority
from helpers.pages import page, rows
from helpers.wire import Wire

DONE = SEND(answer(200, JOB))
OPEN_END = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
"""A head whose body ends with its connection."""


def lost(wire: Wire, kind: type[Any], **settings: Any) -> Any:
    """The error of a read that may be tried once more."""
    client = wire.client(**{"max_retries": 1, **settings})
    error = wire.fails(kind, client.get_job, "job-1")
    assert error.outcome is None
    return error


# -- time ------------------------------------------------------------------------------------------


@pytest.mark.row("C24")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_system_is_asked_to_notice_a_peer_that_is_gone(wire: Wire, method: str) -> None:
    options: dict[str, int] = {}

    def look(connection: Connection) -> None:
        ours = _client_socket(connection.socket.getpeername())
        with ours:
            options["user_timeout"] = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            options["keepalive"] = ours.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            options["idle"] = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)

    wire.server.script([READ_ALL, look, DONE])
    client = wire.client()
    wire.run(client.request, method, "/v3/things")
    assert options == {"user_timeout": 30_000, "keepalive": 1, "idle": 30}


def _client_socket(address: Any) -> socket.socket:
    """Another handle on the socket of this process that is bound to an address."""
    for number in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            found = socket.socket(fileno=os.dup(number))
        except OSError:
            continue  # closed since
        if found.getsockname() == address:
            return found
        found.close()
    raise LookupError(address)


# -- bodies that break off -------------------------------------------------------------------------


@pytest.mark.row("C5", "C7", "E10")
@pytest.mark.parametrize("framing", ["length", "chunks", "end"])
def test_no_row_of_a_page_that_broke_off_is_handed_out(wire: Wire, framing: str) -> None:
    whole = json.dumps(page(rows(0, 20))).encode()
    cut = whole[: whole.index(b"/9")]
    sent = {
        "length": f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole)}\r\n\r\n".encode() + cut,
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(cut) + cut + b"\r\n",
        "end": OPEN_END + cut,
    }[framing]
    wire.server.script([READ_ALL, SEND(sent), FIN])
    client = wire.client(max_retries=0)
    visitors = client.visitors()
    with pytest.raises(ResponseError if framing == "end" else TransportError) as caught:
        wire.all(visitors)
    assert caught.value.checkpoint == visitors.checkpoint
    wire.server.script([READ_ALL, SEND(answer(200, page(rows(0, 20))))])
    assert wire.all(client.visitors(resume=caught.value.checkpoint)) == rows(0, 20)


@pytest.mark.row("C7")
def test_the_end_of_a_connection_is_the_end_of_a_body_only_where_tls_says_so(
    wire: Wire, authority: Authority
) -> None:
    whole = SEND(OPEN_END + json.dumps(JOB).encode())
    tls = TLS(authority.context("localhost"))
    settings = {"base_url": wire.server.https, "ca_bundle": authority.pem}
    wire.server.script([tls, READ_ALL, whole, FIN])
    client = wire.client(**settings)
    assert wire.run(client.get_job, "job-1").id == "job-1"
    wire.server.script(*[[tls, READ_ALL, whole, CUT_TLS]] * 2)
    assert len(lost(wire, TransportError, **settings).attempts) == 2
    wire.server.script([tls, READ_ALL, APPLY, whole, CUT_TLS])
    error = wire.fails(UnconfirmedWriteError, wire.create, client)
    assert error.outcome == "unknown"
    # Where the framing says that all is there, a cut after it takes nothing away.
    wire.server.script([tls, READ_ALL, DONE, CUT_TLS])
    assert wire.run(client.get_job, "job-1").id == "job-1"


# -- answers to another question -------------------------------------------------------------------


def asked(request: Request) -> str:
    return request.target.rpartition("/")[2]


def of_job(identifier: str) -> bytes:
    return answer(200, {**JOB, "id": identifier}, keep=True)


@pytest.mark.row("C9")
def test_a_second_answer_is_never_taken_for_that_of_the_next_request(wire: Wire) -> None:
    twice = SEND(lambda request: of_job(asked(request)) * 2)
    wire.server.rest(*[READ_ALL, twice] * 5)
    client = wire.client()
    names = [f"job-{number}" for number in range(200)]
    assert [wire.run(client.get_job, name).id for name in names] == names


@pytest.mark.row("C9")
def test_bytes_on_an_idle_connection_are_not_taken_for_an_answer(wire: Wire) -> None:
    # As load balancers do before they close.
    wire.server.script(
        [READ_ALL, SEND(of_job("job-1")), SEND(answer(408)), FIN], [READ_ALL, SEND(answer(200, JOB))]
    )
    client = wire.client()
    for _ in range(2):
        assert wire.run(client.get_job, "job-1").id == "job-1"
        wire.server.wait_closed()


# -- answers before the answer ---------------------------------------------------------------------

CREATED = SEND(answer(201, JOB))
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize(
    "early",
    [
        pytest.param(CONTINUE, id="100"),
        pytest.param(b"HTTP/1.1 102 Processing\r\n\r\n" * 40, id="102, again and again"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n", id="103"),
    ],
)
def test_what_comes_before_an_answer_is_not_the_answer(wire: Wire, early: bytes) -> None:
    done = SEND(answer(200, JOB))
    wire.server.script([READ_ALL, SEND(early), APPLY, CREATED], [READ_ALL, SEND(early), done])
    client = wire.client()
    assert wire.run(wire.create, client).id == "job-1"
    assert wire.run(client.get_job, "job-1").id == "job-1"


def test_an_answer_that_came_before_the_whole_prompt_was_sent_is_the_answer(wire: Wire) -> None:
    wire.server.script([READ_HEAD, APPLY, CREATED, FIN])
    client = wire.client()
    prompt = wire.prompt() + "." * 8 * 2**20
    assert wire.run(client.create_job, prompt).id == "job-1"


# -- connections -----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [FIN, CLOSE, RST])
def test_connections_that_end_while_they_are_idle_cost_no_read(wire: Wire, end: Step) -> None:
    wire.server.rest(READ_ALL, SEND(answer(200, JOB, keep=True)), end)
    client = wire.client()
    for _ in range(30):
        assert wire.run(client.get_job, "job-1").id == "job-1"


def test_a_server_of_http_1_0_is_understood(wire: Wire) -> None:
    # Where no length is given, the end of the connection is the end of the answer.
    old = b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(JOB).encode()
    wire.server.script([READ_ALL, SEND(old), CLOSE], [READ_ALL, APPLY, SEND(old), CLOSE])
    client = wire.client()
    assert wire.run(client.get_job, "job-1").id == "job-1"
    assert wire.run(wire.create, client).id == "job-1"


# -- what others on the way would like to be kept --------------------------------------------------


def test_nothing_is_kept_from_an_answer_for_the_next_request(wire: Wire) -> None:
    keep = ['ETag: "1"', "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Set-Cookie: session=other; Path=/"]
    kept = answer(200, JOB, *keep, "Cache-Control: max-age=9999, immutable")
    wire.server.script(*[[READ_ALL, SEND(kept)]] * 2)
    client = wire.client()
    for _ in range(2):
        wire.run(client.get_job, "job-1")
    first, second = wire.server.requests
    assert first.head == second.head
