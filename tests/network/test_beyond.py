"""What the matrix does not name: answers that are legal and odd, and connections that end while nobody looks."""

from __future__ import annotations

import json

import pytest

from docplatform import RequestTimeoutError, ResponseError, StatusError, UnconfirmedWriteError
from helpers.faults import (
    APPLY,
    CLOSE,
    FIN,
    FLOOD,
    JOB,
    READ_ALL,
    READ_HEAD,
    RST,
    SEND,
    Step,
    answer,
)
from helpers.pages import page, rows
from helpers.wired import Wire

CREATED = SEND(answer(201, JOB))
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ENDLESS = 2**32

# -- answers before the answer ---------------------------------------------------------------------


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
    prompt = wire.prompt()
    assert wire.run(client.create_job, prompt).id == "job-1"
    assert wire.run(client.get_job, "job-1").id == "job-1"


@pytest.mark.parametrize("end", [FIN, RST])
def test_a_write_that_was_only_told_to_go_on_is_unknown(wire: Wire, end: Step) -> None:
    wire.server.script([READ_ALL, APPLY, SEND(CONTINUE), end])
    client = wire.client()
    prompt = wire.prompt()
    error = wire.fails(UnconfirmedWriteError, client.create_job, prompt)
    assert (error.outcome, error.status, len(error.attempts)) == ("unknown", None, 1)


def test_promises_of_an_answer_keep_no_call_alive(wire: Wire) -> None:
    promises = FLOOD(CONTINUE * 100, ENDLESS)
    wire.server.script([READ_ALL, promises], [READ_ALL, APPLY, promises])
    client = wire.client(timeout=0.2, max_retries=0)
    wire.fails(RequestTimeoutError, client.get_job, "job-1")
    prompt = wire.prompt()
    assert wire.fails(UnconfirmedWriteError, client.create_job, prompt).outcome == "unknown"


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


def test_a_connection_that_was_seen_to_end_is_not_used_again(wire: Wire) -> None:
    wire.server.rest(READ_ALL, SEND(answer(200, JOB, keep=True)), FIN)
    client = wire.client(max_retries=0)
    for _ in range(10):
        assert wire.run(client.get_job, "job-1").id == "job-1"
        wire.server.wait_closed()
    assert client.stats.requests == len(wire.server.requests) == 10


def test_a_server_of_http_1_0_is_understood(wire: Wire) -> None:
    # Where no length is given, the end of the connection is the end of the answer.
    old = b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(JOB).encode()
    wire.server.script([READ_ALL, SEND(old), CLOSE], [READ_ALL, APPLY, SEND(old), CLOSE])
    client = wire.client()
    prompt = wire.prompt()
    assert wire.run(client.get_job, "job-1").id == "job-1"
    assert wire.run(client.create_job, prompt).id == "job-1"


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


def test_an_answer_to_a_condition_that_nobody_made_is_told(wire: Wire) -> None:
    wire.server.script([READ_ALL, SEND(answer(304))])
    client = wire.client()
    error = wire.fails(StatusError, client.get_job, "job-1")
    assert (error.status, len(error.attempts)) == (304, 1)
    assert "cache" in str(error)


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (401, "WWW-Authenticate: Negotiate"),
        (401, 'WWW-Authenticate: Basic realm="x"'),
        (407, "Proxy-Authenticate: Basic"),
    ],
)
def test_no_challenge_makes_the_key_go_out_in_another_form(wire: Wire, status: int, challenge: str) -> None:
    wire.server.script([READ_ALL, SEND(answer(status, None, challenge))])
    client = wire.client()
    error = wire.fails(StatusError, client.get_job, "job-1")
    assert (error.status, len(error.attempts)) == (status, 1)


# -- less and more than a page ---------------------------------------------------------------------

LAST = json.dumps(page(rows(0, 3))).encode()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(answer(204), id="204"),
        pytest.param(answer(205), id="205"),
        pytest.param(answer(200, b""), id="nothing"),
        pytest.param(answer(200, b" \n"), id="white space"),
        pytest.param(answer(200, b"null"), id="null"),
        pytest.param(answer(200, LAST + LAST), id="twice"),
        pytest.param(answer(200, LAST + b"\0"), id="and NUL"),
        pytest.param(answer(200, LAST + b"<script>"), id="and an advertisement"),
        pytest.param(answer(200, b")]}',\n" + LAST), id="behind a guard"),
    ],
)
def test_an_export_does_not_end_with_what_is_no_page(wire: Wire, sent: bytes) -> None:
    first = answer(200, page(rows(0, 250), has_more=True))
    wire.server.script([READ_ALL, SEND(first)], [READ_ALL, SEND(sent)])
    visitors = wire.client().visitors(prefetch=0)
    got = [wire.run(lambda: wire.face.next(visitors)) for _ in range(250)]
    error = wire.fails(ResponseError, lambda: wire.face.next(visitors))
    assert error.checkpoint == visitors.checkpoint
    wire.server.script([READ_ALL, SEND(answer(200, page(rows(250, 253))))])
    assert got + wire.all(wire.client().visitors(resume=error.checkpoint)) == rows(0, 253)


# -- letters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "cp037"])
def test_json_in_another_encoding_is_not_guessed_at(wire: Wire, encoding: str) -> None:
    content_type = f"Content-Type: application/json; charset={encoding}"
    wire.server.script([READ_ALL, SEND(answer(200, json.dumps(JOB).encode(encoding), content_type))])
    client = wire.client()
    error = wire.fails(ResponseError, client.get_job, "job-1")
    assert f"charset={encoding}" in str(error)
    assert "\0" not in str(error)
