"""Work in other processes: scripts that print their result as JSON, and forked children."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from typing import Any

from helpers.scripts import run_script

PRELUDE = """
import asyncio, json, sys
import docplatform

face = sys.argv[1]

def client(**settings):
    make = docplatform.Client if face == "sync" else docplatform.AsyncClient
    return make(**{"max_retries": 0, **settings})

def run(call):
    async def wait():
        return await call()
    return call() if face == "sync" else asyncio.run(wait())

def everything(rows):
    async def wait():
        return [row async for row in rows()]
    return list(rows()) if face == "sync" else asyncio.run(wait())

def outcome(call):
    try:
        call()
    except docplatform.DocPlatformError as error:
        told = {"outcome": error.outcome, "text": str(error), "retry_after": getattr(error, "retry_after", None)}
        return {"error": type(error).__name__, **told}
    return {"error": None}

def peak():
    # Not getrusage: what it says begins with the parent's.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
"""


def tell(face: str, script: str, /, **environment: str) -> Any:
    """The JSON that ``script`` prints, with a few names imported (see ``PRELUDE``)."""
    ended = run_script(PRELUDE + script, face, options=("-W", "error"), env=environment)
    assert (ended.status, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)


def in_child(work: Callable[[], Any]) -> Any:
    """The result of ``work`` in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            result = pickle.dumps((True, work()))
        except BaseException as error:  # noqa: BLE001  # told by the parent
            result = pickle.dumps((False, repr(error)))
        os.write(writer, result)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        worked, value = pickle.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0
    assert worked, value
    return value
