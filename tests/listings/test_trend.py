"""Trends and plans: what slices cost, what is in them, and what a store saves."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from docplatform import Plan, PlanSlice, read_visitors
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import rows

JANUARY: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-02-01"}
WEEKS = ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22", "2024-01-29", "2024-02-01"]


def ranges(stub: StubServer) -> list[tuple[str, str]]:
    """The days of each request."""
    return [(request.query["dateFrom"], request.query["dateTo"]) for request in stub.requests]


def days(first: str, number: int) -> list[date]:
    return [date.fromisoformat(first) + timedelta(day) for day in range(number)]


# -- plans -----------------------------------------------------------------------------------------


def test_a_plan_sends_nothing_and_counts_what_is_left_to_fetch(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store)
    plan = face.run(client.plan_visitors(**JANUARY))
    day = (date(2024, 1, 1), date(2024, 2, 1))
    assert plan == Plan(1, 0, False, None, (PlanSlice(*day, 1, 0, False),))
    assert not stub.requests
    visitors = client.visitors(**JANUARY, prefetch=0)
    for _ in range(251):
        face.next(visitors)
    plan = face.run(client.plan_visitors(**JANUARY))
    assert plan[:3] == (1, 2, False)
    assert str(plan) == "size unknown: at least 1 request, 2 cached"
    face.all(visitors)
    assert face.run(client.plan_visitors(**JANUARY))[:3] == (0, 4, True)
    assert len(stub.requests) == 4


def test_a_plan_counts_the_hours_of_the_budget(face: Face, stub: StubServer) -> None:
    assert face.run(face.client(stub).plan_visitors(**JANUARY)).hours is None
    for per_hour, reserve, hours in [(100, 0, 0.0), (31, 0, 0.0), (31, 1, 1.0), (10, 0, 3.0), (1, 0, 30.0)]:
        client = face.client(stub, requests_per_hour=per_hour, reserve=reserve)
        plan = face.run(client.plan_visitors(**JANUARY, every="day", by_path=False))
        assert plan.hours == hours, per_hour


@pytest.mark.parametrize("name", ["visitors", "views"])
@pytest.mark.parametrize(("before", "compared"), [("2023-01", ("2023-01",)), (True, ())])
def test_a_plan_of_a_comparison_is_what_it_costs(
    face: Face, stub: StubServer, store: Path, name: str, before: Any, compared: tuple[str, ...]
) -> None:
    client = face.client(stub, store=store)
    plan, compare = getattr(client, f"plan_{name}"), getattr(client, f"compare_{name}")
    found = face.run(plan("2024-01", before=before))
    assert str(found) == "size unknown: at least 2 requests, 0 cached"
    assert stub.requests == []
    face.run(compare("2024-01", *compared))
    asked = {*ranges(stub)}
    found = face.run(plan("2024-01", before=before))
    assert found[:3] == (0, len(stub.requests), True)
    assert {(str(one.date_from), str(one.date_to)) for one in found.slices} == asked


def test_a_plan_of_a_comparison_is_of_last_month_by_default(face: Face, stub: StubServer) -> None:
    now, before = face.run(face.client(stub).plan_visitors(before=True)).slices
    first = datetime.now(UTC).date().replace(day=1)
    # The month may turn over meanwhile.
    assert now.date_to in {first, (first - timedelta(1)).replace(day=1)}
    assert (before.date_to, before.date_to.day, before.date_from.day) == (now.date_from, 1, 1)


def test_a_plan_of_a_comparison_takes_no_slices(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for wrong in ({"every": "day"}, {"whole": True}, {"by_path": False}, {"date_from": "2024-01-01"}):
        with pytest.raises(ValueError, match=r"^before plans a comparison"):
            client.plan_visitors("2024-01", before="2023-01", **wrong)
    with pytest.raises(TypeError, match="before must be a str"):
        client.plan_visitors("2024-01", before=False)
    with pytest.raises(ValueError, match="before is the period itself"):
        client.plan_visitors("2024-01", before="2024-01")


def test_a_plan_leaves_out_what_the_trend_leaves_out(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for whole, requests in ((False, 5), (True, 4)):
        plan = face.run(client.plan_visitors(**JANUARY, every="week", whole=whole))
        trend = face.run(client.visitor_trend(**JANUARY, every="week", whole=whole))
        assert (plan.requests, trend.requests) == (requests, requests)


def test_a_client_that_refreshes_fetches_again_and_the_store_has_the_new_counts(
    face: Face, store: Path
) -> None:
    served = rows(0, 3)
    with StubServer(lambda *_: served) as stub:
        client = face.client(stub, store=store)
        fresh = client.with_options(refresh=True)

        def read(client: Any) -> list[Any]:
            return [
                face.run(client.visitor_totals("2024-01")),
                list(face.run(client.visitor_trend("2024-01", every="week"))),
                list(face.run(client.visitors("2024-02").collect())),
                list(face.run(client.compare_visitors("2024-W06"))),
            ]

        old, sent = read(client), len(stub.requests)
        served = rows(0, 5)
        assert face.run(fresh.plan_visitors("2024-01", every="week")).requests == 5
        assert (read(client), len(stub.requests)) == (old, sent)
        new = read(fresh)
        assert len(stub.requests) == 2 * sent
        assert all(one != other for one, other in zip(old, new, strict=True))
        assert face.run(fresh.sync("demo", "2024-02", every="month")).requests == 1
        assert (read(client), len(stub.requests)) == (new, 2 * sent + 1)
        # A checkpoint stands in an export that was begun again already.
        some = fresh.visitors("2024-02", page_size=2, prefetch=0)
        face.next(some)
        rest = face.all(fresh.visitors(resume=some.checkpoint))
        assert len(rest) == 4


# -- trends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "starts"),
    [("week", WEEKS), (None, ["2024-01-01", "2024-02-01"])],
)
def test_slices_tile_the_range(face: Face, stub: StubServer, every: Any, starts: list[str]) -> None:
    client = face.client(stub)
    trend = face.run(client.visitor_trend(**JANUARY, every=every))
    assert ranges(stub) == list(pairwise(starts))
    assert all(request.query["limit"] == "1" for request in stub.requests)
    assert [str(row["date_from"]) for row in trend] == starts[:-1]
    assert [str(row["date_to"]) for row in trend] == starts[1:]
    assert (trend.every, trend.open_from, trend.requests) == (every, None, len(starts) - 1)
    assert (trend.date_from, trend.date_to) == (date(2024, 1, 1), date(2024, 2, 1))
    first = client.visitor_totals(date_from=starts[0], date_to=starts[1])
    assert [trend[0][name] for name in ("human", "ai", "total")] == list(face.run(first))


@pytest.mark.parametrize(
    ("every", "days"),
    [("week", [4, 7, 7, 7, 7, 1]), ("month", [31, 2]), ("day", [1] * 33), (None, [33])],
)
def test_every_slice_has_the_number_of_its_days(
    face: Face, stub: StubServer, every: Any, days: list[int]
) -> None:
    trend = face.run(face.client(stub).visitor_trend("2026-01-01 to 2026-02-02", every=every))
    assert [row["days"] for row in trend] == days
    assert trend.to_pandas()["days"].to_list() == pa.table(trend)["days"].to_pylist() == days
    assert str(trend.to_pandas()["days"].dtype) == "int64"


def test_by_path_a_row_is_a_slice_and_a_path(face: Face) -> None:
    given = rows(0, 300)
    with StubServer(given) as stub:
        trend = face.run(face.client(stub).visitor_trend(**JANUARY, every="week", by_path=True))
    assert len(stub.requests) == 10
    assert list(trend[0]) == ["date_from", "date_to", "days", "path", "human", "ai", "total"]
    for number, (start, end) in enumerate(pairwise(WEEKS)):
        for row, expected in zip(trend[number * 300 : (number + 1) * 300], given, strict=True):
            assert row == {
                "date_from": date.fromisoformat(start),
                "date_to": date.fromisoformat(end),
                "days": 3 if start == WEEKS[-2] else 7,
                **expected,
            }


def test_slices_that_may_still_change_are_marked(face: Face, stub: StubServer, store: Path) -> None:
    today = datetime.now(UTC).date()
    end = today + timedelta(2)
    client = face.client(stub, store=store)
    # The day may turn over meanwhile.
    for requests in ({9, 10}, {3, 4}):
        trend = face.run(client.visitor_trend(date_from=end - timedelta(10), date_to=end))
        # Today, and the two days before, which have not settled.
        assert trend.requests in requests
        assert trend.open_from in {today - timedelta(2), today - timedelta(1)}
        assert "may still change" in trend.warnings[-1]
        assert f"open_from='{trend.open_from}'" in repr(trend)


def test_slices_that_have_not_begun_are_left_out_and_cost_nothing(
    face: Face, stub: StubServer, store: Path
) -> None:
    today = datetime.now(UTC).date()
    client = face.client(stub, store=store)
    range_: dict[str, Any] = {"date_from": today - timedelta(3), "date_to": today + timedelta(40)}
    plan = face.run(client.plan_visitors(**range_, every="day"))
    trend = face.run(client.visitor_trend(**range_))
    # The day may turn over meanwhile.
    assert (plan.requests, len(trend), trend.requests, len(stub.requests)) in {
        (4,) * 4,
        (4, 5, 5, 5),
        (5,) * 4,
    }
    assert trend.date_to == trend[-1]["date_to"]
    assert list(read_visitors(store, **range_, every="day"))[:4] == trend[:4]
    later: dict[str, Any] = {"date_from": today + timedelta(20), "date_to": today + timedelta(40)}
    for call in (client.plan_visitors, client.visitor_trend, lambda **given: read_visitors(store, **given)):
        with pytest.raises(ValueError, match="no slice of the range has begun: today is"):
            call(**later, every="day")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"date_from": "2024-02-01", "date_to": "2024-01-01"}, ValueError),
        ({**JANUARY, "every": "hour"}, ValueError),
        ({**JANUARY, "every": 7}, TypeError),
        ({"date_from": "2024-01-01T12:00", "date_to": "2024-02-01"}, ValueError),
        ({"date_from": "0001-01-01", "date_to": "9000-01-01", "every": "day"}, ValueError),
    ],
)
def test_wrong_arguments_raise_at_the_call(
    face: Face, stub: StubServer, store: Path, arguments: dict[str, Any], error: type[Exception]
) -> None:
    client = face.client(stub, store=store)
    for call in (client.plan_visitors, client.visitor_trend, lambda **given: client.sync("demo", **given)):
        with pytest.raises(error):
            call(**arguments)
    assert not stub.requests
