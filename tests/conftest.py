"""Fixtures: a stub server, both faces of the client, and a scripted connection on which anything can go wrong."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import AsyncFace, Face, SyncFace
from helpers.cli import Cli
from helpers.exports import ROWS
from helpers.faults import FaultServer
from helpers.layers import Authority
from helpers.preload import build, compiler
from helpers.wire import (
    Remains,
    Wire,
    check_elsewhere,
    check_no_secret_is_shown,
    check_received,
    check_scripts,
    check_side_effects,
    empty_directories,
)

# `make test-engines` runs these, where the engines are installed.
collect_ignore = ["engines"]

# A background job and `nohup` have SIGINT ignored, and all their children with it; a handler is not inherited, so that each
# process that a test starts has Ctrl-C as a user's has it.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPORTS = pytest.StashKey[list[pytest.TestReport]]()


def pytest_collection_finish() -> None:
    """Freezes what exists now, so that the garbage collector skips it: going through pandas and all tests takes longer than most tests."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Unfreezes it. Otherwise extensions report at the exit that it was never freed."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keeps what a test printed, for the checks after the test."""
    report = yield
    item.stash.setdefault(REPORTS, []).append(report)
    return report


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not depend on the settings and proxies of the user who runs them."""
    for name in (
        *("API_KEY", "API_KEY_FILE", "BASE_URL", "PROJECT_ID"),
        *("REQUESTS_PER_HOUR", "JOBS_PER_HOUR", "RESERVE", "STORE", "ORGANIZATION"),
    ):
        monkeypatch.delenv(f"DOCPLATFORM_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the stub's waits take longer on a busy machine."""
    monkeypatch.setattr(StubServer.wait_for, "__defaults__", (60.0,))


def set_up(request: pytest.FixtureRequest, **settings: Any) -> StubServer:
    """A stub as the test's ``stub`` mark says."""
    mark = request.node.get_closest_marker("stub")
    return StubServer(**{**settings, **(mark.kwargs if mark else {})})


@pytest.fixture
def stub(request: pytest.FixtureRequest) -> Iterator[StubServer]:
    """A stub whose port is its own also while it is closed: another test's stub could be there, and answer."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        # Elsewhere than on Linux two sockets share no port, even if only one of them listens.
        with set_up(request, port=kept.getsockname()[1] if sys.platform == "linux" else 0) as stub:
            yield stub


@pytest.fixture
def given(request: pytest.FixtureRequest) -> Iterator[StubServer]:
    """A stub with ``ROWS``, and totals that are their sums: three pages of 250, 250 and 100."""
    with set_up(request, visitors=ROWS) as stub:
        yield stub


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The errors that nobody can catch, as Python reports them."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    return told


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A path for a store, which does not exist yet."""
    return tmp_path / "visitors.db"


@pytest.fixture(params=["sync", "async"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    """A test that takes this runs once on each face."""
    face: Face = SyncFace() if request.param == "sync" else AsyncFace()
    yield face
    face.close()


@pytest.fixture
def async_face() -> Iterator[AsyncFace]:
    face = AsyncFace()
    yield face
    face.close()


@pytest.fixture
def cli(stub: StubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, set up for the stub."""
    return Cli(stub, capsys, monkeypatch)


@pytest.fixture(scope="session")
def warm() -> None:
    """Starts the threads that a process has once."""
    with StubServer() as stub, stub.client() as client:
        client.visitor_totals()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority that no machine trusts by default."""
    return Authority.make(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def resolver_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stands in for the system's resolver in another process."""
    return build("resolver", tmp_path_factory.mktemp("resolver"))


@pytest.fixture(scope="session")
def clock_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stands in for the system's clocks in another process."""
    return build("clock", tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="session")
def hurried(request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment of a process that does not wait between polls, nor before a retry. It does where there is no Linux, or no C compiler."""
    if sys.platform != "linux" or not compiler():
        return {}
    return {"LD_PRELOAD": str(request.getfixturevalue("clock_library")), "CLOCK_LEAPS": "4"}


@pytest.fixture
def wire(
    warm: None,
    face: Face,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
) -> Iterator[Wire]:
    """A face of the client and a scripted server. After the test, what must always hold is checked."""
    if sys.platform != "linux":
        pytest.skip("what is left behind is looked for in /proc")
    caplog.set_level(logging.DEBUG)
    with empty_directories(tmp_path, monkeypatch):
        before = Remains()
        with FaultServer() as server, FaultServer() as elsewhere:
            wire = Wire(face, server, elsewhere, tmp_path)
            yield wire
            face.close_clients()
            server.wait_closed()
        before.check_gone(lookups=wire.lookups)
    check_scripts(server)
    check_side_effects(server)
    check_elsewhere(elsewhere)
    check_received(server.connections, wire.keys)
    printed = [report.capstdout + report.capstderr for report in request.node.stash.get(REPORTS, [])]
    check_no_secret_is_shown(wire, printed, caplog.get_records("call"))
