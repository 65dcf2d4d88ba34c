"""A printed table: its first and last rows in the width of the terminal; and the advice of ``table["path"]``."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any
from unicodedata import combining, east_asian_width

import pytest

from docplatform import DataWarning, TrendTable, VisitorTable
from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import ROWS, collect, sheet
from helpers.pages import row

LONG = "/guides/" + "very-" * 40 + "long/quickstart"
HOSTILE = "/\x1b]0;title\x07\x1b[2J\u202e\r\n|"


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def columns(line: str) -> int:
    """How many columns of a terminal a line takes."""
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in line)


def test_a_table_prints_its_rows() -> None:
    table = collect([row(0, path="/quickstart"), row(1, path="/auth", human=1234)])
    cells = [(f"{line['human']:,}", f"{line['ai']:,}", f"{line['total']:,}") for line in table]
    (one, other), widths = cells, [max(5, len(cell)) for cell in cells[1]]
    assert str(table).splitlines()[0] == "shape: (2, 4), in the service's order"
    lines = [re.findall(r"[^│┆ ]+", line) for line in str(table).splitlines() if "│" in line]
    assert lines == [
        ["path", "human", "ai", "total"],
        ["---", "---", "---", "---"],
        ["str", "i64", "i64", "i64"],
        ["/quickstart", *one],
        ["/auth", *other],
    ]
    assert f"│ path        ┆ {'human':>{widths[0]}} ┆" in str(table), (
        "texts to the left, numbers to the right"
    )
    assert repr(table) == f"{table!r}".splitlines()[0], "one line, for logs"


def test_a_table_prints_where_standard_output_has_no_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe on Windows has a code page."""
    with io.TextIOWrapper(io.BytesIO(), "cp1252") as page:
        monkeypatch.setattr(sys, "stdout", page)
        shown = str(collect([row(0, path="/caf\u00e9/\u65e5"), *ROWS]))
        page.write(shown)
    assert "| /caf\u00e9/\\u65e5 " in shown
    lines = shown.splitlines()
    assert re.fullmatch(r"\+-+(\+-+){3}\+", lines[1])
    assert (re.findall(r"\w+|[|]", lines[2]), lines[-1]) == (
        re.findall(r"\w+|[|]", "| path | human | ai | total |"),
        lines[1],
    )


def test_a_large_table_prints_both_ends() -> None:
    shown = str(collect(ROWS))
    assert shown.startswith("shape: (600, 4), in the service's order\n")
    paths = [line["path"] for line in ROWS]
    found = [path for path in paths if f"│ {path} " in shown]
    assert found == [*paths[:5], *paths[-5:]]
    assert re.search(r"│ … +┆ +… ┆", shown)
    assert len(shown.splitlines()) == 1 + 5 + 11 + 1


def test_an_empty_table_prints_its_columns() -> None:
    assert [line for line in str(collect([])).splitlines() if "human" in line] != []


def test_a_trend_prints_its_days(stub: StubServer) -> None:
    with stub.client() as client:
        trend: TrendTable = client.visitor_trend(date_from="2026-01-01", date_to="2026-01-04")
        year = str(client.visitor_trend("2025", every="month"))
    assert year.count("│ 2025-") == 12
    shown = str(trend)
    assert "│ date_from  ┆" in shown
    assert "│ date       ┆" in shown
    assert "│ 2026-01-03 ┆" in shown


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
@pytest.mark.parametrize(
    "rows",
    [
        [row(0, path=LONG)],
        [row(0, path="/\u65e5\u672c\u8a9e" * 30)],
        [row(0, path=HOSTILE * 20, title=LONG, score=1.5, flag=True, note=None)],
        [row(0, **{f"extra{number}": LONG for number in range(30)})],
    ],
    ids=["long", "wide", "hostile", "columns"],
)
def test_a_line_fits_the_terminal(
    rows: list[dict[str, Any]], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = str(collect(rows)).splitlines()[1:]
    least = 40  # of the first column, the last one, and the one that stands for those between
    assert {columns(line) for line in lines} == {columns(lines[0])}, "all as wide as the first"
    assert columns(lines[0]) <= max(width, least)


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([1, "two", [3]], {"value": ["1", "two", "[3]"]}),
        ([{"a": 1}, 2], {"a": ["1", "null"], "value": ["null", "2"]}),
        ([{"deep": {"b": [None]}}], {"deep": ['{"b":[null]}']}),
    ],
)
def test_rows_of_any_shape_are_shown_and_in_a_workbook(
    rows: list[Any], shown: dict[str, list[str]], tmp_path: Path
) -> None:
    with StubServer() as stub, stub.client() as client:
        stub.fail_next(status=200, body={"rows": rows, "hasMore": False})
        table = client.paginate("/v1/things", items="rows").collect()
    lines = [re.findall(r"[^│┆ ]+", line) for line in str(table).splitlines() if "│" in line]
    assert lines[0] == list(shown)
    assert lines[3:] == [list(line) for line in zip(*shown.values(), strict=True)]
    html = table._repr_html_()
    assert all(f">{name}</th>" in html for name in shown)
    table.to_excel(tmp_path / "file.xlsx")
    head, *cells = sheet(tmp_path / "file.xlsx")
    assert head == list(shown)
    assert [["null" if cell is None else str(cell) for cell in line] for line in cells] == lines[3:]


