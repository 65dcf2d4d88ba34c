"""``to_pandas``, with whichever pandas there is: `make test` runs this with the newest and with the oldest (2.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers.exports import ROWS, collect
from helpers.pages import row
from helpers.scripts import run_script

TEXT = pd.Series(["a"]).dtype
"""The dtype of texts in this pandas."""

EXTRAS = [
    row(0, n=1, score=1.5, flag=True, note="x", deep=[1, {"a": None}], late=None),
    row(1, n=None, score=2, note=""),
    row(2, flag=False, mixed=1, n=2**62 + 1),
    row(3, n=-(2**63), mixed="a", huge=2**64),
]


@pytest.fixture(scope="module")
def table() -> VisitorTable:
    return collect(ROWS)


def test_texts_are_as_this_pandas_has_them() -> None:
    """So that what follows compares with something."""
    assert str(TEXT) == ("object" if pd.__version__.startswith("2.") else "str")


def test_columns_have_the_dtypes_of_a_frame_made_by_hand(table: VisitorTable) -> None:
    frame = table.to_pandas()
    by_hand = pd.DataFrame(ROWS)
    pd.testing.assert_frame_equal(frame, by_hand)
    assert list(frame.dtypes) == [TEXT, np.int64, np.int64, np.int64]
    assert isinstance(frame.index, pd.RangeIndex)


def test_a_frame_without_rows_has_the_same_dtypes() -> None:
    frame = collect([], max_rows=0).to_pandas()
    assert list(frame.columns) == ["path", "human", "ai", "total"]
    assert list(frame.dtypes) == [TEXT, np.int64, np.int64, np.int64]
    assert len(frame) == 0
    assert len(pd.concat([frame, pd.DataFrame(ROWS)])) == 600


def test_a_frame_can_be_changed_and_leaves_the_table(table: VisitorTable) -> None:
    frame = table.to_pandas()
    frame.loc[0, "human"] = 5
    frame["ai"] += 1
    frame.loc[1, "path"] = "mine"
    frame["share"] = frame["ai"] / frame["total"].clip(lower=1)
    del frame["total"]
    column = table.to_pandas()["human"].to_numpy(copy=True)
    column += 1
    assert list(table) == ROWS
    pd.testing.assert_frame_equal(table.to_pandas(), pd.DataFrame(ROWS))


def test_further_fields_are_nullable(table: VisitorTable) -> None:
    frame = collect(EXTRAS).to_pandas()
    dtypes = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    text = str(TEXT)
    assert list(dtypes)[4:] == ["n", "score", "flag", "note", "deep", "late", "mixed", "huge"]
    assert list(dtypes.values())[4:] == ["Int64", "float64", "boolean", text, text, text, text, text]
    # No digit is lost, which a detour over floats would cost.
    assert frame["n"].dropna().tolist() == [1, 2**62 + 1, -(2**63)]
    assert frame["n"].isna().tolist() == [False, True, False, False]
    assert frame["score"].tolist()[:2] == [1.5, 2.0]
    assert frame["score"].isna().tolist() == [False, False, True, True]
    assert frame["flag"].dropna().tolist() == [True, False]
    assert frame["note"].tolist()[:2] == ["x", ""]
    assert frame["note"].isna().tolist() == [False, False, True, True]
    assert frame["deep"][0] == '[1,{"a":null}]'
    assert frame["late"].isna().all()
    assert frame["mixed"].dropna().tolist() == ["1", "a"]
    assert frame["huge"].dropna().tolist() == [str(2**64)]


def test_odd_paths_are_kept() -> None:
    paths = ["", "a\0b", "\ufeff", "a\nb", "\U0001f600", "e\u0301", "\u00e9", "nan", "None"]
    frame = collect([row(number, path=path) for number, path in enumerate(paths)]).to_pandas()
    assert frame["path"].tolist() == paths
    assert not frame["path"].isna().any()


def test_pandas_alone_is_enough(given: StubServer) -> None:
    script = """
import sys
for name in ("pyarrow", "polars", "duckdb"):
    sys.modules[name] = None
import docplatform, pandas
frame = docplatform.Client().visitors().to_pandas()
assert list(map(str, frame.dtypes)) == [str(pandas.Series(["a"]).dtype), *["int64"] * 3]
assert frame["path"].tolist() == [f"/{number}" for number in range(600)]
assert frame["human"].sum() == sum(range(600))
frame.loc[0, "path"] = "mine"
"""
    ended = run_script(script, stub=given, options=("-W", "ignore"))
    assert (ended.status, ended.out, ended.err) == (0, "", "")


@pytest.mark.parametrize("option", [("mode.string_storage", "python"), ("mode.string_storage", "pyarrow")])
def test_options_of_pandas_hold(table: VisitorTable, option: tuple[str, Any]) -> None:
    with pd.option_context(*option):
        by_hand = pd.DataFrame(ROWS)
        pd.testing.assert_frame_equal(table.to_pandas(), by_hand)
