"""How a path is shown where there is little room: cut in the middle, as its end says most."""

from __future__ import annotations

from unicodedata import bidirectional, combining

from docplatform._native import _safe

BLANK = "(blank)"
"""What is shown of a path that has no letter to see."""
_JOINERS = "\u200d\ufe0e\ufe0f"
"""What belongs to the character before it, beside combining marks."""


def shown(path: str, most: int) -> str:
    """``path`` as it is shown: what cannot be seen is escaped, and what is too long cut in the middle."""
    # Escaping makes it longer: it is cut before, as paths may be as long as they like, and after.
    return shorten(_safe(shorten(path, 4 * most), 64 * most), most)


def shorten(path: str, most: int) -> str:
    """``path``, or both of its ends with an ellipsis between them: ``most`` characters in all. No mark is parted from its letter."""
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
    """Whether there is nothing to see of a path."""
    return not path.strip()


def is_turned(path: str) -> bool:
    """Whether there is something in it that is read from right to left."""
    return not path.isascii() and any(bidirectional(character) in ("R", "AL", "AN") for character in path)
