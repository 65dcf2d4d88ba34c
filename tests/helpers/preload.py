"""Libraries in C that stand in for the system's own in a process of a test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def build(name: str, directory: Path) -> Path:
    """The library made of ``name``.c, for ``LD_PRELOAD``; without a C compiler the test is skipped."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip(f"a {name} of the test's own needs a C compiler")
    source, library = Path(__file__).with_name(f"{name}.c"), directory / f"{name}.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return library
