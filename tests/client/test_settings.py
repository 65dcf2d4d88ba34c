"""The settings of a client: types, ranges, and errors that say what to do."""

from __future__ import annotations

import pickle
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from docplatform import ConfigurationError, DocPlatformError
from docplatform.testing import StubServer
from helpers import AnyClient, Face
from helpers.layers import Authority

KEY = "dp_test_0123456789abcdefghij"
URL = "https://docs.example.com"
DURATIONS = ["timeout", "connect_timeout", "deadline"]


def make(face: Face, **settings: Any) -> AnyClient:
    return face.make(**{"api_key": KEY, "base_url": URL, **settings})


def settings_of(client: AnyClient) -> dict[str, Any]:
    """The settings as a pickle carries them."""
    settings = client.__reduce__()[0].keywords
    assert isinstance(settings, dict)
    return settings


@pytest.mark.parametrize("name", [*DURATIONS, "max_retry_after"])
@pytest.mark.parametrize(
    ("value", "seconds"),
    [(7, 7.0), (0.25, 0.25), (Decimal("1.5"), 1.5), (timedelta(minutes=1, milliseconds=500), 60.5)],
)
def test_seconds_are_numbers_or_a_timedelta(face: Face, name: str, value: Any, seconds: float) -> None:
    assert settings_of(make(face, **{name: value}))[name] == seconds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_key", b"dp_key"),
        ("api_key", 5),
        ("base_url", b"https://docs.example.com"),
        ("project_id", 5),
        ("timeout", None),
        ("connect_timeout", "5"),
        ("deadline", [90]),
        ("max_retries", 1.0),
        ("max_retry_after", "60"),
        ("proxy", 8080),
        ("trust_env", 1),
        ("ca_bundle", 5),
        ("headers", [("x-team", "docs")]),
        ("headers", {"x-team": 5}),
        ("headers", {5: "docs"}),
        ("allow_http", "yes"),
        ("max_response_bytes", 1e6),
        ("job_path", None),
    ],
)
def test_a_wrong_type_is_a_type_error_that_names_the_setting(face: Face, name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=rf"\b{name}(\[.*\])? must be "):
        make(face, **{name: value})


@pytest.mark.parametrize("name", ["store", "ca_bundle"])
def test_a_text_that_cannot_be_a_path_is_not_called_a_wrong_type(face: Face, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} cannot be a path: 'utf-8' codec can't encode"):
        make(face, **{name: "docs\ud800"})


def test_names_that_are_no_settings_are_type_errors(face: Face) -> None:
    with pytest.raises(TypeError, match="tiemout"):
        make(face, tiemout=3)
    with pytest.raises(TypeError, match="positional"):
        face.make(KEY, URL)
    assert settings_of(face.make(KEY, base_url=URL))["base_url"] == URL


@pytest.mark.parametrize(
    ("missing", "variable"), [("api_key", "DOCPLATFORM_API_KEY"), ("base_url", "DOCPLATFORM_BASE_URL")]
)
def test_what_is_missing_is_named_with_its_variable(face: Face, missing: str, variable: str) -> None:
    with pytest.raises(ConfigurationError, match=f"pass {missing}= or set {variable}") as caught:
        make(face, **{missing: None})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DocPlatformError)


