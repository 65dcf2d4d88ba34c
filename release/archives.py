"""Compares the contents of a release's files with what they must contain."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

SDIST = """
.cargo/config.toml CHANGELOG.md Cargo.lock Cargo.toml LICENSE PKG-INFO README.md build.rs clippy.toml pyproject.toml
""".split()
"""Beside `src` and `python`."""

METADATA = """
METADATA RECORD WHEEL entry_points.txt licenses/LICENSE sboms/docplatform.cyclonedx.json
""".split()
"""In the wheel's `.dist-info`."""

EXTENSION = re.compile(r"docplatform/_native\.(?:abi3\.so|pyd|cp(?:ython-)?314t-[\w-]+\.(?:so|pyd))")


def is_extension(name: str) -> bool:
    """Whether a file of a wheel is the compiled part: one name for each kind of build."""
    return EXTENSION.fullmatch(name) is not None


def sources(folder: str) -> set[str]:
    """The files of a folder of the project, but for what Python and builds put beside them."""
    found = (path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in found
        if "__pycache__" not in path.parts and path.suffix not in {".pyc", ".so", ".pyd"}
    }


def in_wheel(path: Path) -> set[str]:
    """The names of its files, those of `.dist-info` without that folder's own."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/")]
    return {name.partition(".dist-info/")[2] or name for name in names}


def in_sdist(path: Path) -> set[str]:
    """The names of its files, without the folder that they are in."""
    with tarfile.open(path) as sdist:
        members = sdist.getmembers()
    return {
        member.name.partition("/")[2] if member.isfile() else f"{member.name}, which is no file"
        for member in members
        if not member.isdir()
    }


def wheel_surprises(names: set[str]) -> list[str]:
    """Files that a wheel lacks, or should not have."""
    package = {name.removeprefix("python/") for name in sources("python")}
    extension = {name for name in names if is_extension(name)} or {"docplatform/_native.abi3.so"}
    return _difference(names, package | set(METADATA) | extension)


def sdist_surprises(names: set[str]) -> list[str]:
    """The same of a source distribution."""
    return _difference(names, sources("src") | sources("python") | set(SDIST))


def _difference(there: set[str], expected: set[str]) -> list[str]:
    return [f"unexpected: {name}" for name in sorted(there - expected)] + [
        f"missing: {name}" for name in sorted(expected - there)
    ]
