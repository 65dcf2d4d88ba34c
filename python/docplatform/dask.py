"""A store or a dataset as a Dask DataFrame: ``pip install "docplatform[dask]"``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime
from importlib import import_module
from typing import Any, Literal

from docplatform._hooks.frames import need
from docplatform.dataset.parts import PARTITION_ROWS, Lake, Part

__all__ = ["read_visitors"]


def read_visitors(
    *,
    store: str | os.PathLike[str] | None = None,
    dataset: str | os.PathLike[str] | None = None,
    projects: str | Iterable[str] | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    every: Literal["day", "week", "month"] | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
    partition_rows: int = PARTITION_ROWS,
) -> Any:
    """A ``dask.dataframe.DataFrame`` of a store, or of a dataset that was made of it.

    The columns are those of :func:`docplatform.export_dataset`. A partition is one project and some of its slices. No worker
    sends a request or has a key: each opens the file or the dataset at the same path. The rows of a partition are fixed
    when this is called, so that it is the same each time that it is read, whatever is fetched meanwhile; those of a
    dataset, as long as ``export_dataset`` does not replace its files.

    Args:
        store: The store's file, as a client's ``store``; it may be in use by processes of the same machine.
        dataset: The folder of :func:`docplatform.export_dataset`, instead of a store: for clusters of several machines.
        projects: Ids of projects, or one; all by default.
        date_from: The first day; by default the first that there is.
        date_to: The day after the last.
        every: How long the slices are: ``"day"`` by default; a dataset has one length.
        base_url: Of which service, if the store has several.
        organization: Of which organization, if the store has several.
        settle_days: As the client's, for the column ``settled`` of a store.
        partition_rows: How many rows a partition has at most; a single slice may have more.

    Raises:
        ConfigurationError: There is no such store, or it cannot be read.
        ValueError: Neither a store nor a dataset, several organizations, a project that is not there, or no slices of this
            length but others.
        ImportError: Dask is missing; says which extra to install.

    Example:
        >>> from docplatform.dask import read_visitors
        >>> visitors = read_visitors(store="visitors.db", date_from="2026-01-01")
        >>> visitors.groupby("path")["total"].max().nlargest(10).compute()
    """
    need("docplatform.dask.read_visitors")
    lake = Lake.of(store, dataset, every, base_url, organization, settle_days)
    parts = lake.parts(lake.slices(projects, date_from, date_to), partition_rows)
    nothing = Part(None, (), (), settle_days)
    return import_module("dask.dataframe").from_map(_frame, parts, meta=_frame(nothing), label="visitors")


def _frame(part: Part) -> Any:
    frame = part.read().to_pandas(date_as_object=False)
    days = dict.fromkeys(("date_from", "date_to"), "datetime64[s]")
    return frame.astype(days)
