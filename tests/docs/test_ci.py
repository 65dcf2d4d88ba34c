"""The scripts that the documentation shows for pipelines work."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from docplatform.cli.exits import MEANINGS
from docplatform.testing import StubServer
from helpers.marks import posix
from helpers.scripts import Ended, run_command

pytestmark = [
    pytest.mark.stub(active_polls=0),
    pytest.mark.one_python,
    posix,
]

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = "https://github.com/example/docs/pull/1"


def shell(script: str, stub: StubServer, cwd: Path, hurried: dict[str, str]) -> Ended:
    """Runs a script as a step of a workflow is run."""
    (cwd / "prompt.md").write_text("Fix the links")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return run_command(["bash", "-e", "-c", script], stub=stub, env={"PATH": path, **hurried}, cwd=cwd)


def test_the_guide_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", GUIDE, re.MULTILINE)
    assert rows == [(str(int(code)), meaning) for code, meaning in MEANINGS.items()]


def test_the_guides_first_lines_print_the_link(
    stub: StubServer, tmp_path: Path, hurried: dict[str, str]
) -> None:
    done = shell(SHELL.findall(GUIDE)[0] + 'echo "$url"', stub, tmp_path, hurried)
    assert (done.status, done.out) == (0, f"{LINK}\n")
    assert stub.jobs[0].prompts == ["Fix the links"]


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        ("completed", 0, LINK),
        ("without a link", 0, "No pull request: nothing changed, or"),
        ("failed", 5, ""),
        ("dropped", 7, "Look on the platform"),
    ],
)
def test_the_guides_script_handles_every_outcome(
    stub: StubServer, tmp_path: Path, hurried: dict[str, str], status: str, code: int, says: str
) -> None:
    if status == "dropped":
        stub.fail_next(drop=True)
    elif status == "without a link":
        stub.script_job("completed", pr_link=None)
    else:
        stub.script_job(status)
    (script,) = (block for block in SHELL.findall(GUIDE) if "case $code" in block)
    done = shell(script, stub, tmp_path, hurried)
    assert done.status == code
    assert says in done.out


def test_the_commands_at_a_glance_work(tmp_path: Path, hurried: dict[str, str]) -> None:
    block = SHELL.findall(COMMANDS)[0]
    with StubServer(active_polls=1) as stub:
        done = shell(block, stub, tmp_path, hurried)
    assert (done.status, done.err.count("docplatform: ")) == (0, 0), done.err
    assert done.out.splitlines()[0] == LINK
    assert len(stub.jobs) == 1
