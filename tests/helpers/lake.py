"""Filled stores, and the rows that every way of reading them must return."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from docplatform.testing import StubServer
from helpers.exports import eventually

DAYS: dict[str, Any] = {"date_from": "2024-01-01", "date_to": "2024-01-05"}
COLUMNS = ["project_id", "date_from", "date_to", "path", "human", "ai", "total", "settled", "extra"]


def fill(store: Path, stub: StubServer, projects: Iterable[str] = ("demo",), **how: Any) -> None:
    """Fetches slices; four days where nothing else is said."""
    settings = {name: how.pop(name) for name in ("organization", "settle_days") if name in how}
    with stub.client(store=store, **settings) as client:
        client.sync(projects, **{**DAYS, **how})


def expected(stub: StubServer, store: Path, project: str = "demo", days: int = 4) -> list[dict[str, Any]]:
    """The stored rows of the days from 2024-01-01 on, in the columns of a dataset."""
    found: list[dict[str, Any]] = []
    with stub.client(store=store) as client:
        for number in range(days):
            day = date(2024, 1, 1) + timedelta(number)
            of: dict[str, Any] = {"project_id": project, "date_from": day, "date_to": day + timedelta(1)}
            more = {"settled": True, "extra": None}
            rows = client.visitors(date_from=day, date_to=of["date_to"], project_id=project)
            found += [of | row | more for row in rows]
    return found


@contextmanager
def opened(store: Path) -> Iterator[sqlite3.Connection]:
    """A store as any SQLite tool has it, once this process's own SQLite has closed it: the two see no locks of each other."""
    eventually(lambda: not store.with_name(f"{store.name}-wal").exists())
    with closing(sqlite3.connect(store)) as connection, connection:
        yield connection


def alter(store: Path, statement: str, *values: object) -> None:
    """Changes what is in a store."""
    with opened(store) as connection:
        connection.execute(statement, values)


def backup(store: Path, target: Path) -> None:
    """Copies a store in the documented way."""
    with opened(store) as connection, closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)


def ordered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in one order, with dates as ``date`` and nothing as ``None``, whatever library they went through."""

    def plain(value: Any) -> Any:
        if hasattr(value, "date"):
            return value.date()
        # pandas' missing values are not equal to themselves.
        return None if value != value else value

    made = [{name: plain(row[name]) for name in COLUMNS} for row in rows]
    return sorted(made, key=lambda row: (row["project_id"], row["date_from"], row["path"]))


def with_pandas(root: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(root).to_dict("records")


def with_polars(root: Path) -> Any:
    import polars as pl

    return pl.read_parquet(root).to_dicts()


def with_pyarrow(root: Path) -> Any:
    import pyarrow.dataset  # type: ignore[import-untyped]

    return pyarrow.dataset.dataset(root, partitioning="hive").to_table().to_pylist()


def with_duckdb(root: Path) -> Any:
    import duckdb

    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT * FROM read_parquet(?, hive_partitioning = true)", [f"{root}/**/*.parquet"]
        )
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


READERS: list[Callable[[Path], Any]] = [with_pandas, with_polars, with_pyarrow, with_duckdb]


def files(root: Path) -> dict[str, tuple[int, int]]:
    """All files below a folder, with what changes when one is written."""
    found = {path.relative_to(root).as_posix(): path.stat() for path in root.rglob("*") if path.is_file()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()}
