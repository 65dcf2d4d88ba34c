"""The pass of an ``async for``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from docplatform._native import AsyncRows, AsyncVisitors


async def each(rows: AsyncVisitors | AsyncRows) -> AsyncGenerator[Any]:
    """Every row that is left; only to turn a page is the event loop asked."""
    at_hand = rows._at_hand()
    while True:
        for row in at_hand:
            yield row
        try:
            row = await at_hand.turn()
        except StopAsyncIteration:
            return
        yield row
