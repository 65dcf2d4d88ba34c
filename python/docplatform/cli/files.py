"""Files that commands write: none is replaced unasked, and a small one is there whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click


class Refusal(click.UsageError):
    """Wrong usage in words of our own, in which the user's files stand as they were named."""


def check(path: Path | None, *, force: bool) -> None:
    """A usage error where a command's output cannot go to ``path``, or to standard output where that is ``None``.

    What is there is replaced by ``force`` alone. A link counts, wherever it leads.
    """
    if path is None:
        # Python's stand-in for one that was closed.
        if sys.stdout is None:
            raise click.UsageError("standard output is closed: name a file with -o")
        return
    if path.is_dir():
        raise Refusal(f"{path} is a directory: name a file")
    if not path.parent.is_dir():
        raise Refusal(f"there is no folder {path.parent}: create it, or name another file")
    if not force and os.path.lexists(path):
        raise Refusal(f"{path} exists: name another file, or replace it with --force")


def replace(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, in place of what may be there."""
    # Not for --help.
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as draft:
        draft.write(text)
    Path(draft.name).replace(path)
