"""``docplatform visitors export``: all rows, into a file or a pipe."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform import DocPlatformError, VisitorTable, _frames, _progress
from docplatform._native import _WholeFile
from docplatform.cli import files, output
from docplatform.cli.output import Progress, shown
from docplatform.cli.session import Session, with_budget
from docplatform.cli.visitors import range_options, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docplatform import Visitors

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".arrow": "arrow"}
"""What a file's name asks for."""
NEEDS = {"parquet": "to_parquet", "arrow": "write_arrow"}
"""The formats that need a library, and what looks for it."""


@dataclass
class Export:
    """Rows on their way to a file, or to standard output where ``path`` is ``None``."""

    path: Path | None
    format: str
    raw: bool
    rows: int = 0
    """How many came so far."""
    mark: str | None = None
    """A checkpoint behind what standard output took."""
    progress: Progress = field(default_factory=lambda: Progress("", quiet=True))

    def update(self, rows: int) -> None:
        """So many rows came so far: what an export tells while it reads."""
        self.rows = rows
        self.progress.update(f"Reading visitors: {rows:,} pages", counting=True)

    def waits(self, until: datetime) -> None:
        """The request budget is spent: the log's line tells that, in every command."""

    @contextmanager
    def shown(self, *, quiet: bool) -> Iterator[None]:
        """Shows how far it is, unless that would get between rows on a terminal."""
        quiet = quiet or (self.path is None and output.is_terminal(sys.stdout))
        before = _progress.INSTEAD.set(lambda _total, _unit: self)
        try:
            with Progress("Reading visitors", quiet=quiet) as self.progress:
                yield
        finally:
            _progress.INSTEAD.reset(before)

    def write(self, rows: Visitors | VisitorTable) -> None:
        """Writes the rows; a file is there whole, or as it was."""
        if self.path is not None:
            self._file(rows, self.path)
        elif self.format == "csv":
            self._print_csv(rows)
        else:
            self._print_lines(rows)

    def _file(self, rows: Visitors | VisitorTable, path: Path) -> None:
        told: dict[str, Any] = {} if isinstance(rows, VisitorTable) else {"progress": True}
        match self.format:
            case "csv":
                self.rows = rows.to_csv(path, escape_formulas=not self.raw, **told)
            case "jsonl":
                self.rows = rows.to_jsonl(path, **told)
            case "parquet":
                self.rows = rows.to_parquet(path, **told)
            case _:
                # Begun before anything is asked for, as the others do.
                file = _WholeFile(path)
                try:
                    table = rows if isinstance(rows, VisitorTable) else rows.collect(**told)
                    self.rows = _frames.write_arrow(table, file)
                finally:
                    file.discard()

    def _print_csv(self, rows: Visitors | VisitorTable) -> None:
        # The header comes first, and only the end of an export shows which columns there are.
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="docplatform-") as folder:
            whole = Path(folder, "visitors.csv")
            self._file(rows, whole)
            with whole.open("rb") as lines:
                if output.is_terminal(sys.stdout):
                    for line in lines:
                        print(shown(line.decode().rstrip("\n")))
                else:
                    # As it is in a file, whatever the locale.
                    shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.flush()

    def _print_lines(self, rows: Visitors | VisitorTable) -> None:
        for some in [list(rows)] if isinstance(rows, VisitorTable) else (page.rows for page in rows.pages()):
            for row in some:
                print(output.as_json(row))
            sys.stdout.flush()
            self.update(self.rows + len(some))
            if not isinstance(rows, VisitorTable):
                self.mark = rows.checkpoint


def _begin(name: str, format_: str | None, *, raw: bool, force: bool) -> Export:
    """A usage error where it cannot be written, before anything is asked for."""
    path = None if name == "-" else Path(name)
    kind = format_ or ("csv" if path is None else FORMATS.get(path.suffix.lower()))
    if kind is None:
        raise click.UsageError(f"name a file that ends in {', '.join(FORMATS)}, or say --format")
    files.check(path, force=force)
    if path is None and kind in NEEDS:
        raise click.UsageError(f"{kind} needs a file: name one with -o")
    try:
        if kind in NEEDS:
            _frames.need(NEEDS[kind])
    except ImportError as error:
        raise click.UsageError(str(error)) from None
    return Export(path, kind, raw)


def _resume(going: Export, place: Path | None) -> str | None:
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


@click.command("export", epilog=EXAMPLE)
@range_options
@click.option(
    "-o",
    "--output",
    "name",
    default="-",
    metavar="FILE",
    help="Where to: a name that ends in .csv, .jsonl, .parquet or .arrow.  [default: -, standard output]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS.values())),
    help="The format, where the name does not say it; standard output takes csv, the default, and jsonl.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="Where the export breaks off, keep the rows that came, and the place behind them in FILE. "
    "If FILE is there, go on at that place.",
)
@click.option(
    "--page-size", type=click.IntRange(1, 250), metavar="N", help="Rows a request.  [default: 250, the most]"
)
@click.option("--max-rows", type=click.IntRange(0), metavar="N", help="The most rows to export.")
@click.option("--strict", is_flag=True, help="Fail where an oddity of the data would only be told.")
@click.option(
    "--raw", is_flag=True, help="CSV: no apostrophe before what a spreadsheet would run as a formula."
)
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
    going = _begin(name, format_, raw=raw, force=force)
    if session.json and going.path is None:
        raise click.UsageError(
            "--json prints a summary, and the rows go to standard output: name a file with -o"
        )
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
    session.say(f"Wrote {going.rows:,} rows{where}; it took {requests:,} requests.")
    if totals is not None:
        session.say(f"Uniques do not add up: the whole site has {totals.total:,} visitors.")


def _run(session: Session, going: Export, visitors: Visitors, place: Path | None) -> None:
    """Exports, and where that breaks off keeps what came, if that is wanted."""
    try:
        if place is None or (going.path is None and going.format == "jsonl"):
            going.write(visitors)
            return
        if going.path is not None:
            # What does not depend on the rows fails before they are asked for.
            _WholeFile(going.path).discard()
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


def _keep(session: Session, going: Export, place: Path | None, error: BaseException) -> None:
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
