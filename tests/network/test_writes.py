"""Writes on a failing connection: at most one side effect, and a true outcome (rows A)."""

from __future__ import annotations

import os
import re
import signal
import threading
from functools import partial
from typing import Any

import pytest

from docplatform import StatusError, UnconfirmedWriteError
from helpers.children import tell
from helpers.connection import Connection, answer
from helpers.faults import (
    APPLY,
    CLOSE,
    CUT_TLS,
    FIN,
    GATE,
    HOLD,
    JOB,
    RAW,
    READ_ALL,
    READ_HEAD,
    RST,
    SEND,
    TLS,
    Script,
    Step,
)
from helpers.layers import Authority
from helpers.wire import Wire


def unconfirmed(
    wire: Wire, outcome: str, status: int | None = None, **settings: Any
) -> UnconfirmedWriteError:
    client = wire.client(**settings)
    error = wire.fails(UnconfirmedWriteError, wire.create, client)
    assert (error.outcome, error.status, len(error.attempts)) == (outcome, status, 1)
    assert not isinstance(error, ConnectionError | TimeoutError)
    return error


# -- done, and no verdict --------------------------------------------------------------------------


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
NO_HEADS = [
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"<html>Sign in</html>",
    b"HTTP/1.1 201 Created\r\nContent-Length: -1\r\n\r\n{}",
    b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}}",
    bytes(range(256)),
]
RECORDS = {
    "a record that cannot be decrypted": b"\x17\x03\x03\x00\x20" + b"x" * 32,
    "no TLS any more": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}
NO_VERDICT: dict[str, Script] = {
    "FIN": [FIN],
    "CLOSE": [CLOSE],
    "RST": [RST],
    "nothing": [HOLD],
    "100 and FIN": [SEND(CONTINUE), FIN],
    # Which other statuses are no verdict is tested in tests/rust/client.
    "101": [SEND(answer(101, {"error": "no"}, "Upgrade: other"))],
    "503": [SEND(answer(503, {"error": "no"}, "Retry-After: 0"))],
    **{repr(head): [SEND(head), FIN] for head in NO_HEADS},
    **{name: [RAW(record), CUT_TLS] for name, record in RECORDS.items()},
}
"""Ends of a connection after a write that was done, without a verdict."""


@pytest.mark.row("A1", "A2", "A5", "A9")
@pytest.mark.parametrize("end", NO_VERDICT)
def test_a_write_that_was_done_and_got_no_verdict_is_unknown(
    wire: Wire, authority: Authority, end: str
) -> None:
    tls = [TLS(authority.context("localhost"))] if end in RECORDS else []
    wire.server.script([*tls, READ_ALL, APPLY, *NO_VERDICT[end]])
    where = {"base_url": wire.server.https, "ca_bundle": authority.pem} if tls else {}
    status = int(end) if end.isdecimal() else None
    unconfirmed(wire, "unknown", status, timeout=0.1 if end == "nothing" else 20, **where)


# -- done, and the answer is of no use -------------------------------------------------------------

WHOLE = answer(201, JOB, "x-request-id: req-7")
HEAD, _, BODY = WHOLE.partition(b"\r\n\r\n")
OPEN = b"HTTP/1.1 201 Created\r\nx-request-id: req-7\r\n"
CHUNKED = OPEN + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNK = f"{len(BODY):x}\r\n".encode() + BODY + b"\r\n"


@pytest.mark.row("A6", "C1", "C4", "C5", "C7")
@pytest.mark.parametrize(
    ("sent", "end"),
    [
        pytest.param(HEAD + b"\r\n\r\n", FIN, id="no body"),
        pytest.param(WHOLE[:-3], FIN, id="short"),
        pytest.param(WHOLE[:-3], HOLD, id="stalled"),
        pytest.param(OPEN + b"\r\n" + BODY[:-3], FIN, id="cut where its end is the connection's"),
        pytest.param(CHUNKED + CHUNK, FIN, id="no last chunk"),
        pytest.param(answer(201, {"status": "active"}, "x-request-id: req-7"), FIN, id="no id"),
    ],
)
def test_a_write_whose_answer_is_lost_after_its_head_may_have_happened(
    wire: Wire, sent: bytes, end: Step
) -> None:
    wire.server.script([READ_ALL, APPLY, SEND(sent), end])
    error = unconfirmed(wire, "unknown", 201, timeout=0.2 if end is HOLD else 20)
    assert error.request_id == "req-7"
    assert len(error.body or "") <= 257


# -- proven unsent ---------------------------------------------------------------------------------


@pytest.mark.row("A4")
@pytest.mark.parametrize("end", [FIN, CLOSE, RST])
def test_a_write_is_sent_again_only_where_nothing_of_it_came(wire: Wire, end: Step) -> None:
    # Whether a connection that ends at once took something is decided by who is faster.
    wire.server.rest(READ_ALL, APPLY, SEND(answer(201, JOB)))
    client = wire.client(max_retries=1)
    for _ in range(20):
        prompt, before = wire.prompt(), len(wire.server.connections)
        wire.server.script([end])
        try:
            wire.run(client.create_job, prompt)
        except UnconfirmedWriteError as error:
            assert (error.outcome, len(error.attempts)) == ("unknown", 1)  # noqa: PT017
            assert len(wire.server.connections) == before + 1
        else:
            first, second = wire.server.connections[before:]
            assert first.chunks == []
            assert len(second.applied) == 1


