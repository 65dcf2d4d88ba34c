"""Names of ranges for people: in charts, notebooks, reports and on the command line."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from docplatform._native import _period, _safe

Day = str | date | None


def name(date_from: Day, date_to: Day) -> str | None:
    """``October 2026``, ``week 3 of 2026 (from 12 January)``, ``15 January to 14 February 2026``; ``None`` without any day.

    ``date_to`` is exclusive; what is shown is the last day. Ranges that do not consist of whole days keep their times.
    """
    if date_from is not None and date_to is not None:
        found = _period(None, date_from, date_to)
        return (
            found[0][3] if found is not None else f"{_safe(str(date_from), 60)} to {_safe(str(date_to), 60)}"
        )
    if date_from is not None:
        return f"since {_day(date_from)}"
    return f"until {_day(date_to, timedelta(1))}" if date_to is not None else None


def _day(value: str | date, back: timedelta = timedelta(0)) -> str:
    try:
        day = value if isinstance(value, date) else date.fromisoformat(value)
        if not isinstance(day, datetime):
            day -= back
            return f"{day.day} {day:%B %Y}"
    except (ValueError, OverflowError):
        # A time within a day stays as it was given.
        pass
    return _safe(str(value), 60)
