"""The pytest plugin: the fixture ``docplatform_stub``.

pytest loads this module in every run in which the package is installed, so it imports as little as possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform.testing import StubServer

__all__ = ["docplatform_stub"]


@pytest.fixture
def docplatform_stub(request: pytest.FixtureRequest) -> Iterator[StubServer]:
    """A running ``docplatform.testing.StubServer``, a new one for each test, closed after it.

    To change its settings, parametrize it indirectly.

    Example::

        def test_one(docplatform_stub):
            with docplatform_stub.client() as client:
                client.create_job("Update the changelog")
            assert docplatform_stub.jobs[0].status == "active"

        @pytest.mark.parametrize("docplatform_stub", [{"visitors": 3}], indirect=True)
        def test_two(docplatform_stub): ...
    """
    from docplatform.testing import StubServer

    with StubServer(**getattr(request, "param", {})) as stub:
        yield stub
