"""The package's logger. It is imported with the package if ``logging`` is, otherwise by the first client: so ``import docplatform`` stays quick."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

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


def watch(name: str, function: Callable[[Any], object], value: object, values: tuple[object, ...]) -> None:
    """Calls a function that only watches; what it raises is logged, with the attributes of what it watches."""
    try:
        function(value)
    except Exception:
        text = "%s raised an error, which changes nothing"
        logger.warning(text, name, exc_info=True, extra=dict(zip(FIELDS, values, strict=True)))


def log(level: int, text: str, values: tuple[object, ...]) -> None:
    """Logs a line, as the code that called the client."""
    logger.log(level, "%s", text, extra=dict(zip(FIELDS, values, strict=True)), stacklevel=2)
