"""``docplatform visitors export``: all rows, to a file or a pipe."""

from __future__ import annotations

from typing import Any

import click

from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, range_options
from docplatform.cli.help import Command
from docplatform.cli.output import shown
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import summary
from docplatform.cli.writing import begin, output_options

EXAMPLE = """\b
If this ends early, the same command continues where it stopped:
  docplatform visitors export 2026-01 -o january.csv --store visitors.db

"""


@click.command("export", cls=Command, epilog=EXAMPLE + PERIODS)
@range_options
@output_options("-", "standard output, as csv")
@click.option(
    "--page-size",
    type=click.IntRange(1, 250),
    metavar="N",
    help="Rows per request.  [default: 250, the maximum]",
)
@click.option("--max-rows", type=click.IntRange(0), metavar="N", help="Export at most N rows.")
@click.option("--strict", is_flag=True, help="Fail where the data would only cause a warning.")
@with_budget
def export(
    session: Session,
    date_from: str | None,
    date_to: str | None,
    *,
    name: str,
    format_: str | None,
    force: bool,
    page_size: int | None,
    max_rows: int | None,
    strict: bool,
    raw: bool,
    bom: bool,
) -> None:
    """Export the unique visitors of every path, one row each.

    A file is written whole or not at all. With --json, a summary goes to standard output. Uniques do not add up: not
    over paths, not over days.

    It takes one request for each 250 rows. If the rate limit or Ctrl-C ends it, a --store keeps what was fetched.
    """
    if session.dry_run:
        cost.show(session, [(date_from, date_to)])
        return
    going = begin(name, format_, raw=raw, bom=bom, force=force, json=session.json)
    query: dict[str, Any] = {"date_from": date_from, "date_to": date_to, "page_size": page_size}
    with session.client() as client:
        visitors = client.visitors(
            max_rows=max_rows,
            strict=strict,
            on_budget=session.on_budget,
            **{key: value for key, value in query.items() if value is not None},
        )
        with going.shown(quiet=session.quiet):
            going.write(visitors)
        requests = client.stats.requests
        totals = visitors.totals() if going.rows else None
    if session.json:
        found = {"rows": going.rows, "requests": requests, "warnings": visitors.warnings}
        output.document(summary(name, date_from, date_to, totals, format=going.format, **found))
        return
    where = f" to {shown(name)}" if going.path is not None else ""
    session.say(
        f"Wrote {output.count(going.rows, 'row')}{where}; it took {output.count(requests, 'request')}."
    )
    if totals is not None:
        session.say(f"Uniques do not add up: the whole site has {output.count(totals.total, 'visitor')}.")
