"""Comparisons of two periods: their rows, their cost, what they show, and their chart."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import BudgetError, Comparison, DataWarning, Totals
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
        "human_growth": 2.0,
        "human_significant": True,
        "ai": 60,
        "ai_before": 20,
        "ai_change": 40,
        "ai_growth": 2.0,
        "ai_significant": True,
        "total": 300,
        "total_before": 100,
        "total_change": 200,
        "total_growth": 2.0,
        "total_significant": True,
    }
    assert [row["total_significant"] for row in found] == [True, True, False, True, True]
    assert found[3]["total_growth"] is None
    again = pickle.loads(pickle.dumps(found))
    assert (again.to_dicts(), again.pace, again.change) == (found.to_dicts(), found.pace, found.change)
    assert again.to_arrow().equals(found.to_arrow())


def test_what_moved_is_in_four_lists(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    assert [paths(rows) for rows in (found.risers(), found.fallers(), found.new(), found.vanished())] == [
        ["/a"],
        ["/b"],
        ["/new"],
        ["/gone"],
    ]
    assert isinstance(found.risers(1), Comparison)
    assert found.risers(1)[0] == found[0]
    assert len(found.risers(0)) == 0
    # Too few of those who read it are agents.
    assert paths(found.vanished(of="human")) == ["/gone"]
    assert paths(found.vanished(of="ai")) == []
    sections = found.sections("human")
    assert sections.to_pandas().columns.to_list() == list(sections[0])
    assert pickle.loads(pickle.dumps(sections)).to_dicts() == sections.to_dicts()
    with pytest.raises(ValueError, match=r"^n must be a whole number from 0 on"):
        found.new(-1)
    with pytest.raises(ValueError, match='of must be "human", "ai" or "total"; it is "people"'):
        found.fallers(of="people")


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


def test_periods_of_different_length_are_said_first_and_warned_of(face: Face, stub: StubServer) -> None:
    with pytest.warns(
        DataWarning,
        match="2024 has 366 days, and 1 January 2025 to 31 December 9998 has 2912443 days: the longer",
    ):
        found = face.run(face.client(stub).compare_visitors("2024", "2025-01 to 9998-12"))
    first = "2024 (366 days) and 1 January 2025 to 31 December 9998 (2,912,443 days, not over)"
    assert str(found).splitlines()[:2] == [first, "Readers: 545, after 545 so far"]
    for shown in (found.plot().get_title().replace("\n", " "), found._repr_html_()):
        assert f"{first}. " in shown
    for shown in (found.plot().get_xlabel().replace("\n", " "), found._repr_html_(), str(found)):
        assert "Note: 2024 has 366 days, and " in shown


def test_what_print_and_a_notebook_show(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    assert str(found) == SHOWN
    html = found._repr_html_()
    for text in (
        "January 2024 and December 2023. Readers hardly changed",
        ">new *<",
        ">gone *<",
        "+200% *",
    ):
        assert text in html
    assert "1 path; before and now are all readers, * is a significant change:" in str(found.risers(of="ai"))
    assert "3 paths, sorted by total; before and now are all readers, * is a significant change:" in str(
        found.top(3)
    )
    assert (
        "2 paths, in the service's order; before and now are all readers, * is a significant change:"
        in str(found.head(2))
    )
    same = face.run(face.client(stub).compare_visitors("2024-02", "2024-03"))
    assert str(same).splitlines()[-1] == "No path changed significantly."


SHOWN = """\
January 2024 and December 2023
Readers hardly changed: 545 after 550 (0.9% fewer)
People hardly changed: 272 after 275 (1.1% fewer)
AI agents hardly changed: 109 after 110 (0.9% fewer)
4 of 5 paths changed significantly (*) in at least one column, those that changed most:
┌───────┬────────┬─────┬─────────┬─────────┬───────────┐
│ path  ┆ before ┆ now ┆     all ┆  people ┆ AI agents │
╞═══════╪════════╪═════╪═════════╪═════════╪═══════════╡
│ /a    ┆    100 ┆ 300 ┆ +200% * ┆ +200% * ┆   +200% * │
│ /b    ┆    300 ┆ 100 ┆  \u221267% * ┆  \u221267% * ┆    \u221267% * │
│ /gone ┆     50 ┆   0 ┆  gone * ┆  gone * ┆     \u2212100% │
│ /new  ┆      0 ┆  40 ┆   new * ┆   new * ┆           │
└───────┴────────┴─────┴─────────┴─────────┴───────────┘"""


def test_a_comparison_has_a_chart(face: Face, stub: StubServer) -> None:
    found = face.run(face.client(stub).compare_visitors("2024-01"))
    axes = found.plot()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["/a", "/new", "/gone", "/b"]
    assert [bar.get_width() for bar in axes.patches] == [200, 40, -50, -200]
    assert axes.get_title().startswith("January 2024 and December 2023. ")
    two = found.plot(2)
    assert [bar.get_width() for bar in two.patches] == [200, -200]
    with pytest.raises(ValueError, match="n: must be 1 or more"):
        found.plot(0)
    said = [label.get_text() for label in axes.texts]
    assert said == ["+200%", "new", "gone", "\u221267%"]
    assert axes.get_legend() is None
    people = found.plot(of="human")
    assert [bar.get_width() for bar in people.patches] == [100, 20, -25, -100]
    assert (
        people.get_title().replace("\n", " ").endswith(". People hardly changed: 272 after 275 (1.1% fewer)")
    )
    # A row for each page that changed, also where none did.
    same = face.run(face.client(stub).compare_visitors("2024-02", "2024-03"))
    assert same.plot().patches == [] or len(same.plot().patches) == 0
