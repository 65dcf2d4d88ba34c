"""The wire: HTTP/1.1 over asyncio, in one thread, for loopback alone.

Not :mod:`http.server`, which takes a thread for each connection, does not see a client leave, and
cannot hold thousands of delayed answers.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from itertools import count
from typing import Any, cast

from docplatform.testing._service import Answer, Refusal, StubRequest

MAX_HEAD = 64 * 1024
MAX_BODY = 16 * 1024 * 1024
IDLE_SECONDS = 60.0
"""How long a connection may do nothing, or take over one request, before it is closed."""
LINGER_SECONDS = 2.0
"""How long the rest of a refused request is thrown away before its connection is closed."""

BACKLOG = 1024

_log = logging.getLogger("docplatform.testing")
_log.addHandler(logging.NullHandler())  # without a handler, logging itself prints to stderr
_start = re.compile(rb"\r?\Z|[!#$%&'*+\-.^_`|~0-9A-Za-z]").match
_token = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+").fullmatch
_target = re.compile(rb"/[\x21-\x7e]*").fullmatch
_control = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]").search
_VERSIONS = {b"HTTP/1.1": True, b"HTTP/1.0": False}
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_DEFAULTS = ("content-type", "date", "x-request-id")


@dataclass(slots=True)
class Head:
    """What stands before the body of a request."""

    method: str
    target: str
    headers: dict[str, str]
    keep_alive: bool
    length: int = 0
    expects_continue: bool = False
    refusal: Answer | None = None
    """Set where the body is not to be read, because the wire itself refuses the request."""


@dataclass(slots=True)
class Exchange:
    """A request and what is to come of it: an answer after a delay, or (``None``) silence."""

    request: StubRequest
    answer: Answer | None
    delay: float


@dataclass(frozen=True, slots=True)
class App:
    """What stands behind the wire: functions that are called in the server's thread."""

    opened: Callable[[], None]
    closed: Callable[[], None]
    received: Callable[[Head, bytes], Exchange]
    """A request was read. ``Head.refusal``, where it is set, is the answer."""
    answered: Callable[[StubRequest, int], None]
    abandoned: Callable[[StubRequest], None]
    """The client went away before its answer."""


def parse_head(raw: bytes) -> Head:
    """Read a request line and headers, without the empty line. Raises :class:`Refusal`."""
    line, _, rest = raw.partition(b"\r\n")
    parts = line.split(b" ")
    if len(parts) != 3 or parts[2] not in _VERSIONS or not _token(parts[0]):
        raise Refusal(400, "Malformed request line")
    if not _target(parts[1]):
        raise Refusal(400, "Malformed request target")
    headers: dict[str, str] = {}
    for field in rest.split(b"\r\n") if rest else ():
        raw_name, colon, raw_value = field.partition(b":")
        if not colon or not _token(raw_name) or _control(raw_value):
            raise Refusal(400, "Malformed header")
        name, value = raw_name.decode().lower(), raw_value.strip(b" \t").decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if "host" not in headers:
        raise Refusal(400, "Missing Host header")
    keep_alive = _VERSIONS[parts[2]]
    if "connection" in headers:
        tokens = {token.strip() for token in headers["connection"].lower().split(",")}
        keep_alive = "close" not in tokens and (keep_alive or "keep-alive" in tokens)
    head = Head(parts[0].decode(), parts[1].decode(), headers, keep_alive)
    head.expects_continue = headers.get("expect", "").lower() == "100-continue"
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise Refusal(400, "Malformed Content-Length")
    # The digits are counted first: int() refuses thousands of them with an error of its own.
    if len(text) > 18 or int(text) > MAX_BODY:
        head.refusal = Refusal(413, f"The body is larger than {MAX_BODY} bytes").answer
    elif "transfer-encoding" in headers:
        head.refusal = Refusal(411, "A body needs a Content-Length").answer
    else:
        head.length = int(text)
    return head


