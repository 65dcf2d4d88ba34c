"""``docplatform visitors|views|searches|feedback|conversations``: the commands of a listing."""

from __future__ import annotations

import sys
import warnings
from calendar import monthrange
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from docplatform import DataWarning, Totals
from docplatform._hooks import changes, ranges
from docplatform._hooks.numbers import MINUS, percent
from docplatform._native import _is_cut
from docplatform.cli import cost, files, output
from docplatform.cli.days import (
    PERIODS,
    beside,
    both_ends,
    every_option,
    last_month_options,
    range_options,
)
from docplatform.cli.help import Command, Group, number_option, options
from docplatform.cli.output import count, shown
from docplatform.cli.report.words import AI_TRAFFIC
from docplatform.cli.session import Session, with_budget
from docplatform.cli.writing import begin, begin_named, output_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from docplatform import Comparison, Table, TrendTable, Visitors
    from docplatform.cli.days import Ends
    from docplatform.cli.listings import Listing
    from docplatform.cli.output import Progress
    from docplatform.cli.writing import Target, Writer

    _Every = Literal["day", "week", "month"]

COUNTS = Totals._fields
"""The kinds of visitors."""
MOVERS = {"riser": "risers", "faller": "fallers", "new": "new", "vanished": "vanished"}
"""The kinds of change, and the method that lists the paths of each."""
EXAMPLE = """\b
If this ends early, the same command continues where it stopped:
  docplatform {name} export 2026-01 -o january.csv --store {name}.db

"""


def group(listing: Listing) -> click.Group:
    """The commands of a listing."""
    made = [_totals, _top, _export, _trend, _compare] if listing.endpoint.has_totals else [_export]
    return Group(listing.name, [make(listing) for make in made], help=listing.summary)


def _totals(listing: Listing) -> click.Command:
    """The command that prints the totals of a listing."""

    @click.command(
        "totals",
        cls=Command,
        epilog=PERIODS,
        help=f"Print the {listing.counts} of the whole site.\n\nIt takes one request. {listing.meaning}",
    )
    @range_options
    @with_budget
    def run(session: Session, ends: Ends) -> None:
        if session.dry_run:
            cost.show(session, ends, listings=[listing.name], by_path=False)
            return
        files.check_printing()
        with session.client() as client:
            found = getattr(client, f"{listing.noun}_totals")(**ends, on_budget=session.on_budget)
        if session.json:
            output.document({**ends, **found._asdict()})
        else:
            output.table([found], COUNTS, title=ranges.name(**ends))

    return run


def _top(listing: Listing) -> click.Command:
    """The command that lists the paths with the highest counts."""

    @click.command(
        "top",
        cls=Command,
        epilog=PERIODS,
        help=f"List the paths with the most {listing.counts}.\n\nThe service promises no order, so all rows are read: one "
        f"request for each {listing.endpoint.page_size}. With -o, the paths go to a file. {listing.meaning}",
    )
    @range_options
    @number_option("-n", "--number", default=10, help="How many paths to list.")
    @_readers_option("--by", "Which readers to rank by.")
    @output_options(None, "a table")
    @with_budget
    def run(session: Session, ends: Ends, *, number: int, by: str, target: Target) -> None:
        if session.dry_run:
            cost.show(session, ends, listings=[listing.name])
            return
        writer = begin_named(target, json=session.json)
        with session.client() as client:
            found: Visitors = getattr(client, listing.name)(**ends, on_budget=session.on_budget)
            with session.progress(f"Reading {listing.name}") as progress, progress.counting():
                table = found.collect(progress=True)
            rows = table.top(number, by=by)
            if writer is not None:
                writer.write(rows)
            site, requests = found.totals(), client.stats.requests
        about = {"by": by, "requests": requests, "warnings": table.warnings, "totals": site._asdict()}
        if _show(session, writer, {**ends, **about}, rows, ("path", *COUNTS), f", sorted by {by}"):
            session.say(f"It took {count(requests, 'request')}. {_whole_site(listing, site)}")

    return run


def _readers_option(name: str, help_: str) -> Callable[..., Any]:
    return click.option(name, type=click.Choice(COUNTS), default="total", show_default=True, help=help_)


def _show(
    session: Session,
    writer: Writer | None,
    about: dict[str, Any],
    rows: Table,
    columns: Sequence[str],
    order: str = "",
    days: Callable[[dict[str, Any]], object] | None = None,
) -> bool:
    """Prints rows that were not written, as a table or in the document of ``--json``. Returns whether lines for people follow. ``days``
    says on a terminal how many days a row has."""
    if session.json:
        output.document({**about, **({"rows": rows.to_dicts()} if writer is None else writer.facts())})
        return False
    if writer is None:
        drawn = days if output.is_terminal(sys.stdout) else None
        cells = [{**row, "days": drawn(row)} if drawn else row for row in rows]
        title = ranges.name(about["date_from"], about["date_to"])
        output.table([[row[column] for column in columns] for row in cells], columns, title=title)
    elif writer.path is not None:
        session.say(f"{writer.said()}{order}.")
    return True


