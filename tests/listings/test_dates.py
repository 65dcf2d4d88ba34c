"""Ranges of dates: what is accepted, how it goes on the wire, and that the end is exclusive."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from docplatform.testing import StubServer
from helpers import Face

ASKS: list[Callable[..., Any]] = [
    lambda face, client, **dates: face.all(client.visitors(max_rows=1, **dates)),
    lambda face, client, **dates: face.run(client.visitor_totals(**dates)),
]
CALLS: list[Callable[..., Any]] = [
    lambda client, **dates: client.visitors(**dates),
    lambda client, **dates: client.visitor_totals(**dates),
]
TWO_HOURS = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("2026-01-31", "2026-01-31"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31), "2026-01-31"),  # noqa: DTZ001  # what a user may well give
        (pd.Timestamp(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 1, 2, 3, 4, tzinfo=TWO_HOURS), "2026-01-31T01:02:03.000004+02:00"),
        (pd.Timestamp("2026-01-31T01:02:03.000004001"), "2026-01-31T01:02:03.000004001"),
    ],
)
@pytest.mark.parametrize("ask", ASKS)
def test_dates_of_any_type_are_sent_as_iso_8601(
    face: Face, stub: StubServer, given: Any, sent: str, ask: Callable[..., Any]
) -> None:
    stub.fail_next(
        status=200, body={"totals": {"human": 0, "ai": 0, "total": 0}, "visitors": [], "hasMore": False}
    )
    ask(face, face.client(stub), date_from=given)
    assert stub.requests[0].query["dateFrom"] == sent
    assert "dateTo" not in stub.requests[0].query


@pytest.mark.parametrize("ask", ASKS)
def test_dates_that_are_not_given_are_not_sent(face: Face, stub: StubServer, ask: Callable[..., Any]) -> None:
    ask(face, face.client(stub), date_from=None)
    assert stub.requests[0].query.keys() == {"limit", "offset"}
    ask(face, face.client(stub), date_to=date(2026, 2, 1))
    assert stub.requests[1].query.keys() == {"dateTo", "limit", "offset"}


@pytest.mark.parametrize(
    "bad",
    ["2026-02-30", "\ud800", "x" * 10_000, pd.NaT],
)
@pytest.mark.parametrize("name", ["date_from", "date_to"])
def test_a_text_that_is_no_date_is_a_value_error_at_the_call(
    face: Face, stub: StubServer, name: str, bad: Any
) -> None:
    client = face.client(stub)
    for call in CALLS:
        with pytest.raises(ValueError, match=f"^{name} ") as caught:
            call(client, **{name: bad})
        assert len(str(caught.value)) < 300
    assert stub.peak_connections == 0


@pytest.mark.parametrize("wrong", [20260131, b"2026-01-31", time(1, 2), ["2026-01-31"]])
@pytest.mark.parametrize("name", ["date_from", "date_to"])
def test_a_value_of_another_type_is_a_type_error_at_the_call(
    face: Face, stub: StubServer, name: str, wrong: Any
) -> None:
    client = face.client(stub)
    for call in CALLS:
        with pytest.raises(TypeError, match=f"{name} must be a str, date or datetime"):
            call(client, **{name: wrong})
    assert stub.peak_connections == 0


@pytest.mark.row("E12")
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-01-01", "2026-01-01"),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2025, 12, 31, 23, 59, tzinfo=UTC)),
    ],
)
def test_an_empty_range_is_an_error_that_says_the_end_is_exclusive(
    face: Face, stub: StubServer, start: Any, end: Any
) -> None:
    client = face.client(stub)
    for call in CALLS:
        with pytest.raises(ValueError, match=r"date_from 202.* date_to 202.* exclusive"):
            call(client, date_from=start, date_to=end)
    assert stub.peak_connections == 0


# -- periods ---------------------------------------------------------------------------------------

PERIODS = [
    ("2024-02", "2024-02-01", "2024-03-01"),
    ("2024-01-15 to 2024-02-14", "2024-01-15", "2024-02-15"),
]
PERIOD_CALLS: list[Callable[..., Any]] = [
    lambda client, *period, **dates: client.visitors(*period, **dates),
    lambda client, *period, **dates: client.visitor_totals(*period, **dates),
    lambda client, *period, **dates: client.visitor_trend(*period, **dates),
    lambda client, *period, **dates: client.plan_visitors(*period, **dates),
    lambda client, *period, **dates: client.sync("demo", *period, **dates),
]


@pytest.mark.parametrize(("period", "first", "end"), PERIODS)
def test_a_period_is_sent_as_its_first_day_and_the_day_after_its_last(
    face: Face, stub: StubServer, store: Path, period: str, first: str, end: str
) -> None:
    client = face.client(stub, store=store)
    face.all(client.visitors(period, max_rows=1))
    face.run(client.visitor_totals(period))
    face.run(client.visitor_trend(period, every=None))
    plan = face.run(client.plan_visitors(period))
    assert [(str(one.date_from), str(one.date_to)) for one in plan.slices] == [(first, end)]
    face.run(client.sync(stub.project_id, period, every=None))
    assert {(request.query["dateFrom"], request.query["dateTo"]) for request in stub.requests} == {
        (first, end)
    }


@pytest.mark.parametrize(
    ("period", "says"),
    [
        ("2026-13", "months are 01 to 12"),
        ("soon", '"2026-W03"'),
        ("9998", "has not begun"),
        ("today", "it is not over"),
    ],
)
def test_what_is_no_period_is_a_value_error_that_says_what_to_write(
    face: Face, stub: StubServer, period: str, says: str
) -> None:
    client = face.client(stub, store=None)
    for call in PERIOD_CALLS:
        with pytest.raises(ValueError, match=f'^period "{period}"') as caught:
            call(client, period)
        assert says in str(caught.value)
        with pytest.raises(ValueError, match="give either a period, or date_from and date_to, not both"):
            call(client, "2026-01", date_to="2026-02-01")
        with pytest.raises(TypeError, match=r'^period must be a str such as "2026-01" .*, not date$'):
            call(client, date(2026, 1, 1))
    assert stub.peak_connections == 0


def test_slices_without_a_range_are_a_value_error(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for call in PERIOD_CALLS[2:]:
        for dates in ({}, {"date_from": "2026-01-01"}, {"date_to": "2026-01-01"}):
            with pytest.raises(ValueError, match='give a period such as "2026-01", or date_from and date_to'):
                call(client, **dates)
    assert stub.peak_connections == 0


def test_a_plan_defaults_to_what_the_planned_call_does(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store)
    face.run(client.visitor_trend("2024-W01"))
    assert face.run(client.plan_visitors("2024-W01", every="day")).requests == 0
    assert face.run(client.plan_visitors("2024-W01", every="day", by_path=True)).requests == 7
    assert face.run(client.plan_visitors("2024-W01")).requests == 1
    face.all(client.visitors("2024-W01"))
    assert face.run(client.plan_visitors("2024-W01"))[:3] == (0, 4, True)
