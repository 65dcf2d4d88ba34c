"""The outcome of a write: what is sent once, what is sent again, and what its error says (reliability.md, A)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from docplatform import (
    ConnectError,
    DocPlatformError,
    RateLimitError,
    StatusError,
    UnconfirmedWriteError,
)
from docplatform.testing import StubServer
from support import AnyClient, Face
from support.shown import shown
from support.wire import Listener, http_answer

Write = Callable[[AnyClient], Any]


@pytest.fixture(params=["create_job", "send_message", "run_job", "follow_up", "request"])
def write(request: pytest.FixtureRequest) -> Write:
    """Each way to write. The job it may need is not there: faults come before the service looks."""
    writes: dict[str, Write] = {
        "create_job": lambda client: client.create_job("Fix it"),
        "send_message": lambda client: client.send_message("job-1", "Fix it"),
        "run_job": lambda client: client.run_job("Fix it"),
        "follow_up": lambda client: client.follow_up("job-1", "Fix it"),
        "request": lambda client: client.request(
            "POST", "/v2/agent/{project_id}/job", json={"prompt": "Fix it"}
        ),
    }
    return writes[request.param]


def refused(face: Face, client: AnyClient, write: Write, kind: type[Exception] = DocPlatformError) -> Any:
    with pytest.raises(kind) as caught:
        face.run(write(client))
    return caught.value


@pytest.mark.row("A1")
def test_a_request_that_was_read_and_not_answered_is_unknown(
    face: Face, stub: StubServer, write: Write
) -> None:
    stub.fail_next(drop=True)
    error = refused(face, face.client(stub), write, UnconfirmedWriteError)
    assert (error.outcome, error.status, error.request_id, error.body) == ("unknown", None, None, None)
    assert [attempt.number for attempt in error.attempts] == [1]
    assert len(stub.requests) == 1


@pytest.mark.row("A2", "A9")
@pytest.mark.parametrize("status", [408, 500, 501, 502, 503, 504, 520, 599])
def test_no_server_error_is_a_verdict(face: Face, stub: StubServer, write: Write, status: int) -> None:
    stub.fail_next(status=status, retry_after=0, body={"error": "try again"})
    error = refused(face, face.client(stub), write, UnconfirmedWriteError)
    assert (error.outcome, error.status) == ("unknown", status)
    assert error.request_id == "stub-00000001"
    assert error.body == '{"error": "try again"}'
    assert "may or may not have happened" in str(error)
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 418, 422, 431])
def test_a_refusal_is_final(face: Face, stub: StubServer, write: Write, status: int) -> None:
    stub.fail_next(status=status, retry_after=0)
    error = refused(face, face.client(stub), write, StatusError)
    assert (error.outcome, error.status, len(error.attempts)) == ("rejected", status, 1)
    assert len(stub.requests) == 1


@pytest.mark.row("A5")
def test_a_write_that_takes_too_long_is_unknown_and_happened_once(face: Face) -> None:
    with StubServer(latency=60) as stub:
        client = face.client(stub, timeout=0.1)
        error = refused(face, client, lambda client: client.create_job("Fix it"), UnconfirmedWriteError)
        assert (error.outcome, error.status) == ("unknown", None)
        # Twice the timeout of a read.
        assert "within 0.2 s" in str(error)
        assert not isinstance(error, TimeoutError | ConnectionError)
        stub.wait_for(lambda stub: stub.requests[0].disconnected)
        assert len(stub.jobs) == len(stub.requests) == 1


def test_a_deadline_ends_a_write_too(face: Face) -> None:
    with StubServer(latency=60) as stub:
        client = face.client(stub, deadline=0.1)
        error = refused(face, client, lambda client: client.create_job("Fix it"), UnconfirmedWriteError)
        assert (error.outcome, len(error.attempts)) == ("unknown", 1)
        assert len(stub.jobs) == 1


@pytest.mark.row("A6")
@pytest.mark.parametrize("status", [200, 201, 202])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>captive portal</html>",
        '{"id": "job-1", "stat',
        "[]",
        {},
        {"id": "job-1"},
        {"status": "active"},
        {"id": 1, "status": "active"},
        {"id": "../job-1", "status": "active"},
        {"id": "job-1", "status": None},
    ],
)
def test_a_success_that_cannot_be_read_happened(
    face: Face, stub: StubServer, status: int, body: object
) -> None:
    stub.fail_next(status=status, body=body, headers={"x-request-id": "req-7"})
    error = refused(
        face, face.client(stub), lambda client: client.create_job("Fix it"), UnconfirmedWriteError
    )
    assert (error.outcome, error.status, error.request_id) == ("applied", status, "req-7")
    assert isinstance(error.body, str)
    assert len(error.body) <= 257
    assert "it happened" in str(error)
    assert len(stub.requests) == 1


@pytest.mark.row("A6")
@pytest.mark.parametrize("kept", [0, 5, 30])
def test_a_success_that_is_cut_on_the_way_happened(face: Face, kept: int) -> None:
    whole = http_answer(201, {"id": "job-1", "status": "active"}, "x-request-id: req-7")
    head, _, body = whole.partition(b"\r\n\r\n")
    with Listener(head + b"\r\n\r\n" + body[:kept]) as listener:
        client = face.make("dp_key", base_url=listener.url, project_id="demo")
        error = refused(face, client, lambda client: client.create_job("Fix it"), UnconfirmedWriteError)
        assert (error.outcome, error.status, error.request_id) == ("applied", 201, "req-7")
        assert len(listener.heads) == 1


@pytest.mark.row("A6")
def test_no_content_is_an_answer_that_happened(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=204)
    error = refused(
        face, face.client(stub), lambda client: client.create_job("Fix it"), UnconfirmedWriteError
    )
    assert (error.outcome, error.status) == ("applied", 204)


@pytest.mark.row("A6", "F4")
def test_a_message_that_is_answered_with_another_job_happened(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=200, body={"id": "job-2", "status": "active"})
    error = refused(
        face, face.client(stub), lambda client: client.send_message("job-1", "x"), UnconfirmedWriteError
    )
    assert error.outcome == "applied"
    assert "not the one asked for" in str(error)


@pytest.mark.row("A7")
def test_a_throttled_write_is_sent_again_when_the_service_says(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=429, retry_after=1)
    job = face.run(face.client(stub).create_job("Fix it"))
    first, second = stub.requests
    assert (first.status, second.status, job.id) == (429, 201, "job-1")
    assert second.time - first.time >= 1
    assert len(stub.jobs) == 1


@pytest.mark.row("A8")
@pytest.mark.parametrize(
    ("retry_after", "told"), [(None, None), (3_600, 3_600.0), ("soon", None), ("-1", None)]
)
def test_a_write_is_not_sent_again_where_the_wait_is_unknown_or_too_long(
    face: Face, stub: StubServer, write: Write, retry_after: Any, told: float | None
) -> None:
    stub.fail_next(status=429, retry_after=retry_after)
    error = refused(face, face.client(stub), write, RateLimitError)
    assert (error.outcome, error.retry_after, len(error.attempts)) == ("rejected", told, 1)
    assert len(stub.requests) == 1


@pytest.mark.row("B7")
def test_a_closed_gate_keeps_the_next_write_from_being_sent(
    face: Face, stub: StubServer, write: Write
) -> None:
    client = face.client(stub)
    stub.fail_next(status=429, retry_after=3_600)
    refused(face, client, write, RateLimitError)
    error = refused(face, client.with_options(timeout=5), write, RateLimitError)
    assert (error.outcome, error.status, error.attempts) == ("not_sent", 429, ())
    assert 3_500 < error.retry_after <= 3_600
    assert len(stub.requests) == 1
    # Reads go on, and so does another client.
    face.run(client.visitor_totals())
    face.run(face.client(stub).create_job("Fix it"))
    assert len(stub.requests) == 3


def test_a_service_that_is_not_there_was_never_reached(face: Face, write: Write) -> None:
    with StubServer() as stub:
        client = face.client(stub, max_retries=0)
    error = refused(face, client, write, ConnectError)
    assert (error.outcome, len(error.attempts)) == ("not_sent", 1)
    assert isinstance(error, ConnectionError)


@pytest.mark.row("A14")
@pytest.mark.parametrize(
    "fault", [{"drop": True}, {"status": 503}, {"status": 429}, {"status": 200, "body": "<html>"}]
)
def test_no_retry_wrapper_repeats_what_may_have_happened(
    face: Face, stub: StubServer, fault: dict[str, Any]
) -> None:
    def with_retries(call: Callable[[], Any]) -> Any:
        for _ in range(3):
            try:
                return face.run(call())
            except (ConnectionError, TimeoutError, RateLimitError):
                continue
        return "gave up"

    client = face.client(stub)
    stub.fail_next(**fault, times=10)
    if fault == {"status": 429}:
        # The one that is known to have been refused may be tried again.
        assert with_retries(lambda: client.create_job("Fix it")) == "gave up"
        assert len(stub.requests) == 3
    else:
        with pytest.raises(UnconfirmedWriteError):
            with_retries(lambda: client.create_job("Fix it"))
        assert len(stub.requests) == 1


# -- prompts ---------------------------------------------------------------------------------------


@pytest.mark.row("A18")
@pytest.mark.parametrize("prompt", ["", " ", "\n\t\r ", "\u00a0\u2003", "Fix \ud800 it"])
def test_a_prompt_that_says_nothing_is_refused_before_anything_is_sent(
    face: Face, stub: StubServer, prompt: str
) -> None:
    client = face.client(stub)
    for call in (client.create_job, client.run_job):
        with pytest.raises(ValueError, match="prompt"):
            call(prompt)
    for call in (client.send_message, client.follow_up):
        with pytest.raises(ValueError, match="prompt"):
            call("job-1", prompt)
    assert stub.peak_connections == 0


@pytest.mark.parametrize("prompt", [None, 5, b"Fix it", ["Fix it"]])
def test_a_prompt_that_is_no_text_is_a_type_error(face: Face, stub: StubServer, prompt: Any) -> None:
    client = face.client(stub)
    with pytest.raises(TypeError, match="prompt must be a str"):
        client.create_job(prompt)
    with pytest.raises(TypeError, match="prompt must be a str"):
        client.follow_up("job-1", prompt)


@pytest.mark.row("A18")
@pytest.mark.parametrize(
    "prompt", ["x", " Fix it\n", 'é日本\U0001f600\0\u2028"\\', "Fix it. " * (10 * 2**20 // 8)]
)
def test_a_prompt_arrives_as_it_was_given(face: Face, stub: StubServer, prompt: str) -> None:
    face.run(face.client(stub).create_job(prompt))
    assert stub.jobs[0].prompts == [prompt]


ECHOES = [
    "Publish the plans of project Zanzibar",
    "Rewrite the quickstart page\nand then publish Zanzibar\ton the front page",
    'Café: pages/naïve.md is to name "Zanzibar" \\ and \U0001f600 Zanzibar',
    "Publish the plan\u200b of Zanzibar\u202e",
]


@pytest.mark.parametrize("prompt", ECHOES)
@pytest.mark.parametrize("fault", [{"status": 400}, {"status": 500}, {"status": 201}])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_error_or_log_line_shows_a_prompt_that_the_service_echoes(
    face: Face,
    stub: StubServer,
    prompt: str,
    fault: dict[str, Any],
    ascii_only: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    import json

    body = json.dumps(
        {"error": f"cannot do: {prompt}", "details": [{"message": prompt}]}, ensure_ascii=ascii_only
    )
    stub.fail_next(**fault, body=body)
    error = refused(face, face.client(stub), lambda client: client.create_job(prompt))
    told = "\n".join([str(error), repr(vars(error)), caplog.text])
    assert "[prompt]" in told
    assert "Zanzibar" not in told


@pytest.mark.row("H2")
@pytest.mark.parametrize("start", [0, 100, 235, 250])
def test_no_error_shows_a_key_that_the_service_echoes(face: Face, stub: StubServer, start: int) -> None:
    stub.fail_next(status=400, body="x" * start + stub.api_key)
    error = refused(face, face.client(stub), lambda client: client.create_job("Fix it"))
    assert stub.api_key[:8] not in str(error) + repr(vars(error))
    filler = "x" * (start + 240)
    stub.fail_next(status=400, body={"error": filler + stub.api_key}, headers={"x-request-id": stub.api_key})
    error = refused(face, face.client(stub), lambda client: client.create_job("Fix it"))
    assert stub.api_key[:8] not in str(error) + repr(vars(error))
    assert stub.api_key not in shown(error)


@pytest.mark.row("A17")
def test_threads_that_share_a_client_send_one_request_for_each_call(stub: StubServer) -> None:
    with stub.client() as client, ThreadPoolExecutor(16) as pool:
        jobs = list(pool.map(lambda number: client.create_job(f"Task {number}"), range(100)))
    assert len({job.id for job in jobs}) == len(stub.jobs) == len(stub.requests) == 100
    assert sorted(job.prompts[0] for job in stub.jobs) == sorted(f"Task {number}" for number in range(100))
