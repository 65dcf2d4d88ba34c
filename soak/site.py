"""The key and each project's table of visitors, for the driver and the server."""

from __future__ import annotations

from typing import Any

KEY = "dp_soak0123456789abcdefghij"
MOST_ROWS = 900


def row(project: str, number: int) -> dict[str, Any]:
    """A row of a project's table."""
    human, ai = number * 7919 % 1009, number * 104729 % 499
    return {
        "path": f"/{project}/{number}",
        "human": human,
        "ai": ai,
        "total": human + ai - number % 3 % (ai + 1),
    }


def length(project: str) -> int:
    """How many rows a project has, which its name says."""
    return int(project.rpartition("-")[2])


def table(project: str) -> list[dict[str, Any]]:
    """The truth."""
    return [row(project, number) for number in range(length(project))]
