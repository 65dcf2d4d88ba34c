"""Changes as people read them: shares, and how a whole site changed."""

from __future__ import annotations

from datetime import date
from math import inf, sqrt
from typing import NamedTuple

from docplatform._native import _site_change

MINUS = "\u2212"
Days = tuple[date, date]
"""The first day, and the day after the last one."""


def percent(before: int, now: int) -> str:
    """A change as a share of what was before: ``+14%``, ``+3.2%``, ``new``, ``12 times``."""
    if not before:
        return "new" if now else "0%"
    change = (now - before) / before
    # -100% would say that no reader is left.
    return share(max(change, -0.99) if now else change)


def share(change: float) -> str:
    """A fraction with its sign: ``+14%``, ``+3.2%``, ``0%``, or ``12 times``."""
    if change > 9:
        return f"{change + 1:,.0f} times"
    text = f"{100 * change:+.0f}" if abs(change) >= 0.0995 else f"{100 * change:+.1f}"
    return "0%" if text[1:] == "0.0" else f"{text}%".replace("-", MINUS)


CONTRADICTION = 0.1
"""The least of two opposite changes, in all and per day, that leaves it open whether a site grew. Smaller ones count as none."""


class Moved(NamedTuple):
    """The change of a whole site."""

    verdict: str
    """``rose``, ``fell``, ``hardly changed`` or ``may have risen or fallen``."""
    change: float
    """The change that was judged, as a fraction: 0 if it did not rise or fall, ``inf`` from 0."""
    per: str = ""
    """``day`` or ``working day``, if the change is that of the readers per day."""
    more: str = ""
    """The plain change, if the calendar may explain a part of it or nothing is certain; then also the change per day, if that differs."""

    @property
    def by(self) -> str:
        """``by 14%``, ``to 12 times as many`` or ``from 0``, if it rose or fell."""
        if self.change == inf:
            return "from 0"
        if self.change > 9:
            return f"to {share(self.change)} as many"
        return f"by {share(abs(self.change)).lstrip('+')}" if self.change else ""

    @property
    def counted(self) -> str:
        """``, counted per day``, if the change is that of the readers per day."""
        return f", counted per {self.per}" if self.per else ""

    @property
    def aside(self) -> str:
        """``more`` in brackets."""
        return f" ({self.more})" if self.more else ""

    @property
    def said(self) -> str:
        """The verdict, as in ``rose by 14%``."""
        return f"{self.verdict} {self.by}".rstrip()


def moved(before: int, now: int, period_before: Days, period: Days) -> Moved:
    """Judges the totals of two periods."""
    change, verdict, plain, other = _site_change(before, now, period_before, period)
    if change is None or plain is None:
        return Moved(verdict, inf)
    if verdict != "hardly changed":
        return Moved(verdict, change, *((other[0], f"{compared(plain)} in all") if other else ()))
    more = compared(plain)
    if other is not None:
        per, value = other
        if plain * value < 0 and min(abs(plain), abs(value)) >= CONTRADICTION:
            verdict = "may have risen or fallen"
        more += f", {'but' if plain * value < 0 else 'or'} {compared(value)} per {per}"
    return Moved(verdict, 0, more=more)


def site(name: str, before: int, now: int, period_before: Days, period: Days) -> str:
    """The change of a whole site in a sentence: ``People fell by 28%: 80,568 after 111,899``."""
    found = moved(before, now, period_before, period)
    lengths = [(to - since).days for since, to in (period, period_before)]
    numbers = f"{now:,} after {before:,}"
    if lengths[0] != lengths[1]:
        numbers = f"{now:,} in {count(lengths[0], 'day')}, after {before:,} in {lengths[1]:,}"
    return f"{name} {found.said}{found.counted}: {numbers}{found.aside}"


def count(number: int, thing: str, plural: str = "s") -> str:
    """A number and its noun: ``1 request``, ``2,000 requests``."""
    return f"{number:,} {thing}{'' if number == 1 else plural}"


def at_least(part: int, whole: int, deviations: float) -> float:
    """Wilson's lower bound of a share, so many standard deviations below it: one of one is not 100%."""
    if not part:
        return 0.0
    share, square = part / whole, deviations * deviations
    spread = deviations * sqrt(share * (1 - share) / whole + square / (4 * whole * whole))
    return (share + square / (2 * whole) - spread) / (1 + square / whole)


def compared(change: float) -> str:
    """A fraction as a comparison: ``14% more``, ``3.2% fewer``, ``12 times as many`` or ``the same``."""
    size = share(abs(change)).lstrip("+")
    if change > 9:
        return f"{size} as many"
    return "the same" if size == "0%" else f"{size} {'more' if change > 0 else 'fewer'}"
