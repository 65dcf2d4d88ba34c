"""Shells complete commands, options, their values and files, with the line that the documentation gives."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from pathlib import Path

import pytest

from helpers.cli import SCRIPT
from helpers.marks import posix
from helpers.scripts import run_command, run_script

pytestmark = posix

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
LINES = dict(
    re.findall(r"^\| (\w+) \| `[^`]*` \| `([^`]*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
)
"""The documented line of each shell."""

COMPLETED = ["top totals trend", "day month week"]
ASKS = {
    "bash": (
        """
ask() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _docplatform_completion docplatform; echo "${COMPREPLY[@]}"; }
ask docplatform visitors t
ask docplatform sync --every ''
""",
        COMPLETED,
    ),
    "fish": (
        """
complete -C "docplatform visitors t" | string split -f 1 \\t | string join " "
complete -C "docplatform sync --every " | string join " "
""",
        COMPLETED,
    ),
    "zsh": ("echo $_comps[docplatform]", ["_docplatform_completion"]),
}
"""A script that asks each shell for completions, and its answers."""


@pytest.mark.parametrize("shell", ASKS)
def test_the_documented_line_completes(shell: str) -> None:
    assert set(LINES) == set(ASKS)
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script, answers = ASKS[shell]
    before = "autoload -Uz compinit; compinit -u -D\n" if shell == "zsh" else ""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    ended = run_command([shell, "-c", f"{before}{LINES[shell]}\n{script}"], env={"PATH": path})
    assert (ended.status, ended.err) == (0, "")
    assert [" ".join(sorted(line.split())) for line in ended.out.splitlines()] == answers


@pytest.mark.parametrize("shell", ASKS)
def test_commands_options_values_and_files_are_completed(shell: str) -> None:
    def complete(*words: str) -> list[str]:
        # fish gives the word under the cursor instead of its number.
        current = words[-1] if shell == "fish" else str(len(words) - 1)
        env = {"_DOCPLATFORM_COMPLETE": f"{shell}_complete", "COMP_CWORD": current}
        return re.split(r"[\s,]", run_script(SCRIPT, env={**env, "COMP_WORDS": " ".join(words)}).out)

    for words, found in (
        (("docplatform", "sy"), "sync"),
        (("docplatform", "visitors", "tr"), "trend"),
        (("docplatform", "visitors", "trend", "--on-b"), "--on-budget"),
        (("docplatform", "report", "--on-budget", "st"), "stop"),
        *((("docplatform", "visitors", "trend", option, "vis"), "file") for option in ("--store", "-o")),
    ):
        assert found in complete(*words), words
