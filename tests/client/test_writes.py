"""The outcome of a write: what is sent once, what its error says, and which prompts are sent (docs/maintainers/faults.md, A)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from docplatform import (
    BadRequestError,
    ConfigurationError,
    DocPlatformError,
    RateLimitError,
    UnconfirmedWriteError,
)
from docplatform.testing import StubServer
from helpers import AnyClient, Face

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


def test_a_write_without_a_project_was_not_sent(face: Face, stub: StubServer, write: Write) -> None:
    client = face.client(stub).with_options(project_id=None)
    error = refused(face, client, write, ConfigurationError)
    assert error.outcome == "not_sent"
    assert stub.requests == []
    with pytest.raises(ConfigurationError) as caught:
        face.run(client.visitor_totals())
    assert caught.value.outcome is None


@pytest.mark.parametrize("failure", [MemoryError, RecursionError])
def test_a_write_whose_error_cannot_be_made_has_a_note_of_its_outcome(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    def fail(message: str) -> None:
        raise failure

    monkeypatch.setattr("docplatform.errors.UnconfirmedWriteError", fail)
    stub.fail_next(500)
    error = refused(face, face.client(stub), lambda client: client.create_job("Fix it"), failure)
    assert "outcome: unknown" in error.__notes__[0]


@pytest.mark.row("A1", "A2", "A6", "A8", "A9", "N4")
@pytest.mark.parametrize(
    ("fault", "kind", "outcome"),
    [
        ({"drop": True}, UnconfirmedWriteError, "unknown"),
        ({"status": 503, "retry_after": 0}, UnconfirmedWriteError, "unknown"),
        ({"status": 400, "retry_after": 0}, BadRequestError, "rejected"),
        ({"status": 429, "retry_after": 3_600}, RateLimitError, "rejected"),
        ({"status": 200, "body": "<html>"}, UnconfirmedWriteError, "unknown"),
    ],
)
def test_each_way_to_write_is_sent_once_and_says_what_became_of_it(
    face: Face, stub: StubServer, write: Write, fault: dict[str, Any], kind: type[Any], outcome: str
) -> None:
    """One case for each verdict; which failure has which is tested in tests/rust/client/policy.rs."""
    stub.fail_next(**fault)
    error = refused(face, face.client(stub), write)
    assert type(error) is kind
    assert (error.outcome, error.status) == (outcome, fault.get("status"))
    assert error.request_id == (None if "drop" in fault else "stub-00000001")
    assert [attempt.number for attempt in error.attempts] == [1]
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
def test_a_prompt_of_another_type_is_a_type_error(face: Face, stub: StubServer, prompt: Any) -> None:
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
