"""Excel workbooks: every value as its type, nothing that Excel would run, and a limit that is an error and no file.

What holds for every way into a file is tested with the others; ``sheet`` fails for a formula or a link.
"""

from __future__ import annotations

import json
import zipfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from docplatform import TrendTable, VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import ROWS, collect, names, sheet
from helpers.pages import row

HOSTILE = [
    "=1+1",
    "{=1+1}",
    "+1",
    "@SUM(A1)",
    "https://example.com/evil",
    "mailto:a@example.com",
    "internal:Sheet1!A1",
    "0123",
    "1e5",
    "<b>&amp;</b>",
    "_x0041_",
    "\x01\x07",
    " a ",
    "/\u65e5\u672c/\U0001f600",
]


def test_every_value_has_its_type(tmp_path: Path) -> None:
    odd = row(0, note="text", n=-5, score=1.5, flag=True, none=None, deep={"a": [1]}, huge=10**15)
    table = collect([odd])
    assert table.to_excel(tmp_path / "file.xlsx") == 1
    head, line = sheet(tmp_path / "file.xlsx")
    found = dict(zip(map(str, head), line, strict=False))
    # Excel would round what has more than fifteen digits.
    expected = odd | {"deep": '{"a":[1]}', "huge": str(10**15)}
    assert {name: found.get(name) for name in expected} == expected
    assert {name: type(found.get(name)) for name in expected} == {
        name: type(value) for name, value in expected.items()
    }


@pytest.mark.row("M7")
def test_fields_beyond_the_hundredth_share_the_last_column(tmp_path: Path) -> None:
    table = collect([row(0), row(1, **{f"field{number}": number for number in range(105)})])
    table.to_excel(tmp_path / "file.xlsx")
    head, plain, odd = sheet(tmp_path / "file.xlsx")
    assert (head[-2:], plain[-1], odd[-2]) == (["field99", "other_fields"], None, 99)
    assert json.loads(str(odd[-1])) == {f"field{number}": number for number in range(100, 105)}


def test_no_text_is_run_or_made_a_link_or_a_number(tmp_path: Path) -> None:
    rows = [row(number, path=path, note=path) for number, path in enumerate(HOSTILE)]
    table = collect(rows)
    table.to_excel(tmp_path / "file.xlsx")
    lines = sheet(tmp_path / "file.xlsx")[1:]
    assert [line[0] for line in lines] == HOSTILE
    assert [line[4] for line in lines] == HOSTILE


def test_days_of_a_trend_are_dates(stub: StubServer, tmp_path: Path) -> None:
    with stub.client() as client:
        trend: TrendTable = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-04")
    trend.to_excel(tmp_path / "trend.xlsx")
    head, *lines = sheet(tmp_path / "trend.xlsx")
    at = head.index("date_from")
    # Excel counts days; a style shows them as such.
    days = [date(1899, 12, 30) + timedelta(days=int(str(line[at]))) for line in lines]
    assert days == [line["date_from"] for line in trend]
    with zipfile.ZipFile(tmp_path / "trend.xlsx") as book:
        assert b'formatCode="yyyy-mm-dd"' in book.read("xl/styles.xml")


def test_a_sheet_without_room_is_an_error_and_no_file_and_loses_no_row(
    face: Face, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("docplatform._hooks.excel.MAX_ROWS", 599)
    target = tmp_path / "file.xlsx"
    with StubServer(ROWS) as stub:
        client = face.client(stub)
        table: VisitorTable = face.run(client.visitors().collect())
        with pytest.raises(ValueError, match=r"room for 599 rows, and these are 600.*CSV or Parquet"):
            table.to_excel(target)
        visitors = client.visitors()
        with pytest.raises(ValueError, match="room for 599 rows"):
            face.run(face.call(visitors.to_excel, target))
        assert names(tmp_path) == []
        assert face.run(face.call(visitors.to_csv, tmp_path / "file.csv")) == 600


def test_the_last_row_of_a_sheet_is_excels(tmp_path: Path) -> None:
    from docplatform._hooks import excel

    # With its header, a sheet of the format has this many.
    assert excel.MAX_ROWS == 2**20 - 1


def test_a_text_without_room_is_an_error_and_no_file(tmp_path: Path) -> None:
    most = "x" * 32_767
    table = collect([row(0), row(1, note=most)])
    assert table.to_excel(tmp_path / "file.xlsx") == 2
    assert sheet(tmp_path / "file.xlsx")[2][4] == most
    longer = collect([row(0), row(1, note=most + "x")])
    with pytest.raises(ValueError, match=r"32,767 characters, and note of row 2 has more.*CSV or Parquet"):
        longer.to_excel(tmp_path / "longer.xlsx")
    assert names(tmp_path) == ["file.xlsx"]


def test_the_header_stays_in_sight(tmp_path: Path) -> None:
    collect(ROWS).to_excel(tmp_path / "file.xlsx")
    with zipfile.ZipFile(tmp_path / "file.xlsx") as book:
        text = book.read("xl/worksheets/sheet1.xml").decode()
    assert 'state="frozen"' in text
    assert '<autoFilter ref="A1:D601"/>' in text


@pytest.mark.parametrize("rows", [[], ROWS, [row(0), row(1, late=1)]], ids=["empty", "many", "ragged"])
def test_a_csv_for_excel_begins_with_a_byte_order_mark(
    face: Face, tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    with StubServer(rows) as stub:
        client = face.client(stub)
        face.run(client.visitors(page_size=1 if len(rows) == 2 else 250).to_csv(tmp_path / "plain.csv"))
        face.run(
            client.visitors(page_size=1 if len(rows) == 2 else 250).to_csv(tmp_path / "bom.csv", bom=True)
        )
        face.run(client.visitors().collect()).to_csv(tmp_path / "table.csv", bom=True)
    plain, bom = (tmp_path / "plain.csv").read_bytes(), (tmp_path / "bom.csv").read_bytes()
    assert bom == b"\xef\xbb\xbf" + plain == (tmp_path / "table.csv").read_bytes()
    assert not plain.startswith(b"\xef\xbb\xbf")
