"""How a range is cut: into days, weeks from Monday on, months of the calendar. The core does it; drawings have to know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date


def is_cut(every: str | None, date_from: date, date_to: date) -> bool:
    """Whether a slice is shorter than its kind, as the range begins or ends within it: it has fewer uniques for that alone."""
    if every == "week":
        return (date_to - date_from).days < 7
    return every == "month" and not date_from.day == date_to.day == 1
