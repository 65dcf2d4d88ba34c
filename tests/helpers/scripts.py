"""Runs scripts in processes of their own: for exits, signals, forks and imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any, Self

from docplatform.testing import StubServer


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    status: int
    out: str
    err: str
    seconds: float


def environment(stub: StubServer | None = None, **more: str) -> dict[str, str]:
    """The environment of a script: with it, ``Client()`` is a client of ``stub``."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # The environment of the tests must not change what a script prints.
    for name in ("PYTHONWARNINGS", "PYTHONDEVMODE", "PYTHONASYNCIODEBUG", "RUST_BACKTRACE", "RUST_LOG"):
        env.pop(name, None)
    if stub is not None:
        env |= {
            "DOCPLATFORM_API_KEY": stub.api_key,
            "DOCPLATFORM_BASE_URL": stub.url,
            "DOCPLATFORM_PROJECT_ID": stub.project_id,
        }
    return env | more


def command(script: str, *args: str, options: tuple[str, ...] = ()) -> list[str]:
    """The command line of a script."""
    return [sys.executable, *options, "-c", dedent(script), *args]


def run_command(
    line: Sequence[str],
    *,
    stub: StubServer | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Ended:
    """Run a command to its end. One that hangs is killed, and fails the test."""
    begun = time.monotonic()
    given: dict[str, Any] = {"input": stdin} if stdin else {"stdin": subprocess.DEVNULL}
    done = subprocess.run(
        line,
        **given,
        env=environment(stub, **(env or {})),
        cwd=cwd,
        stdout=stdout,
        stderr=stderr,
        text=True,
        encoding="utf-8",
        timeout=110.0,
        check=False,
    )
    return Ended(done.returncode, done.stdout or "", done.stderr or "", time.monotonic() - begun)


def run_script(
    script: str,
    *args: str,
    stub: StubServer | None = None,
    options: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Ended:
    """Run ``script`` to its end."""
    return run_command(command(script, *args, options=options), stub=stub, env=env, cwd=cwd)


class Script:
    """A script that runs beside the test."""

    def __init__(
        self,
        script: str,
        *args: str,
        stub: StubServer | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command(script, *args),
            env=environment(stub, **(env or {})),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self) -> str:
        """The next line that it prints; empty once it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def listen(self) -> str:
        """The next line of its stderr; empty once it has ended."""
        assert self._process.stderr is not None
        return self._process.stderr.readline().strip()

    def write(self, line: str) -> None:
        """A line for it to read."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def signal(self, number: int) -> float:
        """Sends a signal; when, in seconds of ``time.monotonic``, which all processes share."""
        now = time.monotonic()
        self._process.send_signal(number)
        return now

    def end(self, timeout: float = 30.0) -> Ended:
        """Waits for its end."""
        begun = time.monotonic()
        out, err = self._process.communicate(timeout=timeout)
        return Ended(self._process.returncode, out, err, time.monotonic() - begun)
