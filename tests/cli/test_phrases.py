"""Settings and advice of the package's messages, in the words of both faces."""

from __future__ import annotations

import pytest

from docplatform._native import _all_parts
from docplatform.cli import phrases
from helpers.cli import PYTHONS

pytestmark = pytest.mark.one_python

PARTS = {name: (words, value) for name, words, value in _all_parts()}
ADVICE = {name: part for name, part in PARTS.items() if isinstance(part[1], dict)}


class ToldError(ValueError):
    """An error of one part."""

    def __init__(self, name: str) -> None:
        words, value = PARTS[name]
        super().__init__(words)
        self._parts = ("Beginning", (name, words, value))


def test_the_command_line_knows_all_that_messages_name_and_nothing_else() -> None:
    assert phrases.SETTINGS.keys() == PARTS.keys() - ADVICE.keys()
    assert phrases.ADVICE.keys() | phrases.LINES.keys() == ADVICE.keys()
    assert not phrases.ADVICE.keys() & phrases.LINES.keys()


@pytest.mark.parametrize("name", PARTS)
def test_each_part_has_words_in_both_faces(name: str) -> None:
    words, value = PARTS[name]
    assert words
    told = ToldError(name)
    sentence = phrases.sentence(told)
    lines = phrases.lines(told, phrases.command)
    assert sentence != "Beginning" or lines
    assert not PYTHONS.search(" ".join((sentence, *lines)))
    if name in ADVICE:
        assert phrases.sentence(told, advises=False) == "Beginning"
    else:
        assert value is None
        assert words == name
