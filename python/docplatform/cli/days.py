"""The days that commands are asked about: a range, whole or in slices."""

from __future__ import annotations

import functools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def range_options(command: Callable[..., None]) -> Callable[..., None]:
    """The days that are asked about."""
    for option in (
        click.option(
            "--to",
            "date_to",
            metavar="DATE",
            help="The first day that is not included any more: the end is exclusive.",
        ),
        click.option("--from", "date_from", metavar="DATE", help="The first day, as 2026-01-31."),
    ):
        command = option(command)
    return command


def slice_options(every: str | None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The days that are asked about, all of them said, and how they are cut: by ``every``, or into one slice, where nothing
    else is said.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*, date_from: str | None, date_to: str | None, last: int | None, **more: Any) -> None:
            command(**_days(date_from, date_to, last), **more)

        for option in (
            click.option(
                "--every",
                type=click.Choice(["day", "week", "month"]),
                default=every,
                help="How long a slice is. Weeks begin on Monday; the first and the last slice are cut to fit.  "
                f"[default: {every or 'one slice'}]",
            ),
            click.option(
                "--last",
                type=click.IntRange(1),
                metavar="N",
                help="In place of --from and --to: the last N whole days, up to yesterday in UTC.",
            ),
        ):
            run = option(run)
        return range_options(run)

    return decorate


def _days(date_from: str | None, date_to: str | None, last: int | None) -> dict[str, str]:
    if last is None:
        if date_from is None or date_to is None:
            raise click.UsageError("say which days: with --from and --to, or with --last")
        return {"date_from": date_from, "date_to": date_to}
    if date_from is not None or date_to is not None:
        raise click.UsageError("--last is in place of --from and --to: give one or the other")
    today = datetime.now(UTC).date()
    try:
        return {"date_from": str(today - timedelta(days=last)), "date_to": str(today)}
    except OverflowError:
        raise click.UsageError("--last goes back too far") from None
