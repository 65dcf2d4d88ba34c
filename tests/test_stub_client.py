"""The stub as users' own tests see it: through the real client."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from docplatform import (
    AsyncClient,
    AuthenticationError,
    Client,
    NotFoundError,
    RateLimitError,
    ServerError,
    TransportError,
)
from docplatform.testing import StubServer
from support import Face


def test_the_fixture_is_a_fresh_stub(docplatform_stub: StubServer, face: Face) -> None:
    assert isinstance(docplatform_stub, StubServer)
    assert (docplatform_stub.requests, docplatform_stub.jobs) == ([], [])
    client = face.client(docplatform_stub)
    job = face.run(client.run_job("Update the changelog", poll_interval=0.01))
    assert (job.status, job.pr_link) == ("completed", "https://github.com/example/docs/pull/1")
    assert len(face.all(client.visitors())) == 1_000


@pytest.mark.parametrize("docplatform_stub", [{"visitors": 3, "active_polls": 0}], indirect=True)
def test_the_fixture_takes_settings(docplatform_stub: StubServer, face: Face) -> None:
    client = face.client(docplatform_stub)
    assert len(face.all(client.visitors())) == 3
    face.run(client.run_job("Update the changelog", poll_interval=0.01))
    assert docplatform_stub.jobs[0].polls == 1


def test_its_clients_are_ready_to_use_and_take_settings(stub: StubServer) -> None:
    with stub.client() as client:
        assert type(client) is Client
        assert repr(client) == f"Client(base_url='{stub.url}', project_id='demo', api_key='…demo')"
    assert type(stub.async_client()) is AsyncClient
    for make in (stub.client, stub.async_client):
        assert "project_id='other'" in repr(make(project_id="other"))
        with pytest.raises(ValueError, match="timeout"):
            make(timeout=0)
        with pytest.raises(TypeError, match="tiemout"):
            make(tiemout=3)


def test_both_faces_send_the_same(stub: StubServer) -> None:
    import asyncio

    def calls(client: Any) -> list[Any]:
        return [
            lambda: client.create_job("Fix it"),
            lambda: client.get_job("job-1"),
            lambda: client.send_message("job-1", "And that"),
            lambda: client.visitor_totals(date_from="2026-01-01"),
            lambda: client.request("GET", "/v1/analytics/{project_id}/visitors", params={"limit": 2}),
        ]

    def sent() -> list[Any]:
        return [(r.method, r.path, r.query, r.headers, r.json, r.status) for r in stub.requests]

    with stub.client() as client:
        for call in calls(client):
            call()
    blocking = sent()
    stub.reset()

    async def use() -> None:
        async with stub.async_client() as client:
            for call in calls(client):
                await call()

    asyncio.run(use())
    assert sent() == blocking


def test_what_was_sent_can_be_looked_at(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    face.run(client.create_job("Fix it"))
    face.run(client.send_message("job-1", "And that"))
    face.all(client.visitors(date_from="2026-01-01", max_rows=2))
    create, message, visitors = stub.requests
    assert (create.method, create.path, create.json) == ("POST", "/v2/agent/demo/job", {"prompt": "Fix it"})
    assert (message.path, message.json) == ("/v2/agent/demo/job/job-1/message", {"prompt": "And that"})
    assert visitors.query == {"dateFrom": "2026-01-01", "limit": "2", "offset": "0"}
    assert [request.headers["authorization"] for request in stub.requests] == ["Bearer ***"] * 3
    assert stub.api_key not in repr(stub.requests)
    assert create.time <= message.time <= visitors.time
    assert stub.jobs[0].prompts == ["Fix it", "And that"]


def test_jobs_can_be_written_to(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    job = face.run(client.create_job("Fix it"))
    stub.jobs[0].status = "failed"
    stub.jobs[0].model = "another-model"
    stub.jobs[0].source = {"repository": "example/other", "ref": None}
    job = face.run(client.get_job(job))
    assert (job.status, job.model, job.source) == ("failed", "another-model", ("example/other", None))


def test_reset_makes_it_new(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    job = face.run(client.create_job("Fix it"))
    stub.fail_next(status=500, times=100)
    stub.script_job("failed")
    stub.reset()
    assert (stub.requests, stub.jobs) == ([], [])
    with pytest.raises(NotFoundError):
        face.run(client.get_job(job))
    assert face.run(client.run_job("Again", poll_interval=0.01)).id == "job-1"


def test_faults_are_what_the_client_makes_of_them(face: Face, stub: StubServer) -> None:
    client = face.client(stub, max_retries=0)
    stub.fail_next(path="/visitors")
    stub.fail_next(drop=True, path="/job/")
    face.run(client.create_job("Fix it"))
    with pytest.raises(ServerError) as caught:
        face.run(client.visitor_totals())
    assert (caught.value.status, caught.value.message) == (503, "Service Unavailable")
    with pytest.raises(TransportError):
        face.run(client.get_job("job-1"))
    assert face.run(client.get_job("job-1")).id == "job-1"
    stub.fail_next(
        status=429, times=2, retry_after=7, body={"error": "slow down"}, headers={"x-request-id": "req-7"}
    )
    with pytest.raises(RateLimitError, match="slow down") as throttled:
        face.run(client.get_job("job-1"))
    assert (throttled.value.retry_after, throttled.value.request_id) == (7, "req-7")


def test_the_hourly_limit_is_one_for_all_analytics(face: Face) -> None:
    with StubServer(visitors=100, requests_per_hour=2) as stub:
        client = face.client(stub)
        face.run(client.visitor_totals())
        assert len(face.all(client.visitors())) == 100
        with pytest.raises(RateLimitError) as caught:
            face.run(client.visitor_totals())
        assert caught.value.retry_after is not None
        assert 3_500 < caught.value.retry_after <= 3_600
        face.run(client.create_job("Fix it"))


@pytest.mark.row("K3")
def test_another_key_is_refused_and_not_kept(face: Face, stub: StubServer) -> None:
    with pytest.raises(AuthenticationError, match="DOCPLATFORM_API_KEY"):
        face.run(face.client(stub, api_key="dp_a_real_one_by_mistake").visitor_totals())
    assert "dp_a_real_one_by_mistake" not in repr(stub.requests)


def test_a_stub_that_comes_back_is_found_again(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    face.run(client.create_job("Fix it"))
    stub.close()
    stub.start()
    assert face.run(client.get_job("job-1")).id == "job-1"
    assert face.run(client.create_job("Fix that")).id == "job-2"


@pytest.mark.row("K5")
def test_the_client_does_not_load_the_stub() -> None:
    code = (
        "import sys, docplatform; docplatform.Client('k', base_url='https://x.example'); print(*sys.modules)"
    )
    modules = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "docplatform" in modules
    assert not [name for name in modules if name.startswith("docplatform.testing")]
