"""A table in Python: a sequence of dicts that never changes, is shown safely, and pickles."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pytest

from docplatform import TrendTable, VisitorTable
from docplatform.testing import StubServer
from helpers.exports import ROWS, collect
from helpers.pages import row
from helpers.reports import Parsed

ODD = [
    row(0),
    row(1, path='a,"b"\r\n\0\ufeff', note="=1", n=2**62, score=1.5, flag=True),
    row(2, path="", note=None, n=None),
    row(3, path="/\u65e5\u672c/\U0001f600", deep={"a": [1, {"b": None}]}, mixed=1),
    row(4, mixed="1", n=-5, huge=2**100, score=2),
]


@pytest.fixture(scope="module")
def table() -> VisitorTable:
    return collect(ROWS)


@pytest.fixture(scope="module")
def odd() -> VisitorTable:
    return collect(ODD)


def test_a_table_has_a_length_rows_and_independent_passes(table: VisitorTable) -> None:
    assert (len(table), bool(table), bool(collect([]))) == (600, True, False)
    assert list(table) == table.to_dicts() == ROWS
    assert list(reversed(table)) == ROWS[::-1]
    last: Any = ROWS[599]
    assert last in table
    assert last | {"human": -1} not in table
    one, other = iter(table), iter(table)
    assert [next(one), next(one), next(other)] == [ROWS[0], ROWS[1], ROWS[0]]
    assert list(one) == ROWS[2:]
    # Polars would take a Sequence for a list of dicts, and read it row by row.
    assert not isinstance(table, Sequence)


@pytest.mark.parametrize("at", [0, 599, -1, -600])
def test_a_row_by_its_number(table: VisitorTable, at: int) -> None:
    assert table[at] == ROWS[at]
    assert list(table[at]) == ["path", "human", "ai", "total"]


@pytest.mark.parametrize("at", [600, -601, 2**63])
def test_a_number_beyond_it_is_an_index_error(table: VisitorTable, at: int) -> None:
    with pytest.raises(IndexError, match="out of range"):
        table[at]
    with pytest.raises(IndexError, match="out of range"):
        collect([])[at]


def test_what_is_no_number_is_a_type_error(table: VisitorTable) -> None:
    wrong: Any
    for wrong in ("0", 1.0, None, (1, 2)):
        with pytest.raises(TypeError):
            table[wrong]
    numpy: Any = pytest.importorskip("numpy")
    assert table[numpy.int64(3)] == ROWS[3]


@pytest.mark.parametrize(
    "cut",
    [
        slice(10),
        slice(-5, None),
        slice(None, None, -1),
        slice(500, 10, -37),
        slice(3, 3),
        slice(-(10**30), 10**30, 7),
    ],
)
def test_slices_are_lists(table: VisitorTable, cut: slice) -> None:
    assert table[cut] == ROWS[cut]
    assert isinstance(table[cut], list)
    with pytest.raises(ValueError, match="zero"):
        table[::0]


def test_top_and_head_are_tables_of_the_same_kind(table: VisitorTable, stub: StubServer) -> None:
    best = table.top(3, by="ai")
    assert isinstance(best, VisitorTable)
    assert best.to_dicts() == sorted(ROWS, key=lambda row: -row["ai"])[:3]
    assert (best.totals, best.requests) == (table.totals, table.requests)
    assert table.head(2).to_dicts() == ROWS[:2]
    assert best.head(1)[0] == best[0]
    assert (len(table.top()), len(table.head()), len(table.top(1_000)), len(table.head(0))) == (
        10,
        10,
        600,
        0,
    )
    again = pickle.loads(pickle.dumps(best))
    assert (again.to_dicts(), str(again)) == (best.to_dicts(), str(best))
    with stub.client() as client:
        days = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-05")
        searches = client.searches("2026-01").collect()
    most = days.top(2)
    assert isinstance(most, TrendTable)
    assert most.to_dicts() == sorted(days, key=lambda day: -day["total"])[:2]
    assert days.top(2, by="date_from").to_dicts() == days[:-3:-1]
    hits = [row["hits"] for row in searches.top(by="hits")]
    assert hits == sorted((row["hits"] for row in searches), reverse=True)[:10]
    with pytest.raises(ValueError, match=r'of numbers or times \(hits, ctr, lastSearchedAt\); it is "total"'):
        searches.top()
    with pytest.raises(ValueError, match="n must be a whole number from 0 on"):
        table.head(-1)


def test_the_order_of_rows_is_said_wherever_they_are_shown(table: VisitorTable, stub: StubServer) -> None:
    for found, order in (
        (table, "in the service's order"),
        (table.head(3), "in the service's order"),
        (table.top(20, by="ai"), "sorted by ai"),
        (table.top(20, by="ai").head(15), "sorted by ai"),
    ):
        assert str(found).splitlines()[0].endswith(f", {order}")
        assert f"pages, {escape(order)}" in found._repr_html_()
    with stub.client() as client:
        days = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-05")
        searches = client.searches("2026-01").collect()
    assert str(days).splitlines()[0] == "shape: (4, 6)"
    assert str(days.head(2)).splitlines()[0] == "shape: (2, 6)"
    assert str(days.top(2)).splitlines()[0] == "shape: (2, 6), sorted by total"
    assert str(searches).splitlines()[0].endswith(", in the service's order")


def test_a_table_cannot_be_changed(table: VisitorTable) -> None:
    table[0]["path"] = "mine"
    next(iter(table)).clear()  # type: ignore[attr-defined]  # it is a dict all the same
    table.to_dicts().clear()
    table.warnings.append("mine")
    assert list(table) == ROWS
    assert table.warnings == []
    anything: Any = table
    for name in ("totals", "requests", "other"):
        with pytest.raises(AttributeError):
            setattr(anything, name, 1)
    with pytest.raises(TypeError):
        anything[0] = {}
    with pytest.raises(TypeError):
        VisitorTable()


@pytest.mark.parametrize(
    "through",
    [
        lambda table: pickle.loads(pickle.dumps(table, 2)),
        lambda table: pickle.loads(pickle.dumps(table)),
        copy.copy,
        copy.deepcopy,
    ],
)
def test_a_pickle_or_copy_is_the_same_table(odd: VisitorTable, through: Callable[[Any], Any]) -> None:
    again = through(odd)
    assert type(again) is VisitorTable
    assert list(again) == ODD
    for name in ("totals", "date_from", "date_to", "project_id", "requests", "warnings"):
        assert getattr(again, name) == getattr(odd, name)
    assert repr(again) == repr(odd)
    assert [list(row) for row in again] == [list(row) for row in odd] == [list(row) for row in ODD]
    assert list(odd) == odd.to_dicts() == ODD
    prefixed = collect([row(1, service_path=5)])
    assert "service_service_path" in prefixed[0]
    assert list(through(prefixed)) == list(prefixed)


def test_a_broken_pickle_is_a_value_error() -> None:
    from docplatform._native import _table

    empty = collect([], max_rows=0)
    assert len(pickle.loads(pickle.dumps(empty))) == 0
    reduced: Any = collect(ROWS[:3]).__reduce__()
    load, (meta, lines) = reduced
    assert load is _table
    for broken in (("{}", lines), ("", lines), (meta, lines[:-5]), (meta, b'{"path": 1}\n')):
        with pytest.raises(ValueError, match="not a pickled table"):
            _table(*broken)


def test_its_representation_says_what_it_is_of() -> None:
    with StubServer(ROWS) as stub, stub.client() as client:
        table = client.visitors(date_from="2026-01-01", date_to="2026-02-01", max_rows=3).collect()
    assert repr(table) == (
        "VisitorTable(3 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')"
    )


# -- in a notebook ---------------------------------------------------------------------------------


@pytest.mark.row("J7", "J8")
def test_a_notebook_shows_foreign_text_escaped() -> None:
    evil = "<script>alert(1)</script>\"'&\x1b]52;c;\x07\u202e"
    table = collect([row(1, path=evil, **{evil: evil}), row(2, more=[evil], flag=True)])
    html = table._repr_html_()
    shown = Parsed(html)
    assert {tag for tag, _ in shown.elements} <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {name for _, attributes in shown.elements for name in attributes} == {"class", "style"}
    # Dollars in a path must not start a formula.
    assert html.startswith('<table class="tex2jax_ignore mathjax_ignore">')
    assert shown.text.count("<script>alert(1)</script>") >= 3
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)


def test_a_notebook_shows_the_first_rows_and_the_totals(table: VisitorTable) -> None:
    shown = Parsed(table._repr_html_())
    assert len(shown.rows) == 11
    for part in ("first 10 of 600 pages", "179,700 people", "/9"):
        assert part in shown.text
    assert "/10" not in [cells[0] for cells in shown.rows]
    # Numbers are to the right, also where some are missing; a long text is wrapped.
    html = collect([row(1, more=5), row(2)])._repr_html_()
    styles = {name: style for style, name in re.findall('<th style="(.*?)">(.*?)</th>', html)}
    assert styles["more"] == "text-align: right"
    assert "overflow-wrap: anywhere" in styles["path"]
    empty = Parsed(collect([], max_rows=0)._repr_html_())
    assert [len(cells) for cells in empty.rows] == [4]
