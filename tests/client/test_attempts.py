"""``on_attempt=``: a function that gets each attempt of a client's requests."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
from typing import Any

import pytest

from docplatform import Attempt, NotFoundError, ResponseError
from docplatform._hooks.logging import FIELDS
from docplatform.testing import StubServer
from helpers import AnyClient, AsyncFace, Face
from helpers.pages import rows, serve


def short(attempts: list[Attempt]) -> list[tuple[int, int | None, str | None]]:
    """Each attempt's number, status, and the class of its error."""
    return [
        (attempt.number, attempt.status, attempt.error and attempt.error.split(":")[0])
        for attempt in attempts
    ]


def test_each_attempt_is_handed_over_once_it_ended(face: Face, stub: StubServer) -> None:
    attempts: list[Attempt] = []
    client = face.client(stub, on_attempt=attempts.append)
    stub.fail_next(status=503, path="/job/")
    assert face.run(client.run_job("Fix it", poll_interval=0.01)).status == "completed"
    polls = [(1, 200, None)] * (len(stub.requests) - 3)
    assert short(attempts) == [(1, 201, None), (1, 503, "ServerError"), (2, 200, None), *polls]


def test_a_failed_call_hands_over_the_attempts_of_its_error(face: Face, stub: StubServer) -> None:
    attempts: list[Attempt] = []
    client = face.client(stub, on_attempt=attempts.append, max_retries=1)
    stub.fail_next(status=503, times=2)
    with pytest.raises(Exception, match="503") as caught:
        face.run(client.get_job("job-1"))
    assert tuple(attempts) == caught.value.attempts  # type: ignore[attr-defined]
    with pytest.raises(NotFoundError):
        face.run(client.get_job("job-1"))
    serve(stub, "no job")
    with pytest.raises(ResponseError):
        face.run(client.get_job("job-1"))
    face.run(client.visitor_totals())
    assert short(attempts[2:]) == [
        (1, 404, "NotFoundError"),
        (1, 200, "ResponseError"),
        (1, 200, None),
    ]
    last = attempts[-1]
    assert 0 < last.elapsed < 30
    assert last == Attempt(1, 200, None, last.elapsed, 0)


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_attempts_of_pages_come_to_the_caller_that_reads_them(face: Face, prefetch: int) -> None:
    where: list[Any] = []

    def on_attempt(attempt: Attempt) -> None:
        task = asyncio.current_task() if face.name == "async" else None
        where.append((threading.get_ident(), task is not None))

    with StubServer(rows(0, 40)) as stub:
        client = face.client(stub, on_attempt=on_attempt)
        assert len(face.all(client.visitors(page_size=10, prefetch=prefetch, max_rows=40))) == 40
    assert where == [(threading.get_ident(), face.name == "async")] * 4


def test_an_error_of_the_function_is_logged_and_changes_nothing(
    face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(attempt: Attempt) -> None:
        raise KeyError("mine")

    job = face.run(face.client(stub, on_attempt=fails).create_job("Fix it"))
    assert job.status == "active"
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.getMessage() == "on_attempt raised an error, which changes nothing"
    known = {field: getattr(record, field) for field in FIELDS}
    assert (known["project_id"], known["host"], known["status"]) == ("demo", "127.0.0.1", 201)
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], KeyError)


def test_an_interrupt_in_the_function_ends_the_call(face: Face, stub: StubServer) -> None:
    def interrupted(attempt: Attempt) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        face.run(face.client(stub, on_attempt=interrupted).get_job("job-1"))


def test_a_handle_may_have_another_function(face: Face, stub: StubServer) -> None:
    mine: list[Attempt] = []
    other: list[Attempt] = []
    client = face.client(stub, on_attempt=mine.append)
    handle: AnyClient = client.with_options(on_attempt=other.append)
    face.run(handle.visitor_totals())
    face.run(client.with_options(on_attempt=None).visitor_totals())
    face.run(client.with_options(timeout=9).visitor_totals())
    assert (len(mine), len(other)) == (1, 1)


def test_a_copy_has_the_function(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
    attempts: list[Attempt] = []
    with copy.copy(stub.client(on_attempt=attempts.append)) as client:
        client.visitor_totals()
    assert len(attempts) == 1


async def coroutine(attempt: Attempt) -> None: ...


@pytest.mark.parametrize(
    ("value", "text"), [(5, "on_attempt must be callable"), (coroutine, "which is not awaited")]
)
def test_what_is_no_plain_function_is_refused(face: Face, stub: StubServer, value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        face.client(stub, on_attempt=value)


def test_the_function_may_use_the_client(stub: StubServer) -> None:
    seen: list[int] = []

    def on_attempt(attempt: Attempt) -> None:
        seen.append(attempt.number)
        if len(seen) == 1:
            client.visitor_totals()

    with stub.client(on_attempt=on_attempt) as client:
        client.create_job("Fix it")
    assert seen == [1, 1]


def test_the_function_brings_no_lines_of_the_log(
    async_face: AsyncFace, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "docplatform")
    attempts: list[Attempt] = []
    async_face.run(async_face.client(stub, on_attempt=attempts.append).visitor_totals())
    assert (len(attempts), caplog.records) == (1, [])