def _whole_site(listing: Listing, found: Totals) -> str:
    """The totals of a listing in a sentence, which also says whether rows add up to them."""
    return f"{listing.in_short}: the whole site has {count(found.total, listing.noun)}."


def counted(
    visitors: Visitors, progress: Progress, text: str = "Reading visitors"
) -> Iterator[dict[str, Any]]:
    """All rows, with their number as progress."""
    rows = 0
    for page in visitors.pages():
        rows += len(page.rows)
        progress.update(f"{text}: {rows:,} rows", counting=True)
        # A TypedDict cannot be indexed with a variable.
        yield from cast("list[dict[str, Any]]", page.rows)


def _export(listing: Listing) -> click.Command:
    """The command that exports all rows of a listing, to a file or a pipe."""
    page_size = listing.endpoint.page_size
    slices = (
        "\n\nIf the service finds a range too long, --every reads it slice by slice, with at least one "
        "request for each; every row then says which slice it belongs to."
    )

    @click.command(
        "export",
        cls=Command,
        epilog=EXAMPLE.format(name=listing.name) + PERIODS,
        help=f"Export {listing.rows}.\n\nRows are in the service's order. A file is written whole or not at all. With --json, a summary goes to standard "
        f"output. "
        f"{listing.meaning}\n\nIt costs one request for each {page_size:,} rows. If the rate limit or Ctrl-C ends it, a "
        f"--store keeps what was fetched.{'' if listing.endpoint.has_totals else slices}",
    )
    @range_options
    @output_options("-", "standard output, as csv")
    @number_option(
        "--page-size", most=page_size, help=f"Rows per request.  [default: {page_size}, the maximum]"
    )
    @number_option("-n", "--max-rows", least=0, help="Export at most N rows.")
    @click.option("--strict", is_flag=True, help="Fail if the data is unusual, instead of only warning.")
    @options(*_own(listing))
    @with_budget
    def run(session: Session, ends: Ends, *, target: Target, by_page: bool = False, **query: Any) -> None:
        method = listing.by_page if by_page and listing.by_page else listing.name
        # The client has its own defaults for options that were not given.
        given = {**ends, **query}
        given = {key: value for key, value in given.items() if value not in (None, ()) and value is not False}
        if session.dry_run:
            cost.show_export(session, method, given)
            return
        going = begin(target, json=session.json, reading=f"Reading {listing.name}")
        with session.client() as client:
            rows = getattr(client, method)(on_budget=session.on_budget, **given)
            with going.shown(quiet=session.quiet):
                going.write(rows)
            requests = client.stats.requests
            totals = rows.totals() if listing.endpoint.has_totals and going.rows else None
        if session.json:
            counts = {"totals": totals and totals._asdict()} if listing.endpoint.has_totals else {}
            found = {"requests": requests, "warnings": rows.warnings}
            output.document({**going.facts(), **ends, **counts, **found})
            return
        session.say(f"{going.said()}; it took {count(requests, 'request')}.")
        if totals is not None:
            session.say(_whole_site(listing, totals))

    return run


def _own(listing: Listing) -> list[Callable[..., Any]]:
    """The options that only some listings have."""
    own = [
        click.option(
            f"--{name}",
            multiple=True,
            metavar=name.upper(),
            help=f"Only rows with this {name}; it can be given several times.",
        )
        for name in listing.endpoint.filters
    ]
    if listing.by_page is not None:
        own.append(
            click.option(
                "--by-page",
                is_flag=True,
                help="One row for each page of the site, with its thumbs up and down. The service returns at most "
                f"{listing.endpoint.page_size} rows; if there are more, a note says so, and shorter ranges show them.",
            )
        )
    return own if listing.endpoint.has_totals else [*own, every_option(None)]


