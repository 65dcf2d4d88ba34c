"""``docplatform fix``: what readers stumble over, and the pull requests that mend it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from docplatform import DocPlatformError, Job, JobsReport, UnconfirmedWriteError
from docplatform._hooks.fix import LISTINGS, plain
from docplatform._native import _WholeFile
from docplatform.cli import batch, cost, files, output, phrases
from docplatform.cli.days import PERIODS, beside, last_month_options
from docplatform.cli.exits import Exit
from docplatform.cli.help import Command, number_option
from docplatform.cli.job import concurrency_option, given, known_names, wait_options
from docplatform.cli.output import count, shown
from docplatform.cli.phrases import quotable
from docplatform.cli.session import Session, with_fixes
from docplatform.cli.writing import begin_named, output_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from docplatform import Client, FixList, Plan
    from docplatform.cli.days import Days, Ends
    from docplatform.cli.writing import Target

ALL = 1_000_000
"""More problems than any site has: no limit."""
NOTHING = "Nothing to fix: what could be read shows no problem that costs at least one reader."
MAX_ONCE = 200
"""The longest name of ``once``, in bytes."""


@click.command("fix", cls=Command, epilog=PERIODS)
@last_month_options
@number_option(
    "-n",
    "--number",
    default=20,
    help="How many problems to list.",
)
@click.option(
    "--run",
    "wanted",
    metavar="N|PAGE",
    help="Hand the first N problems to the docs agent, or the one with this PAGE (search:PHRASE for a phrase). The --store keeps "
    "a name for each, so that a run again creates no job twice.",
)
@click.option("--yes", is_flag=True, help="Create the jobs of --run without a question.")
@concurrency_option("--run")
@wait_options
@output_options(None, "a table. A name that ends in .md is Markdown, also for the result of --run")
@with_fixes
def fix(
    session: Session,
    /,
    ends: Ends,
    *,
    number: int,
    wanted: str | None,
    yes: bool,
    concurrency: int,
    target: Target,
    **how: Any,
) -> None:
    """List what readers stumble over, the costliest problem first.

    The list is made of page ratings, comments, unanswered questions to the assistant, searches without a click, and
    visitors, of last month by default. With --run, the docs agent works on the first problems, and their pull requests are
    printed, and with -o also written to that .md file. Review each of them, because its prompt quotes readers.
    """
    days, _ = beside(**ends)
    name = target.name
    markdown = Path(name) if name is not None and name.endswith(".md") else None
    if wanted is not None:
        _check_run(session, wanted, yes=yes)
        if name is not None and markdown is None:
            raise click.UsageError("the result of --run is written as Markdown: name a file that ends in .md")
    if session.dry_run:
        with session.client() as client:
            names = [{"listing": name} for name in LISTINGS]
            cost.tell(session, client, plans(client, days), ["A listing may have several pages."], names)
        if wanted is not None:
            session.say(
                "The prompts are made of what is read, so they are not known yet. --run shows them and, without --yes, asks before it creates a job. "
                "Each job takes some more requests, and one that exists already takes at least one."
            )
        return
    writer = None
    if markdown is None:
        writer = begin_named(target, json=session.json, more=(".md",))
    else:
        files.check(markdown, force=target.force, json=session.json)
    first = int(wanted) if wanted is not None and wanted.isdecimal() else None
    most = ALL if wanted is not None and first is None else max(number, first or 0)
    code = Exit.DONE
    with session.client() as client, nullcontext() if markdown is None else _WholeFile(markdown) as file:
        with session.progress("Reading what readers say"):
            found = client.fix_first(days.written, n=most, on_budget=session.on_budget)
        known = known_jobs(session, client)
        show = partial(_show, session, client, found, days, file)
        if wanted is not None:
            rows = found[:first] if first else _named_so(wanted, days, [*found])
            if first is None and not rows:
                raise files.Refusal(f"{wanted} is not among the problems of {days.name}")
            if first is None and len(rows) > 1:
                several = ", ".join(shown(subject(row)) for row in rows)
                raise files.Refusal(f"{wanted} may be one of {several}: name it as it stands there")
            report = _hand_over(
                session, client, days, rows, known, show, given(how), yes=yes, concurrency=concurrency
            )
            code = batch.worst(report)
        else:
            rows = with_jobs(known, days, found)
            if writer is not None:
                writer.write(found)
            if writer is None or session.json:
                show(rows, ("readers", "why"))
    for warning in found.warnings:
        output.say(f"Note: {shown(warning)}.")
    if name not in (None, "-"):
        session.say(f"Wrote {shown(name)}.")
    if wanted is None:
        _say_what_next(session, days, rows)
    session.say(f"It took {count(client.stats.requests, 'request')}.")
    click.get_current_context().exit(code)


def plans(client: Client, days: Days) -> list[Plan]:
    """The cost of the list, listing by listing."""
    return [client._plan(listing, **days.ends, every=None, by_path=True) for listing in LISTINGS]


def known_jobs(session: Session, client: Client) -> dict[str, str | None]:
    """The jobs of the names in the store. A job is ``None`` if its creation has an unknown outcome."""
    known = known_names(client) if session.store is not None else []
    return {each.name: each.job for each in known if each.state != "being created"}


def with_jobs(
    known: Mapping[str, str | None], days: Days, rows: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The problems, each with the id of the ``job`` that was created for it, and whether that is unknown."""
    names = ((row, once_name(days, row)) for row in rows)
    return [
        row | {"job": known.get(name), "job_unknown": name in known and known[name] is None}
        for row, name in names
    ]


