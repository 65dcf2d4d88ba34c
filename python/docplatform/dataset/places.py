"""Places for a dataset's files: a folder of this machine, or a path in a file system of ``pyarrow.fs``, such as an object store."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from docplatform._hooks import parquet
from docplatform._hooks.frames import need
from docplatform._native import _WholeFile

T = TypeVar("T")
R = TypeVar("R")

FILE = "part-0.parquet"
"""The name of a dataset's files."""
_URI = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PUTS_WHOLE = {"s3", "gcs"}
"""File systems that show an object only when all of it was sent. Azure's shows an empty one first."""
_CONNECTIONS = 8
"""Files that are read or written at the same time, because each takes some round trips."""


class Folder:
    """A folder of this machine. ``module`` reads and writes its files, whose names are relative to the folder."""

    def __init__(self, path: Path, listing: str, module: str) -> None:
        self._root = path.absolute()
        self._within = self._root.resolve()
        self._listing = listing
        self._module = module

    def __str__(self) -> str:
        """The path, for people."""
        return str(self._root)

    def names(self) -> Iterable[str]:
        """The files of the listing, in no order."""
        found = self._root.glob(f"listing={self._listing}/project=*/date=*/{FILE}")
        return (path.relative_to(self._root).as_posix() for path in found)

    def has(self, name: str) -> bool:
        """Whether there is something of this name; a ``ValueError`` if it leads out of the folder."""
        target = self._root / name
        if not target.parent.resolve().is_relative_to(self._within):
            raise ValueError(
                f"{target.parent} is a link that leads out of {self}: nothing is written there; remove it"
            )
        return target.exists()

    def note(self, name: str) -> str | None:
        """The note in a file; ``None`` if there is none."""
        path = self._root / name
        # Opening a pipe would wait for a writer.
        return parquet.read_note(self._module, path) if path.is_file() else None

    def write(self, name: str, rows: Any, note: str) -> None:
        """Writes a whole file, or nothing."""
        target = self._root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Readers read everything in the dataset, so an unfinished file is beside it, if that is the same disk.
        beside = self._root.parent
        same = beside.stat().st_dev == self._root.stat().st_dev
        aside = beside if same and os.access(beside, os.W_OK | os.X_OK) else self._root
        with _WholeFile(target, aside=aside) as file:
            parquet.write(self._module, rows, file.path, note)
            file.commit()

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results of ``work`` for the items, in their order."""
        return map(work, items)


class Remote:
    """A path in a file system of ``pyarrow.fs``. Its methods are those of :class:`Folder`."""

    def __init__(self, filesystem: Any, root: str, listing: str) -> None:
        self._system = filesystem
        self._root = root
        self._listing = listing

    def __str__(self) -> str:
        """The path, for people."""
        return self._root

    @cached_property
    def _there(self) -> set[str]:
        # One request for a thousand names: asking for each file would take a round trip each.
        below = import_module("pyarrow.fs").FileSelector(
            f"{self._root}/listing={self._listing}", allow_not_found=True, recursive=True
        )
        paths = (info.path for info in self._system.get_file_info(below))
        return {path[len(self._root) + 1 :] for path in paths if path.endswith(f"/{FILE}")}

    def names(self) -> Iterable[str]:
        """See :class:`Folder`."""
        return self._there

    def has(self, name: str) -> bool:
        """See :class:`Folder`."""
        return name in self._there

    def note(self, name: str) -> str | None:
        """See :class:`Folder`."""
        with self._system.open_input_file(f"{self._root}/{name}") as file:
            return parquet.read_note("pyarrow", file)

    def write(self, name: str, rows: Any, note: str) -> None:
        """See :class:`Folder`. The file is made in memory, because closing a stream after an error may leave a part of it."""
        buffer = import_module("pyarrow").BufferOutputStream()
        parquet.write("pyarrow", rows, buffer, note)
        target = f"{self._root}/{name}"
        if self._system.type_name in _PUTS_WHOLE:
            self._put(target, buffer.getvalue())
            return
        # An unfinished file is beside the dataset, because readers read everything in it.
        aside = f"{self._root}-{secrets.token_hex(8)}"
        self._system.create_dir(target.rpartition("/")[0], recursive=True)
        try:
            self._put(aside, buffer.getvalue())
            self._system.move(aside, target)
        except BaseException:
            with suppress(OSError):
                self._system.delete_file(aside)
            raise

    def _put(self, path: str, data: Any) -> None:
        with self._system.open_output_stream(path) as stream:
            stream.write(data)

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See :class:`Folder`. An error comes up in its place in the order; after it nothing more is begun."""
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            yield from pool.map(work, items)


Place: TypeAlias = Folder | Remote


def place(target: str | os.PathLike[str], filesystem: Any, listing: str) -> Place:
    """The place that a user names, for one listing."""
    path = os.fspath(target)
    if not path:
        # It would be the working directory.
        raise ValueError("target is empty: name the dataset's folder, or a URI such as s3://bucket/lake")
    scheme = _URI.match(path)
    if filesystem is None and scheme is None:
        return Folder(Path(path), listing, need("export_dataset"))
    need("object_store", "export_dataset() to an object store")
    systems = import_module("pyarrow.fs")
    if filesystem is None:
        try:
            filesystem, path = systems.FileSystem.from_uri(path)
        except import_module("pyarrow").ArrowInvalid:
            # Its text has the URI, and the URI may have a key in it.
            raise ValueError(
                f"pyarrow cannot use this {scheme[0] if scheme else ''} URI: correct it"
            ) from None
    elif not isinstance(filesystem, systems.FileSystem):
        raise TypeError(f"filesystem must be a pyarrow.fs.FileSystem, not {type(filesystem).__name__}")
    elif scheme is not None:
        raise ValueError("target: give a URI alone, or filesystem= and a path in it")
    if isinstance(filesystem, systems.LocalFileSystem):
        return Folder(Path(path), listing, "pyarrow")
    return Remote(filesystem, path.rstrip("/"), listing)
