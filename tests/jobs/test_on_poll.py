"""``on_poll``: where it is called, what it may do, and what happens with its result or exception."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from docplatform import DataWarning, Job
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.phases import GOES_ON

SOON: dict[str, Any] = {"poll_interval": 0.01, "max_poll_interval": 0.02}
REQUEST_ID: ContextVar[str] = ContextVar("REQUEST_ID", default="none")


def test_it_sees_every_poll(face: Face, stub: StubServer) -> None:
    stub.script_job("active", "paused", "active", "completed")
    seen: list[Job] = []
    with pytest.warns(DataWarning, match="paused"):
        job = face.run(face.client(stub).run_job("Fix it", on_poll=seen.append, **SOON))
    assert [job.status for job in seen] == ["active", "paused", "active", "completed"]
    assert all(isinstance(job, Job) for job in seen)
    assert seen[-1] == job


def test_it_runs_in_the_callers_task_and_context(stub: StubServer, async_face: AsyncFace) -> None:
    client = async_face.client(stub)
    seen: list[tuple[object, str]] = []

    def look(_: Job) -> None:
        seen.append((asyncio.current_task(), REQUEST_ID.get()))
        REQUEST_ID.set("set by on_poll")

    async def wait() -> tuple[object, str]:
        REQUEST_ID.set("set by the caller")
        await client.run_job("Fix it", on_poll=look, **SOON)
        return asyncio.current_task(), REQUEST_ID.get()

    task, request_id = async_face.run(wait())
    assert seen == [(task, "set by the caller"), *[(task, "set by on_poll")] * 2]
    assert request_id == "set by on_poll"


@pytest.mark.parametrize("error", [KeyError("mine"), asyncio.CancelledError(), ConnectionError("mine")])
def test_what_it_raises_ends_the_wait(face: Face, stub: StubServer, error: BaseException) -> None:
    def raise_it(_: Job) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        face.run(face.client(stub).run_job("Fix it", on_poll=raise_it, **SOON))
    assert caught.value is error or isinstance(error, asyncio.CancelledError)
    assert [request.method for request in stub.requests] == ["POST", "GET"]


def test_a_stop_iteration_is_an_error_and_no_result(stub: StubServer, async_face: AsyncFace) -> None:
    def stop(_: Job) -> None:
        raise StopIteration("mine")

    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        async_face.run(async_face.client(stub).run_job("Fix it", on_poll=stop, **SOON))
    assert isinstance(caught.value.__cause__, StopIteration)


def test_what_it_returns_is_awaited_before_the_next_poll(stub: StubServer, async_face: AsyncFace) -> None:
    client = async_face.client(stub)
    polls: list[int] = []

    async def look(job: Job) -> str:
        assert (await client.get_job(job)).id == job.id
        before = stub.jobs[0].polls
        # Longer than an interval: a wait that went on meanwhile would poll.
        await asyncio.sleep(0.05)
        assert stub.jobs[0].polls == before
        polls.append(before)
        return "ignored"

    stub.script_job("active", "active", "active", "completed")
    job = async_face.run(client.run_job("Fix it", on_poll=look, **SOON))
    assert job.status == "completed"
    assert polls == [2, 4, 6]


class Quickly:
    """An awaitable that is no coroutine and never suspends."""

    awaited = 0

    def __await__(self) -> Generator[None, None, None]:
        type(self).awaited += 1
        return
        yield


class Waits:
    """Its calls make coroutines."""

    async def __call__(self, _: Job) -> None:
        raise AssertionError


async def wait_for_nothing(_: Job) -> None:
    raise AssertionError


@pytest.mark.parametrize("on_poll", [wait_for_nothing, partial(wait_for_nothing), Waits(), Waits().__call__])
def test_the_blocking_client_refuses_a_coroutine_function_before_it_creates(
    stub: StubServer, on_poll: Any
) -> None:
    with stub.client() as client, pytest.raises(TypeError, match=r"AsyncClient.*nothing was sent"):
        client.run_job("Fix it", on_poll=on_poll, **SOON)
    assert stub.requests == []


def test_an_awaitable_that_the_blocking_client_refuses_leaves_a_note_of_the_job(stub: StubServer) -> None:
    with stub.client() as client:
        Quickly.awaited = 0
        with pytest.raises(TypeError, match="AsyncClient") as caught:
            client.run_job("Fix it", on_poll=lambda _: Quickly(), **SOON)
    assert Quickly.awaited == 0
    assert len(stub.requests) == 2
    assert GOES_ON in " ".join(caught.value.__notes__)


class Broken:
    """An awaitable that is none."""

    def __await__(self) -> Generator[None, None, None]:
        raise KeyError("mine")


def test_an_awaitable_that_cannot_be_awaited_leaves_a_note_of_the_job(
    stub: StubServer, async_face: AsyncFace
) -> None:
    with pytest.raises(KeyError, match="mine") as caught:
        async_face.run(async_face.client(stub).run_job("Fix it", on_poll=lambda _: Broken(), **SOON))
    assert GOES_ON in " ".join(caught.value.__notes__)
