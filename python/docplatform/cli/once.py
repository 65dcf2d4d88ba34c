"""``--once``: a file that records the job a command created, so that the command can be run again."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docplatform import DocPlatformError, UnconfirmedWriteError
from docplatform.cli import exits, files
from docplatform.cli.output import say, shown

if TYPE_CHECKING:
    from docplatform import Client, Job
    from docplatform.cli.session import Session


def create(session: Session, client: Client, prompt: str, path: str | None) -> Job:
    """Creates the job, or finds the one that an earlier run with the same file created.

    The file is written before the request is sent, so that a run that was killed meanwhile is not repeated.
    """
    if path is None:
        return _created(session, client, prompt)
    file, about = Path(path), _about(session, prompt)
    if not _begin(file, about):
        known = _job(file, about)
        session.say(f"{path} remembers this job; without that file another would be created.")
        return client.get_job(known)
    try:
        job = _created(session, client, prompt)
    except DocPlatformError as error:
        if error.outcome in ("not_sent", "rejected"):
            file.unlink(missing_ok=True)
        raise
    except ValueError:
        # A wrong argument: nothing was sent.
        file.unlink(missing_ok=True)
        raise
    try:
        files.replace(file, _record(about, job.id))
    except OSError:
        say(exits.goes_on(job.id, session.again))
        raise
    return job


def _created(session: Session, client: Client, prompt: str) -> Job:
    job = client.create_job(prompt)
    # Printed at once, so that the id is known whatever happens next.
    session.say(f"Created job {shown(job.id)}.")
    return job


def _about(session: Session, prompt: str) -> str:
    """A digest of what the job is about, from which the prompt cannot be read."""
    url = session.base_url or os.environ.get("DOCPLATFORM_BASE_URL")
    project = session.project or os.environ.get("DOCPLATFORM_PROJECT_ID")
    return hashlib.sha256(json.dumps([url, project, prompt]).encode()).hexdigest()


def _begin(file: Path, about: str) -> bool:
    """Records that the job is about to be created; of two runs at the same time, one succeeds."""
    try:
        # Its owner's alone from the first byte on.
        with os.fdopen(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as writer:
            writer.write(_record(about, None))
            writer.flush()
            os.fsync(writer.fileno())
    except FileExistsError:
        return False
    return True


def _record(about: str, job: str | None) -> str:
    return json.dumps({"about": about, "job": job})


def _job(file: Path, about: str) -> str:
    """The id of the job that the file remembers."""
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
        remembered, job = found["about"], found["job"]
    except (ValueError, TypeError, KeyError):
        raise files.Refusal(f"{file} was not written by --once: name a file that is not there yet") from None
    if remembered != about:
        raise files.Refusal(
            f"{file} remembers a job with another prompt, project or address: name another file, or remove it"
        )
    if job is None:
        error = UnconfirmedWriteError(
            f"not sent: an earlier run was about to create this job, and never learned the outcome; remove {file} "
            "once you know that there is no such job"
        )
        error.outcome = "unknown"
        raise error
    return str(job)
