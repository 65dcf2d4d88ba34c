"""The range of a command, as a period or as dates, whole or cut into slices."""

from __future__ import annotations

import functools
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from docplatform._native import _period
from docplatform.cli import phrases
from docplatform.cli.help import Decorator, number_option, options
from docplatform.cli.params import named_projects, words_or_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from docplatform.cli.session import Session

Ends: TypeAlias = dict[str, Any]
"""The ends of a range, ``date_from`` and ``date_to``, as the client takes them; ``None`` for each that is not named."""

FROM = click.option("--from", "date_from", metavar="DATE", help="The first day, such as 2026-01-31.")
TO = click.option("--to", "date_to", metavar="DATE", help="The day after the last day: the end is exclusive.")
LAST = number_option("--last", help="The last N whole days, up to yesterday in UTC.")
projects_options: Decorator = options(
    words_or_file(
        "words",
        "[PERIOD] [PROJECT]...",
        "Read ids of projects from a file, one per line; - is standard input.",
    ),
    FROM,
    TO,
    number_option(
        "--last",
        help="The last N whole days, up to yesterday in UTC; with --every week or month, the whole weeks or months that they lie in.",
    ),
)
"""The range and the projects of a command; :func:`days_and_projects` makes both of them."""
PERIODS = """\b
A PERIOD is one of
  2026  2026-Q1  2026-01  2026-W03  2026-01-31  2026-01-15 to 2026-02-14
  yesterday  last 7 days  last 4 weeks  last 3 months  last month  last quarter  last year
Weeks begin on Monday. Relative periods are over: whole days in UTC without today, and
whole weeks and months without this one.
"""
"""For the help of a command that takes a range."""

_UNIT = re.compile("(day|week|month|quarter|year)s?")


class Days(NamedTuple):
    """A period of whole days; the end is exclusive."""

    date_from: date
    date_to: date
    kind: str
    name: str

    @property
    def number(self) -> int:
        """How many days it has."""
        return (self.date_to - self.date_from).days

    @property
    def ends(self) -> Ends:
        """Both ends as texts."""
        return {"date_from": str(self.date_from), "date_to": str(self.date_to)}

    @property
    def written(self) -> str:
        """The days as a PERIOD: ``2026-10``, or the first and the last one."""
        if self.kind == "month":
            return f"{self.date_from:%Y-%m}"
        return f"{self.date_from} to {self.date_to - timedelta(1)}"


def _range_options(default: str | None) -> Decorator:
    """The range of a command: ``[PERIOD]``, ``--from`` and ``--to``, or ``--last``. The command takes it as ``ends``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(
            *,
            period: tuple[str, ...],
            date_from: str | None,
            date_to: str | None,
            last: int | None,
            **more: Any,
        ) -> None:
            ends = resolve(period, date_from, date_to, last)
            if default is not None and {*ends.values()} == {None}:
                ends = resolve((default,), None, None, None)
            command(ends=ends, **more)

        return options(click.argument("period", nargs=-1, metavar="[PERIOD]"), FROM, TO, LAST)(run)

    return decorate


range_options: Decorator = _range_options(None)
last_month_options: Decorator = _range_options("last month")
"""The same for a command that takes the last month without a range."""


def every_option(every: str | None, ends: str = "are cut to fit") -> Decorator:
    """How long the slices of a range are; ``every`` is the default, ``None`` for one slice. ``ends`` is what becomes of those that the
    range cuts."""
    return click.option(
        "--every",
        type=click.Choice(["day", "week", "month"]),
        default=every,
        help=f"How long a slice is. Weeks begin on Monday; the first and the last slice {ends}.  "
        f"[default: {every or 'one slice'}]",
    )


def resolve(
    period: tuple[str, ...],
    date_from: str | None,
    date_to: str | None,
    last: int | None,
    every: Any = None,
) -> Ends:
    """The range that the options name. With ``every``, the last N days are made whole slices: what is cut at today would be another
    range each day.
    """
    dates = date_from is not None or date_to is not None
    if bool(period) + dates + (last is not None) > 1:
        raise click.UsageError("name the range once: as PERIOD, with --from and --to, or with --last")
    if last is not None:
        period = (f"last {last} days",)
    if not period:
        return {"date_from": date_from, "date_to": date_to}
    try:
        found = _period(" ".join(period), every=None if last is None else every)
    except ValueError as error:
        raise click.UsageError(phrases.sentence(error)) from None
    first, end = map(str, found[0][:2]) if found is not None else (None, None)
    return {"date_from": first, "date_to": end}


def days_and_projects(
    session: Session,
    words: tuple[str, ...],
    file: str | None,
    date_from: str | None,
    date_to: str | None,
    last: int | None,
    every: Any,
) -> tuple[Ends, list[str]]:
    """The range and the projects of a command that takes ``[PERIOD] [PROJECT]...``. The PERIOD comes first, unless options name the days."""
    dated = date_from is not None or date_to is not None or last is not None
    at = 0 if dated else _spoken(words)
    try:
        ends = resolve(words[:at], date_from, date_to, last, every)
    except click.UsageError as error:
        if not at:
            raise
        text = f"{error.message}. The PERIOD comes first, and projects come after it"
        raise click.UsageError(text) from None
    return ends, named_projects(session, words[at:], file)


def _spoken(given: tuple[str, ...], begin: int = 0) -> int:
    """How many of the given words are the PERIOD, which may have several: ``last 7 days``, ``January 2026``, ``2026-01 to 2026-03``."""
    first, *rest = [word.lower() for word in given[begin : begin + 3]] or [""]
    long = 3 if first == "last" and _UNIT.fullmatch("".join(rest[1:])) else 2
    end = min(begin + (long if first.isalpha() and first != "yesterday" else 1), len(given))
    return _spoken(given, end + 1) if [word.lower() for word in given[end : end + 1]] == ["to"] else end


def beside(date_from: str | None, date_to: str | None, before: str | None = None) -> tuple[Days, Days | None]:
    """A period of whole days and the one to compare it with: that of ``--before``, or the same kind of period before it."""
    found = _period(None, date_from, date_to) if date_from is not None and date_to is not None else None
    if found is None:
        raise click.UsageError("name whole days: a PERIOD such as 2026-01, or --from and --to without times")
    try:
        other = _period(before) if before is not None else None
    except ValueError as error:
        raise click.UsageError(f"--before: {phrases.sentence(error)}") from None
    against = found[1] if other is None else other[0]
    if against is not None and against[:2] == found[0][:2]:
        raise click.UsageError(f"--before is the period itself, {found[0][3]}: name another")
    return Days(*found[0]), None if against is None else Days(*against)


def both_ends(ends: Ends) -> None:
    """A usage error if an end of the range is missing."""
    if None in ends.values():
        raise click.UsageError(
            "say which days: with a PERIOD such as 2026-01, with --from and --to, or with --last"
        )
