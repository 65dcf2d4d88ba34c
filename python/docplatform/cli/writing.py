"""Writes rows to a file or a pipe, in the format that the file's name asks for."""

from __future__ import annotations

import functools
import json
import shutil
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from docplatform import Rows
from docplatform._hooks import frames
from docplatform._native import _WholeFile
from docplatform.cli import files, output
from docplatform.cli.help import Decorator, options
from docplatform.cli.output import Progress, count, shown, whole
from docplatform.cli.params import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from docplatform import Table

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".xlsx": "xlsx"}
"""The format of a file by the end of its name."""
NEEDS = {"parquet": "to_parquet", "arrow": "write_arrow", "xlsx": "to_excel"}
"""The formats that need a library, and the method that needs the same one."""


class Target(NamedTuple):
    """The options of a file to write, which a command gets as ``target``."""

    name: str | None = None
    format_: str | None = None
    force: bool = False
    raw: bool = False
    bom: bool = False


@dataclass
class Writer:
    """Writes rows to a file, or to standard output if ``path`` is ``None``."""

    path: Path | None
    format: str
    target: Target
    reading: str
    """The text of the progress."""
    rows: int = 0
    """How many were written."""
    progress: Progress = field(default_factory=lambda: Progress("", quiet=True))

    @contextmanager
    def shown(self, *, quiet: bool) -> Iterator[None]:
        """Shows progress, unless it would get between rows on a terminal."""
        quiet = quiet or (self.path is None and output.is_terminal(sys.stdout))
        with Progress(self.reading, quiet=quiet) as self.progress, self.progress.counting():
            yield

    def facts(self) -> dict[str, object]:
        """The file, for the JSON document of a command."""
        return {"file": self.target.name, "format": self.format, "rows": self.rows}

    def said(self) -> str:
        """``Wrote 12 rows to january.csv``."""
        where = "" if self.path is None else f" to {shown(self.target.name)}"
        return f"Wrote {count(self.rows, 'row')}{where}"

    def check(self) -> None:
        """Fails if the file cannot be written, before any row is fetched."""
        if self.path is not None:
            _WholeFile(self.path).discard()

    def write(self, rows: Rows | Table) -> None:
        """Writes the rows. A file is whole afterwards, or unchanged."""
        if self.path is not None:
            self._file(rows, self.path)
        elif self.format == "csv":
            self._print_csv(rows)
        else:
            self._print_lines(rows)

    def _file(self, rows: Rows | Table, path: Path) -> None:
        counted: dict[str, Any] = {"progress": True} if isinstance(rows, Rows) else {}
        match self.format:
            case "csv":
                self.rows = rows.to_csv(
                    path, escape_formulas=not self.target.raw, bom=self.target.bom, **counted
                )
            case "jsonl":
                self.rows = rows.to_jsonl(path, **counted)
            case "parquet":
                self.rows = rows.to_parquet(path, **counted)
            case "xlsx":
                self.rows = rows.to_excel(path, **counted)
            case _:
                # Opened before anything is fetched, as the others do.
                with _WholeFile(path) as file:
                    table = rows.collect(**counted) if isinstance(rows, Rows) else rows
                    self.rows = frames.write_arrow(table, file)

    def _print_csv(self, rows: Rows | Table) -> None:
        # The header comes first, and the columns are known only at the end of an export.
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="docplatform-") as folder:
            whole = Path(folder, "rows.csv")
            self._file(rows, whole)
            with whole.open("rb") as lines:
                # Open but unlinked, so that no signal leaves the file on the disk. Windows does not allow it.
                with suppress(PermissionError):
                    whole.unlink()
                if output.is_terminal(sys.stdout):
                    for line in lines:
                        print(shown(line.decode().rstrip("\n")))
                else:
                    # UTF-8 as in a file, whatever the locale.
                    shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.flush()

    def _print_lines(self, rows: Rows | Table) -> None:
        for some in (page.rows for page in rows.pages()) if isinstance(rows, Rows) else [list(rows)]:
            # UTF-8 as in a file, whatever the locale.
            sys.stdout.buffer.write("".join(map(_line, some)).encode())
            sys.stdout.flush()
            self.rows += len(some)
            self.progress.update(f"{self.reading}: {self.rows:,} rows", counting=True)


def _line(row: Mapping[str, Any]) -> str:
    """A row as a line of a file has it, but for characters that a terminal would interpret, which are escaped."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_spelled)
    if whole(text) != text:
        text = "".join(c if whole(c) == c else output.as_json(c)[1:-1] for c in text)
    return f"{text}\n"


def _spelled(value: date) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    text = value.isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0') if value.microsecond else text}Z"


def output_options(default: str | None, otherwise: str) -> Decorator:
    """Gives a command the options of a :class:`Target`. ``default`` stands for ``-o``, and ``otherwise`` describes it."""
    given = options(
        click.option(
            "-o",
            "--output",
            "name",
            type=FILE,
            default=default,
            metavar="FILE",
            help="The file to write: its name ends in .csv, .jsonl, .parquet, .arrow or .xlsx; - is standard output.  "
            f"[default: {otherwise}]",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(list(FORMATS.values())),
            help="The format, if the file's name does not show it; standard output takes csv and jsonl.",
        ),
        click.option("--force", is_flag=True, help="Replace the file if it is there."),
        click.option(
            "--raw",
            is_flag=True,
            help="CSV: no apostrophe before texts that a spreadsheet would run as formulas.",
        ),
        click.option(
            "--bom",
            is_flag=True,
            help="CSV: begin with a byte order mark, which Excel needs to read it as UTF-8.",
        ),
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> None:
            target = Target(*(kwargs.pop(name) for name in Target._fields))
            command(*args, target=target, **kwargs)

        return given(run)

    return decorate


def begin(target: Target, *, json: bool, reading: str = "", more: Sequence[str] = ()) -> Writer:
    """A writer; a usage error if it could not write. With ``json``, standard output is for the summary. ``more`` are endings that
    the command writes without it."""
    name = target.name or "-"
    path = None if name == "-" else Path(name)
    kind = target.format_ or ("csv" if path is None else FORMATS.get(path.suffix.lower()))
    if kind is None:
        raise click.UsageError(f"name a file that ends in {', '.join([*FORMATS, *more])}, or give --format")
    if path is None and json:
        raise click.UsageError(
            "--json prints a summary: name a file for the rows with -o; to print the rows as JSON, give --format jsonl "
            "instead of --json"
        )
    files.check(path, force=target.force, json=json)
    if path is None and kind in NEEDS:
        raise click.UsageError(f"{kind} needs a file: name one with -o")
    try:
        if kind in NEEDS:
            frames.need(NEEDS[kind])
    except ImportError:
        raise click.UsageError(frames.needs(NEEDS[kind], f"{kind} output")) from None
    return Writer(path, kind, target, reading)


def begin_named(target: Target, *, json: bool, more: Sequence[str] = ()) -> Writer | None:
    """A writer that is checked, if a file or a format is named; else ``None``, for a table."""
    if target.name is None and target.format_ is None:
        files.check_printing()
        return None
    if json and target.name in (None, "-"):
        raise click.UsageError(
            "--json uses standard output: name a file with -o, or leave out -o - and --format"
        )
    writer = begin(target, json=json, more=more)
    writer.check()
    return writer
