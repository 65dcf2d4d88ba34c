"""``once=``: a creation that is made once by its name, whatever ends it and however often it is run (row M11)."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docplatform import (
    AuthenticationError,
    ConfigurationError,
    DocPlatformError,
    JobFailedError,
    RequestTimeoutError,
    UnconfirmedWriteError,
    WaitTimeoutError,
)
from docplatform.testing import StubServer
from helpers import AsyncFace, Face
from helpers.children import in_child, tell
from helpers.exports import eventually
from helpers.marks import posix
from helpers.once import (
    CREATE,
    NAME,
    PROMPT,
    SCRIPTS,
    begin,
    create,
    creating,
    done,
    is_unknown,
    posts,
    write,
)
from helpers.phases import HOLD, pending, with_a_job
from helpers.scripts import Script, environment, run_script

pytestmark = pytest.mark.row("M11")


# -- the same name again -----------------------------------------------------------------------------


def test_the_same_name_and_prompt_return_the_same_job_and_send_nothing(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    first = create(face, client)
    again = [create(face, client), create(face, face.client(stub, store=store))]
    assert [first, first] == again
    assert [job.raw for job in again] == [first.raw, first.raw]
    assert len(stub.requests) == 1


def test_run_job_under_a_name_waits_for_the_job_that_is_there(
    face: Face, stub: StubServer, client: Any
) -> None:
    stub.script_job("active", "failed")
    how: dict[str, Any] = {"once": NAME, "poll_interval": 0.01}
    for _ in range(2):
        with pytest.raises(
            JobFailedError, match="this name keeps this job, and another name creates another one"
        ):
            face.run(client.run_job(PROMPT, **how))
    stub.jobs[0].status = "completed"
    assert face.run(client.run_job(PROMPT, **how)).status == "completed"
    assert posts(stub) == 1


def test_a_failed_wait_for_the_job_of_a_name_has_no_status_of_another_run(
    face: Face, stub: StubServer, store: Path
) -> None:
    client = face.client(stub, store=store, max_retries=0)
    first = create(face, client)
    waits = partial(client.run_job, PROMPT, once=NAME, poll_interval=0.01)
    stub.fail_next(status=401, path="/job/job-1")
    with pytest.raises(AuthenticationError) as refused:
        face.run(waits())
    job = refused.value.job
    assert job is not None
    assert (job.id, job.status, job.is_final, job.raw["status"]) == (first.id, "unknown", False, "unknown")
    stub.fail_next(status=503, times=1_000)
    with pytest.raises(WaitTimeoutError) as late:
        face.run(waits(timeout=0.05))
    assert "(last status: never seen); its last poll failed: GET /" in str(late.value)
    assert ": status 503: " in str(late.value)


def test_another_prompt_under_a_name_is_refused(face: Face, stub: StubServer, client: Any) -> None:
    create(face, client)
    with pytest.raises(ValueError, match="another prompt"):
        create(face, client, "Document release 1.5")
    stub.fail_next(drop=True, path="/job")
    with pytest.raises(UnconfirmedWriteError):
        create(face, client, "Fix it", "other")
    with pytest.raises(ValueError, match="another prompt"):
        create(face, client, "Fix that", "other")
    assert posts(stub) == 2


def test_names_are_kept_by_account_and_project(face: Face, store: Path) -> None:
    with StubServer(projects=["demo", "blog"]) as stub:
        client = face.client(stub, store=store)
        jobs = [
            create(face, client),
            create(face, client, project_id="blog"),
            create(face, face.client(stub, store=store, organization="acme"), "Another task of theirs"),
            create(face, client, once="docs-1.5"),
        ]
        assert len({job.id for job in jobs}) == 4
        assert create(face, client, project_id="blog") == jobs[1]
        assert posts(stub) == 4


@pytest.mark.parametrize("known", [True, False])
def test_a_name_of_another_owner_creates_no_second_job_of_the_same_prompt(
    face: Face, stub: StubServer, store: Path, client: Any, known: bool
) -> None:
    """An organization was set, or a key changed. A record for the new owner leaves the old one's as it was."""
    if known:
        create(face, client)
    else:
        stub.fail_next(lost=True)
        with pytest.raises(UnconfirmedWriteError):
            create(face, client)
    other = face.client(stub, store=store, organization="acme")
    says = (
        'resolve_once("docs-1.4", "job-1")'
        if known
        else "whether it was carried out is not known, or not yet"
    )
    with pytest.raises(UnconfirmedWriteError, match=re.escape(says)) as caught:
        create(face, other)
    assert (caught.value.outcome, other.stats.requests) == ("unknown", 0)
    if known:
        with pytest.raises(ValueError, match="nothing was changed"):
            face.run(other.resolve_once(NAME, "job-9"))
    face.run(other.resolve_once(NAME, "job-1"))
    assert create(face, other).id == "job-1"
    with pytest.raises(ValueError, match="nothing was changed"):
        face.run(other.resolve_once(NAME, "job-2"))
    if known:
        assert create(face, client).id == "job-1"
    else:
        assert is_unknown(face, client)
    assert posts(stub) == 1


