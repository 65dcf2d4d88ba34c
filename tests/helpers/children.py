"""Scripts that run in a process of their own, and say what came of it as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

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
    """What ``script`` prints as JSON, with a few names at hand (see ``PRELUDE``)."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PRELUDE + script, face],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)
