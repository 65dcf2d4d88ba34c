"""Exit codes, and the messages that come with them."""

from __future__ import annotations

import errno
import os
import re
import shlex
from enum import IntEnum
from typing import TYPE_CHECKING

import docplatform
from docplatform.cli import words
from docplatform.cli.output import say, shown

if TYPE_CHECKING:
    from collections.abc import Callable


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
    Exit.USAGE: "wrong usage or settings; nothing was sent",
    Exit.KEY: "the API key is missing, was refused, or lacks a permission",
    Exit.LIMIT: "the rate limit or the request budget is spent",
    Exit.JOB_FAILED: "the job failed",
    Exit.WAIT_TIMED_OUT: "the job was not final in time; it keeps running, and `job wait` waits for it again",
    Exit.UNCONFIRMED: "a write whose outcome is unknown: look on the platform before you run it again",
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


NAMED = (
    "Look on the platform to see whether the job is there. If it is: `{found}`; if it is not there after some minutes: `{never}`. Then run this again. "
    "Until then it sends nothing."
)


CREATED = "Find the job on the platform, and record it: `{found}`. Then run this again. Until then it sends nothing."


ELSEWHERE = (
    "To use that job under this name: `{found}`, then run this again. For another job, use another name."
)


WORKING = ("active", "unknown")
"""The statuses of a job that keeps running: at work, or not read yet."""


class Terminated(KeyboardInterrupt):  # no error, as KeyboardInterrupt is none
    """Raised by SIGTERM: a command ends as after Ctrl-C."""


class KeyProblemError(docplatform.ConfigurationError):
    """There is no API key, or none that could be one."""


class OnTheWayError(docplatform.DocPlatformError):
    """A setting that failed after requests were sent, such as a store on a disk that is gone: not wrong usage."""


class UnresolvedNameError(docplatform.UnconfirmedWriteError):
    """A creation under a name of ``--once``, whose outcome is unknown."""

    name = ""
    known: str | None = None
    """Its job, where another owner of the store has the name."""

    @classmethod
    def of(cls, error: docplatform.UnconfirmedWriteError, name: str) -> UnresolvedNameError:
        """``error`` without its advice for users of Python."""
        text, _, advice = str(error).partition("; then record what you found")
        made = cls(text)
        made.__dict__.update(error.__dict__)
        made.name = name
        known = re.search(r'", "([^"]*)"\)', advice)
        made.known = known[1] if known and known[1] != "JOB-ID" else None
        return made


def command(*words: str, options: tuple[str, ...] = (), job: str | None = None) -> str:
    """A command to copy; ``job`` is the id that it ends with."""
    last = () if job is None else ("--", job) if job.startswith("-") else (job,)
    return shown(shlex.join(["docplatform", *words, *options, *last]))


def code_of(error: Exception) -> Exit:
    """The exit code of ``error``."""
    match error:
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
            codes = {code_of(failure.error) for failure in error.failures}
            return codes.pop() if len(codes) == 1 else Exit.FAILURE
        case docplatform.JobFailedError():
            return Exit.JOB_FAILED
        case docplatform.WaitTimeoutError():
            return Exit.WAIT_TIMED_OUT
        case _:
            return Exit.FAILURE


def report(error: Exception, again: Callable[..., str] = command) -> Exit:
    """Says on stderr what went wrong and what to do about it; returns the exit code.

    ``again`` makes a command to copy, with the options that this one was given.
    """
    code = code_of(error)
    say(f"docplatform: {shown(_message(error))}")
    job = error.job if isinstance(error, docplatform.DocPlatformError) else None
    if isinstance(error, docplatform.UnconfirmedWriteError):
        if error.request_id:
            say(f"The service calls this request {shown(error.request_id)}.")
        if isinstance(error, UnresolvedNameError):
            is_applied = error.outcome == "applied"
            say(how_to_resolve(error.name, again, error.known, is_applied=is_applied))
        else:
            advice = APPLIED if error.outcome == "applied" else UNKNOWN
            say(advice.format(wait=again("job", "wait", job="ID")))
    for note in getattr(error, "__notes__", ()):
        # The client's own name arguments of Python.
        if not note.startswith("docplatform: "):
            say(shown(note))
    if code in (Exit.KEY, Exit.USAGE):
        say(f"`{again('doctor')}` checks every setting, and says what to do.")
    if job is not None and not job.is_final and not isinstance(error, docplatform.NotFoundError):
        say(goes_on(job.id, again) if job.status in WORKING else ends_at(job))
    return code


_WHAT_TO_DO = {
    errno.ENOSPC: ": free some space, or write to another disk",
    errno.ENAMETOOLONG: ": give a shorter name",
    errno.EROFS: ": write to another folder",
    errno.EACCES: ": change the permissions, or write to another folder",
}
"""The end of a message about a file, by the number of the system's error."""


def _message(error: Exception) -> str:
    match error:
        case OSError(strerror=str(why)):
            # `str(error)` is for programmers. Whatever else is written has a name.
            named = isinstance(error.filename, str | bytes | os.PathLike)
            file = os.fsdecode(error.filename) if named else "standard output"
            return f"{file}: {why}{_WHAT_TO_DO.get(error.errno or 0, '')}"
        case docplatform.ResponseError() | docplatform.UnconfirmedWriteError():
            # Mostly the service's text.
            told = str(error).replace("raise max_response_bytes= or lower page_size=", "lower --page-size")
            return told.replace("check base_url and", "check --base-url and")
        case (
            ValueError()
            | docplatform.BudgetError()
            | docplatform.ConnectError()
            | docplatform.PaginationError()
        ):
            # These name Python's arguments. Other texts may be the service's, and stay as they are.
            return words.as_options(str(error))
        case docplatform.JobFailedError() | docplatform.WaitTimeoutError():
            # Without the advice for users of Python; the command's own follows.
            return str(error).rpartition("; ")[0] or str(error)
        case docplatform.AuthenticationError():
            return str(error).replace("(api_key)", "(--api-key-file)")
        case docplatform.StatusError():
            # Only the advice after the service's text names arguments.
            told, status, advice = str(error).partition(f"status {error.status}: {error.message or ''}")
            return told + status + words.as_options(advice)
        case _:
            return str(error)


def how_to_resolve(
    name: str, again: Callable[..., str], known: str | None = None, *, is_applied: bool = False
) -> str:
    """Says how to record what became of a name, with its job if that is ``known`` or certainly there."""
    named = ("job", "once", name)
    found = again(*named, "--job", known or "ID")
    text = ELSEWHERE if known else CREATED if is_applied else NAMED
    return text.format(found=found, never=again(*named, "--never-created"))


def ends_at(job: docplatform.Job) -> str:
    """Says that a job's status is not known, and how to end a wait at it."""
    option = shlex.join(("--final", job.status))
    return (
        f"This version does not know the status {shown(job.status)}, so look at the job on the platform. "
        f"`{shown(option)}` ends a wait at it."
    )


def goes_on(job: str, again: Callable[..., str]) -> str:
    """Says that a job keeps running, and how to wait for it."""
    return f"Job {shown(job)} keeps running. To wait for it: {again('job', 'wait', job=job)}"
