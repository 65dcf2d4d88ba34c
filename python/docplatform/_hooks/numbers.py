"""Changes as people read them: shares, and how a whole site changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docplatform._native import _site_change

if TYPE_CHECKING:
    from datetime import date

MINUS = "\u2212"
Days = tuple["date", "date"]
"""The first day, and the day after the last one."""


def percent(before: int, now: int) -> str:
    """A change as a share of what was before: ``+14%``, ``+3.2%``, ``new``, ``12 times``."""
    if not before:
        return "new" if now else "0%"
    if now > 10 * before:
        return f"{now / before:,.0f} times"
    change = (now - before) / before
    # -100% would say that no reader is left.
    return share(max(change, -0.99) if now else change)


def share(change: float) -> str:
    """A fraction with its sign: ``+14%``, ``+3.2%``, or ``0%``."""
    text = f"{100 * change:+.0f}" if abs(change) >= 0.0995 else f"{100 * change:+.1f}"
    return "0%" if text[1:] == "0.0" else f"{text}%".replace("-", MINUS)


def site(name: str, before: int, now: int, days_before: Days, days: Days) -> str:
    """How a whole site changed: ``People fell by 28%: 80,568 after 111,899``. If the calendar explains a part of the change, the plain
    change follows.
    """
    change, verdict, plain, daily = _site_change(before, now, days_before, days)
    numbers = f"{now:,} after {before:,}"
    if change is None or plain is None or daily is None:
        return f"{name}: {numbers}"
    if verdict == "hardly changed":
        apart = min(plain, daily) < 0 < max(plain, daily) and share(plain) != share(daily)
        shown = f"{share(plain)}, but {share(daily)} a day" if apart else share(plain)
        return f"{name} hardly changed: {numbers} ({shown})"
    used = f"by {share(change).lstrip('+' + MINUS)}" if change <= 9 else f"to {change + 1:,.0f} times as many"
    more = f" ({percent(before, now)})" if share(change) != share(plain) else ""
    return f"{name} {verdict} {used}: {numbers}{more}"
