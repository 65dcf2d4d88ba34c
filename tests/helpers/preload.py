"""C libraries that replace the system's threads, clock, disk or resolver in a process of a test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def compiler() -> str | None:
    """A C compiler, if there is one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(name: str, directory: Path) -> Path:
    """The library made of ``name``.c, for ``LD_PRELOAD``; without a C compiler the test is skipped."""
    found = compiler()
    if found is None:
        pytest.skip(f"a {name} of the test's own needs a C compiler")
    source, library = Path(__file__).with_name(f"{name}.c"), directory / f"{name}.so"
    command = [found, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return library


class Resolver:
    """A table of names; ``environment`` is for the process that is to believe it."""

    def __init__(self, library: Path, directory: Path) -> None:
        self._table = directory / "hosts"
        self._asked = directory / "hosts.asked"
        self._names: dict[str, str] = {}
        self.environment = {"LD_PRELOAD": str(library), "TEST_HOSTS": str(self._table)}

    def leads(self, name: str, *addresses: str, after: float = 0) -> None:
        """From now on; without addresses to nowhere. ``after`` is in seconds."""
        self._names[name] = " ".join([name, str(round(after * 1_000)), *addresses])
        new = self._table.with_suffix(".new")
        new.write_text("\n".join(self._names.values()) + "\n")
        new.replace(self._table)

    @property
    def asked(self) -> list[str]:
        """The names that were looked up."""
        return self._asked.read_text().split() if self._asked.exists() else []
