"""The table of fault rows in docs/maintainers/faults.md is up to date, and its script reads marks and comments right."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from helpers import fault_rows
from helpers.fault_rows import Covered, in_python, in_rust
from helpers.scripts import run_command

pytestmark = pytest.mark.one_python

SCRIPT = Path(fault_rows.__file__)


def test_the_table_is_up_to_date() -> None:
    ended = run_command([sys.executable, str(SCRIPT), "--check"])
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_each_row_without_a_test_says_why() -> None:
    explained = fault_rows.PAGE.read_text(encoding="utf-8").partition(fault_rows.BEGIN)[0]
    named = {
        row
        for cell in re.findall(r"^\| ([A-Z]\d.*?) \|", explained, re.MULTILINE)
        for row in cell.split(", ")
    }
    known = {row for row in fault_rows.matrix() if len(row) > 1}
    assert known - {one.row for one in fault_rows.everything()} <= named <= known


def test_marks_are_found_on_tests_and_modules() -> None:
    text = """
pytestmark = [pytest.mark.row("A1"), pytest.mark.skipif(True)]

@pytest.mark.row("B1", "B2")
@pytest.mark.parametrize("x", [1])
def test_one(x): ...

@pytest.mark.row("C2", "A1")
async def test_two(): ...

def helper(): ...
"""
    assert list(in_python(text, "x.py")) == [
        *[Covered(row, "x.py", "test_one") for row in ("A1", "B1", "B2")],
        *[Covered(row, "x.py", "test_two") for row in ("A1", "C2")],
    ]
    with pytest.raises(SystemExit, match="no test"):
        list(in_python('@pytest.mark.row("A1")\ndef helper(): ...', "x.py"))


def test_comments_are_found_in_rust_and_unknown_rows_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
/// Something else.
/// Rows: A1, B2.
#[tokio::test(start_paused = true)]
async fn one() {}

#[test]
fn two() {}

    /// Rows: C3
    #[test]
    fn three() {}
"""
    assert list(in_rust(text, "x.rs")) == [
        Covered("A1", "x.rs", "one"),
        Covered("B2", "x.rs", "one"),
        Covered("C3", "x.rs", "three"),
    ]
    monkeypatch.setattr(fault_rows, "in_rust", lambda text, file: [Covered("A99", file, "one")])
    with pytest.raises(SystemExit, match="no such row: A99 "):
        fault_rows.everything()
    with pytest.raises(SystemExit, match=r"x\.rs:1"):
        list(in_rust("/// Rows: A1 and B2\nfn one() {}", "x.rs"))
