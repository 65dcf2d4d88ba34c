"""Answers that refuse a request: the class and attributes of their errors. The policy is tested in the core."""

from __future__ import annotations

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
    UnprocessableError,
)
from docplatform.testing import StubServer
from helpers import AnyClient, Face

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


def refused(face: Face, client: AnyClient) -> Any:
    with pytest.raises(DocPlatformError) as caught:
        face.run(client.get_job("job-1"))
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


@pytest.mark.parametrize("status", [500, 501, 507, 599])
def test_an_error_of_the_server_says_to_call_later(face: Face, stub: StubServer, status: int) -> None:
    stub.fail_next(status=status, body={"error": "no"})
    assert "this often passes: call again later" in str(refused(face, face.client(stub, max_retries=0)))


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


def test_every_class_is_reached() -> None:
    below = {
        value
        for value in vars(docplatform).values()
        if isinstance(value, type) and issubclass(value, StatusError)
    }
    assert below == set(CLASSES.values())
