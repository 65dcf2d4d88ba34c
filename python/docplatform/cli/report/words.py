"""How a report names days and numbers, whether as a page or as Markdown, and what is said beside numbers that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

# Not the calendar module's, which speaks the locale's language.
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MINUS = "\u2212"
CHANCE = (
    "Only changes beyond chance are listed: those larger than twice the difference that two counts of the same readers would "
    "usually show."
)
"""What is meant by it, in one sentence."""
AI_TRAFFIC = (
    "What counts as an AI agent is the service's to say, and may have changed on the way: a sudden step of the AI numbers alone need "
    "not be one of readers."
)
"""What is to be known beside each trend."""


def short(one: date, every: str) -> str:
    """Where a slice begins, below a chart: ``5 Oct``, and for months ``Oct 26``."""
    month = _MONTHS[one.month - 1]
    return f"{month} {one.year % 100:02}" if every == "month" else f"{one.day} {month}"


def signed(number: int) -> str:
    """A change: ``+1,234``, its negative with a minus sign, ``0``."""
    return f"{number:+,}".replace("-", MINUS) if number else "0"


def percent(before: int, now: int) -> str:
    """A change as a share of what was before: ``+14%``, ``+3.2%``, ``new``, ``12 times``."""
    if not before:
        return "new" if now else "0%"
    if now > 10 * before:
        return f"{now / before:,.0f} times"
    change = 100 * (now - before) / before
    if now and change < -99:
        # What is left is not nothing.
        change = -99.0
    text = f"{change:+.0f}" if abs(change) >= 10 else f"{change:+.1f}"
    return "0%" if text.endswith("0.0") else f"{text}%".replace("-", MINUS)


def part(number: int, whole: int) -> str:
    """A share: ``46%``, and nothing is 0% or 100% that is not."""
    if not whole:
        return "0%"
    if 0 < 200 * number < whole:
        return "<1%"
    if 0 < 200 * (whole - number) < whole:
        return ">99%"
    return f"{100 * number / whole:.0f}%"


def listed(words: list[str]) -> str:
    """Words as a sentence lists them."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
