"""Every listing of the service: the same promises for each, from one table of endpoints.

The first tests below are columns of this table, and each endpoint is a row: ``pytest -k views`` runs a row. Frames and CSV are
tested in tests/tables and tests/cli. Their commands are tested in
tests/cli/test_listings.py.

| endpoint | rows | frame, CSV, Parquet | store | after kill -9 | budget | sync | async |
|---|---|---|---|---|---|---|---|
| visitors, views | yes | yes | yes | yes | yes | yes | yes |
| searches, feedback, conversations | yes | yes | yes | yes | yes | yes | yes |
| feedback_by_page | yes | yes | yes | one page: it is there or not | yes | yes | yes |
| conversation, caller_stats | one dict | no rows | not kept: it may change | one answer | yes | not kept | yes |
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import docplatform
from docplatform import (
    BudgetError,
    DataWarning,
    PaginationError,
    SyncReport,
    Table,
    export_dataset,
)
from docplatform.cli.listings import ENDPOINTS as KNOWN
from docplatform.testing import StubServer
from helpers import Face
from helpers.scripts import Script

pytestmark = pytest.mark.stub(visitors=60)


@dataclass(frozen=True)
class Endpoint:
    """How many rows the stub has of it in any range, and a page size for the tests."""

    rows: int
    page_size: int

    @property
    def pages(self) -> int:
        return -(-self.rows // self.page_size)


ENDPOINTS = {
    "visitors": Endpoint(60, 25),
    "views": Endpoint(60, 25),
    "searches": Endpoint(120, 50),
    "feedback": Endpoint(80, 30),
    "conversations": Endpoint(200, 70),
    "feedback_by_page": Endpoint(30, 40),
}
every_endpoint = pytest.mark.parametrize("name", ENDPOINTS)
CURSORS = ["searches", "feedback", "conversations"]
OBJECTS: dict[str, tuple[str, ...]] = {"conversation": ("thread-1",), "caller_stats": ("2025-12",)}
MONTH = "2025-12"
DAY = "2025-12-01"
WEEKS: dict[str, Any] = {"date_from": "2025-12-01", "date_to": "2025-12-15", "every": "week"}


def listed(client: Any, name: str, **options: Any) -> Any:
    return getattr(client, name)(**{"period": MONTH, "page_size": ENDPOINTS[name].page_size, **options})


def weeks(client: Any, name: str, **options: Any) -> list[Any]:
    """The exports of two weeks, one after another."""
    days = [("2025-12-01", "2025-12-08"), ("2025-12-08", "2025-12-15")]
    return [getattr(client, name)(date_from=first, date_to=end, **options) for first, end in days]


def test_the_table_has_every_endpoint() -> None:
    assert sorted(ENDPOINTS) == sorted(KNOWN)


@every_endpoint
def test_rows_tables_and_pickles_are_equal(face: Face, stub: StubServer, name: str) -> None:
    client = face.client(stub)
    rows = face.run(listed(client, name).to_dicts())
    table = face.run(listed(client, name).collect())
    assert (len(rows), table.to_dicts(), list(table)) == (ENDPOINTS[name].rows, rows, rows)
    assert face.all(listed(client, name)) == rows
    assert isinstance(table, Table)
    assert (table.listing, pickle.loads(pickle.dumps(table)).to_dicts()) == (name, rows)


@every_endpoint
def test_a_final_range_is_fetched_once(face: Face, stub: StubServer, store: Path, name: str) -> None:
    client = face.client(stub, store=store)
    first = face.run(listed(client, name).collect())
    assert len(stub.requests) == ENDPOINTS[name].pages
    again = face.run(listed(client, name).collect())
    assert (again.to_dicts(), again.requests) == (first.to_dicts(), 0)
    assert len(stub.requests) == ENDPOINTS[name].pages
    face.run(listed(client, name, refresh=True).collect())
    assert len(stub.requests) == 2 * ENDPOINTS[name].pages


KILLED = """
import sys, docplatform
store, name, page_size = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = docplatform.Client(store=store)
for page in getattr(client, name)("2025-12", page_size=page_size, prefetch=0).pages():
    print(len(page.rows), flush=True)
    sys.stdin.readline()
