"""The command line, ``docplatform``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

import docplatform
from docplatform._hooks.patience import PATIENCE
from docplatform.cli import exits, output, plain, secrets

ANSWER_PATIENCE = 5.0
"""How long a signal leaves the service for its answer to a write, in seconds."""
NEEDED = ("click", "rich")
"""The packages of the extra ``cli``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: one of :class:`docplatform.cli.exits.Exit`, or for ``stub --run`` that
    of its command, 127 if it cannot be started, and 128 plus the number of a signal that ended it."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    output.ready(json="--json" in given)
    try:
        with _terminable(), _patient():
            code = _outcome(given)
        output.flush()
    except BrokenPipeError:
        output.give_up(sys.stdout)
        return exits.Exit.BROKEN_PIPE
    except OSError as error:
        if error.filename is None:
            output.give_up(sys.stdout)
        return exits.report(error)
    return code


@contextmanager
def _terminable() -> Iterator[None]:
    """Makes SIGTERM end a command as Ctrl-C does, also in process 1, which gets no SIGTERM without a handler."""

    def end(*_: object) -> None:
        raise exits.Terminated

    try:
        # A handler of somebody else's, such as of a program that calls `main`, stays.
        ours = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if ours:
            signal.signal(signal.SIGTERM, end)
    except ValueError:
        # Not in the main thread.
        ours = False
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _patient() -> Iterator[None]:
    """Gives a write that a signal interrupts the time for its answer. A second signal takes it."""

    def announce() -> float:
        output.say(
            f"\nWaiting up to {ANSWER_PATIENCE:.0f} s for the service's answer, so that the outcome is known. A second signal, such as "
            "Ctrl-C, ends at once."
        )
        return ANSWER_PATIENCE

    before = PATIENCE.set(announce)
    try:
        yield
    finally:
        PATIENCE.reset(before)


def _outcome(arguments: list[str]) -> int:
    """Runs a command and reports what ended it. Output that cannot be written is left to the caller."""
    try:
        return _run(arguments)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else exits.Exit.FAILURE
    except (docplatform.DocPlatformError, KeyboardInterrupt) as error:
        return exits.report(error)


def _run(arguments: list[str]) -> int:
    if fault := secrets.on_command_line(arguments):
        return exits.usage(fault)
    if arguments == ["version"]:
        arguments = ["--version"]
    first = arguments[0] if arguments else ""
    # These two need no extra, and run the same way with it.
    if first in ("demo", "stub"):
        return plain.run(arguments)
    if not all(find_spec(name) for name in NEEDED):
        if not first.startswith("-"):
            return exits.usage(plain.NEEDS_EXTRA)
        return plain.run(arguments)
    from docplatform.cli import app

    return app.run(arguments)
