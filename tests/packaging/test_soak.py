"""A short soak, and that its account notices four kinds of discrepancy."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helpers.scripts import run_command
from soak.account import Tally, discrepancies, table

ROOT = Path(__file__).parents[2]


def soak(module: str, *arguments: str) -> str:
    """The output of a soak that ends without a discrepancy, with a seed of its own."""
    command = [sys.executable, "-W", "error", "-m", module, *arguments, "--seed", "7"]
    ended = run_command(command, cwd=ROOT)
    assert (ended.status, ended.err) == (0, ""), ended.out + ended.err
    return ended.out


def test_a_short_soak_leaves_no_discrepancy() -> None:
    printed = soak("soak", "--operations", "40")
    assert "0 discrepancies (seed 7)" in printed
    assert "finished" in printed


@pytest.mark.row("E10")
def test_a_cursor_export_that_is_killed_at_random_instants_has_every_row_once() -> None:
    assert soak("soak.cursor", "--kills", "4").startswith("4 kills in ")


def books() -> tuple[Tally, dict[str, Any]]:
    outcomes = ["confirmed", "applied", "unknown", "unknown", "cancelled", "rejected", "not_sent"]
    tally = Tally(
        writes={f"{number}": outcome for number, outcome in enumerate(outcomes)}, jobs={"0": "job-0"}
    )
    ledger: dict[str, Any] = {
        "created": {"0": ["job-0"], "2": ["job-2"]},
        "messages": {"1": 1},
        "faults": Counter({"lost": 1}),
        "strange": [],
        "requests": 9,
    }
    return tally, ledger


def test_an_account_that_agrees_has_no_discrepancy() -> None:
    tally, ledger = books()
    assert discrepancies(tally, ledger) == []
    assert "confirmed" in table(tally, ledger)


def test_wrong_rows_requests_and_messages_are_discrepancies() -> None:
    tally, ledger = books()
    tally.writes["7"] = "None"
    tally.wrong.append("rows that are not the truth")
    ledger["strange"].append("GET /")
    ledger["messages"]["1"] = 0
    found = discrepancies(tally, ledger)
    assert len(found) == 4, found


def test_a_step_that_dies_at_random_creates_no_job_twice() -> None:
    assert "0 discrepancies (seed 7)" in soak("soak.pipeline", "--runs", "25")


@pytest.mark.row("M11")
def test_fixes_that_are_killed_at_random_instants_create_each_job_once() -> None:
    assert "0 discrepancies (seed 7)" in soak("soak.fix", "--kills", "4")
