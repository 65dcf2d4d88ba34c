"""What people use today, each written as its documentation shows, tuned as a careful user would: a pooled connection, orjson."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import orjson

LIMIT = 250
PATH = "/v1/analytics/bench/visitors"
HEADERS = {"Authorization": "Bearer mint_dsc_bench", "Accept": "application/json"}

Row = dict[str, Any]


def with_requests(url: str) -> Iterator[Row]:
    import requests

    offset = 0
    with requests.Session() as session:
        session.headers.update(HEADERS)
        while True:
            answer = session.get(url + PATH, params={"limit": LIMIT, "offset": offset}, timeout=30)
            answer.raise_for_status()
            page = answer.json()
            yield from page["visitors"]
            if not page["hasMore"]:
                return
            offset += LIMIT


def with_urllib3(url: str) -> Iterator[Row]:
    import urllib3

    offset = 0
    pool = urllib3.PoolManager(headers=HEADERS)
    while True:
        page = orjson.loads(pool.request("GET", f"{url}{PATH}?limit={LIMIT}&offset={offset}").data)
        yield from page["visitors"]
        if not page["hasMore"]:
            return
        offset += LIMIT


def with_httpx(url: str) -> Iterator[Row]:
    import httpx

    offset = 0
    with httpx.Client(headers=HEADERS) as client:
        while True:
            answer = client.get(url + PATH, params={"limit": LIMIT, "offset": offset})
            answer.raise_for_status()
            page = orjson.loads(answer.content)
            yield from page["visitors"]
            if not page["hasMore"]:
                return
            offset += LIMIT


async def with_aiohttp(url: str) -> AsyncIterator[Row]:
    import aiohttp

    offset = 0
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        while True:
            async with session.get(f"{url}{PATH}?limit={LIMIT}&offset={offset}") as answer:
                answer.raise_for_status()
                page = orjson.loads(await answer.read())
            for row in page["visitors"]:
                yield row
            if not page["hasMore"]:
                return
            offset += LIMIT


async def with_aiohttp_pages(url: str) -> list[Row]:
    import aiohttp

    rows: list[Row] = []
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        while True:
            async with session.get(f"{url}{PATH}?limit={LIMIT}&offset={len(rows)}") as answer:
                answer.raise_for_status()
                page = orjson.loads(await answer.read())
            rows += page["visitors"]
            if not page["hasMore"]:
                return rows


def aiohttp_list(url: str) -> list[Row]:
    return asyncio.run(with_aiohttp_pages(url))


def with_pyreqwest(url: str) -> Iterator[Row]:
    from pyreqwest.client import SyncClientBuilder

    offset = 0
    with SyncClientBuilder().default_headers(HEADERS).build() as client:
        while True:
            answer = client.get(f"{url}{PATH}").query({"limit": LIMIT, "offset": offset}).build().send()
            page = orjson.loads(bytes(answer.bytes()))
            yield from page["visitors"]
            if not page["hasMore"]:
                return
            offset += LIMIT


def with_dlt(url: str) -> Iterator[Row]:
    from dlt.sources.helpers.rest_client import RESTClient
    from dlt.sources.helpers.rest_client.paginators import OffsetPaginator

    client = RESTClient(
        base_url=url,
        headers=HEADERS,
        paginator=OffsetPaginator(limit=LIMIT, total_path=None, has_more_path="hasMore"),
        data_selector="visitors",
    )
    for page in client.paginate(PATH):
        yield from page


def with_stainless(url: str) -> Iterator[Row]:
    """As the SDKs that Stainless generates page: models of pydantic, ``httpx`` below."""
    from openai import OpenAI
    from openai._base_client import BasePage, PageInfo, SyncAPIClient, make_request_options
    from openai._models import BaseModel

    class Visitor(BaseModel):
        path: str
        human: int
        ai: int
        total: int

    class Page(BasePage[Visitor]):
        visitors: list[Visitor]
        hasMore: bool  # noqa: N815 - the wire's name

        def _get_page_items(self) -> list[Visitor]:
            return self.visitors

        def next_page_info(self) -> PageInfo | None:
            if not self.hasMore:
                return None
            offset = int(str(self._options.params.get("offset", 0)))  # type: ignore[union-attr]
            return PageInfo(params={"offset": offset + LIMIT})

    from openai.pagination import SyncPage  # noqa: F401 - the module must load as a user's would

    client: SyncAPIClient = OpenAI(api_key="mint_dsc_bench", base_url=url)
    from openai._base_client import BaseSyncPage

    class SyncVisitorsPage(Page, BaseSyncPage[Visitor]):  # type: ignore[misc]
        pass

    page = client._get_api_list(
        PATH,
        page=SyncVisitorsPage,
        options=make_request_options(query={"limit": LIMIT, "offset": 0}),
        model=Visitor,
    )
    for visitor in page:
        yield visitor.to_dict()
