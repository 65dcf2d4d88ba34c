"""Keeps the highest of many values, and only those in memory."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

T = TypeVar("T")


class Top(Generic[T]):
    """The ``number`` values with the highest ranks."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.seen: int = 0
        """How many values were added."""
        self._heap: list[tuple[float, int, T]] = []

    def add(self, rank: float, value: T) -> None:
        """Adds one value. Of values with the same rank, the earlier ones are kept."""
        self.seen += 1
        # The second place is different in every entry, so that values are never compared.
        heapq.heappush(self._heap, (rank, -self.seen, value))
        if len(self._heap) > self._number:
            heapq.heappop(self._heap)

    def ranked(self) -> list[tuple[float, T]]:
        """Ranks and values, the highest first."""
        return [(rank, value) for rank, _, value in sorted(self._heap, reverse=True)]
