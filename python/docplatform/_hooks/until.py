"""The time at which a call ends."""

from __future__ import annotations

from datetime import datetime, time, timedelta


def until(value: object) -> int | None:
    """The milliseconds since 1970 of a time as users give it: a ``datetime``, or the next such time of day. ``None`` if a text
    is no time.
    """
    if isinstance(value, str):
        text = f"0{value}" if value[1:2] == ":" else value
        try:
            value = (time if text[2:3] == ":" else datetime).fromisoformat(text)
        except ValueError:
            return None
    if isinstance(value, time):
        now = datetime.now(value.tzinfo)
        at = datetime.combine(now, value)
        value = at if at > now else at + timedelta(1)
    if not isinstance(value, datetime):
        raise TypeError(f"until must be a str, time or datetime, not {type(value).__name__}")
    # Without a zone it is local time.
    return int(value.timestamp() * 1000)
