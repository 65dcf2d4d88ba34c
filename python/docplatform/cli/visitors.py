"""``docplatform visitors|views totals|top``: how many readers the site and its most read paths have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from docplatform import Totals
from docplatform._hooks import ranges
from docplatform.cli import cost, files, output
from docplatform.cli.days import PERIODS, range_options
from docplatform.cli.help import Command, number_option
from docplatform.cli.session import Session, with_budget
from docplatform.cli.writing import begin_named, output_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Visitors
    from docplatform.cli.listings import Listing
    from docplatform.cli.output import Progress
    from docplatform.cli.writing import Target

COUNTS = Totals._fields
"""The kinds of visitors."""
COLUMNS = ("path", *COUNTS)
"""The columns of a list of paths."""


def totals(listing: Listing) -> click.Command:
    """The command that prints the totals of a listing."""

    @click.command(
        "totals",
        cls=Command,
        epilog=PERIODS,
        help=f"Print the {listing.counts} of the whole site.\n\nIt takes one request. {listing.meaning}",
    )
    @range_options
    @with_budget
    def run(session: Session, date_from: str | None, date_to: str | None) -> None:
        if session.dry_run:
            cost.show(session, [(date_from, date_to)], listing=listing.name, by_path=False)
            return
        files.check_printing()
        with session.client() as client:
            read = getattr(client, f"{listing.noun}_totals")
            found = read(date_from=date_from, date_to=date_to, on_budget=session.on_budget)
        if session.json:
            output.document({"date_from": date_from, "date_to": date_to, **found._asdict()})
            return
        output.table([found], COUNTS, title=ranges.name(date_from, date_to))

    return run


def top(listing: Listing) -> click.Command:
    """The command that lists the paths with the highest counts."""

    @click.command(
        "top",
        cls=Command,
        epilog=PERIODS,
        help=f"List the paths with the most {listing.counts}.\n\nThe service promises no order, so all rows are read: one "
        f"request for each {listing.endpoint.page_size}. With -o, the paths go to a file. {listing.meaning}",
    )
    @range_options
    @number_option(
        "-n",
        "--number",
        default=10,
        help="How many paths to list.",
    )
    @click.option(
        "--by",
        type=click.Choice(COUNTS),
        default="total",
        show_default=True,
        help="Which readers to rank by.",
    )
    @output_options(None, "a table")
    @with_budget
    def run(
        session: Session,
        date_from: str | None,
        date_to: str | None,
        *,
        number: int,
        by: str,
        target: Target,
    ) -> None:
        if session.dry_run:
            cost.show(session, [(date_from, date_to)], listing=listing.name)
            return
        writer = begin_named(target, json=session.json)
        with session.client() as client:
            found: Visitors = getattr(client, listing.name)(
                date_from=date_from, date_to=date_to, on_budget=session.on_budget
            )
            with session.progress(f"Reading {listing.name}") as progress, progress.counting():
                table = found.collect(progress=True)
            rows = table.top(number, by=by)
            if writer is not None:
                writer.write(rows)
            site, requests = found.totals(), client.stats.requests
        if session.json:
            where = {"rows": list(rows)} if writer is None else writer.facts()
            spent = {"requests": requests, "warnings": table.warnings}
            days = {"date_from": date_from, "date_to": date_to}
            output.document({**days, "by": by, **spent, "totals": site._asdict(), **where})
            return
        if writer is None:
            output.table(
                [(row["path"], row["human"], row["ai"], row["total"]) for row in rows],
                COLUMNS,
                title=ranges.name(date_from, date_to),
            )
        elif writer.path is not None:
            session.say(f"{writer.said()}, sorted by {by}.")
        session.say(f"It took {output.count(requests, 'request')}. {whole_site(listing, site)}")

    return run


def whole_site(listing: Listing, found: Totals) -> str:
    """The totals of a listing in a sentence, which also says whether rows add up to them."""
    return f"{listing.in_short}: the whole site has {output.count(found.total, listing.noun)}."


def counted(
    visitors: Visitors, progress: Progress, text: str = "Reading visitors"
) -> Iterator[dict[str, Any]]:
    """All rows, with their number as progress."""
    count = 0
    for page in visitors.pages():
        count += len(page.rows)
        progress.update(f"{text}: {count:,} rows", counting=True)
        # A TypedDict cannot be indexed with a variable.
        yield from cast("list[dict[str, Any]]", page.rows)
