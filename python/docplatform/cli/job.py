"""``docplatform job``: hand the docs agent a task, and follow it."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from docplatform import DocPlatformError, JobFailedError
from docplatform.cli import batch, exits, files, output, phrases
from docplatform.cli.help import Decorator, Group, number_option, options
from docplatform.cli.output import say, shown, whole
from docplatform.cli.params import duration, interval, prompt_arguments, read_prompt
from docplatform.cli.session import Session, with_creation, with_job, with_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from docplatform import Client, Job


MAX_STATUS = 60
"""How much of a status a line shows, in characters."""
NO_LINK = "no pull request: nothing changed, or this project publishes without one"


class Name(NamedTuple):
    """A name, as the store knows it."""

    name: str
    kind: str
    state: str
    job: str | None
    begun: datetime


@click.group("job", cls=Group)
def group() -> None:
    """Hand the docs agent a task, and follow it."""


def _final(_context: click.Context, _param: click.Parameter, statuses: tuple[str, ...]) -> tuple[str, ...]:
    """Refuses a status that would end no wait, before a job is created."""
    if any(not status.strip() or status == "active" for status in statuses):
        raise click.BadParameter("name a status of a job that has ended")
    return statuses


wait_options: Decorator = options(
    click.option(
        "--timeout",
        type=duration,
        default="30m",
        show_default=True,
        metavar="TIME",
        help="How long to wait: seconds, or a time such as 45m or 1.5h. The job keeps running after it.",
    ),
    click.option(
        "--poll-interval",
        type=interval,
        metavar="TIME",
        help="The time between the first polls; later intervals grow to 30 s, or stay at TIME if that is longer.  [default: 2s]",
    ),
    click.option(
        "--final",
        multiple=True,
        callback=_final,
        metavar="STATUS",
        help="A further status that ends the wait, such as cancelled. It can be given several times.  [default: completed, "
        "failed and archived]",
    ),
)


def concurrency_option(of: str) -> Decorator:
    """How many of several jobs run at a time."""
    return number_option(
        "--concurrency",
        default=8,
        help=f"How many jobs of {of} run at the same time.",
    )


def _once_option(does: str) -> Decorator:
    """The name of what is done only once."""
    return click.option(
        "--once", "name", metavar="NAME", help=f"{does} if you run this again with the same NAME and --store."
    )


_create_once = _once_option("Create the job only once: the same job is used")


@group.command("run")
@prompt_arguments
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the job is final.")
@wait_options
@_create_once
@concurrency_option("a --file of several prompts")
@with_creation
def run(
    session: Session,
    /,
    prompt: tuple[str, ...],
    file: str | None,
    name: str | None,
    *,
    wait: bool,
    concurrency: int,
    **how: Any,
) -> None:
    """Create a job and wait until it is final.

    PROMPT says in plain words what the agent is to do. Without PROMPT, it is read from --file or standard input.
    A --file whose name ends in .json holds several prompts: an object from names to prompts. With --store, each name is
    also a name of --once, so that it is safe to run again.

    With one prompt, the pull request's URL is printed last, on stdout. Nothing is printed there if there is none: nothing changed, or the project publishes without one.
    With --no-wait it is the job's id; several prompts have a table.
    """
    if file is not None and file.endswith((".jsonl", ".ndjson")):
        raise click.UsageError(
            "a file of several prompts is .json, and holds one object from names to prompts; other files are one prompt"
        )
    if file is not None and file.endswith(".json") and not prompt:
        if name is not None or not wait:
            raise click.UsageError(
                "--once and --no-wait are for one prompt: with a file of several and a --store, the names in the file are the names of --once"
            )
        prompts = batch.read(file, quiet=session.quiet)
        batch.run(session, prompts, concurrency=concurrency, **given(how))
        return
    text = read_prompt(prompt, file, quiet=session.quiet)
    if not wait:
        _create(session, text, name)
        return
    with _named(session, name), session.client() as client:
        job = _begin(session, client, text, name)
        try:
            with _waiting(session, job.id) as on_poll:
                job = client.wait_for_job(job, on_poll=on_poll, **given(how))
        except DocPlatformError as error:
            error.outcome = "applied"
            if name is not None and isinstance(error, JobFailedError):
                exits.note(error, f"The name {shown(name)} keeps this job: another name creates another job.")
            raise
    _print_result(session, job)


@group.command("create")
@prompt_arguments
@_create_once
@with_creation
def create(session: Session, prompt: tuple[str, ...], file: str | None, name: str | None) -> None:
    """Create a job, and print its id without waiting.

    PROMPT says in plain words what the agent is to do. Without PROMPT, it is read from --file or standard input.
    """
    _create(session, read_prompt(prompt, file, quiet=session.quiet), name)


@group.command("get")
@click.argument("job")
@with_job
def get(session: Session, job: str) -> None:
    """Show a job as it is now. JOB is its id."""
    files.check_printing()
    with session.client() as client:
        found = client.get_job(job)
    if session.json:
        output.document(found.to_dict())
        return
    output.fields(
        [
            ("id", found.id),
            ("status", found.status),
            ("repository", found.source.repository),
            ("ref", found.source.ref),
            ("model", found.model),
            ("created", found.created_at and found.created_at.isoformat()),
            ("archived", found.archived_at and found.archived_at.isoformat()),
            ("pull request", found.pr_link),
        ]
    )


@group.command("wait")
@click.argument("job")
@wait_options
@with_job
def wait(session: Session, /, job: str, **how: Any) -> None:
    """Wait until a job is final. JOB is its id.

    The pull request's URL is printed last, on stdout. Nothing is printed there if there is none: nothing changed, or the project publishes without one.
    """
    files.check_printing()
    with session.client() as client, _waiting(session, job) as on_poll:
        found = client.wait_for_job(job, on_poll=on_poll, **given(how))
    _print_result(session, found)


@group.command("message")
@click.argument("job")
@prompt_arguments
@click.option("--wait/--no-wait", default=False, show_default=True, help="Wait until the job is final again.")
@wait_options
@_once_option("Send the message only once: it is not sent again")
@with_names
def message(
    session: Session,
    /,
    job: str,
    prompt: tuple[str, ...],
    file: str | None,
    name: str | None,
    *,
    wait: bool,
    **how: Any,
) -> None:
    """Send a follow-up message to a job. JOB is its id.

    PROMPT is the message. Without PROMPT, it is read from --file or standard input.
    """
    files.check_printing()
    text = read_prompt(prompt, file, quiet=session.quiet)
    with _named(session, name, job), session.client() as client:
        if not wait:
            found = client.send_message(job, text, once=name)
            if name is None or client.stats.requests:
                _print_id(session, found, runs=not found.is_final)
            else:
                line = f"The message of the name {shown(name)} was sent before; nothing was sent."
                _print(session, found, _printed(found.id), line)
            return
        with _waiting(session, job) as on_poll:
            found = client.follow_up(job, text, once=name, on_poll=on_poll, **given(how))
    _print_result(session, found)


@group.command("once")
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

    Without NAME, all names of the project are listed. If the outcome of NAME is unknown, look on the platform, and then give --job, --never-created or --never-sent. With --job, one request looks whether the service has that job, unless the outcome is known already; nothing else is sent.
    """
    resolves = found is not None or never
    if found is not None and never:
        raise click.UsageError("give --job or --never-created, not both")
    if resolves and name is None:
        raise click.UsageError("say which NAME: docplatform job once NAME --job ID")
    if session.store is None:
        raise click.UsageError("job once reads a store: name its file with --store, or in DOCPLATFORM_STORE")
    if not Path(session.store).exists():
        raise files.Refusal(
            f"{session.store}: there is no such store; give the one that --once was used with"
        )
    with session.client() as client:
        if resolves and name is not None:
            session.say(_resolve(client, name, found))
            return
        listed = known_names(client)
    if name is not None:
        listed = _named_so(listed, name)
        if not listed:
            raise files.Refusal(
                f"the store has no name {shown(name)} for this project and key: leave out NAME to list those it has"
            )
    if session.json:
        output.document([each._asdict() for each in listed])
        return
    if not listed:
        session.say("No names: the store has none of this address, project and key (or --organization).")
    output.table(
        [(*each[:3], each.job or "", each.begun.isoformat()) for each in listed],
        Name._fields,
    )


