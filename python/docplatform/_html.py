"""What notebooks show. Every value is escaped; a link is made of nothing but https."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docplatform._native import _safe

if TYPE_CHECKING:
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
    cells = "".join(f"<tr><th>{name}</th><td>{cell}</td></tr>" for name, cell in rows)
    return f"<table><caption>Job {text(value.id)}</caption><tbody>{cells}</tbody></table>"
