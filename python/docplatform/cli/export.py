"""``docplatform visitors export``: all rows, into a file or a pipe."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform import DocPlatformError
from docplatform.cli import files, output
from docplatform.cli.days import range_options
from docplatform.cli.help import Command
from docplatform.cli.output import shown
from docplatform.cli.params import FILE
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import summary
from docplatform.cli.writing import Writer, begin, output_options

if TYPE_CHECKING:
    from docplatform import Visitors


def _resume(going: Writer, place: Path | None) -> str | None:
    """The checkpoint that an earlier run left."""
    if place is None:
        return None
    if going.path is not None and place.resolve() == going.path.resolve():
        raise click.UsageError("the rows and the checkpoint need two files")
    if not place.parent.is_dir():
        raise click.UsageError(f"there is no folder for {place}")
    if not place.exists():
        return None
    if going.path is not None and os.path.lexists(going.path):
        raise click.UsageError(
            f"{going.path} may hold the rows before {place}, so --force does not replace it: name another file"
        )
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise click.UsageError(f"no checkpoint can be read from {place}") from None


EXAMPLE = """\b
Where the first of these breaks off, the second goes on behind it:
  docplatform visitors export -o january-1.csv --checkpoint january.json
  docplatform visitors export -o january-2.csv --checkpoint january.json
"""


@click.command("export", cls=Command, epilog=EXAMPLE)
@range_options
@output_options("-", "standard output, as csv")
@click.option(
    "--checkpoint",
    type=FILE,
    metavar="FILE",
    help="Where the export breaks off, keep the rows that came, and the place behind them in FILE. "
    "If FILE is there, go on at that place.",
)
@click.option(
    "--page-size", type=click.IntRange(1, 250), metavar="N", help="Rows a request.  [default: 250, the most]"
)
@click.option("--max-rows", type=click.IntRange(0), metavar="N", help="The most rows to export.")
@click.option("--strict", is_flag=True, help="Fail where an oddity of the data would only be told.")
@with_budget
def export(
    session: Session,
    date_from: str | None,
    date_to: str | None,
    *,
    name: str,
    format_: str | None,
    force: bool,
    checkpoint: str | None,
    page_size: int | None,
    max_rows: int | None,
    strict: bool,
    raw: bool,
) -> None:
    """Export every page's unique visitors: a row for each path.

    A file is written whole or not at all. With --json, a summary goes to standard output. Uniques do not add up: not
    over pages, not over days.

    It takes one request for each 250 rows. Where the service's limit breaks it off, --checkpoint keeps what came.
    """
    going = begin(name, format_, raw=raw, force=force, json=session.json)
    place = Path(checkpoint) if checkpoint is not None else None
    resume = _resume(going, place)
    query: dict[str, Any] = {
        "date_from": date_from,
        "date_to": date_to,
        "page_size": page_size,
        "resume": resume,
    }
    with session.client() as client:
        visitors = client.visitors(
            max_rows=max_rows,
            strict=strict,
            on_budget=session.on_budget,
            **{key: value for key, value in query.items() if value is not None},
        )
        with going.shown(quiet=session.quiet):
            _run(session, going, visitors, place)
        requests = client.stats.requests
        totals = visitors.totals() if going.rows else None
    if place is not None:
        _settle(place, visitors.checkpoint, cut=max_rows is not None)
    if session.json:
        found = {"rows": going.rows, "requests": requests, "warnings": visitors.warnings}
        output.document(summary(name, date_from, date_to, totals, format=going.format, **found))
        return
    where = f" to {shown(name)}" if going.path is not None else ""
    session.say(
        f"Wrote {output.count(going.rows, 'row')}{where}; it took {output.count(requests, 'request')}."
    )
    if totals is not None:
        session.say(f"Uniques do not add up: the whole site has {output.count(totals.total, 'visitor')}.")


def _run(session: Session, going: Writer, visitors: Visitors, place: Path | None) -> None:
    """Exports, and where that breaks off keeps what came, if that is wanted."""
    try:
        if place is None or (going.path is None and going.format == "jsonl"):
            going.write(visitors)
            return
        going.check()
        table = visitors.collect(progress=True)
    except (DocPlatformError, KeyboardInterrupt) as error:
        _keep(session, going, place, error)
        raise
    going.write(table)


def _settle(place: Path, mark: str, *, cut: bool) -> None:
    """Behind an export that ended as asked: where --max-rows cut it, the next run goes on."""
    if cut and not json.loads(mark)["done"]:
        files.replace(place, mark)
    else:
        place.unlink(missing_ok=True)


def _keep(session: Session, going: Writer, place: Path | None, error: BaseException) -> None:
    partial, mark = getattr(error, "partial", None), going.mark
    if place is not None and partial:
        going.write(partial)
        mark = error.checkpoint if isinstance(error, DocPlatformError) else None
    if place is not None and mark is not None:
        files.replace(place, mark)
        where = "" if going.path is None else f" to {going.path}"
        again = shlex.join(["--checkpoint", str(place)])
        error.add_note(
            f"Wrote the {going.rows:,} rows that came{where}. To go on behind them: the same command with {again}"
            + (", and another file." if where else ".")
        )
    elif going.rows and place is None:
        kept = "" if going.path is None and going.format == "jsonl" else ", and nothing was written"
        advice = " With --checkpoint FILE they are kept, and a second run goes on behind them."
        error.add_note(f"{going.rows:,} rows had come{kept}.{'' if session.store else advice}")
