"""A job as data: reading it from an answer, and what a ``Job`` can do."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from docplatform import Job, Source
from docplatform.testing import StubServer
from helpers import Face

FULL: dict[str, Any] = {
    "id": "job-1",
    "status": "completed",
    "source": {"repository": "example/docs", "ref": "main"},
    "model": "example-model",
    "prLink": "https://github.com/example/docs/pull/1",
    "createdAt": "2026-01-31T12:00:00.123Z",
    "archivedAt": "2026-02-01T01:02:03+02:00",
}


def read(face: Face, stub: StubServer, body: object, **settings: Any) -> Job:
    """The job that a client makes of ``body``."""
    stub.fail_next(status=200, body=body)
    job = face.run(face.client(stub, **settings).get_job("job-1"))
    assert isinstance(job, Job)
    return job


def test_every_documented_field_is_read(face: Face, stub: StubServer) -> None:
    job = read(face, stub, FULL)
    assert (job.id, job.status, job.is_final, job.model) == ("job-1", "completed", True, "example-model")
    assert job.source == Source(repository="example/docs", ref="main")
    assert job.pr_link == "https://github.com/example/docs/pull/1"
    assert job.created_at == datetime(2026, 1, 31, 12, 0, 0, 123_000, tzinfo=UTC)
    assert job.archived_at == datetime(2026, 1, 31, 23, 2, 3, tzinfo=UTC)
    assert job.created_at.utcoffset() == timedelta(0)
    assert job.project_id == stub.project_id


@pytest.mark.row("D14")
def test_raw_is_the_whole_body_as_it_was_sent(face: Face, stub: StubServer) -> None:
    body = {**FULL, "big": 10**30, "small": 0.1, "deep": {"list": [1, None, True, "é\u202e"]}, "é": 1.0}
    job = read(face, stub, body)
    assert job.raw == body
    assert list(job.raw) == list(body)
    assert type(job.raw["big"]) is int
    job.raw["id"] = "changed"
    assert job.raw == body


# -- the object ------------------------------------------------------------------------------------


def test_a_job_is_frozen(face: Face, stub: StubServer) -> None:
    job = read(face, stub, FULL)
    with pytest.raises(AttributeError):
        job.status = "failed"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        job.note = "mine"  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        Job()


def test_jobs_compare_and_hash_by_what_they_hold(face: Face, stub: StubServer) -> None:
    job, same = read(face, stub, FULL), read(face, stub, FULL)
    changed = read(face, stub, {**FULL, "status": "failed"})
    extra = read(face, stub, {**FULL, "new": 1})
    assert job is not same
    assert job == same
    assert hash(job) == hash(same)
    assert len({job, same, changed, extra}) == 3
    assert job != changed
    assert job != extra
    assert job != job.to_dict()
    # With an object of another class, the result is a bool, too.
    assert [job == "job-1", job != "job-1"] == [False, True]


def test_a_job_can_be_copied_and_pickled(face: Face, stub: StubServer) -> None:
    job = read(face, stub, {**FULL, "big": 10**30, "deep": [{"é": 0.1}]})
    copies = [pickle.loads(pickle.dumps(job, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in (*copies, copy.copy(job), copy.deepcopy(job)):
        assert other == job
        assert hash(other) == hash(job)
        assert (other.raw, other.to_dict()) == (job.raw, job.to_dict())


def test_to_dict_has_the_documented_fields_by_their_python_names(face: Face, stub: StubServer) -> None:
    job = read(face, stub, {**FULL, "new": 1})
    assert job.to_dict() == {
        "id": "job-1",
        "status": "completed",
        "source": {"repository": "example/docs", "ref": "main"},
        "model": "example-model",
        "pr_link": "https://github.com/example/docs/pull/1",
        "created_at": job.created_at,
        "archived_at": job.archived_at,
        "project_id": "demo",
        "is_final": True,
    }


@pytest.mark.row("J8")
def test_the_repr_is_short_and_obeys_nothing(face: Face, stub: StubServer) -> None:
    assert repr(read(face, stub, FULL)) == (
        "Job(id='job-1', status='completed', pr_link='https://github.com/example/docs/pull/1')"
    )
    hostile = {**FULL, "status": "\x1b]52;c;x\x07\x9b2J\u202e" + "x" * 500, "prLink": "\x1b[31m" + "x" * 500}
    shown = repr(read(face, stub, hostile))
    assert shown.isprintable()
    assert len(shown) < 400


# -- in a notebook ---------------------------------------------------------------------------------


def test_html_shows_the_job_and_links_its_pull_request(face: Face, stub: StubServer) -> None:
    html = read(face, stub, FULL)._repr_html_()
    assert 'href="https://github.com/example/docs/pull/1"' in html
    assert 'rel="noopener' in html
    for text in ("job-1", "completed", "example/docs"):
        assert text in html


@pytest.mark.row("J7")
def test_html_escapes_every_value(face: Face, stub: StubServer) -> None:
    evil = "<script>alert('1')</script>\"&\u202e"
    body = {**FULL, "status": evil, "source": {"repository": evil, "ref": evil}, "model": evil}
    html = read(face, stub, {**body, "prLink": f'https://x.example/"><script>{evil}'})._repr_html_()
    assert "<script" not in html
    assert "\u202e" not in html
    html = read(face, stub, {**body, "prLink": "https://x.example/\"onmouseover='x'"})._repr_html_()
    assert '"onmouseover' not in html


@pytest.mark.row("D15", "J7")
@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "http://github.com/example/docs/pull/1",
        "//github.com/example/docs/pull/1",
        "https:///pull/1",
        "https://user:hush@github.com/",
        "https://@evil.example/",
        "https://github.com\\@evil.example/",
        "https://github.com/\n",
        "https://github.com/\u202egnp.exe",
    ],
)
def test_only_a_plain_https_link_becomes_one(face: Face, stub: StubServer, link: str) -> None:
    job = read(face, stub, {**FULL, "prLink": link})
    assert job.pr_link == link
    html = job._repr_html_()
    assert "<a" not in html
    assert "href" not in html
