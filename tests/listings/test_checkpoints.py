"""Checkpoints: an error carries one, the query comes from it, and another service refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from docplatform import AuthenticationError
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import ROWS

pytestmark = pytest.mark.stub(projects=("demo", "other"))
DATES = {"date_from": "2026-01-01", "date_to": "2026-02-01"}


def at(face: Face, visitors: Any, handed_out: int) -> str:
    """The checkpoint after that many rows."""
    for _ in range(handed_out):
        face.next(visitors)
    assert isinstance(visitors.checkpoint, str)
    return visitors.checkpoint


@pytest.mark.row("B14", "E10")
def test_an_error_carries_the_checkpoint(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=0)
    got = [face.next(visitors) for _ in range(250)]
    for status in (401, 403, 404, 400):
        given.fail_next(status=status)
        with pytest.raises(Exception, match=str(status)) as caught:
            face.next(visitors)
        assert getattr(caught.value, "checkpoint", None) == visitors.checkpoint
    given.fail_next(status=401, times=3)
    with pytest.raises(AuthenticationError) as caught:
        face.next(visitors)
    new = client.visitors(**DATES)
    with pytest.raises(AuthenticationError) as early:
        face.run(new.totals())
    assert early.value.checkpoint == new.checkpoint
    with pytest.raises(AuthenticationError) as other:
        face.run(client.visitor_totals())
    assert other.value.checkpoint is None
    rest = face.all(client.visitors(resume=caught.value.checkpoint))
    assert got + face.all(visitors) == got + rest == face.all(new) == ROWS


# -- what belongs to it ----------------------------------------------------------------------------


def test_the_query_comes_from_the_checkpoint_and_may_be_repeated(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(page_size=40, project_id="other", prefetch=0, offset=50, **DATES)
    checkpoint = at(face, visitors, 100)
    given.reset()
    assert face.all(client.visitors(resume=checkpoint)) == ROWS[150:]
    same = client.visitors(resume=checkpoint, page_size=40, project_id="other", offset=50, **DATES)
    assert face.all(same) == ROWS[150:]
    for request in given.requests:
        assert request.path == "/v1/analytics/other/visitors"
        assert (request.query["limit"], request.query["dateFrom"]) == ("40", "2026-01-01")


@pytest.mark.row("E11")
def test_another_service_is_refused(face: Face, given: StubServer, stub: StubServer) -> None:
    checkpoint = face.client(given).visitors().checkpoint
    with pytest.raises(ValueError, match=rf"resume: .*{given.url}.*{stub.url}"):
        face.client(stub).visitors(resume=checkpoint)
    with pytest.raises(ValueError, match="resume: "):
        face.client(given, base_url=f"{given.url}/api").visitors(resume=checkpoint)
    face.client(given, base_url=f"{given.url}/").visitors(resume=checkpoint)


def test_another_listing_is_named(face: Face, given: StubServer) -> None:
    client = face.client(given)
    with pytest.raises(ValueError, match="resume: the checkpoint is of visitors, so pass it to the method"):
        client.searches(resume=client.visitors().checkpoint)
