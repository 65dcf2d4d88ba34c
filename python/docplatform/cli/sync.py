"""``docplatform sync``: fills the store for many projects."""

from __future__ import annotations

import functools
from typing import Any, Literal

import click

from docplatform import DocPlatformError, SyncError, SyncReport
from docplatform.cli import cost, exits, output
from docplatform.cli.days import PERIODS, both_ends, days_and_projects, every_option, projects_options
from docplatform.cli.help import Command
from docplatform.cli.listings import ENDPOINTS, listing_option
from docplatform.cli.session import Session, with_budget

EXAMPLES = """\b
Every hour; the next run fetches what the budget did not allow:
  docplatform sync demo --last 30 --store docs.db --requests-per-hour 90 --on-budget stop

\b
At night, two listings in one order; the next night fetches what is left:
  docplatform sync demo --last 30 --store docs.db --listing visitors --listing searches --until 06:00

"""


@click.command("sync", cls=Command, epilog=EXAMPLES + PERIODS)
@projects_options
@every_option("day")
@listing_option(
    "What to fetch. Several share one order: those of a final slice are fetched together.", multiple=True
)
@click.option(
    "--totals", is_flag=True, help="Only the totals, of visitors or views: one request for each slice."
)
@click.option(
    "--until",
    metavar="TIME",
    help="End at the next such time, as 06:00, or at 2026-01-31T06:00, and leave the rest to the next run. In local time.",
)
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
    *,
    every: Any,
    listing: Any,
    totals: bool,
    until: str | None,
    on_running: Literal["wait", "stop"],
    **given: Any,
) -> None:
    """Fill the --store for some projects, and fetch what is final once.

    The PERIOD comes first, unless --from and --to or --last name the days.
    Without a PROJECT, --project or DOCPLATFORM_PROJECT_ID names it. Slices in the store cost no request: final
    slices are fetched once, and only those that may still change are fetched each time. Slices that have not begun are left
    out. If the command ends early, run it again to continue.

    The number of requests that are missing, and the hours that they take at the budget, are shown before, and after if they have changed.

    If a project or a slice fails, the others are still fetched, unless the key, the rate limit or the connection fails, or failures repeat. The exit code shows it, and --json lists every failure.
    """
    if session.store is None:
        raise click.UsageError(
            "sync needs a store to fill: name its file with --store, or in DOCPLATFORM_STORE"
        )
    ends, projects = days_and_projects(session, every=every, **given)
    both_ends(ends)
    for name in listing:
        if totals and not ENDPOINTS[name].has_totals:
            raise click.UsageError(
                f"--totals: the service has no totals of {name}; leave it out to fetch all rows"
            )
    how = {"every": every, "by_path": not totals}
    slices = {"listing": listing, **ends, **how}
    projects = projects or [session.project_id()]
    if session.dry_run:
        cost.show(session, ends, listings=listing, **how, projects=projects)
        return
    progress = session.progress("Filling the store")
    printed = functools.partial(_print, session, slices)
    with session.client() as client:
        try:
            with progress, progress.counting():
                report = client.sync(
                    projects,
                    **slices,
                    until=until,
                    on_budget=session.on_budget,
                    on_running=on_running,
                    progress=True,
                )
        except DocPlatformError as error:
            if isinstance(error.report, SyncReport):
                printed(error.report, error)
            raise
        printed(report)


def _print(
    session: Session, asked: dict[str, Any], report: SyncReport, error: DocPlatformError | None = None
) -> None:
    failures = error.failures if isinstance(error, SyncError) else ()
    if session.json:
        listed = [
            {**failure._asdict(), "error": exits.whole(failure.error, session.again)} for failure in failures
        ]
        complete = error is None and not report.left
        told = error and exits.facts(error, session.again)
        output.document(
            {**asked, "complete": complete, **report._asdict(), "failures": listed, "error": told}
        )
    else:
        output.fields([("listing", ", ".join(asked["listing"])), *report._asdict().items()])
    if report.left and error is None:
        session.say("The time of --until was over: run it again for the rest.")
