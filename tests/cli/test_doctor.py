"""``docplatform doctor``: what is wrong, a line for each finding, and one request unless listings are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.cli import JANUARY, Cli
from helpers.layers import Authority
from helpers.marks import linux
from helpers.scripts import Ended

NAMES = ["client", "address", "project", "API key", "proxy", "service", "key accepted", "project found"]


def states(ended: Ended) -> dict[str, str]:
    """The findings that are not ``ok``."""
    found = [line.split("\t")[:2] for line in ended.out.splitlines()]
    assert [name for name, _ in found if name != "other settings"] == NAMES
    return {name: state for name, state in found if state != "ok"}


def test_all_is_well(cli: Cli) -> None:
    ended = cli("doctor")
    assert (ended.status, states(ended)) == (0, {})
    assert cli.stub.url in ended.out
    assert "one request" in ended.out
    assert [(request.method, request.path) for request in cli.stub.requests] == [
        ("GET", "/v1/analytics/demo/visitors")
    ]
    found = json.loads(cli("doctor", "--json").out)["checks"]
    assert [(finding["name"], finding["state"]) for finding in found] == [(name, "ok") for name in NAMES]


@pytest.mark.parametrize(
    ("variable", "value", "name", "code", "says"),
    [
        ("BASE_URL", None, "address", 2, "set DOCPLATFORM_BASE_URL"),
        ("BASE_URL", "http://example.com", "address", 2, "correct DOCPLATFORM_BASE_URL"),
        ("PROJECT_ID", None, "project", 2, "set DOCPLATFORM_PROJECT_ID"),
        ("PROJECT_ID", " demo", "project", 2, "\tDOCPLATFORM_PROJECT_ID has white space around it"),
        ("API_KEY", None, "API key", 3, "set DOCPLATFORM_API_KEY"),
        ("API_KEY", "Bearer hush", "API key", 3, "give the key alone"),
        ("REQUESTS_PER_HOUR", "many", "other settings", 2, "\tDOCPLATFORM_REQUESTS_PER_HOUR must be"),
    ],
)
def test_a_setting_is_missing_or_wrong(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str | None,
    name: str,
    code: int,
    says: str,
) -> None:
    variable = f"DOCPLATFORM_{variable}"
    monkeypatch.delenv(variable) if value is None else monkeypatch.setenv(variable, value)
    ended = cli("doctor")
    unknown = dict.fromkeys(NAMES[-3:], "unknown")
    assert (ended.status, states(ended)) == (code, {name: "wrong"} | unknown)
    assert says in ended.out
    assert "hush" not in ended.out
    assert cli.stub.requests == []


def test_all_settings_are_missing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BASE_URL", "PROJECT_ID", "API_KEY"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}")
    monkeypatch.setenv("DOCPLATFORM_API_KEY_FILE", "none.key")
    ended = cli("doctor")
    assert "cannot be read: none.key: No such file or directory\tcorrect the file\n" in ended.out
    wrong = [name for name, state in states(ended).items() if state == "wrong"]
    assert (ended.status, wrong) == (2, ["address", "project", "API key"])


@pytest.mark.parametrize(
    ("status", "code", "wrong", "says"),
    [
        (401, 3, "key accepted", "keys expire, often after 90 days"),
        (403, 3, "key accepted", "if keys are limited to addresses"),
        (404, 1, "project found", "compare the project's id"),
        (429, 4, "service", "requests of this hour are spent"),
        (500, 1, "service", "try again later"),
        (301, 1, "service", "the platform's API"),
        (200, 1, "service", "the platform's API"),
    ],
)
def test_an_answer_says_what_is_wrong(cli: Cli, status: int, code: int, wrong: str, says: str) -> None:
    cli.stub.fail_next(status=status, body="<html>", headers={"Content-Type": "text/html"}, times=9)
    ended = cli("doctor")
    assert (ended.status, len(cli.stub.requests)) == (code, 1)
    assert [name for name, state in states(ended).items() if state == "wrong"] == [wrong]
    assert says in ended.out


def test_a_spent_budget_is_not_called_a_fault_of_the_service(cli: Cli, tmp_path: Path) -> None:
    budget = ("--store", str(tmp_path / "docs.db"), "--requests-per-hour", "1")
    assert cli("visitors", "totals", *JANUARY, *budget).status == 0
    ended = cli("doctor", *budget)
    assert (ended.status, len(cli.stub.requests)) == (4, 1)
    assert "\twrong\t" not in ended.out
    assert "the request budget is spent" in ended.out
    assert "--on-budget" not in ended.out + cli("doctor", *budget, "--json").out


LISTED = ["views", "searches", "feedback", "conversations", "feedback_by_page"]


def test_listings_are_asked_for_where_the_flag_says_so(cli: Cli) -> None:
    found = json.loads(cli("doctor", "--listings", "--json").out)["checks"]
    assert [one["name"] for one in found] == [*NAMES, *LISTED]
    assert {one["state"] for one in found} == {"ok"}
    assert [request.query["limit"] for request in cli.stub.requests] == ["1"] * (1 + len(LISTED))


def test_what_a_store_has_of_a_listing_does_not_say_that_the_key_may_read_it(cli: Cli, store: Path) -> None:
    line = ("doctor", "--listings", "--store", str(store))
    assert cli(*line).status == 0
    cli.stub.fail_next(status=403, path="/views", times=9)
    before = len(cli.stub.requests)
    assert "views\twrong" in cli(*line).out
    assert len(cli.stub.requests) - before == 1 + len(LISTED)


@pytest.mark.parametrize(
    ("status", "code", "state", "later", "says"),
    [
        (403, 3, "wrong", "ok", "the right to read it"),
        (404, 1, "wrong", "ok", "plan includes it"),
        (500, 1, "wrong", "ok", "try again later"),
        # Later listings would be refused, too.
        (429, 4, "unknown", "unknown", "not checked"),
    ],
)
def test_a_listing_that_cannot_be_read_is_named(
    cli: Cli, status: int, code: int, state: str, later: str, says: str
) -> None:
    cli.stub.fail_next(status=status, path="/searches", times=9)
    ended = cli("doctor", "--listings")
    found = [line.split("\t") for line in ended.out.splitlines()][len(NAMES) :]
    at = LISTED.index("searches")
    states = ["ok"] * at + [state] + [later] * (len(LISTED) - at - 1)
    assert (ended.status, [one[:2] for one in found]) == (
        code,
        [list(pair) for pair in zip(LISTED, states, strict=True)],
    )
    assert says in ended.out
    assert len(cli.stub.requests) == (2 + at if status == 429 else 1 + len(LISTED))


def test_no_service_answers(cli: Cli) -> None:
    cli.stub.close()
    ended = cli("doctor")
    unknown = {"key accepted": "unknown", "project found": "unknown"}
    assert (ended.status, states(ended)) == (1, {"service": "wrong"} | unknown)
    assert "connection refused (project 'demo')\tcheck the address" in ended.out


@pytest.mark.row("G11")
def test_a_proxy_is_named_without_its_password(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hush@proxy.example:1")
    ended = cli("doctor")
    assert "HTTPS_PROXY set; none is used for this address\n" in ended.out
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", "https://docs.invalid")
    other = cli("doctor")
    assert "HTTPS_PROXY set; proxy.example:1 is used for this address\n" in other.out
    assert "the host name of the proxy proxy.example:1 could not be resolved" in other.out
    monkeypatch.setenv("NO_PROXY", "docs.invalid")
    assert "HTTPS_PROXY, NO_PROXY set; none is used for this address\n" in cli("doctor").out
    assert "hush" not in ended.out + other.out
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("all_proxy", "http://proxy.example:1")
    assert "all_proxy, NO_PROXY set; none is used for this address\n" in cli("doctor").out


@linux
def test_authorities_that_the_environment_names_are_checked(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, authority: Authority
) -> None:
    pem = tmp_path / "ours.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    # Plain http needs none.
    assert states(cli("doctor")) == {}
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", "https://localhost:1")
    ended = cli("doctor")
    assert (ended.status, ended.out.count("\tunknown\t")) == (2, 3)
    assert "certificates\twrong\tTLS cannot be set up" in ended.out
    assert "SSL_CERT_FILE replaces the system's CA certificates: correct or unset it" in ended.out
    assert "address\tok\t" in ended.out
    # Of two places, one that can be read is enough.
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    (folder / "ours.pem").write_bytes(authority.pem.read_bytes())
    assert (
        f"certificates\tok\tfound; SSL_CERT_FILE={pem} and SSL_CERT_DIR={folder} in place of the system's\n"
        in cli("doctor").out
    )
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "other"))
    assert "SSL_CERT_DIR replaces the system's CA certificates" in cli("doctor").out
    # A bundle makes up for it.
    assert "\nservice\twrong\t" in cli("doctor", "--ca-bundle", str(folder / "ours.pem")).out
    assert len(cli.stub.requests) == 1


def test_looking_for_a_store_does_not_create_it(cli: Cli, store: Path) -> None:
    for path, state, code in ((store, "unknown", 0), (store.parent / "none" / "x.db", "wrong", 2)):
        ended = cli("doctor", "--store", str(path))
        assert (ended.status, ended.err) == (code, "")
        assert f"\nstore\t{state}\t" in ended.out
        assert list(store.parent.iterdir()) == []
    assert len(cli.stub.requests) == 1


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("HTTPS_PROXY", "127.0.0.1:1", "ok"),
        ("HTTPS_PROXY", "HTTP://127.0.0.1:1", "ok"),
        # Command Prompt keeps the quotes of `set NAME="value"`.
        ("HTTPS_PROXY", '"http://127.0.0.1:1"', "wrong"),
        ("HTTPS_PROXY", "socks5://127.0.0.1:1", "wrong"),
        ("ALL_PROXY", "socks5://127.0.0.1:1", "wrong"),
        ("HTTP_PROXY", "socks5://127.0.0.1:1", "ok"),
    ],
)
def test_a_proxy_that_the_client_cannot_use_is_wrong(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str, state: str
) -> None:
    monkeypatch.setenv(name, value)
    there = ["--base-url", "https://docs.example.com"]
    found = {one["name"]: one for one in json.loads(cli("doctor", "--json", *there).out)["checks"]}
    assert found["proxy"]["state"] == state, found["proxy"]
    if state == "wrong":
        assert f"the environment's {name} " in found["proxy"]["finding"]
        # Each command refuses it as doctor does.
        ended = cli("job", "get", "job-1", *there)
        assert ended.status == 2
        assert f"the environment's {name} " in ended.err
        advice = "name one with http:// or https:// there, or unset it to go directly"
        assert advice in ended.err
    # Requests to this machine go through no proxy.
    found = {one["name"]: one for one in json.loads(cli("doctor", "--json").out)["checks"]}
    assert found["proxy"]["state"] == "ok"


def test_a_setting_in_quotes_is_wrong(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", f'"{cli.stub.url}"')
    monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", '"demo"')
    found = {one["name"]: one for one in json.loads(cli("doctor", "--json").out)["checks"]}
    assert "contains quotes: remove them" in found["address"]["finding"]
    assert "has quotes around it" in found["project"]["finding"]
