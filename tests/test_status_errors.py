"""Answers that refuse: which class, what it carries, and that no redirect is ever followed."""

from __future__ import annotations

import re
from typing import Any

import pytest

import docplatform
from docplatform import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DocPlatformError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    StatusError,
    UnconfirmedWriteError,
    UnprocessableError,
)
from docplatform.testing import StubServer
from support import AnyClient, Face
from support.wire import Listener

CLASSES: dict[int, type[StatusError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: StatusError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: StatusError,
    408: StatusError,
    409: ConflictError,
    410: StatusError,
    413: StatusError,
    422: UnprocessableError,
    429: RateLimitError,
    451: StatusError,
    500: ServerError,
    501: ServerError,
    503: ServerError,
    599: ServerError,
}


def refused(face: Face, client: AnyClient, write: bool = False) -> Any:
    with pytest.raises(DocPlatformError) as caught:
        face.run(client.create_job("Fix it") if write else client.get_job("job-1"))
    return caught.value


@pytest.mark.parametrize("status", CLASSES)
def test_a_status_has_its_class(face: Face, stub: StubServer, status: int) -> None:
    stub.fail_next(status=status, body={"error": "no"}, headers={"x-request-id": "req-7"})
    error = refused(face, face.client(stub, max_retries=0))
    assert type(error) is CLASSES[status]
    assert (error.status, error.message, error.request_id, error.outcome) == (status, "no", "req-7", None)
    assert (error.body, error.retry_after) == ('{"error": "no"}', None)
    assert [attempt.status for attempt in error.attempts] == [status]
    assert f"status {status}: no" in str(error)


@pytest.mark.parametrize("status", CLASSES)
def test_a_write_has_the_same_classes_but_for_no_verdict(face: Face, stub: StubServer, status: int) -> None:
    stub.fail_next(status=status, body={"error": "no"})
    error = refused(face, face.client(stub), write=True)
    no_verdict = status == 408 or status >= 500
    assert type(error) is (UnconfirmedWriteError if no_verdict else CLASSES[status])
    assert (error.status, error.outcome) == (status, "unknown" if no_verdict else "rejected")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "DOCPLATFORM_API_KEY"),
        (403, "permission"),
        (404, "project_id"),
        (429, "did not say"),
        (302, "base_url"),
    ],
)
def test_the_text_says_what_to_do(face: Face, stub: StubServer, status: int, advice: str) -> None:
    stub.fail_next(status=status)
    assert advice in str(refused(face, face.client(stub, max_retries=0)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"error": "no", "details": [{"message": "limit"}, {"code": 1}, {"message": "offset"}]},
            "no; limit; offset",
        ),
        ({"message": "no"}, "no"),
        ({"error": {"message": "no", "code": 5}}, "no"),
        ({"error": 5}, None),
        ({}, None),
        ([], None),
        ("<html>no</html>", None),
        ("", None),
        (b"\xff\xfe\x00", None),
    ],
)
def test_the_services_own_words_are_the_message(
    face: Face, stub: StubServer, body: Any, message: str | None
) -> None:
    stub.fail_next(status=400, body=body)
    error = refused(face, face.client(stub))
    assert error.message == message
    assert message is None or message in str(error)