@pytest.mark.row("A4")
@pytest.mark.parametrize("end", [FIN, CLOSE, RST])
def test_a_write_whose_handshake_broke_off_is_sent_again(wire: Wire, authority: Authority, end: Step) -> None:
    context = authority.context("localhost")
    wire.server.script([end], [TLS(context), READ_ALL, APPLY, SEND(answer(201, JOB))])
    client = wire.client(base_url=wire.server.https, ca_bundle=authority.pem)
    assert wire.run(wire.create, client).id == "job-1"
    assert len(wire.server.applied) == 1


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [[READ_HEAD, SEND(answer(413))], [READ_HEAD, SEND(answer(401)), FIN]])
def test_a_refusal_before_the_body_was_read_is_one(wire: Wire, steps: Script) -> None:
    wire.server.script(steps)
    client = wire.client()
    error = wire.fails(StatusError, wire.create, client)
    assert error.outcome == "rejected"


# -- connections of their own ----------------------------------------------------------------------


@pytest.mark.row("A3")
def test_writes_to_a_server_that_resets_after_each_answer_are_all_confirmed(wire: Wire) -> None:
    wire.server.rest(READ_ALL, APPLY, SEND(answer(201, JOB, keep=True)), RST)
    client = wire.client()
    prompts = [wire.prompt() for _ in range(200)]
    jobs = [wire.run(client.create_job, prompt) for prompt in prompts]
    assert [job.id for job in jobs] == ["job-1"] * 200
    assert len(wire.server.connections) == len(wire.server.applied) == 200
    assert client.stats.retries == 0


@pytest.mark.row("A17")
def test_a_client_that_is_shared_sends_one_request_for_each_call(wire: Wire) -> None:
    gate = threading.Event()
    wire.server.rest(READ_ALL, APPLY, GATE(gate), SEND(answer(201, JOB)))
    client = wire.client()
    prompts = [wire.prompt() for _ in range(40)]

    # They are under way at the same time, as many as may be.
    def open_gate() -> None:
        wire.server.wait_for(lambda server: server.open >= 8)
        gate.set()

    opener = threading.Thread(target=open_gate)
    opener.start()
    jobs = wire.face.gather([partial(client.create_job, prompt) for prompt in prompts])
    opener.join()
    assert [job.id for job in jobs] == ["job-1"] * 40
    sent = [request.body.decode() for request in wire.server.applied]
    assert sorted(sent) == sorted(f'{{"prompt":"{prompt}"}}' for prompt in prompts)


# -- a process that was stopped --------------------------------------------------------------------

STOPPED = """
import os
limits = {settings}
ours = client(**limits)
print(json.dumps(outcome(lambda: run(lambda: {call}))))
"""


@pytest.mark.row("M2")
@pytest.mark.parametrize("settings", [{"timeout": 0.4}, {"deadline": 0.6}], ids=["timeout", "deadline"])
@pytest.mark.parametrize(
    "call", ["ours.create_job(str(os.getpid()))", "ours.get_job('job-1', project_id=str(os.getpid()))"]
)
def test_an_answer_that_came_while_the_process_was_stopped_is_read(
    wire: Wire, settings: dict[str, float], call: str
) -> None:
    def answer_from_elsewhere(connection: Connection) -> None:
        # Ctrl-Z and fg, or a laptop that sleeps: all the time of the call goes by while its answer lies in the socket.
        (number,) = re.findall(rb"\d{2,}(?=\"|/job/)", connection.request.body or connection.request.head)
        os.kill(int(number), signal.SIGSTOP)
        connection.send(answer(201, JOB))
        connection.pause(0.9)
        os.kill(int(number), signal.SIGCONT)

    wire.server.script([READ_ALL, APPLY, answer_from_elsewhere])
    told = tell(wire.face.name, STOPPED.format(settings=settings, call=call), **wire.environment)
    assert told == {"error": None}


# -- HTTP/2 -------------------------------------------------------------------------


@pytest.mark.row("A11")
def test_http_2_is_neither_offered_nor_begun(wire: Wire, authority: Authority) -> None:
    replies: Script = [READ_ALL, APPLY, SEND(answer(201, JOB))]
    wire.server.script([TLS(authority.context("localhost")), *replies], replies)
    for base_url in (wire.server.https, wire.server.url):
        client = wire.client(base_url=base_url, ca_bundle=authority.pem)
        wire.run(wire.create, client)
    hello, plain = (bytes(connection.raw.bytes) for connection in wire.server.connections)
    assert hello.startswith(b"\x16\x03")
    assert b"\x02h2" not in hello
    assert b"h2c" not in plain
    for request in wire.server.requests:
        assert request.head.startswith(b"POST /v2/agent/demo/job HTTP/1.1\r\n")
