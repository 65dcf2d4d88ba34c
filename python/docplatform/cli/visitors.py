"""``docplatform visitors``: the site's readers, human and AI."""

from __future__ import annotations

import heapq
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import click

from docplatform import Totals
from docplatform._hooks import ranges
from docplatform.cli import cost, output
from docplatform.cli.days import PERIODS, range_options
from docplatform.cli.help import Group
from docplatform.cli.output import Progress
from docplatform.cli.session import Session, with_budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Visitors

COUNTS = Totals._fields
"""The kinds of visitors."""


@click.group("visitors", cls=Group)
def group() -> None:
    """The site's readers, human and AI."""


@group.command("totals", epilog=PERIODS)
@range_options
@with_budget
def totals(session: Session, date_from: str | None, date_to: str | None) -> None:
    """Print the unique visitors of the whole site.

    It takes one request. Uniques do not add up: not over paths, not over days, and not over kinds.
    """
    if session.dry_run:
        cost.show(session, [(date_from, date_to)], by_path=False)
        return
    with session.client() as client:
        found = client.visitor_totals(date_from=date_from, date_to=date_to, on_budget=session.on_budget)
    if session.json:
        output.document({"date_from": date_from, "date_to": date_to, **found._asdict()})
        return
    output.table([found], COUNTS, title=ranges.name(date_from, date_to))


@group.command("top", epilog=PERIODS)
@range_options
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many paths to list.",
)
@click.option(
    "--by", type=click.Choice(COUNTS), default="total", show_default=True, help="Which readers count."
)
@with_budget
def top(session: Session, date_from: str | None, date_to: str | None, *, number: int, by: str) -> None:
    """List the paths with the most unique visitors.

    The service promises no order, so all rows are read: one request for each 250.
    """
    if session.dry_run:
        cost.show(session, [(date_from, date_to)])
        return
    with session.client() as client:
        visitors = client.visitors(date_from=date_from, date_to=date_to, on_budget=session.on_budget)
        with Progress("Reading visitors", quiet=session.quiet) as progress:
            rows = heapq.nlargest(number, counted(visitors, progress), key=itemgetter(by))
        totals, requests = visitors.totals(), client.stats.requests
    if session.json:
        output.document(
            {"date_from": date_from, "date_to": date_to, "by": by, "totals": totals._asdict(), "rows": rows}
        )
        return
    output.table(
        [[row[name] for name in ("path", *COUNTS)] for row in rows],
        ("path", *COUNTS),
        title=ranges.name(date_from, date_to),
    )
    session.say(
        f"It took {output.count(requests, 'request')}. Uniques do not add up: "
        f"the whole site has {output.count(totals.total, 'visitor')}."
    )


def summary(
    file: str, date_from: str | None, date_to: str | None, totals: Totals | None, **more: object
) -> dict[str, object]:
    """The document of a command that wrote a file."""
    counts = totals and totals._asdict()
    return {"file": file, "date_from": date_from, "date_to": date_to, "totals": counts, **more}


def counted(
    visitors: Visitors, progress: Progress, text: str = "Reading visitors"
) -> Iterator[dict[str, Any]]:
    """All rows, with their number as progress."""
    count = 0
    for page in visitors.pages():
        count += len(page.rows)
        progress.update(f"{text}: {count:,} rows", counting=True)
        # Their fields are looked up by names that are variables.
        yield from cast("list[dict[str, Any]]", page.rows)
