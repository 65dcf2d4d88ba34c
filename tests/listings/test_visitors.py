"""Visitors as an iterator: rows, pages, totals, how many requests they cost, and who may read them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

import pytest

from docplatform import Totals, VisitorRow, VisitorsPage
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.connection import answer
from helpers.exports import ROWS, offsets
from helpers.faults import HOLD, READ_ALL, SEND, FaultServer

TOTALS = (sum(range(600)), 2 * sum(range(600)), 3 * sum(range(600)))


def test_rows_are_dicts_in_the_services_order(face: Face, given: StubServer) -> None:
    rows = face.all(face.client(given).visitors())
    assert rows == ROWS
    assert all(list(row) == ["path", "human", "ai", "total"] for row in rows)
    assert offsets(given) == [0, 250, 500]
    assert {request.query["limit"] for request in given.requests} == {"250"}


def test_a_type_checker_knows_the_rows(given: StubServer) -> None:
    async def asynchronous() -> None:
        async with given.async_client() as client:
            rows = client.visitors(max_rows=2)
            assert_type(await anext(rows), VisitorRow)
            assert_type([row async for row in rows], list[VisitorRow])

    with given.client() as client:
        assert_type(next(client.visitors(max_rows=1)), VisitorRow)
        assert_type(list(client.visitors(max_rows=1)), list[VisitorRow])
        assert_type([row["path"] for row in client.views(max_rows=1)], list[str])
        assert_type(next(client.paginate("/v1/analytics/{project_id}/visitors", items="visitors")), Any)
    asyncio.run(asynchronous())


@pytest.mark.parametrize("prefetch", [0, 4])
def test_nothing_is_sent_before_a_row_is_asked_for(face: Face, given: StubServer, prefetch: int) -> None:
    visitors = face.client(given).visitors(prefetch=prefetch)
    pages = visitors.pages()
    assert "0 rows handed out" in repr(visitors)
    assert (visitors.warnings, bool(visitors.checkpoint), bool(repr(pages))) == ([], True, True)
    assert given.peak_connections == 0


def test_visitors_are_an_iterator_without_a_length(face: Face, given: StubServer) -> None:
    visitors: Any = face.client(given).visitors()
    assert isinstance(visitors, Iterator if face.name == "sync" else AsyncIterator)
    assert not isinstance(visitors, AsyncIterator if face.name == "sync" else Iterator)
    # A len() would have to ask for all of it.
    assert not hasattr(visitors, "__len__")


def test_totals_come_with_the_rows_and_cost_no_request(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors()
    first = [face.next(visitors) for _ in range(251)]
    totals = face.run(visitors.totals())
    assert isinstance(totals, Totals)
    assert (totals.human, totals.ai, totals.total) == totals == TOTALS
    assert first + face.all(visitors) == ROWS
    assert face.run(visitors.totals()) == totals
    assert len(given.requests) == 3


def test_pages_are_what_the_service_sent(face: Face, given: StubServer) -> None:
    pages = face.all(face.client(given).visitors().pages())
    assert all(isinstance(page, VisitorsPage) for page in pages)
    assert [page.rows for page in pages] == [ROWS[:250], ROWS[250:500], ROWS[500:]]
    assert [(page.offset, page.has_more) for page in pages] == [(0, True), (250, True), (500, False)]
    assert {page.totals for page in pages} == {TOTALS}
    assert offsets(given) == [0, 250, 500]


def test_pages_and_rows_share_one_position(face: Face, given: StubServer) -> None:
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


def test_offset_max_rows_and_page_size_decide_the_requests(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(offset=10, max_rows=7, page_size=3)
    assert face.all(visitors) == ROWS[10:17]
    asked = [(request.query["offset"], request.query["limit"]) for request in given.requests]
    assert asked == [("10", "3"), ("13", "3"), ("16", "1")]
    with pytest.raises(RuntimeError, match="read to its end"):
        face.all(visitors)
    nothing = client.visitors(max_rows=0)
    assert face.all(nothing) == []
    with pytest.raises(RuntimeError, match="visitor_totals"):
        face.run(nothing.totals())
    assert len(given.requests) == 3


@pytest.mark.parametrize(
    ("error", "name", "bad"),
    [
        *(
            (ValueError, *case)
            for case in [
                ("page_size", 0),
                ("page_size", 251),
                ("page_size", 2**70),
                ("offset", -1),
                ("max_rows", -1),
                ("prefetch", 17),
                ("resume", "{}"),
                ("project_id", "a/b"),
            ]
        ),
        *(
            (TypeError, *case)
            for case in [
                ("page_size", 10.0),
                ("page_size", True),
                ("max_rows", "all"),
                ("resume", {"offset": 5}),
                ("strict", 1),
                ("project_id", 5),
                ("limit", 50),
            ]
        ),
    ],
)
def test_a_wrong_argument_is_named_at_the_call(
    face: Face, given: StubServer, error: type[Exception], name: str, bad: Any
) -> None:
    with pytest.raises(error, match=name):
        face.client(given).visitors(**{name: bad})
    assert given.peak_connections == 0


# -- several readers, and none ---------------------------------------------------------------------


def test_many_rows_may_be_awaited_at_once(given: StubServer, async_face: AsyncFace) -> None:
    visitors = async_face.client(given).visitors(page_size=50)

    async def together() -> Any:
        return await asyncio.gather(*(anext(visitors) for _ in range(600)))

    assert sorted(async_face.run(together()), key=lambda row: row["human"]) == ROWS
    assert async_face.all(visitors) == []


@pytest.mark.row("E14")
def test_dropping_an_iterator_drops_its_request(face: Face) -> None:
    page = {"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": ROWS[:250], "hasMore": True}
    with FaultServer() as server:
        server.script([READ_ALL, SEND(answer(200, page))], [READ_ALL, HOLD])
        client = face.make("dp_key", base_url=server.url, project_id="demo")
        visitors = client.visitors()
        assert face.next(visitors) == ROWS[0]
        server.wait_for(lambda server: len(server.requests) == 2)
        assert not server.connections[1].ended
        del visitors
        gc.collect()
        server.wait_for(lambda server: server.connections[1].ended)
