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


def test_a_field_that_comes_late_has_its_column(face: Face, tmp_path: Path) -> None:
    sent = [row(0), *(row(number) for number in range(1, 8)), row(8, late="a,\n", deep=[1, None]), row(9)]
    target = tmp_path / "file"
    write(face, sent, "to_csv", target)
    lines = with_csv(target)
    assert list(lines[0]) == ["path", "human", "ai", "total", "late", "deep"]
    assert (lines[0]["late"], lines[8]["late"], lines[8]["deep"]) == ("", "a,\n", "[1,null]")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    write(face, sent, "to_jsonl", target)
    assert read(target, "to_jsonl") == sent


def test_parquet_has_the_types_of_the_table(face: Face, tmp_path: Path) -> None:
    sent = [row(0, n=1, late=None), row(1, path="\0", flag=True, deep=[1])]
    table = write(face, sent, "to_parquet", tmp_path / "file")
    made = pyarrow.parquet.read_table(tmp_path / "file")
    assert made.schema.names == table.to_arrow().schema.names
    assert made.schema.types == table.to_arrow().schema.types
    assert made.to_pylist() == table.to_arrow().to_pylist()


@pytest.mark.parametrize("way", ["to_csv", "to_jsonl", "to_parquet"])
def test_an_export_without_rows_is_a_file_too(face: Face, way: str, tmp_path: Path) -> None:
    target = tmp_path / "file"
    table = write(face, [], way, target)
    assert read(target, way) == []
    if way != "to_parquet":
        assert target.read_text() == {"to_csv": "path,human,ai,total\n", "to_jsonl": ""}[way]
    assert len(table) == 0