def _trend(listing: Listing) -> click.Command:
    """The command that shows what a listing counts by day, week or month."""
    sums = (
        f"{listing.in_short}: the slices sum up to `{listing.name} totals` of the range."
        if listing.endpoint.adds_up
        else "Uniques do not add up: a visitor who comes on two days counts on both, but only once in `visitors totals` of the range."
    )

    @click.command(
        "trend",
        cls=Command,
        epilog=PERIODS,
        help=f"Show the site's {listing.name} by day, week or month.\n\nIt costs one request for each slice; with --by-path, one for "
        f"each {listing.endpoint.page_size} rows. `--dry-run` says how many that are. With --store, final days are fetched once: run it "
        f"again tomorrow, and only days that were not final today cost a request, three by default for days up to yesterday.\n\n{sums}\n\nWith --json, the document has the rows, unless "
        "-o names a file for them.",
    )
    @range_options
    @every_option("day")
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
    def run(session: Session, ends: Ends, *, target: Target, **slices: Any) -> None:
        both_ends(ends)
        if session.dry_run:
            cost.show(session, ends, listings=[listing.name], **slices)
            return
        writer = begin_named(target, json=session.json)
        with session.client() as client:
            plan = client._plan(listing.name, **ends, **slices)
            least = cost.bound([plan])
            progress = session.progress(
                f"Reading {count(len(plan.slices), 'slice')} for {least}{count(plan.requests, 'request')}"
            )
            with progress, progress.counting():
                read = getattr(client, f"{listing.noun}_trend")
                found: TrendTable = read(**ends, **slices, on_budget=session.on_budget, progress=True)
        if writer is not None:
            writer.write(found)
        names = ("date_from", "date_to", "every", "open_from", "requests", "warnings")
        about = {name: getattr(found, name) for name in names}
        running, path = found._running, ["path"] if slices["by_path"] else []
        columns = ("date_from", "date_to", "days", *path, *COUNTS)
        if _show(
            session, writer, about, found, columns, days=lambda row: _days(row, slices["every"], running)
        ):
            session.say(f"It took {count(found.requests, 'request')}. {listing.in_short} over days or paths.")
            session.say(AI_TRAFFIC)
            if found.open_from is not None:
                session.say(f"From {found.open_from} on the numbers may still change.")

    return run


def _days(row: dict[str, Any], every: _Every | None, running: Sequence[date]) -> int | str:
    """The days of a slice; ``3 of 7 days`` if the range cuts it, ``7, not over`` if it was not over when it was read."""
    first, end, days = row["date_from"], row["date_to"], row["days"]
    if _is_cut(every, first, end):
        days = f"{days} of {7 if every == 'week' else monthrange(first.year, first.month)[1]} days"
    return f"{days}, not over" if end in running else days


def _compare(listing: Listing) -> click.Command:
    """The command that compares a period of a listing with the one before."""

    @click.command(
        "compare",
        cls=Command,
        epilog=PERIODS,
        help="Compare a period with the one before: the whole site, and the paths that changed.\n\nWithout a PERIOD, it compares the last month "
        f"with the month before. It reads all rows of both, one request for each {listing.endpoint.page_size}; rows of final ranges that are "
        "in the --store cost nothing.\n\nPaths are listed that changed by more than chance, the growth of the whole site and the usual ups "
        f"and downs of its pages explain. With -o, the file has every path. {listing.in_short}.",
    )
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
    @_readers_option("--of", "Whose changes to list: of people, AI agents or all.")
    @output_options(None, "a table of the changes")
    @with_budget
    def run(
        session: Session,
        ends: Ends,
        *,
        before: str | None,
        number: int,
        of: Literal["human", "ai", "total"],
        target: Target,
    ) -> None:
        now, other = beside(**ends, before=before)
        if other is None:
            raise click.UsageError("there is no period before this one: name one with --before")
        if session.dry_run:
            cost.show(session, now.ends, other.ends, listings=[listing.name])
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
            both = (found.totals_before, found.totals)
            rows: list[tuple[object, ...]] = [
                *((kind, "", *_change(*(getattr(one, kind) for one in both))) for kind in COUNTS),
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
            output.table(rows, ("", "path", "before", "now", "change"), title=changes.periods(found))
        elif writer.path is not None:
            session.say(f"{writer.said()}: every path.")
            session.say(
                "The columns with significant in their names say which of them changed by more than chance, the growth of the site "
                "and its usual ups and downs explain."
            )
        for warning in found.warnings:
            output.say(f"Note: {shown(warning)}.")
        if writer is None:
            session.say(changes.CHANCE)
            for kind in COUNTS:
                moved = Counter(how for _, how in found._movements(kind))
                most = max(moved.values(), default=0)
                how = [f"--of {kind}"] * (kind != of) + [f"-n {most}"] * (most > number)
                if moved and how:
                    session.say(
                        f"{changes.kinds(found)[kind]}: {count(moved.total(), 'path')} rose or fell; {' '.join(how)} lists them."
                    )
        session.say(f"It took {count(found.requests, 'request')}.")

    return run


def _change(before: int, now: int) -> tuple[int, int, str]:
    """Two counts, and the change as a number and as a share of the number before."""
    share = f" ({percent(before, now)})".replace(MINUS, "-") if before else ""
    return before, now, f"{now - before:+,}{share}"


def _facts(found: Comparison, number: int, of: Literal["human", "ai", "total"]) -> dict[str, Any]:
    names = "period before date_from date_to date_from_before date_to_before requests warnings".split()
    counts = ("totals", "totals_before", "change", "pace")
    return {
        **{name: getattr(found, name) for name in names},
        **{name: getattr(found, name)._asdict() for name in counts},
        "rows": len(found),
        "of": of,
        "sections": found.sections(of)[:number],
        **{method: getattr(found, method)(number, of).to_dicts() for method in MOVERS.values()},
    }
