"""How long a call of ``Client`` waits for the answer to a write after Ctrl-C, so that its outcome is known."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar


def _none() -> float:
    return 0.0


PATIENCE: ContextVar[Callable[[], float]] = ContextVar("PATIENCE", default=_none)
"""Called if a signal comes while a write is under way. Returns the seconds to wait, by default 0."""


def seconds() -> float:
    """The seconds to wait, as the program says."""
    return PATIENCE.get()()
