"""The command ``docplatform report``: a page for people who do not use Python."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from docplatform._native import _WholeFile
from docplatform.cli import cost, exits, files, output
from docplatform.cli.days import PERIODS, beside, last_month_options
from docplatform.cli.help import Command, number_option
from docplatform.cli.output import count, shown
from docplatform.cli.params import FILE
from docplatform.cli.report import parts, reading
from docplatform.cli.report.parts import Asked, Part
from docplatform.cli.session import Session, with_budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docplatform.cli.days import Ends
    from docplatform.cli.report.figures import Change, Comparison, Report

HTML = (".html", ".htm", "")
"""File names with these endings are written as HTML; a name without one may be a device's."""
ROWS = 10
"""The pages that each list shows, unless -n says otherwise."""
MARKDOWN = (".md", ".markdown")
"""File names with these endings are written as Markdown."""


@click.command("report", cls=Command, epilog=PERIODS)
@last_month_options
@click.option(
    "-o",
    "--output",
    "name",
    type=FILE,
    metavar="FILE",
    help="The file to write: HTML, or Markdown if its name ends in .md; - is standard output.  [default: report.html]",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@number_option(
    "-n",
    "--number",
    default=ROWS,
    most=1_000,
    help="How many pages each list shows.",
)
@click.option("--title", metavar="TEXT", help="The report's title.  [default: Who reads the docs]")
@click.option("--site-url", metavar="URL", help="The site's address: each page becomes a link to it.")
@click.option(
    "--every",
    type=click.Choice(["day", "week", "month", "none"]),
    help="Show the trend of the period by day, week or month, for one request each, or none at all. By month, it is the last twelve months if the period lies in one.  [default: the last twelve months]",
)
@click.option(
    "--before",
    metavar="PERIOD",
    help="The period to compare with, such as 2025-10 for a year ago. Costs about as many requests again.  [default: the period before]",
)
@click.option("--no-compare", is_flag=True, help="Do not compare with another period.")
@click.option(
    "--feedback/--no-feedback",
    default=None,
    help="Read what readers rated, asked and searched for, or not.  [default: if it costs little]",
)
@click.option(
    "--brief",
    is_flag=True,
    help="Write at most ten lines of Markdown for a chat, to standard output by default.",
)
@with_budget
def report(
    session: Session,
    ends: Ends,
    *,
    name: str | None,
    force: bool,
    number: int,
    title: str | None,
    site_url: str | None,
    every: Any,
    before: str | None,
    no_compare: bool,
    feedback: bool | None,
    brief: bool,
) -> None:
    """Write a report about the site's readers that anybody can open: what changed, and what to do.

    Without a PERIOD, it compares the last whole month with the month before. report.html is a single file without scripts that
    works offline, on a phone and in print. report.md has the same numbers for a pull request or a chat; a list or a trend that
    would make it too long for a comment is left out, and named. With --json, a summary goes to standard output.

    It costs one request for each 250 rows, plus the period before, four or more for what readers say, and twelve for the
    trend. With a --store, the next month's trend costs none, because its totals come with the pages. A part is left out if it costs more than 25 requests or would have to
    wait for the budget; then the report names the command that adds it. Give --before, --feedback or --every to have them at any cost. If
    a part cannot be read, the report is written without it and says why; if you asked for it, the command also fails.
    """
    if before is not None and no_compare:
        raise click.UsageError("--before and --no-compare contradict each other")
    if name is None:
        name = "-" if brief else "report.html"
    days, against = beside(**ends, before=before)
    if against is not None and against.date_to > days.date_from:
        raise click.UsageError(f"--before has to be over when the period begins, and {against.name} is not")
    asked = Asked(
        days=days,
        against=None if no_compare else against,
        number=number,
        every=None if every == "none" else every,
        wishes={
            Part.COMPARISON: False if no_compare else before is not None or None,
            Part.FIXES: feedback,
            # A brief has no trend.
            Part.TREND: not brief and every and every != "none",
        },
        given={
            Part.COMPARISON: ("--no-compare",) if no_compare else ("--before", before) if before else (),
            Part.FIXES: () if feedback is None else ("--feedback" if feedback else "--no-feedback",),
            Part.TREND: ("--every", every) if every else (),
        },
        output=name,
        again=_again(title, site_url, number, brief=brief),
        # An argument may contain bytes that are not UTF-8, and the file is UTF-8.
        title=None if title is None else shown(title),
        site_url=None if site_url is None else _site(site_url),
    )
    if session.dry_run:
        with session.client() as client:
            cost.tell(session, client, parts.plan(session, client, asked).costs())
        return
    path = None if name == "-" else Path(name)
    files.check(path, force=force, json=session.json)
    suffix = "" if path is None else path.suffix.lower()
    if brief and path is not None and suffix not in MARKDOWN:
        raise click.UsageError("--brief writes Markdown: name a file that ends in .md")
    if suffix not in (*HTML, *MARKDOWN):
        raise click.UsageError(
            "a report is HTML or Markdown: name a file that ends in .html, .htm, .md or .markdown"
        )
    with session.client() as client:
        ahead = parts.plan(session, client, asked)
        for line in ahead.announced():
            session.say(line)
        # A file that cannot be written fails before any request is sent.
        file = _WholeFile(path) if path is not None else None
        with file or nullcontext():
            found = reading.read(ahead)
            remedy = [*ahead.finish()]
            written = _render(found, suffix, brief=brief)
            if file is None:
                sys.stdout.buffer.write(written.encode())
            else:
                Path(file.path).write_text(written, encoding="utf-8")
                file.commit()
    if session.json:
        told = found.failed and exits.facts(found.failed, session.again)
        about = {"file": name, **ends, "error": told}
        output.document({**about, **_summary(found)})
    elif path is not None:
        session.say(
            f"Wrote {shown(name)} ({count(found.pages, 'page')} of the site, {count(sum(found.requests.values()), 'request')})"
        )
    for line in remedy:
        session.say(line)
    for warning in found.warnings:
        output.say(f"Note: {shown(warning)}.")
    if found.failed is not None:
        exits.note(found.failed, "The report was written without this part.")
        raise found.failed


def _again(title: str | None, site_url: str | None, number: int, *, brief: bool) -> tuple[str, ...]:
    """The options of a command that writes the same report again, but for those of its parts and its file."""
    rows = None if number == ROWS else str(number)
    given = {"-n": rows, "--title": title, "--site-url": site_url}
    options = [word for option, value in given.items() if value is not None for word in (option, value)]
    return (*options, *(["--brief"] if brief else []))


def _render(found: Report, suffix: str, *, brief: bool) -> str:
    """The report in the format that the file's name asks for."""
    # Imported here: every command would wait for them, and for OpenSSL.
    if brief or suffix in MARKDOWN:
        from docplatform.cli.report import markdown

        return markdown.brief(found) if brief else markdown.render(found)
    from docplatform.cli.report import page

    return page.render(found)


def _site(url: str) -> str:
    """Checks the site's address, which is put before each path."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        fits = fits and "@" not in parts.netloc and url.isprintable() and not set(url) & set(' \\<>"`')
    except ValueError:
        fits = False
    if not fits:
        raise click.UsageError(
            "--site-url must be an address such as https://docs.example.com, without user, query or fragment"
        )
    return url.rstrip("/")


def _summary(found: Report) -> dict[str, Any]:
    return {
        "totals": found.totals and found.totals._asdict(),
        "period": found.name,
        "rows": found.rows,
        "requests": sum(found.requests.values()),
        "warnings": found.warnings,
        "every": found.trend and found.trend.every,
        "slices": len(found.trend.slices) if found.trend else 0,
        "comparison": found.comparison and _compared(found.comparison, found.number),
        # Without quotes of readers; the phrase of a search stays.
        "fixes": [
            {name: value for name, value in row.items() if name not in ("evidence", "prompt")}
            for row, _ in found.fixes
        ],
        "left_out": found.left_out,
    }


def _compared(found: Comparison, number: int) -> dict[str, Any]:
    def rows(pages: Sequence[Change]) -> list[dict[str, Any]]:
        return [
            {"path": one.path, "before": one.before._asdict(), "now": one.now._asdict()}
            for one in pages[:number]
        ]

    return {
        "period": found.name,
        "rows": found.rows,
        "of": found.of,
        "totals": found.totals._asdict(),
        **{name: rows(getattr(found, name)) for name in ("risers", "fallers", "new", "vanished")},
    }
