"""How a report writes days and numbers, and two explanations that its page and its Markdown share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

# Not the calendar module's, which speaks the locale's language.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MINUS = "\u2212"
CHANCE = "Only changes that are too large to be chance are listed: larger than twice the difference that random variation usually makes."
"""Which changes are listed."""
AI_TRAFFIC = (
    "The service decides which visitors are AI agents, and may change how it does so. If the AI numbers alone jump from one point to the next, "
    "the rule may have changed rather than the readers."
)
"""Shown with each trend."""


def short(one: date, every: str) -> str:
    """The first day of a slice, as the label below a chart: ``5 Oct``, or ``Oct 26`` for a month."""
    month = _MONTHS[one.month - 1]
    return f"{month} {one.year % 100:02}" if every == "month" else f"{one.day} {month}"


def signed(number: int) -> str:
    """A change with its sign, which is a true minus sign, not a hyphen: ``+1,234``, or ``0``."""
    return f"{number:+,}".replace("-", MINUS) if number else "0"


def percent(before: int, now: int) -> str:
    """A change as a share of what was before: ``+14%``, ``+3.2%``, ``new``, ``12 times``."""
    if not before:
        return "new" if now else "0%"
    if now > 10 * before:
        return f"{now / before:,.0f} times"
    change = 100 * (now - before) / before
    if now and change < -99:
        # -100% would say that no reader is left.
        change = -99.0
    text = f"{change:+.0f}" if abs(change) >= 9.95 else f"{change:+.1f}"
    return "0%" if text[1:] == "0.0" else f"{text}%".replace("-", MINUS)


def part(number: int, whole: int) -> str:
    """A share: ``46%``. Only shares that are exactly 0 or 1 become 0% or 100%."""
    if not whole:
        return "0%"
    if 0 < 200 * number <= whole:
        return "<1%"
    if 0 < 200 * (whole - number) <= whole:
        return ">99%"
    return f"{100 * number / whole:.0f}%"


def listed(words: list[str]) -> str:
    """Words joined for a sentence: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
