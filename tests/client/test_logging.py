"""The logger ``docplatform``: what is logged, when, and that nothing is printed by itself."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from docplatform import BadRequestError, NotFoundError, TransportError
from docplatform.testing import StubServer
from helpers import Face
from helpers.scripts import run_script


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name.startswith("docplatform")]


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in records(caplog)]


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    caplog.set_level(1, "docplatform")


def test_a_call_that_goes_well_says_nothing_above_debug(
    face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "docplatform")
    client = face.client(stub)
    job = face.run(client.run_job("Fix it", poll_interval=0.01))
    face.run(client.follow_up(job, "And that", poll_interval=0.01))
    assert len(face.all(client.visitors())) == 1_000
    assert lines(caplog) == []


def test_a_long_path_is_shortened(face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotFoundError) as caught:
        face.run(face.client(stub).request("GET", f"/v3/{'x' * 4_000}"))
    [record] = records(caplog)
    for shown in (str(caught.value), record.getMessage(), record.__dict__["path"]):
        assert "/v3/xxx" in shown
        assert len(shown) < 500


def test_each_attempt_is_a_record_with_fields(
    face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    stub.fail_next(status=502, headers={"x-request-id": "req-1"})
    client = face.client(stub)
    face.run(client.visitor_totals())
    face.run(client.run_job("Fix it", poll_interval=0.01))
    assert len(face.all(client.visitors())) == 1_000
    attempts: list[Any] = [record for record in records(caplog) if record.levelname != "INFO"]
    polls = sum(request.path.endswith("/job-1") for request in stub.requests)
    assert [(each.levelname, each.method, each.path, each.attempt, each.status) for each in attempts] == [
        ("WARNING", "GET", "/v1/analytics/{project_id}/visitors", 1, 502),
        ("DEBUG", "GET", "/v1/analytics/{project_id}/visitors", 2, 200),
        ("DEBUG", "POST", "/v2/agent/{project_id}/job", 1, 201),
        *[("DEBUG", "GET", "/v2/agent/{project_id}/job/{id}", 1, 200)] * polls,
        *[("DEBUG", "GET", "/v1/analytics/{project_id}/visitors", 1, 200)] * 4,
    ]
    assert len(attempts) == len(stub.requests)
    for each in attempts:
        assert 0 < each.elapsed < 30
        assert each.request_id
        assert each.request_id in each.getMessage()
        assert each.funcName not in ("log", "drive") or each.filename == "drive.py"
    assert attempts[0].request_id == "req-1"
    assert re.fullmatch(
        r"GET /v1/analytics/\{project_id\}/visitors: 200 after \d+\.\d{3} s \(request id .+\)",
        attempts[1].getMessage(),
    )


def test_every_record_has_the_attributes_that_a_formatter_may_name(
    face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    stub.fail_next(status=429, retry_after=2)
    face.run(face.client(stub).visitor_totals())
    shown = logging.Formatter(
        "%(method)s %(path)s %(project_id)s %(job_id)s %(host)s"
        " %(attempt)s %(status)s %(error_type)s %(elapsed)s %(request_id)s"
    )
    pause = next(record for record in records(caplog) if record.levelname == "INFO")
    call = "GET /v1/analytics/{project_id}/visitors demo None 127.0.0.1"
    assert shown.format(pause) == f"{call} None None None None None"


def test_a_record_names_the_project_the_job_the_host_and_the_error(
    face: Face, stub: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    client = face.client(stub, max_retries=0)
    with pytest.raises(NotFoundError):
        face.run(client.get_job("job-9"))
    stub.fail_next(drop=True)
    with pytest.raises(TransportError):
        face.run(client.conversation("conversation-1"))
    face.run(client.visitor_totals())
    # An id that holds the key is withheld, as in an error.
    with pytest.raises(NotFoundError):
        face.run(client.get_job(stub.api_key))
    seen: list[Any] = records(caplog)
    assert [(each.project_id, each.job_id, each.host, each.status, each.error_type) for each in seen] == [
        ("demo", "job-9", "127.0.0.1", 404, "NotFoundError"),
        ("demo", None, "127.0.0.1", None, "TransportError"),
        ("demo", None, "127.0.0.1", 200, None),
        ("demo", "[withheld: it repeats the API key]", "127.0.0.1", 404, "NotFoundError"),
    ]


def test_a_handler_that_fails_does_not_break_the_call(
    face: Face, stub: StubServer, unraisable: list[Any]
) -> None:
    class Broken(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise KeyError("mine")

    broken, logger = Broken(), logging.getLogger("docplatform")
    logger.addFilter(broken)
    try:
        stub.fail_next(status=400)
        with pytest.raises(BadRequestError):
            face.run(face.client(stub).get_job("job-1"))
    finally:
        logger.removeFilter(broken)
    assert len(unraisable) == 1


SILENT = """
import {first}, sys
from docplatform.testing import StubServer
import docplatform, logging
with StubServer() as stub, stub.client(max_retries=0) as client:
    stub.fail_next(status=500)
    try:
        client.get_job("job-1")
    except docplatform.ServerError:
        pass
handlers = logging.getLogger("docplatform").handlers
print([type(handler).__name__ for handler in handlers], logging.getLogger("docplatform").propagate)
"""


@pytest.mark.parametrize("first", ["docplatform", "logging"])
def test_nothing_reaches_stderr_by_itself(first: str) -> None:
    ended = run_script(SILENT.format(first=first), options=("-W", "error"))
    assert (ended.out, ended.err) == ("['NullHandler'] True\n", "")