class Renderer:
    """Puts answers into bytes. One for each server, so that request ids count from 1."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._second = 0
        self._date = ""

    def render(self, answer: Answer, keep_alive: bool, with_body: bool) -> bytes:
        """Status line, headers and body. Headers of the answer replace those added here."""
        second = int(time.time())
        if second != self._second:
            self._second, self._date = second, formatdate(second, usegmt=True)
        head = f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Unknown')}\r\n"
        values = ("application/json", self._date, f"stub-{next(self._numbers):08}")
        given = {name.lower() for name, _ in answer.headers}
        for name, value in zip(_DEFAULTS, values, strict=True):
            if name not in given:
                head += f"{name}: {value}\r\n"
        for name, value in answer.headers:
            head += f"{name}: {value}\r\n"
        if answer.status not in (204, 304):
            head += f"content-length: {len(answer.body)}\r\n"
        head += f"connection: {'keep-alive' if keep_alive else 'close'}\r\n\r\n"
        return head.encode("latin-1") + (answer.body if with_body else b"")


class Wire(asyncio.Protocol):
    """One connection. Requests are read, applied and answered one after the other."""

    _transport: asyncio.Transport
    _timer: asyncio.TimerHandle

    def __init__(self, app: App, renderer: Renderer, wires: set[Wire]) -> None:
        self._app = app
        self._renderer = renderer
        self._wires = wires
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._head: Head | None = None  # set while its body is awaited
        self._exchange: Exchange | None = None  # set while its answer is delayed
        self._delay: asyncio.TimerHandle | None = None
        self._stalled = False  # the client does not take what was written
        self._finished = False  # nothing more is read from this connection
        self._deadline = self._loop.time() + IDLE_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, and its time."""
        self._transport = cast("asyncio.Transport", transport)
        self._timer = self._loop.call_later(IDLE_SECONDS, self._expire)
        self._wires.add(self)
        self._app.opened()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the protocol's signature
        """Let go of everything that would keep the connection alive."""
        self._timer.cancel()
        self._abandon()
        self._wires.discard(self)
        self._app.closed()

    def eof_received(self) -> None:
        """A client that is gone and one that only ended its sending look alike: take it as gone."""
        self._abandon()

    def pause_writing(self) -> None:
        """Read no further request until the client takes its answers."""
        self._stalled = True

    def resume_writing(self) -> None:
        """Go on where :meth:`pause_writing` stopped."""
        self._stalled = False
        self._advance()

    def data_received(self, data: bytes) -> None:
        """Take what came, and serve what is complete."""
        if self._finished:
            return
        idle = not self._buffer and self._head is None and self._exchange is None
        if idle and data.strip(b"\r\n"):
            self._deadline = self._loop.time() + IDLE_SECONDS
        self._buffer += data
        self._advance()
        # Reading goes on during a delay, since only reading shows that the client left; but the
        # buffer has its bounds.
        if len(self._buffer) > MAX_HEAD + MAX_BODY:
            self._transport.pause_reading()

    def shut(self) -> None:
        """Close because the server does: what is pending was not abandoned by its client."""
        self._drop_pending()
        self._finished = True
        self._transport.abort()

    def _advance(self) -> None:
        while not (self._exchange or self._stalled or self._finished):
            if self._head is None:
                try:
                    self._head = self._take_head()
                except Refusal as refusal:
                    self._refuse(refusal.answer)
                    return
            head = self._head
            if head is None:
                break
            if len(self._buffer) < head.length:
                if head.expects_continue:
                    head.expects_continue = False
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                break
            body = bytes(self._buffer[: head.length])
            del self._buffer[: head.length]
            self._head = None
            self._start(head, self._app.received(head, body))
        if len(self._buffer) <= MAX_HEAD + MAX_BODY:
            self._transport.resume_reading()

    def _take_head(self) -> Head | None:
        while self._buffer.startswith(b"\r\n"):  # tolerated before a request, as HTTP advises
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD)
        if end >= 0:
            head = parse_head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
            return head
        # What cannot become a request (TLS, bare line feeds) is not waited for.
        newline = self._buffer.find(b"\n")
        bare = newline >= 0 and self._buffer[newline - 1 : newline] != b"\r"
        if bare or b"\n\n" in self._buffer or not _start(self._buffer):
            raise Refusal(400, "Not an HTTP request")
        if len(self._buffer) >= MAX_HEAD:
            raise Refusal(431, f"The head is larger than {MAX_HEAD} bytes")
        return None

    def _start(self, head: Head, exchange: Exchange) -> None:
        if exchange.answer is None:
            self._finished = True
            self._transport.close()
        elif exchange.delay > 0:
            self._exchange = exchange
            self._delay = self._loop.call_later(exchange.delay, self._send_late, head)
        else:
            self._send(head, exchange.request, exchange.answer)

    def _send_late(self, head: Head) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None and exchange.answer is not None:
            self._send(head, exchange.request, exchange.answer)
            self._advance()

    def _send(self, head: Head, request: StubRequest, answer: Answer) -> None:
        # Marked before it is written: a client that has its answer finds it in the record.
        self._app.answered(request, answer.status)
        if head.refusal is not None:
            self._refuse(answer)
            return
        with_body = head.method != "HEAD"
        self._transport.write(self._renderer.render(answer, head.keep_alive, with_body))
        self._deadline = self._loop.time() + IDLE_SECONDS
        if not head.keep_alive:
            self._finished = True
            self._transport.close()

    def _refuse(self, answer: Answer) -> None:
        # To close with unread input resets the connection, and the client may lose the answer:
        # end the sending side, and throw the rest away for a moment.
        self._finished = True
        self._transport.write(self._renderer.render(answer, False, True))
        self._transport.write_eof()
        self._buffer.clear()
        self._timer.cancel()
        self._deadline = self._loop.time() + LINGER_SECONDS
        self._timer = self._loop.call_later(LINGER_SECONDS, self._expire)

    def _abandon(self) -> None:
        self._finished = True
        if self._exchange is not None:
            self._app.abandoned(self._exchange.request)
            self._drop_pending()

    def _drop_pending(self) -> None:
        self._exchange = None
        if self._delay is not None:
            self._delay.cancel()

    def _expire(self) -> None:
        # One timer, put off when it is due, and not one for each request. A delay does not count.
        left = IDLE_SECONDS if self._exchange else self._deadline - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._expire)
        elif self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()


