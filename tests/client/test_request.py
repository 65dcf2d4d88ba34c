"""request(), for endpoints without a method of their own, and the paths that it shares with paginate()."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from docplatform import (
    BadRequestError,
    ConfigurationError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    UnconfirmedWriteError,
)
from docplatform.testing import StubServer
from helpers import AnyClient, Face
from helpers.connection import answer
from helpers.faults import READ_ALL, SEND, FaultServer
from helpers.pages import serve
from helpers.phases import HOLD

VISITORS = "/v1/analytics/{project_id}/visitors"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "get", "Post"])
def test_a_request_goes_out_as_given_and_returns_the_json(face: Face, stub: StubServer, method: str) -> None:
    body = {"big": 10**30, "small": 0.1, "list": [None, True, "é"]}
    serve(stub, body)
    client = face.client(stub)
    json = None if method.upper() == "GET" else {"a": [1, 2.5, None, True, "é"], "b": {}}
    assert face.run(client.request(method, "/v3/things", json=json)) == body
    (request,) = stub.requests
    assert (request.method, request.path, request.query, request.json) == (
        method.upper(),
        "/v3/things",
        {},
        json,
    )
    assert request.headers["authorization"] == "Bearer ***"
    assert ("content-type" in request.headers) == (json is not None)


def test_a_number_with_more_digits_than_python_reads_is_its_text(face: Face, stub: StubServer) -> None:
    digits = "7" * 5000
    row = f'{{"path": "/", "human": 1, "ai": 1, "total": 2, "more": {digits}, "less": [-{digits}, 7]}}'
    serve(stub, f'{{"totals": {{"human": 1, "ai": 1, "total": 2}}, "visitors": [{row}], "hasMore": false}}')
    serve(stub, f'{{"id": "job-1", "status": "completed", "more": {digits}}}', f'{{"more": {digits}}}')
    client = face.client(stub)
    (found,) = face.run(client.visitors().collect()).to_dicts()
    assert (found["more"], found["less"]) == (digits, ["-" + digits, 7])
    assert face.run(client.get_job("job-1")).raw["more"] == digits
    assert face.run(client.request("GET", "/v3/things")) == {"more": digits}


@pytest.mark.parametrize(
    ("status", "body", "value"),
    [
        (204, None, None),
        (200, "", None),
        (200, "null", None),
        (200, "[]", []),
        (201, "5", 5),
        (200, '"x"', "x"),
    ],
)
def test_any_json_and_nothing_are_answers(
    face: Face, stub: StubServer, status: int, body: Any, value: Any
) -> None:
    stub.fail_next(status=status, body=body, times=2)
    client = face.client(stub)
    assert face.run(client.request("GET", "/v3/things")) == value
    assert face.run(client.request("DELETE", "/v3/things")) == value


NO_JSON = [object(), {"x": b"x"}, {"x": {1, 2}}, {"x": datetime(2026, 1, 1, tzinfo=UTC)}]
NOT_IN_JSON = [float("nan"), {"x": float("inf")}, [float("-inf")], {"x": "\ud800"}]


def test_any_json_is_sent_and_none_is_not(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    values: list[Any] = [{}, [], 0, False, "", [1, 2], OrderedDict(a=1), {"n": 2**70}]
    for json in values:
        serve(stub, {})
        face.run(client.request("POST", "/v3/things", json=json))
        assert stub.requests[-1].json == json
        assert "content-type" in stub.requests[-1].headers
    serve(stub, {})
    face.run(client.request("POST", "/v3/things"))
    assert "content-type" not in stub.requests[-1].headers


@pytest.mark.parametrize(
    ("error", "json"),
    [*((TypeError, value) for value in NO_JSON), *((ValueError, value) for value in NOT_IN_JSON)],
)
def test_what_json_cannot_hold_is_refused(
    face: Face, stub: StubServer, error: type[Exception], json: Any
) -> None:
    with pytest.raises(error, match="JSON"):
        face.client(stub).request("POST", "/v3/things", json=json)
    assert stub.peak_connections == 0


@pytest.mark.parametrize(
    "params",
    [
        {
            "text": "a b&c=é",
            "flag": True,
            "off": False,
            "n": 5,
            "x": 0.5,
            "none": None,
            "day": date(2026, 1, 31),
        },
        MappingProxyType(
            {"text": "a b&c=é", "flag": True, "off": False, "n": 5, "x": 0.5, "day": "2026-01-31"}
        ),
    ],
)
def test_parameters_are_written_as_the_wire_wants_them(
    face: Face, stub: StubServer, params: Mapping[str, Any]
) -> None:
    serve(stub, {})
    face.run(face.client(stub).request("GET", "/v3/things", params=params))
    expected = {"text": "a b&c=é", "flag": "true", "off": "false", "n": "5", "x": "0.5", "day": "2026-01-31"}
    assert stub.requests[0].query == expected


class Level(int, Enum):
    """Numbers whose text is another one."""

    HIGH = 3


def test_numbers_of_numpy_are_written_as_those_of_python(face: Face, stub: StubServer) -> None:
    serve(stub, {})
    params = {"n": np.int64(5), "x": np.float32(0.5), "y": np.float64(5), "level": Level.HIGH}
    face.run(face.client(stub).request("GET", "/v3/things", params=params))
    assert stub.requests[0].query == {"n": "5", "x": "0.5", "y": "5.0", "level": "3"}


def test_a_list_repeats_its_name(face: Face) -> None:
    with FaultServer() as server:
        server.rest(READ_ALL, SEND(answer(200, {})))
        client = face.make("dp_key", base_url=server.url)
        params = {"tag": ["a", "b", None], "at": (1, date(2026, 1, 1)), "none": []}
        face.run(client.request("GET", "/v3/things", params=params))
    assert server.requests[0].target == "/v3/things?tag=a&tag=b&at=1&at=2026-01-01"


@pytest.mark.parametrize(
    "params",
    ["a=1", [("a", 1)], {1: "x"}, {"a": b"x"}, {"a": {"b": 1}}, {"a": object()}, {"a": np.array([1])}],
)
def test_other_parameters_are_type_errors(face: Face, stub: StubServer, params: Any) -> None:
    with pytest.raises(TypeError):
        face.client(stub).request("GET", "/v3/things", params=params)
    assert stub.peak_connections == 0


@pytest.mark.parametrize(
    "method", ["", "HEAD", "OPTIONS", "CONNECT", "TRACE", "GET /evil HTTP/1.1\r\n", "G\u00cbT"]
)
def test_other_methods_are_value_errors(face: Face, stub: StubServer, method: str) -> None:
    with pytest.raises(ValueError, match="method must be GET, POST, PUT, PATCH or DELETE"):
        face.client(stub).request(method, "/v3/things")
    with pytest.raises(ValueError, match="params, not json"):
        face.client(stub).request("GET", "/v3/things", json={})
    assert stub.peak_connections == 0


@pytest.mark.row("A2")
def test_a_read_is_tried_again_and_a_write_is_not(face: Face, stub: StubServer) -> None:
    client: AnyClient = face.client(stub)
    stub.fail_next(status=502)
    serve(stub, {"ok": 1})
    assert face.run(client.request("GET", "/v3/things")) == {"ok": 1}
    assert len(stub.requests) == 2
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        stub.reset()
        stub.fail_next(status=502)
        with pytest.raises(UnconfirmedWriteError) as caught:
            face.run(client.request(method, "/v3/things"))
        assert (caught.value.outcome, len(stub.requests)) == ("unknown", 1)


# -- paths -----------------------------------------------------------------------------------------


def test_the_project_is_filled_in_where_the_path_has_a_place_for_it(face: Face) -> None:
    with StubServer(projects=("a&b",)) as stub:
        client = face.client(stub)
        face.run(client.request("GET", VISITORS, params={"limit": 1}))
        assert stub.requests[0].path == "/v1/analytics/a%26b/visitors"
        nameless = client.with_options(project_id=None)
        with pytest.raises(ConfigurationError, match="project_id="):
            nameless.request("GET", VISITORS)
        with pytest.raises(NotFoundError):
            face.run(nameless.request("GET", "/v1/é/things"))
        assert stub.requests[1].path == "/v1/%C3%A9/things"
        face.run(nameless.close())


@pytest.mark.row("A6", "D1", "M4")
@pytest.mark.parametrize("body", [b"<html>", b'{"cut": ', b'{"id": "job-\xff"}', b'{"id": "job-\\ud800"}'])
def test_an_answer_that_cannot_be_read_is_not_repaired(face: Face, stub: StubServer, body: bytes) -> None:
    serve(stub, body, body)
    client = face.client(stub)
    with pytest.raises(ResponseError):
        face.run(client.request("GET", "/v3/things"))
    with pytest.raises(UnconfirmedWriteError) as caught:
        face.run(client.request("POST", "/v3/things"))
    assert caught.value.outcome == "unknown"


def test_a_request_may_have_headers_and_a_timeout_of_its_own(face: Face, stub: StubServer) -> None:
    client = face.client(stub, headers={"x-team": "docs", "x-user": "ann"}, timeout=9)
    serve(stub, {}, {})
    face.run(
        client.request("GET", "/v3/things", headers={"X-Team": "other", "accept": "text/csv"}, timeout=5)
    )
    face.run(client.request("GET", "/v3/things"))
    names = ("x-team", "x-user", "accept")
    assert [[request.headers[name] for name in names] for request in stub.requests] == [
        ["other", "ann", "text/csv"],
        ["docs", "ann", "application/json"],
    ]
    stub.slow_next(HOLD)
    with pytest.raises(RequestTimeoutError, match=r"within 0\.1 s"):
        face.run(client.with_options(max_retries=0).request("GET", VISITORS, timeout=0.1))


def test_a_long_timeout_extends_the_deadline(face: Face, stub: StubServer) -> None:
    client = face.client(stub, deadline=0.3, max_retries=0)
    stub.slow_next(HOLD)
    stub.slow_next(0.6)
    with pytest.raises(RequestTimeoutError):
        face.run(client.request("GET", VISITORS))
    assert face.run(client.request("GET", VISITORS, timeout=30))["hasMore"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"headers": {"authorization": "Bearer x"}}, ValueError),
        ({"headers": {"x": "a\nb"}}, ValueError),
        ({"headers": {"x": 5}}, TypeError),
        ({"timeout": 0}, ValueError),
        ({"timeout": "5"}, TypeError),
        ({"raw": 1}, TypeError),
    ],
)
def test_wrong_options_of_a_request_send_nothing(
    face: Face, stub: StubServer, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        face.client(stub).request("GET", "/v3/things", **given)
    # With the longest query it would be no URL any more.
    with pytest.raises(ValueError, match="path is longer than 5000 bytes"):
        face.client(stub).request("GET", "/v3/" + "x" * 5_000)
    assert stub.requests == []


@pytest.mark.row("H1")
def test_no_error_shows_a_header_of_a_request(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=400, body={"error": "no such token: hush-hush-hush"})
    with pytest.raises(BadRequestError) as caught:
        face.run(face.client(stub).request("GET", "/v3/things", headers={"x-token": "hush-hush-hush"}))
    assert "hush" not in f"{caught.value} {caught.value.body}"


def test_a_raw_answer_is_as_it_came(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.fail_next(status=201, body="a,b\n", headers={"X-Kind": "table"})
    answer = face.run(client.request("POST", "/v3/things", json={"a": 1}, raw=True))
    assert (answer.status, answer.headers["x-kind"], answer.content) == (201, "table", b"a,b\n")
    assert stub.requests[0].headers["accept"] == "*/*"
    with pytest.raises(ValueError, match="Expecting value"):
        answer.json()
    serve(stub, {"a": [1]})
    assert face.run(client.request("GET", "/v3/things", raw=True)).json() == {"a": [1]}
    with pytest.raises(NotFoundError):
        face.run(client.request("GET", "/v3/other", raw=True))
