"""Searches for secrets in everything that can be shown of an object."""

from __future__ import annotations

import copy
import gc
import pickle
import pprint
import re
import traceback
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from docplatform import ConfigurationError

MOST_SHOWN = 8
"""The most consecutive characters of a secret that may be shown: its prefix is known, and the last four letters tell keys apart."""


def pattern(secrets: Iterable[str]) -> re.Pattern[str]:
    """Finds every part of a secret that is longer than what may be shown of it, and a short secret as a whole."""
    size = MOST_SHOWN + 1
    parts = {secret[i : i + size] for secret in secrets for i in range(max(1, len(secret) - size + 1))}
    return re.compile("|".join(map(re.escape, sorted(parts))) or "(?!)")


class Search:
    """The texts that were looked at, and their places.

    A secret is found by every part of it that is longer than what may be shown of it.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secret = pattern(secrets)
        self.texts: list[tuple[str, str]] = []

    def text(self, where: str, text: str | bytes) -> None:
        """A text that was shown."""
        self.texts.append((where, text if isinstance(text, str) else text.decode("latin-1")))

    def thing(self, where: str, thing: object) -> None:
        """Everything that can be shown of an object."""
        shown: list[Callable[[Any], object]] = [
            repr,
            str,
            ascii,
            format,
            pprint.pformat,
            bytes_of_pickle,
            reduced,
            copied,
        ]
        for show in shown:
            self.text(f"{where}: {show.__name__}", str(show(thing)))
        for name in dir(thing):
            value = getattr(thing, name, None)
            self.text(f"{where}.{name}", f"{value!r} {getattr(value, '__doc__', None)}")
        self.text(f"{where}: fields", repr(getattr(thing, "__dict__", None)))
        for text in reachable(thing):
            self.text(f"{where}: reachable", text)

    def error(self, where: str, error: BaseException) -> None:
        """An exception, and all that comes with it."""
        shown = traceback.TracebackException.from_exception(error, capture_locals=True, compact=False)
        self.text(f"{where}: traceback with locals", "".join(shown.format()))
        here: BaseException | None = error
        while here is not None:
            self.thing(where, here)
            self.text(f"{where}: args", repr(here.args))
            here = here.__cause__ or here.__context__

    def check(self) -> None:
        """Fails if a secret was found."""
        found = [where for where, text in self.texts if self._secret.search(text)]
        assert not found, f"{len(found)} places, such as {found[:20]}"


def bytes_of_pickle(thing: object) -> str:
    try:
        return "".join(pickle.dumps(thing, protocol).decode("latin-1") for protocol in range(6))
    except (TypeError, pickle.PicklingError) as refused:
        return str(refused)


def reduced(thing: object) -> str:
    try:
        return repr(thing.__reduce_ex__(4))
    except TypeError as refused:
        return str(refused)


def copied(thing: object) -> str:
    texts = []
    for copier in (copy.copy, copy.deepcopy):
        try:
            texts.append(repr(copier(thing)))
        except (TypeError, ConfigurationError) as refused:
            texts.append(str(refused))
    return " ".join(texts)


def reachable(thing: object) -> Iterator[str | bytes]:
    """Texts that the garbage collector can reach from an object, without going through code and frames."""
    stop = (types.ModuleType, types.FrameType, types.TracebackType, types.FunctionType, type)
    todo, known = [thing], set()
    while todo:
        here = todo.pop()
        if id(here) in known or isinstance(here, stop):
            continue
        known.add(id(here))
        if isinstance(here, str | bytes):
            yield here
        todo.extend(gc.get_referents(here))


def shown(error: BaseException | None) -> str:
    """Text, arguments, attributes, notes and traceback of ``error`` and of all that it rests on."""
    if error is None:
        return ""
    own = [str(error), repr(error), repr(error.args), repr(vars(error))]
    rests_on = [shown(error.__cause__), shown(error.__context__)]
    return "\n".join([*own, *traceback.format_exception(error), *rests_on])
