"""Shells complete commands, options, their values and files, with the line that the documentation gives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from helpers.cli import SCRIPT
from helpers.scripts import environment, run_script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the shells are POSIX's")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
LINES = re.findall(r"^\| (\w+) \| `[^`]*` \| `([^`]*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
"""Each shell, and what the documentation has people put into its settings."""

COMPLETE = {
    "bash": """
ask() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _docplatform_completion docplatform; echo "${COMPREPLY[@]}"; }
ask docplatform visitors t
ask docplatform plan --every ''
""",
    "fish": """
complete -C "docplatform visitors t" | string split -f 1 \\t | string join " "
complete -C "docplatform plan --every " | string join " "
""",
}
"""How each is asked for the completions of two lines."""


def run(shell: str, script: str) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", script],
        env=environment(None, PATH=path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_documentation_has_a_line_for_each_shell() -> None:
    assert [shell for shell, _ in LINES] == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", COMPLETE)
def test_the_line_of_the_documentation_completes(shell: str) -> None:
    script = f"{dict(LINES)[shell]}\n{COMPLETE[shell]}"
    lines = [sorted(line.split()) for line in run(shell, script)]
    assert lines == [["top", "totals", "trend"], ["day", "month", "week"]]


def test_the_line_for_zsh_registers() -> None:
    script = f"autoload -Uz compinit; compinit -u -D\n{dict(LINES)['zsh']}\necho $_comps[docplatform]"
    assert run("zsh", script) == ["_docplatform_completion"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_shells_are_told(shell: str) -> None:
    def complete(*words: str) -> str:
        env = {"_DOCPLATFORM_COMPLETE": f"{shell}_complete", "COMP_CWORD": str(len(words) - 1)}
        # fish gives the word under the cursor in place of its number.
        env |= {"COMP_CWORD": words[-1]} if shell == "fish" else {}
        return run_script(SCRIPT, env={**env, "COMP_WORDS": " ".join(words)}).out

    for words, found in (
        (("docplatform", "pl"), "plan"),
        (("docplatform", "visitors", "tr"), "trend"),
        (("docplatform", "visitors", "trend", "--on-b"), "--on-budget"),
        (("docplatform", "report", "--on-budget", "st"), "stop"),
    ):
        assert found in re.split(r"[\s,]", complete(*words)), words
    for option in ("--store", "-o", "--api-key-file"):
        assert "file" in re.split(r"[\s,]", complete("docplatform", "visitors", "trend", option, "vis"))
