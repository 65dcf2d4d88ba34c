"""paginate(): any endpoint is paged as visitors are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import date
from typing import Any

import pytest

from docplatform import AsyncRows, Rows
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import serve

VISITORS = "/v1/analytics/{project_id}/visitors"


def test_another_endpoint_is_paged_as_visitors_are(face: Face) -> None:
    rows = [{"path": f"/{n}", "human": n, "ai": 0, "total": n} for n in range(600)]
    with StubServer(rows) as stub:
        listing = face.client(stub).paginate(VISITORS, items="visitors", params={"dateFrom": "2026-01-01"})
        assert isinstance(listing, Rows if face.name == "sync" else AsyncRows)
        assert isinstance(listing, Iterator if face.name == "sync" else AsyncIterator)
        assert stub.peak_connections == 0
        assert face.all(listing) == rows
        with pytest.raises(RuntimeError, match="read to its end"):
            face.all(listing)
        queries = [request.query for request in stub.requests]
        assert queries == [
            {"dateFrom": "2026-01-01", "limit": "250", "offset": offset} for offset in ("0", "250", "500")
        ]
        assert {request.path for request in stub.requests} == {"/v1/analytics/demo/visitors"}


def test_rows_may_be_anything(face: Face, stub: StubServer) -> None:
    first, second = [1, "two", None, [3.5], {"four": 10**30}], [True, 1, 1]
    serve(stub, {"entries": first, "more": True, "new": 1}, {"entries": second, "more": False})
    listing = face.client(stub).paginate("/v3/things", items="entries", has_more="more", page_size=5)
    # Rows of unknown shape may rightly be there twice.
    assert face.all(listing) == first + second
    assert listing.warnings == []


def test_a_listing_is_resumed_and_another_query_refused(face: Face) -> None:
    rows = [{"n": n} for n in range(600)]
    with StubServer(rows) as stub:
        client = face.client(stub)
        some = client.paginate(VISITORS, items="visitors", page_size=200, prefetch=2, max_rows=350)
        assert face.all(some) == rows[:350]
        asked = [(request.query["offset"], request.query["limit"]) for request in stub.requests]
        assert asked == [("0", "200"), ("200", "150")]
        params = {"dateFrom": date(2026, 1, 1), "tag": ["a", "b"]}
        listing = client.paginate(VISITORS, items="visitors", params=params, page_size=100)
        got = [face.next(listing) for _ in range(130)]
        checkpoint = listing.checkpoint
        again = client.paginate(VISITORS, items="visitors", params=params, resume=checkpoint)
        assert got + face.all(again) == rows
        others: list[dict[str, Any]] = [
            {"params": {"dateFrom": "2026-01-02", "tag": ["a", "b"]}},
            {"params": None},
            {"params": params, "items": "totals"},
            {"params": params, "has_more": "more"},
            {"params": params, "page_size": 50},
        ]
        for other in others:
            with pytest.raises(ValueError, match="another query"):
                client.paginate(VISITORS, **{"items": "visitors", **other}, resume=checkpoint)
        with pytest.raises(
            ValueError, match=r"resume: the checkpoint is of /v1/analytics/\{project_id\}/visitors, so"
        ):
            client.paginate("/v1/other", items="visitors", params=params, resume=checkpoint)


@pytest.mark.parametrize(
    "settings",
    [
        {"items": "hasMore"},
        {"items": ""},
        {"items": "rows", "params": {"limit": 5}},
        {"items": "rows", "params": {"offset": 5}},
        {"items": "rows", "page_size": 0},
        {"items": "rows", "prefetch": 17},
        {"items": "rows", "params": {"at": "\ud800"}},
        # No URL is as long as that.
        {"items": "rows", "params": {"at": "\u00e9" * 10_001}},
    ],
)
def test_arguments_of_a_listing_are_checked_at_the_call(
    face: Face, stub: StubServer, settings: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"different fields|params|paging|page_size|prefetch"):
        face.client(stub).paginate("/v3/things", **settings)
    with pytest.raises(TypeError, match="items"):
        face.client(stub).paginate("/v3/things")
    with pytest.raises(ValueError, match=r"a query.* looks like \"/v1/analytics/{project_id}/visitors\""):
        face.client(stub).paginate("/v3/things?limit=5", items="rows")
    assert stub.peak_connections == 0
