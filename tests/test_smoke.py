"""The main job on both faces."""

from __future__ import annotations

from docplatform.testing import StubServer
from support import Face


def test_main_job(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    job = face.run(client.run_job("Fix the links", poll_interval=0.01))
    assert (job.status, job.is_final) == ("completed", True)
    assert job.pr_link == "https://github.com/example/docs/pull/1"
    job = face.run(client.follow_up(job, "And the images", poll_interval=0.01))
    assert stub.jobs[0].prompts == ["Fix the links", "And the images"]
    rows = face.all(client.visitors())
    assert len(rows) == 1_000
