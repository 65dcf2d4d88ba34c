"""Progress of a long call, on stderr: tqdm if it is installed (in notebooks its widget), else a line now and then."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol

from docplatform._hooks.numbers import count
from docplatform.errors import WaitWarning

_EVERY = 2.0
"""Seconds between two lines."""


class Progress(Protocol):
    """Receives the progress of a call."""

    def update(self, done: int, /) -> None:
        """Shows how many rows, slices or jobs there are so far."""

    def waits(self, why: str, until: datetime | None) -> None:
        """Shows that nothing is sent until then, or for an unknown time."""


INSTEAD: ContextVar[Callable[[int | None, str], Progress] | None] = ContextVar("INSTEAD", default=None)
"""Replaces :func:`bar` in a program that shows progress in its own way."""


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def update(self, done: int) -> None:
        self._bar.set_postfix_str("", refresh=False)
        self._bar.update(done - self._bar.n)

    def waits(self, why: str, until: datetime | None) -> None:
        self._bar.set_postfix_str(_waiting(why, until))

    def __del__(self) -> None:
        # It has ended already if its stream was closed.
        with suppress(OSError, ValueError):
            self._bar.close()


class _Lines:
    def __init__(self, total: int | None, unit: str) -> None:
        self._of = f"{unit} of at most {total:,}" if total is not None else unit
        self._next = time.monotonic() + _EVERY
        self._shown = self._done = 0

    def update(self, done: int) -> None:
        self._done = done
        if time.monotonic() >= self._next:
            self._show()

    def _show(self) -> None:
        self._next = time.monotonic() + _EVERY
        self._shown = self._done
        _tell(f"{self._done:,} {self._of}")

    def waits(self, why: str, until: datetime | None) -> None:
        _tell(_waiting(why, until))

    def __del__(self) -> None:
        # The last line has the whole number. A call that ended before the first line stays silent.
        with suppress(OSError, ValueError):
            if 0 < self._shown < self._done:
                self._show()


def _tell(text: str) -> None:
    # A program without a console has no stderr, and `print` would take stdout in its place.
    if sys.stderr is not None:
        print(f"docplatform: {text}", file=sys.stderr)


def _waiting(why: str, until: datetime | None) -> str:
    if until is None:
        return f"{why}: waiting for it"
    local = until.astimezone()
    now = datetime.now().astimezone()
    day = "" if local.date() == now.date() else f"{local:%Y-%m-%d} "
    seconds = max(round((local - now).total_seconds()), 1)
    left = count(seconds, "second") if seconds < 60 else count(round(seconds / 60), "minute")
    return f"{why}: the next request is sent at {day}{local:%H:%M:%S %Z}, in {left}"


def warning(why: str, until: datetime | None) -> WaitWarning:
    """The warning about a wait that nothing else shows."""
    made = WaitWarning(_waiting(why, until))
    made.until = until
    return made


def watched() -> bool:
    """Whether somebody can see progress: on a terminal, in a notebook, or in a program that shows it in its own way."""
    return (
        INSTEAD.get() is not None
        or "ipykernel" in sys.modules
        or (sys.stderr is not None and sys.stderr.isatty())
    )


def bar(total: int | None, unit: str) -> Progress:
    """A progress bar for ``unit`` (rows, slices or jobs), up to ``total`` if that is known."""
    if own := INSTEAD.get():
        return own(total, unit)
    try:
        with warnings.catch_warnings():
            # tqdm chooses between terminal and notebook. A notebook without widgets gets a bar of text, which needs no warning.
            warnings.filterwarnings("ignore", "IProgress not found")
            tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return _Lines(total, unit)
    if sys.stderr is None:
        return _Lines(total, unit)
    return _Bar(tqdm(total=total, unit=f" {unit}"))
