"""Starts Chromium or Chrome, for tests that need a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
MISSING = "no Chromium: `make browser` installs Debian's where it may, as root; apt-get install chromium"


@contextmanager
def browser() -> Iterator[Browser]:
    """Skips the test if there is no browser; on GitHub, whose machines have one, it fails instead."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get("GITHUB_ACTIONS"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with (
        sync_playwright() as playwright,
        # The sandbox needs rights that containers do not give, and the page is our own.
        playwright.chromium.launch(executable_path=found, args=["--no-sandbox"]) as browser,
    ):
        yield browser
