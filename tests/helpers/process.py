"""What tests run in processes of their own: importable there, which a test module is not."""

from __future__ import annotations

import os
from typing import Any

from docplatform import Client


def export_rest(settings: dict[str, Any], checkpoint: str) -> tuple[int, list[dict[str, Any]], str]:
    """Go on with an export; the process, the rows, and where it ended."""
    with Client(**settings) as client:
        visitors = client.visitors(resume=checkpoint)
        return os.getpid(), list(visitors), visitors.checkpoint


def raise_error(error: BaseException) -> None:
    """Raise what was sent here."""
    raise error


def call(settings: dict[str, Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a client's method."""
    with Client(**settings) as client:
        return getattr(client, name)(*args, **kwargs)
