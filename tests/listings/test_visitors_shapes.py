"""The wire's shapes: what is accepted as a count, and that nothing of a wrong shape becomes a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docplatform import ResponseError
from docplatform.testing import StubServer
from helpers import Face
from helpers.pages import TOTALS, page, row, rows, serve


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
    [("12.0", 12), ("9223372036854775807", 2**63 - 1)],
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
    ["12.5"],
)
def test_any_other_count_is_an_error_that_names_the_row(
    face: Face, stub: StubServer, field: str, text: str
) -> None:
    error = unreadable(face, stub, with_number(text, field))
    assert f"visitors[3].{field}" in str(error)


@pytest.mark.row("D5")
@pytest.mark.parametrize(
    "body",
    ["", "<html>captive portal</html>", {**page([]), "visitors": None}, {**page([]), "totals": []}],
)
def test_a_body_of_a_wrong_shape_is_an_error(face: Face, stub: StubServer, body: Any) -> None:
    error = unreadable(face, stub, body)
    assert error.body is not None
    assert len(error.body) <= 257


def test_totals_of_a_wrong_shape_are_an_error_of_visitor_totals_too(face: Face, stub: StubServer) -> None:
    serve(stub, page([], totals={**TOTALS, "ai": "20"}))
    with pytest.raises(ResponseError, match=r"totals\.ai"):
        face.run(face.client(stub).visitor_totals())


@pytest.mark.row("D14")
def test_further_fields_survive_as_they_were_sent(face: Face, stub: StubServer) -> None:
    more = {"bounce": 0.25, "big": 10**30, "deep": {"list": [1, None, True, "é"]}, "é": None, "flag": False}
    sent = [row(0, **more), row(1), row(2, new="x")]
    serve(stub, {**page(sent), "generatedAt": "2026-01-31", "totals": {**TOTALS, "bots": 5}})
    got = face.all(face.client(stub).visitors())
    assert got == sent
    assert list(got[0]) == list(sent[0])
    assert type(got[0]["big"]) is int
