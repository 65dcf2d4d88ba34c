"""The API key comes from the environment or a file, never from the command line, where every process can read it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from docplatform import ConfigurationError
from docplatform._native import _api_key, _is_like_a_key
from docplatform.cli.exits import KeyProblemError

VARIABLE = "DOCPLATFORM_API_KEY"

WHERE = f"set {VARIABLE}, or name a file that only you can read with --api-key-file"

_OPTION = re.compile(
    r"--?(api[-_]?key|key|api[-_]?token|token|secret|password|bearer|auth\w*)(=|$)", re.IGNORECASE
)
"""Options that people try for the key."""
_KEY = re.compile(
    r"(?<![\w./-])-*[A-Za-z][A-Za-z0-9]*_(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}(?![\w-]|[./]\w)", re.ASCII
)
"""A text that looks like a key: a prefix, an underscore, a long part with digits and letters. A path or a file with an ending does not."""
_MIN_KEY = 8
"""A shorter value of the variable is not searched for, as many words would contain it."""


def on_command_line(arguments: Sequence[str]) -> str | None:
    """The message if an argument has the key of the environment in it, or is an option for one. It never repeats the argument."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if any(_OPTION.match(argument) for argument in arguments[:end]):
        return f"the API key is not accepted on the command line, where others can read it: {WHERE}"
    if any(contains_key(argument) for argument in arguments):
        return (
            f"an argument contains the API key, which others can read there and in your shell's history: create a "
            f"new key, and put it into {VARIABLE} only"
        )
    return None


def contains_key(text: str) -> bool:
    """Whether ``text`` contains the API key of the environment."""
    key = os.environ.get(VARIABLE, "")
    return len(key) >= _MIN_KEY and key in text


def is_like_a_key(text: str) -> bool:
    """Whether ``text`` is nothing but what looks like a key."""
    return _KEY.fullmatch(text.strip()) is not None


def may_be_key(file: str) -> bool:
    """Whether the name of a missing file may be the key itself."""
    return not os.path.lexists(file) and _is_like_a_key(file)


def may_be_secret(url: str) -> bool:
    """Whether a URL may contain a key, or a name and a password."""
    return "@" in url or "?" in url or hide(url) != url


def hide(text: str) -> str:
    """``text`` with everything replaced that looks like a key."""
    return _KEY.sub("[hidden]", text)


def read(path: str | None) -> tuple[str, Any]:
    """Where the API key is from, and the key as ``api_key=`` takes it: from the file at ``path``, or else from the environment.

    Raises :class:`KeyProblemError` if there is no key, or one that cannot be used.
    """
    try:
        found = _api_key(path)
    except ConfigurationError as error:
        problem = KeyProblemError(*error.args)
        problem.__dict__.update(error.__dict__)
        raise problem from None
    if found is None:
        raise KeyProblemError(f"no API key: {WHERE}")
    return found
