"""``docplatform sync``: fills the store for many projects."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Literal

import click

from docplatform import DocPlatformError, SyncError
from docplatform.cli import cost, output, phrases
from docplatform.cli.days import FROM, LAST_WHOLE, PERIODS, TO, both_ends, every_option, resolve
from docplatform.cli.files import Refusal
from docplatform.cli.help import Command, options
from docplatform.cli.listings import ENDPOINTS, listing_option
from docplatform.cli.output import Progress
from docplatform.cli.params import FILE, read_text
from docplatform.cli.session import Session, with_budget

if TYPE_CHECKING:
    from docplatform import SyncReport

EXAMPLES = """\b
From cron, every hour; the next run fetches what the budget did not allow:
  docplatform sync --last 30 --file projects.txt --store visitors.db \\
      --requests-per-hour 90 --on-budget stop --on-running stop -q > /dev/null

"""

_UNIT = re.compile("(day|week|month|quarter|year)s?")


@click.command("sync", cls=Command, epilog=EXAMPLES + PERIODS)
@click.argument("words", nargs=-1, metavar="[PERIOD] [PROJECT]...")
@click.option(
    "-f",
    "--file",
    type=FILE,
    metavar="FILE",
    help="Read ids of projects from a file, one per line; - is standard input.",
)
@options(FROM, TO, LAST_WHOLE, every_option("day"))
@listing_option("What to fetch.")
@click.option(
    "--totals", is_flag=True, help="Only the totals, of visitors or views: one request for each slice."
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
    words: tuple[str, ...],
    date_from: str | None,
    date_to: str | None,
    *,
    last: int | None,
    file: str | None,
    every: Any,
    listing: Any,
    totals: bool,
    on_running: Literal["wait", "stop"],
) -> None:
    """Fill the --store for some projects, and fetch nothing twice.

    The PERIOD comes first, unless --from and --to or --last name the days.
    Without a PROJECT, --project or DOCPLATFORM_PROJECT_ID names it. What the store has costs no request: final
    slices are fetched once, and only those that may still change are fetched each time. Slices that have not begun are left
    out. If the command ends early, run it again to continue.

    If a project or a slice fails, the others are still fetched. The exit code shows it, and --json lists every failure.
    """
    if session.store is None:
        raise click.UsageError(
            "sync needs a store to fill: name its file with --store, or in DOCPLATFORM_STORE"
        )
    dated = date_from is not None or date_to is not None or last is not None
    at = 0 if dated else _spoken(words)
    period, projects = words[:at], words[at:]
    try:
        days = both_ends(*resolve(period, date_from, date_to, last, every))
    except click.UsageError as error:
        if not period:
            raise
        text = f"{error.message}. The PERIOD comes first, and projects come after it"
        raise click.UsageError(text) from None
    if session.project is not None and (projects or file is not None):
        raise click.UsageError("name the project with --project, or projects as PROJECT or in --file")
    if totals and not ENDPOINTS[listing].has_totals:
        raise click.UsageError(
            f"--totals: the service has no totals of {listing}; leave it out to fetch all rows"
        )
    slices: dict[str, Any] = {
        "listing": listing,
        **days,
        "every": every,
        "by_path": not totals,
    }
    wanted = [*projects, *(_listed(file, quiet=session.quiet) if file is not None else ())]
    if not wanted:
        wanted = [session.project_id()]
    if session.dry_run:
        ends = [(days["date_from"], days["date_to"])]
        cost.show(session, ends, listing=listing, every=every, by_path=not totals, projects=wanted)
        return
    progress = Progress("Filling the store", quiet=session.quiet)
    printed = functools.partial(_print, session, slices)
    with session.client() as client:
        try:
            with progress, progress.counting():
                report = client.sync(
                    wanted,
                    **slices,
                    on_budget=session.on_budget,
                    on_running=on_running,
                    progress=True,
                )
        except DocPlatformError as error:
            if error.report is not None:
                printed(error.report, error)
            raise
        printed(report)


def _spoken(words: tuple[str, ...], begin: int = 0) -> int:
    """How many of the words are the PERIOD, which may have several: ``last 7 days``, ``January 2026``, ``2026-01 to 2026-03``."""
    first, *rest = [word.lower() for word in words[begin : begin + 3]] or [""]
    long = 3 if first == "last" and _UNIT.fullmatch("".join(rest[1:])) else 2
    end = min(begin + (long if first.isalpha() and first != "yesterday" else 1), len(words))
    return _spoken(words, end + 1) if [word.lower() for word in words[end : end + 1]] == ["to"] else end


def _print(
    session: Session, asked: dict[str, object], report: SyncReport, error: DocPlatformError | None = None
) -> None:
    failures = error.failures if isinstance(error, SyncError) else ()
    if session.json:
        listed = [
            {**failure._asdict(), "error": phrases.whole(failure.error, session.again)}
            for failure in failures
        ]
        output.document({**asked, "complete": error is None, **report._asdict(), "failures": listed})
    else:
        output.fields([("listing", asked["listing"]), *report._asdict().items()])


def _listed(file: str, *, quiet: bool) -> list[str]:
    text = read_text(
        file, "the projects", "give the ids of projects through a pipe, one per line", quiet=quiet
    )
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise Refusal(f"{file} names no project: write one id per line")
    return found
