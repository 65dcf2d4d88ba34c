"""Tables of four kinds go every way but Excel: frames, files and pickles have the same rows."""

from __future__ import annotations

import csv
import json
import pickle
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from docplatform import Client
from docplatform.testing import StubServer
from helpers.pages import rows

COUNTS = ["human", "ai", "total"]
SIDES = [f"{kind}{side}" for kind in COUNTS for side in ("", "_before", "_change", "_growth", "_significant")]
WEEKS: dict[str, Any] = {"period": "2024-01", "every": "week"}
KINDS: dict[str, tuple[Callable[[Client], Any], int, list[str], tuple[str, ...]]] = {
    "visitors": (
        lambda client: client.visitors("2024-01").collect(),
        7,
        ["path", *COUNTS, "locale", "date_from"],
        ("7 pages", "/6"),
    ),
    "trend": (
        lambda client: client.visitor_trend(**WEEKS),
        5,
        ["date_from", "date_to", "days", *COUNTS],
        ("Visitors by week", "2024-01-01"),
    ),
    "trend by path": (
        lambda client: client.visitor_trend(**WEEKS, by_path=True),
        35,
        ["date_from", "date_to", "days", "path", *COUNTS, "locale", "service_date_from"],
        ("Visitors by week", "2024-01-01"),
    ),
    "comparison": (
        lambda client: client.compare_visitors("2024-01"),
        7,
        ["path", *SIDES],
        ("January 2024", "December 2023"),
    ),
}
"""How each is made, how many rows and which columns it has, and words of its heading."""
KEPT = (
    "listing totals date_from date_to requests warnings every open_from totals_before period before".split()
)


def plain(value: object) -> str:
    """A value as CSV has it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.row("M7")
@pytest.mark.parametrize("kind", KINDS)
def test_every_way_has_the_same_rows(kind: str, tmp_path: Path) -> None:
    make, number, names, words = KINDS[kind]
    given = [
        {**row, "locale": "de", "date_from": "theirs"} if at % 2 else row for at, row in enumerate(rows(0, 7))
    ]
    with StubServer(given) as stub, stub.client() as client:
        table = make(client)
    dicts = table.to_dicts()
    expected = [tuple(line.get(name) for name in names) for line in dicts]
    assert (len(expected), list(table)) == (number, dicts)

    assert table.to_polars().columns == table.to_arrow().column_names == names
    assert table.to_polars().rows() == pl.DataFrame(table).rows() == expected
    assert [tuple(row.values()) for row in pa.table(table).to_pylist()] == expected
    frame = table.to_pandas()
    assert list(frame.columns) == names
    assert frame["total"].tolist() == [line["total"] for line in dicts]
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    for name in names:
        value = dicts[0].get(name)
        if isinstance(value, date):
            assert kinds[name].startswith("datetime64")
            assert [moment.date() for moment in frame[name]] == [line[name] for line in dicts]
        elif isinstance(value, int):
            assert kinds[name] == ("boolean" if isinstance(value, bool) else "int64")

    for way in ("to_csv", "to_jsonl", "to_parquet"):
        assert getattr(table, way)(tmp_path / way) == number
    with (tmp_path / "to_csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [names, *([plain(value) for value in row] for row in expected)]
    lines = (tmp_path / "to_jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(json.dumps(dicts, default=str))
    assert pl.read_parquet(tmp_path / "to_parquet").rows() == expected

    copy = pickle.loads(pickle.dumps(table))
    assert type(copy) is type(table)
    assert (copy.to_dicts(), repr(copy)) == (dicts, repr(table))
    assert copy.to_polars().rows() == expected
    attributes = [name for name in KEPT if hasattr(table, name)]
    assert [getattr(copy, name) for name in attributes] == [getattr(table, name) for name in attributes]
    html = table._repr_html_()
    assert all(word in html for word in words)
    assert type(table).__name__ in repr(table)


def test_names_that_the_service_chose_are_gone_with_their_page() -> None:
    """Ours are Python's for ever."""
    with StubServer([{**row, "bot": 1} for row in rows(0, 300)]) as stub, stub.client() as client:
        first, *_, last = client.visitors()
    own = [name for name, other in zip(first, last, strict=True) if name is other]
    assert (own, list(last)) == (["path", *COUNTS], ["path", *COUNTS, "bot"])
