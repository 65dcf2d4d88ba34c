"""Any row, through the wheel. The same cases in every run: what fails can be looked at again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docplatform import DataWarning
from docplatform.testing import StubServer
from helpers.pages import page, serve

quick = settings(
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    # The second is a measure of the machine.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
ANY_TEXT = st.text(st.characters())
"""With lone surrogates."""


@pytest.fixture(scope="module")
def silent() -> Iterator[StubServer]:
    """One stub for all examples of all tests: an example needs no fresh one."""
    with StubServer() as stub:
        yield stub


@st.composite
def odd_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    extras = st.dictionaries(
        st.text().filter(lambda name: name not in {"path", "human", "ai", "total"}), VALUES
    )
    paths = draw(st.lists(ANY_TEXT, max_size=8, unique_by=readable))
    counts = st.fixed_dictionaries(dict.fromkeys(("human", "ai", "total"), st.integers(0, 2**63 - 1)))
    return [{"path": path} | draw(counts) | draw(extras) for path in paths]


def readable(text: str) -> str:
    """``text`` with U+FFFD for what is not UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def well_formed(value: object) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return text == readable(text)


@pytest.mark.row("D13")
@quick
@given(table=odd_rows())
def test_rows_arrive_as_they_are(silent: StubServer, table: list[dict[str, Any]]) -> None:
    """A row is made into a dict in one place, for both clients."""
    silent.reset()
    serve(silent, page(table))
    with silent.client() as client, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        came = list(client.visitors())
    assert came == [row | {"path": readable(row["path"])} for row in table]
    known = ["path", "human", "ai", "total"]
    assert [list(row) for row in came] == [known + [n for n in row if n not in known] for row in table]
    lost = not all(well_formed(row["path"]) for row in table)
    assert [warning.category for warning in told] == ([DataWarning] if lost else [])
