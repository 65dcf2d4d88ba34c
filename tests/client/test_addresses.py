"""Where a request goes and what it carries: projects, ids, paths, headers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import docplatform
from docplatform.testing import StubServer
from helpers import AnyClient, Face

JOB = {"id": "job-1", "status": "active"}

# -- projects --------------------------------------------------------------------------------------


@pytest.mark.stub(projects=("demo", "other", "third"))
def test_the_project_of_a_call_is_its_argument_then_the_jobs_then_the_clients(
    face: Face, stub: StubServer
) -> None:
    client = face.client(stub, project_id="demo")
    job = face.run(client.create_job("Fix it", project_id="other"))
    assert job.project_id == "other"
    assert face.run(client.get_job(job)).project_id == "other"
    assert face.run(client.send_message(job, "And that")).project_id == "other"
    assert face.run(client.wait_for_job(job, poll_interval=0.01)).project_id == "other"
    assert face.run(client.follow_up(job, "Now this", poll_interval=0.01)).project_id == "other"
    assert {request.path.split("/")[3] for request in stub.requests} == {"other"}
    calls: list[Callable[[], Any]] = [
        lambda: client.get_job(job, project_id="third"),
        lambda: client.get_job(job.id),
        lambda: client.send_message(job, "And that", project_id="third"),
        lambda: client.wait_for_job(job, project_id="third"),
        lambda: client.follow_up(job.id, "And that"),
    ]
    sent = len(stub.requests)
    for call in calls:
        with pytest.raises(docplatform.NotFoundError):
            face.run(call())
    projects = [request.path.split("/")[3] for request in stub.requests[sent:]]
    assert projects == ["third", "demo", "third", "third", "demo"]


def test_a_client_without_a_project_needs_one_in_the_call(face: Face, stub: StubServer) -> None:
    client = face.client(stub, project_id=None)
    calls: list[Callable[..., Any]] = [
        lambda **project: client.create_job("Fix it", **project),
        lambda **project: client.get_job("job-1", **project),
        lambda **project: client.visitor_totals(**project),
    ]
    for call in calls:
        with pytest.raises(docplatform.ConfigurationError, match="DOCPLATFORM_PROJECT_ID"):
            call()
        face.run(call(project_id="demo"))
    with pytest.raises(docplatform.ConfigurationError, match="project_id="):
        client.visitors()
    assert len(stub.requests) == len(calls)


# -- ids -------------------------------------------------------------------------------------------


@pytest.mark.row("G8")
def test_ids_that_could_change_the_path_are_refused_before_anything_is_sent(
    face: Face, stub: StubServer
) -> None:
    """One of them; all of them are tried in tests/rust/config/url.rs."""
    client, bad = face.client(stub), ".."
    with_job: list[Callable[[AnyClient, str], Any]] = [
        lambda client, bad: client.get_job(bad),
        lambda client, bad: client.send_message(bad, "Fix it"),
        lambda client, bad: client.wait_for_job(bad),
        lambda client, bad: client.follow_up(bad, "Fix it"),
    ]
    for call in with_job:
        with pytest.raises(ValueError, match="the job's id"):
            call(client, bad)
    with_project: list[Callable[[AnyClient, str], Any]] = [
        lambda client, bad: client.create_job("Fix it", project_id=bad),
        lambda client, bad: client.get_job("job-1", project_id=bad),
        lambda client, bad: client.run_job("Fix it", project_id=bad),
        lambda client, bad: client.visitors(project_id=bad),
        lambda client, bad: client.visitor_totals(project_id=bad),
    ]
    for call in with_project:
        with pytest.raises(ValueError, match="project_id"):
            call(client, bad)
    assert stub.peak_connections == 0


@pytest.mark.parametrize("wrong", [None, 5, b"job-1", ["job-1"], {"id": "job-1"}])
def test_what_is_no_job_is_a_type_error(face: Face, stub: StubServer, wrong: Any) -> None:
    client = face.client(stub)
    for call in (client.get_job, client.wait_for_job):
        with pytest.raises(TypeError, match="a Job or its id"):
            call(wrong)
    for call in (client.send_message, client.follow_up):
        with pytest.raises(TypeError, match="a Job or its id"):
            call(wrong, "Fix it")


REQUIRED = {
    "job": "job-1",
    "prompt": "Fix it",
    "prompts": {"links": "Fix it"},
    "name": "docs-1.4",
    "method": "GET",
    "path": "/v1/rows/{project_id}",
    "items": "rows",
    "thread_id": "thread-1",
}


@pytest.mark.parametrize(
    "text", ["project_id", "method", "path", "items", "has_more", "next_cursor", "resume", "thread_id"]
)
def test_a_text_of_another_type_is_named(face: Face, stub: StubServer, text: str) -> None:
    client = face.client(stub)
    methods = {name: getattr(client, name) for name in dir(client) if not name.startswith("_")}
    taken = {
        name: inspect.signature(method).parameters for name, method in methods.items() if callable(method)
    }
    wanted = {name: parameters for name, parameters in taken.items() if text in parameters}
    assert wanted
    for name, parameters in wanted.items():
        given = {
            one: REQUIRED[one] for one in parameters if parameters[one].default is inspect.Parameter.empty
        }
        with pytest.raises(TypeError, match=f"^{text} must be a str, not int"):
            methods[name](**{**given, text: 5})


@pytest.mark.parametrize("text", ["project_id", "base_url", "organization"])
def test_a_text_of_another_type_is_named_where_a_store_is_read(text: str, store: Path) -> None:
    with pytest.raises(TypeError, match=f"^{text} must be a str, not int"):
        docplatform.read_visitors(store, **{text: 5})  # type: ignore[call-overload]


# -- paths -----------------------------------------------------------------------------------------


def test_jobs_are_read_where_job_path_says(face: Face, stub: StubServer) -> None:
    client = face.client(stub, job_path="/v9/jobs/{id}/of/{project_id}")
    stub.fail_next(status=200, times=2, body={**JOB, "status": "completed"}, path="/v9/")
    face.run(client.run_job("Fix it", poll_interval=0.01))
    assert [request.path for request in stub.requests] == ["/v2/agent/demo/job", "/v9/jobs/job-1/of/demo"]


# -- headers ---------------------------------------------------------------------------------------


@pytest.mark.row("G22")
def test_every_request_carries_the_same_few_headers(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    face.run(client.create_job("Fix it"))
    face.run(client.get_job("job-1"))
    post, get = (dict(request.headers) for request in stub.requests)
    both = {
        "host": stub.url.removeprefix("http://"),
        "user-agent": f"docplatform/{docplatform.__version__}",
        "authorization": "Bearer ***",
        "accept": "application/json",
        "accept-encoding": "identity",
    }
    assert get == both
    assert post == {**both, "content-type": "application/json", "content-length": "19"}


def test_custom_headers_arrive_with_every_request(face: Face, stub: StubServer) -> None:
    client = face.client(stub, headers={"X-Team": "docs", "x-trace": "a b", "x-empty": ""})
    face.run(client.create_job("Fix it"))
    face.all(client.visitors(max_rows=1))
    face.run(client.request("GET", "/v1/analytics/{project_id}/visitors"))
    for request in stub.requests:
        names = ("x-team", "x-trace", "x-empty", "authorization")
        assert [request.headers[name] for name in names] == ["docs", "a b", "", "Bearer ***"]
