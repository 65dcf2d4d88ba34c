"""``read_visitors``: a range out of a store, as a client with that store would give it, with no client, key or request."""

from __future__ import annotations

import os
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, overload

from docplatform._native import _read_visitors

if TYPE_CHECKING:
    from docplatform._native import TrendTable, VisitorTable


@overload
def read_visitors(
    store: str | os.PathLike[str],
    *,
    period: str | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: None = None,
    by_path: Literal[True] | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable: ...
@overload
def read_visitors(
    store: str | os.PathLike[str],
    *,
    period: str | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"],
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> TrendTable: ...
@overload
def read_visitors(
    store: str | os.PathLike[str],
    *,
    period: str | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"] | None = None,
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable: ...
def read_visitors(
    store: str | os.PathLike[str],
    *,
    period: str | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"] | None = None,
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable:
    """Reads visitors out of a store, without a client, an API key or a request.

    What the store does not have is an error that says what is missing, and which call or command fetches it.

    Args:
        store: The store's file, as a client's ``store``; it may be in use.
        period: The range by its name, such as ``"2026-01"``, ``"2026-W03"`` or ``"last month"``.
        date_from: The first day, instead of a period.
        date_to: The day after the last: the end is exclusive.
        project_id: The project; by default DOCPLATFORM_PROJECT_ID, or the only one in the store.
        every: The range day by day, week by week or month by month; ``None`` for the range as a whole.
        by_path: Whether to read one row for each path, or the totals alone. By default by path for the whole range, and
            totals for slices.
        base_url: Of which service, if the store has several.
        organization: Of which organization, if the store has several: its name, or as the error lists it.
        settle_days: As the client's: ``warnings`` says what was fetched earlier than that, and may have changed since.

    Returns:
        A :class:`VisitorTable` for the range as a whole by path, else a :class:`TrendTable`. Their ``requests`` is 0.

    Raises:
        ConfigurationError: There is no such store, or it cannot be read.
        ValueError: The store does not have all of it; or it has several projects or organizations, and none is named.

    Example:
        >>> docplatform.read_visitors("visitors.db", period="2026-01")
        VisitorTable(1000 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01')
        >>> docplatform.read_visitors("visitors.db", period="2026-01", every="day").to_pandas()
    """
    if by_path is None:
        by_path = every is None
    return _read_visitors(
        store,
        every,
        by_path,
        period=period,
        date_from=date_from,
        date_to=date_to,
        project_id=project_id or os.environ.get("DOCPLATFORM_PROJECT_ID") or None,
        base_url=base_url,
        organization=organization,
        settle_days=settle_days,
    )
