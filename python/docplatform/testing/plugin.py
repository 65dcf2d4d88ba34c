"""The pytest plugin: the fixture :func:`docplatform_stub`.

pytest loads this module in every run where the package is installed, so it imports next to nothing.
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
    """A started :class:`docplatform.testing.StubServer`, fresh for each test and closed after it.

    It has the defaults of ``StubServer``. Others are given by parametrizing it indirectly::

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
