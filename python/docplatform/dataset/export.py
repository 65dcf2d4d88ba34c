"""``export_dataset``: a store's slices as a partitioned Parquet dataset: one file a slice, each with a note of what it was made from."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from docplatform._hooks import parquet
from docplatform._hooks.frames import need
from docplatform._native import _dataset_rows, _WholeFile
from docplatform.dataset import catalog
from docplatform.types import DatasetReport

if TYPE_CHECKING:
    from docplatform.dataset.catalog import StoredSlice

_NULL = "__HIVE_DEFAULT_PARTITION__"
_LONGEST = 200


def export_dataset(
    path: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str],
    projects: str | Iterable[str] | None = None,
    date_from: str | date | datetime | None = None,
    date_to: str | date | datetime | None = None,
    every: Literal["day", "week", "month"] = "day",
    base_url: str | None = None,
    organization: str | None = None,
    settle_days: int = 2,
) -> DatasetReport:
    """Writes a store as a partitioned Parquet dataset, which pandas, polars, DuckDB, Spark, Dask and Ray read directly.

    There is a file for each project and slice, ``path/project=…/date=YYYY-MM-DD/part-0.parquet``, also where a slice
    has no rows. All have the same columns, whatever the service sent: ``project_id``, ``date_from``, ``date_to`` (the
    day after the last), ``path``, ``human``, ``ai``, ``total``, ``settled`` (whether the slice had ended
    ``settle_days`` ago when it was fetched; else it may still change), and ``extra``: whatever else came, as JSON.
    ``project_id`` is the project as it is; readers make of the folder's name what they like, such as the number 7 of
    ``007``.

    No request is sent, and no key is needed. Files that are there already are kept, a slice that was fetched again
    replaces its file, and a run that ended early leaves only whole files; the next one completes them.

    Args:
        path: The dataset's folder; made where there is none.
        store: The store's file, as a client's ``store``; it may be in use.
        projects: Ids of projects, or one; all by default.
        date_from: The first day; by default the first that there is.
        date_to: The day after the last.
        every: How long the slices are. A dataset has slices of one length, as uniques of different lengths are not
            to stand in one table; what :meth:`Client.sync` cut to fit at the ends of a range is left out.
        base_url: Of which service, if the store has several.
        organization: Of which organization, if the store has several: its name, or as the error lists it.
        settle_days: As the client's.

    Raises:
        ConfigurationError: There is no such store, or it cannot be read.
        ValueError: Several organizations, a project that the store does not know, no slices of this length but others,
            or a folder with something else in it.
        ImportError: Neither pyarrow nor polars nor duckdb is there.
        OSError: A file cannot be written.

    Example:
        >>> docplatform.export_dataset("visitors", store="visitors.db")
        DatasetReport(written=31, kept=0, rows=31000, open=2)
        >>> pandas.read_parquet("visitors")
    """
    module = need("export_dataset")
    root = Path(os.fspath(path)).absolute()
    within = root.resolve()
    slices = catalog.stored(
        store,
        every=every,
        projects=projects,
        date_from=date_from,
        date_to=date_to,
        base_url=base_url,
        organization=organization,
        settle_days=settle_days,
    )
    if (other := next(iter(catalog.files(root)), None)) is not None:
        _check(catalog.noted(module, other), root, every, slices[0].base_url if slices else None)
    report = DatasetReport(0, 0, 0, sum(not slice_.settled for slice_ in slices))
    for slice_ in slices:
        folder = root / f"project={_folder(slice_.project_id)}" / f"date={slice_.date_from}"
        target = folder / catalog.FILE
        if not folder.resolve().is_relative_to(within):
            raise ValueError(
                f"{folder} is a link that leads out of {root}: nothing is written there; remove it"
            )
        if target.exists() and _is_newest(catalog.noted(module, target), slice_, root):
            report = report._replace(kept=report.kept + 1)
            continue
        rows = _dataset_rows(store, [slice_.export], settle_days=settle_days)
        folder.mkdir(parents=True, exist_ok=True)
        file = _WholeFile(target, aside=_aside(root))
        try:
            parquet.write(module, rows, file.path, slice_.note())
            file.commit()
        finally:
            file.discard()
        report = report._replace(written=report.written + 1, rows=report.rows + len(rows))
    return report


def _check(there: StoredSlice, root: Path, every: str, base_url: str | None) -> None:
    if there.every != every:
        raise ValueError(
            f"{root} has slices of every={there.every!r}, and uniques of different lengths are not to stand in one "
            f"table: give another path for every={every!r}"
        )
    if base_url not in {None, there.base_url}:
        raise ValueError(f"{root} is of {there.base_url}, not of {base_url}: give another path")


def _is_newest(there: StoredSlice, stored: StoredSlice, root: Path) -> bool:
    """Whether what is there need not be replaced."""
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
    """A project's id as a part of a folder's name; a digest of it, where that cannot be one."""
    encoded = quote(project_id, safe="")
    if len(encoded) <= _LONGEST and project_id != _NULL:
        return encoded
    return "~" + hashlib.sha256(project_id.encode()).hexdigest()


def _aside(root: Path) -> Path:
    """The folder of unfinished files: beside the dataset, as readers read everything in it; else the dataset itself."""
    beside = root.parent
    same = beside.stat().st_dev == root.stat().st_dev
    return beside if same and os.access(beside, os.W_OK | os.X_OK) else root
