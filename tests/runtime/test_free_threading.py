"""The module declares that it needs no GIL: everything that can be shared is, by threads that never agree.

Builds with a GIL run this too, and switch threads as often as they can.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from docplatform import Totals, VisitorRow, Visitors, VisitorsPage, VisitorTable
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.scripts import run_script

T = TypeVar("T")

THREADS = 8
ROWS = [{"path": f"/{n}", "human": n, "ai": 2 * n, "total": 3 * n, "more": f"{n}"} for n in range(600)]
pytestmark = pytest.mark.stub(visitors=ROWS, active_polls=0)


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """No thread keeps the interpreter for longer than it must."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*works: Callable[[], T]) -> list[T]:
    """The result of each, when all begin at the same moment; the first error of any."""
    together = threading.Barrier(len(works))

    def begin(work: Callable[[], T]) -> T:
        together.wait(30)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(begin, work) for work in works]]


def outcome(call: Callable[[], Any]) -> Any:
    """The result of a call, or the error that it ends with."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # which errors may come is what is tested
        return error


def in_own_loop(face: Face, method: Callable[[], Any]) -> Any:
    """The result of a client's method, in a thread that is not the face's."""

    async def wait() -> Any:
        return await method()

    return asyncio.run(wait()) if isinstance(face, AsyncFace) else method()


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this build has a GIL")
def test_the_import_leaves_the_gil_off() -> None:
    # Alone: the frame libraries of the other tests may turn it on.
    assert run_script("import docplatform, sys; print(sys._is_gil_enabled())").out == "False\n"


def test_a_client_is_closed_while_others_call(face: Face, given: StubServer) -> None:
    for _ in range(10):
        client = face.client(given)
        before = len(given.requests)
        call, close = (partial(in_own_loop, face, method) for method in (client.visitor_totals, client.close))
        *ends, closed = at_once(*[partial(outcome, call)] * (THREADS - 1), close)
        assert closed is None
        for end in ends:
            assert isinstance(end, Totals) or (type(end) is RuntimeError and "closed" in str(end)), end
        assert client.stats.requests == len(given.requests) - before


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_one_iterator_is_emptied_in_every_way_at_once(given: StubServer, prefetch: int) -> None:
    for _ in range(5):
        with given.client() as client:
            parts = emptied(client.visitors(page_size=7, prefetch=prefetch))
        assert sorted((row for part in parts for row in part), key=lambda row: row["human"]) == ROWS


def emptied(visitors: Visitors) -> list[list[VisitorRow]]:
    """The rows that each thread got."""
    pages = visitors.pages()

    def rows() -> list[VisitorRow]:
        return list(iter(lambda: next(visitors, None), None))

    def whole_pages() -> list[VisitorRow]:
        taken: list[VisitorsPage] = list(iter(lambda: next(pages, None), None))
        return [row for page in taken for row in page.rows]

    def look() -> list[VisitorRow]:
        for _ in range(50):
            assert visitors.warnings == []
            assert "offset" in visitors.checkpoint
            assert "isitors" in repr(visitors)
        return []

    return at_once(*[rows] * 3, *[whole_pages] * 3, *[look] * 2)


def test_a_table_is_read_in_every_way_at_once(given: StubServer, tmp_path: Path) -> None:
    with given.client() as client:
        table = client.visitors(page_size=50).collect()
    shared = iter(table)
    csv = table.to_csv(tmp_path / "first.csv") and (tmp_path / "first.csv").read_bytes()
    numbers = iter(range(1_000_000))

    def to_csv() -> bytes:
        path = tmp_path / f"{next(numbers)}.csv"
        assert table.to_csv(path) == 600
        return path.read_bytes()

    def by_index() -> list[VisitorRow]:
        return [table[n] for n in range(len(table))]

    ways: list[tuple[Callable[[], Any], Any]] = [
        (lambda: pa.table(table).to_pylist(), ROWS),
        (lambda: list(table), ROWS),
        (by_index, ROWS),
        (lambda: pickle.loads(pickle.dumps(table)).to_dicts(), ROWS),
        (table.to_dicts, ROWS),
        (table._repr_html_, table._repr_html_()),
        (to_csv, csv),
    ]

    def all_ways(first: int) -> list[VisitorRow]:
        mine: list[VisitorRow] = []
        for turn in range(2 * len(ways)):
            mine += [row for row in (next(shared, None) for _ in range(9)) if row]
            way, expected = ways[(first + turn) % len(ways)]
            assert way() == expected
        return mine

    parts = at_once(*(partial(all_ways, first) for first in range(THREADS)))
    assert sorted((row for part in parts for row in part), key=lambda row: row["human"]) == ROWS


def test_tables_are_made_and_dropped_everywhere_at_once(given: StubServer) -> None:
    with given.client() as client:

        def work() -> list[dict[str, Any]]:
            table: VisitorTable | None = client.visitors(page_size=200, prefetch=2).collect()
            assert table is not None
            stream = pa.RecordBatchReader.from_stream(table)
            # A stream that was handed on outlives the table, and is freed in any thread.
            table = None
            rows: list[dict[str, Any]] = stream.read_all().to_pylist()
            return rows

        assert at_once(*[work] * THREADS) == [ROWS] * THREADS


def test_one_coroutine_is_awaited_by_many_loops(given: StubServer, async_face: AsyncFace) -> None:
    client = given.async_client()
    for turn in range(25):
        coroutine = client.visitor_totals()

        once = partial(outcome, partial(in_own_loop, async_face, lambda: coroutine))  # noqa: B023
        ends = at_once(*[once] * THREADS)
        results = [end for end in ends if isinstance(end, Totals)]
        assert len(results) <= 1
        # "already executing", "cannot reuse", "a different loop": nobody waits for ever.
        assert all(isinstance(end, (RuntimeError, ValueError)) for end in ends if end not in results), ends
        assert len(given.requests) <= turn + 1, "it was sent twice"
    assert asyncio.run(client.visitor_totals()).total > 0
    asyncio.run(client.close())
