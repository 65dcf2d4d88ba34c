"""``export_dataset``: a store's slices as a partitioned Parquet dataset: one file a slice, each with a note of what it was made from."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from docplatform._hooks import parquet
from docplatform._hooks.frames import need
from docplatform._native import _dataset_rows, _WholeFile
from docplatform.dataset import catalog
from docplatform.errors import DatasetError, DataWarning
from docplatform.types import DatasetReport

if TYPE_CHECKING:
    from docplatform._native import _Listing
    from docplatform.dataset.catalog import StoredSlice

_NULL = "__HIVE_DEFAULT_PARTITION__"
_LONGEST = 200


def export_dataset(
    path: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str],
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
    ``path/listing=visitors/project=…/date=YYYY-MM-DD/part-0.parquet``. A folder may hold several listings; as their
    columns differ, read one at a time, as ``path/listing=searches``. Files that are still right are kept, and a slice that was fetched again replaces its file. A run
    that is interrupted leaves only complete files; the next run writes the rest.

    All files of a listing have the same columns: ``project_id`` (string), ``date_from`` and ``date_to`` (date;
    ``date_to`` is exclusive), the listing's own (of visitors and views ``path``, string, and ``human``, ``ai`` and
    ``total``, int64), ``settled`` (bool: whether the slice was
    final when it was fetched), and ``extra`` (string): whatever else the service sent, as JSON. Use the column
    ``project_id`` rather than the folder's name, which some readers turn into a number.

    Args:
        path: The dataset's folder; created if it does not exist.
        store: The path of the store's file, as given to a client as ``store=``. It may be in use.
        listing: ``"visitors"`` (the default), ``"views"``, ``"searches"``, ``"feedback"``, ``"conversations"`` or
            ``"feedback_by_page"``.
        projects: The ids of the projects, or one id; all by default.
        date_from: The first day: a str, ``date`` or ``datetime``. By default the first one in the store.
        date_to: The day after the last day; by default everything in the store.
        every: The slices: ``"day"`` (the default), ``"week"`` or ``"month"``. A dataset has slices of one length
            only, because unique visitors of different lengths must not be mixed; slices that the end of a range cut
            are left out.
        base_url: The service's address; if the store has several, by default ``DOCPLATFORM_BASE_URL``.
        organization: The organization: its name, or the id that the error lists; if the store has several, by default
            ``DOCPLATFORM_ORGANIZATION``, or that of ``DOCPLATFORM_API_KEY``.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.
        strict: Whether missing slices are an error instead of a warning; not by default. What the store has is
            written in any case.

    Returns:
        A ``DatasetReport``: ``written``, ``kept``, ``rows``, ``open`` and ``missing``. If slices are missing from the
        range, or between the first and the last one, a ``DataWarning`` names the first. Slices that have not begun are
        not missing.

    Raises:
        ConfigurationError: The store does not exist or cannot be read.
        ValueError: The store has several services or organizations and none is named, lacks a project, or has only
            slices of another length; or the folder has other content.
        DatasetError: Slices are missing, with ``strict``. What the store has is written, and ``error.dataset`` is the
            report.
        ImportError: None of pyarrow, polars and duckdb is installed: ``pip install "docplatform[arrow]"``.
        OSError: A file cannot be written.

    Example:
        >>> Client(store="visitors.db").sync("demo", "2026-01-05 to 2026-01-11").rows
        7000
        >>> docplatform.export_dataset("visitors", store="visitors.db")
        DatasetReport(written=7, kept=0, rows=7000, open=0, missing=0)
        >>> docplatform.export_dataset("visitors", store="visitors.db")
        DatasetReport(written=0, kept=7, rows=0, open=0, missing=0)
    """
    if not os.fspath(path):
        # It would be the working directory.
        raise ValueError("path is empty: name the dataset's folder")
    module = need("export_dataset")
    projects = catalog.ids(projects)
    root = Path(os.fspath(path)).absolute()
    within = root.resolve()
    wish: catalog.Wish = {
        "listing": listing,
        "every": every,
        "projects": projects,
        "date_from": date_from,
        "date_to": date_to,
        "base_url": base_url,
        "organization": organization,
        "settle_days": settle_days,
    }
    slices = catalog.stored(store, **wish)
    if (other := next(iter(catalog.files(root, listing)), None)) is not None:
        _check(catalog.noted(module, other), root, every, slices[0].base_url if slices else None)
    if projects is None:
        # Also those that have nothing of the range.
        any_day: catalog.Wish = {**wish, "date_from": None, "date_to": None}
        projects = [slice_.project_id for slice_ in catalog.stored(store, **any_day)]
    missing = catalog.missing(slices, every, projects, date_from, date_to)
    gap = _gap(listing, every, slices, missing)
    if gap is not None and not strict:
        warnings.warn(gap, DataWarning, stacklevel=2)
    report = DatasetReport(0, 0, 0, sum(not slice_.settled for slice_ in slices), len(missing))
    for slice_ in slices:
        folder = (
            root / f"listing={listing}" / f"project={_folder(slice_.project_id)}" / f"date={slice_.date_from}"
        )
        target = folder / catalog.FILE
        if not folder.resolve().is_relative_to(within):
            raise ValueError(
                f"{folder} is a link that leads out of {root}: nothing is written there; remove it"
            )
        if target.exists() and _is_newest(catalog.noted(module, target), slice_, root):
            report = report._replace(kept=report.kept + 1)
            continue
        rows = _dataset_rows(store, [slice_.export], listing=listing, settle_days=settle_days)
        folder.mkdir(parents=True, exist_ok=True)
        with _WholeFile(target, aside=_aside(root)) as file:
            parquet.write(module, rows, file.path, slice_.note())
            file.commit()
        report = report._replace(written=report.written + 1, rows=report.rows + len(rows))
    if gap is not None and strict:
        error = DatasetError(gap)
        error.dataset = report
        raise error
    return report


