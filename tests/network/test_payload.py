"""Bodies that are not what they seem, on the wire (rows D; shapes and numbers are in test_visitors_shapes.py)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docplatform import DataWarning, ResponseError, UnconfirmedWriteError
from helpers.faults import APPLY, READ_ALL, SEND, answer
from helpers.pages import page, row, rows
from helpers.wired import Wire

PORTAL = b"<!DOCTYPE html><html><title>Sign in to \x1b[31mthe caf\xc3\xa9</title>" + b"<p>" * 5_000


@pytest.mark.row("D1")
@pytest.mark.parametrize("labelled", ["text/html; charset=utf-8", "application/json", None])
@pytest.mark.parametrize("status", [200, 203])
def test_a_captive_portal_is_no_answer(wire: Wire, labelled: str | None, status: int) -> None:
    headers = [f"Content-Type: {labelled}"] if labelled else []
    wire.server.rest(READ_ALL, SEND(answer(status, PORTAL, *headers)))
    client = wire.client()
    for call in (lambda: client.get_job("job-1"), client.visitor_totals):
        error = wire.fails(ResponseError, call)
        assert (error.status, len(error.attempts)) == (status, 1)
        assert (labelled or "no content type") in str(error)
        assert "Sign in to" in str(error)
        assert str(error).isprintable()
        assert len(str(error)) < 600
    assert len(wire.server.connections) == 2


@pytest.mark.row("D1", "A6")
def test_a_captive_portal_that_takes_a_write_leaves_it_to_be_looked_for(wire: Wire) -> None:
    wire.server.script([READ_ALL, APPLY, SEND(answer(200, PORTAL, "Content-Type: text/html"))])
    prompt = wire.prompt()
    client = wire.client()
    error = wire.fails(UnconfirmedWriteError, client.create_job, prompt)
    assert (error.outcome, error.status) == ("applied", 200)
    assert error.body is not None
    assert error.body.isprintable()


@pytest.mark.row("D4")
@pytest.mark.parametrize("flag", ["", '"hasMore":null,'])
def test_an_export_does_not_end_because_has_more_cannot_be_read(wire: Wire, flag: str) -> None:
    whole = json.dumps(page(rows(0, 3), has_more=True))
    cut = whole.replace(', "hasMore": true', "")
    assert cut != whole
    wire.server.script([READ_ALL, SEND(answer(200, f"{{{flag}{cut[1:]}".encode()))])
    error = wire.fails(ResponseError, lambda: wire.face.all(wire.client().visitors()))
    assert "hasMore" in str(error)
    assert error.checkpoint


@pytest.mark.row("D12")
def test_one_bad_letter_costs_a_page_nothing_else(wire: Wire) -> None:
    body = json.dumps(page([*rows(0, 3), row(3, path="BAD"), *rows(4, 250)])).replace("BAD", "/a\\ud800b")
    wire.server.script([READ_ALL, SEND(answer(200, body.encode()))])
    visitors = wire.client().visitors()
    with pytest.warns(DataWarning, match=r"U\+FFFD"):
        got = wire.all(visitors)
    assert got == [*rows(0, 3), row(3, path="/a\ufffdb"), *rows(4, 250)]
    assert len(visitors.warnings) == 1


@pytest.mark.row("D13")
def test_paths_that_look_alike_stay_two(wire: Wire) -> None:
    # Written in two ways, shown in one; with an end that cannot be seen; as a terminal or a page would show them.
    paths = [
        "/e\u0301",
        "/\u00e9",
        "/a",
        "/a\u200b",
        "/a\0",
        "/a\n",
        "/a/",
        "/A",
        "/%61",
        "",
        " ",
        "\u202e/a",
    ]
    given = [row(number, path=path) for number, path in enumerate(paths)]
    wire.server.script([READ_ALL, SEND(answer(200, page(given)))])
    visitors = wire.client().visitors(strict=True)
    assert wire.all(visitors) == given
    assert visitors.warnings == []


@pytest.mark.row("D5")
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_what_is_nested_without_end_is_an_error_and_no_crash(wire: Wire, opening: bytes) -> None:
    wire.server.rest(READ_ALL, SEND(answer(200, opening * 300_000)))
    client = wire.client()
    calls: list[Any] = [
        lambda: client.get_job("job-1"),
        client.visitor_totals,
        lambda: client.request("GET", "/v3/things"),
    ]
    for call in calls:
        wire.fails(ResponseError, call)
