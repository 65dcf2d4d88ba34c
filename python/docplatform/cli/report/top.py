"""The highest of many values, in memory for as many as are wanted."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

T = TypeVar("T")


class Top(Generic[T]):
    """What ranks highest."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.seen: int = 0
        """How many there were."""
        self._heap: list[tuple[float, int, T]] = []

    def add(self, rank: float, value: T) -> None:
        """One more; of those of the same rank the earlier ones stay."""
        self.seen += 1
        # No two have the same second place, so that values are never compared.
        entry = (rank, -self.seen, value)
        if len(self._heap) < self._number:
            heapq.heappush(self._heap, entry)
        elif self._heap and entry > self._heap[0]:
            heapq.heapreplace(self._heap, entry)

    def ranked(self) -> list[tuple[float, T]]:
        """Ranks and values, the highest first."""
        return [(rank, value) for rank, _, value in sorted(self._heap, reverse=True)]
