"""A table as an Excel workbook, written by XlsxWriter: dates are dates, counts are numbers, and a text is never a formula."""

from __future__ import annotations

from datetime import UTC, date, datetime
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from docplatform._native import Table

MAX_ROWS = 1_048_575
"""The most rows of a sheet, without its header."""
MAX_TEXT = 32_767
"""The most characters of a cell."""
ROWS_AT_ONCE = 50_000
"""How many rows are in memory as Python's values."""
MAX_DIGITS = 10**15
"""Integers from here on lose digits in Excel, so that they are written as text."""
FIRST_DAY = date(1900, 3, 1)
"""Excel takes 1900 for a leap year, so that earlier days are written as text."""
WIDTHS = {"text": 60, "json": 60, "time": 20}
"""How wide a column is, in characters; a number's is 12."""


def write(table: Table, path: str | os.PathLike[str]) -> None:
    """Writes the rows; a ``ValueError`` if a sheet cannot take them."""
    if len(table) > MAX_ROWS:
        raise ValueError(
            f"an Excel sheet has room for {MAX_ROWS:,} rows, and these are {len(table):,}: no file was written; "
            "write CSV or Parquet, or a shorter range"
        )
    xlsxwriter = import_module("xlsxwriter")
    columns = table._schema()
    # Rows are kept in a file of the folder instead of memory until the workbook is complete.
    with TemporaryDirectory(prefix="docplatform-") as folder:
        workbook = xlsxwriter.Workbook(
            path, {"constant_memory": True, "tmpdir": folder, "remove_timezone": True}
        )
        workbook.use_zip64()
        sheet = workbook.add_worksheet("docplatform")
        try:
            _fill(sheet, workbook, columns, table)
            workbook.close()
        except xlsxwriter.exceptions.FileCreateError as error:
            raise error.args[0] from None
        finally:
            # An open file cannot be removed on every system.
            sheet._opt_close()


def _fill(sheet: Any, workbook: Any, columns: Sequence[tuple[str, str, bool]], table: Table) -> None:
    formats = {
        "days": workbook.add_format({"num_format": "yyyy-mm-dd"}),
        "time": workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
    }
    formats["count"] = formats["int"] = workbook.add_format({"num_format": "#,##0"})
    head = workbook.add_format({"bold": True})
    for at, (name, kind, _) in enumerate(columns):
        sheet.set_column(at, at, WIDTHS.get(kind, 12))
        sheet.write_string(0, at, _text(name, 0, "the header"), head)
    sheet.freeze_panes(1, 0)
    if len(table) and columns:
        sheet.autofilter(0, 0, len(table), len(columns) - 1)
    for first in range(0, len(table), ROWS_AT_ONCE):
        # By column, and then row by row, as the sheet is written.
        rows = zip(*table._part(first, first + ROWS_AT_ONCE), strict=True)
        for number, row in enumerate(rows, first + 1):
            for at, ((name, kind, _), value) in enumerate(zip(columns, row, strict=True)):
                _cell(sheet, number, at, name, value, formats.get(kind))


def _cell(sheet: Any, number: int, at: int, name: str, value: object, style: Any) -> None:
    match value:
        case None:
            return
        case bool():
            sheet.write_boolean(number, at, value)
        case int() if abs(value) < MAX_DIGITS:
            sheet.write_number(number, at, value, style)
        case float():
            sheet.write_number(number, at, value)
        case datetime() if value.date() >= FIRST_DAY:
            sheet.write_datetime(number, at, value.astimezone(UTC), style)
        case date() if not isinstance(value, datetime) and value >= FIRST_DAY:
            sheet.write_datetime(number, at, value, style)
        case _:
            # Never `write`, which would run a formula and make a link of a URL.
            sheet.write_string(number, at, _text(str(value), number, name))


def _text(text: str, number: int, name: str) -> str:
    if len(text.encode("utf-16-le")) // 2 > MAX_TEXT:
        raise ValueError(
            f"an Excel cell has room for {MAX_TEXT:,} characters, and {name} of row {number:,} has more: no file was "
            "written; write CSV or Parquet"
        )
    return text
