"""``run_jobs``: the outcome of every job, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    ConfigurationError,
    JobsReport,
    UnconfirmedWriteError,
    UnprocessableError,
    WaitTimeoutError,
)
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.cli import SOON, Cli
from helpers.once import posts
from helpers.phases import HOLD, pending

FAST: dict[str, Any] = {"poll_interval": 0.01}
PROMPTS = {f"page-{number}": f"Fix page {number}" for number in range(20)}


def test_every_outcome_is_in_the_report_in_the_order_of_the_prompts(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.fail_next(status=422, path="/job")
    stub.fail_next(drop=True, path="/job")
    stub.script_job("failed")
    report = face.run(client.run_jobs(PROMPTS, concurrency=1, **FAST))
    assert isinstance(report.failed["page-0"], UnprocessableError)
    assert report.failed["page-2"].status == "failed"
    assert isinstance(report.unknown["page-1"], UnconfirmedWriteError)
    assert list(report.done) == list(PROMPTS)[3:]
    assert {job.status for job in report.done.values()} == {"completed"}
    assert report.requests == len(stub.requests)
    found = {row["name"]: (row["result"], row["status"], row["pr_link"]) for row in report.to_dicts()}
    assert found["page-1"] == ("unknown", None, None)
    assert found["page-3"] == ("done", "completed", report.done["page-3"].pr_link)


@pytest.mark.stub(active_polls=1_000_000)
def test_at_most_concurrency_jobs_run_at_a_time(async_face: AsyncFace, stub: StubServer) -> None:
    client = async_face.client(stub)

    def are_polled() -> bool:
        return sum(request.method == "GET" for request in stub.requests) >= 20

    async_face.cancel(lambda: client.run_jobs(PROMPTS, concurrency=3, **FAST), are_polled)
    assert posts(stub) == 3


def test_a_job_that_is_not_final_in_time_is_unknown_and_keeps_its_snapshot(
    face: Face, stub: StubServer
) -> None:
    stub.script_job("active")
    report = face.run(face.client(stub).run_jobs({"links": "Fix it"}, timeout=0, **FAST))
    error = report.unknown["links"]
    assert (type(error), error.job.status) == (WaitTimeoutError, "active")


def test_on_done_gets_each_result_and_may_be_a_coroutine_function(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    seen: list[tuple[str, object]] = []

    async def later(name: str, result: object) -> None:
        await asyncio.sleep(0)
        seen.append((name, result))

    on_done: Any = later if face.name == "async" else lambda name, result: seen.append((name, result))
    report = face.run(client.run_jobs(PROMPTS, on_done=on_done, **FAST))
    assert dict(seen) == report.done
    if face.name == "sync":
        with pytest.raises(TypeError, match="on_done is a coroutine function"):
            client.run_jobs(PROMPTS, on_done=later)


def test_wrong_prompts_are_refused_before_anything_is_sent(face: Face, stub: StubServer, client: Any) -> None:
    without_store = face.client(stub)
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: client.run_jobs(["Fix it"]), TypeError, "a dict from names to prompts"),
        (lambda: client.run_jobs({"links": " "}), ValueError, r'prompts\["links"\]: the prompt is empty'),
        (lambda: client.run_jobs({"links": 1}), TypeError, "a prompt in prompts must be"),
        (
            lambda: client.run_jobs({"": "Fix it"}, once=True),
            ValueError,
            r'prompts\[""\]: once must be a name of',
        ),
        (lambda: client.run_jobs({1: "Fix it"}, once=True), TypeError, "a name in prompts must be a str"),
        (lambda: client.run_jobs(PROMPTS, concurrency=0), ValueError, "concurrency must be at least 1"),
        (lambda: without_store.run_jobs(PROMPTS, once=True), ConfigurationError, "store"),
    ]
    for call, error, words in calls:
        with pytest.raises(error, match=words):
            face.run(call())
    assert face.run(client.run_jobs({})) == JobsReport({}, {}, {}, 0)
    assert stub.requests == []


@pytest.mark.row("M11")
@pytest.mark.parametrize("held", ["creation", "wait"])
def test_a_cancelled_call_reports_the_jobs_that_were_begun(
    stub: StubServer, async_face: AsyncFace, held: str
) -> None:
    client = async_face.client(stub)
    stub.latency = HOLD if held == "creation" else 0
    for _ in range(2):
        stub.script_job("active")

    def begun(stub: StubServer) -> bool:
        if held == "creation":
            return len(pending(stub)) == 2
        return len({request.path for request in stub.requests if request.method == "GET"}) == 2

    async def cancelled() -> Any:
        task = asyncio.create_task(client.run_jobs(PROMPTS, concurrency=2, **FAST))
        await asyncio.to_thread(stub.wait_for, begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return caught.value

    error = async_face.runner.run(cancelled())
    done, failed, unknown, requests = error.report
    assert (done, failed, list(unknown)) == ({}, {}, ["page-0", "page-1"])
    assert requests >= 2
    for outcome in unknown.values():
        known = outcome.outcome if held == "creation" else outcome.status
        assert known == ("unknown" if held == "creation" else "active")
    assert "attribute report" in error.__notes__[0]
    stub.latency = 0


def test_an_exception_of_on_done_carries_the_report(face: Face, stub: StubServer) -> None:
    client = face.client(stub)

    def on_done(name: str, result: object) -> None:
        raise LookupError(name)

    with pytest.raises(LookupError) as caught:
        face.run(client.run_jobs(PROMPTS, concurrency=1, on_done=on_done, **FAST))
    report: JobsReport = caught.value.report  # type: ignore[attr-defined]
    assert list(report.done)[:1] == ["page-0"]
    assert set(report.done) | set(report.unknown) <= {"page-0", "page-1"}


@pytest.mark.row("M11")
def test_500_jobs_under_faults_are_each_created_once(face: Face, stub: StubServer, client: Any) -> None:
    prompts = {f"page-{number}": f"Fix page {number}" for number in range(500)}
    for _ in range(40):
        stub.fail_next(status=503, retry_after=0, path="/job")
        stub.fail_next(status=422, path="/job")
        stub.fail_next(drop=True, path="/job")
    how: dict[str, Any] = {"once": True, "concurrency": 32, **FAST}
    first = face.run(client.run_jobs(prompts, **how))
    again = face.run(client.run_jobs(prompts, **how))
    assert [len(found) for found in first[:3]] != [500, 0, 0]
    assert len(again.done) + len(again.unknown) == 500
    assert set(again.unknown) <= set(first.unknown)
    created = Counter(job.prompts[0] for job in stub.jobs)
    assert set(created.values()) == {1}, "a job was created twice"


def test_the_command_runs_the_prompts_of_a_file(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    file = tmp_path / "prompts.json"
    file.write_text(json.dumps({"links": "Fix the links", "footer": "Shorten the footer"}))
    command = ("job", "run", "--file", str(file), "--store", str(tmp_path / "docs.db"), *SOON)
    for expected in (2, 2):
        ended = cli(*command, "--json")
        assert ended.status == 0, ended.err
        found = json.loads(ended.out)
        assert [job["result"] for job in found["jobs"]] == ["done", "done"]
        assert [found[result] for result in ("done", "failed", "unknown")] == [2, 0, 0]
        assert posts(stub) == expected
    assert "https://github.com/example/docs/pull/1" in cli(*command).out
    stub.script_job("failed")
    file.write_text(json.dumps({"header": "Shorten the header"}))
    assert cli(*command).status == 5
    stub.fail_next(drop=True, path="/job")
    file.write_text(json.dumps({"sidebar": "Shorten the sidebar"}))
    ended = cli(*command, "--json")
    assert ended.status == 7
    (error,) = (job["error"] for job in json.loads(ended.out)["jobs"])
    assert (error["class"], error["outcome"]) == ("UnconfirmedWriteError", "unknown")
    assert "Then run this again." in error["message"]
    for wrong in ("{", "[1]", '{"a": 1}'):
        file.write_text(wrong)
        assert cli(*command).status == 2
