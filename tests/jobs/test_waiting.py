"""wait_for_job, run_job, follow_up: what ends a wait, which failures it retries, and what is known when it ends early."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from docplatform import (
    DataWarning,
    JobFailedError,
    ServerError,
    StatusError,
    WaitTimeoutError,
)
from docplatform.testing import StubServer
from helpers import AnyClient, Face

SOON: dict[str, Any] = {"poll_interval": 0.01, "max_poll_interval": 0.02}


@pytest.mark.parametrize("as_id", [True, False])
def test_a_wait_looks_even_where_the_snapshot_is_final(face: Face, stub: StubServer, as_id: bool) -> None:
    client = face.client(stub)
    job = face.run(client.run_job("Fix it", **SOON))
    stub.jobs[0].status = "archived"
    again = face.run(client.wait_for_job(job.id if as_id else job, **SOON))
    assert (again.status, again.archived_at is None) == ("archived", False)


@pytest.mark.row("F5")
def test_a_failed_job_is_an_error_that_carries_it(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.script_job("active", "failed")
    with pytest.raises(JobFailedError, match="job-1 failed") as caught:
        face.run(client.run_job("Fix it", **SOON))
    job = caught.value.job
    assert job is not None
    assert (job.id, job.status) == ("job-1", "failed")
    with pytest.raises(JobFailedError):
        face.run(client.wait_for_job(job, **SOON))
    with pytest.raises(JobFailedError):
        face.run(client.wait_for_job(job.id, check=True, **SOON))
    assert face.run(client.wait_for_job(job, check=False, **SOON)) == job


@pytest.mark.row("F1")
def test_a_wait_that_is_too_long_carries_the_job_and_can_go_on(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.script_job("active")
    with pytest.raises(
        WaitTimeoutError, match=r"job-1 was not final after 0\.05 s \(last status: active\)"
    ) as caught:
        face.run(client.run_job("Fix it", timeout=0.05, **SOON))
    assert isinstance(caught.value, TimeoutError)
    job = caught.value.job
    assert job is not None
    assert (job.id, job.status) == ("job-1", "active")
    assert len(stub.jobs) == 1
    stub.jobs[0].status = "completed"
    assert face.run(client.wait_for_job(job, **SOON)).status == "completed"


@pytest.mark.row("N5")
def test_a_status_that_is_not_known_is_warned_of_and_can_end_the_wait(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.script_job("active", "cancelled")
    with (
        pytest.warns(DataWarning, match=r"the status 'cancelled', which this client does not know") as warned,
        pytest.raises(
            WaitTimeoutError, match=r"which this client does not know.*final=\(\"cancelled\",\)"
        ) as caught,
    ):
        face.run(client.run_job("Fix it", timeout=0.3, poll_interval=0.01, max_poll_interval=0.01))
    assert len(warned) == 1
    assert warned[0].filename == __file__ or face.name == "async"
    assert "keeps running" not in str(caught.value)
    final: dict[str, Any] = {"final": ("cancelled",), **SOON}
    assert face.run(client.wait_for_job("job-1", **final)).status == "cancelled"
    stub.fail_next(200, times=2, body={"id": "job-1", "status": "cancelled"}, path="/job/job-1")
    assert face.run(client.follow_up("job-1", "And that", settle=0, **final)).status == "cancelled"
    # A final status may be the old one, and the error does not advise to name it as final.
    stub.fail_next(200, times=99, body={"id": "job-1", "status": "cancelled"}, path="/job/job-1")
    with pytest.raises(WaitTimeoutError) as caught:
        face.run(client.follow_up("job-1", "And that", **{**final, "timeout": 0.1}))
    told = (
        'showed no new status within 0.1 s (last status: cancelled); wait for it with wait_for_job("job-1")'
    )
    assert str(caught.value).endswith(told)
    stub.reset()
    stub.script_job("cancelled")
    assert face.run(client.run_job("Fix it", **final)).status == "cancelled"
    stub.script_job("cancelled")
    report = face.run(client.run_jobs({"links": "Fix it"}, **final))
    assert report.done["links"].status == "cancelled"


def test_every_duration_may_be_a_timedelta(face: Face, stub: StubServer) -> None:
    soon = timedelta(milliseconds=5)
    durations = {"timeout": timedelta(minutes=1), "poll_interval": soon, "max_poll_interval": soon}
    client = face.client(stub)
    job = face.run(client.run_job("Fix it", **durations))
    job = face.run(client.wait_for_job(job, **durations))
    assert face.run(client.follow_up(job, "And that", settle=soon, **durations)).is_final


@pytest.mark.row("F8")
@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("timeout", -1),
        ("timeout", timedelta(seconds=-1)),
        ("poll_interval", 0),
        ("max_poll_interval", float("inf")),
    ],
)
def test_durations_out_of_range_are_refused_at_the_call(
    face: Face, stub: StubServer, name: str, bad: Any
) -> None:
    client = face.client(stub)
    calls: list[Callable[..., Any]] = [client.wait_for_job, client.run_job]
    for call in calls:
        with pytest.raises(ValueError, match=f"^{name} must be a finite number of seconds"):
            call("job-1", **{name: bad})
    for more in ({name: bad}, {"settle": -1}, {"settle": float("nan")}):
        with pytest.raises(ValueError, match=f"^{next(iter(more))} must be"):
            client.follow_up("job-1", "And that", **more)
    assert stub.peak_connections == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": "60"},
        {"poll_interval": None},
        {"check": "yes"},
        {"final": "cancelled"},
        {"final": 3},
        {"on_poll": "print"},
        {"tiemout": 3},
    ],
)
def test_wrong_types_are_type_errors_at_the_call(face: Face, stub: StubServer, wrong: dict[str, Any]) -> None:
    client = face.client(stub)
    with pytest.raises(TypeError):
        client.wait_for_job("job-1", **wrong)
    with pytest.raises(TypeError):
        client.run_job("Fix it", **wrong)
    assert stub.peak_connections == 0


# -- failures of a poll ------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_a_failed_poll_of_a_job_that_was_just_written_advises_no_second_write(
    face: Face, stub: StubServer, status: int
) -> None:
    goes_on = '; job job-1 has the prompt; wait for it with wait_for_job("job-1")'
    # The second client is not kept waiting by the answer to the first one.
    first, second = (face.client(stub, max_retry_after=1) for _ in range(2))
    for before, write in enumerate((first.run_job, partial(second.follow_up, "job-1"))):
        stub.fail_next(status=status, retry_after=2, path="/job/job-1", after=before)
        with pytest.raises(StatusError) as caught:
            face.run(write("Fix it", timeout=0.5, **SOON))
        error = caught.value
        assert error.job is not None
        assert (error.outcome, error.job.id) == ("applied", "job-1")
        assert str(error).endswith(goes_on)
        assert "again" not in str(error)
    assert stub.jobs[0].prompts == ["Fix it", "Fix it"]


# -- polls that all fail, and a message before a wait ----------------------------------------------


def test_a_wait_that_saw_nothing_but_failures_says_so(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=503, times=1_000)
    client = face.client(stub, max_retries=0)
    with pytest.raises(WaitTimeoutError, match="never seen") as caught:
        face.run(client.wait_for_job("job-1", timeout=0.05, **SOON))
    assert caught.value.job is None
    assert isinstance(caught.value.__cause__, ServerError)


def finished(face: Face, client: AnyClient) -> Any:
    return face.run(client.run_job("Fix it", **SOON))


@pytest.mark.row("F2")
@pytest.mark.parametrize("stale", [0, 3])
def test_an_old_final_status_is_not_taken_for_the_new_one(face: Face, stale: int) -> None:
    with StubServer(stale_polls=stale, active_polls=1) as stub:
        client = face.client(stub)
        job = finished(face, client)
        seen: list[str] = []
        done = face.run(
            client.follow_up(job, "And that", on_poll=lambda job: seen.append(job.status), **SOON)
        )
        assert done.status == "completed"
        assert seen == [*["completed"] * stale, "active", "completed"]
        assert stub.jobs[0].prompts == ["Fix it", "And that"]
