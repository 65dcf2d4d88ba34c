"""Rows on their way to a file or a pipe, in the format that the file's name asks for."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from docplatform import Visitors
from docplatform._hooks import frames, progress
from docplatform._native import _WholeFile
from docplatform.cli import files, output
from docplatform.cli.output import Progress, shown
from docplatform.cli.params import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docplatform import TrendTable, VisitorTable

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".arrow": "arrow"}
"""What a file's name asks for."""
NEEDS = {"parquet": "to_parquet", "arrow": "write_arrow"}
"""The formats that need a library, and what looks for it."""


@dataclass
class Writer:
    """Rows on their way to a file, or to standard output where ``path`` is ``None``."""

    path: Path | None
    format: str
    raw: bool
    rows: int = 0
    """How many came so far."""
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
        before = progress.INSTEAD.set(lambda _total, _unit: self)
        try:
            with Progress("Reading visitors", quiet=quiet) as self.progress:
                yield
        finally:
            progress.INSTEAD.reset(before)

    def check(self) -> None:
        """Fails where the file cannot be begun. What does not depend on the rows is to fail before they are asked for."""
        if self.path is not None:
            _WholeFile(self.path).discard()

    def write(self, rows: Visitors | VisitorTable | TrendTable) -> None:
        """Writes the rows; a file is there whole, or as it was."""
        if self.path is not None:
            self._file(rows, self.path)
        elif self.format == "csv":
            self._print_csv(rows)
        else:
            self._print_lines(rows)

    def _file(self, rows: Visitors | VisitorTable | TrendTable, path: Path) -> None:
        told: dict[str, Any] = {"progress": True} if isinstance(rows, Visitors) else {}
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
                    table = rows.collect(**told) if isinstance(rows, Visitors) else rows
                    self.rows = frames.write_arrow(table, file)
                finally:
                    file.discard()

    def _print_csv(self, rows: Visitors | VisitorTable | TrendTable) -> None:
        # The header comes first, and only the end of an export shows which columns there are.
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="docplatform-") as folder:
            whole = Path(folder, "visitors.csv")
            self._file(rows, whole)
            with whole.open("rb") as lines:
                # Open, but without a name: no signal leaves rows behind in it. Windows lets none take it away.
                with suppress(PermissionError):
                    whole.unlink()
                if output.is_terminal(sys.stdout):
                    for line in lines:
                        print(shown(line.decode().rstrip("\n")))
                else:
                    # As it is in a file, whatever the locale.
                    shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.flush()

    def _print_lines(self, rows: Visitors | VisitorTable | TrendTable) -> None:
        for some in (page.rows for page in rows.pages()) if isinstance(rows, Visitors) else [list(rows)]:
            for row in some:
                print(output.as_json(row))
            sys.stdout.flush()
            self.update(self.rows + len(some))


def output_options(
    default: str | None, otherwise: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Where rows go, and how: what :func:`begin` takes. Without ``-o`` it is ``default``, which is ``otherwise`` in words."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in (
            click.option(
                "--raw",
                is_flag=True,
                help="CSV: no apostrophe before what a spreadsheet would run as a formula.",
            ),
            click.option("--force", is_flag=True, help="Replace the file if it is there."),
            click.option(
                "--format",
                "format_",
                type=click.Choice(list(FORMATS.values())),
                help="The format, where the name does not say it; standard output takes csv and jsonl.",
            ),
            click.option(
                "-o",
                "--output",
                "name",
                type=FILE,
                default=default,
                metavar="FILE",
                help="Where to: a name that ends in .csv, .jsonl, .parquet or .arrow; - is standard output.  "
                f"[default: {otherwise}]",
            ),
        ):
            command = option(command)
        return command

    return decorate


def begin(name: str, format_: str | None, *, raw: bool, force: bool, json: bool) -> Writer:
    """A usage error where it cannot be written, before anything is asked for; with ``json``, a summary goes to standard output."""
    path = None if name == "-" else Path(name)
    kind = format_ or ("csv" if path is None else FORMATS.get(path.suffix.lower()))
    if kind is None:
        raise click.UsageError(f"name a file that ends in {', '.join(FORMATS)}, or say --format")
    files.check(path, force=force)
    if path is None and kind in NEEDS:
        raise click.UsageError(f"{kind} needs a file: name one with -o")
    if path is None and json:
        raise click.UsageError(
            "--json prints a summary, and the rows go to standard output: name a file with -o"
        )
    try:
        if kind in NEEDS:
            frames.need(NEEDS[kind])
    except ImportError as error:
        raise click.UsageError(str(error).replace(f"{NEEDS[kind]}()", f"{kind} output")) from None
    return Writer(path, kind, raw)
