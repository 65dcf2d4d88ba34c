"""Errors and log lines show nothing of a request's URL but what is meant to be shown (row H9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from docplatform import DocPlatformError
from helpers import AnyClient
from helpers.connection import answer
from helpers.faults import APPLY, FIN, READ_ALL, SEND, Script
from helpers.wire import Wire

QUERY, PROJECT, JOB_ID = "walrus-and-elephants", "otter-of-the-customer", "heron-of-the-customer"
"""An error names the ids, as its owner needs them; the query it does not, and a log line none of the three."""

CALLS: dict[str, Callable[[AnyClient], Any]] = {
    "write by hand": lambda client: client.request("POST", "/v3/things", params={"q": QUERY}, json={}),
    "job": lambda client: client.get_job(JOB_ID),
}
ENDS: dict[str, Script] = {
    "unanswered": [FIN],
    "no HTTP": [SEND(b"SSH-2.0-OpenSSH_9.6\r\n"), FIN],
    "no JSON": [SEND(answer(200, b"<html>"))],
    "led elsewhere": [SEND(answer(302, None, "Location: /login"))],
    "refused": [SEND(answer(404))],
}


def watched(wire: Wire, **settings: Any) -> AnyClient:
    wire.secrets.append(QUERY)
    return wire.client(**{"project_id": PROJECT, "timeout": 0.2, "max_retries": 1, **settings})


@pytest.mark.row("H9")
@pytest.mark.parametrize("call", ["job", "write by hand"])
@pytest.mark.parametrize("end", ENDS)
def test_no_failure_of_an_answer_shows_its_url(
    wire: Wire, caplog: pytest.LogCaptureFixture, call: str, end: str
) -> None:
    steps = [READ_ALL, *([APPLY] if call == "write by hand" else []), *ENDS[end]]
    wire.server.rest(*steps)
    client = watched(wire, base_url=f"{wire.server.url}/behind")
    error = wire.fails(DocPlatformError, CALLS[call], client)
    sent = wire.server.requests[0].target
    assert sent.startswith("/behind/v")
    assert any(told in sent for told in (QUERY, PROJECT, JOB_ID))
    assert "behind" not in str(error)
    assert not any(
        name in line.getMessage() for line in caplog.records for name in (PROJECT, JOB_ID, "behind")
    )
