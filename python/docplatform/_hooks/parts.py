"""Errors of Python code whose settings each face names in its own way, as those of the extension."""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """A setting with a value, as a part of a message."""

    name: str
    words: str
    value: str

    @classmethod
    def to(cls, name: str, value: str) -> Setting:
        """The setting ``name`` with ``value``."""
        return cls(name, f'{name}="{value}"', value)


def value_error(*parts: str | Setting) -> ValueError:
    """A ``ValueError`` of these parts."""
    error = ValueError("".join(part if isinstance(part, str) else part.words for part in parts))
    error.__dict__["_parts"] = parts
    return error
