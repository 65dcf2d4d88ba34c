"""``export_dataset``: a store's slices as a partitioned Parquet dataset: one file a slice, each with a note of what it was made from."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from docplatform._native import _dataset_rows, _period
from docplatform.dataset import catalog
from docplatform.dataset.places import FILE, place
from docplatform.errors import DatasetError, DataWarning
from docplatform.types import DatasetReport

if TYPE_CHECKING:
    from docplatform._native import _Listing
    from docplatform.dataset.catalog import StoredSlice
    from docplatform.dataset.places import Place

_NULL = "__HIVE_DEFAULT_PARTITION__"
_LONGEST = 200


def export_dataset(
    target: str | os.PathLike[str],
    period: str | None = None,
    *,
    store: str | os.PathLike[str],
    filesystem: Any = None,
    listing: _Listing = "visitors",
    projects: str | Iterable[str] | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    every: Literal["day", "week", "month"] = "day",
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
    strict: bool = False,
) -> DatasetReport:
    """Writes a listing in a store as a partitioned Parquet dataset, which pandas, polars, DuckDB, Spark, Dask and Ray
    read directly. Sends nothing.

    There is one file for each project and slice, even if a slice has no rows:
    ``target/listing=visitors/project=…/date=YYYY-MM-DD/part-0.parquet``. A dataset may hold several listings; as their
    columns differ, read one at a time, as ``target/listing=searches``. Files that are still right are kept, and a slice that was fetched again replaces its file. A run
    that is interrupted leaves only complete files; the next run writes the rest.

    All files of a listing have the same columns: ``project_id`` (string), ``date_from`` and ``date_to`` (date;
    ``date_to`` is exclusive), the listing's own (of visitors and views ``path``, string, and ``human``, ``ai`` and
    ``total``, int64), ``settled`` (bool: whether the slice was
    final when it was fetched), and ``extra`` (string): whatever else the service sent, as JSON. Use the column
    ``project_id`` rather than the folder's name, which some readers turn into a number.

    Args:
        target: The dataset's folder, which is created if it does not exist; or a place in an object store, as
            ``"s3://bucket/lake"`` or ``"gs://bucket/lake"``, with the credentials that pyarrow finds.
        period: The range by name, such as ``"2026-01"``, ``"2026-Q1"`` or ``"last month"``. Give a period or dates,
            not both. By default everything in the store.
        store: The path of the store's file, as given to a client as ``store=``. It may be in use.
        filesystem: A ``pyarrow.fs.FileSystem``; then ``target`` is a path in it.
        listing: ``"visitors"`` (the default), ``"views"``, ``"searches"``, ``"feedback"``, ``"conversations"`` or
            ``"feedback_by_page"``.
        projects: The ids of the projects that are wanted, or one id; by default all that the store has.
        date_from: The first day: a str, ``date`` or ``datetime``. By default the first one in the store.
        date_to: The day after the last day; by default everything in the store.
        every: The slices: ``"day"`` (the default), ``"week"`` or ``"month"``. A dataset has slices of one length
            only, because unique visitors of different lengths must not be mixed; slices that the end of a range cut
            are left out.
        base_url: The service's address; if the store has several, by default ``DOCPLATFORM_BASE_URL``.
        organization: The organization: its name, or the id that the error lists; if the store has several, by default
            ``DOCPLATFORM_ORGANIZATION``, or that of the environment's API key.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.
        strict: Whether missing slices are an error instead of a warning; not by default. The slices in the store are
            written in any case.

    Returns:
        A ``DatasetReport``: ``written``, ``kept``, ``rows``, ``open`` and ``missing``. If slices are missing from the
        range, or between the first and the last one, a ``DataWarning`` names the first, and every project that the
        store has nothing of. Slices that have not begun are not missing.

    Raises:
        ConfigurationError: The store does not exist or cannot be read.
        ValueError: The store has several services or organizations and none is named, or has only slices of another
            length; or the target has other content in the place of a slice, or slices of another length or
            service.
        DatasetError: Slices are missing, with ``strict``. Those in the store are written, and ``error.dataset`` is the
            report.
        ImportError: None of pyarrow, polars and duckdb is installed: ``pip install "docplatform[arrow]"``. An object
            store needs pyarrow.
        OSError: A file cannot be written.

    Example:
        >>> Client(store="docs.db").sync("demo", "2026-01-05 to 2026-01-11").rows
        7000
        >>> docplatform.export_dataset("visitors", store="docs.db")
        DatasetReport(written=7, kept=0, rows=7000, open=0, missing=0)
        >>> docplatform.export_dataset("visitors", store="docs.db")
        DatasetReport(written=0, kept=7, rows=0, open=0, missing=0)
    """
    there = place(target, filesystem, listing)
    if period is not None and (named := _period(period, date_from, date_to)) is not None:
        date_from, date_to = named[0][:2]
    projects = catalog.ids(projects)
    days: dict[str, Any] = {"date_from": date_from, "date_to": date_to}
    wish: dict[str, Any] = {
        "listing": listing,
        "every": every,
        "base_url": base_url,
        "organization": organization,
        "settle_days": settle_days,
    }
    slices = catalog.stored(store, projects=projects, **days, **wish)
    if (other := next(iter(there.names()), None)) is not None:
        _check(catalog.noted(there, other), there, every, slices[0].base_url if slices else None)
    if projects is None:
        # Also those that have nothing of the range.
        any_day = catalog.stored(store, projects=None, date_from=None, date_to=None, **wish)
        projects = list(dict.fromkeys(slice_.project_id for slice_ in any_day))
    missing = catalog.missing(slices, every, projects, **days)
    gap = _gap(listing, every, slices, missing, projects)
    if gap is not None and not strict:
        warnings.warn(gap, DataWarning, stacklevel=2)

    def put(slice_: StoredSlice) -> int | None:
        """The rows that were written, or ``None`` if the file was up to date."""
        name = f"listing={listing}/project={_folder(slice_.project_id)}/date={slice_.date_from}/{FILE}"
        if there.has(name) and _is_newest(catalog.noted(there, name), slice_, there):
            return None
        rows = _dataset_rows(store, slice_.export, listing, settle_days)
        there.write(name, rows, slice_.note())
        return len(rows)

    done = list(there.each(put, slices))
    written = [rows for rows in done if rows is not None]
    is_open = sum(not slice_.settled for slice_ in slices)
    report = DatasetReport(len(written), len(done) - len(written), sum(written), is_open, len(missing))
    if gap is not None and strict:
        error = DatasetError(gap)
        error.dataset = report
        raise error
    return report


def _gap(
    listing: str,
    every: str,
    slices: list[StoredSlice],
    missing: list[tuple[str, date]],
    projects: list[str],
) -> str | None:
    """The text about the gaps of a dataset."""
    absent = set(projects) - {slice_.project_id for slice_ in slices}
    gaps = []
    if missing:
        project, first = missing[0]
        gaps.append(
            f"the store lacks {len(missing)} of the {len(missing) + len(slices)} slices, the first from {first} of "
            f"project {project!r}"
        )
    if absent:
        gaps.append(
            f"the store has nothing of {len(absent)} of the {len(projects)} projects in these days, "
            f"{', '.join(map(repr, sorted(absent)))}"
        )
    if gaps:
        return (
            f"{'; '.join(gaps)}: the dataset has gaps until a sync has fetched them and it is written again"
        )
    nothing = f"the store has no rows of {listing} of these days in slices of a {every}: there is nothing to write until a sync has fetched some"
    return None if slices else nothing


def _check(noted: StoredSlice, there: Place, every: str, base_url: str | None) -> None:
    if noted.every != every:
        raise ValueError(
            f"{there} has a slice for each {noted.every}, and slices of different lengths must not be mixed: give another path to export a slice for each {every}"
        )
    if base_url not in {None, noted.base_url}:
        raise ValueError(f"{there} is of {noted.base_url}, not of {base_url}: give another path")


def _is_newest(noted: StoredSlice, stored: StoredSlice, there: Place) -> bool:
    """Whether the existing file is up to date."""
    _check(noted, there, stored.every, stored.base_url)
    if noted.project_id != stored.project_id:
        raise ValueError(
            f"{there}: the file system takes the projects {noted.project_id!r} and {stored.project_id!r} for one; "
            "give each a dataset of its own"
        )
    if (noted.begun, noted.export) == (stored.begun, stored.export):
        return noted.settled == stored.settled
    # A time in the future was written while a clock was ahead. The store then has 0 as the time of the slice.
    return stored.begun < noted.begun <= time.time() * 1000


def _folder(project_id: str) -> str:
    """A project's id as a part of a folder's name, or a digest if the id cannot be one."""
    encoded = quote(project_id, safe="")
    if len(encoded) <= _LONGEST and project_id != _NULL:
        return encoded
    # Imported here: it loads OpenSSL, which takes longer than most of what a command does.
    import hashlib

    return "~" + hashlib.sha256(project_id.encode()).hexdigest()
