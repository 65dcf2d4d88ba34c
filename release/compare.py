"""Checks that two wheels are equal byte for byte, except for the build folder that each names."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

# maturin gives the crate itself an address in the list of crates: its folder. RECORD has that list's hash and size.
PLACE = re.compile(rb"path\+file://[^#\"]*#")
RECORDED = re.compile(rb"^(?P<name>.*\.cyclonedx\.json),.*$", re.MULTILINE)


def comparable(name: str, content: bytes) -> bytes:
    """The part of a file that has to be equal."""
    if name.endswith(".cyclonedx.json"):
        return PLACE.sub(b"the folder#", content)
    if name.endswith(".dist-info/RECORD"):
        return RECORDED.sub(rb"\g<name>", content)
    return content


def differences(one: Path, other: Path) -> list[str]:
    """The names of files that differ between the wheels, in content, order, time or mode."""
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        entries = [
            [(entry.filename, entry.date_time, entry.external_attr) for entry in wheel.infolist()]
            for wheel in (first, second)
        ]
        if one.name != other.name or entries[0] != entries[1]:
            return ["their names, or their lists of files"]
        return [
            name
            for name in first.namelist()
            if comparable(name, first.read(name)) != comparable(name, second.read(name))
        ]


def main() -> None:
    """Says what is the same, or what is not."""
    one, other = map(Path, sys.argv[1:])
    if one.read_bytes() == other.read_bytes():
        print(f"{one.name}: byte for byte the same")
        return
    found = differences(one, other)
    if found:
        sys.exit(f"{one} and {other} differ in {', '.join(found)}")
    print(f"{one.name}: the same but for the folder of the build, which the list of crates names")


if __name__ == "__main__":
    main()
