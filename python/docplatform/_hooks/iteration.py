"""The pass of an ``async for``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from docplatform._native import _AtHand


async def each(rows: _AtHand) -> AsyncGenerator[Any]:
    """Yields every row that is left. Only the next page needs the event loop."""
    while True:
        for row in rows:
            yield row
        try:
            row = await rows.turn()
        except StopAsyncIteration:
            return
        yield row
