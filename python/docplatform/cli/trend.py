"""``docplatform visitors|views trend``: what is counted by day, week or month."""

from __future__ import annotations

import sys
from calendar import monthrange
from typing import TYPE_CHECKING, Any, Literal

import click

from docplatform._hooks import ranges
from docplatform._native import _is_cut
from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, slice_options
from docplatform.cli.help import Command
from docplatform.cli.output import count
from docplatform.cli.report.words import AI_TRAFFIC
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import COUNTS
from docplatform.cli.writing import begin_named, output_options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from docplatform import Plan, TrendTable
    from docplatform.cli.listings import Listing
    from docplatform.cli.writing import Target

    _Every = Literal["day", "week", "month"]


def trend(listing: Listing) -> click.Command:
    """The command that shows what a listing counts, slice by slice."""

    @click.command("trend", cls=Command, epilog=PERIODS, help=_help(listing))
    @slice_options("day")
    @click.option(
        "--by-path", is_flag=True, help="One row for each slice and path instead of one for each slice."
    )
    @click.option(
        "--whole",
        is_flag=True,
        help="Leave out a first or last slice that the range cuts; no request is sent for it.",
    )
    @output_options(None, "a table")
    @with_budget
    def run(
        session: Session,
        date_from: str,
        date_to: str,
        *,
        every: Any,
        by_path: bool,
        whole: bool,
        target: Target,
    ) -> None:
        if session.dry_run:
            ends = [(date_from, date_to)]
            cost.show(session, ends, listing=listing.name, every=every, by_path=by_path, whole=whole)
            return
        writer = begin_named(target, json=session.json)
        slices: dict[str, Any] = {
            "date_from": date_from,
            "date_to": date_to,
            "every": every,
            "by_path": by_path,
        }
        with session.client() as client:
            plan = client._plan(listing.name, **slices, whole=whole)
            progress = session.progress(_announced(plan))
            with progress, progress.counting():
                read = getattr(client, f"{listing.noun}_trend")
                found: TrendTable = read(**slices, whole=whole, on_budget=session.on_budget, progress=True)
        if writer is not None:
            writer.write(found)
        if session.json:
            where = {"rows": found.to_dicts()} if writer is None else writer.facts()
            output.document({**_facts(found), **where})
            return
        if writer is None:
            running = found._running
            columns = ("date_from", "date_to", "days", *(["path"] if by_path else []), *COUNTS)
            drawn = output.is_terminal(sys.stdout)
            shown_rows = ({**row, "days": _days(row, every, running)} if drawn else row for row in found)
            output.table(
                [[row[column] for column in columns] for row in shown_rows],
                columns,
                title=ranges.name(date_from, date_to),
            )
        elif writer.path is not None:
            session.say(f"{writer.said()}.")
        session.say(f"It took {count(found.requests, 'request')}. {listing.in_short} over days or paths.")
        session.say(AI_TRAFFIC)
        if found.open_from is not None:
            session.say(f"From {found.open_from} on the numbers may still change.")

    return run


def _help(listing: Listing) -> str:
    sums = (
        f"{listing.in_short}: the slices sum up to `{listing.name} totals` of the range."
        if listing.endpoint.adds_up
        else "Uniques do not add up: a visitor who comes on two days counts on both, but only once in `visitors totals` of the range."
    )
    return (
        f"Show the site's {listing.name} by day, week or month.\n\nIt costs one request for each slice; with --by-path, one for "
        f"each {listing.endpoint.page_size} rows. `--dry-run` says how many that are. With --store, final days are fetched once: run it "
        f"again tomorrow, and only days that may still change cost a request, three by default.\n\n{sums}\n\nWith --json, the document has the rows, unless "
        "-o names a file for them."
    )


def _days(row: dict[str, Any], every: _Every | None, running: Sequence[date]) -> int | str:
    """The days of a slice; ``3 of 7 days`` if the range cuts it, ``7, not over`` if it was not over when it was read."""
    first, end, days = row["date_from"], row["date_to"], row["days"]
    if _is_cut(every, first, end):
        days = f"{days} of {7 if every == 'week' else monthrange(first.year, first.month)[1]} days"
    return f"{days}, not over" if end in running else days


def _announced(plan: Plan) -> str:
    least = "" if plan.exact else "at least "
    return f"Reading {count(len(plan.slices), 'slice')} for {least}{count(plan.requests, 'request')}"


def _facts(found: TrendTable) -> dict[str, Any]:
    """The fields of the JSON document beside the rows of a trend."""
    names = ("date_from", "date_to", "every", "open_from", "requests", "warnings")
    return {name: getattr(found, name) for name in names}
