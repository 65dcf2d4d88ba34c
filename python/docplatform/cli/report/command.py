"""The command: a page for people who will never open Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from docplatform._native import _WholeFile
from docplatform.cli import cost, files, output
from docplatform.cli.days import range_options, resolve
from docplatform.cli.help import Command
from docplatform.cli.output import count, shown
from docplatform.cli.params import FILE
from docplatform.cli.report import markdown, page, parts, reading
from docplatform.cli.report.markup import account
from docplatform.cli.report.parts import Asked
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform.cli.report.figures import Change, Comparison
    from docplatform.cli.report.reading import Found

MARKDOWN = (".md", ".markdown")
"""The endings of a file's name that stand for Markdown; all others are HTML."""


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
    help="Where to: HTML, or Markdown for a name that ends in .md; - is standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1, 1_000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many pages to list of each kind.",
)
@click.option("--title", metavar="TEXT", help="The report's title.  [default: Who reads the docs]")
@click.option("--site-url", metavar="URL", help="The site's address: each page becomes a link to it.")
@click.option(
    "--every",
    type=click.Choice(["day", "week", "month", "none"]),
    help="How the trend is cut: one request each.  [default: day up to a fortnight, week up to a quarter, else month]",
)
@click.option(
    "--compare",
    metavar="PERIOD",
    help="What to compare with, for as many requests again, such as 2025-10 for a year ago.  [default: the period before]",
)
@click.option("--no-compare", is_flag=True, help="Compare with nothing.")
@with_budget
def report(
    session: Session,
    date_from: str | None,
    date_to: str | None,
    *,
    name: str,
    force: bool,
    number: int,
    title: str | None,
    site_url: str | None,
    every: Any,
    compare: str | None,
    no_compare: bool,
) -> None:
    """Write a report about the site's readers that anybody can open: what changed, and what to do.

    It is about the last whole month, and compares it with the one before, unless other days are given. report.html is one file
    without scripts: it loads nothing, works offline, on a phone and printed. report.md is the same for a pull request or a
    chat. All rows are read for it, one request for each 250. With --json, a summary goes to standard output.

    Neither the trend nor the pages of the period before take more than 25 requests, or wait for the budget, unless --every or
    --compare is given; of a larger site the totals are compared. Where one cannot be read the report is written without it,
    and says so; if it was asked for, the exit code says so, too.
    """
    if compare is not None and no_compare:
        raise click.UsageError("--compare and --no-compare contradict each other")
    if date_from is None and date_to is None:
        date_from, date_to = resolve("last month", None, None, None)
    asked = Asked(
        date_from=date_from,
        date_to=date_to,
        number=number,
        every=every,
        compare=compare,
        compared=not no_compare,
        title=title,
        site_url=None if site_url is None else _site(site_url),
    )
    if session.dry_run:
        with session.client() as client:
            plans = parts.plan(client, asked).costs()
        cost.tell(session, plans)
        return
    path = None if name == "-" else Path(name)
    files.check(path, force=force)
    if path is None and session.json:
        raise click.UsageError("--json prints a summary, and the page goes to standard output: name a file")
    with session.client() as client:
        ahead = parts.plan(client, asked)
        for line in ahead.announced():
            session.say(line)
        # What does not depend on the rows fails before they are asked for.
        file = _WholeFile(path) if path is not None else None
        try:
            found = reading.read(session, client, ahead)
            written = _render(found, path)
            if file is None:
                sys.stdout.buffer.write(written.encode())
            else:
                Path(file.path).write_text(written, encoding="utf-8")
                file.commit()
        finally:
            if file is not None:
                file.discard()
    if session.json:
        output.document(summary(name, date_from, date_to, found.totals, **_summary(found)))
    elif path is not None:
        session.say(
            f"Wrote {shown(name)}, about {count(found.pages, 'page')}; it took {account(found.requests)}."
        )
    if found.failed is not None:
        found.failed.add_note("The report is written all the same, and says what it lacks.")
        raise found.failed


def _render(found: Found, path: Path | None) -> str:
    """The report as what the file's name says that it is."""
    if path is not None and path.suffix.lower() in MARKDOWN:
        return markdown.render(found)
    return page.render(found)


def _site(url: str) -> str:
    """The site's address, to be put before a path."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        fits = fits and "@" not in parts.netloc and url.isprintable() and not set(url) & set(' \\<>"`')
    except ValueError:
        fits = False
    if not fits:
        raise click.UsageError(
            "--site-url is an address such as https://docs.example.com, with a path at most"
        )
    return url.rstrip("/")


def _summary(found: Found) -> dict[str, Any]:
    return {
        "period": found.name,
        "rows": found.pages,
        "requests": sum(found.requests.values()),
        "warnings": found.warnings,
        "every": found.trend and found.trend.every,
        "slices": len(found.trend.slices) if found.trend else 0,
        "comparison": found.comparison and _compared(found.comparison),
        "left_out": found.left_out,
    }


def _compared(found: Comparison) -> dict[str, Any]:
    def rows(pages: Sequence[Change]) -> list[dict[str, Any]]:
        return [{"path": one.path, "before": one.before._asdict(), "now": one.now._asdict()} for one in pages]

    return {
        "period": found.name,
        "rows": found.pages,
        "totals": found.totals._asdict(),
        **{name: rows(getattr(found, name)) for name in ("risers", "fallers", "new", "vanished")},
    }
