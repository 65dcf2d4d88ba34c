"""Words that need a second reading, or for which there is a term, are used nowhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
# A word that is not used, and the term to use instead.
INSTEAD = {
    r"who(so)?ever|somebody who": "name them: the caller, another process",
    r"nobody knows|not known to anybody": "unknown",
    r"(its|their) kin|siblings?": "another listing",
    r"bought|buy(s|ing)?|anew": "fetched, fetch again",
    r"at hand|(held|bought) (range|slice)s?": "cached, in the store",
    r"(open|settled) slices?": "still changing, final",
    r"(is|are) told|in the open": "logged, warned",
    r"behind (the|it|its|his|their|a|each|every|all|that|which|this|them)": "after",
    r"so many (more|are|were|of)|so much longer": "a number, or its name",
    r"come again|goes on by itself|taken? up again": "come twice, keeps running, waits again",
    r"letters that are|(is|are|were) no (valid )?text": "invalid characters",
    r"bears? failures|borne|in passing": "temporary failures are retried",
    r"chance may (bring|take)": "chance can explain",
    r"pages=True": "by_path=True",
}
SUFFIXES = {".rs", ".py", ".pyi", ".md", ".ipynb", ".yml", ".c"}
# It lists what others renamed, and this file lists what is out.
APART = {"CHANGELOG.md", "tests/docs/test_words.py"}


def test_no_text_uses_a_word_that_is_out() -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = []
    for name in names.splitlines():
        path = ROOT / name
        if path.suffix not in SUFFIXES or name in APART or not path.is_file():
            continue
        # The words of a name count, too.
        lines = path.read_text(encoding="utf-8").replace("_", " ").splitlines()
        for out, instead in INSTEAD.items():
            word = re.compile(rf"\b({out})\b", re.IGNORECASE)
            places = [number for number, line in enumerate(lines, 1) if word.search(line)]
            found += [f"{name}:{number}: say {instead!r}: {lines[number - 1].strip()}" for number in places]
    assert found == []
