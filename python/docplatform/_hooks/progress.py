"""How far a long call is, on stderr: tqdm where it is installed (in notebooks its widget), else a line now and then."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_EVERY = 2.0
"""Seconds between two lines."""


class Progress(Protocol):
    """What a call tells how far it is."""

    def update(self, done: int, /) -> None:
        """Shows how many rows or slices there are so far."""

    def waits(self, until: datetime) -> None:
        """The request budget is spent, and the next request goes out only then."""


INSTEAD: ContextVar[Callable[[int | None, str], Progress] | None] = ContextVar("INSTEAD", default=None)
"""As :func:`bar`, for a program with a way of its own."""


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def update(self, done: int) -> None:
        self._bar.set_postfix_str("", refresh=False)
        self._bar.update(done - self._bar.n)

    def waits(self, until: datetime) -> None:
        self._bar.set_postfix_str(_waiting(until))

    def __del__(self) -> None:
        # Where its stream went away, it has ended already.
        with suppress(OSError, ValueError):
            self._bar.close()


class _Lines:
    def __init__(self, total: int | None, unit: str) -> None:
        self._of = f"{unit} of at most {total:,}" if total is not None else unit
        self._next = time.monotonic() + _EVERY

    def update(self, done: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EVERY
            _tell(f"{done:,} {self._of}")

    def waits(self, until: datetime) -> None:
        _tell(_waiting(until))


def _tell(text: str) -> None:
    # A program without a console has no stderr, and `print` would take stdout in its place.
    if sys.stderr is not None:
        print(f"docplatform: {text}", file=sys.stderr)


def _waiting(until: datetime) -> str:
    return f"the request budget is spent, next request at {until.astimezone():%H:%M:%S}"


def bar(total: int | None, unit: str) -> Progress:
    """What shows how far it is to ``total`` of a unit, rows or slices, where that is known."""
    if own := INSTEAD.get():
        return own(total, unit)
    try:
        # Its own choice between a terminal and a notebook; without widgets it warns, and shows a text.
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return _Lines(total, unit)
    if sys.stderr is None:
        return _Lines(total, unit)
    return _Bar(tqdm(total=total, unit=f" {unit}", desc="visitors"))
