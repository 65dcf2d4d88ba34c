"""A service that breaks its own rules: what is a warning, and that no row is lost."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from docplatform import AsyncVisitors, DataChangedWarning, DataWarning
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import TOTALS, page, rows, serve

MOVED = [page(rows(0, 10), True), page(rows(10, 20), totals={**TOTALS, "ai": 21})]


@pytest.mark.row("E13")
def test_totals_are_not_compared_with_the_sum_of_the_rows(face: Face, stub: StubServer) -> None:
    # A visitor of two pages is one visitor: both are right.
    serve(stub, page(rows(1, 251), totals={"human": 7, "ai": 9, "total": 8}))
    visitors = face.client(stub).visitors(strict=True)
    assert len(face.all(visitors)) == 250
    assert face.run(visitors.totals()) == (7, 9, 8)
    assert list(visitors.warnings) == []
    assert [name for name in dir(visitors) if "sum" in name] == []


def test_each_page_has_the_totals_it_came_with(face: Face, stub: StubServer) -> None:
    serve(stub, *MOVED)
    with pytest.warns(DataChangedWarning):
        pages = face.all(face.client(stub).visitors(page_size=10).pages())
    assert [page.totals.ai for page in pages] == [20, 21]


# -- warnings as errors ----------------------------------------------------------------------------


@pytest.mark.parametrize("by_page", [True, False])
def test_a_warning_that_is_made_an_error_loses_no_row(face: Face, stub: StubServer, by_page: bool) -> None:
    serve(stub, *MOVED)
    visitors = face.client(stub).visitors(page_size=10)
    pages = visitors.pages()
    got: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        errors = 0
        while True:
            try:
                got += face.next(pages).rows if by_page else [face.next(visitors)]
            except DataWarning:
                errors += 1
            except (StopIteration, StopAsyncIteration):
                break
    assert got == rows(0, 20)
    assert errors == len(visitors.warnings) == 1


def test_a_warning_points_at_the_line_that_asked_for_the_row(face: Face, stub: StubServer) -> None:
    async def read(visitors: AsyncVisitors) -> list[Any]:
        return [row async for row in visitors]

    serve(stub, *MOVED)
    visitors = face.client(stub).visitors(page_size=10)
    with pytest.warns(DataChangedWarning) as records:
        list(visitors) if face.name == "sync" else face.run(read(visitors))
    assert records[0].filename == __file__
