"""The API key comes from the environment or a file, never from the command line, where every process can read it."""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from docplatform import Client
from docplatform.cli.exits import KeyProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "DOCPLATFORM_API_KEY"

WHERE = f"set {VARIABLE}, or name a file that only you can read with --api-key-file"

_OPTION = re.compile(
    r"--?(api[-_]?key|key|api[-_]?token|token|secret|password|bearer|auth\w*)(=|$)", re.IGNORECASE
)
"""Options that people try for the key."""
_KEY = re.compile(
    r"(?<![\w./-])-*[A-Za-z][A-Za-z0-9]*_(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}(?![\w-]|[./]\w)", re.ASCII
)
"""What looks like a key: a prefix, an underscore, a long part with digits and letters. Not a path, nor a file with an ending."""
_MIN_KEY = 8
"""A shorter value of the variable is not searched for, as many words would contain it."""


def on_command_line(arguments: Sequence[str]) -> str | None:
    """The message if an argument is a key, or an option for one. It never repeats the argument."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if any(_OPTION.match(argument) for argument in arguments[:end]):
        return f"the API key is not taken from the command line, where others can read it; {WHERE}"
    if any(contains_key(argument) for argument in arguments):
        return (
            f"an argument contains the API key; it is read from {VARIABLE} alone. As others could read it there and "
            "in your shell's history, consider a new key"
        )
    return None


def contains_key(text: str) -> bool:
    """Whether ``text`` contains the API key of the environment."""
    key = os.environ.get(VARIABLE, "")
    return len(key) >= _MIN_KEY and key in text


def is_like_a_key(text: str) -> bool:
    """Whether ``text`` is nothing but what looks like a key."""
    return _KEY.fullmatch(text.strip()) is not None


def may_be_secret(url: str) -> bool:
    """Whether a URL may contain a key, or a name and a password."""
    return "@" in url or "?" in url or hide(url) != url


def hide(text: str) -> str:
    """``text`` with everything replaced that looks like a key."""
    return _KEY.sub("[hidden]", text)


def read(path: str | None) -> str | None:
    """The API key in the file at ``path``; without a file, ``None`` if the environment's key can be used.

    Raises :class:`KeyProblemError` if there is no key, or one that cannot be used.
    """
    key = os.environ.get(VARIABLE, "") if path is None else _from_file(Path(path))
    fault = _fault(key, VARIABLE if path is None else path)
    if fault is None:
        return None if path is None else key
    # Keeps the key out of the traceback.
    del key
    raise KeyProblemError(fault)


def _fault(key: str, where: str) -> str | None:
    if not key:
        return f"no API key: {WHERE}"
    try:
        # Only the key can be wrong here.
        Client(key, base_url="http://127.0.0.1", project_id="any").close()
    except ValueError as error:
        return f"the API key in {where} {str(error).removeprefix('api_key ')}"
    return None


def _from_file(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO) and os.name == "posix":
                raise KeyProblemError(
                    f"others can read the file of the API key: chmod 600 {shlex.quote(str(path))}"
                )
            return file.read(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise KeyProblemError(f"the file of the API key cannot be read: {path}: {reason}") from None
