"""Checks where commands write: nothing is replaced without --force."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click


class Refusal(click.UsageError):
    """A usage error that shows the names of files as the user gave them."""


def check(path: Path | None, *, force: bool, json: bool) -> None:
    """A usage error if a command cannot write to ``path``, or to standard output if that is ``None``.

    Only ``force`` replaces what is there; a link counts as a file, whatever it points to. With ``json``, standard output is for
    the summary.
    """
    if json or path is None:
        check_printing()
    if path is None:
        if json:
            raise click.UsageError("the result and --json both use standard output: name a file with -o")
        return
    if path.is_dir():
        raise Refusal(f"{path} is a directory: name a file")
    if not path.parent.is_dir():
        raise Refusal(f"there is no folder {path.parent}: create it, or name another file")
    if not force and os.path.lexists(path):
        raise Refusal(f"{path} exists: name another file, or replace it with --force")


def check_printing() -> None:
    """A usage error if standard output is closed: a command that only prints would send its requests for nothing."""
    # Python sets it to None then.
    if sys.stdout is None:
        raise click.UsageError("standard output is closed: redirect it to a file")
