"""The command: a page for people who will never open Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform._native import _WholeFile
from docplatform.cli import cost, files, output
from docplatform.cli.days import range_options
from docplatform.cli.help import Command
from docplatform.cli.output import count, shown
from docplatform.cli.params import FILE
from docplatform.cli.report import page, reading
from docplatform.cli.report.markup import account
from docplatform.cli.report.parts import Asked
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import summary

if TYPE_CHECKING:
    from docplatform.cli.report.reading import Found


@click.command("report", cls=Command)
@range_options
@click.option(
    "-o",
    "--output",
    "name",
    type=FILE,
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where to; - is standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many pages to list.",
)
@click.option(
    "--every",
    type=click.Choice(["day", "week", "month", "none"]),
    help="How the trend is cut: one request each.  [default: day up to a fortnight, week up to a quarter, else month]",
)
@click.option(
    "--rising/--no-rising",
    default=None,
    help="Compare with as many days before, for as many requests again.  [default: where these are few]",
)
@with_budget
def report(
    session: Session,
    date_from: str | None,
    date_to: str | None,
    *,
    name: str,
    force: bool,
    number: int,
    every: Any,
    rising: bool | None,
) -> None:
    """Write a page about the site's readers that anybody can open.

    One file of HTML without scripts: it loads nothing, works offline, on a phone and printed. All rows are read for it, one
    request for each 250. With --json, a summary goes to standard output.

    With --from and --to there is a trend, and pages that rise. Neither takes more than 25 requests, or waits for the budget,
    unless --every or --rising is given. Where one cannot be read the page is written without it, and says so; if it
    was asked for, the exit code says so, too.
    """
    if session.dry_run:
        cost.show(session, [(date_from, date_to)])
        return
    path = None if name == "-" else Path(name)
    files.check(path, force=force)
    if path is None and session.json:
        raise click.UsageError("--json prints a summary, and the page goes to standard output: name a file")
    asked = Asked(date_from=date_from, date_to=date_to, number=number, every=every, rising=rising)
    with session.client() as client:
        # What does not depend on the rows fails before they are asked for.
        file = _WholeFile(path) if path is not None else None
        try:
            found = reading.read(session, client, asked)
            html = page.render(found)
            if file is None:
                sys.stdout.buffer.write(html.encode())
            else:
                Path(file.path).write_text(html, encoding="utf-8")
                file.commit()
        finally:
            if file is not None:
                file.discard()
    if session.json:
        output.document(summary(name, date_from, date_to, found.totals, **_summary(found)))
    elif path is not None:
        session.say(
            f"Wrote {shown(name)}, about {count(found.pages, 'page')}; it took {account(found.requests)}."
        )
    if found.failed is not None:
        found.failed.add_note("The page is written all the same, and says what it lacks.")
        raise found.failed


def _summary(found: Found) -> dict[str, Any]:
    return {
        "rows": found.pages,
        "requests": sum(found.requests.values()),
        "warnings": found.warnings,
        "every": found.trend and found.trend.every,
        "slices": len(found.trend.slices) if found.trend else 0,
        "rising": [row._asdict() for row in found.rising.rows] if found.rising else None,
        "left_out": found.left_out,
    }
