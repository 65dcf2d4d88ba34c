"""What a close does to what is under way, and to what was there before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import Face
from helpers.phases import pending


@pytest.mark.row("I14")
def test_a_with_block_closes_and_lets_exceptions_pass(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    error = ZeroDivisionError()

    def blocking() -> None:
        with client as same:
            assert same is client
            raise error

    async def awaiting() -> None:
        async with client as same:
            assert same is client
            raise error

    with pytest.raises(ZeroDivisionError) as caught:
        face.call(blocking if face.name == "sync" else awaiting)
    assert caught.value is error
    assert error.__context__ is None
    with pytest.raises(RuntimeError, match="closed"):
        face.run(client.visitor_totals())


@pytest.mark.row("I14")
def test_an_iterator_of_a_closed_client_hands_out_its_page_and_no_other(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    rows = client.visitors(page_size=5)
    got = [face.next(rows)]
    face.run(client.close())
    got += [face.next(rows) for _ in range(4)]
    with pytest.raises(RuntimeError, match="closed"):
        face.next(rows)
    other = face.client(stub)
    got += face.all(other.visitors(resume=rows.checkpoint))
    assert len({row["path"] for row in got}) == len(got) == 1_000


@pytest.mark.row("I14")
def test_a_call_under_way_goes_on_when_its_client_is_closed(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.latency = 0.2

    def close() -> Any:
        stub.wait_for(pending)
        return client.close() if face.name == "sync" else asyncio.run(client.close())

    async def close_elsewhere() -> Any:
        await asyncio.to_thread(close)

    closing = close if face.name == "sync" else close_elsewhere
    job, _ = face.gather([lambda: client.create_job("Fix it"), closing])
    assert job.id == "job-1"
    with pytest.raises(RuntimeError, match="closed"):
        face.run(client.get_job(job))


@pytest.mark.row("I14")
def test_a_client_that_is_dropped_closes_its_connections(face: Face, stub: StubServer) -> None:
    client = stub.client() if face.name == "sync" else stub.async_client()
    face.run(client.visitor_totals())
    stub.wait_for(lambda s: s.connections == 1)
    del client
    stub.wait_for(lambda s: s.connections == 0)
