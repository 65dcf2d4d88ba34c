"""The client on a scripted connection, and the checks that must hold after every such test.

At most one side effect for each logical write; no origin contacted but the configured one; the key in one header of each
request and nowhere else; no thread, descriptor or file left behind.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from docplatform import ConnectError
from helpers import AnyClient, Face
from helpers.connection import Connection, Request
from helpers.faults import FaultServer
from helpers.phases import AT_ONCE
from helpers.search import pattern, shown

Error = TypeVar("Error", bound=BaseException)

LEAVE = 10.0
"""How many seconds a closed client may take to release everything; polled, so that no test waits longer than needed."""


class Wire:
    """One face, the server that it is configured for, and another one that it must never contact."""

    def __init__(self, face: Face, server: FaultServer, elsewhere: FaultServer, directory: Path) -> None:
        self.face = face
        self.server = server
        self.elsewhere = elsewhere
        self.directory = directory
        self.key = f"dp_{os.urandom(20).hex()}"
        self.keys = [self.key]
        self.secrets: list[str] = []
        """Other texts that must never be shown."""
        self.lookups = False
        """Whether names were looked up: the threads for that are kept for a while."""
        self.seen: list[str] = []
        self.raised: list[BaseException] = []
        self._prompts = 0

    def client(self, **settings: Any) -> AnyClient:
        defaults = {"api_key": self.key, "base_url": self.server.url, "project_id": "demo", "timeout": 20}
        client = self.face.make(**{**defaults, **settings})
        self.seen.append(repr(client))
        return client

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a process whose client is one of this server."""
        return {
            "DOCPLATFORM_API_KEY": self.key,
            "DOCPLATFORM_BASE_URL": self.server.url,
            "DOCPLATFORM_PROJECT_ID": "demo",
        }

    def prompt(self) -> str:
        """A prompt for one logical write: it is known again by its words."""
        self._prompts += 1
        return f"Fix the links of page {self._prompts}"

    def create(self, client: AnyClient) -> Any:
        """One logical write."""
        return client.create_job(self.prompt())

    def run(self, call: Callable[..., Any], *args: Any) -> Any:
        """The result of a call; what it raises or warns is kept, to search it for the key."""
        with self.watched():
            return self.face.run(call(*args))

    def all(self, rows: Any) -> list[Any]:
        with self.watched():
            return self.face.all(rows)

    def fails(self, kind: type[Error], call: Callable[..., Any], *args: Any) -> Error:
        """The error of a call."""
        with pytest.raises(kind) as caught:
            self.run(call, *args)
        return caught.value

    def not_sent(self, attempts: int = 1, **settings: Any) -> str:
        """The error of a write that gets nowhere, as text."""
        client = self.client(**settings)
        error = self.fails(ConnectError, self.create, client)
        assert (error.outcome, len(error.attempts)) == ("not_sent", attempts)
        assert (client.stats.requests, client.stats.retries) == (0, 0)
        assert all(attempt.elapsed <= AT_ONCE for attempt in error.attempts)
        return str(error)

    @contextmanager
    def watched(self) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as told:
            try:
                yield
            except BaseException as error:
                self.raised.append(error)
                raise
        for warning in told:
            self.seen.append(f"{warning.message!r} {warning.filename}")
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


# -- what must hold --------------------------------------------------------------------------------


def check_side_effects(server: FaultServer) -> None:
    counts = Counter((request.method, request.target, request.body) for request in server.applied)
    twice = {request: count for request, count in counts.items() if count > 1}
    assert not twice, f"done more than once: {twice}"


def check_scripts(server: FaultServer) -> None:
    for fault in server.faults:
        raise AssertionError("a script broke") from fault
    assert server.unscripted == 0, "connections came that no script expected"
    assert server.unplayed == 0, "connections were expected that did not come"


def check_elsewhere(server: FaultServer) -> None:
    assert server.connections == [], "another origin was contacted"


def check_received(connections: Iterable[Connection], keys: list[str]) -> None:
    """Each request has one key, in one ``Authorization`` header. None is beneath TLS or in a tunnel's head."""
    for connection in connections:
        used = set()
        if connection.layer is not connection.raw:
            for key in keys:
                assert key.encode() not in connection.raw.bytes, "the key is beneath TLS"
        for tls in (False, True):
            rest = connection.stream(tls)
            for request in connection.requests:
                if request.tls is tls:
                    used.add(_check_request(request, keys))
                    rest = rest.replace(request.head, b"", 1).replace(request.body, b"", 1)
            # The rest was never read as a request: at most the beginning of one.
            left = sum(rest.count(key.encode()) for key in keys)
            assert left <= rest.lower().count(b"\r\nauthorization: bearer "), rest
        assert len(used - {None}) <= 1, "two keys on one connection"


def _check_request(request: Request, keys: list[str]) -> str | None:
    values = [value for name, value in request.headers if name == "authorization"]
    everything = request.head + request.body
    found = [key for key in keys for _ in range(everything.count(key.encode()))]
    if request.method == "CONNECT":
        assert values == found == [], "a tunnel's head holds a credential of the service"
        return None
    assert len(found) == 1, request.head
    assert values == [f"Bearer {found[0]}"], request.head
    return found[0]


def check_no_secret_is_shown(wire: Wire, output: Iterable[str], records: Iterable[logging.LogRecord]) -> None:
    """No key in anything that was printed, logged, raised or warned of."""
    formatter = logging.Formatter()
    logs = [f"{formatter.format(record)} {vars(record)!r}" for record in records]
    errors = [shown(error) + repr(getattr(error, "__notes__", "")) for error in wire.raised]
    pickles = [pickle.dumps(error).decode("latin-1") for error in wire.raised if isinstance(error, Exception)]
    secret = pattern((*wire.keys, *wire.secrets))
    for text in (*output, *logs, *errors, *pickles, *wire.seen):
        assert not secret.search(text), "a part of a secret was shown"


# -- what may be left behind -----------------------------------------------------------------------


class Remains:
    """The threads, descriptors and files of the process at one moment."""

    def __init__(self) -> None:
        gc.collect()
        self.threads = set(threading.enumerate())
        self.native = len(list(Path("/proc/self/task").iterdir()))
        self.descriptors = _descriptors()

    def check_gone(self, *, lookups: bool) -> None:
        """Fails if something is new since then and is not released."""
        deadline = time.monotonic() + LEAVE
        while (left := self._left(lookups)) and time.monotonic() < deadline:
            time.sleep(0.002)
            gc.collect()
        assert not left, f"left behind: {left}"

    def _left(self, lookups: bool) -> list[str]:
        threads = [repr(thread) for thread in set(threading.enumerate()) - self.threads]
        native = len(list(Path("/proc/self/task").iterdir())) - self.native
        if native > 0 and not lookups:
            threads.append(f"{native} threads that Python does not know")
        new = _descriptors().items() - self.descriptors.items()
        return threads + [f"descriptor {number}: {target}" for number, target in new]


def _descriptors() -> dict[str, str]:
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found[entry.name] = os.fspath(entry.readlink())
        except OSError:
            continue  # the directory's own
    return found


@contextmanager
def empty_directories(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Works in a directory, and with one for temporary files, that must be as empty afterwards."""
    places = [directory / "work", directory / "temporary"]
    for place in places:
        place.mkdir()
    monkeypatch.chdir(places[0])
    monkeypatch.setenv("TMPDIR", os.fspath(places[1]))
    monkeypatch.setattr(tempfile, "tempdir", None)
    kept = [set(place.iterdir()) for place in places]
    yield
    assert [set(place.iterdir()) for place in places] == kept, "files were left behind"
