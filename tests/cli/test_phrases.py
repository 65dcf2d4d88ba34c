"""Settings and advice of the package's messages, in the words of both faces."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

import docplatform
from docplatform._native import _all_parts
from docplatform.cli import phrases
from helpers.cli import PYTHONS

pytestmark = pytest.mark.one_python

PARTS = {name: (words, value) for name, words, value in _all_parts()}
ADVICE = {name for name, (_, value) in PARTS.items() if isinstance(value, dict)}


class ToldError(ValueError):
    """An error with one part after a text."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(name)
        self._parts = ("Beginning", (name, PARTS[name][0], value))


def test_the_command_line_knows_each_setting_and_advice_and_no_other() -> None:
    assert phrases.SETTINGS.keys() == PARTS.keys() - ADVICE
    assert phrases.ADVICE.keys() | phrases.LINES.keys() == ADVICE
    assert not phrases.ADVICE.keys() & phrases.LINES.keys()


@pytest.mark.parametrize("name", PARTS)
def test_each_part_has_words_in_both_faces(name: str) -> None:
    words, value = PARTS[name]
    assert words
    values = [value]
    if name in ADVICE:
        values.append(
            {fact: True if given is False else 7 if given == 0 else "x" for fact, given in value.items()}
        )
    for one in values:
        told = ToldError(name, one)
        sentence, lines = phrases.sentence(told), phrases.lines(told, phrases.command)
        assert sentence != "Beginning" or lines
        assert not PYTHONS.search(" ".join((sentence, *lines)))
        assert (phrases.sentence(told, advises=False) == "Beginning") is (name in ADVICE)


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("/guides/a.md", "/guides/a.md"),
        ("--base-url", "--base-url"),
        (r"C:\docs\my.db", r"C:\docs\my.db"),
        ("C:\\my docs\\", '"C:\\my docs\\\\"'),
        ("search:x&calc", '"search:x&calc"'),
        ("search:l'été; a|b>c", '"search:l\'été; a|b>c"'),
        ('search:"&calc&"', '"search:?&calc&?"'),
        ("$(calc) `x` “y” %CMDCMDLINE:~0,1%", '"?(calc) ?x? ?y? ?CMDCMDLINE:~0,1?"'),
        ("/caf%C3%A9", '"/caf%C3%A9"'),
        ("-a.b", '"-a.b"'),
        ("#1", '"#1"'),
        ("", '""'),
    ],
)
def test_on_windows_no_word_of_a_reader_leaves_its_quotes(
    word: str, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phrases, "sys", SimpleNamespace(platform="win32"))
    assert phrases.quoted("docplatform", word) == f"docplatform {there}"


@pytest.mark.parametrize("name", ["“q” x", "„q", "$1 `y`", '"é" %1', "50%C3"])
def test_a_name_is_known_as_windows_and_a_code_page_show_it(name: str) -> None:
    copied = phrases.quotable(name)
    ascii_only = copied.encode("ascii", "backslashreplace").decode()
    assert [phrases.is_copy(text, name) for text in (name, copied, ascii_only, "?")] == [True] * 3 + [False]


def test_an_error_is_pickled_with_its_parts() -> None:
    with pytest.raises(docplatform.ConfigurationError, match="pass base_url= or set") as caught:
        docplatform.Client("key")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert "give --base-url or set" in phrases.sentence(again).replace("pass", "give")
