"""An export into memory: a table or a frame of the rows that are left, and what an error carries."""

from __future__ import annotations

import pickle
import warnings
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    DataChangedWarning,
    DataWarning,
    NotFoundError,
    Totals,
    VisitorTable,
)
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import FILES, MEMORY, ROWS, break_off, dicts, export, sums
from helpers.pages import page, row, rows, serve

every_way = pytest.mark.parametrize("way", MEMORY + FILES)


@every_way
def test_a_pass_after_an_export_is_a_runtime_error(
    face: Face, given: StubServer, way: str, tmp_path: Path
) -> None:
    visitors = face.client(given).visitors()
    export(face, visitors, way, tmp_path / "file")
    for again in MEMORY + FILES:
        with pytest.raises(RuntimeError, match="read to its end"):
            export(face, visitors, again, tmp_path / "other")
    with pytest.raises(RuntimeError, match="read to its end"):
        face.all(visitors)
    with pytest.raises((StopIteration, StopAsyncIteration)):
        face.next(visitors)
    assert face.run(visitors.totals()) == tuple(sums().values())
    assert list(tmp_path.iterdir()) == ([tmp_path / "file"] if way in FILES else [])
    assert len(given.requests) == 3


@every_way
def test_an_export_has_what_was_not_read_before_up_to_max_rows(
    face: Face, given: StubServer, way: str, tmp_path: Path
) -> None:
    client = face.client(given)
    visitors = client.visitors(max_rows=300)
    first = [face.next(visitors), *face.next(visitors.pages()).rows, face.next(visitors)]
    assert first + export(face, visitors, way, tmp_path / "file") == ROWS[:300]
    assert face.all(client.visitors(resume=visitors.checkpoint)) == ROWS[300:]


def test_a_table_knows_what_it_is_of(face: Face, given: StubServer) -> None:
    given.fail_next(502)
    visitors = face.client(given).visitors(date_from="2026-01-01", date_to="2026-02-01")
    table = face.run(visitors.collect())
    assert isinstance(table, VisitorTable)
    assert table.totals == Totals(**sums())
    assert isinstance(table.totals, Totals)
    assert (table.date_from, table.date_to, table.project_id) == (date(2026, 1, 1), date(2026, 2, 1), "demo")
    assert (table.requests, table.warnings) == (4, [])
    assert len(given.requests) == 4
    table = face.run(face.client(given).visitors(max_rows=0).collect())
    assert (len(table), table.totals, table.requests, table.date_from) == (0, None, 0, None)
    table = face.run(face.client(given).visitors(date_to="2026-02-01T06:00:00Z").collect())
    assert (table.date_from, table.date_to) == (None, "2026-02-01T06:00:00Z")


# -- an error ------------------------------------------------------------------------------------


@pytest.mark.row("E10")
@pytest.mark.parametrize("way", MEMORY)
@pytest.mark.parametrize(("taken", "pages"), [(0, 0), (260, 2)])
def test_an_error_carries_the_rows_and_the_checkpoint_after_them(
    face: Face, given: StubServer, way: str, taken: int, pages: int
) -> None:
    break_off(given, pages)
    client = face.client(given)
    visitors = client.visitors()
    first = [face.next(visitors) for _ in range(taken)]
    with pytest.raises(NotFoundError) as caught:
        face.run(getattr(visitors, way)())
    partial = caught.value.partial
    assert isinstance(partial, VisitorTable)
    assert first + list(partial) == ROWS[: 250 * pages]
    assert (partial.totals, partial.requests) == (Totals(**sums()) if pages else None, pages + 1)
    checkpoint = caught.value.checkpoint
    assert checkpoint == visitors.checkpoint
    assert first + list(partial) + face.all(client.visitors(resume=checkpoint)) == ROWS
    # The iterator itself continues there, too.
    assert first + list(partial) + dicts(face.run(visitors.collect())) == ROWS


