"""A client as an object: its lifetime, its handles, its ``repr``, and pickling."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docplatform import AsyncClient, Client, ConfigurationError, Stats
from docplatform.testing import StubServer
from helpers import AnyClient, Face
from helpers.phases import pending

KEY = "dp_test_0123456789abcdefghij"
URL = "https://docs.example.com"

CALLS: list[Callable[[AnyClient], Any]] = [
    lambda client: client.create_job("Fix it"),
    lambda client: client.get_job("job-1"),
    lambda client: client.send_message("job-1", "Fix it"),
    lambda client: client.wait_for_job("job-1"),
    lambda client: client.run_job("Fix it"),
    lambda client: client.follow_up("job-1", "Fix it"),
    lambda client: client.visitors(),
    lambda client: client.visitor_totals(),
    lambda client: client.paginate("/v1/rows", items="rows"),
    lambda client: client.request("GET", "/v1/rows"),
    lambda client: client.with_options(timeout=1),
]


def test_errors_of_wrong_arguments_name_no_private_class(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for call in (
        client.create_job,
        client.follow_up,
        lambda: client.get_job("job-1", jub="x"),
        lambda: client.visitors().to_csv(),
        lambda: client.visitors().totals(1),
    ):
        with pytest.raises(TypeError, match=r"^(client|rows|(Async)?Visitors)\.\w+\(\) (missing|got|takes)"):
            call()


# -- life ------------------------------------------------------------------------------------------


@pytest.mark.row("I14")
def test_close_may_be_repeated(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    face.run(client.visitor_totals())
    assert face.run(client.close()) is None
    assert face.run(client.close()) is None
    stub.wait_for(lambda stub: stub.connections == 0)


@pytest.mark.row("I14")
@pytest.mark.parametrize("call", CALLS)
def test_use_after_close_is_a_runtime_error_at_the_call(
    face: Face, stub: StubServer, call: Callable[[AnyClient], Any]
) -> None:
    client = face.client(stub)
    face.run(client.close())
    with pytest.raises(RuntimeError, match="this client is closed; make a new one"):
        call(client)
    assert stub.peak_connections == 0


def test_what_a_closed_client_was_remains_readable(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    face.run(client.visitor_totals())
    face.run(client.close())
    assert client.stats.requests == 1
    assert repr(client).endswith("closed)")


@pytest.mark.row("I14")
def test_a_with_block_closes_and_lets_exceptions_pass(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    error = ZeroDivisionError()

    def blocking() -> None:
        with client as same:
            assert same is client
            raise error

    async def awaiting() -> None:
        async with client as same:
            assert same is client
            raise error

    with pytest.raises(ZeroDivisionError) as caught:
        face.call(blocking if face.name == "sync" else awaiting)
    assert caught.value is error
    assert error.__context__ is None
    with pytest.raises(RuntimeError, match="closed"):
        face.run(client.visitor_totals())


@pytest.mark.row("I14")
def test_an_iterator_of_a_closed_client_hands_out_its_page_and_no_other(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    rows = client.visitors(page_size=5)
    got = [face.next(rows)]
    face.run(client.close())
    got += [face.next(rows) for _ in range(4)]
    with pytest.raises(RuntimeError, match="closed"):
        face.next(rows)
    other = face.client(stub)
    got += face.all(other.visitors(resume=rows.checkpoint))
    assert len({row["path"] for row in got}) == len(got) == 1_000


@pytest.mark.row("I14")
def test_a_call_under_way_goes_on_when_its_client_is_closed(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    stub.latency = 0.2

    def close() -> Any:
        stub.wait_for(pending)
        return client.close() if face.name == "sync" else asyncio.run(client.close())

    async def close_elsewhere() -> Any:
        await asyncio.to_thread(close)

    closing = close if face.name == "sync" else close_elsewhere
    job, _ = face.gather([lambda: client.create_job("Fix it"), closing])
    assert job.id == "job-1"
    with pytest.raises(RuntimeError, match="closed"):
        face.run(client.get_job(job))


@pytest.mark.row("I14")
def test_a_client_that_is_dropped_closes_its_connections(face: Face, stub: StubServer) -> None:
    client = stub.client() if face.name == "sync" else stub.async_client()
    face.run(client.visitor_totals())
    stub.wait_for(lambda s: s.connections == 1)
    weak = weakref.ref(client)
    del client
    assert weak() is None
    stub.wait_for(lambda s: s.connections == 0)


# -- handles ---------------------------------------------------------------------------------------


def test_a_handle_shares_connections_and_counts(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    handle = client.with_options(timeout=3, max_retries=0, headers={"x-team": "docs"})
    assert type(handle) is type(client)
    face.run(client.visitor_totals())
    face.run(handle.visitor_totals())
    assert client.stats == handle.stats
    assert client.stats.requests == 2
    assert stub.peak_connections == 1
    assert [request.headers.get("x-team") for request in stub.requests] == [None, "docs"]


def test_a_handle_is_closed_apart(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    handle = client.with_options(timeout=3)
    face.run(handle.close())
    with pytest.raises(RuntimeError, match="closed"):
        handle.get_job("job-1")
    face.run(client.visitor_totals())
    second = client.with_options(timeout=3)
    face.run(client.close())
    face.run(second.visitor_totals())
    assert stub.connections == 1
    face.run(second.close())
    stub.wait_for(lambda stub: stub.connections == 0)


def test_a_handle_keeps_what_its_client_read_from_the_environment(
    face: Face, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", stub.url)
    monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", stub.project_id)
    client = face.make()
    for name in ("API_KEY", "BASE_URL", "PROJECT_ID"):
        monkeypatch.delenv(f"DOCPLATFORM_{name}")
    handle = client.with_options(timeout=3)
    face.run(handle.visitor_totals())
    face.run(handle.close())
    assert [request.status for request in stub.requests] == [200]


def test_changes_are_checked_as_settings_are(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    with pytest.raises(TypeError, match="tiemout"):
        client.with_options(tiemout=3)
    with pytest.raises(TypeError, match="positional"):
        client.with_options(3)
    with pytest.raises(ValueError, match=r"^timeout"):
        client.with_options(timeout=0)
    with pytest.raises(ConfigurationError, match=r"^base_url"):
        client.with_options(base_url="http://docs.example.com")
    with pytest.raises(ConfigurationError, match="DOCPLATFORM_API_KEY"):
        client.with_options(api_key=None)
    assert face.run(client.visitor_totals()).total > 0


# -- what it shows ---------------------------------------------------------------------------------


def test_stats_are_a_snapshot_of_requests_and_retries(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    before = client.stats
    assert before == Stats(requests=0, retries=0, waited=0.0, budget_left=None, jobs_left=None)
    stub.fail_next(status=502)
    face.run(client.visitor_totals())
    after = client.stats
    assert before.requests == 0
    assert (after.requests, after.retries, after.budget_left) == (2, 1, None)
    # The one pause: full jitter below half a second, and what the machine makes of it.
    assert after.waited > 0


@pytest.mark.row("H1", "H11")
@pytest.mark.parametrize(("key", "hint"), [(KEY, "…ghij"), ("dp_19_letters_longx", "…")])
def test_the_repr_shows_no_more_of_a_key_than_its_end(face: Face, key: str, hint: str) -> None:
    client = face.make(key, base_url=URL, headers={"x-team": "hush"}, proxy="http://user:hush@proxy.example")
    name = "Client" if face.name == "sync" else "AsyncClient"
    assert repr(client) == f"{name}(base_url='{URL}', project_id=None, api_key='{hint}')"
    assert f"{client}" == repr(client)
    assert "hush" not in repr(client)


def test_the_repr_and_a_notebook_show_the_store_and_what_is_left_of_the_budget(
    face: Face, stub: StubServer, tmp_path: Path
) -> None:
    client = face.client(stub, store=tmp_path / "visitors.db", requests_per_hour=7)
    face.run(client.visitor_totals())
    assert repr(client).endswith(f", store='{tmp_path / 'visitors.db'}', budget_left=6)")
    html = client._repr_html_()
    assert f"<th>store</th><td>{tmp_path / 'visitors.db'}</td>" in html
    assert "<th>budget left</th><td>6</td>" in html
    face.run(client.close())
    assert repr(client).endswith("visitors.db', closed)")


@pytest.mark.row("H1")
def test_no_attribute_gives_a_secret_away(face: Face) -> None:
    client = face.make(KEY, base_url=URL, headers={"x-team": "hush"}, proxy="http://user:hush@proxy.example")
    assert not hasattr(client, "__dict__")
    shown = [repr(getattr(client, name)) for name in dir(client)]
    assert not any(KEY in text or "hush" in text for text in shown)


# -- pickles ---------------------------------------------------------------------------------------

COPIES: list[Callable[[AnyClient], AnyClient]] = [
    lambda client: pickle.loads(pickle.dumps(client)),
    lambda client: pickle.loads(pickle.dumps(client, protocol=2)),
    copy.copy,
    copy.deepcopy,
]


@pytest.mark.row("H4")
@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_has_the_settings_and_the_key_of_the_environment(
    face: Face, stub: StubServer, copied: Callable[[AnyClient], AnyClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = face.client(stub, timeout=7, max_retries=0, job_path="/v3/{project_id}/{id}", trust_env=False)
    monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
    other = copied(client)
    assert type(other) is type(client)
    assert other.__reduce__()[0].keywords == client.__reduce__()[0].keywords
    face.run(other.visitor_totals())
    assert (other.stats.requests, client.stats.requests) == (1, 0)
    face.run(other.close())


@pytest.mark.row("H4")
@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_without_a_key_in_the_environment_is_an_error(
    face: Face, copied: Callable[[AnyClient], AnyClient]
) -> None:
    client = face.make(KEY, base_url=URL)
    with pytest.raises(ConfigurationError, match="DOCPLATFORM_API_KEY"):
        copied(client)


def test_a_pickle_keeps_the_address_and_project_of_its_client(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCPLATFORM_API_KEY", KEY)
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", URL)
    monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", "here")
    data = pickle.dumps(face.make())
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", "https://elsewhere.example.com")
    monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", "elsewhere")
    client = pickle.loads(data)
    assert f"base_url='{URL}', project_id='here'" in repr(client)


@pytest.mark.row("H4")
@pytest.mark.parametrize(
    ("settings", "secret"),
    [
        ({"headers": {"x-team": "hush"}}, "headers"),
        ({"proxy": "http://user:hush@proxy.example"}, "proxy"),
    ],
)
def test_a_client_with_other_secrets_is_not_pickled(
    face: Face, settings: dict[str, Any], secret: str
) -> None:
    client = face.make(KEY, base_url=URL, **settings)
    for copied in COPIES:
        with pytest.raises(TypeError, match=secret) as caught:
            copied(client)
        assert "hush" not in str(caught.value)


# -- one contract, two faces -----------------------------------------------------------------------


def public(face: type[Any]) -> dict[str, Any]:
    return {name: getattr(face, name) for name in dir(face) if not name.startswith("_")}


def test_both_faces_have_the_same_names_and_signatures() -> None:
    assert inspect.signature(Client) == inspect.signature(AsyncClient)
    assert public(Client).keys() == public(AsyncClient).keys()
    for name, method in public(Client).items():
        twin = public(AsyncClient)[name]
        assert callable(method) == callable(twin), name
        if callable(method):
            assert inspect.signature(method) == inspect.signature(twin), name
            assert method.__doc__ == twin.__doc__, name


SAMPLES = {
    "prompt": "p",
    "prompts": {"links": "p"},
    "job": "job-1",
    "name": "n",
    "thread_id": "t",
    "projects": "demo",
    "period": "2025-12",
}
SAMPLES |= {"method": "GET", "path": "/v1/x", "items": "rows"}
METHODS = [name for name, method in public(AsyncClient).items() if callable(method)]


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"close", "with_options"}))
def test_a_method_takes_what_its_signature_shows_and_nothing_else(name: str, store: Path) -> None:
    client = AsyncClient(KEY, base_url=URL, project_id="demo", store=store)
    method = getattr(client, name)
    parameters = inspect.signature(method).parameters
    arguments = {key: SAMPLES.get(key, parameter.default) for key, parameter in parameters.items()}
    made = method(**arguments)
    if inspect.iscoroutine(made):
        made.close()
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        method(**arguments, unknown=1)


def test_the_defaults_in_the_signature_are_those_in_force(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCPLATFORM_API_KEY", KEY)
    monkeypatch.setenv("DOCPLATFORM_BASE_URL", URL)
    client = face.make()
    in_force = {**client.__reduce__()[0].keywords, "base_url": None}
    parameters = inspect.signature(type(client)).parameters.values()
    written = {parameter.name: parameter.default for parameter in parameters}
    # A pickle never carries these two.
    assert (written.pop("api_key"), written.pop("headers")) == (None, None)
    assert written == in_force
    assert {p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY} == {"api_key"}
