"""Creations and messages under a name: makes, counts and inspects them."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from docplatform import Job, UnconfirmedWriteError
from docplatform.testing import StubServer
from helpers import Face
from helpers.phases import HOLD, pending, with_a_job
from helpers.scripts import Script

PROMPT, NAME = "Document release 1.4", "docs-1.4"

CREATE = """
import sys
import docplatform

client = docplatform.Client(store=sys.argv[1])
print("ready", flush=True)
print(client.create_job("Document release 1.4", once="docs-1.4").id, flush=True)
"""
"""A script that creates a job under the name, in the store that it is given."""

SCRIPTS = {"creation": CREATE, "message": CREATE.replace("create_job(", 'send_message("job-1", ')}
"""Scripts that create a job, or send a message to job-1."""


def begin(stub: StubServer, kind: str) -> None:
    """Lets the stub have the job that a message is for."""
    stub.reset()
    if kind == "message":
        with_a_job(stub)


def write(face: Face, client: Any, kind: str) -> Job:
    """Creates a job, or sends a message to job-1, under the name."""
    job: Job = face.run(
        client.create_job(PROMPT, once=NAME)
        if kind == "creation"
        else client.send_message("job-1", PROMPT, once=NAME)
    )
    return job


def done(stub: StubServer) -> int:
    """How often the service carried out the task."""
    return sum(job.prompts.count(PROMPT) for job in stub.jobs)


def create(face: Face, client: Any, prompt: str = PROMPT, once: str | None = NAME, **how: Any) -> Job:
    """Creates a job, under the name if no other is given."""
    job: Job = face.run(client.create_job(prompt, once=once, **how))
    return job


@contextmanager
def creating(stub: StubServer, store: Path, script: str = CREATE) -> Iterator[Script]:
    """While a script's request for the name is under way; it is killed after that, unless it was ended before."""
    stub.latency = HOLD
    with Script(script, str(store), stub=stub) as other:
        stub.wait_for(pending, timeout=30)
        yield other
        with suppress(ProcessLookupError):
            other.signal(signal.SIGKILL)
        other.end()
    stub.latency = 0


def wait_until_read(stub: StubServer) -> None:
    """Returns when the stub has read all requests of processes that have ended. Until then one may be in a socket."""
    with socket.create_connection(("127.0.0.1", int(stub.url.rpartition(":")[2]))) as later:
        # Connections are accepted in order.
        later.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        while later.recv(4096):
            pass
    stub.wait_for(lambda stub: not stub.connections)


def posts(stub: StubServer) -> int:
    """How many creations arrived."""
    return sum(request.method == "POST" for request in stub.requests)


def is_unknown(face: Face, client: Any, kind: str = "creation") -> bool:
    """Whether a name's outcome is unknown; asking sends nothing."""
    before = client.stats.requests
    with pytest.raises(UnconfirmedWriteError, match="record what you found") as caught:
        write(face, client, kind)
    assert caught.value.outcome == "unknown"
    return bool(client.stats.requests == before)
