"""Files read back equal in the usual readers, and no spreadsheet runs a formula from them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.csv  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import read
from helpers.pages import row

PATHS = [
    "/plain",
    "a,b",
    'say "a"',
    '"',
    "a\nb",
    "a\rb",
    "a\r\nb",
    "\ufeff/bom",
    "/\u65e5\u672c/e\u0301",
    " a ",
    "",
    "'quoted'",
    "\u2028",
    "\\n",
]
FORMULAS = ["=1+1", "\r=1", "\uff201"]

Read = Callable[[Path], list[dict[str, Any]]]


def write(face: Face, sent: list[dict[str, Any]], way: str, target: Path, **how: Any) -> VisitorTable:
    """An export and its table write the same bytes."""
    with StubServer(sent) as stub:
        client = face.client(stub)
        table: VisitorTable = face.run(client.visitors().collect())
        assert getattr(table, way)(target, **how) == len(sent)
        by_table = target.read_bytes()
        assert face.run(getattr(client.visitors(page_size=3), way)(target, **how)) == len(sent)
    if way != "to_parquet":
        assert target.read_bytes() == by_table
    return table


def with_csv(path: Path) -> list[dict[str, Any]]:
    return read(path, "to_csv")


def with_polars(path: Path) -> list[dict[str, Any]]:
    # An empty text and a missing one are the same in CSV.
    return pl.read_csv(path).with_columns(pl.col("path").fill_null("")).to_dicts()


def with_pyarrow(path: Path) -> list[dict[str, Any]]:
    options = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return list(pyarrow.csv.read_csv(path, parse_options=options).to_pylist())


@pytest.mark.row("J6")
@pytest.mark.parametrize("reader", [with_csv, with_polars, with_pyarrow])
def test_csv_reads_back_equal(face: Face, reader: Read, tmp_path: Path) -> None:
    sent = [row(number, path=path) for number, path in enumerate(PATHS)]
    write(face, sent, "to_csv", tmp_path / "file")
    assert reader(tmp_path / "file") == sent


@pytest.mark.row("J5")
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_escaped_in_csv_alone(face: Face, formula: str, tmp_path: Path) -> None:
    sent = [row(0), row(1, path=formula, note=formula, n=-5), row(2, path=f"/{formula}")]
    target = tmp_path / "file"
    write(face, sent, "to_csv", target)
    with target.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[2] == ["'" + formula, "1", "2", "3", "'" + formula, "-5"]
    assert lines[3][0] == f"/{formula}"
    write(face, sent, "to_csv", target, escape_formulas=False)
    with target.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[2][0] == formula
    # Nothing but a spreadsheet would run it.
    write(face, sent, "to_jsonl", target)
    assert read(target, "to_jsonl") == sent
    write(face, sent, "to_parquet", target)
    assert [line["path"] for line in read(target, "to_parquet")] == [each["path"] for each in sent]
