"""The wire's shapes: what is accepted as a count, and that nothing of a wrong shape becomes a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docplatform import ResponseError
from docplatform.testing import StubServer
from support import Face
from support.pages import TOTALS, page, row, rows, serve


def with_number(text: str, field: str = "ai") -> str:
    """A page whose fourth row has a number written as ``text``."""
    body = json.dumps(page([*rows(0, 3), row(3, **{field: "NUMBER"}), *rows(4, 10)]))
    assert body.count('"NUMBER"') == 1
    return body.replace('"NUMBER"', text)


def unreadable(face: Face, stub: StubServer, body: Any) -> ResponseError:
    serve(stub, page(rows(0, 250), has_more=True), body)
    visitors = face.client(stub).visitors()
    got = [face.next(visitors) for _ in range(250)]
    with pytest.raises(ResponseError) as caught:
        face.next(visitors)
    error = caught.value
    assert got == rows(0, 250)
    assert error.checkpoint == visitors.checkpoint
    assert (error.status, error.outcome, len(error.attempts)) == (200, None, 1)
    assert error.request_id
    assert len(stub.requests) == 2
    return error


@pytest.mark.row("D6", "D7")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("12", 12),
        ("12.0", 12),
        ("1e2", 100),
        ("1.2E+1", 12),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_a_whole_number_is_a_count_however_it_is_written(
    face: Face, stub: StubServer, text: str, count: int
) -> None:
    serve(stub, with_number(text))
    got = face.all(face.client(stub).visitors())
    assert got == [*rows(0, 3), row(3, ai=count), *rows(4, 10)]
    assert type(got[3]["ai"]) is int


@pytest.mark.row("D7")
@pytest.mark.parametrize("field", ["human", "ai", "total"])
@pytest.mark.parametrize(
    "text",
    [
        "12.5",
        "-1",
        "-1.0",
        "9223372036854775808",
        "18446744073709551616",
        "1e30",
        '"12"',
        "null",
        "true",
        "[1]",
        "{}",
    ],
)
def test_any_other_count_is_an_error_that_names_the_row(
    face: Face, stub: StubServer, field: str, text: str
) -> None:
    error = unreadable(face, stub, with_number(text, field))
    assert f"visitors[3].{field}" in str(error)


@pytest.mark.row("D7")
@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e400", "0x10", "01", "1_000", "+1", ".5"])
def test_what_is_no_json_number_is_an_error(face: Face, stub: StubServer, text: str) -> None:
    unreadable(face, stub, with_number(text))


@pytest.mark.row("D5")
@pytest.mark.parametrize("field", ["path", "human", "ai", "total"])
def test_a_row_needs_all_its_fields(face: Face, stub: StubServer, field: str) -> None:
    short = row(3)
    del short[field]
    error = unreadable(face, stub, page([*rows(0, 3), short]))
    assert "visitors[3]" in str(error)
    assert field in str(error)


@pytest.mark.row("D5")
@pytest.mark.parametrize(
    "wrong", [None, 5, "row", [1], [["/x", 1, 2, 3]], {**row(3), "path": None}, {**row(3), "path": 5}]
)
def test_a_row_of_a_wrong_shape_is_named(face: Face, stub: StubServer, wrong: Any) -> None:
    assert "visitors[3]" in str(unreadable(face, stub, page([*rows(0, 3), wrong, *rows(4, 6)])))


@pytest.mark.row("D4")
@pytest.mark.parametrize("flag", [None, "false", "true", 0, 1, [], {}])
def test_has_more_is_a_boolean(face: Face, stub: StubServer, flag: Any) -> None:
    assert "hasMore" in str(unreadable(face, stub, page(rows(0, 3), has_more=flag)))


@pytest.mark.row("D4", "D5")
@pytest.mark.parametrize("field", ["hasMore", "visitors", "totals"])
def test_a_page_needs_all_its_fields(face: Face, stub: StubServer, field: str) -> None:
    body = page(rows(0, 3))
    del body[field]
    assert field in str(unreadable(face, stub, body))


@pytest.mark.row("D5")
@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "<html>captive portal</html>",
        '{"totals": {"human": 1',
        json.dumps(page([])) + "x",
        {**page([]), "visitors": {}},
        {**page([]), "visitors": None},
        {**page([]), "totals": []},
        {**page([]), "totals": {"human": 1, "ai": 1}},
        {**page([]), "totals": {**TOTALS, "ai": -1}},
        {**page([]), "totals": {**TOTALS, "ai": 1.5}},
        {"error": "not an error status"},
        "[" * 100_000,
    ],
)
def test_a_body_of_a_wrong_shape_is_an_error(face: Face, stub: StubServer, body: Any) -> None:
    error = unreadable(face, stub, body)
    assert error.body is not None
    assert len(error.body) <= 257


def test_totals_of_a_wrong_shape_are_an_error_of_visitor_totals_too(face: Face, stub: StubServer) -> None:
    serve(stub, page([], totals={**TOTALS, "ai": "20"}))
    with pytest.raises(ResponseError, match=r"totals\.ai"):
        face.run(face.client(stub).visitor_totals())


@pytest.mark.row("D1")
def test_html_is_named_with_its_type_and_beginning(face: Face, stub: StubServer) -> None:
    stub.fail_next(status=200, body="<html>Sign in to the café\x1b[2J", headers={"Content-Type": "text/html"})
    with pytest.raises(ResponseError, match=r"content type text/html.*Sign in to the café") as caught:
        face.run(face.client(stub).visitor_totals())
    assert str(caught.value).isprintable()
    assert caught.value.body is not None
    assert caught.value.body.isprintable()
    assert len(stub.requests) == 1


@pytest.mark.row("C14")
def test_an_answer_larger_than_allowed_is_an_error(face: Face, stub: StubServer) -> None:
    client = face.client(stub, max_response_bytes=2_000)
    serve(stub, page(rows(0, 250)))
    with pytest.raises(ResponseError, match="larger than 2000 bytes"):
        face.all(client.visitors())
    assert len(stub.requests) == 1


@pytest.mark.row("D11")
def test_a_byte_order_mark_is_accepted_once(face: Face, stub: StubServer) -> None:
    body = json.dumps(page(rows(0, 3))).encode()
    serve(stub, b"\xef\xbb\xbf" + body, b"\xef\xbb\xbf\xef\xbb\xbf" + body)
    client = face.client(stub)
    assert face.all(client.visitors()) == rows(0, 3)
    with pytest.raises(ResponseError):
        face.all(client.visitors())


@pytest.mark.row("D14")
def test_further_fields_survive_as_they_were_sent(face: Face, stub: StubServer) -> None:
    more = {"bounce": 0.25, "big": 10**30, "deep": {"list": [1, None, True, "é"]}, "é": None, "flag": False}
    sent = [row(0, **more), row(1), row(2, new="x")]
    serve(stub, {**page(sent), "generatedAt": "2026-01-31", "totals": {**TOTALS, "bots": 5}})
    got = face.all(face.client(stub).visitors())
    assert got == sent
    assert list(got[0]) == list(sent[0])
    assert type(got[0]["big"]) is int
