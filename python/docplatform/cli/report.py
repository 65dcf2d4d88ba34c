"""``docplatform report``: a page for people who will never open Python."""

from __future__ import annotations

import heapq
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform._native import _WholeFile
from docplatform.cli import files, output, page
from docplatform.cli.help import Command
from docplatform.cli.output import Progress, shown
from docplatform.cli.params import FILE
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import counted, range_options, summary

if TYPE_CHECKING:
    from docplatform import Client


class Top:
    """The rows with the highest counts, of however many there are."""

    def __init__(self, number: int, by: str) -> None:
        self._number = number
        self._by = by
        self.seen: int = 0
        """How many rows there were."""
        self._heap: list[tuple[int, int, dict[str, Any]]] = []

    def add(self, row: dict[str, Any]) -> None:
        """One more row; of those with the same count the earlier ones stay."""
        self.seen += 1
        entry = (row[self._by], -self.seen, row)
        if len(self._heap) < self._number:
            heapq.heappush(self._heap, entry)
        elif entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def rows(self) -> list[dict[str, Any]]:
        """The highest first."""
        return [row for _, _, row in sorted(self._heap, reverse=True)]


@click.command("report", cls=Command)
@range_options
@click.option(
    "-o",
    "--output",
    "name",
    type=FILE,
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where to; - is standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1, 1_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many pages to list.",
)
@with_budget
def report(
    session: Session, date_from: str | None, date_to: str | None, *, name: str, force: bool, number: int
) -> None:
    """Write a page about the site's readers that anybody can open.

    One file of HTML without scripts: it loads nothing, works offline, on a phone and printed. All rows are read for it, one
    request for each 250. With --json, a summary goes to standard output.
    """
    path = None if name == "-" else Path(name)
    files.check(path, force=force)
    if path is None and session.json:
        raise click.UsageError("--json prints a summary, and the page goes to standard output: name a file")
    with session.client() as client:
        # What does not depend on the rows fails before they are asked for.
        file = _WholeFile(path) if path is not None else None
        try:
            made = _read(session, client, number, date_from, date_to)
            html = page.render(made)
            if file is None:
                sys.stdout.buffer.write(html.encode())
            else:
                Path(file.path).write_text(html, encoding="utf-8")
                file.commit()
        finally:
            if file is not None:
                file.discard()
    if session.json:
        found = {"rows": made.pages, "requests": made.requests, "warnings": made.warnings}
        output.document(summary(name, date_from, date_to, made.totals, **found))
    elif path is not None:
        session.say(
            f"Wrote {shown(name)}, about {output.count(made.pages, 'page')}; it took {output.count(made.requests, 'request')}."
        )


def _read(
    session: Session, client: Client, number: int, date_from: str | None, date_to: str | None
) -> page.Report:
    """Reads all rows, and keeps only those that are shown."""
    visitors = client.visitors(date_from=date_from, date_to=date_to, on_budget=session.on_budget)
    made = datetime.now(UTC)
    top, top_ai = Top(number, "total"), Top(number, "ai")
    with Progress("Reading visitors", quiet=session.quiet) as progress:
        for row in counted(visitors, progress):
            top.add(row)
            top_ai.add(row)
    return page.Report(
        project=session.project or os.environ.get("DOCPLATFORM_PROJECT_ID", ""),
        date_from=date_from,
        date_to=date_to,
        made=made,
        pages=top.seen,
        requests=client.stats.requests,
        totals=visitors.totals(),
        top=top.rows(),
        top_ai=top_ai.rows(),
        warnings=visitors.warnings,
    )
