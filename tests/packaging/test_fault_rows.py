"""The table of fault rows in docs/maintainers/faults.md is up to date, and each row without a test says why."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from helpers import fault_rows
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
