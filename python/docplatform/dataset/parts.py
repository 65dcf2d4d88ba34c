"""Splits a store or a dataset into parts for :mod:`docplatform.spark` and :mod:`docplatform.dask`. Any process reads them without a
client, a key or a request.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from docplatform._native import _dataset_rows, _DatasetRows
from docplatform.dataset import catalog

if TYPE_CHECKING:
    from docplatform.dataset.catalog import Day, StoredSlice

PARTITION_ROWS = 100_000
"""The most rows of a part, unless a single slice has more."""


class Part(NamedTuple):
    """Some slices of one project. Of a store, it has the same rows each time that it is read; of a dataset, until a
    file is replaced."""

    store: str | None
    exports: tuple[int, ...]
    files: tuple[str, ...]
    settle_days: int
    listing: str

    def read(self) -> Any:
        """Its rows as a ``pyarrow.Table``."""
        pyarrow = import_module("pyarrow")
        where: dict[str, Any] = {"listing": self.listing, "settle_days": self.settle_days}
        if self.store is not None:
            return pyarrow.table(_dataset_rows(self.store, list(self.exports), **where))
        parquet = import_module("pyarrow.parquet")
        columns = schema(self.listing)
        tables = [parquet.ParquetFile(file).read().select(columns.names).cast(columns) for file in self.files]
        return pyarrow.concat_tables(tables) if tables else columns.empty_table()


def schema(listing: str = "visitors") -> Any:
    """The columns of all parts of a listing as a ``pyarrow.Schema``."""
    return import_module("pyarrow").schema(_DatasetRows(listing))


class Lake(NamedTuple):
    """Where slices are, of which length, and of which listing."""

    store: str | None
    dataset: str | None
    every: str | None
    base_url: str | None
    organization: str | None
    settle_days: int
    listing: str

    @classmethod
    def of(
        cls,
        store: str | os.PathLike[str] | None,
        dataset: str | os.PathLike[str] | None,
        every: str | None,
        base_url: str | None,
        organization: str | None,
        settle_days: int,
        listing: str = "visitors",
    ) -> Lake:
        """Checks that it is one of both; processes with another working directory find it, too."""
        if (store is None) == (dataset is None):
            raise ValueError(
                "give store=, the file of a client's store, or dataset=, a folder of export_dataset()"
            )
        if dataset is not None and (base_url, organization) != (None, None):
            raise ValueError(
                "base_url and organization choose from a store, and a dataset has only one: leave them out"
            )
        paths = [None if path is None else str(Path(path).absolute()) for path in (store, dataset)]
        return cls(paths[0], paths[1], every, base_url, organization, settle_days, listing)

    def slices(
        self,
        projects: str | Iterable[str] | None = None,
        date_from: Day | None = None,
        date_to: Day | None = None,
    ) -> list[tuple[StoredSlice, str | None]]:
        """The slices, and of a dataset their files."""
        if self.store is None:
            return self._noted(projects, date_from, date_to)
        stored = catalog.stored(
            self.store,
            listing=self.listing,
            every=self.every or "day",
            projects=projects,
            date_from=date_from,
            date_to=date_to,
            base_url=self.base_url,
            organization=self.organization,
            settle_days=self.settle_days,
        )
        return [(slice_, None) for slice_ in stored]

    def _noted(
        self, projects: str | Iterable[str] | None, date_from: Day | None, date_to: Day | None
    ) -> list[tuple[StoredSlice, str | None]]:
        root = Path(self.dataset or "")
        found_files = sorted(catalog.files(root, self.listing))
        files = [(catalog.noted("pyarrow", file), str(file)) for file in found_files]
        if not files:
            raise ValueError(f"{root} has no files of export_dataset(listing={self.listing!r})")
        found = {slice_.every for slice_, _ in files}
        if found != {self.every or files[0][0].every}:
            lengths = ", ".join(f'"{one}"' for one in sorted(found))
            raise ValueError(f"{root} has slices of every={lengths}: give one of these")
        ids = catalog.ids(projects)
        there = {slice_.project_id for slice_, _ in files}
        if missing := sorted(set(ids or ()) - there):
            raise ValueError(
                f"projects: the dataset has none of {missing[0]!r}; it has those of {_some(there)}"
            )
        first, end = catalog.day("date_from", date_from), catalog.day("date_to", date_to)
        if first is not None and end is not None and first >= end:
            raise ValueError(f"date_from {first} is not before date_to {end}; date_to is exclusive")
        return [
            (slice_, file)
            for slice_, file in files
            if (ids is None or slice_.project_id in ids)
            and (first is None or first <= slice_.date_from)
            and (end is None or slice_.date_to <= end)
        ]

    def parts(self, slices: Iterable[tuple[StoredSlice, str | None]], most: int) -> list[Part]:
        """The slices in parts of one project and at most ``most`` rows; at least one part."""
        if most < 1:
            raise ValueError(f"partition_rows must be 1 or more; it is {most}")
        parts = []
        for _, found in groupby(slices, lambda slice_: slice_[0].project_id):
            parts += [self._part(run) for run in _runs(found, most)]
        return parts or [self._part([])]

    def _part(self, slices: list[tuple[StoredSlice, str | None]]) -> Part:
        exports = tuple(slice_.export for slice_, file in slices if file is None)
        files = tuple(file for _, file in slices if file is not None)
        return Part(self.store, exports, files, self.settle_days, self.listing)


def _some(ids: Iterable[str]) -> str:
    found = sorted(ids)
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(map(repr, found[:5])) + more


def _runs(
    slices: Iterable[tuple[StoredSlice, str | None]], most: int
) -> Iterator[list[tuple[StoredSlice, str | None]]]:
    run: list[tuple[StoredSlice, str | None]] = []
    rows = 0
    for slice_ in slices:
        if run and rows + slice_[0].rows > most:
            yield run
            run, rows = [], 0
        run.append(slice_)
        rows += slice_[0].rows
    yield run
