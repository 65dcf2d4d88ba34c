"""A service that goes away in the middle of an export and comes back on the same port (row B13)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from docplatform.testing import StubServer
from helpers import Face
from helpers.exports import eventually
from helpers.pages import rows

pytestmark = pytest.mark.stub(visitors=rows(0, 3_000))


@contextmanager
def away(stub: StubServer, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The service is not there, and comes back once it was missed."""

    def restart() -> None:
        eventually(lambda: "attempt 1 failed" in caplog.text)
        stub.start()

    stub.close()
    with ThreadPoolExecutor(1) as pool:
        restarting = pool.submit(restart)
        yield
        restarting.result()


@pytest.mark.row("B13")
def test_an_export_survives_a_restart_within_its_retries(
    face: Face, given: StubServer, caplog: pytest.LogCaptureFixture
) -> None:
    client = face.client(given, max_retries=30)
    visitors = client.visitors()
    got = [face.next(visitors)]
    with away(given, caplog):
        got += face.all(visitors)
    assert got == rows(0, 3_000)