def test_what_the_service_says_is_clipped(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.fail_next(status=400, body="x" * 100_000, headers={"x-request-id": "x" * 5_000})
    error = refused(face, client)
    assert error.body == "x" * 256
    assert len(error.request_id) <= 121
    stub.fail_next(status=400, body={"error": "x" * 10_000})
    error = refused(face, client)
    assert 400 < len(error.message) <= 501
    assert len(str(error)) < 1_000


@pytest.mark.row("J8")
def test_what_the_service_says_is_shown_and_not_obeyed(face: Face, stub: StubServer) -> None:
    evil = "\x1b]52;c;x\x07\x9b2J\u202e\r\n" * 50
    client = face.client(stub)
    for body in (evil, {"error": evil}):
        stub.fail_next(status=400, body=body, headers={"x-request-id": "\x9b2J"})
        error = refused(face, client)
        assert "x1b" in error.body or "u{1b}" in error.body or "u001b" in error.body
        for text in (str(error), error.body, error.message or "", error.request_id, error.attempts[0].error):
            assert text.isprintable()
            assert len(text) < 3_000


@pytest.mark.row("B4")
@pytest.mark.parametrize(
    ("retry_after", "told"),
    [(None, None), (7, 7.0), (0, 0.0), ("007", 7.0), ("soon", None), ("-1", None), ("1.5", None), ("", None)],
)
def test_retry_after_is_in_seconds(
    face: Face, stub: StubServer, retry_after: Any, told: float | None
) -> None:
    stub.fail_next(status=429, retry_after=retry_after)
    assert refused(face, face.client(stub, max_retries=0)).retry_after == told


@pytest.mark.row("B3")
def test_retry_after_may_be_a_date(face: Face, stub: StubServer) -> None:
    dates = {"Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"}
    stub.fail_next(status=429, headers=dates)
    assert refused(face, face.client(stub, max_retries=0)).retry_after == 60


def test_a_wait_beyond_the_cap_is_not_begun(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=429, retry_after=61)
    error = refused(face, face.client(stub))
    assert (type(error), error.retry_after) == (RateLimitError, 61)
    assert len(stub.requests) == 1


# -- redirects -------------------------------------------------------------------------------------


@pytest.mark.row("A10", "G1")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("write", [True, False])
def test_no_redirect_is_followed(face: Face, stub: StubServer, status: int, write: bool) -> None:
    with StubServer() as other:
        stub.fail_next(status=status, headers={"Location": f"{other.url}/v2/agent/demo/job"})
        error = refused(face, face.client(stub), write)
        assert (type(error), error.status) == (StatusError, status)
        assert error.outcome == ("rejected" if write else None)
        assert other.url in str(error)
        assert len(stub.requests) == 1
        assert other.requests == []
        assert other.peak_connections == 0


@pytest.mark.row("G1")
@pytest.mark.parametrize("write", [True, False])
def test_no_redirect_is_followed_by_two_hops_either(face: Face, stub: StubServer, write: bool) -> None:
    with Listener() as other:
        stub.fail_next(status=302, headers={"Location": f"{other.url}/1"})
        refused(face, face.client(stub), write)
        stub.fail_next(status=302, headers={"Location": f"{stub.url}/here"})
        refused(face, face.client(stub), write)
        assert other.heads == []
    assert len(stub.requests) == 2


@pytest.mark.row("G1")
def test_no_redirect_is_followed_in_any_other_call(face: Face, stub: StubServer) -> None:
    with Listener() as other:
        client = face.client(stub)
        stub.fail_next(status=307, times=5, headers={"Location": other.url})
        for call in (
            lambda: face.run(client.send_message("job-1", "Fix it")),
            lambda: face.run(client.wait_for_job("job-1")),
            lambda: face.run(client.visitor_totals()),
            lambda: face.all(client.visitors()),
            lambda: face.run(client.request("DELETE", "/v3/things")),
        ):
            with pytest.raises(StatusError, match="redirects are never followed"):
                call()
        assert other.heads == []


@pytest.mark.row("A10", "J8")
@pytest.mark.parametrize(
    "location",
    ["", "/login", "//evil.example", "javascript:x", "https://e.example/" + "x" * 9_000, "a\tb\x85\xff"],
)
def test_where_a_redirect_leads_is_shown_fit_to_be_read(face: Face, stub: StubServer, location: str) -> None:
    stub.fail_next(status=302, headers={"Location": location})
    text = str(refused(face, face.client(stub)))
    assert re.search(r"redirects are never followed \(to .*\)", text)
    assert text.isprintable()
    assert len(text) < 400


def test_a_redirect_without_a_location_is_one_too(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=304)
    assert refused(face, face.client(stub)).status == 304
    stub.fail_next(status=300)
    assert "to nowhere" in str(refused(face, face.client(stub)))


def test_every_class_is_reached() -> None:
    below = {
        value
        for value in vars(docplatform).values()
        if isinstance(value, type) and issubclass(value, StatusError)
    }
    assert below == set(CLASSES.values())