def test_a_job_of_another_name_is_not_recorded(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    create(face, client)
    stub.fail_next(lost=True)
    with pytest.raises(UnconfirmedWriteError):
        face.run(client.create_job("Another task", once="another"))
    for owner in (client, face.client(stub, store=store, organization="acme")):
        with pytest.raises(ValueError, match="another creation has the job"):
            face.run(owner.resolve_once("another", "job-1"))
    face.run(client.resolve_once("another", "job-2"))
    assert (create(face, client).id, posts(stub)) == ("job-1", 2)


def test_that_another_owners_job_does_not_exist_frees_the_name(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    stub.fail_next(drop=True)
    with pytest.raises(UnconfirmedWriteError):
        create(face, client)
    other = face.client(stub, store=store, organization="acme")
    face.run(other.resolve_once(NAME, None))
    assert create(face, other).id == "job-1"
    with pytest.raises(ValueError, match="nothing was changed"):
        face.run(client.resolve_once(NAME, None))


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, "\x1b[2J", "a ", "\xa0a"])
def test_a_name_is_checked(face: Face, stub: StubServer, client: Any, name: str) -> None:
    with pytest.raises(ValueError, match=r"once (must be a name|has white space around it)"):
        client.create_job(PROMPT, once=name)
    with pytest.raises(TypeError, match="once"):
        client.create_job(PROMPT, once=5)
    assert stub.requests == []


def test_a_name_needs_a_store(face: Face, stub: StubServer) -> None:
    client = face.client(stub)
    for call in (client.create_job, client.run_job):
        with pytest.raises(ConfigurationError, match="store=") as caught:
            call(PROMPT, once=NAME)
        assert caught.value.outcome == "not_sent"
    with pytest.raises(ConfigurationError, match="store="):
        face.run(client.resolve_once(NAME, None))
    assert stub.requests == []


