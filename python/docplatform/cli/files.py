"""Files that commands write: none is replaced unasked, and a small one is there whole."""

from __future__ import annotations

import os
from pathlib import Path

import click


def check_free(path: Path, *, force: bool) -> None:
    """A usage error where ``path`` is taken, unless it may be replaced. A link counts, wherever it leads."""
    if path.is_dir():
        raise click.UsageError(f"{path} is a directory: name a file")
    if not force and os.path.lexists(path):
        raise click.UsageError(f"{path} exists: name another file, or replace it with --force")


def replace(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, in place of what may be there."""
    # Not for --help.
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as draft:
        draft.write(text)
    Path(draft.name).replace(path)
