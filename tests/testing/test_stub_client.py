"""The stub as users' own tests see it: the fixture and the real client."""

from __future__ import annotations

import pytest

from docplatform import AsyncClient, Client
from docplatform.testing import StubServer
from helpers import Face
from helpers.scripts import run_script


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


def test_the_stubs_clients_are_ready_to_use_and_take_settings(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCPLATFORM_RESERVE", "5")
    assert stub.client(requests_per_hour=3).stats.budget_left == 3
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


@pytest.mark.row("K5")
def test_the_client_does_not_load_the_stub() -> None:
    script = (
        "import sys, docplatform; docplatform.Client('k', base_url='https://x.example'); print(*sys.modules)"
    )
    modules = run_script(script).out.split()
    assert "docplatform" in modules
    assert not [name for name in modules if name.startswith("docplatform.testing")]
