"""For tests of what ``AsyncClient``'s methods return: sixteen of them, and the loops to run them in."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeAlias, cast

import pytest
import uvloop

from docplatform import AsyncClient
from helpers import AsyncFace

AnyCoroutine: TypeAlias = Coroutine[Any, Any, Any]
Call: TypeAlias = Callable[[AsyncClient], Coroutine[Any, Any, Any]]

CALLS: dict[str, Call] = {
    "AsyncClient.create_job": lambda c: c.create_job("Fix it"),
    "AsyncClient.get_job": lambda c: c.get_job("job-1"),
    "AsyncClient.send_message": lambda c: c.send_message("job-1", "And that"),
    "AsyncClient.wait_for_job": lambda c: c.wait_for_job("job-1"),
    "AsyncClient.run_job": lambda c: c.run_job("Fix it"),
    "AsyncClient.follow_up": lambda c: c.follow_up("job-1", "And that"),
    "AsyncClient.visitor_totals": lambda c: c.visitor_totals(),
    "AsyncClient.request": lambda c: c.request("GET", "/v2/agent/{project_id}/job/job-1"),
    "AsyncClient.close": lambda c: c.close(),
    "AsyncClient.__aenter__": lambda c: c.__aenter__(),
    "AsyncClient.__aexit__": lambda c: c.__aexit__(None, None, None),
    "AsyncRows.__anext__": lambda c: c.visitors().__anext__(),
    "AsyncVisitors.totals": lambda c: c.visitors().totals(),
    "AsyncRows.collect": lambda c: c.visitors().collect(),
    "AsyncRows.to_dicts": lambda c: c.visitors().to_dicts(),
    "AsyncPages.__anext__": lambda c: cast("Any", c.visitors().pages().__anext__()),
}
every_call = pytest.mark.parametrize(("name", "call"), CALLS.items(), ids=CALLS)


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def face(request: pytest.FixtureRequest) -> Iterator[AsyncFace]:
    """The async face alone, on each loop; for a module to import in place of the common one."""
    face = AsyncFace(request.param)
    yield face
    face.close()
