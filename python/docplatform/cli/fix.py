"""``docplatform fix``: what readers stumble over, and the pull requests that mend it."""

from __future__ import annotations

import re
import sys
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform._hooks import ranges
from docplatform._hooks.fix import LISTINGS, plain
from docplatform._native import _WholeFile
from docplatform.cli import batch, cost, files, output, writing
from docplatform.cli.days import PERIODS, resolve
from docplatform.cli.exits import Exit
from docplatform.cli.help import Command
from docplatform.cli.output import Progress, shown
from docplatform.cli.params import FILE
from docplatform.cli.session import Session, with_fixes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform import Client, FixList

DOCUMENTS = (".md", ".json")
"""The ends of files that hold text for people, or one JSON document."""
MAX_ONCE = 200
"""The most bytes of a name of ``once``."""


@click.command("fix", cls=Command, epilog=PERIODS)
@click.argument("period", nargs=-1, metavar="[PERIOD]")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many problems to list.",
)
@click.option(
    "--run",
    "runs",
    type=click.IntRange(1),
    metavar="N",
    help="Hand the first N problems to the agent, each under a name of --once in the --store.",
)
@click.option("--yes", is_flag=True, help="Do not ask before --run creates jobs.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    metavar="N",
    help="How many jobs of --run run at the same time.",
)
@click.option(
    "-o",
    "--output",
    "name",
    type=FILE,
    metavar="FILE",
    help="Write the list to a file: its name ends in .md, .json, .csv, .jsonl, .parquet, .arrow or .xlsx. With --run, the result "
    "is written as .md or .json.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@with_fixes
def fix(
    session: Session,
    period: tuple[str, ...],
    number: int,
    *,
    runs: int | None,
    yes: bool,
    concurrency: int,
    name: str | None,
    force: bool,
) -> None:
    """List what readers stumble over, the costliest problem first.

    PERIOD is last month by default. The list comes from page ratings, comments, unanswered questions to the assistant,
    searches without a click, and visitors. --run hands the first problems to the docs agent, and prints the pull requests.
    Review each of them: the prompts quote readers.
    """
    words = period or ("last month",)
    ends = resolve(words, None, None, None)
    document = _document(name, running=runs is not None)
    if session.dry_run:
        _plan(session, ends, runs)
        return
    if runs is not None and session.store is None:
        raise click.UsageError(
            "--run needs a --store, or DOCPLATFORM_STORE: it keeps the names of the jobs, so that none is created twice"
        )
    writer = None
    if name is None:
        files.check_printing()
    elif document is None:
        writer = writing.begin(name, None, raw=False, bom=False, force=force, json=session.json)
    else:
        files.check(document, force=force, json=session.json)
    with session.client() as client:
        with Progress("Reading what readers say", quiet=session.quiet):
            found = client.fix_first(" ".join(words), n=max(number, runs or 0), on_budget=session.on_budget)
        if runs is not None:
            rows, code = _run(session, client, found, runs, yes=yes, concurrency=concurrency)
        else:
            rows, code = found.to_dicts(), Exit.DONE
    if writer is not None:
        writer.write(found)
    else:
        _show(session, found, rows, document, running=runs is not None)
    if name is not None:
        session.say(
            f"Wrote {name} ({output.count(len(rows), 'problem')}, {output.count(found.requests, 'request')})."
        )
    for warning in found.warnings:
        session.say(f"Note: {shown(warning)}")
    click.get_current_context().exit(code)


def _document(name: str | None, *, running: bool) -> Path | None:
    """The file of text or JSON that ``-o`` names; ``None`` for a file of rows, and without one."""
    if name is None:
        return None
    if name.endswith(DOCUMENTS):
        return Path(name)
    if running:
        raise click.UsageError("the result of --run is written to a file whose name ends in .md or .json")
    return None


def _plan(session: Session, ends: tuple[str | None, str | None], runs: int | None) -> None:
    """Prints what the list costs."""
    with session.client() as client:
        plans = [
            client._plan(listing, date_from=ends[0], date_to=ends[1], every=None, by_path=True)
            for listing in LISTINGS
        ]
        left = client.stats.budget_left
    cost.tell(session, plans, ["This is the minimum: each listing has at least one page."], left)
    if runs is not None:
        session.say(
            f"--run would hand at most {output.count(runs, 'problem')} to the agent, one job for each."
        )


def _run(
    session: Session, client: Client, found: FixList, runs: int, *, yes: bool, concurrency: int
) -> tuple[list[dict[str, Any]], Exit]:
    """Hands the first problems to the agent. Returns a row for each with its job and pull request, and the exit code."""
    problems = {_once_name(found, row): row for row in found[:runs]}
    states = {name: (state, job) for name, state, job, _ in client._once()}
    new = {
        name: row["prompt"] for name, row in problems.items() if states.get(name, ("", ""))[0] != "created"
    }
    if new:
        for row in (row for name, row in problems.items() if name in new):
            session.say(f"{_subject(row)}:\n{_indented(row['prompt'])}")
        _ask(len(new), yes=yes)
    progress = Progress(f"Running {output.count(len(problems), 'job')}", quiet=session.quiet)
    with progress, progress.counting():
        report = client.run_jobs(new, once=True, concurrency=concurrency, on_budget=session.on_budget)
        jobs = {job["name"]: job for job in report.to_dicts()}
        for name in problems.keys() - new.keys():
            # The prompt of a name may have changed since, because readers go on speaking.
            job = client.wait_for_job(str(states[name][1]), check=False)
            jobs[name] = {
                "result": "failed" if job.status == "failed" else "done",
                "job": job.id,
                "status": job.status,
                "pr_link": job.pr_link,
                "error": None,
            }
    rows = [
        {**{key: row[key] for key in ("path", "query", "readers", "why")}, "name": name}
        | {key: jobs[name][key] for key in ("result", "job", "status", "pr_link", "error")}
        for name, row in problems.items()
        if name in jobs
    ]
    return rows, batch.worst(report, failed=any(row["result"] == "failed" for row in rows))


def _once_name(found: FixList, row: dict[str, Any]) -> str:
    """The name of a problem's job: ``fix:2026-10:/guides/webhooks``."""
    first, end = found.date_from, found.date_to
    period = f"{first}:{end}"
    if isinstance(first, date) and isinstance(end, date) and first.day == 1 == end.day:
        month = first.year * 12 + first.month
        period = f"{first:%Y-%m}" if end.year * 12 + end.month == month + 1 else period
    name = f"fix:{period}:{plain(row['path'] or row['query'])}"
    if len(name.encode()) <= MAX_ONCE:
        return name
    digest = sha256(name.encode()).hexdigest()[:16]
    return f"{name.encode()[: MAX_ONCE - 17].decode(errors='ignore')}:{digest}"


def _ask(jobs: int, *, yes: bool) -> None:
    """Asks before jobs are created; without a terminal, ``--yes`` is needed."""
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise click.UsageError(f"--run would create {output.count(jobs, 'job')}: confirm it with --yes")
    if not click.confirm(f"Create {output.count(jobs, 'job')}?", err=True):
        raise click.exceptions.Exit(Exit.DONE)


def _indented(text: str) -> str:
    return "\n".join(f"  {shown(line, len(line))}" for line in text.split("\n"))


def _show(
    session: Session, found: FixList, rows: list[dict[str, Any]], document: Path | None, *, running: bool
) -> None:
    """Prints the rows as a table or as JSON, or writes them as a document."""
    columns = ("path", "readers", "result", "pr_link", "why") if running else ("path", "readers", "why")
    cells = [[_subject(row), *(_cell(row, column) for column in columns[1:])] for row in rows]
    heads = tuple({"path": "page or search", "pr_link": "pull request"}.get(name, name) for name in columns)
    if document is not None and document.suffix == ".md":
        _write(document, _markdown(found, heads, cells))
    elif document is not None or session.json:
        days = {"date_from": str(found.date_from), "date_to": str(found.date_to)}
        text = {**days, "requests": found.requests, "warnings": list(found.warnings), "rows": rows}
        if document is not None:
            _write(document, output.as_json(text, 2) + "\n")
        else:
            output.document(text)
    elif rows:
        output.table(cells, heads, title=ranges.name(str(found.date_from), str(found.date_to)))
    else:
        session.say("Nothing to fix: no reader of this period complained, asked in vain or searched in vain.")


def _write(path: Path, text: str) -> None:
    """Writes a whole file, or none."""
    with _WholeFile(path) as file:
        Path(file.path).write_text(text, encoding="utf-8")
        file.commit()


def _subject(row: dict[str, Any]) -> str:
    return str(row["path"] or f"search: {row['query']}")


def _cell(row: dict[str, Any], column: str) -> object:
    return row["pr_link"] or row["error"] or "" if column == "pr_link" else row[column]


def _markdown(found: FixList, heads: Sequence[str], cells: Sequence[Sequence[object]]) -> str:
    """The table as Markdown, for a pull request, an issue or a chat."""
    lines = [heads, ["---"] * len(heads), *cells]
    table = "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)
    return f"# What to fix first, {ranges.name(str(found.date_from), str(found.date_to))}\n\n{table}\n"


def _escaped(value: object) -> str:
    """A cell in which nothing of a reader is markup."""
    text = plain(str(value))
    return text if text.startswith(("https://", "---")) else re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", text)
