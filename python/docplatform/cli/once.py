"""``--once NAME`` creates a job or sends a message only once; ``docplatform job once`` shows the names, and records the outcome
of one."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from docplatform import DocPlatformError
from docplatform.cli import exits, output, phrases
from docplatform.cli.files import Refusal
from docplatform.cli.help import Command
from docplatform.cli.output import shown
from docplatform.cli.session import Session, with_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from docplatform import Client, Job


class Name(NamedTuple):
    """A name, as the store knows it."""

    name: str
    kind: str
    state: str
    job: str | None
    begun: datetime


def names(client: Client) -> list[Name]:
    """All names of the project."""
    return [Name(*each) for each in client._once()]


def create(session: Session, client: Client, prompt: str, name: str | None) -> Job:
    """Creates the job, or finds the one that was created under the name before."""
    if sys.stdout is None and sys.stderr is None and name is None:
        raise click.UsageError("standard output and stderr are closed, so nothing could show the job's id")
    job = client.create_job(prompt, once=name, on_budget=session.on_budget)
    if name is not None and not client.stats.requests:
        session.say(f"Job {shown(job.id)} was created under the name {shown(name)} before; nothing was sent.")
    else:
        # Printed at once, so that the id is known whatever happens next.
        session.say(f"Created job {shown(job.id)}.")
    return job


@contextmanager
def named(session: Session, name: str | None, job: str | None = None) -> Iterator[None]:
    """Gives a failure the name of its request, and says how to record an outcome that an interrupt left unknown. ``job`` is the
    one that a message is for."""
    try:
        yield
    except (DocPlatformError, KeyboardInterrupt) as error:
        error.__dict__["_name"] = name
        if name is not None and getattr(error, "_outcome", None) == "unknown":
            exits.note(error, phrases.resolve(session.again, name=name, job=job))
        raise


def _resolve(client: Client, name: str, found: str | None) -> str:
    """Records what became of a name, and says what. A job is looked for first, because what was recorded cannot be changed."""
    known = {each.name: each for each in names(client)}
    _, kind, state, recorded, _ = known.get(name, (name, "creation", "unknown", None, None))
    if found is not None and found == recorded and state != "unknown":
        return f"The name {shown(name)} has the job {shown(found)} already; nothing was changed."
    job: Job | str | None = found
    if found is not None and state == "unknown":
        try:
            job = client.get_job(found)
        except DocPlatformError as error:
            exits.note(error, f"Nothing was recorded for the name {shown(name)}.")
            raise
    try:
        client.resolve_once(name, job)
    except DocPlatformError:
        raise
    except ValueError as error:
        # Wrong usage also after the look.
        raise click.UsageError(phrases.sentence(error)) from error
    again = "sends the message" if kind == "message" else "creates its job"
    line = f"the next run {again}" if found is None else f"its job is {shown(found)}"
    return f"Recorded for the name {shown(name)}: {line}."


@click.command("once", cls=Command)
@click.argument("name", required=False)
@click.option(
    "--job", "found", metavar="ID", help="The job that was created, or has the message, under NAME."
)
@click.option(
    "--never-created",
    "--never-sent",
    "never",
    is_flag=True,
    help="There is no such job or message: the next run creates or sends it.",
)
@with_names
def once(session: Session, name: str | None, found: str | None, *, never: bool) -> None:
    """Show the names that were given with --once, or record whether the job or the message of one exists.

    Without NAME, all names of the project are listed. If the outcome of NAME is unknown, look on the platform, and then give --job, --never-created or --never-sent. With --job, one request looks whether the service has that job; nothing else is sent.
    """
    resolves = found is not None or never
    if found is not None and never:
        raise click.UsageError("give --job or --never-created, not both")
    if resolves and name is None:
        raise click.UsageError("say which NAME: docplatform job once NAME --job ID")
    if session.store is None:
        raise click.UsageError("job once reads a store: name its file with --store, or in DOCPLATFORM_STORE")
    if not Path(session.store).exists():
        raise Refusal(f"{session.store}: there is no such store; give the one that --once was used with")
    with session.client() as client:
        if resolves and name is not None:
            session.say(_resolve(client, name, found))
            return
        listed = names(client)
    if name is not None:
        listed = [each for each in listed if each.name == name]
        if not listed:
            raise Refusal(
                f"the store has no name {shown(name)} for this project and key: leave out NAME to list those it has"
            )
    if session.json:
        output.document([{**each._asdict(), "begun": each.begun.isoformat()} for each in listed])
        return
    if not listed:
        session.say("No names: the store has none of this address, project and key (or --organization).")
    output.table(
        [(each.name, each.kind, each.state, each.job or "", each.begun.isoformat()) for each in listed],
        Name._fields,
    )
