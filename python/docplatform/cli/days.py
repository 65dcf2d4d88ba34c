"""The options of a date range, whole or cut into slices."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from docplatform.cli.help import options

if TYPE_CHECKING:
    from collections.abc import Callable


range_options: Callable[[Callable[..., None]], Callable[..., None]] = options(
    click.option("--from", "date_from", metavar="DATE", help="The first day, as 2026-01-31."),
    click.option("--to", "date_to", metavar="DATE", help="The day after the last: the end is exclusive."),
)
"""The options of a date range."""


def slice_options(every: str | None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options of a range that is cut into slices; ``every`` is how long they are by default, ``None`` for one slice."""
    sliced = options(
        range_options,
        click.option(
            "--last",
            type=click.IntRange(1),
            metavar="N",
            help="Instead of --from and --to: the last N whole days, up to yesterday in UTC.",
        ),
        click.option(
            "--every",
            type=click.Choice(["day", "week", "month"]),
            default=every,
            help="How long a slice is. Weeks begin on Monday; the first and the last slice are cut to fit.  "
            f"[default: {every or 'one slice'}]",
        ),
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*, date_from: str | None, date_to: str | None, last: int | None, **more: Any) -> None:
            command(**_days(date_from, date_to, last), **more)

        return sliced(run)

    return decorate


def _days(date_from: str | None, date_to: str | None, last: int | None) -> dict[str, str]:
    if last is None:
        if date_from is None or date_to is None:
            raise click.UsageError("say which days: with --from and --to, or with --last")
        return {"date_from": date_from, "date_to": date_to}
    if date_from is not None or date_to is not None:
        raise click.UsageError("--last stands for --from and --to: give one or the other")
    today = datetime.now(UTC).date()
    try:
        return {"date_from": str(today - timedelta(days=last)), "date_to": str(today)}
    except OverflowError:
        raise click.UsageError("--last goes back too far") from None
