"""Checkpoints: where an export stands, readable at any time, taken up anywhere, and refused where they do not belong."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from docplatform import (
    AuthenticationError,
    DataChangedWarning,
    DataWarning,
    PaginationError,
    RateLimitError,
)
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import TOTALS, page, rows, serve
from helpers.process import export_rest

ROWS = rows(0, 600)
DATES = {"date_from": "2026-01-01", "date_to": "2026-02-01"}


@pytest.fixture
def given() -> Iterator[StubServer]:
    with StubServer(ROWS, projects=("demo", "other")) as stub:
        yield stub


def at(face: Face, visitors: Any, handed_out: int) -> str:
    """The checkpoint behind so many rows."""
    for _ in range(handed_out):
        face.next(visitors)
    assert isinstance(visitors.checkpoint, str)
    return visitors.checkpoint


@pytest.mark.parametrize("prefetch", [1])
@pytest.mark.parametrize("handed_out", [0, 251, 600])
def test_an_export_goes_on_behind_the_last_row(
    face: Face, given: StubServer, handed_out: int, prefetch: int
) -> None:
    checkpoint = at(face, face.client(given).visitors(prefetch=prefetch, **DATES), handed_out)
    # A header tells its requests from those that were still on their way for the first part.
    resumed = face.client(given, headers={"x-part": "2"}).visitors(resume=checkpoint, prefetch=0)
    assert face.all(resumed) == ROWS[handed_out:]
    assert json.loads(resumed.checkpoint)["rows"] == 600
    queries = [request.query for request in given.requests if "x-part" in request.headers]
    # Within a last page that is short, that page is asked for again: it may have left rows out.
    first = handed_out if handed_out < 500 or handed_out == 600 else 500
    assert [query["offset"] for query in queries] == [str(at) for at in range(first, 600, 250)]
    assert all((query["dateFrom"], query["dateTo"]) == ("2026-01-01", "2026-02-01") for query in queries)


def test_whole_pages_are_handed_out_too(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors()
    page = face.next(visitors.pages())
    assert page.rows + face.all(client.visitors(resume=visitors.checkpoint)) == ROWS


@pytest.mark.parametrize("handed_out", [30, 100])
def test_short_pages_are_taken_up_without_a_loss_or_a_repeat(face: Face, handed_out: int) -> None:
    with StubServer(rows(0, 120), page_cap=50) as stub:
        client = face.client(stub)
        visitors = client.visitors()
        with pytest.warns(DataWarning, match="50 rows where 250"):
            checkpoint = at(face, visitors, handed_out or 1)
        if not handed_out:
            checkpoint = client.visitors().checkpoint
        resumed = client.visitors(resume=checkpoint)
        if handed_out < 100:
            with pytest.warns(DataWarning, match="50 rows where 250"):
                rest = face.all(resumed)
        else:
            rest = face.all(resumed)
        assert rest == rows(handed_out, 120)
        assert not any("second time" in text for text in resumed.warnings)


@pytest.mark.row("E6")
@pytest.mark.parametrize("handed_out", [4])
def test_totals_that_moved_between_the_parts_are_told(face: Face, stub: StubServer, handed_out: int) -> None:
    client = face.client(stub)
    serve(stub, page(rows(0, 5), has_more=True))
    checkpoint = at(face, client.visitors(page_size=5, prefetch=0), handed_out)
    serve(stub, page(rows(handed_out, 6), totals={**TOTALS, "ai": 21}))
    with pytest.warns(DataChangedWarning, match=r"ai=20 .*ai=21"):
        assert face.all(client.visitors(resume=checkpoint)) == rows(handed_out, 6)


@pytest.mark.row("E5", "E7")
@pytest.mark.parametrize("collected", [False, True])
def test_a_row_that_moved_behind_the_checkpoint_is_told(
    face: Face, stub: StubServer, collected: bool
) -> None:
    client = face.client(stub)
    serve(stub, page(rows(0, 5), has_more=True))
    checkpoint = at(face, client.visitors(page_size=5, prefetch=0), 5)
    for strict in (False, True):
        serve(stub, page([*rows(5, 8), *rows(1, 2)]))
        visitors = client.visitors(resume=checkpoint, strict=strict)
        told: Any = pytest.warns(DataChangedWarning, match="1 rows came a second time")
        if strict:
            told = pytest.raises(PaginationError, match="1 rows came a second time")
        with told:
            rest = list(face.run(visitors.collect())) if collected else face.all(visitors)
            assert rest == rows(5, 8)


@pytest.mark.row("B14", "E10")
def test_an_error_carries_it(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=0)
    got = [face.next(visitors) for _ in range(250)]
    for status in (401, 403, 404, 400):
        given.fail_next(status=status)
        with pytest.raises(Exception, match=str(status)) as caught:
            face.next(visitors)
        assert getattr(caught.value, "checkpoint", None) == visitors.checkpoint
    given.fail_next(status=401)
    with pytest.raises(AuthenticationError) as refused:
        face.next(visitors)
    assert got + face.all(client.visitors(resume=refused.value.checkpoint)) == ROWS


@pytest.mark.row("B14", "E10")
def test_an_error_before_the_first_page_carries_it_too(face: Face, given: StubServer) -> None:
    client = face.client(given)
    given.fail_next(status=401, times=2)
    visitors = client.visitors(**DATES)
    with pytest.raises(AuthenticationError) as caught:
        face.next(visitors)
    assert caught.value.checkpoint == visitors.checkpoint
    with pytest.raises(AuthenticationError) as caught:
        face.run(visitors.totals())
    assert caught.value.checkpoint == visitors.checkpoint
    assert face.all(client.visitors(resume=visitors.checkpoint)) == ROWS


@pytest.mark.row("B2", "E10")
@pytest.mark.parametrize("prefetch", [0, 1])
def test_an_export_that_is_throttled_for_an_hour_ends_at_once_and_goes_on_there(
    face: Face, prefetch: int
) -> None:
    with StubServer(rows(0, 95)) as stub:
        client = face.client(stub)
        visitors = client.visitors(page_size=10, prefetch=prefetch)
        got = [face.next(visitors) for _ in range(60 - prefetch * 10)]
        # The page that is on its way has to be there: the next one is to be refused.
        stub.wait_for(lambda s: sum(request.status == 200 for request in s.requests) == 6)
        stub.fail_next(status=429, retry_after=3600)
        with pytest.raises(RateLimitError) as caught:
            while True:
                got.append(face.next(visitors))
        assert (len(got), caught.value.retry_after) == (60, 3600)
        assert (client.stats.waited, client.stats.retries) == (0, 0)
        before = len(stub.requests)
        got += face.all(face.client(stub).visitors(resume=caught.value.checkpoint))
        assert got == rows(0, 95)
        assert stub.requests[before].query["offset"] == "60"


def test_other_calls_have_none(face: Face, given: StubServer) -> None:
    given.fail_next(status=401)
    with pytest.raises(AuthenticationError) as caught:
        face.run(face.client(given).visitor_totals())
    assert caught.value.checkpoint is None


def test_another_process_goes_on(face: Face, given: StubServer) -> None:
    checkpoint = at(face, face.client(given).visitors(**DATES), 300)
    settings = {"api_key": given.api_key, "base_url": given.url}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        pid, rest, end = pool.submit(export_rest, settings, checkpoint).result(timeout=60)
    assert pid != os.getpid()
    assert rest == ROWS[300:]
    assert face.all(face.client(given).visitors(resume=end)) == []


@pytest.mark.row("J14")
def test_it_is_small_json_without_secrets(face: Face, given: StubServer) -> None:
    client = face.client(given, headers={"x-team": "hush"})
    visitors = client.visitors(**DATES)
    for handed_out in (0, 1, 300):
        text = at(face, visitors, handed_out)
        assert isinstance(json.loads(text), dict)
        assert len(text) < 1_000 + 16 * handed_out
        assert given.api_key not in text
        assert "hush" not in text


# -- what belongs to it ----------------------------------------------------------------------------


def test_the_query_comes_from_it_and_may_be_repeated(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(page_size=40, project_id="other", prefetch=0, **DATES)
    checkpoint = at(face, visitors, 100)
    given.reset()
    assert face.all(client.visitors(resume=checkpoint)) == ROWS[100:]
    same = client.visitors(resume=checkpoint, page_size=40, project_id="other", offset=0, **DATES)
    assert face.all(same) == ROWS[100:]
    for request in given.requests:
        assert request.path == "/v1/analytics/other/visitors"
        assert (request.query["limit"], request.query["dateFrom"]) == ("40", "2026-01-01")


def test_the_query_that_began_an_export_resumes_it(face: Face, given: StubServer) -> None:
    query = {"offset": 50, "page_size": 40, **DATES}
    client = face.client(given)
    checkpoint = at(face, client.visitors(**query), 100)
    again = client.visitors(resume=checkpoint, **query)
    checkpoint = at(face, again, 10)
    assert face.all(client.visitors(resume=checkpoint, **query)) == ROWS[160:]


@pytest.mark.row("E11")
@pytest.mark.parametrize(
    "other",
    [{"date_from": "2026-01-02"}, {"project_id": "other"}, {"page_size": 50}],
)
def test_another_query_is_refused(face: Face, given: StubServer, other: dict[str, Any]) -> None:
    client = face.client(given)
    checkpoint = at(face, client.visitors(page_size=40, prefetch=0, **DATES), 10)
    given.reset()
    with pytest.raises(ValueError, match="resume: the checkpoint is of another query"):
        client.visitors(resume=checkpoint, **other)
    assert given.requests == []


@pytest.mark.row("E11")
def test_another_service_is_refused(face: Face, given: StubServer, stub: StubServer) -> None:
    checkpoint = face.client(given).visitors().checkpoint
    with pytest.raises(ValueError, match=rf"resume: .*{given.url}.*{stub.url}"):
        face.client(stub).visitors(resume=checkpoint)
    with pytest.raises(ValueError, match="resume: "):
        face.client(given, base_url=f"{given.url}/api").visitors(resume=checkpoint)
    face.client(given, base_url=f"{given.url}/").visitors(resume=checkpoint)


def test_a_listing_of_another_kind_is_refused(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors().checkpoint
    path = "/v1/analytics/{project_id}/visitors"
    listing = client.paginate(path, items="visitors").checkpoint
    with pytest.raises(ValueError, match="another query"):
        client.visitors(resume=listing)
    with pytest.raises(ValueError, match="another query"):
        client.paginate(path, items="visitors", resume=visitors)


def damaged(text: str) -> Iterator[str]:
    good = json.loads(text)
    yield from ("", "{}", "not json", text[:-1], text + "x")
    yield json.dumps({**good, "rows": "x"})
    yield json.dumps({**good, "page_size": 251})
    yield json.dumps({**good, "near": len(good["seen"])})
    yield json.dumps({**good, "listing": {**good["listing"], "path": "//evil.example/x"}})


@pytest.mark.row("J14")
def test_a_damaged_one_is_refused(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=0, **DATES)
    texts = list(damaged(at(face, visitors, 10)))
    given.reset()
    for text in texts:
        with pytest.raises(ValueError, match=r"resume|page_size|project_id") as caught:
            client.visitors(resume=text)
        assert len(str(caught.value)) < 500, text
    assert given.requests == []
