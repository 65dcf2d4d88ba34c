"""A stand-in for the service, to test code that uses ``docplatform`` without a network or an account.

``StubServer`` speaks the service's wire format on this machine. It is not a mock: the real client talks to it over a real connection, so
timeouts, retries, paging and cancelling happen as with the service. It needs nothing but the standard library.

A test that creates a job and waits for it::

    from docplatform.testing import StubServer

    def test_pull_request_is_reported():
        with StubServer(active_polls=1) as stub, stub.client() as client:
            job = client.run_job("Fix the typo on the start page", poll_interval=0.01)
            assert job.pr_link == "https://github.com/example/docs/pull/1"
            assert stub.jobs[0].prompts == ["Fix the typo on the start page"]

With pytest, use the fixture that the package registers::

    def test_export(docplatform_stub):
        with docplatform_stub.client() as client:
            assert len(client.visitors().collect()) == 1_000

    @pytest.mark.parametrize("docplatform_stub", [{"visitors": 3}], indirect=True)
    def test_small_export(docplatform_stub): ...

Set failures, the statuses of a job, and slowness::

    stub.fail_next(status=503, times=2, retry_after=1)   # the next two requests
    stub.fail_next(drop=True, path="/message")           # the connection closes without an answer
    stub.script_job("active", "failed")                  # what the next job shows
    stub.jobs[0].status = "archived"                     # or change a job
    stub.latency = 0.2                                   # seconds before each answer

Look at the requests that arrived, with the API key masked, and wait for them without sleeping::

    stub.wait_for(lambda stub: len(stub.requests) == 3)
    assert stub.requests[0].path == "/v2/agent/demo/job"
    assert stub.requests[0].json == {"prompt": "Fix the typo on the start page"}

The visitors are made up, tell the story of a growing site, and are the same in every run. Serve rows of your own as they are, or make them
for the days that are asked for::

    StubServer(visitors=[{"path": "/", "human": 3, "ai": 1, "total": 4}])
    StubServer(visitors=lambda date_from, date_to: read_rows(date_from, date_to))

The server listens on ``127.0.0.1`` and ``::1`` only, and accepts no key but its own: a real key that is sent to it by mistake is refused and
not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docplatform.testing._server import StubServer
    from docplatform.testing._service import StubJob, StubRequest

__all__ = ["StubJob", "StubRequest", "StubServer"]

if not TYPE_CHECKING:
    # pytest imports this package in every run to reach the plugin: the server, and with it asyncio, is loaded when it is first used.
    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from docplatform.testing import _server, _service

        value = getattr(_server if name == "StubServer" else _service, name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