def _gap(listing: str, every: str, slices: list[StoredSlice], missing: list[tuple[str, date]]) -> str | None:
    """What the dataset lacks, in words."""
    if not missing:
        nothing = f"the store has no {listing} of these days in slices of a {every}: there is nothing to write until a sync has fetched some"
        return None if slices else nothing
    project, first = missing[0]
    return (
        f"the store lacks {len(missing)} of the {len(missing) + len(slices)} slices, the first from {first} of project "
        f"{project!r}: the dataset has gaps until a sync has fetched them and it is written again"
    )


def _check(there: StoredSlice, root: Path, every: str, base_url: str | None) -> None:
    if there.every != every:
        raise ValueError(
            f"{root} has a slice for each {there.every}, and unique visitors of different lengths must not be mixed: give another path to export a slice for each {every}"
        )
    if base_url not in {None, there.base_url}:
        raise ValueError(f"{root} is of {there.base_url}, not of {base_url}: give another path")


def _is_newest(there: StoredSlice, stored: StoredSlice, root: Path) -> bool:
    """Whether the existing file is up to date."""
    _check(there, root, stored.every, stored.base_url)
    if there.project_id != stored.project_id:
        raise ValueError(
            f"{root}: the file system takes the projects {there.project_id!r} and {stored.project_id!r} for one; "
            "give each a dataset of its own"
        )
    if (there.begun, there.export) == (stored.begun, stored.export):
        return there.settled == stored.settled
    # What seems to come from the future was fetched while a clock was ahead, and the store marks it with 0.
    return stored.begun < there.begun <= time.time() * 1000


def _folder(project_id: str) -> str:
    """A project's id as a part of a folder's name, or a digest if the id cannot be one."""
    encoded = quote(project_id, safe="")
    if len(encoded) <= _LONGEST and project_id != _NULL:
        return encoded
    # Imported here: it loads OpenSSL, which takes longer than most of what a command does.
    import hashlib

    return "~" + hashlib.sha256(project_id.encode()).hexdigest()


def _aside(root: Path) -> Path:
    """The folder of unfinished files: beside the dataset, as readers read everything in it; else the dataset itself."""
    beside = root.parent
    same = beside.stat().st_dev == root.stat().st_dev
    return beside if same and os.access(beside, os.W_OK | os.X_OK) else root
