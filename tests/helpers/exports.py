"""Exports in tests: their rows, every way to read them, and what was written to files."""

from __future__ import annotations

import csv
import json
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import page, rows, serve

ROWS = rows(0, 600)
"""Three pages of 250, 250 and 100."""

MEMORY = ("collect", "to_pandas", "to_polars", "to_arrow", "to_dicts")
FILES = ("to_csv", "to_jsonl", "to_parquet", "to_excel")

JANUARY = {"/a": 300, "/b": 100, "/c": 105, "/new": 40}
DECEMBER = {"/a": 100, "/b": 300, "/c": 100, "/gone": 50}


def readers(date_from: date, date_to: date) -> list[dict[str, Any]]:
    """The readers of each page, in January and in any other month."""
    counts = JANUARY if date_from.month == 1 else DECEMBER
    return [{"path": path, "human": n // 2, "ai": n // 5, "total": n} for path, n in counts.items()]


def collect(rows: Any, **how: Any) -> VisitorTable:
    """The table that a stub with these rows, or this number of rows, gives."""
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
    """All rows that are left, read in the given way; rows written to ``target`` are read back."""
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
    if way == "to_excel":
        head, *lines = sheet(path)
        return [{str(name): value for name, value in zip(head, line, strict=True)} for line in lines]
    import pyarrow.parquet  # type: ignore[import-untyped]

    return list(pyarrow.parquet.read_table(path).to_pylist())


def sheet(path: Path) -> list[list[str | int | float | bool | None]]:
    """The cells of a workbook's one sheet, as the file types them: a formula or a link fails."""
    with zipfile.ZipFile(path) as book:
        assert not any("rels" in name and "sheet" in name for name in book.namelist()), "a link"
        tree = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))  # our own
    space = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    rows: list[list[str | int | float | bool | None]] = []
    for line in tree.iterfind(".//x:row", space):
        # A cell without a value is not there.
        found = {str(cell.get("r")): _cell(cell, space) for cell in line.iterfind("x:c", space)}
        width = len(rows[0]) if rows else len(found)
        number = len(rows) + 1
        rows.append([found.pop(f"{_column(at)}{number}", None) for at in range(width)])
        assert not found
    assert tree.find(".//x:f", space) is None, "a formula"
    return rows


def _column(at: int) -> str:
    """The letters of a column."""
    return (_column(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _cell(cell: ET.Element, space: dict[str, str]) -> str | int | float | bool | None:
    match cell.get("t"):
        case "inlineStr":
            text = "".join(part.text or "" for part in cell.iterfind(".//x:t", space))
            return re.sub("_x([0-9A-F]{4})_", lambda code: chr(int(code[1], 16)), text)
        case "b":
            return cell.findtext("x:v", namespaces=space) == "1"
        case kind:
            assert kind in {None, "n"}, kind
            number = cell.findtext("x:v", namespaces=space)
            return None if number is None else float(number) if "." in number else int(number)


def break_off(stub: StubServer, pages: int = 1, status: int = 404) -> None:
    """Let the request after this number of pages fail."""
    for number in range(pages):
        serve(stub, page(ROWS[250 * number : 250 * (number + 1)], has_more=True, totals=sums()))
    stub.fail_next(status=status, path="/v1/")


def sums() -> dict[str, int]:
    """The totals of ``ROWS``, as the stub makes them."""
    return {name: sum(row[name] for row in ROWS) for name in ("human", "ai", "total")}


def eventually(holds: Callable[[], object], timeout: float = 20.0) -> None:
    """Waits for something on another thread that sends no signal."""
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
