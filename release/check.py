"""Checks that `dist` can be published; with Pythons as arguments, it is tried on them, too."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from release import readme, tryout
from release.archives import ROOT, in_sdist, in_wheel, is_extension, sdist_surprises, wheel_surprises
from release.version import current

LARGEST = 3_500_000
"""Bytes of a wheel."""
FOLDERS = re.compile(rb"(?:/root|/home/[\w.-]+|/Users/[\w.-]+|[A-Z]:\\Users\\[\w.-]+)[/\\][ -~]{0,40}")
"""A folder of a person or of a build machine."""


def machine_paths(wheel: Path) -> Iterator[str]:
    """Folders of the machine that built it that are named in the extension."""
    with zipfile.ZipFile(wheel) as opened:
        extension = b"".join(opened.read(name) for name in opened.namelist() if is_extension(name))
    if f"{ROOT}/".encode() in extension:
        yield f"{wheel.name}: the extension names {ROOT}"
    if found := FOLDERS.search(extension):
        yield f"{wheel.name}: the extension names {found[0].decode()}"


def description(wheel: Path) -> Iterator[str]:
    """Whether an index will show the released README."""
    with zipfile.ZipFile(wheel) as opened:
        texts = [opened.read(name).decode() for name in opened.namelist() if name.endswith("/METADATA")]
    if not any(readme.released(readme.README.read_text(encoding="utf-8")) in text for text in texts):
        yield f"{wheel.name}: its README is not that of release.readme"


def of_wheel(wheel: Path) -> Iterator[str]:
    """All that is wrong with it, as far as looking at it tells."""
    yield from (f"{wheel.name}: {found}" for found in wheel_surprises(in_wheel(wheel)))
    yield from machine_paths(wheel)
    yield from description(wheel)
    if wheel.stat().st_size > LARGEST:
        yield f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {LARGEST:,}"
    name, version, python, abi, platform = wheel.stem.split("-")
    if (name, version) != ("docplatform", current()):
        yield f"{wheel.name} is not version {current()}"
    if (python, abi) not in {("cp311", "abi3"), ("cp314", "cp314t")}:
        yield f"{wheel.name} is neither for the stable ABI of CPython 3.11 nor for CPython 3.14 without the GIL"
    if platform.startswith("linux"):
        yield f"{wheel.name} says nothing of the C library that it needs"


def of_sdist(sdist: Path) -> Iterator[str]:
    """The same of a source distribution."""
    yield from (f"{sdist.name}: {found}" for found in sdist_surprises(in_sdist(sdist)))
    if sdist.name != f"docplatform-{current()}.tar.gz":
        yield f"{sdist.name} is not version {current()}"


def look(wheels: list[Path], sdists: list[Path]) -> None:
    """Ends with what is wrong, or says that nothing is."""
    if not wheels or len(sdists) != 1:
        sys.exit(
            f"dist has {len(wheels)} wheels and {len(sdists)} source distributions: it takes some, and one"
        )
    found = [*of_sdist(sdists[0])]
    for wheel in wheels:
        found += of_wheel(wheel)
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes", flush=True)
    if found:
        sys.exit("\n".join(found))
    print("nothing is missing in them, and nothing else is in them", flush=True)
    tryout.run(sys.executable, "-m", "twine", "check", "--strict", *wheels, *sdists)
    abi3 = [wheel for wheel in wheels if "-abi3-" in wheel.name]
    tryout.run(sys.executable, "-m", "abi3audit", "--strict", *abi3)
    print("twine and abi3audit have nothing to say", flush=True)


def main(pythons: list[str]) -> None:
    """Looks, then tries."""
    dist = ROOT / "dist"
    sdists = sorted(dist.glob("*.tar.gz"))
    look(sorted(dist.glob("*.whl")), sdists)
    for python in pythons:
        tryout.wheel(python)
    if pythons:
        print("the source distribution, built by pip from nothing:", flush=True)
        tryout.tryout(pythons[0], *sdists)


if __name__ == "__main__":
    main(sys.argv[1:])
