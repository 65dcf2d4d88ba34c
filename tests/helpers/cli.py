"""Runs the command line: in this process if possible, else in one of its own."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from docplatform.cli import main
from docplatform.testing import StubServer
from helpers.scripts import Ended, run_command, run_script

SCRIPT = "import sys; from docplatform.cli import main; sys.exit(main())"
"""Runs as the installed script does."""

JANUARY = ("--from", "2024-01-01", "--to", "2024-02-01")
"""A range of days."""

LOST = "had been answered. With --store FILE what was answered is kept, and the next run continues after it."
"""The end of a message if answers were not kept."""

SOON = ("--poll-interval", "0.01")
"""Options for a short wait."""

SIGNALS = pytest.mark.parametrize(
    ("number", "code", "says"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
    ids=["Ctrl-C", "SIGTERM"],
)
"""Runs a test once with each signal that ends a command: its number, the exit code, and the word for it."""

ROWS: list[dict[str, Any]] = [
    {"path": f"/{i}", "human": i * 7 % 500, "ai": i * 11 % 500, "total": i * 13 % 500, "more": "x"}
    for i in range(600)
]
"""Readers whose order by path, people, agents and all of them differs."""

TOTALS = {"human": 3, "ai": 2, "total": 4}
"""The totals of a site, which are less than the sum of its rows."""


def kept(store: object) -> str:
    """The last line of a command that ended early and has a store."""
    return f"What was fetched is in {store}: run the same command again to continue."


def page(*rows: dict[str, Any], more: bool = False) -> dict[str, Any]:
    """The service's answer of some rows."""
    return {"totals": TOTALS, "visitors": rows, "hasMore": more}


def run(stub: StubServer | None, *arguments: str, **env: str) -> Ended:
    """The command line in a process of its own, where a warning is an error."""
    return run_script(SCRIPT, *arguments, stub=stub, options=("-W", "error"), env=env)


def shell(stub: StubServer, line: str, **env: str) -> Ended:
    """A line of bash; in it, ``$cli`` is the command."""
    cli = f"{sys.executable} -W error -m docplatform"
    return run_command(["bash", "-c", line], stub=stub, env={"cli": cli, **env})


@contextmanager
def closed_pipe() -> Iterator[int]:
    """The writing end of a pipe without a reader."""
    read, write = os.pipe()
    os.close(read)
    try:
        yield write
    finally:
        os.close(write)


def unread(stub: StubServer, *arguments: str) -> tuple[int, str]:
    """The exit code and the stderr of a command whose stdout is a closed pipe."""
    with closed_pipe() as write:
        line = [sys.executable, "-W", "error", "-m", "docplatform", *arguments]
        ended = run_command(line, stub=stub, stdout=write)
    return ended.status, ended.err


PYTHONS = re.compile(
    r"Traceback|\w_\w+=|\bTrue\b|Path\(|Errno|\b[a-z]+_\w+\(|\b(client|error)\.\w+|\(os error|\(api_key\)|wait_for_job|the error's"
)
"""Names of Python that users of the command line do not know."""


class Cli:
    """Runs a command here, against a stub: ``cli("job", "get", "job-1").out``.

    It checks that no error message uses Python's words, and that no output contains the key.
    """

    def __init__(
        self, stub: StubServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.stub = stub
        monkeypatch.setenv("DOCPLATFORM_API_KEY", stub.api_key)
        monkeypatch.setenv("DOCPLATFORM_BASE_URL", stub.url)
        monkeypatch.setenv("DOCPLATFORM_PROJECT_ID", stub.project_id)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ended:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        begun = time.monotonic()
        status = main(arguments)
        seconds = time.monotonic() - begun
        out, err = self._capsys.readouterr()
        assert not PYTHONS.search(err), err
        assert self.stub.api_key not in out + err
        return Ended(int(status), out, err, seconds)

    def into(self, descriptor: int, *arguments: str) -> Ended:
        """Runs a command whose standard output is an open file."""
        with os.fdopen(os.dup(descriptor), "w") as stdout, self._monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stdout)
            return self(*arguments)

    def interrupted(self, *arguments: str, when: Callable[[StubServer], object]) -> Ended:
        """Runs a command and presses Ctrl-C as soon as the stub has seen something."""
        main_thread = threading.get_ident()

        def press() -> None:
            self.stub.wait_for(when)
            signal.pthread_kill(main_thread, signal.SIGINT)

        with ThreadPoolExecutor(1) as pool:
            pressed = pool.submit(press)
            ended = self(*arguments)
            pressed.result()
        return ended
