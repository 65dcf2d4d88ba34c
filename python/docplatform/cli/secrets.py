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
"""What people try who look for an option that takes the key."""
_KEY = re.compile(
    r"(?<![\w./-])-*[A-Za-z][A-Za-z0-9]*_(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}(?![\w-]|[./]\w)", re.ASCII
)
"""What may well be a key: a prefix, an underscore, a long secret with digits and letters in it. No path, no file with an ending."""
_LEAST = 8
"""A shorter value of the variable is not looked for: it would be found in every other word."""


def on_command_line(arguments: Sequence[str]) -> str | None:
    """What to say where an argument is a key, or an option that would take one. It never repeats the argument."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if any(_OPTION.match(argument) for argument in arguments[:end]):
        return f"the API key is not taken from the command line, where others can read it; {WHERE}"
    if any(holds_key(argument) for argument in arguments):
        return (
            f"an argument holds the API key; it is read from {VARIABLE} alone. As others could read it there and "
            "in your shell's history, consider a new key"
        )
    return None


def holds_key(text: str) -> bool:
    """Whether ``text`` holds the API key that the environment gives."""
    key = os.environ.get(VARIABLE, "")
    return len(key) >= _LEAST and key in text


def is_like_a_key(text: str) -> bool:
    """Whether ``text`` is nothing but what may well be a key."""
    return _KEY.fullmatch(text.strip()) is not None


def may_be_secret(url: str) -> bool:
    """Whether an address holds what is not to be shown: a key, or a name and a password."""
    return "@" in url or "?" in url or hide(url) != url


def hide(text: str) -> str:
    """``text`` with all replaced that may well be a key."""
    return _KEY.sub("[hidden]", text)


def read(path: str | None) -> str | None:
    """The API key from the file at ``path``; ``None``, where that is none and the environment's will do.

    Raises :class:`KeyProblemError` where there is none, or none that could be one.
    """
    key = os.environ.get(VARIABLE, "") if path is None else _from_file(Path(path))
    fault = _fault(key, VARIABLE if path is None else path)
    if fault is None:
        return None if path is None else key
    # The traceback shall not hold it.
    del key
    raise KeyProblemError(fault)


def _fault(key: str, where: str) -> str | None:
    if not key:
        return f"no API key: {WHERE}"
    try:
        # Nothing but the key can be at fault here.
        Client(key, base_url="http://127.0.0.1", project_id="any").close()
    except ValueError as error:
        # Also where it is no text at all.
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
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise KeyProblemError(f"the file of the API key cannot be read: {path}: {reason}") from None
