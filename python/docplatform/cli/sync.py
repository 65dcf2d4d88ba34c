"""``docplatform sync``: fills the store for many projects."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import click

from docplatform import DocPlatformError, SyncError
from docplatform.cli import output
from docplatform.cli.help import Command
from docplatform.cli.output import Progress
from docplatform.cli.params import FILE, read_text
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import slice_options

if TYPE_CHECKING:
    from docplatform import SyncReport

EXAMPLES = """\b
From cron, every hour; whatever the budget did not grant comes with the next run:
  docplatform sync --last 30 --file projects.txt --store visitors.db \\
      --requests-per-hour 90 --on-budget stop --on-running stop -q > /dev/null
"""


@click.command("sync", cls=Command, epilog=EXAMPLES)
@click.argument("projects", nargs=-1, metavar="[PROJECT]...")
@click.option(
    "-f",
    "--file",
    type=FILE,
    metavar="FILE",
    help="Read ids of projects from a file, one a line; - is stdin.",
)
@slice_options("day", required=False)
@click.option(
    "--last",
    type=click.IntRange(1),
    metavar="N",
    help="In place of --from and --to: the last N whole days, up to yesterday in UTC.",
)
@click.option("--totals", is_flag=True, help="The totals alone: one request for each slice.")
@click.option(
    "--on-running",
    type=click.Choice(["wait", "stop"]),
    default="wait",
    show_default=True,
    help="While another sync fills the store: wait for its end, or stop with exit code 75.",
)
@with_budget
def sync(
    session: Session,
    projects: tuple[str, ...],
    date_from: str | None,
    date_to: str | None,
    *,
    file: str | None,
    every: Any,
    last: int | None,
    totals: bool,
    on_running: Literal["wait", "stop"],
) -> None:
    """Fill the --store with the days of some projects, and buy nothing twice.

    Without a PROJECT it is the one of --project or DOCPLATFORM_PROJECT_ID. What the store has costs no request; what
    has settled is bought once, what may still change each time. Ended at any point, the same command goes on there.

    A project or a day that fails holds up no other; at the end the exit code tells, and --json lists them all.
    """
    if session.store is None:
        raise click.UsageError("it fills a store: name its file with --store, or in DOCPLATFORM_STORE")
    days = _days(date_from, date_to, last)
    wanted = [*projects, *(_listed(file, quiet=session.quiet) if file is not None else ())]
    if not wanted:
        wanted = [session.project_id()]
    progress = Progress("Filling the store", quiet=session.quiet)
    told = functools.partial(_tell, session, {**days, "every": every, "pages": not totals})
    with session.client() as client:
        try:
            with progress, progress.counting():
                report = client.sync(
                    wanted,
                    **days,
                    every=every,
                    pages=not totals,
                    on_budget=session.on_budget,
                    on_running=on_running,
                    progress=True,
                )
        except DocPlatformError as error:
            if error.report is not None:
                told(error.report, error)
            raise
        told(report)


def _tell(
    session: Session, asked: dict[str, object], report: SyncReport, error: DocPlatformError | None = None
) -> None:
    failures = error.failures if isinstance(error, SyncError) else ()
    if session.json:
        listed = [{**failure._asdict(), "error": str(failure.error)} for failure in failures]
        output.document({**asked, "complete": error is None, **report._asdict(), "failures": listed})
    else:
        output.fields(list(report._asdict().items()))


def _days(date_from: str | None, date_to: str | None, last: int | None) -> dict[str, str]:
    if last is None:
        if date_from is None or date_to is None:
            raise click.UsageError("say which days: with --from and --to, or with --last")
        return {"date_from": date_from, "date_to": date_to}
    if date_from is not None or date_to is not None:
        raise click.UsageError("--last is in place of --from and --to: give one or the other")
    today = datetime.now(UTC).date()
    try:
        return {"date_from": str(today - timedelta(days=last)), "date_to": str(today)}
    except OverflowError:
        raise click.UsageError("--last goes back too far") from None


def _listed(file: str, *, quiet: bool) -> list[str]:
    text = read_text(file, "the projects", "list the projects in a pipe, one a line", quiet=quiet)
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise click.UsageError(f"there is no project in {file}")
    return found
