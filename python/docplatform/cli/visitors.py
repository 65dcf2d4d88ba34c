"""``docplatform visitors``: the site's readers, human and AI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from docplatform.cli import output
from docplatform.cli.session import Session, with_session

if TYPE_CHECKING:
    from collections.abc import Callable


@click.group("visitors")
def group() -> None:
    """The site's readers, human and AI."""


def range_options(command: Callable[..., None]) -> Callable[..., None]:
    """The days that are asked about."""
    for option in (
        click.option(
            "--to",
            "date_to",
            metavar="DATE",
            help="The first day that is not included any more: the end is exclusive.",
        ),
        click.option("--from", "date_from", metavar="DATE", help="The first day, as 2026-01-31."),
    ):
        command = option(command)
    return command


@group.command("totals")
@range_options
@with_session
def totals(session: Session, date_from: str | None, date_to: str | None) -> None:
    """Print the unique visitors of the whole site and range, for one request.

    Uniques do not add up: not over pages, not over days, and not over kinds.
    """
    with session.client() as client:
        found = client.visitor_totals(date_from=date_from, date_to=date_to)
    if session.json:
        output.document({"date_from": date_from, "date_to": date_to, **found._asdict()})
        return
    output.table([found], found._fields)
