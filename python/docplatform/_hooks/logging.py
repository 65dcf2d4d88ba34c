"""The package's logger. It is imported with the first line to log, so that ``import docplatform`` stays quick."""

from __future__ import annotations

import logging

logger = logging.getLogger("docplatform")
logger.addHandler(logging.NullHandler())

FIELDS = (
    "method",
    "path",
    "project_id",
    "job_id",
    "host",
    "attempt",
    "status",
    "error_type",
    "elapsed",
    "request_id",
)
"""The attributes of every record; ``None`` where the line is about no call, no attempt or no answer."""


def log(level: int, text: str, *values: object) -> None:
    """Logs a line, as the code that called the client."""
    logger.log(level, "%s", text, extra=dict(zip(FIELDS, values, strict=True)), stacklevel=2)
