"""Writes the README as a package index shows it: ``python -m release.readme [COMMAND...]``.

With a command, README.md has that text only while the command runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

from release.archives import ROOT
from release.version import current

README = ROOT / "README.md"
CLONE = re.compile(r"<!-- clone -->\n.*?<!-- end of clone -->\n+", re.DOTALL)
"""Lines for readers of a clone."""
LINK = re.compile(r"(!?\[[^]]*\])\((?![a-z]+:|#)([^)\s]+)\)")
"""A relative link or picture."""


def released(text: str) -> str:
    """The text with an index's command to install, and with absolute links to the files of this version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def absolute(found: re.Match[str]) -> str:
        kind = "raw" if found[1].startswith("!") else "blob"
        return f"{found[1]}({project['urls']['Repository']}/{kind}/v{current()}/{found[2]})"

    text = CLONE.sub("", text).replace('pip install ".[', f'pip install "{project["name"]}[')
    return LINK.sub(absolute, text)


def main(command: list[str]) -> int:
    """Writes the text, for good or for a command."""
    before, times = README.read_bytes(), README.stat()
    README.write_text(released(before.decode()), encoding="utf-8", newline="\n")
    if not command:
        return 0
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        README.write_bytes(before)
        # A build of this checkout is as new as it was.
        os.utime(README, ns=(times.st_atime_ns, times.st_mtime_ns))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
