"""`async for` over an export: several passes share one position, and no row is lost."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest

from docplatform import AsyncClient
from docplatform.testing import StubServer
from helpers import AsyncFace
from helpers.coroutines import face  # on asyncio and on uvloop
from helpers.exports import ROWS, offsets

__all__ = ["face"]


@pytest.fixture
def client(face: AsyncFace, given: StubServer) -> AsyncClient:
    made: AsyncClient = face.client(given)
    return made


async def take(rows: AsyncIterator[Any], most: int) -> list[Any]:
    got: list[Any] = []
    async for row in rows:
        got.append(row)
        if len(got) == most:
            break
    return got


@pytest.mark.parametrize("endpoint", ["visitors", "any"])
def test_a_pass_continues_after_a_break(
    face: AsyncFace, client: AsyncClient, given: StubServer, endpoint: str
) -> None:
    path = "/v1/analytics/{project_id}/visitors"
    rows = client.visitors() if endpoint == "visitors" else client.paginate(path, items="visitors")

    async def work() -> list[Any]:
        return [row for most in (1, 248, 2, 349) for row in await take(rows, most)]

    assert face.run(work()) == ROWS
    assert offsets(given) == [0, 250, 500]


def test_a_pass_that_is_closed_leaves_its_rows_to_the_next(
    face: AsyncFace, client: AsyncClient, given: StubServer
) -> None:
    visitors = client.visitors()
    one = aiter(visitors)
    assert isinstance(one, AsyncGenerator)

    async def work() -> None:
        first = [await anext(one) for _ in range(3)]
        await one.aclose()
        assert first + [row async for row in visitors] == ROWS

    face.run(work())
    with pytest.raises(RuntimeError, match="read to its end"):
        aiter(visitors)
    assert len(given.requests) == 3


@pytest.mark.row("E14")
def test_an_abandoned_pass_prints_nothing(
    face: AsyncFace, client: AsyncClient, given: StubServer, capfd: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        for _ in range(20):
            await take(client.visitors(), 3)
        left = [aiter(client.visitors()) for _ in range(20)]
        for one in left:
            await anext(one)
        del left, one
        gc.collect()
        await asyncio.sleep(0)

    face.run(work())
    # Without a loop that would close it.
    one = aiter(client.visitors())
    face.run(anext(one))
    del one
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_a_pass_that_ends_with_its_loop_prints_nothing_and_another_loop_goes_on(
    client: AsyncClient, capfd: pytest.CaptureFixture[str]
) -> None:
    visitors = client.visitors()

    async def work() -> AsyncIterator[Any]:
        one = aiter(visitors)
        await anext(one)
        return one

    one = asyncio.run(work())
    del one
    gc.collect()
    assert asyncio.run(take(visitors, 600)) == ROWS[1:]
    assert capfd.readouterr() == ("", "")
