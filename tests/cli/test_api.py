"""``docplatform api``: any request, and any listing."""

from __future__ import annotations

import json

import pytest

from helpers.cli import Cli
from helpers.pages import serve

SEARCHES = "/v1/analytics/{project_id}/searches"


def test_a_get_has_parameters_and_another_method_has_json(cli: Cli) -> None:
    given = ("-f", "name=a b", "-f", "n=5", "-f", "n=[true]")
    serve(cli.stub, {"a": "é"}, {"b": 1})
    ended = cli("api", "get", "/v3/things", *given)
    assert (ended.status, ended.out, ended.err) == (0, '{"a": "\\u00e9"}\n', "")
    ended = cli("api", "PUT", "/v3/things", *given[:4], "-f", "list=[true]", "-f", 'text="5"')
    assert (ended.status, json.loads(ended.out)) == (0, {"b": 1})
    read, written = cli.stub.requests
    assert (read.method, read.query["name"]) == ("GET", "a b")
    assert written.json == {"name": "a b", "n": 5, "list": [True], "text": "5"}


@pytest.mark.parametrize("more", [(), ("--next-cursor", "nextCursor", "--page-size", "100")])
def test_a_listing_is_printed_row_by_row(cli: Cli, more: tuple[str, ...]) -> None:
    items = "searches" if more else "visitors"
    path = SEARCHES if more else SEARCHES.replace("searches", "visitors")
    ended = cli("api", "GET", path, "--paginate", items, *more)
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert (ended.status, len(rows) > 100, len(cli.stub.requests) > 1) == (0, True, True)
    assert json.loads(cli("api", "GET", path, "--paginate", items, *more, "--json").out) == rows


def test_items_may_be_a_path_into_the_answer(cli: Cli) -> None:
    serve(cli.stub, {"data": {"items": [{"a": 1}], "next": None}})
    ended = cli("api", "GET", "/v3/things", "--paginate", "data.items", "--next-cursor", "data.next")
    assert (ended.status, ended.out) == (0, '{"a":1}\n')


def test_an_answer_that_is_not_json_is_printed_as_it_came(cli: Cli) -> None:
    cli.stub.fail_next(status=200, body="a,b\n1,2\n")
    assert cli("api", "GET", "/v3/things.csv").out == "a,b\n1,2\n"
    cli.stub.fail_next(status=204, body="")
    assert cli("api", "DELETE", "/v3/things").out == "null\n"


def test_a_404_says_nothing_of_the_project(cli: Cli) -> None:
    ended = cli("api", "GET", "/v3/things")
    assert (ended.status, "check the path and the ids in it" in ended.err) == (1, True)
    assert "project" not in ended.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("GET", "/x", "-f", "novalue"), "write each --field as KEY=VALUE"),
        (("POST", "/x", "-f", "a=1", "-f", "a=2"), "--field a was given twice"),
        (("POST", "/x", "--paginate", "rows"), "--paginate needs the METHOD GET"),
        (("GET", "/x", "--next-cursor", "next"), "--next-cursor and --page-size need --paginate"),
        (("FETCH", "/x"), "method must be GET, POST, PUT, PATCH or DELETE"),
        (("GET", "x"), "must start with"),
    ],
)
def test_wrong_usage_sends_nothing(cli: Cli, words: tuple[str, ...], says: str) -> None:
    ended = cli("api", *words)
    assert (ended.status, ended.out, cli.stub.requests) == (2, "", [])
    assert says in ended.err


def test_a_write_without_an_answer_is_unconfirmed(cli: Cli) -> None:
    cli.stub.fail_next(drop=True)
    ended = cli("api", "POST", "/v3/things", "-f", "a=1")
    assert (ended.status, len(cli.stub.requests)) == (7, 1)
    assert ended.err.endswith(
        "It may have been carried out: look on the platform before you send it again.\n"
    )
    assert "job" not in ended.err
