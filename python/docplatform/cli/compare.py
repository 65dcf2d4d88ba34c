"""``docplatform visitors|views compare``: a period beside the one before it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import click

from docplatform import DataWarning, Totals
from docplatform._hooks import changes
from docplatform._hooks.numbers import MINUS, percent
from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, beside, last_month_options
from docplatform.cli.help import Command, number_option
from docplatform.cli.output import count, shown
from docplatform.cli.session import Session, with_budget
from docplatform.cli.writing import begin_named, output_options

if TYPE_CHECKING:
    from docplatform import Comparison
    from docplatform.cli.listings import Listing
    from docplatform.cli.writing import Target

COLUMNS = ("", "path", "before", "now", "change")
MOVERS = {"riser": "risers", "faller": "fallers", "new": "new", "vanished": "vanished"}
"""The kinds of change, and the method that lists the paths of each."""


def compare(listing: Listing) -> click.Command:
    """The command that compares a period of a listing with the one before."""

    @click.command("compare", cls=Command, epilog=PERIODS, help=_help(listing))
    @last_month_options
    @click.option(
        "--before",
        metavar="PERIOD",
        help="The period to compare with.  [default: the same kind of period before]",
    )
    @number_option(
        "-n",
        "--number",
        default=5,
        help="How many sections, risers, fallers, new and vanished paths to list.",
    )
    @click.option(
        "--of",
        type=click.Choice(Totals._fields),
        default="total",
        show_default=True,
        help="Whose changes to list: of people, AI agents or all.",
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
        of: Literal["human", "ai", "total"],
        target: Target,
    ) -> None:
        now, other = beside(date_from, date_to, before)
        if other is None:
            raise click.UsageError("there is no period before this one: name one with --before")
        if session.dry_run:
            ends = [(str(days.date_from), str(days.date_to)) for days in (now, other)]
            cost.show(session, ends, listing=listing.name)
            return
        writer = begin_named(target, json=session.json)
        with (
            session.client() as client,
            session.progress(f"Reading {now.name} and {other.name}"),
            warnings.catch_warnings(),
        ):
            # The comparison's own warnings say the same, and name the period.
            warnings.simplefilter("ignore", DataWarning)
            read = getattr(client, f"compare_{listing.name}")
            found: Comparison = read(now.written, other.written, on_budget=session.on_budget)
            if writer is not None:
                writer.write(found)
        if session.json:
            output.document(_facts(found, number, of) | ({} if writer is None else writer.facts()))
            return
        if writer is None:
            for line in changes.lines(found):
                session.say(f"{line}.")
            rows: list[tuple[object, ...]] = [
                *((kind, "", *_change(*_both(found, kind))) for kind in Totals._fields),
                *(
                    ("section", row["section"], *_change(row["before"], row["now"]))
                    for row in found.sections(of)[:number]
                    if row["significant"]
                ),
                *(
                    (kind, row["path"], *_change(row[f"{of}_before"], row[of]))
                    for kind, method in MOVERS.items()
                    for row in getattr(found, method)(number, of)
                ),
            ]
            output.table(rows, COLUMNS, title=changes.periods(found))
        elif writer.path is not None:
            session.say(f"{writer.said()}: every path.")
            session.say(
                "The columns with significant in their names say which of them changed by more than chance explains."
            )
        for warning in found.warnings:
            output.say(f"Note: {shown(warning)}.")
        if writer is None:
            session.say(changes.CHANCE)
            for kind in Totals._fields:
                count_ = len(found._movements(kind))
                if kind != of and count_:
                    session.say(
                        f"{changes.kinds(found)[kind]}: {count(count_, 'path')} rose or fell; --of {kind} lists them."
                    )
        session.say(f"It took {count(found.requests, 'request')}.")

    return run


def _help(listing: Listing) -> str:
    return (
        "Compare a period with the one before: the whole site, and the paths that changed.\n\nWithout a PERIOD, it compares the last month "
        f"with the month before. It reads all rows of both, one request for each {listing.endpoint.page_size}; rows that are in the --store "
        "already cost nothing.\n\nPaths are listed that changed by more than chance, the growth of the whole site and the usual ups "
        f"and downs of its pages explain. With -o, the file has every path. {listing.in_short}."
    )


def _change(before: int, now: int) -> tuple[int, int, str]:
    """Two counts, and the change as a number and as a share of the number before."""
    share = f" ({percent(before, now)})".replace(MINUS, "-") if before else ""
    return before, now, f"{now - before:+,}{share}"


def _both(found: Comparison, kind: str) -> tuple[int, int]:
    """The totals of a kind before and now."""
    return getattr(found.totals_before, kind), getattr(found.totals, kind)


def _facts(found: Comparison, number: int, of: Literal["human", "ai", "total"]) -> dict[str, Any]:
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
        "change": found.change._asdict(),
        "pace": found.pace._asdict(),
        "rows": len(found),
        "of": of,
        "sections": found.sections(of)[:number],
        **{method: getattr(found, method)(number, of).to_dicts() for method in MOVERS.values()},
    }
