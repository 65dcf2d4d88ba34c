"""``docplatform fix``: the list, and a job with a pull request for each of its first problems."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from docplatform.testing import StubServer
from docplatform.testing._story import PROBLEMS
from helpers.cli import SCRIPT, Cli
from helpers.once import posts
from helpers.scripts import Script

FIX = ("fix", "2026-10")
PATHS = [problem.path for problem in PROBLEMS]


def test_the_list_as_text_json_and_files(cli: Cli, tmp_path: Path) -> None:
    shown = cli(*FIX)
    assert shown.status == 0, shown.err
    assert all(path in shown.out for path in PATHS)
    found = json.loads(cli(*FIX, "--json", "-n", "3").out)
    assert [row["path"] for row in found["rows"]] == PATHS
    assert found["requests"] > 5
    for name in ("fixes.md", "fixes.json", "fixes.csv", "fixes.parquet"):
        assert cli(*FIX, "-o", str(tmp_path / name)).status == 0
    text = (tmp_path / "fixes.md").read_text()
    assert text.startswith("# What to fix first, October 2026\n\n| page or search | readers | why |")
    assert cli(*FIX, "-o", str(tmp_path / "fixes.md")).status == 2, "a file is replaced only with --force"
    assert cli(*FIX, "-o", str(tmp_path / "fixes.md"), "--force").status == 0


def test_a_dry_run_sends_nothing(cli: Cli, stub: StubServer) -> None:
    ended = cli(*FIX, "--dry-run", "--run", "3", "--json")
    assert (ended.status, json.loads(ended.out)["requests"], stub.requests) == (0, 5, [])
    assert "at most 3 problems" in ended.err


def test_a_run_needs_a_store_and_a_yes(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "docs.db"))
    assert cli(*FIX, "--run", "2").status == 2
    ended = cli(*FIX, "--run", "2", *store)
    assert ended.status == 2
    assert "confirm it with --yes" in ended.err
    assert PATHS[0] in ended.err, "the prompts are shown first"
    assert posts(stub) == 0
    assert cli(*FIX, "--run", "2", "-o", "fixes.csv", *store).status == 2


def test_a_run_again_creates_nothing_twice(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    command = (*FIX, "--run", "2", "--yes", "--store", str(tmp_path / "docs.db"))
    first = cli(*command, "--json")
    assert first.status == 0, first.err
    rows = json.loads(first.out)["rows"]
    assert [(row["path"], row["result"], row["name"]) for row in rows] == [
        (path, "done", f"fix:2026-10:{path}") for path in PATHS[:2]
    ]
    assert [row["pr_link"] for row in rows] == [job.pr_link for job in stub.jobs]
    again = cli(*command, "-o", str(tmp_path / "done.md"))
    assert (again.status, posts(stub)) == (0, 2)
    assert str(stub.jobs[0].pr_link) in (tmp_path / "done.md").read_text()


def test_a_failed_job_ends_with_its_exit_code(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    stub.script_job("failed")
    command = (*FIX, "--run", "1", "--yes", "--store", str(tmp_path / "docs.db"))
    assert [cli(*command).status for _ in range(2)] == [5, 5]
    assert posts(stub) == 1


@pytest.mark.row("M11")
def test_a_killed_run_is_finished_by_the_next_one(cli: Cli, stub: StubServer, tmp_path: Path) -> None:
    """A creation that was under way when the process was killed is unknown, and not sent again."""
    command = (*FIX, "--run", "5", "--yes", "--store", str(tmp_path / "docs.db"), "--concurrency", "1")
    for moment in range(1, 6):
        with Script(SCRIPT, *command, stub=stub) as script:
            stub.wait_for(lambda stub, moment=moment: len(stub.jobs) >= moment, timeout=60)
            script.signal(signal.SIGKILL)
            script.end()
    ended = cli(*command, "--json")
    results = Counter(row["result"] for row in json.loads(ended.out)["rows"])
    assert results["done"] + results["unknown"] == 5
    assert ended.status == (7 if results["unknown"] else 0)
    assert max(Counter(job.prompts[0] for job in stub.jobs).values()) == 1
    assert len(stub.jobs) == 5