@pytest.mark.row("E10", "H5")
@every_way
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("came", [True, False])
def test_an_error_says_how_to_continue(
    face: Face, given: StubServer, way: str, kept: bool, came: bool, tmp_path: Path
) -> None:
    """A note says what holds: a table has its rows, a file lost them, and a store keeps them. Where nothing came, there is none."""
    visitors = face.client(given, **({"store": tmp_path / "v.db"} if kept else {})).visitors(prefetch=0)
    break_off(given, int(came))
    with pytest.raises(NotFoundError) as caught:
        export(face, visitors, way, tmp_path / "file")
    notes = getattr(caught.value, "__notes__", [])
    if not came:
        assert notes == []
        return
    (note,) = notes
    lost = "what was fetched is lost" if way in FILES else "error.partial has the rows that came"
    assert ("make the same call again" if kept else lost) in note


def test_an_error_pickles_with_its_rows(face: Face, given: StubServer) -> None:
    break_off(given)
    with pytest.raises(NotFoundError) as caught:
        face.run(face.client(given).visitors().collect())
    again = pickle.loads(pickle.dumps(caught.value))
    assert list(again.partial) == ROWS[:250]
    assert (again.checkpoint, again.status) == (caught.value.checkpoint, 404)
    assert again.partial.totals == Totals(**sums())


# -- what is found ---------------------------------------------------------------------------------


@pytest.mark.row("E5")
def test_repeats_are_looked_for_in_the_whole_export(face: Face) -> None:
    # Twelve pages apart, which is more than streaming remembers.
    sent = [*rows(0, 120), row(3), *rows(121, 130)]
    with StubServer(sent) as stub:
        client = face.client(stub)
        assert face.all(client.visitors(page_size=10)) == sent
        with pytest.warns(DataChangedWarning, match="1 row") as caught:
            table = face.run(client.visitors(page_size=10).collect())
    assert list(table) == sent[:120] + sent[121:]
    assert [str(warning.message) for warning in caught] == table.warnings
    assert caught[0].filename == __file__ or face.name == "async"


@every_way
@pytest.mark.row("E6")
def test_a_warning_that_is_made_an_error_keeps_the_rows(
    face: Face, given: StubServer, way: str, tmp_path: Path
) -> None:
    moved = {**sums(), "total": 1}
    serve(
        given,
        page(ROWS[:250], True, sums()),
        page(ROWS[250:500], True, moved),
        page(ROWS[500:], False, moved),
    )
    visitors = face.client(given).visitors(prefetch=0)
    first = face.next(visitors)
    before = visitors.checkpoint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataChangedWarning):
            export(face, visitors, way, tmp_path / "file")
    assert visitors.checkpoint == before
    given.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert [first, *dicts(face.run(visitors.collect()))] == ROWS


# -- not got by the caller ---------------------------------------------------------------------------


def fail(*_: object) -> None:
    raise MemoryError


@pytest.mark.row("E10")
@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow"])
def test_a_frame_that_cannot_be_made_leaves_the_rows_in_the_error(
    face: Face, given: StubServer, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitors = face.client(given).visitors(max_rows=300)
    first = [face.next(visitors) for _ in range(10)]
    monkeypatch.setattr(f"docplatform._hooks.frames.{way}", fail)
    with pytest.raises(MemoryError) as caught:
        face.run(getattr(visitors, way)())
    error: Any = caught.value
    assert first + list(error.partial) == ROWS[:300]
    assert error.checkpoint == visitors.checkpoint
    assert face.all(face.client(given).visitors(resume=error.checkpoint)) == ROWS[300:]


# -- shared ------------------------------------------------------------------------------------------


def test_of_several_collects_each_row_goes_to_one(face: Face, given: StubServer) -> None:
    visitors = face.client(given).visitors(page_size=50)
    tables = face.gather([visitors.collect] * 4)
    whole = [table for table in tables if isinstance(table, VisitorTable)]
    # One that comes when all is handed out gets an error or nothing, as an iterator's reader would.
    assert all(isinstance(other, RuntimeError) for other in tables if other not in whole)
    assert sorted((row for table in whole for row in table), key=lambda row: row["human"]) == ROWS
    assert len(given.requests) == 12
