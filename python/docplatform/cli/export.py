"""``docplatform visitors|views|searches|feedback|conversations export``: all rows, to a file or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, every_option, range_options
from docplatform.cli.help import Command, number_option, options
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import whole_site
from docplatform.cli.writing import begin, output_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from docplatform.cli.listings import Listing
    from docplatform.cli.writing import Target

EXAMPLE = """\b
If this ends early, the same command continues where it stopped:
  docplatform {name} export 2026-01 -o january.csv --store {name}.db

"""


def export(listing: Listing) -> click.Command:
    """The command that exports the rows of a listing."""

    @click.command(
        "export", cls=Command, epilog=EXAMPLE.format(name=listing.name) + PERIODS, help=_help(listing)
    )
    @range_options
    @output_options("-", "standard output, as csv")
    @number_option(
        "--page-size",
        most=listing.endpoint.page_size,
        help=f"Rows per request.  [default: {listing.endpoint.page_size}, the maximum]",
    )
    @number_option("-n", "--max-rows", least=0, help="Export at most N rows.")
    @click.option("--strict", is_flag=True, help="Fail if the data is unusual, instead of only warning.")
    @options(*_own(listing))
    @with_budget
    def run(
        session: Session,
        /,
        date_from: str | None,
        date_to: str | None,
        *,
        target: Target,
        by_page: bool = False,
        **query: Any,
    ) -> None:
        method = listing.by_page if by_page and listing.by_page else listing.name
        days = {"date_from": date_from, "date_to": date_to}
        # The client has its own defaults for options that were not given.
        query = {**days, **query}
        query = {key: value for key, value in query.items() if value not in (None, ()) and value is not False}
        if session.dry_run:
            cost.show_export(session, method, query)
            return
        going = begin(target, json=session.json, reading=f"Reading {listing.name}")
        with session.client() as client:
            rows = getattr(client, method)(on_budget=session.on_budget, **query)
            with going.shown(quiet=session.quiet):
                going.write(rows)
            requests = client.stats.requests
            totals = rows.totals() if listing.endpoint.has_totals and going.rows else None
        if session.json:
            counts = {"totals": totals and totals._asdict()} if listing.endpoint.has_totals else {}
            found = {"requests": requests, "warnings": rows.warnings}
            output.document({**going.facts(), **days, **counts, **found})
            return
        session.say(f"{going.said()}; it took {output.count(requests, 'request')}.")
        if totals is not None:
            session.say(whole_site(listing, totals))

    return run


def _help(listing: Listing) -> str:
    slices = (
        "\n\nIf the service finds a range too long, --every reads it slice by slice, with at least one "
        "request for each; every row then says which slice it belongs to."
    )
    return (
        f"Export {listing.rows}.\n\nRows are in the service's order. A file is written whole or not at all. With --json, a summary goes to standard "
        f"output. "
        f"{listing.meaning}\n\nIt costs one request for each {listing.endpoint.page_size:,} rows. If the rate limit or Ctrl-C ends it, a "
        f"--store keeps what was fetched.{'' if listing.endpoint.has_totals else slices}"
    )


def _own(listing: Listing) -> list[Callable[..., Any]]:
    """The options that only some listings have."""
    own = [
        click.option(
            f"--{name}",
            multiple=True,
            metavar=name.upper(),
            help=f"Only rows with this {name}; it can be given several times.",
        )
        for name in listing.endpoint.filters
    ]
    if listing.by_page is not None:
        own.append(
            click.option(
                "--by-page",
                is_flag=True,
                help="One row for each page of the site, with its thumbs up and down. The service returns at most "
                f"{listing.endpoint.page_size} rows; if there are more, a note says so, and shorter ranges show them.",
            )
        )
    return own if listing.endpoint.has_totals else [*own, every_option(None)]