"""


@every_endpoint
@pytest.mark.row("E10")
def test_what_kill_9_ended_continues_in_the_store(stub: StubServer, store: Path, name: str) -> None:
    endpoint = ENDPOINTS[name]
    with stub.client() as client:
        whole = listed(client, name).to_dicts()
    begun = len(stub.requests)
    # `feedback_by_page` has no prefetch: there is one page.
    script = KILLED if name != "feedback_by_page" else KILLED.replace(", prefetch=0", "")
    with Script(script, str(store), name, str(endpoint.page_size), stub=stub) as killed:
        assert killed.read() == str(min(endpoint.rows, endpoint.page_size))
        killed.signal(9)
    with stub.client(store=store) as client:
        assert listed(client, name).to_dicts() == whole
    assert len(stub.requests) - begun == endpoint.pages


@every_endpoint
def test_the_budget_holds(face: Face, stub: StubServer, name: str) -> None:
    client = face.client(stub, requests_per_hour=1)
    caught: BudgetError | None = None
    for _ in range(2):
        try:
            face.run(listed(client, name, on_budget="stop").collect())
        except BudgetError as error:
            caught = error
            break
    assert caught is not None
    assert len(stub.requests) == 1
    assert isinstance(caught.partial, Table)
    one_page = ENDPOINTS[name].pages == 1
    assert len(caught.partial) == (0 if one_page else ENDPOINTS[name].page_size)


@every_endpoint
def test_sync_fills_the_store_for_the_method_and_the_dataset(
    face: Face, stub: StubServer, store: Path, tmp_path: Path, name: Any
) -> None:
    pq = import_module("pyarrow.parquet")
    client, rows = face.client(stub, store=store), ENDPOINTS[name].rows
    report = face.run(client.sync("demo", **WEEKS, listing=name))
    sent = -(-rows // KNOWN[name].page_size) * 2
    assert report == SyncReport(slices=2, cached=0, open=0, requests=sent, rows=2 * rows)
    assert face.run(client.sync("demo", **WEEKS, listing=name)).cached == 2
    tables = [face.run(week.collect()) for week in weeks(client, name)]
    assert [table.requests for table in tables] == [0, 0]
    assert len(stub.requests) == sent

    columns = [
        "project_id",
        "date_from",
        "date_to",
        *(name for name, _, is_own in tables[0]._schema() if is_own),
        "settled",
        "extra",
    ]
    folder = tmp_path / "lake"
    assert export_dataset(folder, store=store, listing=name, every="week").rows == 2 * rows
    files = sorted(folder.glob(f"listing={name}/project=demo/date=*/part-0.parquet"))
    for file, table in zip(files, tables, strict=True):
        read = pq.ParquetFile(file).read()
        assert read.column_names == columns
        own = [name for name, _, is_own in table._schema() if is_own]
        assert read.select(own).to_pylist() == table.to_arrow().select(own).to_pylist()


@pytest.mark.parametrize("name", OBJECTS)
def test_one_object_is_one_dict(face: Face, stub: StubServer, name: str) -> None:
    client = face.client(stub, requests_per_hour=1)

    def ask(**options: Any) -> Any:
        return face.run(getattr(client, name)(*OBJECTS[name], **options))

    assert isinstance(ask(), dict)
    with pytest.raises(BudgetError):
        ask(on_budget="stop")
    assert len(stub.requests) == 1


@pytest.mark.parametrize("name", [*CURSORS, "feedback_by_page"])
def test_a_range_is_read_slice_by_slice(face: Face, stub: StubServer, store: Path, name: str) -> None:
    client = face.client(stub, store=store)
    table = face.run(getattr(client, name)(**WEEKS).collect())
    assert {str(row["date_from"]) for row in table} == {"2025-12-01", "2025-12-08"}
    assert {request.query["dateFrom"] for request in stub.requests} == {"2025-12-01", "2025-12-08"}
    assert len(table) == 2 * ENDPOINTS[name].rows
    # Each slice is in the store as `sync` would have put it there.
    assert face.run(client.sync("demo", **WEEKS, listing=name)).cached == 2


@pytest.mark.parametrize("name", [*CURSORS, "feedback_by_page"])
def test_totals_are_refused_where_there_are_none(
    face: Face, stub: StubServer, store: Path, name: str
) -> None:
    client = face.client(stub, store=store)
    with pytest.raises(ValueError, match=f"totals, which the service does not have of {name}"):
        client.sync("demo", **WEEKS, listing=name, by_path=False)
    with pytest.raises(ValueError, match="listing must be one of visitors, views"):
        client.sync("demo", **WEEKS, listing="jobs")
    assert not stub.requests


@pytest.mark.row("M10")
def test_a_listing_that_is_cut_off_is_warned_of(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    with pytest.warns(DataWarning, match=r"cut the listing off after 10 rows of December 2025 and"):
        table = face.run(client.feedback_by_page(MONTH, page_size=10).collect())
    assert (len(table), len(table.warnings)) == (10, 1)
    assert "the rest: ask for larger pages, or read shorter periods" in table.warnings[0]
    # Each slice is named, and a day is not to be cut into days.
    with pytest.warns(DataWarning, match="cut the listing off"):
        days = face.run(client.feedback_by_page(**WEEKS | {"every": "day"}, page_size=1).collect())
    assert len(days.warnings) == 14
    assert days.warnings[1].startswith("the service cut the listing off after 1 row of 2 December 2025 and")
    assert "every=" not in days.warnings[1]
    assert "or count the rows of feedback" in days.warnings[1]
    with pytest.raises(PaginationError, match="only cause a warning: the service cut the listing off"):
        face.run(client.feedback_by_page(MONTH, page_size=10, strict=True).collect())


@pytest.mark.row("M10")
def test_a_store_with_a_shorter_cut_off_page_fetches_the_longer_one(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store)
    sizes = [10, 10, 100, 10]
    with pytest.warns(DataWarning, match="cut the listing off"):
        tables = [face.run(client.feedback_by_page(MONTH, page_size=size).collect()) for size in sizes]
    whole = len(face.run(face.client(stub).feedback_by_page(MONTH).collect()))
    assert [len(table) for table in tables] == [10, 10, whole, whole]
    assert [len(table.warnings) for table in tables] == [1, 1, 0, 0]
    assert [table.requests for table in tables] == [1, 0, 1, 0]


@pytest.mark.filterwarnings("ignore::docplatform.DataWarning")
def test_a_part_of_a_listing_is_not_taken_for_the_whole(face: Face, stub: StubServer, store: Path) -> None:
    client = face.client(stub, store=store)
    face.run(client.feedback_by_page(MONTH, page_size=10).collect())
    target = store.with_name("lake")
    sync: dict[str, Any] = {"every": "month", "listing": "feedback_by_page"}

    def written() -> tuple[int, int, int]:
        report = docplatform.export_dataset(target, MONTH, store=store, **sync)
        return report.written, report.kept, report.rows

    assert written() == (0, 0, 0)
    report = face.run(client.sync(stub.project_id, MONTH, **sync))
    assert (report.cached, report.requests) == (0, 1)
    assert len(face.run(client.feedback_by_page(MONTH).collect())) == report.rows
    assert written() == (1, 0, report.rows)
    # A shorter page that is newer is not taken for the whole.
    assert len(face.run(client.feedback_by_page(MONTH, page_size=10, refresh=True).collect())) == 10
    assert face.run(client.sync(stub.project_id, MONTH, **sync)).requests == 0
    assert written() == (0, 1, 0)


@pytest.mark.row("M8", "N8")
@pytest.mark.parametrize(
    ("cursors", "words"),
    [
        (["a", "a"], "a cursor that it had sent before"),
        (["a", "b", "c", "a"], "a cursor that it had sent before"),
        ([None], "no cursor and said that there are more"),
        (["https://evil.example/?cursor=x"], "another address"),
    ],
)
def test_a_cursor_that_leads_nowhere_is_an_error_after_the_rows_of_its_page(
    stub: StubServer, cursors: list[str | None], words: str
) -> None:
    for number, cursor in enumerate(cursors):
        body = {"feedback": [{"id": str(number)}], "nextCursor": cursor, "hasMore": True}
        stub.fail_next(status=200, body=body, path="/feedback")
    stub.fail_next(status=200, body={**body, "nextCursor": None, "hasMore": False}, path="/feedback")
    with stub.client() as client:
        with pytest.raises(PaginationError, match=words) as caught:
            client.feedback(MONTH).collect()
        partial: Any = caught.value.partial
        assert [row["id"] for row in partial] == [str(n) for n in range(len(cursors))]
        # The same page comes again, with an end, and none of its rows twice.
        assert client.feedback(MONTH, resume=caught.value.checkpoint).collect().to_dicts() == []


@pytest.mark.row("M9")
def test_a_query_that_is_too_long_is_sent_with_the_cursor_alone(stub: StubServer) -> None:
    with stub.client() as client:
        rows = client.feedback(MONTH, page_size=70, prefetch=0)
        for _ in range(70):
            next(rows)
        stub.fail_next(status=414, path="/feedback")
        assert len([*rows]) == 10
        assert set(stub.requests[-1].query) == {"cursor"}
        stub.reset()
        rows = client.feedback(MONTH, page_size=20, prefetch=0)
        next(rows)
        stub.fail_next(status=414, path="/feedback")
        assert len([*rows]) == 79
    assert [set(request.query) == {"cursor"} for request in stub.requests] == [False, False, True, True]


def test_a_store_tells_queries_apart_whatever_their_values_are(stub: StubServer, store: Path) -> None:
    with stub.client(store=store) as client:
        queries: list[Any] = [{"source": "a", "status": "b"}, {"source": "a&status=b"}]
        for filters in queries:
            client.feedback(MONTH, **filters).collect()
    assert len(stub.requests) == 2


@pytest.mark.parametrize("name", CURSORS)
def test_a_cursor_that_expired_is_an_error_that_says_how_to_begin_again(
    face: Face, stub: StubServer, store: Path, name: str
) -> None:
    client = face.client(stub, store=store)
    rows = listed(client, name, prefetch=0)
    face.next(rows)
    stub.fail_next(status=400, body={"error": "cursor has expired"})
    with pytest.raises(docplatform.BadRequestError, match=r"may have expired.*refresh=True"):
        face.run(listed(client, name).collect())
    assert len(face.run(listed(client, name, refresh=True).collect())) == ENDPOINTS[name].rows


def test_a_sync_reads_a_slice_again_whose_stored_cursor_expired(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store)
    face.next(weeks(client, "searches", prefetch=0)[0])
    stub.fail_next(status=410, body={"error": "cursor has expired"})
    report = face.run(client.sync("demo", **{**WEEKS, "date_to": "2025-12-08"}, listing="searches"))
    refused, pages, rows = 1, 2, ENDPOINTS["searches"].rows
    assert report == SyncReport(slices=1, cached=0, open=0, requests=refused + pages, rows=rows)


@pytest.mark.row("M9")
def test_a_range_that_takes_too_long_names_a_shorter_period(stub: StubServer) -> None:
    stub.fail_next(status=504, path="/searches")
    with stub.client(max_retries=0) as client, pytest.raises(docplatform.ServerError, match='every="week"'):
        client.searches(MONTH).collect()


@pytest.mark.parametrize(
    ("rows", "advice"),
    [
        (
            lambda client: client.searches(DAY),
            "a day is the shortest slice; where the call takes times, shorten it by times in date_from or date_to",
        ),
        (
            lambda client: client.searches(DAY, every="day"),
            "a day is the shortest slice",
        ),
        (
            lambda client: client.paginate(
                "/v1/analytics/{project_id}/x",
                items="items",
                params={"dateFrom": "2025-12-01", "dateTo": "2026-01-01"},
            ),
            "ask for smaller pages, or for a shorter range",
        ),
    ],
    ids=["day", "slice", "other endpoint"],
)
def test_a_range_that_cannot_be_read_in_slices_gets_no_advice_to_do_so(
    stub: StubServer, rows: Callable[[docplatform.Client], Any], advice: str
) -> None:
    stub.fail_next(status=504)
    with stub.client(max_retries=0) as client, pytest.raises(docplatform.ServerError) as caught:
        rows(client).collect()
    assert str(caught.value).endswith(f"the answer may be too large for the service: {advice}")


def test_values_have_the_types_of_their_columns(stub: StubServer) -> None:
    with stub.client() as client:
        row = client.conversations(MONTH).to_dicts()[0]
        assert isinstance(row["timestamp"], datetime)
        assert row["sources"] == [{"title": "quickstart", "url": "/getting-started/quickstart"}]
        assert row["path"] == row["pageUrl"]
        schema = client.searches(MONTH).collect().to_arrow().schema
    types = [str(field.type) for field in schema]
    assert types == ["string", "int64", "double", "string", "timestamp[us, tz=UTC]", "string"]


def test_a_conversation_that_does_not_exist_is_named(stub: StubServer) -> None:
    with stub.client() as client, pytest.raises(docplatform.NotFoundError, match="conversation 'thread-0'"):
        client.conversation("thread-0")


# -- what is counted: visitors, which do not add up, and views, which do -----------------------------

COUNTED = {"visitors": "visitor", "views": "view"}
every_count = pytest.mark.parametrize("name", COUNTED)


def method(client: Any, name: str, way: str) -> Any:
    return getattr(client, way.format(name=name, one=COUNTED[name]))


@every_count
def test_plans_trends_and_comparisons_cost_what_the_store_lacks(
    face: Face, stub: StubServer, store: Path, name: str
) -> None:
    client = face.client(stub, store=store)
    plan = method(client, name, "plan_{name}")
    assert face.run(plan(**WEEKS)).requests == 2
    trend = face.run(method(client, name, "{one}_trend")(**WEEKS))
    assert (trend.listing, len(trend), trend.requests) == (name, 2, 2)
    assert face.run(plan(**WEEKS))[:3] == (0, 2, True)
    by_path = face.run(method(client, name, "{one}_trend")(**WEEKS, by_path=True))
    assert (len(by_path), by_path.requests) == (120, 2)
    assert [line["total"] for line in trend] == [
        face.run(
            method(client, name, "{one}_totals")(date_from=line["date_from"], date_to=line["date_to"])
        ).total
        for line in trend
    ]
    compared = face.run(method(client, name, "compare_{name}")("2025-W50"))
    assert (compared.listing, len(compared), compared.requests) == (name, 60, 0)
    assert compared.totals.total == trend[1]["total"]
    assert pickle.loads(pickle.dumps(compared)).listing == name
    assert all(f"/{name}" in request.path for request in stub.requests)


@every_count
def test_what_adds_up_is_added_up_and_what_does_not_is_refused(
    face: Face, stub: StubServer, name: str
) -> None:
    trend = face.run(method(face.client(stub), name, "{one}_trend")(**WEEKS))
    if KNOWN[name].adds_up:
        assert trend.sum() == tuple(sum(row[kind] for row in trend) for kind in ("human", "ai", "total"))
        with pytest.raises(TypeError, match="takes no arguments"):
            trend.sum(axis=0)
        rows: Any = [{"path": "/", "human": 2**62, "ai": 0, "total": 2**62}]
        with StubServer(**{name: rows}) as much:
            trend = face.run(method(face.client(much), name, "{one}_trend")(**WEEKS))
        assert trend.sum().human == len(trend) * 2**62 > 2**63 - 1
    else:
        for arguments in ((), ("total",)):
            with pytest.raises(TypeError, match="do not add up"):
                trend.sum(*arguments)
        with pytest.raises(TypeError, match="visitor_totals"):
            trend.sum(axis=0)


@every_count
def test_the_store_gives_back_what_was_fetched_without_a_client(
    face: Face, stub: StubServer, store: Path, name: str
) -> None:
    client = face.client(stub, store=store)
    read: Callable[..., Any] = getattr(docplatform, f"read_{name}")
    with pytest.raises(ValueError, match=rf"has no (totals of )?{name} yet|does not have the {name}"):
        read(store, **WEEKS)
    face.run(client.sync("demo", **WEEKS, listing=name))
    found = read(store, **WEEKS)
    assert (found.listing, found.to_dicts()) == (
        name,
        face.run(method(client, name, "{one}_trend")(**WEEKS)).to_dicts(),
    )
    with pytest.raises(ValueError, match=rf"fetch them with client\.{name}\("):
        read(store, MONTH)


# -- any other path ----------------------------------------------------------------------------------


def test_a_project_can_be_named_for_any_path(face: Face) -> None:
    path = "/v1/analytics/{project_id}/searches"
    with StubServer(projects=("demo", "other")) as stub:
        client = face.client(stub)
        face.run(client.request("GET", path, project_id="other"))
        rows = client.paginate(
            path, items="searches", next_cursor="nextCursor", page_size=50, offset=0, project_id="other"
        )
        face.next(rows)
        rest = client.paginate(
            path, items="searches", next_cursor="nextCursor", page_size=50, resume=rows.checkpoint
        )
        assert len(face.all(rest)) == 119
        assert {request.path for request in stub.requests} == {"/v1/analytics/other/searches"}
        with pytest.raises(ValueError, match="project_id stands nowhere in this path"):
            client.request("GET", "/v1/analytics/demo/searches", project_id="other")


def test_a_filter_of_nothing_and_a_flag_that_only_counts_as_one_are_refused(face: Face) -> None:
    with StubServer() as stub:
        client: Any = face.client(stub)
        # An empty filter may be none to the service, which then sends all rows.
        empty: list[Any] = [[], ""]
        for nothing in empty:
            with pytest.raises(ValueError, match="status is empty: name one or more"):
                client.feedback("2024-01", status=nothing)
        with pytest.raises(ValueError, match="source has 70007 bytes in a URL"):
            client.feedback("2024-01", source=["x" * 70_000])
        rows = client.visitors("2024-01")
        for call, name in (
            (client.visitor_trend, "by_path"),
            (client.plan_visitors, "by_path"),
            (client.visitor_trend, "whole"),
            (rows.to_csv, "bom"),
        ):
            with pytest.raises(TypeError, match=f"{name} must be True or False, not int"):
                call("2024-01", **{name: 1})
        with pytest.raises(TypeError, match="progress must be True or False, not int"):
            rows.collect(progress=1)
        assert stub.requests == []
