"""Marks of tests that need a system of some kind."""

from __future__ import annotations

import sys

import pytest

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="signals, pipes, links, permissions and limits are POSIX's"
)
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="looks into /proc, or stands in for what Linux alone has"
)
