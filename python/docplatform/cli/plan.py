"""``docplatform plan``: what a range costs. Sends nothing."""

from __future__ import annotations

from typing import Any

import click

from docplatform import PlanSlice
from docplatform.cli import output
from docplatform.cli.days import slice_options
from docplatform.cli.help import Command
from docplatform.cli.output import count
from docplatform.cli.session import Session, with_store

EXAMPLES = """\b
What these commands cost for the same days:
  docplatform plan                        visitors export, visitors top, the rows of a report
  docplatform plan --totals               visitors totals
  docplatform plan --every day --totals   visitors trend
  docplatform plan --every day            visitors trend --by-path
"""


@click.command("plan", cls=Command, epilog=EXAMPLES)
@slice_options(None)
@click.option("--totals", is_flag=True, help="The totals alone: one request for each slice.")
@click.option("--slices", is_flag=True, help="A line for each slice.")
@with_store
def plan(session: Session, date_from: str, date_to: str, *, every: Any, totals: bool, slices: bool) -> None:
    """Say what a range costs in requests, and send none.

    `cached` requests are not sent: their answers are in the --store. A slice whose size the store does not know counts
    as one request, so that the number is a minimum.

    With --requests-per-hour, `hours` is how long you would wait for the budget.
    """
    with session.client() as client:
        found = client.plan_visitors(date_from=date_from, date_to=date_to, every=every, by_path=not totals)
    if session.json:
        output.document(
            {
                "date_from": date_from,
                "date_to": date_to,
                "every": every,
                "by_path": not totals,
                **found._asdict(),
                "slices": [part._asdict() for part in found.slices],
            }
        )
        return
    if slices:
        output.table([(*part[:4], _yes(part.exact)) for part in found.slices], PlanSlice._fields)
        waits = "" if found.hours is None else f", {count(int(found.hours), 'hour')} to wait"
        session.say(f"In all: {count(found.requests, 'request')}, {found.cached:,} cached{waits}.")
    else:
        hours = None if found.hours is None else int(found.hours)
        output.fields(
            [
                ("requests", found.requests),
                ("cached", found.cached),
                ("exact", _yes(found.exact)),
                ("hours", hours),
            ]
        )
    if not found.exact:
        unknown = sum(not part.exact for part in found.slices)
        session.say(
            f"It may be more: the size of {unknown:,} of {count(len(found.slices), 'slice')} is not known, "
            "and each counts for one request at least."
        )


def _yes(value: bool) -> str:
    return "yes" if value else "no"