def _say_what_next(session: Session, days: Days, rows: list[dict[str, Any]]) -> None:
    """Names the problems that were handed over, and the command for the first one that was not."""
    begun = [shown(subject(row)) for row in rows if row["job"]]
    unknown = [shown(subject(row)) for row in rows if row["job_unknown"]]
    if begun:
        session.say(f"Already handed to the docs agent: {', '.join(begun)}. --run shows what became of it.")
    if unknown:
        session.say(f"It is unknown whether a job exists for: {', '.join(unknown)}. --run says what to do.")
    if row := next((row for row in rows if not row["job"] and not row["job_unknown"]), None):
        which = "next" if begun or unknown else "first"
        session.say(f"To hand the {which} one to the docs agent: {command(session, days, row)}")


def command(session: Session, days: Days, row: dict[str, Any]) -> str:
    """A command to copy that hands one problem to the agent. It needs a store."""
    store = () if session.store else ("--store", "docs.db")
    return session.again("fix", days.written, "--run", subject(row), *store)


def subject(row: dict[str, Any]) -> str:
    """The problem as an argument of ``--run``: its page, or ``search:`` and the phrase."""
    return str(row["path"]) if row["query"] is None else f"search:{row['query']}"


def _named_so(text: str, days: Days, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The problem that ``text`` names: as an argument of ``--run``, or by its job's name, also without the digest; or those that a
    command to copy may show so."""
    names = [
        (subject(row), once_name(days, row), f"fix:{days.written}:{subject(row)}", _whole_name(days, row))
        for row in rows
    ]
    # The same text may be the page of one problem and the job's name of another, so one kind of name is tried after the other.
    for kind in range(4):
        if found := [row for row, its in zip(rows, names, strict=True) if its[kind] == text]:
            return found
    return [
        row for row, its in zip(rows, names, strict=True) if any(phrases.is_copy(text, name) for name in its)
    ]


def _whole_name(days: Days, row: dict[str, Any]) -> str:
    return f"fix:{days.written}:{row['query'] or row['path']}"


def once_name(days: Days, row: dict[str, Any]) -> str:
    """The name of a problem's job: ``fix:2026-10:/guides/webhooks``. A name that is too long, has
    odd characters, or is a phrase that looks like a page ends in a digest; a long one is cut before it."""
    whole = _whole_name(days, row)
    name = quotable(plain(whole))
    if name == whole and len(name.encode()) <= MAX_ONCE and not (row["query"] or "").startswith("/"):
        return name
    return (
        f"{name.encode()[: MAX_ONCE - 17].decode(errors='ignore')}:{sha256(whole.encode()).hexdigest()[:16]}"
    )


def _check_run(session: Session, wanted: str, *, yes: bool) -> None:
    """Refuses ``--run`` if it could create no job."""
    if wanted.isdecimal() and not int(wanted):
        raise click.UsageError("--run needs a number of at least 1, or a page")
    if session.dry_run:
        return
    if session.store is None:
        raise click.UsageError(
            "--run needs a --store: it keeps the names of jobs, so that none is created twice"
        )
    if not yes and (sys.stdin is None or not sys.stdin.isatty()):
        raise click.UsageError("--run creates jobs: confirm it with --yes")


def _hand_over(
    session: Session,
    client: Client,
    days: Days,
    rows: Sequence[dict[str, Any]],
    known: Mapping[str, str | None],
    show: Callable[..., None],
    waits: dict[str, Any],
    *,
    yes: bool,
    concurrency: int,
) -> JobsReport:
    """Creates a job for each problem that has none, waits for all, and shows their pull requests."""
    problems = {once_name(days, row): row for row in rows}
    # A known name is not created again, even if its prompt has changed since, because readers go on speaking.
    new = {name: row["prompt"] for name, row in problems.items() if name not in known}

    def finish(report: JobsReport, interrupt: KeyboardInterrupt | None = None) -> None:
        listed = batch.told(session, report)
        jobs = {job["name"]: job for job in listed}
        columns = ("path", "query", "readers", "why")
        done = [
            {name: problem[name] for name in columns} | jobs[name] | {"outcome": batch.outcome(jobs[name])}
            for name, problem in problems.items()
            if name in jobs
        ]
        show(done, ("readers", "result", "outcome"), batch.error(report, listed, interrupt))

    for name, prompt in new.items():
        lines = "\n".join(map(shown, prompt.split("\n")))
        (session.say if yes else output.say)(f"{shown(name)}:\n{lines}\n")
    try:
        confirmed = yes or not new or click.confirm(f"Create {count(len(new), 'job')}?", err=True)
    except click.Abort:
        output.say("\nNo job was created.")
        raise KeyboardInterrupt from None
    if not confirmed:
        output.say("No job was created.")
        raise click.exceptions.Exit(Exit.DONE)
    report = JobsReport({}, {}, {}, 0)
    if new:
        report = batch.start(session, client, new, finish, once=True, concurrency=concurrency, **waits)
    results: dict[str, Any] = {**report.done, **report.failed, **report.unknown}
    interrupt = None
    try:
        for name in problems.keys() - new.keys():
            try:
                job = known[name]
                results[name] = (
                    client.wait_for_job(job, check=False, **waits) if job else _unknown(session, name)
                )
            except DocPlatformError as error:
                results[name] = error
    except KeyboardInterrupt as caught:
        interrupt = caught
        raise
    finally:
        report = JobsReport._of([*problems], results, report.requests, list(waits["final"]))
        finish(report, interrupt)
        created = sum(
            isinstance(found := results.get(name), Job) or getattr(found, "job", None) is not None
            for name in new
        )
        unknown = sum(
            isinstance(found := results.get(name), UnconfirmedWriteError) and found.job is None
            for name in new
        )
        also = f", {unknown} unknown" if unknown else ""
        session.say(
            f"{count(created, 'job')} created{also}; {count(len(problems) - len(new), 'job')} known from before."
        )
    return report


def _unknown(session: Session, name: str) -> UnconfirmedWriteError:
    """The error of a name whose creation was interrupted."""
    how = phrases.resolve(session.again, name=name)
    error = UnconfirmedWriteError(f"it is unknown whether its job exists. {how}")
    error.outcome = "unknown"
    return error


def _show(
    session: Session,
    client: Client,
    found: FixList,
    days: Days,
    file: _WholeFile | None,
    rows: Sequence[dict[str, Any]],
    columns: tuple[str, ...],
    error: dict[str, object] | None = None,
) -> None:
    """Prints the rows as a table or as JSON, or writes them as Markdown. ``error`` is that of a run."""
    heads = [
        "page or search",
        *("pull request, or what happened" if one == "outcome" else one for one in columns),
    ]
    cells = [[subject(row), *(row[column] for column in columns)] for row in rows]
    if file is not None:
        from docplatform.cli.report.markdown import code, table, text

        def cell(value: object) -> str:
            url = quote(str(value), safe="/%:@!$&'()*+,;=~?#")
            return f"<{url}>" if url.startswith("https://") else text(str(value))

        lines = [[code(shown(one)), *map(cell, more)] for one, *more in cells]
        said = [
            f"### What to fix first, {text(days.name)}",
            table(heads, lines, rule="---") if lines else NOTHING,
            *(f"Note: {text(warning)}." for warning in found.warnings),
        ]
        Path(file.path).write_text("\n\n".join(said) + "\n", encoding="utf-8")
        file.commit()
    if session.json:
        about = {**days.ends, "requests": client.stats.requests}
        output.document({**about, "warnings": found.warnings, "error": error, "rows": rows})
    elif rows and (file is None or "result" in columns):
        output.table(cells, heads, title=days.name)
    elif not rows and "outcome" not in columns:
        session.say(NOTHING)