class ServerThread:
    """The thread with its event loop. It serves when the constructor returns."""

    def __init__(self, listeners: Sequence[socket.socket], app: App) -> None:
        self._listeners = listeners
        self._app = app
        self._renderer = Renderer()
        self._wires: set[Wire] = set()
        self._arriving: set[asyncio.Task[None]] = set()
        self._started: Future[Callable[[], object]] = Future()
        self._thread = threading.Thread(target=self._run, name="docplatform-stub", daemon=True)
        self._thread.start()
        self._stop = self._started.result()

    def stop(self) -> None:
        """Close everything, and return when the thread has ended."""
        self._stop()
        self._thread.join()

    def _run(self) -> None:
        # A loop of its own, without debugging, whatever policy or mode the tests run under.
        try:
            with asyncio.Runner(debug=False, loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)
        finally:
            for listener in self._listeners:
                listener.close()

    async def _serve(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(_log_failure)
        for listener in self._listeners:
            listener.setblocking(False)
            loop.add_reader(listener, self._accept, loop, listener)
        self._started.set_result(lambda: loop.call_soon_threadsafe(stop.set))
        await stop.wait()
        for listener in self._listeners:
            loop.remove_reader(listener)
            listener.close()
        if self._arriving:
            await asyncio.wait(self._arriving)
        while self._wires:
            for wire in list(self._wires):
                wire.shut()
            await asyncio.sleep(0)

    def _accept(self, loop: asyncio.AbstractEventLoop, listener: socket.socket) -> None:
        # Not loop.create_server(): when that is closed, it loses the connections it is accepting.
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # the client was gone first
        except OSError as error:  # no descriptors left: some may be free in a moment
            _log.error("stub server: cannot accept: %s", error)
            loop.remove_reader(listener)
            loop.call_later(0.1, self._resume, loop, listener)
            return
        connection.setblocking(False)
        task = loop.create_task(self._attach(loop, connection))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _attach(self, loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
        wire = Wire(self._app, self._renderer, self._wires)
        try:
            await loop.connect_accepted_socket(lambda: wire, connection)
        except OSError:
            connection.close()  # the client reset it meanwhile

    def _resume(self, loop: asyncio.AbstractEventLoop, listener: socket.socket) -> None:
        if listener.fileno() >= 0:
            loop.add_reader(listener, self._accept, loop, listener)


def _log_failure(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # asyncio's own handler would print to stderr.
    _log.error("stub server: %s", context["message"], exc_info=context.get("exception"))


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
