"""An iterator between several hands: threads, tasks, cancelled tasks, other iterators, and nobody."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.wire import Listener, http_answer

ROWS = [{"path": f"/{n}", "human": n, "ai": 2 * n, "total": 3 * n} for n in range(600)]


@pytest.fixture
def given() -> Iterator[StubServer]:
    with StubServer(ROWS) as stub:
        yield stub


def by_path(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["human"])


def test_many_rows_may_be_asked_for_at_once(given: StubServer, async_face: AsyncFace) -> None:
    visitors = async_face.client(given).visitors(page_size=50)

    async def together() -> list[dict[str, Any]]:
        return await asyncio.gather(*(anext(visitors) for _ in range(600)))

    assert by_path(async_face.run(together())) == ROWS
    assert async_face.all(visitors) == []


@pytest.mark.row("E14")
def test_two_iterators_of_one_client_do_not_meet(face: Face, given: StubServer) -> None:
    client = face.client(given)
    first, second = client.visitors(), client.visitors(offset=300)
    rows: tuple[list[Any], list[Any]] = ([], [])
    for _ in range(300):
        rows[0].append(face.next(first))
        rows[1].append(face.next(second))
    assert rows == (ROWS[:300], ROWS[300:])
    assert face.all(first) == ROWS[300:]
    assert face.all(second) == []


# -- abandoned -------------------------------------------------------------------------------------


@pytest.mark.row("E14")
@pytest.mark.parametrize(("prefetch", "asked"), [(0, ["0"]), (1, ["0", "250"])])
def test_an_iterator_that_is_left_alone_sends_nothing_more(
    face: Face, given: StubServer, prefetch: int, asked: list[str]
) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=prefetch)
    for _ in range(100):
        face.next(visitors)
    given.wait_for(lambda stub: len(stub.requests) == len(asked))
    del visitors
    gc.collect()
    face.run(client.get_job(face.run(client.create_job("Fix it"))))
    offsets = [request.query["offset"] for request in given.requests if request.query]
    assert offsets == asked


@pytest.mark.row("E14")
def test_dropping_an_iterator_drops_its_request(face: Face) -> None:
    page = {"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": ROWS[:250], "hasMore": True}
    with Listener(http_answer(200, page), None) as listener:
        client = face.make("dp_key", base_url=listener.url, project_id="demo")
        visitors = client.visitors()
        assert face.next(visitors) == ROWS[0]
        assert listener.held.wait(5)
        assert not listener.left.is_set()
        del visitors
        gc.collect()
        assert listener.left.wait(5)
        assert len(listener.heads) == 2


# -- closed ----------------------------------------------------------------------------------------


def test_a_closed_client_turns_no_more_pages(face: Face, given: StubServer) -> None:
    client = face.client(given)
    visitors = client.visitors(prefetch=0)
    rows = [face.next(visitors) for _ in range(10)]
    face.run(client.close())
    rows += [face.next(visitors) for _ in range(240)]
    with pytest.raises(RuntimeError, match="closed"):
        face.next(visitors)
    assert rows == ROWS[:250]
    assert len(given.requests) == 1
    rows += face.all(face.client(given).visitors(resume=visitors.checkpoint))
    assert rows == ROWS


def test_a_closed_handle_leaves_the_iterators_of_the_others(face: Face, given: StubServer) -> None:
    client = face.client(given)
    handle = client.with_options(timeout=20)
    visitors = handle.visitors(prefetch=0)
    face.next(visitors)
    face.run(client.close())
    assert [ROWS[0], *face.all(visitors)] == ROWS
    face.run(handle.close())
