"""Keys that change: ``api_key=`` as a function, and a key's file (faults.md, N13)."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docplatform import AuthenticationError, Client, ConfigurationError, Job
from docplatform._native import _api_key
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.exports import ROWS
from helpers.keys import NEW, rotate


def as_option(file: Path) -> Any:
    """The key of ``--api-key-file``."""
    found = _api_key(file)
    assert found is not None
    return found[1]


def refused(caplog: pytest.LogCaptureFixture) -> int:
    """How many attempts got a 401."""
    return sum(record.__dict__.get("status") == 401 for record in caplog.records)


@pytest.fixture(params=["function", "variable", "option"])
def source(
    request: pytest.FixtureRequest, stub: StubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A key that may change: what ``api_key=`` is then, and what puts another key in its place."""
    file = tmp_path / "key"

    def put(key: str) -> None:
        file.write_text(key)
        file.chmod(0o600)

    put(stub.api_key)
    match request.param:
        case "function":
            return file.read_text, put
        case "variable":
            monkeypatch.setenv("DOCPLATFORM_API_KEY_FILE", os.fspath(file))
            return None, put
        case _:
            return as_option(file), put


@pytest.mark.row("N13")
def test_a_wait_survives_a_new_key(
    face: Face, stub: StubServer, source: Any, caplog: pytest.LogCaptureFixture
) -> None:
    api_key, put = source
    client = face.client(stub, api_key=api_key)

    def change(job: Job) -> None:
        if stub.jobs[0].polls == 1:
            rotate(stub)
            put(NEW)

    stub.script_job("active", "active", "active", "completed")
    job = face.run(client.run_job("Fix it", on_poll=change, poll_interval=0.01))
    assert (job.status, refused(caplog)) == ("completed", 1)
    assert repr(client).endswith("api_key='…next')")
    # A write that was refused with 401 is sent once more, and creates one job.
    stub._service._api_key = stub.api_key
    put(stub.api_key)
    face.run(client.create_job("Fix that"))
    assert (len(stub.jobs), refused(caplog)) == (2, 2)


@pytest.mark.row("N13")
def test_an_export_asks_for_a_new_key_when_its_caller_is_back(face: Face, given: StubServer) -> None:
    keys = [given.api_key]
    client = face.client(given, api_key=lambda: keys[-1])
    rows = client.visitors(page_size=100)
    first = face.next(rows)
    rotate(given)
    keys.append(NEW)
    # The refusal of the prefetched page comes while nobody waits for it.
    given.wait_for(lambda stub: len(stub.requests) >= 2)
    assert len([first, *face.all(rows)]) == len(ROWS)


@pytest.mark.row("N13")
def test_the_function_is_called_where_the_caller_is(face: Face, stub: StubServer) -> None:
    where: list[Any] = []

    def key() -> str:
        where.append(threading.get_ident())
        if face.name == "async":
            assert asyncio.current_task()
        return stub.api_key

    client = face.client(stub, api_key=key)
    assert (where, "api_key='…')" in repr(client)) == ([], True)
    face.run(client.create_job("Fix it"))
    face.run(client.with_options(timeout=9).get_job("job-1"))
    assert where == [threading.get_ident()]
    stub.fail_next(401)
    with pytest.raises(AuthenticationError):
        face.run(client.get_job("job-1"))
    assert (len(where), len(stub.requests)) == (2, 3)


def test_a_coroutine_function_is_awaited_by_the_asynchronous_client_only(
    stub: StubServer, async_face: AsyncFace
) -> None:
    async def key() -> str:
        await asyncio.sleep(0)
        return stub.api_key

    job = async_face.run(async_face.client(stub, api_key=key).create_job("Fix it"))
    assert job.status == "active"
    with pytest.raises(TypeError, match="api_key is a coroutine function, which Client cannot await"):
        stub.client(api_key=key)


def fails() -> str:
    raise KeyError("mine")


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (fails, KeyError, "mine"),
        (lambda: 5, TypeError, "the key that the function of api_key returned must be a str, not int"),
        (lambda: "Bearer dp_secret", ConfigurationError, "returned starts with"),
    ],
)
def test_a_function_that_brings_no_key_ends_the_call(
    face: Face, stub: StubServer, key: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as caught:
        face.run(face.client(stub, api_key=key).create_job("Fix it"))
    assert "the request was not sent, or not sent again after it was refused (outcome: not_sent)" in " ".join(
        caught.value.__notes__
    )
    assert getattr(caught.value, "outcome", "not_sent") == "not_sent"
    assert "secret" not in str(caught.value)
    assert stub.requests == []


def test_a_file_that_cannot_be_read_again_leaves_the_401(
    stub: StubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "key"
    file.write_text(stub.api_key)
    file.chmod(0o600)
    with stub.client(api_key=as_option(file)) as client:
        file.chmod(0o644)
        rotate(stub)
        with pytest.raises(AuthenticationError):
            client.get_job("job-1")
    assert "no newer API key was found: " in caplog.text
    assert "chmod 600" in caplog.text


def test_a_function_needs_the_account_that_a_store_belongs_to(stub: StubServer, store: Path) -> None:
    with pytest.raises(ConfigurationError, match="name the account with organization="):
        stub.client(api_key=lambda: NEW, store=store)
    with stub.client(api_key=lambda: stub.api_key, store=store, organization="acme") as client:
        assert client.create_job("Fix it", once="a") == client.create_job("Fix it", once="a")


def test_no_pickle_carries_a_function(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with stub.client(api_key=lambda: NEW) as client:
        monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
        with pickle.loads(pickle.dumps(client)) as copy:
            copy.create_job("Fix it")


def test_a_client_and_its_function_are_collected_together(stub: StubServer) -> None:
    def make() -> weakref.ref[Client]:
        client: Client = stub.client(api_key=lambda: repr(client))
        return weakref.ref(client)

    made = make()
    gc.collect()
    assert made() is None
