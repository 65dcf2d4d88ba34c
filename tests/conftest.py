"""Fixtures: a stub server, and both faces of the client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docplatform.testing import StubServer
from support import AsyncFace, Face, SyncFace
from support.cli import Cli


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not depend on the settings and proxies of whoever runs them."""
    for name in ("API_KEY", "BASE_URL", "PROJECT_ID"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as stub:
        yield stub


@pytest.fixture(params=["sync", "async"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    """A test that takes this runs once on each face."""
    face: Face = SyncFace() if request.param == "sync" else AsyncFace()
    yield face
    face.close()


@pytest.fixture
def cli(stub: StubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, set up for the stub."""
    return Cli(stub, capsys, monkeypatch)
