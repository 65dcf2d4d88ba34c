"""Exports whole: their rows, the ways to have them, and what was written of them."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import page, rows, serve

ROWS = rows(0, 600)
"""Three pages of 250, 250 and 100."""

MEMORY = ("collect", "to_pandas", "to_polars", "to_arrow", "to_dicts")
FILES = ("to_csv", "to_jsonl", "to_parquet")


def collect(rows: Any, **how: Any) -> VisitorTable:
    """What a service of these rows, or of this number, gives as a table."""
    with StubServer(rows) as stub, stub.client() as client:
        return client.visitors(**how).collect()


def offsets(stub: StubServer) -> list[int]:
    """The offsets of all pages that were asked for, in order."""
    return [int(request.query["offset"]) for request in stub.requests if "offset" in request.query]


def names(folder: Path) -> list[str]:
    """The files of a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


def dicts(result: Any) -> list[dict[str, Any]]:
    """The rows of a table or a frame."""
    if hasattr(result, "to_pylist"):
        return list(result.to_pylist())
    if hasattr(result, "iterrows"):
        return list(result.to_dict("records"))
    return list(result.to_dicts() if hasattr(result, "to_dicts") else result)


def export(face: Face, visitors: Any, way: str, target: Path) -> list[dict[str, Any]]:
    """All that is left, by any way; what was written to ``target`` is read again."""
    if way in MEMORY:
        return dicts(face.run(getattr(visitors, way)()))
    count = face.run(getattr(visitors, way)(target))
    written = read(target, way)
    assert len(written) == count
    return written


def read(path: Path, way: str) -> list[dict[str, Any]]:
    """The rows of a file, with the counts as numbers."""
    if way == "to_jsonl":
        return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
    if way == "to_csv":
        with path.open(encoding="utf-8", newline="") as file:
            counts = ("human", "ai", "total")
            return [line | {name: int(line[name]) for name in counts} for line in csv.DictReader(file)]
    import pyarrow.parquet  # type: ignore[import-untyped]

    return list(pyarrow.parquet.read_table(path).to_pylist())


def break_off(stub: StubServer, pages: int = 1, status: int = 404) -> None:
    """Let the request after this number of pages fail."""
    for number in range(pages):
        serve(stub, page(ROWS[250 * number : 250 * (number + 1)], has_more=True, totals=sums()))
    stub.fail_next(status=status, path="/v1/")


def sums() -> dict[str, int]:
    """The totals of ``ROWS``, as the stub makes them."""
    return {name: sum(row[name] for row in ROWS) for name in ("human", "ai", "total")}


def eventually(holds: Callable[[], object], timeout: float = 20.0) -> None:
    """Waits for what happens on another thread and tells nobody."""
    end = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)


class Progress:
    """In place of a bar: calls ``at`` with the number of rows that came."""

    def __init__(self, at: Callable[[int], object]) -> None:
        self.update = at


@contextmanager
def progress(monkeypatch: pytest.MonkeyPatch, at: Callable[[int], object]) -> Iterator[None]:
    """While exports run with ``progress=True``, ``at`` is called in the middle of them."""
    with monkeypatch.context() as patch:
        patch.setattr("docplatform._hooks.progress.bar", lambda *_: Progress(at))
        yield
