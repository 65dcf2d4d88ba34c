"""Visitors as an iterator: rows, pages, totals, and how many requests they cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from docplatform import NotFoundError, Totals, VisitorsPage
from docplatform.testing import StubServer
from helpers import Face

ROWS = [{"path": f"/{n}", "human": n, "ai": 2 * n, "total": 3 * n} for n in range(600)]


@pytest.fixture
def given() -> Iterator[StubServer]:
    """600 rows, so three pages of 250, 250 and 100."""
    with StubServer(ROWS) as stub:
        yield stub


def offsets(stub: StubServer) -> list[int]:
    return [int(request.query["offset"]) for request in stub.requests]


def limits(stub: StubServer) -> list[int]:
    return [int(request.query["limit"]) for request in stub.requests]


def test_rows_are_dicts_in_the_services_order(face: Face, given: StubServer) -> None:
    rows = face.all(face.client(given).visitors())
    assert rows == ROWS
    assert all(list(row) == ["path", "human", "ai", "total"] for row in rows)
    assert offsets(given) == [0, 250, 500]
    assert limits(given) == [250] * 3


def test_each_row_is_the_callers_own(face: Face, given: StubServer) -> None:
    rows = face.all(face.client(given).visitors())
    rows[0]["mine"] = 1
    del rows[1]["path"]
    assert rows[2:] == ROWS[2:]


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_nothing_is_sent_before_a_row_is_asked_for(face: Face, given: StubServer, prefetch: int) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=prefetch)
    pages = visitors.pages()
    assert "0 rows handed out" in repr(visitors)
    assert (visitors.warnings, bool(visitors.checkpoint), bool(repr(pages))) == ([], True, True)
    assert given.peak_connections == 0


def test_it_is_an_iterator_of_its_kind(face: Face, given: StubServer) -> None:
    visitors: Any = face.client(given).visitors()
    assert isinstance(visitors, Iterator if face.name == "sync" else AsyncIterator)
    assert not isinstance(visitors, AsyncIterator if face.name == "sync" else Iterator)
    # An iterator of unknown length, not a list: a len() would have to ask for all of it.
    assert not hasattr(visitors, "__len__")


def test_a_loop_may_break_and_go_on(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors()
    first = [face.next(visitors) for _ in range(260)]
    rest = face.all(visitors)
    assert first + rest == ROWS
    assert len(given.requests) == 3


def test_a_pass_after_the_end_is_a_runtime_error(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors()
    face.all(visitors)
    with pytest.raises(RuntimeError, match="read to its end"):
        face.all(visitors)
    with pytest.raises(RuntimeError, match="read to its end"):
        visitors.pages()
    with pytest.raises((StopIteration, StopAsyncIteration)):
        face.next(visitors)
    assert len(given.requests) == 3


def test_an_empty_range_has_no_rows_and_ends_alike(face: Face) -> None:
    with StubServer([]) as stub:
        visitors = face.client(stub).visitors()
        assert face.all(visitors) == []
        assert face.run(visitors.totals()) == Totals(0, 0, 0)
        with pytest.raises(RuntimeError, match="read to its end"):
            face.all(visitors)
        assert len(stub.requests) == 1


# -- totals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_before", [0, 251, 600])
def test_totals_cost_no_request_of_their_own(face: Face, given: StubServer, rows_before: int) -> None:
    visitors = face.client(given).visitors()
    first = [face.next(visitors) for _ in range(rows_before)]
    totals = face.run(visitors.totals())
    assert isinstance(totals, Totals)
    assert totals == (sum(range(600)), 2 * sum(range(600)), 3 * sum(range(600)))
    assert (totals.human, totals.ai, totals.total) == totals
    assert first + face.all(visitors) == ROWS
    assert face.run(visitors.totals()) == totals
    assert len(given.requests) == 3


def test_visitor_totals_are_one_request_for_one_row(face: Face, given: StubServer) -> None:
    totals = face.run(face.client(given).visitor_totals(date_from="2026-01-01", date_to="2026-02-01"))
    assert totals == (sum(range(600)), 2 * sum(range(600)), 3 * sum(range(600)))
    (request,) = given.requests
    assert request.query == {"dateFrom": "2026-01-01", "dateTo": "2026-02-01", "limit": "1", "offset": "0"}


# -- pages -----------------------------------------------------------------------------------------


def test_pages_are_what_the_service_sent(face: Face, given: StubServer) -> None:
    pages = face.all(face.client(given).visitors().pages())
    assert all(isinstance(page, VisitorsPage) for page in pages)
    assert [page.rows for page in pages] == [ROWS[:250], ROWS[250:500], ROWS[500:]]
    assert [(page.offset, page.has_more) for page in pages] == [(0, True), (250, True), (500, False)]
    assert {page.totals for page in pages} == {(sum(range(600)), 2 * sum(range(600)), 3 * sum(range(600)))}
    assert offsets(given) == [0, 250, 500]


def test_pages_and_rows_are_one_iterator(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors()
    rows = [face.next(visitors) for _ in range(10)]
    pages = visitors.pages()
    page = face.next(pages)
    assert (page.offset, len(page.rows), page.has_more) == (10, 240, True)
    rows += page.rows
    rows += [face.next(visitors) for _ in range(3)]
    rows += [row for page in face.all(pages) for row in page.rows]
    assert rows == ROWS
    with pytest.raises(RuntimeError, match="read to its end"):
        face.all(visitors)


# -- how much, and from where ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "max_rows", "page_size", "asked"),
    [
        (0, 251, 250, [(0, 250), (250, 1)]),
        (10, 7, 3, [(10, 3), (13, 3), (16, 1)]),
        (600, None, 250, [(600, 250)]),
    ],
)
@pytest.mark.parametrize("prefetch", [0, 1])
def test_the_fewest_requests_that_will_do(
    face: Face,
    given: StubServer,
    offset: int,
    max_rows: int | None,
    page_size: int,
    asked: list[Any],
    prefetch: int,
) -> None:
    client = face.client(given)
    visitors = client.visitors(offset=offset, max_rows=max_rows, page_size=page_size, prefetch=prefetch)
    rows = face.all(visitors)
    assert rows == ROWS[offset:][:max_rows]
    assert list(zip(offsets(given), limits(given), strict=True)) == asked
    with pytest.raises(RuntimeError, match="read to its end"):
        face.all(visitors)


@pytest.mark.parametrize("prefetch", [0, 3])
def test_no_rows_cost_no_request(face: Face, given: StubServer, prefetch: int) -> None:
    visitors = face.client(given).visitors(max_rows=0, prefetch=prefetch)
    assert face.all(visitors) == []
    with pytest.raises(RuntimeError, match="visitor_totals"):
        face.run(visitors.totals())
    assert given.peak_connections == 0


def test_more_rows_may_be_handed_out_by_another_export(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(max_rows=100)
    rows = face.all(visitors)
    rows += face.all(client.visitors(resume=visitors.checkpoint, max_rows=300))
    assert rows == ROWS[:400]


# -- prefetch --------------------------------------------------------------------------------------


def test_without_prefetch_a_page_is_asked_for_when_its_row_is_wanted(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors(prefetch=0)
    for _ in range(250):
        face.next(visitors)
        assert len(given.requests) == 1
    face.next(visitors)
    assert len(given.requests) == 2


def test_one_page_ahead_is_asked_for_and_no_more(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors()
    face.next(visitors)
    given.wait_for(lambda stub: len(stub.requests) == 2 and stub.requests[1].status)
    for _ in range(249):
        face.next(visitors)
    # A request of our own comes after whatever the iterator would have sent by now.
    face.run(client.visitor_totals())
    assert offsets(given) == [0, 250, 0]


@pytest.mark.parametrize("prefetch", [3])
def test_speculation_costs_little_beyond_the_end(face: Face, prefetch: int) -> None:
    rows = [{"path": f"/{n}", "human": 1, "ai": 1, "total": 2} for n in range(100)]
    with StubServer(rows) as stub:
        client = face.client(stub)
        visitors = client.visitors(page_size=10, prefetch=prefetch)
        assert face.all(visitors) == rows
        asked = offsets(stub)
        assert len(set(asked)) == len(asked) <= 10 + prefetch - 1
        assert set(asked) >= {10 * n for n in range(10)}


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("page_size", 0),
        ("page_size", 251),
        ("page_size", -1),
        ("page_size", 2**70),
        ("offset", -1),
        ("offset", 2**70),
        ("max_rows", -1),
        ("prefetch", -1),
        ("prefetch", 17),
        ("resume", ""),
        ("resume", "{}"),
        ("project_id", "a/b"),
    ],
)
def test_arguments_out_of_range_are_value_errors_at_the_call(
    face: Face, given: StubServer, name: str, bad: Any
) -> None:
    with pytest.raises(ValueError, match=name):
        face.client(given).visitors(**{name: bad})
    assert given.peak_connections == 0


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("page_size", 10.0),
        ("page_size", "10"),
        ("page_size", None),
        ("page_size", True),
        ("offset", 1.5),
        ("max_rows", "all"),
        ("prefetch", None),
        ("resume", {"offset": 5}),
        ("strict", "yes"),
        ("strict", 1),
        ("project_id", 5),
        ("date_from", 20260101),
        ("limit", 50),
    ],
)
def test_arguments_of_a_wrong_type_are_type_errors_that_name_them(
    face: Face, given: StubServer, name: str, bad: Any
) -> None:
    with pytest.raises(TypeError, match=name):
        face.client(given).visitors(**{name: bad})


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.row("E10")
@pytest.mark.parametrize("prefetch", [0, 1])
def test_an_iterator_goes_on_behind_a_failure(face: Face, given: StubServer, prefetch: int) -> None:
    totals = {"human": sum(range(600)), "ai": 2 * sum(range(600)), "total": 3 * sum(range(600))}
    given.fail_next(status=200, body={"totals": totals, "visitors": ROWS[:250], "hasMore": True})
    given.fail_next(status=404)
    visitors = face.client(given).visitors(prefetch=prefetch)
    rows = [face.next(visitors) for _ in range(250)]
    with pytest.raises(NotFoundError) as caught:
        face.next(visitors)
    assert caught.value.checkpoint == visitors.checkpoint
    assert rows + face.all(visitors) == ROWS
    assert offsets(given) == [0, 250, 250, 500]
