"""Lists the slices that a store or a dataset has, without reading their rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from docplatform._native import _begun, _dataset_slices

if TYPE_CHECKING:
    from docplatform.dataset.places import Place

Day: TypeAlias = str | date | datetime


class StoredSlice(NamedTuple):
    """A slice, as a store or a file of a dataset describes it."""

    listing: str
    base_url: str
    every: str
    project_id: str
    date_from: date
    date_to: date
    begun: int
    export: int
    settled: bool
    rows: int

    def note(self) -> str:
        """The note about this slice, for its file."""
        return json.dumps({"version": 1, **self._asdict()}, default=date.isoformat)


def stored(store: str | os.PathLike[str], listing: str, every: str, **wish: Any) -> list[StoredSlice]:
    """The slices of one length in a store, by project and day. ``wish`` has more arguments of :func:`docplatform.export_dataset`."""
    return [
        StoredSlice(listing, url, every, project, first, end, begun, export, settled, rows)
        for export, url, project, first, end, begun, rows, settled in _dataset_slices(
            store, listing=listing, every=every, **wish
        )
    ]


def missing(
    slices: list[StoredSlice],
    every: str,
    projects: Iterable[str] | None,
    date_from: Day | None,
    date_to: Day | None,
) -> list[tuple[str, date]]:
    """Whole slices of a range that have begun and are not among ``slices``: their projects and first days. An end of the range
    that is not given is that of the project's slices, or of all slices for a project without any.
    """
    there: dict[str, list[StoredSlice]] = {project: [] for project in projects or ()}
    for stored_slice in slices:
        there.setdefault(stored_slice.project_id, []).append(stored_slice)
    found = []
    for project, its in there.items():
        begins = {one.date_from for one in its}
        first = date_from or min((one.date_from for one in its or slices), default=None)
        end = date_to or max((one.date_to for one in its or slices), default=None)
        if first is not None and end is not None:
            found += [(project, at) for at in _begun(every, first, end) if at not in begins]
    return found


def noted(place: Place, name: str) -> StoredSlice:
    """The note in a file of a dataset; a ``ValueError`` if it is not one."""
    try:
        fields = json.loads(place.note(name) or "")
        if fields.pop("version") != 1:
            raise ValueError("another version")
        days = {name: date.fromisoformat(fields[name]) for name in ("date_from", "date_to")}
        return StoredSlice(**fields | days)
    except (ValueError, TypeError, LookupError, AttributeError):
        text = f"{place}/{name} was not written by this version as a part of a dataset, and was left unchanged: give another path"
        raise ValueError(text) from None


def ids(projects: str | Iterable[str] | None) -> list[str] | None:
    """The ids of projects as users give them."""
    if projects is None or isinstance(projects, str):
        return None if projects is None else [projects]
    if not isinstance(projects, Iterable):
        raise TypeError(f"projects must be ids of projects, not {type(projects).__name__}")
    return list(dict.fromkeys(projects))
