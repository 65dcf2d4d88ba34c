"""``read_visitors`` and ``read_views``: a range out of a store, as a client with that store would give it, with no client, key or request."""

from __future__ import annotations

import os
from datetime import date, datetime
from typing import Any, Literal, overload

from docplatform._native import TrendTable, VisitorTable, _read_stored


@overload
def read_visitors(
    store: str | os.PathLike[str],
    period: str | None = None,
    *,
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
    period: str | None = None,
    *,
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
    period: str | None = None,
    *,
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
    period: str | None = None,
    *,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"] | None = None,
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable:
    """Returns visitors from a store, without a client, an API key or a request.

    If the store does not have the whole range, the error says what is missing and which call fetches it. With
    ``every``, slices that have not begun are not missing.

    Args:
        store: The path of the store's file, as given to a client as ``store=``. It may be in use.
        period: The range by name, such as ``"2026-01"``, ``"2026-W03"`` or ``"last month"``.
        date_from: The first day, instead of a period: a str, ``date`` or ``datetime``.
        date_to: The day after the last day.
        project_id: The project's id; by default ``DOCPLATFORM_PROJECT_ID``, or else the only project in the store.
        every: ``"day"``, ``"week"`` or ``"month"`` for one slice each; ``None``, the default, for the range as a
            whole.
        by_path: Whether to return one row for each path, or only totals. By default one row for each path without
            ``every``, and totals with it.
        base_url: The service's address; if the store has several, by default ``DOCPLATFORM_BASE_URL``.
        organization: The organization: its name, or the id that the error lists; if the store has several, by default
            ``DOCPLATFORM_ORGANIZATION``, or that of the environment's API key.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.

    Returns:
        A ``VisitorTable`` for the range as a whole by path, else a ``TrendTable``. Its ``requests`` is 0.

    Raises:
        ConfigurationError: The store does not exist or cannot be read.
        ValueError: The store does not have the whole range, or it has several projects, services or organizations
            and none is named.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01", by_path=False).slices
        31
        >>> trend = docplatform.read_visitors("docs.db", "2026-01", every="day")
        >>> trend
        TrendTable(31 rows, project_id='demo', date_from='2026-01-01', date_to='2026-02-01', every='day')
        >>> trend.requests
        0
    """
    return _read(
        "visitors",
        store,
        every=every,
        by_path=by_path,
        period=period,
        date_from=date_from,
        date_to=date_to,
        project_id=project_id,
        base_url=base_url,
        organization=organization,
        settle_days=settle_days,
    )


@overload
def read_views(
    store: str | os.PathLike[str],
    period: str | None = None,
    *,
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
def read_views(
    store: str | os.PathLike[str],
    period: str | None = None,
    *,
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
def read_views(
    store: str | os.PathLike[str],
    period: str | None = None,
    *,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"] | None = None,
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable: ...
def read_views(
    store: str | os.PathLike[str],
    period: str | None = None,
    *,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    project_id: str | None = None,
    every: Literal["day", "week", "month"] | None = None,
    by_path: bool | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> VisitorTable | TrendTable:
    """Returns page views from a store, without a client, an API key or a request.

    If the store does not have the whole range, the error says what is missing and which call fetches it. With
    ``every``, slices that have not begun are not missing.

    Args:
        store: The path of the store's file, as given to a client as ``store=``. It may be in use.
        period: The range by name, such as ``"2026-01"``, ``"2026-W03"`` or ``"last month"``.
        date_from: The first day, instead of a period: a str, ``date`` or ``datetime``.
        date_to: The day after the last day.
        project_id: The project's id; by default ``DOCPLATFORM_PROJECT_ID``, or else the only project in the store.
        every: ``"day"``, ``"week"`` or ``"month"`` for one slice each; ``None``, the default, for the range as a
            whole.
        by_path: Whether to return one row for each path, or only totals. By default one row for each path without
            ``every``, and totals with it.
        base_url: The service's address; if the store has several, by default ``DOCPLATFORM_BASE_URL``.
        organization: The organization: its name, or the id that the error lists; if the store has several, by default
            ``DOCPLATFORM_ORGANIZATION``, or that of the environment's API key.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.

    Returns:
        A ``VisitorTable`` for the range as a whole by path, else a ``TrendTable``. Its ``requests`` is 0.

    Raises:
        ConfigurationError: The store does not exist or cannot be read.
        ValueError: The store does not have the whole range, or it has several projects, services or organizations
            and none is named.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01", listing="views", by_path=False).slices
        31
        >>> docplatform.read_views("docs.db", "2026-01", every="day").sum()
        Totals(human=1057715, ai=377949, total=1435664)
    """
    return _read(
        "views",
        store,
        every=every,
        by_path=by_path,
        period=period,
        date_from=date_from,
        date_to=date_to,
        project_id=project_id,
        base_url=base_url,
        organization=organization,
        settle_days=settle_days,
    )


def _read(
    listing: str,
    store: str | os.PathLike[str],
    *,
    every: str | None,
    by_path: bool | None,
    project_id: str | None,
    **where: Any,
) -> VisitorTable | TrendTable:
    return _read_stored(
        store,
        listing,
        every,
        by_path if by_path is not None else every is None,
        project_id=project_id or os.environ.get("DOCPLATFORM_PROJECT_ID") or None,
        **where,
    )
