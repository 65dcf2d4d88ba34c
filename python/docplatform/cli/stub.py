"""``docplatform stub``: serves the stub service for a shell, or for one command."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from docplatform.cli.exits import Exit
from docplatform.cli.output import count, say, shown
from docplatform.cli.plain import FAILURES
from docplatform.testing import StubServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform.testing._http import Exchange, Received

ALWAYS = 1_000_000
"""How often a failure comes if no number is given."""
JOBS = 1_000
"""How many jobs fail, or are never final, if no number is given."""
NOT_FOUND = 127
"""The exit code of a command that cannot be started."""
SIGNALLED = 128
"""A command that a signal ended has the exit code 128 + the signal's number, as in a shell."""
_FAILURE = re.compile("([a-z]+|[3-5][0-9]{2})(?::([1-9][0-9]{0,5}))?(?:@([1-9][0-9]{0,5}))?", re.ASCII)


class Verbose(StubServer):
    """A stub that prints every request on stderr."""

    def _received(self, received: Received) -> Exchange:
        exchange = super()._received(received)
        request, answer, _ = exchange
        say(shown(f"{request.method} {request.path} {answer.status if answer is not None else 'no answer'}"))
        return exchange


def rehearse(stub: StubServer, failure: str, active_polls: int) -> None:
    """Has the stub fail as ``failure`` says: see :data:`FAILURES`. Jobs before the first that fails complete after ``active_polls``."""
    found = _FAILURE.fullmatch(failure)
    kind, number, first = found.groups() if found else ("", None, None)
    after = int(first or 1) - 1
    if kind in {"failed", "active"}:
        for _ in range(after):
            stub.script_job(*["active"] * active_polls, "completed")
        for _ in range(int(number or JOBS)):
            stub.script_job("active", *(["failed"] if kind == "failed" else []))
    elif kind in {"drop", "lost"}:
        stub.fail_next(drop=kind == "drop", lost=kind == "lost", times=int(number or ALWAYS), after=after)
    elif kind.isdecimal():
        stub.fail_next(int(kind), times=int(number or ALWAYS), after=after)
    else:
        raise ValueError(f"--fail {failure}: give {FAILURES}; N and M are numbers from 1 on")


def serve(stub: StubServer) -> int:
    """Serves until Ctrl-C. Commands for a shell go to stdout, and lines for people to stderr."""
    is_windows = sys.platform == "win32"
    line = "$env:{} = '{}'" if is_windows else "export {}={}"
    with _listening(stub):
        try:
            shell = "PowerShell" if is_windows else "another terminal"
            say(f"The stub serves until Ctrl-C. Paste these lines into {shell}.")
            for name, value in settings(stub).items():
                print(line.format(name, value), flush=True)
            threading.Event().wait()
        except KeyboardInterrupt:
            # The usual way to end a server.
            say(f"\n{count(len(stub.requests), 'request')} served.")
    return 0


def run(stub: StubServer, command: Sequence[str]) -> int:
    """Serves while a command runs that finds the stub in its environment, and returns the command's exit code."""
    program = shutil.which(command[0])
    if program is None:
        say(f"docplatform: stub --run: {shown(command[0])}: no such command: check its name, and PATH.")
        return NOT_FOUND
    with _listening(stub):
        try:
            process = subprocess.Popen(  # noqa: S603  # what the user asks for
                [program, *command[1:]], env=os.environ | settings(stub)
            )
        except OSError as error:
            say(f"docplatform: stub --run: {shown(command[0])} cannot be started: {shown(error.strerror)}.")
            return NOT_FOUND
        _leave_signals_to(process)
        code = process.wait()
    if code in (-signal.SIGINT, Exit.INTERRUPTED):
        say("The stub has ended, too, and its jobs with it.")
    return code if code >= 0 else SIGNALLED - code


def _listening(stub: StubServer) -> StubServer:
    """The stub, started. The error about a port that it cannot have names the option."""
    try:
        return stub.start()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        advice = "give another, or leave it out for any that is free"
        raise OSError(error.errno, f"{why}: {advice}", "--port") from error


def _leave_signals_to(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C reaches the command from the terminal by itself; SIGTERM and SIGHUP are passed on."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)
    for name in ("SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, lambda number, _: process.send_signal(number))


def settings(stub: StubServer) -> dict[str, str]:
    """The environment that makes a client use the stub."""
    return {
        "DOCPLATFORM_BASE_URL": stub.url,
        "DOCPLATFORM_API_KEY": stub.api_key,
        "DOCPLATFORM_PROJECT_ID": stub.project_id,
    }
