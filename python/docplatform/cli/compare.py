"""``docplatform visitors compare``: a period beside the one before it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from docplatform._native import _period
from docplatform.cli import cost, output, words
from docplatform.cli.days import PERIODS, range_options
from docplatform.cli.help import Command
from docplatform.cli.output import Progress, count, shown
from docplatform.cli.report.sentences import CHANCE
from docplatform.cli.session import Session, with_budget
from docplatform.cli.writing import begin, output_options

if TYPE_CHECKING:
    from datetime import date

    from docplatform import Comparison

    _Days: TypeAlias = tuple[date, date, str, str]

COLUMNS = ("", "path", "before", "now", "change")
MOVERS = {"riser": "risers", "faller": "fallers", "new": "new", "vanished": "vanished"}
"""What a path is that moved, and the method that lists those."""


@click.command("compare", cls=Command, epilog=PERIODS)
@range_options
@click.option(
    "--before", metavar="PERIOD", help="What to compare with.  [default: the same kind of period before]"
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
@output_options(None, "a table of what moved")
@with_budget
def compare(
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
    """Compare a period with the one before: the whole site, and the paths that moved.

    Without a PERIOD it is the last month, beside the month before. It reads all rows of both, one request for each 250; with
    --store, what was fetched before costs nothing.

    A path rises or falls if it was read in both periods and changed by more than chance may bring. With -o, the file has
    every path. Uniques do not add up.
    """
    now, other = _two(date_from, date_to, before)
    if session.dry_run:
        cost.show(session, [(str(days[0]), str(days[1])) for days in (now, other)])
        return
    writer = None
    if name is not None or format_ is not None:
        writer = begin(name or "-", format_, raw=raw, bom=bom, force=force, json=session.json)
        writer.check()
    with session.client() as client, Progress(f"Reading {now[3]} and {other[3]}", quiet=session.quiet):
        found = client.compare_visitors(_words(now), _words(other), on_budget=session.on_budget)
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
        session.say(f"Wrote {count(writer.rows, 'row')} to {shown(name)}.")
    for warning in found.warnings:
        session.say(f"Note: {shown(warning)}.")
    session.say(CHANCE)
    session.say(f"It took {count(found.requests, 'request')}.")


def _two(date_from: str | None, date_to: str | None, before: str | None) -> tuple[_Days, _Days]:
    """The two periods: their days and their names."""
    if (date_from is None) != (date_to is None):
        raise click.UsageError("a comparison needs both --from and --to, or a PERIOD")
    try:
        found = _period("last month") if date_from is None else _period(None, date_from, date_to)
        other = _period(before) if before is not None else None
    except ValueError as error:
        raise click.UsageError(words.as_options(str(error))) from None
    if found is None:
        raise click.UsageError("a comparison is of whole days")
    against = other[0] if other is not None else found[1]
    if against is None:
        raise click.UsageError("no calendar has a period before this one")
    return found[0], against


def _words(days: _Days) -> str:
    """The days as a period: both of its ends are named."""
    return f"{days[0]} to {days[1] - timedelta(1)}"


def _change(before: int, now: int) -> str:
    """How much more or less, also as a share of what was."""
    if not before:
        return f"{now - before:+,}"
    share = (now - before) / before
    return f"{now - before:+,} ({share:+.0%})" if abs(share) < 10 else f"{now - before:+,}"


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
