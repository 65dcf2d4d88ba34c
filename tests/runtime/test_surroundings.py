"""What a process has to offer, or has not: descriptors, a clock, a proxy, a trust store."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from docplatform import ConnectError
from docplatform.testing import StubServer
from helpers import Face
from helpers.scripts import run_script

# -- descriptors ---------------------------------------------------------------------------------

NO_DESCRIPTORS = """
import asyncio, errno, json, os, resource, sys
import docplatform

client, later = docplatform.Client(max_retries=0), docplatform.AsyncClient(max_retries=0)
calls = [
    lambda: client.create_job("Fix it"),
    lambda: client.request("POST", "/v2/agent/{project_id}/job", json={"prompt": "Fix it"}),
]
reads = [lambda: client.get_job("job-1"), lambda: next(client.visitors())]
loop = asyncio.new_event_loop()
calls += [lambda: loop.run_until_complete(later.create_job("Fix it"))]
reads += [lambda: loop.run_until_complete(later.visitor_totals())]
if sys.argv[1] == "warm":
    warm = docplatform.Client()
    warm.visitor_totals()
loop.run_until_complete(asyncio.sleep(0))

resource.setrlimit(resource.RLIMIT_NOFILE, (32, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
for call in calls + reads:
    try:
        print(call())
    except docplatform.ConnectError as error:
        assert error.outcome == ("not_sent" if call in calls else None), error.outcome
        assert "Too many open files" in str(error)
    except OSError as error:
        assert sys.argv[1] == "cold" and error.errno == errno.EMFILE, error
        assert "docplatform" in str(error)
while held:
    os.close(held.pop())
for call in calls + reads:
    assert call()
"""


@pytest.mark.row("I11")
@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
@pytest.mark.parametrize("at", ["cold", "warm"])
def test_without_descriptors_a_call_says_so_and_recovers(stub: StubServer, at: str) -> None:
    ended = run_script(NO_DESCRIPTORS, at, stub=stub)
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert len(stub.jobs) == 3


# -- the clock -----------------------------------------------------------------------------------


@pytest.mark.row("I18")
def test_a_clock_that_tests_have_stopped_changes_nothing(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = face.client(stub)
    # As libraries do that travel in time; asyncio's own clock is left, or its loop would stand still.
    for name in ("time", "time_ns", "sleep", "gmtime", "localtime"):
        monkeypatch.setattr(time, name, lambda *_: 0)
    stub.fail_next(502, path="/job/")
    job = face.run(client.run_job("Fix it", poll_interval=0.01, timeout=60))
    assert job.is_final
    stub.script_job("active")
    job = face.run(client.create_job("Fix it"))
    with pytest.raises(TimeoutError):
        face.run(client.wait_for_job(job, timeout=0.05, poll_interval=0.01))


# -- proxies -------------------------------------------------------------------------------------


class RecordingProxy:
    """Answers what it is asked with an empty job, and keeps the heads of the requests."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        body = b'{"id": "job-1", "status": "active"}'
        while True:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rb") as lines:
                head = b""
                for line in lines:
                    head += line
                    if line == b"\r\n":
                        break
                if not head:
                    return
                self.heads.append(head.decode())
                status = b"502 No" if head.startswith(b"CONNECT") else b"200 OK"
                connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))

    def close(self) -> None:
        socket.create_connection(self._listener.getsockname()[:2]).close()
        self._thread.join()
        self._listener.close()


@pytest.fixture
def proxy() -> Iterator[RecordingProxy]:
    proxy = RecordingProxy()
    yield proxy
    proxy.close()


KEY = "dp_key_0123456789abcdef"


def test_the_environments_proxy_is_used(
    face: Face, proxy: RecordingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.setenv("http_proxy", proxy.url)
    client = face.make(KEY, base_url="http://docs.invalid", project_id="demo", allow_http=True)
    assert face.run(client.get_job("job-1")).id == "job-1"
    (head,) = proxy.heads
    assert head.startswith("GET http://docs.invalid/v2/agent/demo/job/job-1 HTTP/1.1\r\n")


@pytest.mark.row("G11")
def test_a_tunnel_is_all_that_a_proxy_sees_of_https(
    face: Face, proxy: RecordingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    monkeypatch.setenv("https_proxy", proxy.url)
    client = face.make(KEY, base_url="https://docs.invalid", project_id="demo", max_retries=0)
    with pytest.raises(ConnectError) as caught:
        face.run(client.create_job("Fix it"))
    assert caught.value.outcome == "not_sent"
    (head,) = proxy.heads
    assert head.startswith("CONNECT docs.invalid:443 HTTP/1.1\r\n")
    assert KEY not in head


@pytest.mark.row("G10")
@pytest.mark.parametrize("trust_env", [False, True])
def test_loopback_and_those_who_do_not_trust_the_environment_go_directly(
    face: Face, stub: StubServer, proxy: RecordingProxy, monkeypatch: pytest.MonkeyPatch, trust_env: bool
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    assert face.run(face.client(stub, trust_env=trust_env).visitor_totals()).total > 0
    if not trust_env:
        client = face.make(
            KEY,
            base_url="http://docs.invalid",
            project_id="demo",
            allow_http=True,
            trust_env=False,
            max_retries=0,
        )
        with pytest.raises(ConnectError):
            face.run(client.get_job("job-1"))
    assert proxy.heads == []


def test_an_explicit_proxy_holds_for_loopback_too(
    face: Face, stub: StubServer, proxy: RecordingProxy
) -> None:
    client = face.client(stub, proxy=proxy.url)
    assert face.run(client.get_job("job-1")).id == "job-1"
    assert len(proxy.heads) == 1
    assert stub.requests == []


# -- trust ---------------------------------------------------------------------------------------

NO_TRUST = """
import docplatform
assert docplatform.Client().visitor_totals().total > 0
try:
    docplatform.Client(base_url="https://docs.example")
except docplatform.ConfigurationError as error:
    assert "ca_bundle" in str(error), error
else:
    print("no trust store, and no word of it")
"""


@pytest.mark.row("G21")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system itself keeps the trust store")
def test_plain_http_needs_no_trust_store(stub: StubServer, tmp_path: object) -> None:
    nowhere = {"SSL_CERT_FILE": f"{tmp_path}/none.pem", "SSL_CERT_DIR": f"{tmp_path}"}
    ended = run_script(NO_TRUST, stub=stub, env=nowhere)
    assert (ended.status, ended.out, ended.err) == (0, "", "")
