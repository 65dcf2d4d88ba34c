"""When the service breaks its own rules: what is told, what is refused, and that no row is lost over it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from docplatform import AsyncVisitors, DataChangedWarning, DataWarning, PaginationError
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import TOTALS, page, row, rows, serve


def offsets(stub: StubServer) -> list[int]:
    return [int(request.query["offset"]) for request in stub.requests]


def told(records: list[warnings.WarningMessage]) -> list[tuple[type[Warning], str]]:
    return [(record.category, str(record.message)) for record in records]


def test_the_warnings_are_of_their_classes() -> None:
    assert issubclass(DataChangedWarning, DataWarning)
    assert issubclass(DataWarning, UserWarning)


# -- no progress -----------------------------------------------------------------------------------


@pytest.mark.row("E1")
@pytest.mark.parametrize("strict", [True, False])
def test_an_empty_page_with_more_to_come_ends_the_export(face: Face, stub: StubServer, strict: bool) -> None:
    serve(stub, page([], has_more=True))
    visitors = face.client(stub).visitors(strict=strict)
    start = visitors.checkpoint
    with pytest.raises(PaginationError, match="no rows") as caught:
        face.all(visitors)
    assert caught.value.checkpoint == visitors.checkpoint == start
    assert len(stub.requests) == 1


@pytest.mark.row("E2")
@pytest.mark.parametrize("pages", [["a", "b", "a"]])
def test_a_page_that_was_there_before_ends_the_export(face: Face, stub: StubServer, pages: list[str]) -> None:
    served = [page([row(ord(name) * 10 + n) for n in range(10)], has_more=True) for name in pages]
    serve(stub, *served)
    visitors = face.client(stub).visitors(page_size=10, prefetch=0)
    got = [face.next(visitors) for _ in range(10 * (len(pages) - 1))]
    with pytest.raises(PaginationError, match="same page again") as caught:
        face.next(visitors)
    assert got == [row for body in served[:-1] for row in body["visitors"]]
    assert caught.value.checkpoint == visitors.checkpoint
    assert len(stub.requests) == len(pages)


def test_the_last_page_may_be_like_another(face: Face, stub: StubServer) -> None:
    # No more is to come, so nothing is endless: the rows are repeats, and dropped as such.
    serve(stub, page(rows(0, 10), has_more=True), page(rows(0, 10)))
    visitors = face.client(stub).visitors(page_size=10)
    with pytest.warns(DataChangedWarning, match="10 rows came a second time"):
        assert face.all(visitors) == rows(0, 10)


# -- short pages -----------------------------------------------------------------------------------


@pytest.mark.row("E4")
@pytest.mark.parametrize("prefetch", [1, 4])
def test_a_service_that_caps_its_pages_is_followed_row_by_row(face: Face, prefetch: int) -> None:
    with StubServer(rows(0, 500), page_cap=50) as stub:
        visitors = face.client(stub).visitors(prefetch=prefetch)
        with pytest.warns(DataWarning) as records:
            assert face.all(visitors) == rows(0, 500)
        ((category, text),) = told(list(records))
        assert category is DataWarning
        assert "50 rows where 250 were asked for" in text
        assert visitors.warnings == [text]
        if prefetch < 2:
            assert offsets(stub) == list(range(0, 500, 50))


# -- data that moves -------------------------------------------------------------------------------


@pytest.mark.row("E5", "E7")
def test_an_identical_repeat_is_dropped_and_a_differing_one_kept(face: Face, stub: StubServer) -> None:
    moved = row(9, human=90)
    serve(stub, page(rows(0, 10), True), page([row(8), moved, *rows(10, 18)], True), page([row(10), row(18)]))
    visitors = face.client(stub).visitors(page_size=10)
    with pytest.warns(DataChangedWarning) as records:
        assert face.all(visitors) == [*rows(0, 10), moved, *rows(10, 19)]
    assert {category for category, _ in told(list(records))} == {DataChangedWarning}
    assert len(list(records)) == 2
    dropped, differing = visitors.warnings
    assert dropped.startswith("2 rows came a second time")
    assert differing.startswith("1 paths came a second time with other counts")


def test_each_page_has_the_totals_it_came_with(face: Face, stub: StubServer) -> None:
    serve(stub, page(rows(0, 10), True), page(rows(10, 20), totals={"human": 31, "ai": 20, "total": 46}))
    with pytest.warns(DataChangedWarning):
        pages = face.all(face.client(stub).visitors(page_size=10).pages())
    assert [page.totals.total for page in pages] == [45, 46]


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.row("E13")
def test_totals_are_not_the_sum_of_the_rows_and_nobody_compares_them(face: Face, stub: StubServer) -> None:
    # A visitor of two pages is one visitor: both are right.
    serve(stub, page(rows(1, 251), totals={"human": 7, "ai": 9, "total": 8}))
    visitors = face.client(stub).visitors(strict=True)
    assert len(face.all(visitors)) == 250
    assert face.run(visitors.totals()) == (7, 9, 8)
    assert list(visitors.warnings) == []
    assert [name for name in dir(visitors) if "sum" in name] == []


# -- strict, and warnings as errors ----------------------------------------------------------------

ODDITIES: dict[str, list[Any]] = {
    "short": [page(rows(0, 10), True), page(rows(10, 14), True), page(rows(14, 20))],
    "totals": [page(rows(0, 10), True), page(rows(10, 20), totals={**TOTALS, "ai": 21})],
    "dropped": [page(rows(0, 10), True), page([row(9), *rows(10, 20)])],
    "differing": [page(rows(0, 10), True), page([row(9, ai=0), *rows(10, 20)])],
    "text": [page(rows(0, 10), True), page([row(10, path="/\ud800"), *rows(11, 20)])],
}
COME: dict[str, list[Any]] = {
    **dict.fromkeys(ODDITIES, rows(0, 20)),
    "differing": [*rows(0, 10), row(9, ai=0), *rows(10, 20)],
    "text": [*rows(0, 10), row(10, path="/\ufffd"), *rows(11, 20)],
}


@pytest.mark.row("E4", "E5", "E6")
@pytest.mark.parametrize("oddity", ODDITIES)
def test_strict_makes_an_error_of_what_would_be_told(face: Face, stub: StubServer, oddity: str) -> None:
    client = face.client(stub)
    serve(stub, *ODDITIES[oddity])
    visitors = client.visitors(page_size=10, strict=True, prefetch=0)
    got = [face.next(visitors) for _ in range(10)]
    with pytest.raises(PaginationError, match="strict") as caught:
        face.next(visitors)
    assert got == rows(0, 10)
    assert caught.value.checkpoint == visitors.checkpoint
    stub.reset()
    serve(stub, *ODDITIES[oddity][1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        rest = face.all(client.visitors(resume=caught.value.checkpoint))
    # What another export already had is not known to this one, but that nothing is missing.
    assert [row for row in COME[oddity] if row not in got + rest] == []


@pytest.mark.parametrize("oddity", ODDITIES)
@pytest.mark.parametrize("by_page", [True, False])
def test_a_warning_that_is_made_an_error_loses_no_row(
    face: Face, stub: StubServer, oddity: str, by_page: bool
) -> None:
    client = face.client(stub)
    serve(stub, *ODDITIES[oddity])
    visitors = client.visitors(page_size=10)
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
    assert got == COME[oddity]
    assert errors == len(visitors.warnings) == 1


def test_a_warning_points_at_the_line_that_asked_for_the_row(face: Face, stub: StubServer) -> None:
    async def read(visitors: AsyncVisitors) -> list[Any]:
        return [row async for row in visitors]

    serve(stub, *ODDITIES["totals"])
    visitors = face.client(stub).visitors(page_size=10)
    with pytest.warns(DataChangedWarning) as records:
        list(visitors) if face.name == "sync" else face.run(read(visitors))
    assert records[0].filename == __file__
