"""Writes the parts of docs/reference/ that repeat docstrings and the commands' ``--help``.

    python -m release.reference            rewrites them
    python -m release.reference --check    fails if one is stale

Such a part is between ``<!-- docplatform.Job -->``, or ``<!-- commands -->``, and ``<!-- end of ... -->``. It needs what builds the site.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from runpy import run_path
from typing import TYPE_CHECKING

from release.archives import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
PART = re.compile(
    r"^<!-- (commands|docplatform\.[\w.]+) -->\n.*?^<!-- end of \1 -->$", re.MULTILINE | re.DOTALL
)
WIDTH = 76
"""How many characters of code fit into a line of a page."""


def written(page: str) -> str:
    """The page as it should be."""
    described = run_path(str(ROOT / "docs" / "stubs.py"))["described"]

    def part(found: re.Match[str]) -> str:
        name = found[1]
        text = commands() if name == "commands" else described(name)
        return f"<!-- {name} -->\n\n{text.strip()}\n\n<!-- end of {name} -->"

    return PART.sub(part, page)


def commands() -> str:
    """The ``--help`` of each command."""
    from docplatform.cli.app import cli

    return "\n".join(_helped(cli, "docplatform"))


def _helped(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[str]:
    import click

    settings = {**command.context_settings, "max_content_width": WIDTH, "terminal_width": WIDTH}
    context = click.Context(command, info_name=name, parent=above, **settings)
    text = command.get_help(context)
    if name in ("demo", "stub"):
        # These two are argparse's, as they need no extra.
        line = [sys.executable, "-m", "docplatform", name, "--help"]
        env = os.environ | {"COLUMNS": str(WIDTH)}
        text = subprocess.run(line, env=env, capture_output=True, text=True, check=True).stdout.rstrip()
    yield f"## `{context.command_path}`\n\n```text\n{text}\n```\n"
    for part, below in getattr(command, "commands", {}).items():
        yield from _helped(below, part, context)


def main(arguments: list[str]) -> int:
    """Write or check."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(__doc__)
    stale = False
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = written(text)
        if arguments and new != text:
            print(f"{page.name} is stale: run python -m release.reference", file=sys.stderr)
            stale = True
        elif new != text:
            page.write_text(new, encoding="utf-8")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
