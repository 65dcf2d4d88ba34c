"""A key of the stub that is rotated."""

from __future__ import annotations

from docplatform.testing import StubServer

NEW = "dp_stub_1111111111111111next"


def rotate(stub: StubServer) -> None:
    """From now on the stub accepts another key."""
    stub._service._api_key = NEW
