"""The stub service on the wire, through ``http.client`` and raw sockets: what a stand-in on loopback needs."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from datetime import date, timedelta
from typing import Any, NamedTuple

import pytest

from docplatform.testing import StubJob, StubRequest, StubServer
from helpers.scripts import run_script

JOBS = "/v2/agent/demo/job"
VISITORS = "/v1/analytics/demo/visitors"
PROMPT = {"prompt": "Fix the typo"}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


def port_of(stub: StubServer) -> int:
    return int(stub.url.rpartition(":")[2])


def call(
    stub: StubServer,
    method: str,
    path: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    **more: str,
) -> Reply:
    """One request over a connection of its own; ``more`` are headers."""
    headers = {"Authorization": f"Bearer {stub.api_key}"}
    headers |= {name.replace("_", "-"): value for name, value in more.items()}
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port_of(stub), timeout=10)
    try:
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, names, json.loads(text) if text else None)
    finally:
        connection.close()


def dial(stub: StubServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(stub)), timeout=10)


def request_bytes(stub: StubServer, method: str = "GET", path: str = VISITORS, *lines: str) -> bytes:
    head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port_of(stub)}"]
    head += [f"Authorization: Bearer {stub.api_key}", *lines, "", ""]
    return "\r\n".join(head).encode("latin-1")


def read_to_end(connection: socket.socket) -> bytes:
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received


def exchange(stub: StubServer, data: bytes) -> bytes:
    """Send bytes as they are, and read until the server closes."""
    with dial(stub) as connection:
        connection.sendall(data)
        return read_to_end(connection)


def statuses(answers: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answers)]


def create(stub: StubServer) -> str:
    return str(call(stub, "POST", JOBS, PROMPT).body["id"])


def poll(stub: StubServer, job_id: str, times: int = 1) -> list[str]:
    return [call(stub, "GET", f"{JOBS}/{job_id}").body["status"] for _ in range(times)]


# -- jobs ------------------------------------------------------------------------------------------


def test_job_from_creation_to_pull_request(stub: StubServer) -> None:
    created = call(stub, "POST", JOBS, PROMPT)
    assert created.status == 201
    assert set(created.body) == {
        "id", "status", "source", "model", "prLink", "createdAt", "archivedAt"
    }  # fmt: skip
    assert created.body["status"] == "active"
    assert created.body["prLink"] is None
    assert created.body["archivedAt"] is None
    assert set(created.body["source"]) == {"repository", "ref"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created.body["createdAt"])

    polls = [call(stub, "GET", f"{JOBS}/{created.body['id']}").body for _ in range(4)]
    assert [each["status"] for each in polls] == ["active", "active", "completed", "completed"]
    assert [each["prLink"] for each in polls[1:3]] == [
        None,
        "https://github.com/example/docs/pull/1",
    ]
    assert stub.jobs[0].polls == 4


def test_a_script_is_followed_exactly_and_its_last_status_stays(stub: StubServer) -> None:
    stub.script_job("paused", "active", "completed", pr_link=None)
    stub.script_job("failed", "completed", pr_link="https://git.example/{number}")
    first, second, third = create(stub), create(stub), create(stub)
    assert poll(stub, first, 4) == ["paused", "active", "completed", "completed"]
    assert call(stub, "GET", f"{JOBS}/{first}").body["prLink"] is None
    assert poll(stub, second, 2) == ["failed", "completed"]
    assert call(stub, "GET", f"{JOBS}/{second}").body["prLink"] == "https://git.example/2"
    assert poll(stub, third, 3) == ["active", "active", "completed"]
    with pytest.raises(ValueError, match="at least one"):
        stub.script_job()
    with pytest.raises(TypeError, match=r'script_job\("active", "failed"\)'):
        stub.script_job(["active", "failed"])  # type: ignore[arg-type]


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.row("K3")
@pytest.mark.parametrize("authorization", ["", "Bearer wrong-key-123", "Basic wrong-key-123"])
def test_other_keys_are_refused_and_not_kept(stub: StubServer, authorization: str) -> None:
    answer = call(stub, "GET", VISITORS, Authorization=authorization)
    assert answer.status == 401
    assert "error" in answer.body
    assert "wrong-key-123" not in repr(vars(stub.requests[0])) + repr(answer)


@pytest.mark.row("K3")
def test_the_key_is_masked_in_every_record(stub: StubServer) -> None:
    call(stub, "GET", VISITORS, X_Api_Key="other-secret", Cookie="other-secret")
    headers = stub.requests[0].headers
    assert headers["authorization"] == "Bearer ***"
    recorded = repr(vars(stub.requests[0])) + repr(stub)
    assert stub.api_key not in recorded
    assert "other-secret" not in recorded
    twice = request_bytes(stub, "GET", VISITORS, "authorization: Bearer x", "Connection: close")
    assert statuses(exchange(stub, twice)) == [401]
    assert stub.requests[1].headers["authorization"] == "Bearer ***"


@pytest.mark.stub(projects=("demo",))
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/analytics/other/visitors", 404),
        ("GET", "/v1/analytics/demo/assistant/threads/thread-9", 404),
        ("GET", JOBS, 405),
        ("HEAD", VISITORS, 405),
    ],
)
def test_other_paths_and_methods_are_404_and_405(
    stub: StubServer, method: str, path: str, status: int
) -> None:
    answer = call(stub, method, path)
    assert answer.status == status
    assert ("allow" in answer.headers) == (status == 405)
    assert method == "HEAD" or answer.body["error"]


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b'{"prompt": ""}', b'{"prompt": 1}'],
)
@pytest.mark.parametrize("path", [JOBS, f"{JOBS}/job-1/message"])
def test_an_unusable_body_is_400(stub: StubServer, path: str, raw: bytes) -> None:
    create(stub)
    answer = call(stub, "POST", path, raw=raw)
    assert answer.status == 400
    assert answer.body["error"]
    assert [job.prompts for job in stub.jobs] == [["Fix the typo"]]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=251", "limit=ten", "offset=-1", "dateFrom=2025-02-30", "dateTo=01.02.2025"],
)  # fmt: skip
def test_an_unusable_query_is_400_and_named(stub: StubServer, query: str) -> None:
    answer = call(stub, "GET", f"{VISITORS}?{query}")
    assert answer.status == 400
    assert answer.body["details"][0]["message"].startswith(query.partition("=")[0])


# -- who may talk to it ----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "LocalHost"])
def test_loopback_hosts_are_served(stub: StubServer, host: str) -> None:
    assert call(stub, "GET", VISITORS, Host=f"{host}:{port_of(stub)}").status == 200


@pytest.mark.row("K2")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1:1", "0.0.0.0:{}", "localhost.evil.example:{}", "127.0.0.1.nip.io:{}",
    ],
)  # fmt: skip
def test_other_hosts_are_refused(stub: StubServer, host: str) -> None:
    stub.fail_next(status=503)
    answer = call(stub, "POST", JOBS, PROMPT, Host=host.format(port_of(stub)))
    assert answer.status == 403
    assert not stub.jobs
    assert call(stub, "POST", JOBS, PROMPT).status == 503  # the fault was not spent on it


@pytest.mark.row("K2")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", ""])
@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_web_pages_are_refused(stub: StubServer, method: str, origin: str) -> None:
    answer = call(stub, method, JOBS, PROMPT, Origin=origin)
    assert answer.status == 403
    assert not stub.jobs
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.row("K1")
def test_it_listens_on_loopback_alone(stub: StubServer) -> None:
    assert stub.url.startswith("http://127.0.0.1:")
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection(("127.0.0.2", port_of(stub)), timeout=2).close()
    try:
        probe = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    probe.close()
    socket.create_connection(("::1", port_of(stub)), timeout=2).close()


# -- visitors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "limit", "offset", "rows", "more"),
    [
        (1000, None, None, 50, True),
        (250, 250, 0, 250, False),
        (10, 3, 10, 0, False),
    ],
)
def test_a_page_is_what_limit_and_offset_ask_for(
    count: int, limit: int | None, offset: int | None, rows: int, more: bool
) -> None:
    with StubServer(count) as stub:
        named = {"limit": limit, "offset": offset}
        query = "&".join(f"{name}={value}" for name, value in named.items() if value is not None)
        page = call(stub, "GET", f"{VISITORS}?{query}").body
    assert (len(page["visitors"]), page["hasMore"]) == (rows, more)
    assert set(page) == {"totals", "visitors", "hasMore"}


def test_no_page_has_more_rows_than_the_cap() -> None:
    with StubServer(page_cap=2) as stub:
        for path, items in (("views", "views"), ("searches", "searches"), ("feedback/by-page", "feedback")):
            assert len(call(stub, "GET", f"/v1/analytics/demo/{path}?limit=3").body[items]) == 2


def test_the_rows_are_the_same_in_every_run() -> None:
    query = f"{VISITORS}?dateFrom=2025-01-06&dateTo=2025-01-07&limit=3"
    pages = []
    for _ in range(2):
        with StubServer(1_000) as stub:
            pages.append(call(stub, "GET", query).body)
    assert pages[0] == pages[1]
    # Pinned: a change of these numbers would change the tests of those who use the stub.
    assert pages[0]["visitors"][0] == {"path": "/", "human": 1348, "ai": 97, "total": 1443}


def test_the_end_of_a_range_is_excluded(stub: StubServer) -> None:
    def total(start: str, end: str) -> int:
        page = call(stub, "GET", f"{VISITORS}?dateFrom={start}&dateTo={end}").body
        return int(page["visitors"][0]["total"]) if page["visitors"] else 0

    friday = total("2025-01-10", "2025-01-11")
    assert total("2025-01-10", "2025-01-10") == 0
    assert 0 < total("2025-01-11", "2025-01-12") < friday  # a Saturday
    assert total("2025-01-10", "2025-01-11T00:00:00Z") == friday
    assert total("2025-01-10T23:30:00-01:00", "2025-01-12") == total("2025-01-11", "2025-01-12")
    two = total("2025-01-10", "2025-01-12")
    assert friday < two < friday + total("2025-01-11", "2025-01-12")  # uniques do not add up
    assert total("2025-01-11", "2025-01-10") == total("2001-01-01", "2014-12-31") == 0


def test_open_ranges_are_thirty_days(stub: StubServer) -> None:
    def first(query: str) -> Any:
        return call(stub, "GET", f"{VISITORS}?limit=1&{query}").body

    end, start = date(2026, 1, 1), date(2026, 1, 1) - timedelta(30)
    both = first(f"dateFrom={start}&dateTo={end}")
    assert first("") == first(f"dateFrom={start}") == first(f"dateTo={end}") == both


def test_rows_can_be_made_for_the_days_that_are_asked_for() -> None:
    def rows(date_from: date, date_to: date) -> list[dict[str, Any]]:
        days = (date_to - date_from).days
        return [{"path": f"/{at}", "human": days, "ai": 1, "total": days + 1} for at in range(3)]

    with StubServer(rows, views=[{"path": "/v", "human": 5, "ai": 0, "total": 5}]) as stub:
        page = call(stub, "GET", f"{VISITORS}?dateFrom=2026-01-01&dateTo=2026-01-08&limit=2&offset=1").body
        assert page["visitors"] == rows(date(2026, 1, 1), date(2026, 1, 8))[1:]
        assert (page["totals"], page["hasMore"]) == ({"human": 21, "ai": 3, "total": 24}, False)
        views = call(stub, "GET", "/v1/analytics/demo/views").body
        assert views == {
            "totals": {"human": 5, "ai": 0, "total": 5},
            "views": [{"path": "/v", "human": 5, "ai": 0, "total": 5}],
            "hasMore": False,
        }


def test_rows_that_a_test_cannot_make_are_an_answer_that_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    def views(date_from: date, _: date) -> Any:
        yield {"path": str(date_from), "human": 1 // 0}

    with StubServer(
        views=views,
        searches=lambda *_: [{"at": date(2026, 1, 1)}],
        feedback=lambda *_: [dict[str, Any]()["x"]],
    ) as stub:
        for path, message in (
            ("views", "ZeroDivisionError: integer division or modulo by zero"),
            ("searches", "TypeError: Object of type date is not JSON serializable"),
            ("feedback", "KeyError: 'x'"),
        ):
            broken = call(stub, "GET", f"/v1/analytics/demo/{path}")
            assert (broken.status, broken.body["details"]) == (500, [{"message": f"{path}: {message}"}])
    assert capfd.readouterr().err == ""


def test_given_rows_and_totals_are_served_as_given() -> None:
    rows = [
        {"path": "/b", "human": 1, "ai": 2, "total": 2, "country": {"de": 1}},
        {"path": "/a\ud800", "human": 10, "ai": 0, "total": "wrong"},
    ]
    with StubServer(rows) as stub:
        page = call(stub, "GET", f"{VISITORS}?dateFrom=2025-01-01&dateTo=2025-01-02").body
    assert page["visitors"] == rows
    assert page["totals"] == {"human": 11, "ai": 2, "total": 2}
    totals = {"human": 1, "ai": 1, "total": 1, "bots": None}
    with StubServer(5, totals=totals) as stub:
        assert call(stub, "GET", VISITORS).body["totals"] == totals


# -- the rate limit --------------------------------------------------------------------------------


def test_rate_limit_counts_answered_analytics_of_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    with StubServer(requests_per_hour=2, projects=("demo", "other")) as stub:
        monkeypatch.setattr(stub._service, "_clock", lambda: now[0])
        create(stub)
        assert call(stub, "GET", f"{VISITORS}?limit=0").status == 400
        assert call(stub, "GET", VISITORS).status == 200
        now[0] += 600.5
        assert call(stub, "GET", "/v1/analytics/other/visitors").status == 200
        refused = call(stub, "GET", VISITORS)
        assert (refused.status, refused.headers["retry-after"]) == (429, "3000")
        create(stub)  # jobs have no limit here
        now[0] += 2_999.4
        assert call(stub, "GET", VISITORS).headers["retry-after"] == "1"
        now[0] += 0.1
        assert [call(stub, "GET", VISITORS).status for _ in range(2)] == [200, 429]
        stub.reset()
        assert call(stub, "GET", VISITORS).status == 200


def test_new_jobs_are_limited_by_the_hour_and_project(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    with StubServer(jobs_per_hour=1, projects=("demo", "other")) as stub:
        monkeypatch.setattr(stub._service, "_clock", lambda: now[0])
        assert call(stub, "POST", JOBS, raw=b"{}").status == 400
        create(stub)
        now[0] += 600.5
        refused = call(stub, "POST", JOBS, {"prompt": "Fix it"})
        assert (refused.status, refused.headers["retry-after"]) == (429, "3000")
        assert call(stub, "POST", "/v2/agent/other/job", {"prompt": "Fix it"}).status == 201
        assert call(stub, "POST", f"{JOBS}/job-1/message", {"prompt": "Fix it"}).status == 200
        now[0] += 2_999.5
        create(stub)
        assert len(stub.jobs) == 3


# -- faults ----------------------------------------------------------------------------------------


def test_faults_queue_up_and_have_no_side_effect(stub: StubServer) -> None:
    stub.fail_next(status=503, times=2, retry_after=1)
    stub.fail_next(status=429, path="/visitors", retry_after="soon")
    stub.fail_next(status=500, path="/job")
    answers = [call(stub, "POST", JOBS, PROMPT) for _ in range(3)]
    assert [answer.status for answer in answers] == [503, 503, 500]
    assert [answer.headers.get("retry-after") for answer in answers] == ["1", "1", None]
    assert not stub.jobs
    assert call(stub, "POST", JOBS, PROMPT).status == 201
    assert call(stub, "GET", VISITORS).headers["retry-after"] == "soon"
    assert call(stub, "GET", VISITORS).status == 200
    assert [request.status for request in stub.requests] == [503, 503, 500, 201, 429, 200]


@pytest.mark.parametrize(
    ("body", "sent"),
    [(None, b'{"error": "Bad Gateway"}'), (b"\xff{}", b"\xff{}"), ([], b"[]")],
)
def test_a_fault_has_the_given_body_and_headers(stub: StubServer, body: object, sent: bytes) -> None:
    stub.fail_next(status=502, body=body, headers={"Content-Type": "text/html", "X-Extra": "1"})
    answer = exchange(stub, request_bytes(stub, "GET", VISITORS, "Connection: close"))
    head, _, received = answer.partition(b"\r\n\r\n")
    assert received == sent
    assert head.lower().count(b"content-type:") == 1
    assert b"X-Extra: 1" in head


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 199},
        {"retry_after": float("nan")},
        {"after": -1},
        {"path": 5},
        {"headers": {"Content-Length": "100"}},
    ],
)
def test_an_unusable_fault_is_refused(stub: StubServer, wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r".+"):
        stub.fail_next(**wrong)
    assert call(stub, "GET", VISITORS).status == 200


# -- the wire --------------------------------------------------------------------------------------


@pytest.mark.row("K6")
@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777217\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 65_536 + b"\r\n\r\n", 431),
    ],
)
def test_a_malformed_request_is_refused_and_prints_nothing(
    stub: StubServer, capfd: pytest.CaptureFixture[str], data: bytes, status: int
) -> None:
    with dial(stub) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = read_to_end(connection)
    assert statuses(answer) == [status]  # and no second answer: nothing after it is read
    assert b"connection: close\r\n" in answer
    assert stub.requests == []
    assert call(stub, "GET", VISITORS).status == 200
    assert capfd.readouterr() == ("", "")


# -- records and waiting ---------------------------------------------------------------------------


def test_a_record_has_all_of_a_request_but_the_key(stub: StubServer) -> None:
    before = time.monotonic()
    call(stub, "POST", f"{JOBS}?a=1&b=%20x&c=&a=2", {"prompt": "ü"}, X_Extra="1")
    (request,) = stub.requests
    assert isinstance(request, StubRequest)
    assert (request.method, request.path, request.status) == ("POST", JOBS, 201)
    assert request.query == {"a": ["1", "2"], "b": " x", "c": ""}
    assert request.headers["x-extra"] == "1"
    assert request.json == {"prompt": "ü"}
    assert before <= request.time <= time.monotonic()
    assert isinstance(stub.jobs[0], StubJob)
    assert stub.requests is not stub.requests
    assert stub.jobs is not stub.jobs


def test_wait_for_times_out_and_says_what_it_saw(stub: StubServer) -> None:
    create(stub)
    with pytest.raises(TimeoutError, match=rf"0\.05 s.*1 requests \(POST {JOBS} 201\), 1 jobs"):
        stub.wait_for(lambda s: s.requests[1:], timeout=0.05)


# -- life ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"visitors": [1]}, TypeError),
        ({"visitors": [{"total": date(2026, 1, 1)}]}, TypeError),
        ({"views": -1}, ValueError),
        ({"active_polls": 1.0}, TypeError),
        ({"latency": float("inf")}, ValueError),
        ({"projects": "demo"}, TypeError),
        ({"port": 65_536}, ValueError),
    ],
)
def test_an_unusable_setting_is_an_error(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        StubServer(**settings)


def test_nothing_is_printed_at_exit() -> None:
    script = """
import socket
from docplatform.testing import StubServer
forgotten = StubServer().start()
with StubServer(latency=30.0) as stub:
    port = int(stub.url.rpartition(":")[2])
    for data in (b"\\x00", b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n" % port, b"GET"):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(data)
        stub.wait_for(lambda s: s.connections)
        connection.close()
"""
    ended = run_script(script, options=("-X", "dev", "-W", "error"))
    assert (ended.status, ended.out, ended.err) == (0, "", "")


@pytest.mark.row("K5")
def test_importing_the_plugin_does_not_load_the_server() -> None:
    script = "import docplatform.testing.plugin, sys; print([m for m in sys.modules if '._' in m])"
    ended = run_script(script)
    assert ended.status == 0, ended.err
    assert "docplatform.testing._" not in ended.out
