"""What notebooks show. Every value is escaped; a link is made of nothing but https."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docplatform._native import _safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform._native import Job

MOST = 2_000
"""The most of one value that is shown, in characters."""


def text(value: object) -> str:
    """``value`` as HTML text; what cannot be seen or would turn the reading direction is shown instead of obeyed."""
    return escape(_safe(str(value), MOST))


def link(url: str) -> str:
    """``url`` as a link where it is plainly https, else as text."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return text(url)
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or "\\" in url:
        return text(url)
    if any(character.isspace() or not character.isprintable() for character in url):
        return text(url)
    return f'<a href="{escape(url)}" rel="noopener noreferrer" target="_blank">{text(url)}</a>'


def job(value: Job) -> str:
    """A job as a small table."""
    rows = [
        ("status", text(value.status)),
        ("pull request", link(value.pr_link) if value.pr_link else "none"),
        ("repository", text(value.source.repository or "")),
        ("created", text(value.created_at or "")),
    ]
    return _table(f"Job {text(value.id)}", rows)


def fields(caption: str, values: Sequence[tuple[str, object]]) -> str:
    """Names and values as a small table: clients, and listings that are under way."""
    return _table(text(caption), [(text(name), text(value)) for name, value in values])


def _table(caption: str, rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"<table><caption>{caption}</caption><tbody>{cells}</tbody></table>"
