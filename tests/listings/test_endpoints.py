"""Every listing of the service: the same promises for each, from one table of endpoints."""

from __future__ import annotations

import json
import pickle
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import docplatform
from docplatform import BudgetError, DataWarning, PaginationError, Table
from docplatform.testing import StubServer
from helpers import Face

# How many rows the stub has of it in a month, and a page size that makes several pages.
ENDPOINTS = {"views": (60, 25), "searches": (120, 50), "feedback": (80, 30), "conversations": (200, 70)}
every_endpoint = pytest.mark.parametrize("name", ENDPOINTS)
MONTH = "2025-12"


@pytest.fixture
def site() -> Any:
    with StubServer(visitors=60) as stub:
        yield stub


def listed(client: Any, name: str, **options: Any) -> Any:
    return getattr(client, name)(**{"period": MONTH, "page_size": ENDPOINTS[name][1], **options})


@every_endpoint
def test_rows_tables_and_pickles_are_equal(face: Face, site: StubServer, name: str) -> None:
    client = face.client(site)
    rows = face.run(listed(client, name).to_dicts())
    table = face.run(listed(client, name).collect())
    assert (len(rows), table.to_dicts(), list(table)) == (ENDPOINTS[name][0], rows, rows)
    assert isinstance(table, Table)
    assert (table.listing, pickle.loads(pickle.dumps(table)).to_dicts()) == (name, rows)


@every_endpoint
def test_every_way_has_the_same_rows(face: Face, site: StubServer, tmp_path: Path, name: str) -> None:
    pq = import_module("pyarrow.parquet")

    client = face.client(site)
    table = face.run(listed(client, name).collect())
    frame = face.run(listed(client, name).to_pandas())
    assert len(frame) == len(table)
    face.run(listed(client, name).to_csv(tmp_path / "direct.csv"))
    table.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "direct.csv").read_bytes() == (tmp_path / "table.csv").read_bytes()
    face.run(listed(client, name).to_parquet(tmp_path / "direct.parquet"))
    assert pq.read_table(tmp_path / "direct.parquet").equals(table.to_arrow())
    face.run(listed(client, name).to_jsonl(tmp_path / "direct.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "direct.jsonl").read_text().splitlines()]
    assert [set(line) for line in lines] == [set(row) for row in table]


@every_endpoint
def test_an_export_continues_after_any_row(site: StubServer, name: str) -> None:
    with site.client() as client:
        whole = listed(client, name).to_dicts()
        for handed in (0, 1, ENDPOINTS[name][1] - 1, ENDPOINTS[name][1], ENDPOINTS[name][1] + 3):
            first = listed(client, name, max_rows=handed)
            rows = list(first)
            assert rows + list(getattr(client, name)(resume=first.checkpoint)) == whole, handed


@every_endpoint
def test_a_final_range_is_fetched_once(site: StubServer, tmp_path: Path, name: str) -> None:
    with site.client(store=tmp_path / "store.db") as client:
        first = listed(client, name).collect()
        sent = len(site.requests)
        assert sent > 1
        again = listed(client, name).collect()
        assert (again.to_dicts(), again.requests, len(site.requests)) == (first.to_dicts(), 0, sent)


@every_endpoint
def test_what_broke_off_continues_in_the_store(site: StubServer, tmp_path: Path, name: str) -> None:
    with site.client(store=tmp_path / "store.db", max_retries=0) as client:
        rows = listed(client, name, prefetch=0)
        next(rows)
        with site.client() as other:
            whole = listed(other, name).to_dicts()
        before = len(site.requests)
        again = listed(client, name).collect()
        assert (again.to_dicts(), len(site.requests) - before) == (
            whole,
            len(range(0, len(whole), ENDPOINTS[name][1])) - 1,
        )


@every_endpoint
def test_the_budget_holds(site: StubServer, name: str) -> None:
    with site.client(requests_per_hour=1) as client, pytest.raises(BudgetError) as caught:
        listed(client, name, on_budget="stop").collect()
    assert caught.value.partial is not None
    assert len(caught.value.partial) == ENDPOINTS[name][1]
    assert len(site.requests) == 1


@pytest.mark.parametrize("name", ["searches", "feedback", "conversations"])
def test_a_range_is_read_slice_by_slice(face: Face, site: StubServer, name: str) -> None:
    days = {"date_from": "2025-12-01", "date_to": "2025-12-15"}
    table = face.run(getattr(face.client(site), name)(**days, every="week").collect())
    assert {str(row["date_from"]) for row in table} == {"2025-12-01", "2025-12-08"}
    assert {request.query["dateFrom"] for request in site.requests} == {"2025-12-01", "2025-12-08"}
    assert len(table) == 2 * ENDPOINTS[name][0]


@pytest.mark.row("M10")
def test_what_is_cut_off_is_told(face: Face, site: StubServer) -> None:
    client = face.client(site)
    with pytest.warns(DataWarning, match=r"cut the listing off after 10 rows"):
        table = face.run(client.feedback_by_page(MONTH, page_size=10).collect())
    assert (len(table), len(table.warnings)) == (10, 1)
    with pytest.raises(PaginationError, match="cut the listing off"):
        face.run(client.feedback_by_page(MONTH, page_size=10, strict=True).collect())


@pytest.mark.row("M8")
@pytest.mark.parametrize(
    ("cursors", "words"),
    [
        (["a", "a"], "a cursor that it had sent before"),
        (["a", "b", "c", "a"], "a cursor that it had sent before"),
        ([None], "no cursor and said that there are more"),
        (["https://evil.example/?cursor=x"], "another server"),
    ],
)
def test_a_cursor_that_leads_nowhere_is_an_error(
    site: StubServer, cursors: list[str | None], words: str
) -> None:
    for number, cursor in enumerate(cursors):
        body = {"feedback": [{"id": str(number)}], "nextCursor": cursor, "hasMore": True}
        site.fail_next(status=200, body=body, path="/feedback")
    with site.client() as client, pytest.raises(PaginationError, match=words):
        client.feedback(MONTH).collect()


@pytest.mark.row("M9")
def test_a_query_that_is_too_long_is_sent_with_the_cursor_alone(site: StubServer) -> None:
    with site.client() as client:
        rows = client.feedback(MONTH, page_size=70, prefetch=0)
        for _ in range(70):
            next(rows)
        site.fail_next(status=414, path="/feedback")
        assert len([*rows]) == 10
    assert set(site.requests[-1].query) == {"cursor"}


@pytest.mark.row("M9")
def test_a_range_that_takes_too_long_names_a_shorter_period(site: StubServer) -> None:
    site.fail_next(status=504, path="/searches")
    with site.client(max_retries=0) as client, pytest.raises(docplatform.ServerError, match='every="week"'):
        client.searches(MONTH).collect()


def test_values_have_the_types_of_their_columns(site: StubServer) -> None:
    with site.client() as client:
        row = client.conversations(MONTH).to_dicts()[0]
        assert isinstance(row["timestamp"], datetime)
        assert row["sources"] == [{"title": "quickstart", "url": "/quickstart"}]
        schema = client.searches(MONTH).collect().to_arrow().schema
    types = [str(field.type) for field in schema]
    assert types == ["string", "int64", "double", "string", "timestamp[us, tz=UTC]"]


def test_one_object_is_one_dict(face: Face, site: StubServer) -> None:
    client = face.client(site)
    assert face.run(client.conversation("thread-1"))["threadId"] == "thread-1"
    assert face.run(client.caller_stats(MONTH))["total"] == 339
    assert face.run(client.view_totals(MONTH)).total > 0
