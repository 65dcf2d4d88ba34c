"""Other clients, used as their documentation shows, with one pooled connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeAlias

import fastsimdjson
import msgspec
import orjson

LIMIT = 250
KEY = "mint_dsc_bench"
PATH = "/v1/analytics/bench/visitors"
SEARCHES = "/v1/analytics/bench/searches"
SEARCHES_LIMIT = 100
HEADERS = {"Authorization": f"Bearer {KEY}", "Accept": "application/json"}

Row: TypeAlias = dict[str, Any]


def _pages(get: Callable[[int], Any]) -> list[Row]:
    """The loop that everybody writes."""
    rows: list[Row] = []
    while True:
        page = get(len(rows))
        rows += page["visitors"]
        if not page["hasMore"]:
            return rows


def with_requests(url: str) -> list[Row]:
    import requests

    with requests.Session() as session:
        session.headers.update(HEADERS)

        def get(offset: int) -> Any:
            answer = session.get(url + PATH, params={"limit": LIMIT, "offset": offset}, timeout=30)
            answer.raise_for_status()
            return answer.json()

        return _pages(get)


def with_urllib3(url: str) -> list[Row]:
    import urllib3

    pool = urllib3.PoolManager(headers=HEADERS)
    return _pages(
        lambda offset: orjson.loads(pool.request("GET", f"{url}{PATH}?limit={LIMIT}&offset={offset}").data)
    )


def with_httpx(url: str) -> list[Row]:
    import httpx

    with httpx.Client(headers=HEADERS) as client:

        def get(offset: int) -> Any:
            answer = client.get(url + PATH, params={"limit": LIMIT, "offset": offset})
            answer.raise_for_status()
            return orjson.loads(answer.content)

        return _pages(get)


def with_httpx2(url: str, loads: Callable[[bytes], Any]) -> list[Row]:
    import httpx2

    with httpx2.Client(headers=HEADERS) as client:

        def get(offset: int) -> Any:
            answer = client.get(f"{url}{PATH}?limit={LIMIT}&offset={offset}")
            answer.raise_for_status()
            return loads(answer.content)

        return _pages(get)


def with_pyreqwest(url: str, loads: Callable[[bytes], Any]) -> list[Row]:
    from pyreqwest.client import SyncClientBuilder

    with SyncClientBuilder().default_headers(HEADERS).build() as client:
        return _pages(
            lambda offset: loads(
                bytes(client.get(f"{url}{PATH}?limit={LIMIT}&offset={offset}").build().send().bytes())
            )
        )


async def aiohttp_rows(url: str) -> AsyncIterator[Row]:
    """The rows one by one, for ``async for``."""
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


async def pyreqwest_rows(url: str) -> AsyncIterator[Row]:
    """The same with pyreqwest."""
    from pyreqwest.client import ClientBuilder

    offset = 0
    async with ClientBuilder().default_headers(HEADERS).build() as client:
        while True:
            answer = await client.get(f"{url}{PATH}?limit={LIMIT}&offset={offset}").build().send()
            page = orjson.loads(bytes(await answer.bytes()))
            for row in page["visitors"]:
                yield row
            if not page["hasMore"]:
                return
            offset += LIMIT


async def count(rows: Any) -> int:
    number = 0
    async for _ in rows:
        number += 1
    return number


def with_aiohttp(url: str) -> list[Row]:
    import aiohttp

    async def read() -> list[Row]:
        rows: list[Row] = []
        async with aiohttp.ClientSession(headers=HEADERS) as session:
            while True:
                async with session.get(f"{url}{PATH}?limit={LIMIT}&offset={len(rows)}") as answer:
                    answer.raise_for_status()
                    page = orjson.loads(await answer.read())
                rows += page["visitors"]
                if not page["hasMore"]:
                    return rows

    return asyncio.run(read())


def aiohttp_searches(url: str) -> list[Row]:
    """The loop over cursors."""
    import aiohttp

    async def read() -> list[Row]:
        rows: list[Row] = []
        params: dict[str, Any] = {"limit": SEARCHES_LIMIT}
        async with aiohttp.ClientSession(headers=HEADERS) as session:
            while True:
                async with session.get(url + SEARCHES, params=params) as answer:
                    answer.raise_for_status()
                    page = orjson.loads(await answer.read())
                rows += page["searches"]
                if page["nextCursor"] is None:
                    return rows
                params["cursor"] = page["nextCursor"]

    return asyncio.run(read())


def with_dlt(url: str) -> list[Row]:
    from dlt.sources.helpers.rest_client import RESTClient
    from dlt.sources.helpers.rest_client.paginators import OffsetPaginator

    paginator = OffsetPaginator(limit=LIMIT, total_path=None, has_more_path="hasMore")
    client = RESTClient(base_url=url, headers=HEADERS, paginator=paginator, data_selector="visitors")
    return [row for page in client.paginate(PATH) for row in page]


def with_openai(url: str) -> list[Row]:
    """The base that Stainless generates SDKs on, here that of openai: ``httpx``, and a pydantic model a row."""
    from openai import OpenAI
    from openai._base_client import make_request_options
    from openai._models import BaseModel

    class Visitor(BaseModel):
        path: str
        human: int
        ai: int
        total: int

    class Page(BaseModel):
        visitors: list[Visitor]
        hasMore: bool  # noqa: N815 - as on the wire

    rows: list[Row] = []
    with OpenAI(api_key=KEY, base_url=url) as client:
        while True:
            options = make_request_options(query={"limit": LIMIT, "offset": len(rows)})
            page = client.get(PATH, cast_to=Page, options=options)
            rows += [visitor.to_dict() for visitor in page.visitors]
            if not page.hasMore:
                return rows


PARSERS: dict[str, Callable[[bytes], Any]] = {
    "orjson": orjson.loads,
    "msgspec": msgspec.json.decode,
    "fastsimdjson": fastsimdjson.loads,
}

PEERS: dict[str, Callable[[str], list[Row]]] = {
    "requests": with_requests,
    "httpx + orjson": with_httpx,
    "aiohttp + orjson": with_aiohttp,
    "urllib3 + orjson": with_urllib3,
    **{
        f"{client} + {parser}": partial(way, loads=loads)
        for client, way in (("httpx2", with_httpx2), ("pyreqwest", with_pyreqwest))
        for parser, loads in PARSERS.items()
    },
    "dlt RESTClient": with_dlt,
    "openai's base (Stainless)": with_openai,
}

ASYNC_PEERS: dict[str, Callable[[str], AsyncIterator[Row]]] = {
    "aiohttp + orjson": aiohttp_rows,
    "pyreqwest + orjson": pyreqwest_rows,
}
