"""Which paths are files for machines; and paths for display, shortened in the middle, because their ends say most."""

from __future__ import annotations

import re
from unicodedata import bidirectional, combining

from docplatform._native import _safe

MACHINE = re.compile(r"\.(json|xml|txt)$", re.IGNORECASE)
"""A file that is made for machines, such as ``/llms.txt``: people are not expected to read it, and it is no page to improve."""
BLANK = "(blank)"
"""Shown instead of a path without a visible character."""
_JOINERS = "\u200d\ufe0e\ufe0f"
"""Characters that belong to the one before, besides combining marks."""


def shown(path: str, most: int) -> str:
    """``path`` for display: invisible characters are escaped, and a long path is cut in the middle."""
    # Cut before escaping, because paths may be very long, and again after it, because it makes them longer.
    return shorten(_safe(shorten(path, 4 * most), 64 * most), most)


def shorten(path: str, most: int) -> str:
    """``path``, or both of its ends with an ellipsis between them: ``most`` characters in all. Combining marks stay with their letters."""
    if len(path) <= most:
        return path
    end = (most - 1) // 2
    start = len(path) - (most - 1 - end)
    while end and _belongs(path[end]):
        end -= 1
    while start < len(path) and _belongs(path[start]):
        start += 1
    return f"{path[:end]}…{path[start:]}"


def _belongs(character: str) -> bool:
    return bool(combining(character)) or character in _JOINERS


def is_blank(path: str) -> bool:
    """Whether a path is empty or white space."""
    return not path.strip()


def is_turned(path: str) -> bool:
    """Whether a part of it is read from right to left."""
    return not path.isascii() and any(bidirectional(character) in ("R", "AL", "AN") for character in path)
