"""Exit codes, and the messages that come with them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from enum import IntEnum

import docplatform
from docplatform.cli import phrases
from docplatform.cli.output import fail, failure, say, shown


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILURE = 1
    USAGE = 2
    KEY = 3
    LIMIT = 4
    JOB_FAILED = 5
    WAIT_TIMED_OUT = 6
    UNCONFIRMED = 7
    BUSY = 75
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


MEANINGS = {
    Exit.DONE: "done",
    Exit.FAILURE: "another failure: the message says what happened",
    Exit.USAGE: "wrong usage or settings; nothing was created for it",
    Exit.KEY: "the API key is missing, cannot be used, was refused, or lacks a permission",
    Exit.LIMIT: "the rate limit, the request budget or the budget of new jobs is spent",
    Exit.JOB_FAILED: "the job failed, or several jobs failed in different ways",
    Exit.WAIT_TIMED_OUT: "the job was not final in time; it may keep running, and `job wait` waits for it again",
    Exit.UNCONFIRMED: "it is unknown whether a write was carried out, or its answer cannot be used; also if one of several jobs could not be read. Look on the platform before you run it again",
    Exit.BUSY: "another sync is filling the store, and this one does not wait for it",
    Exit.INTERRUPTED: "interrupted",
    Exit.BROKEN_PIPE: "the reader of the output closed the pipe",
    Exit.TERMINATED: "ended by SIGTERM, as `docker stop` and a cancelled pipeline send it",
}
"""The texts of ``--help`` and of the documentation."""

UNKNOWN = (
    "Look on the platform to see whether it was carried out, because sending it again would run the agent twice."
    " If it was, wait for it with `{wait}`; if not, run this again."
)
APPLIED = (
    "Do not run this again: it would be a second run of the agent. Find the job on the platform, and "
    "wait for it with `{wait}`."
)


class Terminated(KeyboardInterrupt):  # no error, as KeyboardInterrupt is none
    """Raised by SIGTERM: a command ends as after Ctrl-C."""


class KeyProblemError(docplatform.ConfigurationError):
    """There is no API key, or none that could be one."""


class OnTheWayError(docplatform.DocPlatformError):
    """A setting that failed after requests were sent, such as a store on a disk that is gone: not wrong usage."""


def code_of(error: BaseException) -> Exit:
    """The exit code of ``error``."""
    match error:
        case Terminated():
            return Exit.TERMINATED
        case KeyboardInterrupt():
            return Exit.INTERRUPTED
        case docplatform.UnconfirmedWriteError():
            return Exit.UNCONFIRMED
        case KeyProblemError() | docplatform.AuthenticationError() | docplatform.PermissionDeniedError():
            return Exit.KEY
        case docplatform.ConfigurationError():
            return Exit.USAGE
        case docplatform.RateLimitError() | docplatform.BudgetError():
            return Exit.LIMIT
        case docplatform.StoreBusyError():
            return Exit.BUSY
        case docplatform.SyncError():
            # A missing permission fails every slice, and has an exit code of its own.
            return shared((code_of(failure.error) for failure in error.failures), Exit.FAILURE)
        case docplatform.JobFailedError():
            return Exit.JOB_FAILED
        case docplatform.WaitTimeoutError():
            return Exit.WAIT_TIMED_OUT
        case _:
            return Exit.FAILURE


def shared(codes: Iterable[Exit], otherwise: Exit) -> Exit:
    """The code of several failures, if all have the same one."""
    found = {*codes}
    return found.pop() if len(found) == 1 else otherwise


def note(error: BaseException, line: str) -> None:
    """Adds a line that follows the message of an error. Python's own notes are for its users."""
    error.__dict__.setdefault("_lines", []).append(line)


def usage(message: str, error: BaseException | None = None) -> Exit:
    """Says what is wrong with the command."""
    fail(failure("UsageError", message, error))
    return Exit.USAGE


def facts(error: BaseException, again: phrases.Again = phrases.command) -> dict[str, object]:
    """The failure as ``--json`` shows it."""
    message = _message(error, again)
    if isinstance(error, KeyboardInterrupt):
        message = "ended by SIGTERM" if isinstance(error, Terminated) else "interrupted"
    # A class of this file stands for the one of the package that it extends.
    (kind, *_) = (one.__name__ for one in type(error).__mro__ if one.__module__ != __name__)
    return failure(kind, message, error)


def whole(error: BaseException, again: phrases.Again) -> dict[str, object]:
    """The same for one of several failures, whose message has all its advice."""
    return facts(error, again) | {"message": phrases.whole(error, again)}


def report(error: BaseException, again: phrases.Again = phrases.command) -> Exit:
    """Says on stderr what went wrong and what to do about it; returns the exit code.

    ``again`` makes a command to copy, with the options that this one was given.
    """
    code = code_of(error)
    lines, notes = phrases.lines(error, again), getattr(error, "_lines", ())
    if isinstance(error, KeyboardInterrupt):
        say("")
        lines = lines or [line for line in [phrases.sentence(error, again)] if line]
    fail(facts(error, again))
    if isinstance(error, docplatform.UnconfirmedWriteError):
        if error.request_id:
            say(f"The service calls this request {shown(error.request_id)}.")
        if not (lines or notes):
            unnamed = APPLIED if error.outcome == "applied" else UNKNOWN
            lines = [unnamed.format(wait=again("job", "wait", job="ID"))]
    lines += notes
    # Names of jobs are nothing that `doctor` checks.
    if code in (Exit.KEY, Exit.USAGE) and not phrases.has("once", error):
        lines.append(f"`{again('doctor')}` checks address, project and key, and says what to do.")
    job = error.job if isinstance(error, docplatform.DocPlatformError) else None
    # A wait that timed out says that itself, and a job that is not there is not waited for.
    says = (docplatform.NotFoundError, docplatform.WaitTimeoutError)
    if job is not None and not job.is_final and not isinstance(error, says):
        lines.append(phrases.goes_on(again, job=job.id, runs=False))
    for line in dict.fromkeys(lines):
        say(shown(line))
    return code


_WHAT_TO_DO = {
    errno.ENOSPC: ": free some space, or write to another disk",
    errno.ENAMETOOLONG: ": give a shorter name",
    errno.EROFS: ": write to another folder",
    errno.EACCES: ": change the permissions, or write to another folder",
}
"""The end of a message about a file, by the number of the system's error."""


def _message(error: BaseException, again: phrases.Again) -> str:
    if isinstance(error, OSError) and isinstance(error.strerror, str):
        # `str(error)` is for programmers. Whatever else is written has a name.
        named = isinstance(error.filename, str | bytes | os.PathLike)
        file = os.fsdecode(error.filename) if named else "standard output"
        return f"{file}: {error.strerror}{_WHAT_TO_DO.get(error.errno or 0, '')}"
    return phrases.sentence(error, again)