@pytest.mark.row("M13")
def test_neither_the_prompt_nor_the_key_is_in_the_store(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    prompt = "Fix the s3cret-page of the quarterly report"
    stub.fail_next(drop=True)
    with pytest.raises(UnconfirmedWriteError):
        create(face, client, prompt)
    eventually(lambda: [file.name for file in store.parent.iterdir()] == [store.name])
    content = store.read_bytes()
    for secret in (b"s3cret-page", b"quarterly", stub.api_key.encode()):
        assert secret not in content


# -- what became of it -------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 503}, {"status": 201, "body": "no JSON"}])
def test_while_the_outcome_is_unknown_nothing_is_sent(
    face: Face, stub: StubServer, client: Any, fault: dict[str, Any]
) -> None:
    stub.fail_next(**fault)
    with pytest.raises(UnconfirmedWriteError, match="record what you found"):
        create(face, client)
    assert is_unknown(face, client)
    assert is_unknown(face, client)
    assert posts(stub) == 1


def test_a_job_that_somebody_found_is_the_names(face: Face, stub: StubServer, client: Any) -> None:
    jobs = [create(face, client, once=None), create(face, client, once=None)]
    for name, given in (("by id", jobs[0].id), ('Cafe\u0301 \\ "1"\u202e', jobs[1])):
        stub.fail_next(drop=True)
        with pytest.raises(UnconfirmedWriteError) as caught:
            create(face, client, once=name)
        literal = re.search(r"resolve_once\((.*), None\)", str(caught.value).split(", or ")[1])
        assert literal
        assert ast.literal_eval(literal[1]) == name
        sent = len(stub.requests)
        assert face.run(client.resolve_once(name, given)) is None
        found = create(face, client, once=name)
        assert len(stub.requests) == sent
        assert found.id == (given if isinstance(given, str) else given.id)
        # Of an id alone nothing more is known; it is waited for as any.
        assert found.status == ("unknown" if isinstance(given, str) else "active")
        assert not found.is_final
        assert face.run(client.run_job(PROMPT, once=name, poll_interval=0.01)).status == "completed"


def test_only_what_is_unknown_is_resolved(face: Face, stub: StubServer, client: Any) -> None:
    job = create(face, client)
    for name, wrong in ((NAME, None), (NAME, "job-2"), ("never used", None), ("never used", "job-1")):
        with pytest.raises(ValueError, match="nothing was changed"):
            face.run(client.resolve_once(name, wrong))
    # Said again, as by a pipeline that is run again, it is no error.
    for same in (job, job.id):
        face.run(client.resolve_once(NAME, same))
    assert create(face, client) == job
    unusable: Any
    for unusable in ("a/b", "", 5):
        with pytest.raises((ValueError, TypeError)):
            client.resolve_once(NAME, unusable)


@pytest.mark.parametrize("status", [400, 401, 422, 429])
def test_a_refusal_frees_the_name(face: Face, stub: StubServer, client: Any, status: int) -> None:
    stub.fail_next(status)
    with pytest.raises(DocPlatformError) as caught:
        create(face, client)
    assert caught.value.outcome == "rejected"
    # Also for another prompt.
    assert create(face, client, "Fix it").id == "job-1"
    assert posts(stub) == 2


@posix
def test_killed_in_the_pause_after_a_refusal_the_name_is_free(
    face: Face, stub: StubServer, store: Path
) -> None:
    """During the pause nothing is under way."""
    stub.fail_next(429, retry_after=30)
    with Script(CREATE, str(store), stub=stub) as script:
        stub.wait_for(lambda s: s.requests and s.requests[-1].status == 429, 30)
        eventually(lambda: names(store) == [])
        script.signal(signal.SIGKILL)
        script.end()
    assert create(face, face.client(stub, store=store)).id == "job-1"


def names(store: Path) -> list[Any]:
    """The names that are in a store, as another process sees them."""
    script = """
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    print(json.dumps(connection.execute("SELECT name, job FROM once").fetchall()))
"""
    found: list[Any] = json.loads(run_script(script, str(store)).out)
    return found


# -- messages ----------------------------------------------------------------------------------------


@pytest.mark.row("N3")
def test_the_same_message_under_a_name_is_sent_once(
    face: Face, stub: StubServer, store: Path, client: Any
) -> None:
    with_a_job(stub)
    stub.latency = 0.2
    clients = [client, face.client(stub, store=store)]
    calls = [partial(each.send_message, "job-1", PROMPT, once=NAME) for each in clients]
    assert {job.id for job in face.gather(calls)} == {"job-1"}
    stub.latency = 0
    found = face.run(client.follow_up("job-1", PROMPT, once=NAME, poll_interval=0.01, settle=0.1))
    assert (found.status, stub.jobs[0].prompts, posts(stub)) == ("completed", ["Fix it", PROMPT], 2)


@pytest.mark.row("N3")
@pytest.mark.parametrize("fault", [{"drop": True}, {"lost": True}, {"status": 503}])
def test_a_message_whose_outcome_is_unknown_is_not_sent_again(
    face: Face, stub: StubServer, client: Any, fault: dict[str, Any]
) -> None:
    with_a_job(stub)
    stub.fail_next(**fault)
    with pytest.raises(UnconfirmedWriteError) as caught:
        write(face, client, "message")
    says = f'resolve_once("{NAME}", "job-1") if the message arrived, or resolve_once("{NAME}", None) if it did not'
    assert says in str(caught.value)
    assert is_unknown(face, client, "message")
    with pytest.raises(ValueError, match="nothing was changed"):
        face.run(client.resolve_once(NAME, "job-2"))
    face.run(client.resolve_once(NAME, None))
    assert write(face, client, "message").id == "job-1"
    assert done(stub) == 1 + ("lost" in fault)


# -- two at once -------------------------------------------------------------------------------------


def test_of_several_processes_at_once_one_creates_and_the_others_wait_for_it(
    face: Face, stub: StubServer, store: Path
) -> None:
    stub.latency = 0.5
    script = """
import os
made = client(store=os.environ["STORE"])
print(json.dumps(run(lambda: made.create_job("Document release 1.4", once="docs-1.4")).id))
"""
    with ThreadPoolExecutor(3) as pool:
        made = pool.map(lambda _: tell(face.name, script, **environment(stub, STORE=str(store))), range(3))
        assert list(made) == ["job-1"] * 3
    assert posts(stub) == 1


def test_different_names_do_not_wait_for_each_other(face: Face, stub: StubServer, client: Any) -> None:
    stub.latency = 0.5
    begun = time.monotonic()
    made = face.gather([partial(client.create_job, PROMPT, once=f"name {n}") for n in range(8)])
    assert len({job.id for job in made}) == 8
    assert stub.peak_connections > 4, time.monotonic() - begun


def test_waiting_for_another_ends_with_the_deadline(face: Face, stub: StubServer, store: Path) -> None:
    with creating(stub, store):
        hasty = face.client(stub, store=store, deadline=5)
        with pytest.raises(RequestTimeoutError, match="still under way") as caught:
            create(face, hasty)
        assert (caught.value.outcome, caught.value.deadline_exceeded) == ("not_sent", True)
    assert is_unknown(face, face.client(stub, store=store))
    assert posts(stub) == 1


def test_what_is_being_created_cannot_be_resolved(face: Face, stub: StubServer, store: Path) -> None:
    with creating(stub, store):
        for organization in (None, "acme"):
            client = face.client(stub, store=store, organization=organization)
            with pytest.raises(ValueError, match="under way at this moment"):
                face.run(client.resolve_once(NAME, None))


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_both_halves_of_a_fork_know_a_name(stub: StubServer, store: Path) -> None:
    with stub.client(store=store) as client:
        in_child(lambda: client.create_job(PROMPT, once=NAME))
        assert client.create_job(PROMPT, once=NAME).id == "job-1"
        in_child(lambda: client.create_job(PROMPT, once=NAME))
        # While a request is under way in another thread of the parent.
        stub.latency = 0.5
        with ThreadPoolExecutor(1) as pool:
            under_way = pool.submit(client.create_job, PROMPT, once="two")
            stub.wait_for(pending)
            in_child(lambda: client.create_job(PROMPT, once="two"))
            assert under_way.result().id == "job-2"
    assert posts(stub) == 2


FORKED = """
import os, sys, threading, time
import docplatform

client = docplatform.Client(store=sys.argv[1])
create = lambda: client.create_job("Document release 1.4", once="docs-1.4")
threading.Thread(target=create, daemon=True).start()
sys.stdin.readline()
if not os.fork():
    print(os.getpid(), flush=True)
    for stream in range(3):
        os.close(stream)
time.sleep(60)
"""


@posix
def test_a_child_that_outlives_its_parent_does_not_keep_the_name(
    face: Face, stub: StubServer, store: Path
) -> None:
    """It was forked in the request, with the lock's file open."""
    with creating(stub, store, FORKED) as parent:
        parent.write("fork")
        child = int(parent.read())
        try:
            with pytest.raises(RequestTimeoutError, match="still under way"):
                create(face, face.client(stub, store=store, deadline=5))
            parent.signal(signal.SIGKILL)
            parent.end()
            assert is_unknown(face, face.client(stub, store=store, deadline=5))
        finally:
            os.kill(child, signal.SIGKILL)
    assert posts(stub) == 1


# -- interrupted -------------------------------------------------------------------------------------


@posix
@pytest.mark.row("N3")
@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_ends_in_the_request_leaves_the_outcome_unknown(
    face: Face, stub: StubServer, store: Path, number: int, kind: str
) -> None:
    begin(stub, kind)
    with creating(stub, store, SCRIPTS[kind]) as script:
        script.signal(number)
        assert script.end().status == -number
    client = face.client(stub, store=store)
    assert is_unknown(face, client, kind)
    face.run(client.resolve_once(NAME, "job-1"))
    assert write(face, client, kind).id == "job-1"
    assert done(stub) == 1


def test_a_cancelled_request_leaves_the_outcome_unknown(
    async_face: AsyncFace, stub: StubServer, store: Path
) -> None:
    client = async_face.client(stub, store=store)
    stub.latency = HOLD
    (note,) = async_face.cancel(lambda: client.create_job(PROMPT, once=NAME), lambda: stub.requests)
    assert "outcome is unknown" in note
    assert is_unknown(async_face, client)
    assert posts(stub) == 1


def test_what_is_cancelled_in_the_pause_after_a_refusal_frees_the_name(
    async_face: AsyncFace, stub: StubServer, store: Path
) -> None:
    """It stands in line: the service asked all to wait."""
    client = async_face.client(stub, store=store)
    stub.fail_next(429, retry_after=9)

    async def main() -> None:
        task = asyncio.create_task(client.create_job(PROMPT, once=NAME))
        while not (stub.requests and stub.requests[0].status):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async_face.run(main())
    assert create(async_face, async_face.client(stub, store=store)).id == "job-1"
