"""Output of commands: data goes to stdout, everything else to stderr. Control characters in foreign text are escaped."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self, TextIO

from docplatform._hooks import progress
from docplatform._hooks.numbers import count as count
from docplatform._native import _safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.progress import Progress as Bar

MAX_LINE = 4_000
"""How much of one text is shown to people, in characters."""
MAX_CELL = 200
"""How much of one text a table on a terminal shows, in characters."""
MAX_SHORT = 20
"""A column of a table is not folded while the others can be, if it is at most this wide, in characters."""
MAX_SILENCE = 60.0
"""Without a terminal and without ``--quiet``, a command that waits prints a line at least this often, in seconds: CI ends a
job that prints nothing."""
_said_at = 0.0
"""When the last line was printed for people, by ``time.monotonic()``."""
_shown: list[Progress] = []
"""What is waited for, the innermost last: that one is named."""
_PIECE = re.compile(r"(?<=: )docplatform .+|(?:`[^`]*`|\S)+")
"""A word, or a command to copy: in backticks, or at the end of a line."""


def shown(value: object, limit: int = MAX_LINE) -> str:
    """``value``, shortened, with everything escaped that a terminal would interpret."""
    # Arguments may contain bytes that are not UTF-8.
    return _safe(str(value).encode("utf-8", "backslashreplace").decode(), limit)


def whole(value: object) -> str:
    """Like :func:`shown`, but nothing is cut, for scripts."""
    return shown(value, sys.maxsize)


def printed(value: object) -> str:
    """A name as an output in any code page may show it, so that a name in a printed command is found."""
    return whole(value).encode("ascii", "backslashreplace").decode("ascii")


_owes_document = False
"""Whether a failure is still to be printed as the document of ``--json``."""


def ready(*, json: bool) -> None:
    """Escapes characters that the locale cannot write, so that they do not end a command."""
    global _owes_document
    _owes_document = json
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def flush() -> None:
    """Writes out what is left, while a failure can still be reported."""
    if sys.stdout is not None:
        sys.stdout.flush()


def give_up(stream: TextIO | None) -> None:
    """Discards what is left in a stream whose reader is gone, which would otherwise fail again at exit."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether it is a terminal that can do more than print line by line."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def say(line: str) -> None:
    """Prints a line for people on stderr. It never fails, so that a command does not end because its stderr is closed."""
    global _said_at
    _said_at = time.monotonic()
    if sys.stderr is None:
        # Closed. `print` would use stdout instead.
        return
    try:
        print(_wrapped(line) if is_terminal(sys.stderr) else line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        give_up(sys.stderr)


def _wrapped(text: str) -> str:
    """``text`` in lines that fit into the terminal. A command to copy stays in one piece."""
    width, lines = shutil.get_terminal_size().columns, []
    for line in text.split("\n"):
        pieces = [line] if len(line) <= width else _PIECE.findall(line) or [""]
        lines.append(pieces.pop(0))
        for piece in pieces:
            if len(lines[-1]) + len(piece) < width:
                lines[-1] += f" {piece}"
            else:
                lines.append(piece)
    return "\n".join(lines)


def document(value: object) -> None:
    """Prints one JSON document, in ASCII: it works in every locale and on every terminal."""
    global _owes_document
    _owes_document = False
    print(as_json(value, indent=2 if is_terminal(sys.stdout) else None))


def failure(kind: str, message: str, error: BaseException | None = None) -> dict[str, object]:
    """A failure as programs read it."""
    fields = ("outcome", "status", "retry_after", "resets_at", "request_id")
    facts = {field: getattr(error, field, getattr(error, f"_{field}", None)) for field in fields}
    job, job_id = getattr(error, "job", None), getattr(error, "_job_id", None)
    told = {"id": job_id} if job is None and job_id else job and job.to_dict()
    return {"class": kind, "message": message, **facts, "job": told, "name": getattr(error, "_name", None)}


def fail(facts: dict[str, object]) -> None:
    """Shows a failure: on stderr and, with ``--json``, as the document, unless the command has printed one."""
    say(f"docplatform: {shown(facts['message'])}")
    if _owes_document:
        document({"error": facts})


def as_json(value: object, indent: int | None = None) -> str:
    """``value`` as JSON in ASCII."""
    text = json.dumps(value, indent=indent, default=_as_json)
    # The one control character that JSON leaves as it is.
    return text.replace("\x7f", "\\u007f")


def _as_json(value: datetime) -> str:
    return value.isoformat()


def table(rows: Sequence[Sequence[object]], columns: Sequence[str] = (), *, title: str | None = None) -> None:
    """Prints rows: a table on a terminal, else lines with tabs between the values, for scripts."""
    if not is_terminal(sys.stdout):
        for row in (columns, *rows) if columns else rows:
            print("\t".join(whole(value) for value in row).rstrip("\t"))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD,
        show_header=bool(columns),
        title=None if title is None else Text(title),
        title_justify="left",
    )
    # Rich would read a plain string as markup.
    cells = [[Text(_cell(value)) for value in row] for row in rows]
    names = columns or [""] * max(map(len, rows), default=0)
    widths = (
        [max(len(name), *(row[i].cell_len for row in cells)) for i, name in enumerate(names)] if cells else []
    )
    # Long texts are folded before numbers and dates are, as far as that leaves them room.
    short = [width for width in widths if width <= MAX_SHORT]
    console = Console()
    fits = sum(short) + (len(widths) - len(short)) * MAX_SHORT // 2 + 3 * len(widths) <= console.width
    for i, name in enumerate(names):
        number = all(isinstance(row[i], int) for row in rows)
        whole_cells = fits and bool(widths) and widths[i] <= MAX_SHORT
        drawn.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=whole_cells)
    for row in cells:
        drawn.add_row(*row)
    console.print(drawn)


