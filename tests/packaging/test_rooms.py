"""The rooms of the core import only those above them (CONTRIBUTING.md), and no two rooms need each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

SRC = Path(__file__).parents[2] / "src"
# Each may import those before it; `job` and `table` stand side by side.
ORDER = (
    "clock text error dates config http listing store budget client job table export slices python".split()
)
APART = {("table", "job")}
COMMENT = re.compile(r"//[^\n]*")
PATH = re.compile(r"\bcrate::(\w+)")
GROUP = re.compile(r"\bcrate::\{(.*?)\};", re.DOTALL)
RELATIVE = re.compile(r"\b((?:super::)+)(\w+)")


def room(file: Path) -> str:
    return file.relative_to(SRC).with_suffix("").parts[0]


def imports(file: Path) -> set[str]:
    """The rooms that a file names outside of its own tests and comments."""
    text = COMMENT.sub("", file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod ")[0])
    found = set(PATH.findall(text))
    for names in GROUP.findall(text):
        found |= set(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{.*?\}", "", names, flags=re.DOTALL)))
    depth = len(file.relative_to(SRC).parts) - (file.name == "mod.rs")
    found |= {name for supers, name in RELATIVE.findall(text) if supers.count("super") >= depth}
    return found & set(ORDER) - {room(file)}


def test_each_room_imports_only_the_rooms_above_it() -> None:
    files = [file for file in SRC.rglob("*.rs") if file.name != "lib.rs"]
    wrong = [
        f"{file.relative_to(SRC)} imports {name}"
        for file in sorted(files)
        for name in sorted(imports(file))
        if ORDER.index(name) >= ORDER.index(room(file)) or (room(file), name) in APART
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_has_a_place_in_the_order() -> None:
    assert {room(file) for file in SRC.rglob("*.rs")} - {"lib"} == set(ORDER)


def test_the_walk_from_a_call_to_the_socket_has_twelve_types_of_their_rooms() -> None:
    text = (SRC.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = text.partition("## From a call to the socket\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\| `(\w+)` \| `([\w/]+)/` \|", walk, re.MULTILINE)
    assert len(steps) == 12
    for name, folder in steps:
        found = re.compile(rf"\b(struct|trait|enum) {name}\b")
        assert any(found.search(file.read_text(encoding="utf-8")) for file in (SRC / folder).rglob("*.rs")), (
            name
        )


def test_hardly_a_file_lies_flat() -> None:
    assert sorted(file.name for file in SRC.glob("*.rs")) == ["clock.rs", "error.rs", "lib.rs"]


def test_every_file_says_what_it_is_for() -> None:
    silent = [
        file for file in SRC.rglob("*.rs") if not re.match(r"//! [A-Z`].*", file.read_text(encoding="utf-8"))
    ]
    assert not silent


LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
SETTING = re.compile(r'^        [A-Z]\w+ = "(\w+)",$', re.MULTILINE)


def test_the_core_s_sentences_hold_no_words_of_a_face() -> None:
    """Arguments, calls and constants of Python, and options and commands of a shell: each face has its own (``text/message.rs``)."""
    names = SETTING.findall((SRC / "text" / "message.rs").read_text(encoding="utf-8"))
    several = "|".join(name for name in names if "_" in name)
    of_a_face = re.compile(
        rf"(?<!{{)\b({several})\b|\b({'|'.join(names)})=|\b(True|False|None)\b|\b[a-z_]+\(|\bclient\.|(^|\s)--[a-z]|docplatform (job|sync) "
    )
    found = []
    for file in sorted(SRC.rglob("*.rs")):
        if room(file) != "python":
            text = re.sub(
                r"(^|\s)//[^\n]*|'\"'", "", file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod ")[0]
            )
            # SQL has names of its own.
            literals = [
                one
                for one in LITERAL.findall(text)
                if " " in one and not re.search(r"SELECT|WHERE|INSERT|PRAGMA|\bAND\b|, begun", one)
            ]
            found += [f"{file.name}: {one}" for one in literals if of_a_face.search(one)]
    assert not found, "\n".join(found)
