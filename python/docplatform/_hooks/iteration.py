"""The pass of an ``async for``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from docplatform._native import _AtHand


async def each(rows: _AtHand) -> AsyncGenerator[Any]:
    """Every row that is left; only to turn a page is the event loop asked."""
    while True:
        for row in rows:
            yield row
        try:
            row = await rows.turn()
        except StopAsyncIteration:
            return
        yield row