def fields(pairs: Sequence[tuple[str, object]]) -> None:
    """Prints names and their values, without those that have none."""
    table([(name, value) for name, value in pairs if value is not None])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else shown(value, MAX_CELL)


class Progress:
    """Shows on stderr what a command waits for: a clock on a terminal, elsewhere a line now and then."""

    def __init__(self, text: str, *, quiet: bool = False, at_once: bool = True) -> None:
        self._text = text
        self._quiet = quiet
        self._at_once = at_once
        self._begun = time.monotonic()
        self._bar: Bar | None = None
        self._over = threading.Event()
        self._ticks: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Shows the text. Without ``at_once``, a terminal shows nothing; elsewhere a line comes if no other came for a minute."""
        terminal = is_terminal(sys.stderr)
        if self._quiet or (terminal and not self._at_once):
            return self
        if terminal:
            from rich.console import Console
            from rich.progress import Progress as Bar
            from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

            words = TextColumn("{task.description}", markup=False)
            console = Console(stderr=True)
            self._bar = Bar(SpinnerColumn(), words, TimeElapsedColumn(), console=console, transient=True)
            self._bar.add_task(self._text)
            self._bar.start()
        else:
            if self._at_once:
                say(self._text)
            # A thread of its own: a wait may last an hour without an update.
            self._ticks = threading.Thread(target=self._tick, daemon=True)
            _shown.append(self)
            self._ticks.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Clears the line."""
        if self._bar is not None:
            self._bar.stop()
        if self._ticks is not None:
            _shown.remove(self)
            self._over.set()
            self._ticks.join()

    def update(self, text: str, *, counting: bool = False) -> None:
        """Sets the text. With ``counting``, only a number in it has changed."""
        news = text != self._text and not counting
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=text)
        self._text = text
        if news and self._bar is None and not self._quiet:
            self._print()

    def _tick(self) -> None:
        due = time.monotonic() + MAX_SILENCE
        while not self._over.wait(max(due - time.monotonic(), 0)):
            now = time.monotonic()
            is_named = _shown[-1:] == [self]
            if is_named and now - _said_at >= MAX_SILENCE:
                self._print()
            due = (_said_at if is_named else now) + MAX_SILENCE

    def _print(self) -> None:
        say(f"{self._text} ({time.monotonic() - self._begun:.0f} s)")

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Shows the progress of calls with ``progress=True``."""
        before = progress.INSTEAD.set(functools.partial(_Counts, self, self._text))
        try:
            yield
        finally:
            progress.INSTEAD.reset(before)


class _Counts:
    def __init__(self, progress: Progress, text: str, total: int | None, unit: str) -> None:
        self._progress = progress
        self._text = text
        self._of = unit if total is None else f"of {total:,} {unit}"

    def update(self, done: int, /) -> None:
        self._progress.update(f"{self._text}: {done:,} {self._of}", counting=True)

    def waits(self, why: str, until: datetime | None) -> None:
        """Prints nothing: the wait is logged, and the log is shown, unless ``--quiet`` is given."""
