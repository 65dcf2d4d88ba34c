"""Reads a store or a dataset as a Dask DataFrame: ``pip install "docplatform[dask]"``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from docplatform._hooks.frames import need
from docplatform.dataset.parts import PARTITION_ROWS, Lake, Part

if TYPE_CHECKING:
    from docplatform._native import _Listing

__all__ = ["read_listing"]


def read_listing(
    listing: _Listing = "visitors",
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
    """Returns a Dask DataFrame of a listing in a store, or in a dataset that ``docplatform.export_dataset`` made. Sends nothing.

    A partition is one project and some of its slices. Workers need no API key: each opens the file or the dataset
    at the same path. The rows of a partition are fixed when you call this, even if the store changes later; those
    of a dataset stay the same until ``export_dataset`` replaces its files.

    Args:
        listing: ``"visitors"`` (the default), ``"views"``, ``"searches"``, ``"feedback"``, ``"conversations"`` or
            ``"feedback_by_page"``.
        store: The path of the store's file, as given to a client as ``store=``. It may be in use by processes of
            the same machine.
        dataset: The folder of a dataset, instead of a store; use it on clusters of several machines.
        projects: The ids of the projects, or one id; all by default.
        date_from: The first day: a str, ``date`` or ``datetime``. By default the first one.
        date_to: The day after the last day; by default everything.
        every: The slices: ``"day"`` (the default), ``"week"`` or ``"month"``. A dataset has slices of one length.
        base_url: The service's address; needed if the store has several.
        organization: The organization: its name, or the id that the error lists; needed if the store has several.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.
        partition_rows: The largest number of rows in a partition; 100,000 by default. A single slice may have more.

    Returns:
        A ``dask.dataframe.DataFrame`` with the columns ``project_id``, ``date_from`` and ``date_to`` (datetime64),
        the listing's own (of visitors and views ``path``, ``human``, ``ai`` and ``total``, int64), ``settled`` (bool)
        and ``extra`` (JSON text).

    Raises:
        ConfigurationError: The store does not exist or cannot be read.
        ValueError: Neither a store nor a dataset is given, the store has several organizations and none is named, a
            project is missing, or there are only slices of another length.
        ImportError: Dask is missing: ``pip install "docplatform[dask]"``.

    Example:
        >>> visitors = docplatform.dask.read_listing("visitors", store="visitors.db")
        >>> len(visitors)
        3600
    """
    need("docplatform.dask.read_listing")
    lake = Lake.of(store, dataset, every, base_url, organization, settle_days, listing)
    parts = lake.parts(lake.slices(projects, date_from, date_to), partition_rows)
    nothing = Part(None, (), (), settle_days, listing)
    return import_module("dask.dataframe").from_map(_frame, parts, meta=_frame(nothing), label=listing)


def _frame(part: Part) -> Any:
    table = part.read()
    types = dict.fromkeys(("date_from", "date_to"), "datetime64[s]")
    # One dtype in all partitions, whether a number is missing or not.
    types |= {field.name: "Int64" for field in table.schema if field.nullable and field.type == "int64"}
    return table.to_pandas(date_as_object=False).astype(types)
