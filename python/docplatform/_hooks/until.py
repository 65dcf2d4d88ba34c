"""The time at which a call ends, as users give it."""

from __future__ import annotations

from datetime import datetime, time, timedelta


def until(value: object) -> int:
    """The milliseconds since 1970 of a ``datetime``, or of the next such time of day. Without a zone it is local time."""
    if isinstance(value, str):
        try:
            value = time.fromisoformat(value) if len(value) < len("2026-01-31") else datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(
                f'until must be a time such as "06:00" or "2026-01-31T06:00"; it is {value!r}'
            ) from None
    if isinstance(value, time):
        now = datetime.now(value.tzinfo)
        at = datetime.combine(now, value)
        value = at if at > now else at + timedelta(1)
    if not isinstance(value, datetime):
        raise TypeError(f"until must be a str, time or datetime, not {type(value).__name__}")
    return int(value.timestamp() * 1000)
