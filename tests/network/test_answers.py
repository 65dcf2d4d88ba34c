"""Answers that stall, break off, or are not the ones asked for (rows C)."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    RateLimitError,
    RequestTimeoutError,
    ResponseError,
    TransportError,
    UnconfirmedWriteError,
)
from helpers.exchange import Connection, Request
from helpers.faults import (
    APPLY,
    CUT_TLS,
    DRIP,
    FIN,
    FLOOD,
    HOLD,
    JOB,
    RAW,
    READ_ALL,
    RST,
    SEND,
    TLS,
    Step,
    answer,
)
from helpers.layers import Authority
from helpers.pages import page, rows
from helpers.wired import Wire

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


@pytest.mark.row("C1", "C24")
@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", answer(200, JOB).partition(b"{")[0]])
def test_a_read_that_stalls_is_tried_again(wire: Wire, sent: bytes) -> None:
    wire.server.script([READ_ALL, SEND(sent), HOLD], [READ_ALL, SEND(sent), HOLD])
    error = lost(wire, RequestTimeoutError, timeout=0.1)
    assert len(error.attempts) == 2
    wire.server.wait_for(lambda server: all(connection.ended for connection in server.connections))


@pytest.mark.row("C2")
@pytest.mark.parametrize("settings", [{"timeout": 0.2}, {"deadline": 0.2}])
def test_bytes_that_drip_keep_no_call_alive(wire: Wire, settings: dict[str, float]) -> None:
    # Each byte comes long before anything that waits for a next one would give up.
    wire.server.script([READ_ALL, DRIP(answer(200, b" " * 5_000), 0.01)])
    error = lost(wire, RequestTimeoutError, max_retries=0, **settings)
    assert error.attempts[0].elapsed >= 0.2


@pytest.mark.row("C2")
def test_bytes_that_drip_keep_no_write_alive(wire: Wire) -> None:
    wire.server.script([READ_ALL, APPLY, DRIP(answer(201, b" " * 5_000), 0.01)])
    prompt = wire.prompt()
    client = wire.client(timeout=0.1)
    error = wire.fails(UnconfirmedWriteError, client.create_job, prompt)
    assert error.outcome in ("unknown", "applied")  # as far as the head came


@pytest.mark.row("C24")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_peer_that_is_gone_without_a_word_is_noticed_by_the_system(wire: Wire, method: str) -> None:
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


@pytest.mark.row("C4", "C5")
@pytest.mark.parametrize("end", [FIN, RST])
def test_a_read_whose_body_breaks_off_is_tried_again(wire: Wire, end: Step) -> None:
    # What came by itself would be a whole job.
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
    wire.server.script([READ_ALL, SEND(head + json.dumps(JOB).encode()), end], [READ_ALL, DONE])
    client = wire.client()
    assert wire.run(client.get_job, "job-1").id == "job-1"
    wire.server.rest(READ_ALL, SEND(head + json.dumps(JOB).encode()), end)
    assert [attempt.status for attempt in lost(wire, TransportError).attempts] == [200, 200]


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
    prompt = wire.prompt()
    error = wire.fails(UnconfirmedWriteError, client.create_job, prompt)
    assert error.outcome == "applied"
    # Where the framing says that all is there, a cut behind it takes nothing away.
    wire.server.script([tls, READ_ALL, DONE, CUT_TLS])
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("C7")
def test_a_read_whose_tls_breaks_after_it_was_sent_is_tried_again(wire: Wire, authority: Authority) -> None:
    tls = TLS(authority.context("localhost"))
    wire.server.script([tls, READ_ALL, RAW(b"\x15\x03\x03\x00\x02\x02\x50"), CUT_TLS], [tls, READ_ALL, DONE])
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem)
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


@pytest.mark.row("C9", "F4")
def test_an_answer_about_another_job_is_unreadable(wire: Wire) -> None:
    # The second answer to the first request, come so late that no framing can tell.
    wire.server.script([READ_ALL, SEND(of_job("job-1")), READ_ALL, SEND(of_job("job-1")), HOLD])
    client = wire.client()
    assert wire.run(client.get_job, "job-1").id == "job-1"
    error = wire.fails(ResponseError, client.get_job, "job-2")
    assert "not the one asked for" in str(error)


@pytest.mark.row("C9")
def test_what_is_said_on_an_idle_connection_is_no_answer(wire: Wire) -> None:
    # As load balancers do before they close.
    wire.server.script(
        [READ_ALL, SEND(of_job("job-1")), SEND(answer(408)), FIN], [READ_ALL, SEND(answer(200, JOB))]
    )
    client = wire.client()
    for _ in range(2):
        assert wire.run(client.get_job, "job-1").id == "job-1"
        wire.server.wait_closed()


# -- heads -----------------------------------------------------------------------------------------


def head(*lines: str) -> bytes:
    return answer(200, JOB, *lines)


ENDLESS = 64 * 2**20


@pytest.mark.row("C12")
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([SEND(head("x-long: " + "x" * 500 * 1024))], id="500 KiB in a line"),
        pytest.param([SEND(head(*[f"x-{n}: x" for n in range(101)]))], id="101 headers"),
        pytest.param([SEND(b"HTTP/1.1 200 OK\r\n"), FLOOD(b"x-y: z\r\n" * 1_000, ENDLESS)], id="endless"),
        pytest.param([SEND(b"HTTP/1.1 200 OK\r\nx: "), FLOOD(b"x" * 8_192, ENDLESS)], id="an endless line"),
        pytest.param([SEND(b"HTTP/1.1 200 "), FLOOD(b"OK" * 4_096, ENDLESS)], id="an endless reason"),
    ],
)
def test_a_head_beyond_all_bounds_is_no_answer(wire: Wire, steps: list[Step]) -> None:
    wire.server.script([READ_ALL, *steps], [READ_ALL, APPLY, *steps])
    assert lost(wire, TransportError, max_retries=0)
    prompt = wire.prompt()
    client = wire.client()
    error = wire.fails(UnconfirmedWriteError, client.create_job, prompt)
    assert error.outcome == "unknown"
    assert max(connection.sent for connection in wire.server.connections) < ENDLESS


@pytest.mark.row("C12")
def test_a_large_head_is_an_answer(wire: Wire) -> None:
    lines = [f"x-{number}: {'x' * 3_000}" for number in range(98)]
    wire.server.script([READ_ALL, SEND(head(*lines))])
    client = wire.client()
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.row("C12")
@pytest.mark.parametrize("sent", [b"x: y\r\n" * 1_000, b"x" * 8_192])
def test_trailers_beyond_all_bounds_are_no_answer(wire: Wire, sent: bytes) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    wire.server.script([READ_ALL, SEND(chunked), FLOOD(sent, ENDLESS)])
    lost(wire, TransportError, max_retries=0)
    assert wire.server.connections[0].sent < ENDLESS


@pytest.mark.row("C25")
@pytest.mark.parametrize(
    "dates",
    [[], ["Date: Fri, 31 Dec 9999 23:59:59 GMT"], ["Date: yesterday"], ["Date: "], ["Date: 0"]],
)
def test_a_date_that_is_absent_or_absurd_is_ignored(wire: Wire, dates: list[str]) -> None:
    wire.server.script([READ_ALL, SEND(head(*dates))])
    client = wire.client(max_retries=0)
    assert wire.run(client.get_job, "job-1").id == "job-1"
    at = formatdate(time.time() + 600, usegmt=True)
    wire.server.script([READ_ALL, SEND(answer(429, None, f"Retry-After: {at}", *dates))])
    error = wire.fails(RateLimitError, client.get_job, "job-1")
    assert error.retry_after == pytest.approx(600, abs=60)


@pytest.mark.row("C15", "C16")
@pytest.mark.parametrize(
    "encodings", [["gzip"], ["gzip, gzip"], ["identity, gzip"], ["gzip", "gzip"], ["br"]]
)
@pytest.mark.parametrize("cut", [0, 9])
def test_an_encoding_that_was_not_asked_for_is_not_decoded(
    wire: Wire, encodings: list[str], cut: int
) -> None:
    headers = [f"Content-Encoding: {encoding}" for encoding in encodings]
    packed = gzip.compress(json.dumps(JOB).encode())
    sent = SEND(answer(200, packed[: len(packed) - cut], *headers))
    wire.server.script([READ_ALL, sent], [READ_ALL, APPLY, sent])
    error = lost(wire, ResponseError)
    assert len(error.attempts) == 1
    assert encodings[-1] in str(error)
    prompt = wire.prompt()
    client = wire.client()
    assert wire.fails(UnconfirmedWriteError, client.create_job, prompt).outcome == "applied"
    assert {request.header("accept-encoding") for request in wire.server.requests} == {"identity"}
