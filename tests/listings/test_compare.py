"""Comparisons of two periods: their rows, their cost, and every method of a table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import BudgetError, Comparison, Totals
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import readers

pytestmark = pytest.mark.stub(visitors=readers)


def paths(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["path"] for row in rows]


def test_a_month_beside_the_one_before(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    assert isinstance(found, Comparison)
    ranges = [(request.query["dateFrom"], request.query["dateTo"]) for request in stub.requests]
    assert ranges == [("2024-01-01", "2024-02-01"), ("2023-12-01", "2024-01-01")]
    assert (found.period, found.before) == ("January 2024", "December 2023")
    assert (found.date_from, found.date_to) == (date(2024, 1, 1), date(2024, 2, 1))
    assert (found.date_from_before, found.date_to_before) == (date(2023, 12, 1), date(2024, 1, 1))
    assert (found.project_id, found.requests, found.warnings) == ("demo", 2, [])
    now, before = (face.run(face.client(stub).visitor_totals(month)) for month in ("2024-01", "2023-12"))
    assert (found.totals, found.totals_before) == (now, before)
    assert isinstance(found.totals, Totals)
    assert paths(found) == ["/a", "/b", "/c", "/new", "/gone"]
    assert found[0] == {
        "path": "/a",
        "human": 150,
        "human_before": 50,
        "human_change": 100,
        "ai": 60,
        "ai_before": 20,
        "ai_change": 40,
        "total": 300,
        "total_before": 100,
        "total_change": 200,
        "significant": True,
    }
    assert [row["significant"] for row in found] == [True, True, False, True, True]


def test_what_moved_comes_first_by_how_far(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    assert [paths(rows) for rows in (found.risers(), found.fallers(), found.new(), found.vanished())] == [
        ["/a"],
        ["/b"],
        ["/new"],
        ["/gone"],
    ]
    assert found.risers(1)[0] == found[0]
    assert found.risers(0) == []
    with pytest.raises(ValueError, match=r"^n must be a whole number from 0 on"):
        found.new(-1)


def test_any_two_periods_can_be_compared(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for now, before, names in [
        ("2024-W03", None, ("week 3 of 2024 (from 15 January)", "week 2 of 2024 (from 8 January)")),
        ("2024-01", "2023-01", ("January 2024", "January 2023")),
        ("2024-01-10 to 2024-01-12", None, ("10 to 12 January 2024", "7 to 9 January 2024")),
        ("2024-Q1", "2024-Q2", ("Q1 2024", "Q2 2024")),
    ]:
        found = face.run(client.compare_visitors(now, before))
        assert (found.period, found.before) == names


def test_by_default_the_last_month_is_compared(face: Face, stub: StubServer) -> None:
    first = datetime.now(UTC).date().replace(day=1)
    found = face.run(face.client(stub).compare_visitors())
    ends = {first, datetime.now(UTC).date().replace(day=1)}
    assert found.date_to in ends
    assert found.date_from == (found.date_to - timedelta(1)).replace(day=1)
    assert found.date_to_before == found.date_from


def test_a_spent_budget_stops_it_and_the_next_call_continues(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store, requests_per_hour=1)
    with pytest.raises(BudgetError) as caught:
        face.run(client.compare_visitors("2024-01", on_budget="stop"))
    assert len(stub.requests) == 1
    assert caught.value.checkpoint is not None
    assert "2023-12-01" in caught.value.checkpoint
    found = face.run(client.with_options(requests_per_hour=None).compare_visitors("2024-01"))
    assert (found.requests, len(stub.requests)) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("2024-13",), ValueError, 'period "2024-13": months are 01 to 12'),
        (("2024-01", "soon"), ValueError, 'before "soon" is not known'),
        (("2024-01", "2024-01"), ValueError, "before is the period itself, January 2024"),
        ((date(2024, 1, 1),), TypeError, "period must be a str"),
        (("2024-01", 7), TypeError, "before must be a str"),
        (("0001",), ValueError, "there is no earlier one"),
    ],
)
def test_wrong_periods_raise_at_the_call(
    face: Face, stub: StubServer, arguments: tuple[Any, ...], error: type[Exception], says: str
) -> None:
    client = face.client(stub)
    with pytest.raises(error, match=says):
        client.compare_visitors(*arguments)
    assert stub.peak_connections == 0


def test_a_comparison_has_a_chart(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    axes = found.plot()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["/a", "/new", "/gone", "/b"]
    assert [bar.get_width() for bar in axes.patches] == [200, 40, -50, -200]
    assert axes.get_title().startswith("January 2024 and December 2023: ")
    two = found.plot(2)
    assert [bar.get_width() for bar in two.patches] == [200, -200]
    with pytest.raises(ValueError, match="n: must be 1 or more"):
        found.plot(0)
    late = face.run(face.client(stub).compare_visitors("2024", "2025-01 to 9998-12"))
    for shown in (late.plot().get_title().replace("\n", " "), late._repr_html_()):
        assert f"2024 and {late.before} (not over): " in shown
    # A row for each page that changed, also where none did.
    same = face.run(face.client(stub).compare_visitors("2024-02", "2024-03"))
    assert same.plot().patches == [] or len(same.plot().patches) == 0
