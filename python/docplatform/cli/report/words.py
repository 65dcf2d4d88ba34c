"""How a report writes days and numbers, and an explanation that it shares with the tables of trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docplatform._hooks.numbers import MINUS

if TYPE_CHECKING:
    from datetime import date

# Not the calendar module's, which speaks the locale's language.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
AI_TRAFFIC = (
    "The service decides which visitors are AI agents, and may change how it does so. If the AI numbers alone jump from one point to the next, "
    "the rule may have changed rather than the readers."
)
"""Shown below the trend of the HTML report, and after the table of ``visitors trend`` and ``views trend``."""


def short(one: date, every: str) -> str:
    """The first day of a slice, as the label below a chart: ``5 Oct``, or ``Oct 26`` for a month."""
    month = _MONTHS[one.month - 1]
    return f"{month} {one.year % 100:02}" if every == "month" else f"{one.day} {month}"


def signed(number: int) -> str:
    """A change with its sign, which is a true minus sign, not a hyphen: ``+1,234``, or ``0``."""
    return f"{number:+,}".replace("-", MINUS) if number else "0"


def part(number: int, whole: int) -> str:
    """A share: ``46%``. Only shares that are exactly 0 or 1 become 0% or 100%."""
    if not whole:
        return "0%"
    if 0 < 200 * number <= whole:
        return "<1%"
    if 0 < 200 * (whole - number) <= whole:
        return ">99%"
    return f"{100 * number / whole:.0f}%"
