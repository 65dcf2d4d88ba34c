"""Lets one test body speak for both faces of the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeAlias

from docplatform import AsyncClient, Client
from docplatform.testing import StubServer

AnyClient: TypeAlias = Any
"""``Client`` or ``AsyncClient``: a test that runs on both cannot name one."""


class SyncFace:
    """``Client``, so that one test body speaks for both clients.

    ``face.run(client.get_job("job-1"))`` is the job on both faces; ``face.all(client.visitors())`` the rows. What a face
    made is closed with it.
    """

    name = "sync"

    def __init__(self) -> None:
        self._clients: list[Client] = []

    def client(self, stub: StubServer, **settings: Any) -> AnyClient:
        """A client of ``stub``."""
        client = stub.client(**settings)
        self._clients.append(client)
        return client

    def make(self, *args: Any, **settings: Any) -> AnyClient:
        """A client with these arguments; it is closed with the face."""
        client = Client(*args, **settings)
        self._clients.append(client)
        return client

    def run(self, value: Any) -> Any:
        """The result of a client's method."""
        return value

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls ``function`` where both faces may be used: inside the loop for the async one."""
        return function(*args, **kwargs)

    def all(self, rows: Any) -> list[Any]:
        """All that is left of an iterator."""
        return list(rows)

    def next(self, rows: Any) -> Any:
        """The next of an iterator."""
        return next(rows)

    def gather(self, make: Iterable[Callable[[], Any]]) -> list[Any]:
        """Several calls at the same time; their results or exceptions, in order."""
        from concurrent.futures import ThreadPoolExecutor

        makers = list(make)
        with ThreadPoolExecutor(max(1, len(makers))) as pool:
            futures = [pool.submit(maker) for maker in makers]
            return [future.exception() or future.result() for future in futures]

    def close_clients(self) -> None:
        """Closes every client that this face made."""
        for client in self._clients:
            client.close()

    def close(self) -> None:
        """Closes every client. The async face also fails if its loop swallowed an error."""
        self.close_clients()


class AsyncFace:
    """``AsyncClient``, in a loop of its own."""

    name = "async"

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None) -> None:
        self._clients: list[AsyncClient] = []
        self._unhandled: list[dict[str, Any]] = []
        self.runner = asyncio.Runner(loop_factory=loop_factory)
        self.runner.get_loop().set_exception_handler(lambda _, context: self._unhandled.append(context))

    def client(self, stub: StubServer, **settings: Any) -> AnyClient:
        client = stub.async_client(**settings)
        self._clients.append(client)
        return client

    def make(self, *args: Any, **settings: Any) -> AnyClient:
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

    def all(self, rows: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [row async for row in rows]

        return self.runner.run(collect())

    def next(self, rows: Any) -> Any:
        return self.run(anext(rows))

    def gather(self, make: Iterable[Callable[[], Any]]) -> list[Any]:
        async def together() -> list[Any]:
            return await asyncio.gather(*(maker() for maker in make), return_exceptions=True)

        return self.runner.run(together())

    def cancel(self, call: Callable[[], Coroutine[Any, Any, Any]], when: Callable[[], object]) -> list[str]:
        """Cancels the task of a call as soon as something is so; the notes of the cancellation."""

        async def cancelled() -> list[str]:
            task = asyncio.create_task(call())
            while not (when() or task.done()):  # noqa: ASYNC110  # set by another thread, or logged
                await asyncio.sleep(0.001)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError as error:
                return getattr(error, "__notes__", [])
            raise AssertionError("it was not cancelled")

        notes: list[str] = self.runner.run(cancelled())
        return notes

    def close_clients(self) -> None:
        for client in self._clients:
            self.run(client.close())

    def close(self) -> None:
        self.close_clients()
        self.runner.close()
        assert not self._unhandled, f"the event loop saw unhandled exceptions: {self._unhandled}"


Face: TypeAlias = SyncFace | AsyncFace
