"""The package's logger. It is imported with the first line to log, so that ``import docplatform`` stays quick."""

from __future__ import annotations

import logging

logger = logging.getLogger("docplatform")
logger.addHandler(logging.NullHandler())
