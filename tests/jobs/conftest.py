"""Fixtures of the tests of creations under a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docplatform.testing import StubServer
from helpers import Face


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store is to be, alone in its folder."""
    folder = tmp_path / "state"
    folder.mkdir()
    return folder / "visitors.db"


@pytest.fixture
def client(face: Face, stub: StubServer, store: Path) -> Any:
    return face.client(stub, store=store)
