"""Places for a dataset's files: a folder, or an object store by way of ``pyarrow.fs``. Either has whole files only."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from docplatform._hooks import parquet
from docplatform._hooks.frames import need
from docplatform._native import _WholeFile

FILE = "part-0.parquet"
"""The name of a dataset's files."""
_URI = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PUTS_WHOLE = {"s3", "gcs", "abfs"}
"""File systems of ``pyarrow.fs`` that show an object only when all of it was sent."""


class Place(Protocol):
    """Where a dataset is; names of files are relative to it."""

    def names(self, listing: str) -> Iterable[str]:
        """The files of a listing, in no order."""

    def has(self, name: str) -> bool:
        """Whether there is something of this name; a ``ValueError`` if it would lead elsewhere."""

    def note(self, name: str) -> str | None:
        """The note in a file; ``None`` if there is none."""

    def write(self, name: str, rows: Any, note: str) -> None:
        """Writes a file: it is whole, or not there."""


def place(target: str | os.PathLike[str], filesystem: Any) -> Place:
    """The place that ``target`` names."""
    path = os.fspath(target)
    if not path:
        # It would be the working directory.
        raise ValueError("target is empty: name the dataset's folder, or a URI such as s3://bucket/lake")
    scheme = _URI.match(path)
    if filesystem is None and scheme is None:
        return Folder(Path(path), need("export_dataset"))
    need("export_dataset", "pyarrow")
    systems = import_module("pyarrow.fs")
    if filesystem is None:
        try:
            filesystem, path = systems.FileSystem.from_uri(path)
        except import_module("pyarrow").ArrowInvalid:
            # Its text has the URI, which may have a key in it.
            raise ValueError(
                f"target: pyarrow cannot use this {scheme[0] if scheme else ''} URI: correct it, or give filesystem="
            ) from None
    elif not isinstance(filesystem, systems.FileSystem):
        raise TypeError(f"filesystem must be a pyarrow.fs.FileSystem, not {type(filesystem).__name__}")
    elif scheme is not None:
        raise ValueError("target: give a URI alone, or filesystem= and a path in it")
    if isinstance(filesystem, systems.LocalFileSystem):
        return Folder(Path(path), "pyarrow")
    return Remote(filesystem, path.rstrip("/"))


class Folder:
    """A folder of this machine. ``module`` writes its files."""

    def __init__(self, path: Path, module: str) -> None:
        self._root = path.absolute()
        self._within = self._root.resolve()
        self._module = module

    def __str__(self) -> str:
        return str(self._root)

    def names(self, listing: str) -> Iterable[str]:
        """See :class:`Place`."""
        found = self._root.glob(f"listing={listing}/project=*/date=*/{FILE}")
        return (path.relative_to(self._root).as_posix() for path in found)

    def has(self, name: str) -> bool:
        """See :class:`Place`."""
        target = self._root / name
        if not target.parent.resolve().is_relative_to(self._within):
            raise ValueError(
                f"{target.parent} is a link that leads out of {self}: nothing is written there; remove it"
            )
        return target.exists()

    def note(self, name: str) -> str | None:
        """See :class:`Place`."""
        path = self._root / name
        # Opening a pipe would wait for a writer.
        return parquet.read_note(self._module, path) if path.is_file() else None

    def write(self, name: str, rows: Any, note: str) -> None:
        """See :class:`Place`."""
        target = self._root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with _WholeFile(target, aside=self._aside()) as file:
            parquet.write(self._module, rows, file.path, note)
            file.commit()

    def _aside(self) -> Path:
        """The folder of unfinished files: beside the dataset, as readers read everything in it; else the dataset itself."""
        beside = self._root.parent
        same = beside.stat().st_dev == self._root.stat().st_dev
        return beside if same and os.access(beside, os.W_OK | os.X_OK) else self._root


class Remote:
    """A path in a file system of ``pyarrow.fs``."""

    def __init__(self, filesystem: Any, root: str) -> None:
        self._system = filesystem
        self._root = root
        self._there: set[str] | None = None

    def __str__(self) -> str:
        return self._root

    def names(self, listing: str) -> Iterable[str]:
        """See :class:`Place`. One look at the whole listing: a question for each file would take a round trip each."""
        systems = import_module("pyarrow.fs")
        below = systems.FileSelector(f"{self._root}/listing={listing}", allow_not_found=True, recursive=True)
        paths = (info.path for info in self._system.get_file_info(below) if info.is_file)
        self._there = {path[len(self._root) + 1 :] for path in paths if path.endswith(f"/{FILE}")}
        return self._there

    def has(self, name: str) -> bool:
        """See :class:`Place`."""
        return name in (self._there or ())

    def note(self, name: str) -> str | None:
        """See :class:`Place`."""
        with self._system.open_input_file(f"{self._root}/{name}") as file:
            return parquet.read_note("pyarrow", file)

    def write(self, name: str, rows: Any, note: str) -> None:
        """See :class:`Place`. The file is made in memory: a stream that is closed after an error may leave a part of it."""
        buffer = import_module("pyarrow").BufferOutputStream()
        parquet.write("pyarrow", rows, buffer, note)
        target = f"{self._root}/{name}"
        if self._system.type_name in _PUTS_WHOLE:
            self._put(target, buffer.getvalue())
            return
        # Beside the dataset, as readers read everything in it.
        aside = f"{self._root}-{secrets.token_hex(8)}"
        self._system.create_dir(target.rpartition("/")[0], recursive=True)
        self._put(aside, buffer.getvalue())
        self._system.move(aside, target)

    def _put(self, path: str, data: Any) -> None:
        with self._system.open_output_stream(path) as stream:
            stream.write(data)
