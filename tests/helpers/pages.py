"""Analytics answers that the stub does not give by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from docplatform.testing import StubServer

TOTALS = {"human": 30, "ai": 20, "total": 45}


def row(number: int, **others: Any) -> dict[str, Any]:
    """A row that differs from those of other numbers."""
    return {"path": f"/{number}", "human": number, "ai": 2 * number, "total": 3 * number, **others}


def rows(start: int, end: int) -> list[dict[str, Any]]:
    """Rows ``start`` to ``end``, the end not included."""
    return [row(number) for number in range(start, end)]


def page(rows: Iterable[Any], has_more: object = False, totals: object = TOTALS) -> dict[str, Any]:
    """The body of a page."""
    return {"totals": totals, "visitors": list(rows), "hasMore": has_more}


def serve(stub: StubServer, *bodies: Mapping[str, Any] | str | bytes) -> None:
    """Let the next requests get these bodies, in this order."""
    for body in bodies:
        stub.fail_next(status=200, body=body)