def test_a_value_that_does_not_fit_its_column_is_shown_in_one_of_its_own() -> None:
    search = {"searchQuery": "q", "hits": "5", "ctr": 0.5, "topClickedPage": None, "lastSearchedAt": None}
    with (
        StubServer(searches=[search]) as stub,
        stub.client() as client,
        pytest.warns(DataWarning, match="service_"),
    ):
        table = client.searches("2026-01").collect()
    assert str(table).splitlines()[-2].split()[-2] == "5"
    assert "<td" in table._repr_html_()
    assert "Searches: 1 row;" in table._repr_html_()


def test_a_long_path_keeps_its_beginning_and_its_end() -> None:
    [line] = [line for line in str(collect([row(0, path=LONG)])).splitlines() if "/guides" in line]
    assert re.search(r"│ /guides/very-\S*…\S*/quickstart ┆", line)


def test_nothing_of_a_path_is_obeyed_by_a_terminal() -> None:
    shown = str(collect([row(0, path=HOSTILE, **{"\x1b[31mname": "\x07"})]))
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert "\u202e" not in shown
    assert r"\u{1b}" in shown


@pytest.mark.parametrize("name", ["path", "human"])
def test_a_columns_name_says_what_to_write(name: str) -> None:
    table: Any = collect(ROWS[:1])
    with pytest.raises(TypeError) as caught:
        table[name]
    assert f"table.to_pandas()['{name}']" in str(caught.value)
    assert f"[row['{name}'] for row in table]" in str(caught.value)
    assert eval(f"[row['{name}'] for row in table]", {"table": table}) == [ROWS[0][name]]


def test_a_name_that_is_no_column_lists_those_that_are() -> None:
    table: VisitorTable = collect(ROWS[:1])
    with pytest.raises(TypeError, match=r"no column 'pat'.* path, human, ai, total"):
        table["pat"]  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["columns", "sort_values", "shape", "human", "total"])
def test_an_attribute_of_a_frame_says_which_method_to_use(name: str) -> None:
    table: Any = collect(ROWS[:1])
    with pytest.raises(AttributeError) as caught:
        getattr(table, name)
    says = f"table.to_pandas()[{name!r}]" if name in ROWS[0] else f"table.to_pandas().{name}"
    assert str(caught.value).startswith(f"'VisitorTable' object has no attribute {name!r}: ")
    assert says in str(caught.value)
    assert (caught.value.name, caught.value.obj) == (name, table)
    with pytest.raises(AttributeError, match="did you mean 'to_pandas'"):
        table.to_panda()
    with pytest.raises(AttributeError, match=r"^'VisitorTable' object has no attribute '_x'$"):
        table._x  # noqa: B018


@pytest.mark.parametrize(
    ("listing", "name", "method"),
    [
        ("visitors", "plot", "plot"),
        ("visitors", "columns", "to_pandas().columns"),
        ("searches", "plot", "to_pandas().plot"),
    ],
)
def test_an_attribute_of_rows_names_collect(
    face: Face, stub: StubServer, listing: str, name: str, method: str
) -> None:
    rows: Any = getattr(face.client(stub), listing)("2026-01")
    with pytest.raises(AttributeError) as caught:
        getattr(rows, name)
    collect = "rows.collect()" if face.name == "sync" else "(await rows.collect())"
    assert str(caught.value).endswith(
        f"read the rows into a table, instead of one by one or into a file: {collect}.{method}"
    )
    assert stub.requests == []


def test_a_notebook_shows_the_newest_slices_of_a_trend(stub: StubServer) -> None:
    with stub.client() as client:
        year = client.visitor_trend("2025", every="month")._repr_html_()
        html = client.visitor_trend("2026-Q3")._repr_html_()
        by_path = client.visitor_trend("2026-W33", by_path=True)._repr_html_()
    assert "Visitors by month: 12 rows" in year
    assert "Visitors by day: last 10 of 92 rows" in html
    assert ("2026-09-30" in html, "2026-07-06" in html) == (True, False)
    assert "first 10 of 7,000 rows" in by_path


def test_a_notebook_shows_times_in_minutes_and_breaks_no_word(stub: StubServer) -> None:
    with stub.client() as client:
        html = client.conversations("2026-10").collect()._repr_html_()
        job = client.run_job("Fix it", poll_interval=0.01)._repr_html_()
    for shown in (html, job):
        assert re.search(r">20\d\d-\d\d-\d\d \d\d:\d\d UTC<", shown)
        assert "+00:00" not in shown
    styles = {name: style for style, name in re.findall('<th style="(.*?)">(.*?)</th>', html)}
    # As wide as the longest word: "resolutionStatus" is the column's name.
    assert "min-width: 18ch" in styles["resolutionStatus"]
