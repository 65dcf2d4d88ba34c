"""The version in Cargo.toml. As a program, checks that a tag is that version and that the changelog has it."""

from __future__ import annotations

import re
import sys
import tomllib

from release.archives import ROOT


def current() -> str:
    """The version of this checkout."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version: str = manifest["package"]["version"]
    return version


def wrong(tag: str, version: str, changelog: str) -> str | None:
    """Why the tag cannot be released."""
    if tag != f"v{version}":
        return f"the tag is {tag}, and Cargo.toml has {version}"
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        return f"CHANGELOG.md has no heading '## {version} - YYYY-MM-DD'"
    return None


if __name__ == "__main__":
    sys.exit(wrong(sys.argv[1], current(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
