"""``docplatform visitors|views compare``: a period beside the one before it."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from docplatform import DataWarning
from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, beside, range_options, resolve
from docplatform.cli.help import Command
from docplatform.cli.output import Progress, count, shown
from docplatform.cli.report.words import CHANCE, MINUS, percent
from docplatform.cli.session import Session, with_budget
from docplatform.cli.writing import begin_named, output_options

if TYPE_CHECKING:
    from docplatform import Comparison
    from docplatform.cli.days import Days
    from docplatform.cli.listings import Listing

COLUMNS = ("", "path", "before", "now", "change")
MOVERS = {"riser": "risers", "faller": "fallers", "new": "new", "vanished": "vanished"}
"""The kinds of change, and the method that lists the paths of each."""


def compare(listing: Listing) -> click.Command:
    """The command that compares a period of a listing with the one before."""

    @click.command("compare", cls=Command, epilog=PERIODS, help=_help(listing))
    @range_options
    @click.option(
        "--before",
        metavar="PERIOD",
        help="The period to compare with.  [default: the same kind of period before]",
    )
    @click.option(
        "-n",
        "--number",
        type=click.IntRange(1),
        default=5,
        show_default=True,
        metavar="N",
        help="How many risers, fallers, new and vanished paths to list.",
    )
    @output_options(None, "a table of the changes")
    @with_budget
    def run(
        session: Session,
        date_from: str | None,
        date_to: str | None,
        *,
        before: str | None,
        number: int,
        name: str | None,
        format_: str | None,
        force: bool,
        raw: bool,
        bom: bool,
    ) -> None:
        if date_from is None and date_to is None:
            date_from, date_to = resolve(("last month",), None, None, None)
        if date_from is None or date_to is None:
            raise click.UsageError("a comparison needs both --from and --to, or a PERIOD")
        pair = beside(date_from, date_to, "--before", before)
        if pair is None:
            raise click.UsageError("a comparison needs whole days: give dates without times")
        now, other = pair
        if other is None:
            raise click.UsageError("there is no period before this one: name one with --before")
        if session.dry_run:
            ends = [(str(days.date_from), str(days.date_to)) for days in (now, other)]
            cost.show(session, ends, listing=listing.name)
            return
        writer = begin_named(name, format_, raw=raw, bom=bom, force=force, json=session.json)
        with (
            session.client() as client,
            Progress(f"Reading {now.name} and {other.name}", quiet=session.quiet),
            warnings.catch_warnings(),
        ):
            # Those of the comparison say the same, and of which period.
            warnings.simplefilter("ignore", DataWarning)
            read = getattr(client, f"compare_{listing.name}")
            found: Comparison = read(_words(now), _words(other), on_budget=session.on_budget)
        if writer is not None:
            writer.write(found)
        if session.json:
            where: dict[str, Any] = {} if writer is None else {"file": name, "format": writer.format}
            output.document({**_facts(found, number), **where})
            return
        if writer is None:
            rows: list[tuple[object, ...]] = [
                (
                    "site",
                    "",
                    found.totals_before.total,
                    found.totals.total,
                    _change(found.totals_before.total, found.totals.total),
                )
            ]
            for kind, method in MOVERS.items():
                for row in getattr(found, method)(number):
                    numbers = row["total_before"], row["total"]
                    rows.append((kind, row["path"], *numbers, _change(*numbers)))
            output.table(rows, COLUMNS, title=f"{found.period} and {found.before}")
        elif writer.path is not None:
            session.say(f"Wrote {count(writer.rows, 'row')} to {shown(name)}: every path.")
            session.say("The column significant says which of them changed by more than chance.")
        for warning in found.warnings:
            output.say(f"Note: {shown(warning)}.")
        if writer is None:
            session.say(CHANCE)
        session.say(f"It took {count(found.requests, 'request')}.")

    return run


def _help(listing: Listing) -> str:
    return (
        "Compare a period with the one before: the whole site, and the paths that changed.\n\nWithout a PERIOD, it compares the last month "
        f"with the month before. It reads all rows of both, one request for each {listing.endpoint.page_size}; rows that are in the --store "
        "already cost nothing.\n\nA path is a riser or faller if it was read in both periods and changed by more than chance can "
        f"explain. With -o, the file has every path. {listing.in_short}."
    )


def _words(days: Days) -> str:
    """The days as a PERIOD that names the first and the last day."""
    return f"{days.date_from} to {days.date_to - timedelta(1)}"


def _change(before: int, now: int) -> str:
    """A change as a number, and as a share of the number before."""
    share = f" ({percent(before, now)})".replace(MINUS, "-") if before else ""
    return f"{now - before:+,}{share}"


def _facts(found: Comparison, number: int) -> dict[str, Any]:
    names = (
        "period",
        "before",
        "date_from",
        "date_to",
        "date_from_before",
        "date_to_before",
        "requests",
        "warnings",
    )
    return {
        **{name: getattr(found, name) for name in names},
        "totals": found.totals._asdict(),
        "totals_before": found.totals_before._asdict(),
        "rows": len(found),
        **{method: getattr(found, method)(number) for method in MOVERS.values()},
    }
