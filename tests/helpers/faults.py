"""A scripted server on raw TCP, for faults that the stub cannot cause (docs/maintainers/faults.md).

    server.script([READ_ALL, APPLY, FIN], [READ_ALL, SEND(answer(201, JOB))])

The n-th connection plays the n-th script. A connection beyond the last script is reset, and the invariants fail. A connection that is
kept alive plays several requests in one script. Everything that comes is kept, as bytes and with its time.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Self, TypeAlias

from helpers.connection import Connection, Gone, Request
from helpers.layers import Context, Tls

Step: TypeAlias = Callable[["Connection"], None]
Script: TypeAlias = Sequence[Step]

JOB = {"id": "job-1", "status": "active"}
PATIENCE = 30.0
"""Seconds after which a test that waits has failed; never waited where it succeeds."""


# -- steps that end no connection ------------------------------------------------------------------


def READ_HEAD(connection: Connection) -> None:  # noqa: N802
    """Read up to the end of a request's head."""
    connection.read_head()


def READ_ALL(connection: Connection) -> None:  # noqa: N802
    """Read a request to the last byte of its body."""
    connection.read_all()


def APPLY(connection: Connection) -> None:  # noqa: N802
    """The side effect of the request that was read, counted."""
    connection.applied.append(connection.request)


def SEND(data: bytes | Callable[[Request], bytes]) -> Step:  # noqa: N802
    """Send bytes, or what is made of the request that was read."""
    return lambda connection: connection.send(data if isinstance(data, bytes) else data(connection.request))


def RAW(data: bytes) -> Step:  # noqa: N802
    """Send bytes beneath TLS."""
    return lambda connection: connection.raw.send(data)


def FLOOD(piece: bytes, most: int) -> Step:  # noqa: N802
    """Send the same again and again until the client goes away, or that many bytes were taken."""

    def flood(connection: Connection) -> None:
        while connection.sent < most:
            connection.send(piece)

    return flood


def GATE(gate: threading.Event) -> Step:  # noqa: N802
    """Go on when the test says so."""

    def wait(connection: Connection) -> None:
        assert gate.wait(PATIENCE), "the test never opened the gate"

    return wait


def TLS(context: Context) -> Step:  # noqa: N802
    """Shake hands."""
    return lambda connection: connection.use(Tls(connection.layer, context))


# -- steps that end it -----------------------------------------------------------------------------


def HOLD(connection: Connection) -> None:  # noqa: N802
    """Say nothing more until the client goes away."""
    connection.drain()


def FIN(connection: Connection) -> None:  # noqa: N802
    """Say that nothing more comes, and take what the client still has to say."""
    connection.layer.finish()
    connection.drain()


def CLOSE(connection: Connection) -> None:  # noqa: N802
    """Close at once; what was not read becomes a reset."""
    connection.close()


def RST(connection: Connection) -> None:  # noqa: N802
    """Reset."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def CUT_TLS(connection: Connection) -> None:  # noqa: N802
    """End the connection beneath TLS, which is not closed."""
    connection.raw.finish()
    connection.drain()


# -- servers ---------------------------------------------------------------------------------------


class FaultServer:
    """Plays scripts on a port of loopback, one thread a connection."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=512)
        self._changed = threading.Condition()
        self._scripts: list[Script] = []
        self._rest: Script | None = None
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self.host = f"[{host}]" if ":" in host else host
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://{self.host}:{self.port}"
        self.https = f"https://localhost:{self.port}"
        self.connections: list[Connection] = []
        self.unscripted = 0
        self.open = 0
        self.faults: list[BaseException] = []

    def __enter__(self) -> Self:
        thread = threading.Thread(target=self._accept, name=f"faults:{self.port}", daemon=True)
        self._threads.append(thread)
        thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for connection in list(self.connections):
            connection.abort()
        for thread in self._threads:
            thread.join(PATIENCE)
        self._listener.close()

    def script(self, *scripts: Script) -> None:
        """Sets the scripts of the next connections, in this order."""
        with self._changed:
            self._scripts.extend(scripts)

    def rest(self, *steps: Step) -> None:
        """Sets the script of all connections after those."""
        self._rest = steps

    @property
    def unplayed(self) -> int:
        """Scripts that no connection came for."""
        return len(self._scripts)

    @property
    def requests(self) -> list[Request]:
        """All requests that were read, in the order of their connections."""
        return [request for connection in list(self.connections) for request in connection.requests]

    @property
    def applied(self) -> list[Request]:
        """The side effects."""
        return [request for connection in list(self.connections) for request in connection.applied]

    def wait_for(self, predicate: Callable[[Self], object], timeout: float = PATIENCE) -> None:
        """Return as soon as the predicate holds; it is asked whenever something happens."""
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(self), timeout):
                seen = [len(connection.raw.bytes) for connection in self.connections]
                raise TimeoutError(f"not within {timeout} s; {self.open} open; bytes by connection: {seen}")

    def wait_closed(self) -> None:
        """Return when the client has no connection open any more."""
        self.wait_for(lambda server: server.open == 0)

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(accepted, self._tell, self._stopping)
            with self._changed:
                script = self._scripts.pop(0) if self._scripts else self._rest
                self.unscripted += script is None
                self.open += 1
                self.connections.append(connection)
                self._changed.notify_all()
            steps = [RST] if script is None else [*script, FIN]
            name = f"faults:{self.port}:{len(self.connections)}"
            thread = threading.Thread(target=self._play, args=(connection, steps), name=name, daemon=True)
            self._threads = [*(thread for thread in self._threads if thread.is_alive()), thread]
            thread.start()

    def _play(self, connection: Connection, steps: Script) -> None:
        try:
            for step in steps:
                step(connection)
                self._tell()
                if connection.closed is not None:
                    break
        except Gone:
            pass
        except BaseException as fault:  # noqa: BLE001 - the test is to see it, whatever it is
            self.faults.append(fault)
        finally:
            connection.close()
            with self._changed:
                self.open -= 1
                self._changed.notify_all()


class Blackhole:
    """A port that never answers: its queue of connections is full, and Linux drops further ones."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._address = (host, port)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.socket(family)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(self._address)
        self._listener.listen(0)
        self._fillers = [socket.socket(family) for _ in range(4)]
        self.port: int = self._listener.getsockname()[1]
        self.host = f"[{host}]" if ":" in host else host
        self.url = f"http://{self.host}:{self.port}"
        for filler in self._fillers:
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(self._listener.getsockname())
        deadline = time.monotonic() + PATIENCE
        while not self._full():
            assert time.monotonic() < deadline, "the queue does not fill"
            time.sleep(0.001)

    def _full(self) -> bool:
        """Whether the queue is full, so that further connections are dropped."""

        def connected(filler: socket.socket) -> bool:
            try:
                filler.getpeername()
            except OSError:
                return False
            return True

        return any(map(connected, self._fillers)) and not all(map(connected, self._fillers))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for each in (*self._fillers, self._listener):
            each.close()
