"""One connection of a fault server: what arrived on it, and what a script can do with it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from helpers.layers import Layer, Plain


class Gone(Exception):  # noqa: N818
    """The other side closed the connection, so the script is over."""


@dataclass
class Request:
    """A request as it came."""

    head: bytes
    body: bytes = b""
    tls: bool = False

    @property
    def method(self) -> str:
        return self.head.split(b" ", 1)[0].decode()

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names in small letters, in the order they came."""
        lines = self.head.split(b"\r\n")[1:-2]
        pairs = (line.decode("latin-1").partition(":") for line in lines)
        return [(name.lower(), value.strip()) for name, _, value in pairs]

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)

    @property
    def length(self) -> int:
        return int(self.header("content-length") or 0)


def answer(status: int, body: object = None, *headers: str, keep: bool = False) -> bytes:
    """An answer, whole and well formed: bytes are sent as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(data)}", *headers]
    if not keep:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + data


class Connection:
    """The server's side of one connection. Its script's thread alone reads and writes it; others look at what came, and may abort it."""

    def __init__(self, accepted: socket.socket, tell: Callable[[], None], stopping: threading.Event) -> None:
        self.socket = accepted
        self.raw = Plain(accepted)
        self.layer: Layer = self.raw
        self.ended: float | None = None
        """When the client said that nothing more comes, or broke off."""
        self.closed: float | None = None
        self.chunks: list[tuple[float, bool, bytes]] = []
        """Time, whether it came through TLS, bytes."""
        self.requests: list[Request] = []
        self.applied: list[Request] = []
        self.sent = 0
        self._buffer = b""
        self._body_due = False
        self._tell = tell
        self._stopping = stopping

    @property
    def request(self) -> Request:
        """The request that was read last."""
        return self.requests[-1]

    def stream(self, tls: bool) -> bytes:
        """All that came, within TLS or outside of it."""
        return b"".join(data for _, inside, data in self.chunks if inside is tls)

    def use(self, layer: Layer) -> None:
        """Talk through another layer from now on."""
        self.layer = layer
        with _gone():
            layer.open()

    def read_head(self) -> None:
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        self.requests.append(Request(head + b"\r\n\r\n", tls=self.layer is not self.raw))
        self._body_due = self.request.length > 0

    def read_all(self) -> None:
        if not self._body_due:
            self.read_head()
        self._body_due = False
        length = self.request.length
        while len(self._buffer) < length:
            self._more()
        self.request.body, self._buffer = self._buffer[:length], self._buffer[length:]

    def _more(self) -> None:
        data = self._receive()
        if not data:
            raise Gone
        self._buffer += data

    def _receive(self) -> bytes:
        with _gone(self._mark_end):
            data = self.layer.receive()
        if data:
            self.chunks.append((time.monotonic(), self.layer is not self.raw, data))
        else:
            self._mark_end()
        self._tell()
        return data

    def _mark_end(self) -> None:
        if self.ended is None and not self._stopping.is_set():
            self.ended = time.monotonic()

    def send(self, data: bytes) -> None:
        with _gone(self._mark_end):
            self.layer.send(data)
        self.sent += len(data)

    def drain(self) -> None:
        """Take what comes, to the end."""
        while self._receive():
            pass

    def pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Gone

    def close(self) -> None:
        if self.closed is None:
            self.closed = time.monotonic()
            self.socket.close()

    def abort(self) -> None:
        """From another thread: whatever the script waits for on the wire is over."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


class _gone:  # noqa: N801
    """All errors of a closed connection as one exception."""

    def __init__(self, note: Callable[[], None] = lambda: None) -> None:
        self._note = note

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, OSError):  # which TLS's errors are too
            self._note()
            raise Gone from error
