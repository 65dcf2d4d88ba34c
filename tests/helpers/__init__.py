"""What the tests share: both faces of the client behind one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeAlias

from docplatform import AsyncClient, Client
from docplatform.testing import StubServer

AnyClient: TypeAlias = Any
"""``Client`` or ``AsyncClient``: a test that runs on both cannot name one."""


class Face:
    """Runs what either client returns, so that one test body speaks for both.

    ``face.run(client.get_job("job-1"))`` is the job on both faces; ``face.all(client.visitors())`` the rows.
    """

    name: str

    def client(self, stub: StubServer, **settings: Any) -> AnyClient:
        """A client of ``stub``; closed with the face."""
        raise NotImplementedError

    def make(self, *args: Any, **settings: Any) -> AnyClient:
        """A client of nothing in particular."""
        raise NotImplementedError

    def run(self, value: Any) -> Any:
        """What a client's method comes to."""
        raise NotImplementedError

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``function``, called where both faces may be used: inside the loop for the async one."""
        raise NotImplementedError

    def all(self, rows: Any) -> list[Any]:
        """All that is left of an iterator."""
        raise NotImplementedError

    def next(self, rows: Any) -> Any:
        """The next of an iterator."""
        raise NotImplementedError

    def gather(self, make: Iterable[Callable[[], Any]]) -> list[Any]:
        """Several calls at the same time; their results or exceptions, in order."""
        raise NotImplementedError

    def close_clients(self) -> None:
        """Closes every client that this face made."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes every client that this face made, and fails for what the event loop had to swallow."""
        self.close_clients()


class SyncFace(Face):
    name = "sync"

    def __init__(self) -> None:
        self._clients: list[Client] = []

    def client(self, stub: StubServer, **settings: Any) -> Client:
        client = stub.client(**settings)
        self._clients.append(client)
        return client

    def make(self, *args: Any, **settings: Any) -> Client:
        client = Client(*args, **settings)
        self._clients.append(client)
        return client

    def run(self, value: Any) -> Any:
        return value

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def all(self, rows: Iterable[Any]) -> list[Any]:
        return list(rows)

    def next(self, rows: Any) -> Any:
        return next(rows)

    def gather(self, make: Iterable[Callable[[], Any]]) -> list[Any]:
        from concurrent.futures import ThreadPoolExecutor

        makers = list(make)
        with ThreadPoolExecutor(max(1, len(makers))) as pool:
            futures = [pool.submit(maker) for maker in makers]
            return [future.exception() or future.result() for future in futures]

    def close_clients(self) -> None:
        for client in self._clients:
            client.close()


class AsyncFace(Face):
    name = "async"

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None) -> None:
        self._clients: list[AsyncClient] = []
        self._unhandled: list[dict[str, Any]] = []
        self.runner = asyncio.Runner(loop_factory=loop_factory)
        self.runner.get_loop().set_exception_handler(lambda _, context: self._unhandled.append(context))

    def client(self, stub: StubServer, **settings: Any) -> AsyncClient:
        client = stub.async_client(**settings)
        self._clients.append(client)
        return client

    def make(self, *args: Any, **settings: Any) -> AsyncClient:
        client = AsyncClient(*args, **settings)
        self._clients.append(client)
        return client

    def run(self, value: Any) -> Any:
        if isinstance(value, Coroutine):
            return self.runner.run(value)
        if isinstance(value, Awaitable):

            async def wait() -> Any:
                return await value

            return self.runner.run(wait())
        return value

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        async def inside() -> Any:
            result = function(*args, **kwargs)
            return await result if isinstance(result, Awaitable) else result

        return self.runner.run(inside())

    def all(self, rows: AsyncIterable[Any]) -> list[Any]:
        async def collect() -> list[Any]:
            return [row async for row in rows]

        return self.runner.run(collect())

    def next(self, rows: Any) -> Any:
        return self.run(anext(rows))

    def gather(self, make: Iterable[Callable[[], Any]]) -> list[Any]:
        async def together() -> list[Any]:
            return await asyncio.gather(*(maker() for maker in make), return_exceptions=True)

        return self.runner.run(together())

    def close_clients(self) -> None:
        for client in self._clients:
            self.run(client.close())

    def close(self) -> None:
        super().close()
        self.runner.close()
        assert not self._unhandled, f"the event loop saw unhandled exceptions: {self._unhandled}"