def given(how: dict[str, Any]) -> dict[str, Any]:
    """The options of a wait that were given. The client has its own defaults."""
    return {name: value for name, value in how.items() if value is not None}


def known_names(client: Client) -> list[Name]:
    """All names of the project."""
    return [Name(*each) for each in client._once()]


def _named_so(known: list[Name], name: str) -> list[Name]:
    """The one of this name, or those that a command to copy may show so."""
    exact = [each for each in known if each.name == name]
    return exact or [each for each in known if phrases.is_copy(name, each.name)]


def _begin(session: Session, client: Client, prompt: str, name: str | None) -> Job:
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
def _named(session: Session, name: str | None, job: str | None = None) -> Iterator[None]:
    """Gives a failure the name of its request, and says how to record an outcome that an interrupt left unknown. ``job`` is the
    one that a message is for."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        error.__dict__["_name"] = name
        if name is not None and getattr(error, "_outcome", None) == "unknown":
            exits.note(error, phrases.resolve(session.again, name=name, job=job))
        raise


def _resolve(client: Client, name: str, found: str | None) -> str:
    """Records what became of a name, and says what. A job is looked for first, because what was recorded cannot be changed."""
    known = _named_so(known_names(client), name)
    # A name of another owner is not among them, and has a kind that is not known.
    name, kind, state, recorded, _ = known[0] if len(known) == 1 else (name, "", "unknown", None, None)
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
    again = {"message": "sends the message", "creation": "creates its job"}.get(kind, "sends its request")
    line = f"the next run {again}" if found is None else f"its job is {shown(found)}"
    return f"Recorded for the name {shown(name)}: {line}."


@contextmanager
def _waiting(session: Session, job: str) -> Iterator[Callable[[Job], None]]:
    """Shows the wait for a job. An interrupt says by itself how to wait again."""

    def on_poll(job: Job) -> None:
        if not job.is_final:
            progress.update(f"Job {shown(job.id)}: last status {shown(job.status, MAX_STATUS)}")

    with session.progress(f"Waiting for job {shown(job)}") as progress:
        yield on_poll


def _create(session: Session, prompt: str, name: str | None) -> None:
    """Creates a job, and prints its id."""
    try:
        with _named(session, name), session.client() as client:
            job = _begin(session, client, prompt, name)
            runs = client.stats.requests > 0
    except KeyboardInterrupt as interrupt:
        # The answer came after the signal.
        if (job_id := getattr(interrupt, "_job_id", None)) is not None and not session.json:
            print(_printed(job_id))
        raise
    _print_id(session, job, runs=runs)


def _print_id(session: Session, job: Job, *, runs: bool) -> None:
    """Prints the id of a job without waiting for it. ``runs``: whether an answer has just shown it running."""
    _print(session, job, _printed(job.id), phrases.goes_on(session.again, job=job.id, runs=runs))


def _printed(job_id: str) -> str:
    # A script needs the exact id. Job ids hold no control characters.
    return whole(job_id) if output.is_terminal(sys.stdout) else job_id


def _print_result(session: Session, job: Job) -> None:
    """Prints the pull request of a final job."""
    link = "" if job.pr_link or job.status != "completed" else f"; {NO_LINK}"
    line = f"Job {shown(job.id)} is {shown(job.status, MAX_STATUS)}{link}."
    _print(session, job, job.pr_link and whole(job.pr_link), line)


def _print(session: Session, job: Job, text: str | None, line: str) -> None:
    """Prints the job as a JSON document or as ``text``, and ``line`` on stderr."""
    session.say(line)
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if session.json:
            output.document(job.to_dict())
        elif text:
            print(text)
        output.flush()
    except OSError:
        # The job exists: its id and its pull request must reach somebody.
        if session.quiet:
            say(line)
        if text and text not in line:
            say(text)
        raise