def test_the_budget_and_the_store_come_from_the_environment_too(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store, key = tmp_path / "visitors.db", tmp_path / "key"
    key.touch(0o600)
    key.write_text(stub.api_key)
    for name, value in {
        "API_KEY_FILE": key,
        "REQUESTS_PER_HOUR": 100,
        "RESERVE": 90,
        "STORE": store,
        "ORGANIZATION": "acme",
    }.items():
        monkeypatch.setenv(f"DOCPLATFORM_{name}", str(value))
    client = face.make(base_url=stub.url, project_id=stub.project_id)
    face.run(client.visitor_totals())
    assert client.stats.budget_left == 9
    assert settings_of(client)["organization"] == "acme"
    assert face.make(base_url=stub.url, reserve=0).stats.budget_left == 99
    store.unlink()
    face.run(face.client(stub).visitor_totals())
    assert not store.exists(), "a test's client never writes to the store that the environment names"


@pytest.mark.row("G9")
@pytest.mark.parametrize("key", ["Bearer dp_secretpart", "dp_secretpart\ud800"])
def test_a_key_that_cannot_be_one_is_refused_and_not_shown(face: Face, stub: StubServer, key: str) -> None:
    with pytest.raises(ValueError, match=re.compile("api[ _]key", re.IGNORECASE)) as caught:
        face.make(key, base_url=stub.url)
    # Not the whole traceback: it quotes this test.
    told = "\n".join([str(caught.value), repr(caught.value), repr(vars(caught.value))])
    assert "secretp" not in told
    assert stub.peak_connections == 0


SECONDS = "must be a finite number of seconds"
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    *(
        (name, value, ValueError, f"^{name} {SECONDS}, above 0 and at most 3153600000; it is ")
        for name in DURATIONS
        for value in (0, -1, float("nan"), float("inf"), 1e300)
    ),
    *(
        ("max_retry_after", value, ValueError, f"{SECONDS}, 0 or more")
        for value in (timedelta(-1), float("nan"))
    ),
    ("requests_per_hour", 0, ValueError, "^requests_per_hour must be 1 or more"),
    ("max_retries", -1, ValueError, "^max_retries"),
    ("max_retries", 2**40, ValueError, "^max_retries"),
    ("max_response_bytes", 1023, ValueError, "^max_response_bytes"),
    ("project_id", "\ud800", ValueError, "^project_id"),
    ("job_path", "//evil.example/{id}", ValueError, "^job_path"),
    ("job_path", "/v2/agent/{project_id}/job", ValueError, "^job_path"),
    # All of them are tried in tests/rust/config/url.rs.
    ("base_url", "http://docs.example.com", ConfigurationError, "allow_http=True"),
    ("base_url", "docs.example.com", ConfigurationError, "not a URL"),
    ("base_url", "https://user:hush@docs.example.com", ConfigurationError, "user name or password"),
    ("base_url", "https://docs.example.com?token=hush", ConfigurationError, "query"),
    *(
        ("headers", {name: "hush"}, ValueError, "^headers")
        for name in ("Authorization", "HOST", "accept-encoding", "a b", "")
    ),
    ("headers", {"x-team": "hush\r\nX-Evil: 1"}, ValueError, "^headers"),
    ("headers", {"x-team": "hush\ud800"}, ValueError, "^headers"),
    ("proxy", "", ConfigurationError, "^proxy "),
    ("proxy", "socks5://user:hush@proxy.example", ConfigurationError, "^proxy "),
]


@pytest.mark.row("G4", "G7")
@pytest.mark.parametrize(("name", "value", "error", "why"), REFUSED)
def test_a_setting_that_cannot_hold_is_refused_by_its_name_and_without_its_secrets(
    face: Face, name: str, value: Any, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why) as caught:
        make(face, **{name: value})
    assert "hush" not in str(caught.value)


def test_plain_http_to_other_hosts_may_be_allowed_and_no_retry_after_waited_for(face: Face) -> None:
    client = make(face, base_url="http://docs.example.com", allow_http=True, max_retry_after=0)
    assert settings_of(client)["max_retry_after"] == 0


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_ca_bundle_that_cannot_be_read_is_named(face: Face, tmp_path: Path, as_path: type[Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"^ca_bundle .*missing\.pem"):
        make(face, ca_bundle=as_path(tmp_path / "missing.pem"))
    (tmp_path / "empty.pem").write_text("not a certificate")
    with pytest.raises(ConfigurationError, match=r"empty\.pem: no PEM certificate"):
        make(face, ca_bundle=as_path(tmp_path / "empty.pem"))


def test_a_relative_ca_bundle_is_the_same_file_in_any_folder(
    face: Face, authority: Authority, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCPLATFORM_API_KEY", KEY)
    monkeypatch.chdir(authority.pem.parent)
    client = make(face, ca_bundle=authority.pem.name)
    pickled = pickle.dumps(client)
    monkeypatch.chdir(tmp_path)
    client.with_options(connect_timeout=1)
    pickle.loads(pickled)


def test_an_argument_of_calls_is_no_setting(face: Face) -> None:
    with pytest.raises(
        TypeError, match='"on_budget" is not a setting of a docplatform client: give it to each call'
    ):
        face.make(on_budget="stop")
