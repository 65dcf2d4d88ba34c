"""HTTP/1.1 for the stub: as much as a server on loopback needs, over asyncio's streams, in one thread.

Not :mod:`http.server`, which takes a thread for each connection, does not see a client leave, and
cannot hold thousands of delayed answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from email.utils import formatdate
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from docplatform.testing._service import PHRASES, Answer, Refusal, StubRequest

if TYPE_CHECKING:
    from ._server import StubServer

MAX_HEAD = 64 * 1024
MAX_BODY = 16 * 1024 * 1024
IDLE_SECONDS = 60.0
"""How long a connection may do nothing, or take over one request, before it is closed."""
LINGER_SECONDS = 2.0
"""How long the rest of a refused request is thrown away before its connection is closed."""

BACKLOG = 1024


class Received(NamedTuple):
    """A request that was read whole."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    keep_alive: bool


class Exchange(NamedTuple):
    """A request and its answer after a delay; ``None`` closes the connection without one."""

    request: StubRequest
    answer: Answer | None
    delay: float


async def _read(reader: asyncio.StreamReader) -> Received:
    """The next request. Raises :class:`Refusal` if the stub does not accept it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        raise Refusal(431, f"The head is larger than {MAX_HEAD} bytes") from None
    line, *fields = head.split("\r\n")[:-2]
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if not colon:
            raise Refusal(400, "Malformed header")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    try:
        method, target, version = line.split(" ")
        length = int(headers.get("content-length", "0"))
    except ValueError:
        raise Refusal(400, "Malformed request line or Content-Length") from None
    if not target.startswith("/") or "host" not in headers or length < 0:
        raise Refusal(400, "Malformed target, Host or Content-Length")
    if "transfer-encoding" in headers:
        raise Refusal(411, "A body needs a Content-Length")
    if length > MAX_BODY:
        raise Refusal(413, f"The body is larger than {MAX_BODY} bytes")
    keep_alive = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return Received(method, target, headers, await reader.readexactly(length), keep_alive)


def _rendered(answer: Answer, number: int, keep_alive: bool, with_body: bool = True) -> bytes:
    """Status line, headers and body. Headers of the answer replace those added here."""
    usual = {
        "content-type": "application/json",
        "date": formatdate(usegmt=True),
        "x-request-id": f"stub-{number:08}",
    }
    for name, _ in answer.headers:
        usual.pop(name.lower(), None)
    pairs = [*usual.items(), *answer.headers]
    if answer.status not in (204, 304):
        pairs.append(("content-length", str(len(answer.body))))
    pairs.append(("connection", "keep-alive" if keep_alive else "close"))
    lines = [f"HTTP/1.1 {answer.status} {PHRASES.get(answer.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in pairs]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return head + answer.body if with_body else head


async def _linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # To close with unread input resets the connection, and the client may lose the answer: end the
    # sending side, and throw the rest away for a moment.
    writer.write_eof()
    async with asyncio.timeout(LINGER_SECONDS):
        while await reader.read(MAX_HEAD):
            pass


async def _stays(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Whether the client is still there after this time; only reading shows that it left.

    A client that closes only its sending side counts as gone. So does one that sends a second request before the first is answered.
    """
    try:
        async with asyncio.timeout(seconds):
            await reader.read(1)
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


async def _serve(
    stub: StubServer, numbers: Iterator[int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """One connection: requests are read, applied and answered one after the other."""
    keep_alive = True
    while keep_alive:
        async with asyncio.timeout(IDLE_SECONDS):
            await writer.drain()  # a client that takes no answers is not read on from
            try:
                received = await _read(reader)
            except Refusal as refusal:
                writer.write(_rendered(refusal.answer, next(numbers), keep_alive=False))
                await _linger(reader, writer)
                return
        keep_alive = received.keep_alive
        request, answer, delay = stub._received(received)
        if answer is None:
            return
        if delay and not await _stays(reader, delay):
            stub._abandoned(request)
            return
        # Marked before it is written: a client that has its answer finds it in the record.
        stub._answered(request, answer.status)
        writer.write(_rendered(answer, next(numbers), keep_alive, received.method != "HEAD"))


class ServerThread:
    """The thread with its event loop. It serves when the constructor returns."""

    def __init__(self, listeners: Sequence[socket.socket], stub: StubServer) -> None:
        self._listeners = listeners
        self._stub = stub
        self._numbers = count(1)
        self._tasks: dict[socket.socket, asyncio.Task[None]] = {}
        self._started: Future[Callable[[], object]] = Future()
        self._thread = threading.Thread(target=self._run, name="docplatform-stub", daemon=True)
        self._thread.start()
        self._stop = self._started.result()

    def stop(self) -> None:
        """Close everything, and return when the thread has ended."""
        self._stop()
        self._thread.join()

    def _run(self) -> None:
        # A loop of its own, without debugging, whatever policy or mode the tests run under. At its
        # end it cancels what is left.
        try:
            with asyncio.Runner(debug=False, loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._listen())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)
        finally:
            for each in (*self._listeners, *self._tasks):
                each.close()

    async def _listen(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for listener in self._listeners:
            listener.setblocking(False)
            loop.add_reader(listener, self._accept, loop, listener)
        self._started.set_result(lambda: loop.call_soon_threadsafe(stop.set))
        await stop.wait()
        for listener in self._listeners:
            loop.remove_reader(listener)

    def _accept(self, loop: asyncio.AbstractEventLoop, listener: socket.socket) -> None:
        # Not asyncio.start_server(): when that is closed, it loses the connections it is accepting.
        with contextlib.suppress(OSError):  # the client was gone first, or no descriptor is free yet
            connection, _ = listener.accept()
            self._tasks[connection] = loop.create_task(self._connected(connection))

    async def _connected(self, connection: socket.socket) -> None:
        self._stub._opened()
        # A client that leaves or takes too long, and the end of the stub, are no errors.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            reader, writer = await asyncio.open_connection(sock=connection, limit=MAX_HEAD)
            try:
                await _serve(self._stub, self._numbers, reader, writer)
                writer.close()
                async with asyncio.timeout(IDLE_SECONDS):
                    await writer.wait_closed()
            finally:
                writer.transport.abort()
        connection.close()
        del self._tasks[connection]
        self._stub._closed()


def bind(port: int) -> list[socket.socket]:
    """Listen on both loopback addresses, at the same port; 0 is any that is free on both."""
    for _ in range(20):
        first = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
        address = ("::1", first.getsockname()[1])
        try:
            return [first, socket.create_server(address, family=socket.AF_INET6, backlog=BACKLOG)]
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                return [first]  # a machine without IPv6
            first.close()
            if port or error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, "Found no port that is free on both loopback addresses")
