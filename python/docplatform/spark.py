"""Reads a store or a dataset as a table of Spark 4.1 or later: ``pip install "docplatform[spark]"``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from docplatform._hooks.frames import need
from docplatform.dataset import parts

if TYPE_CHECKING:
    from docplatform.dataset.catalog import StoredSlice

__all__ = ["ListingDataSource", "register"]

_OPTIONS = {
    "store",
    "dataset",
    "path",
    "listing",
    "every",
    "base_url",
    "organization",
    "settle_days",
    "partition_rows",
}
_TYPES = {
    "string": "STRING",
    "date32[day]": "DATE",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp[us, tz=UTC]": "TIMESTAMP",
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "In": lambda value, among: value in among,
}
# Columns with one value for all rows of a slice, so that filters on them can skip whole slices.
_COMMON: dict[str, type] = {"project_id": str, "date_from": date, "date_to": date, "settled": bool}


def register(spark: Any) -> None:
    """Makes the format ``docplatform`` known to a Spark session, so that ``spark.read.format("docplatform")`` reads a
    store or a dataset.

    It sets ``spark.sql.python.filterPushdown.enabled``, which Spark 4 needs to read from a source that takes
    filters.

    Args:
        spark: The ``pyspark.sql.SparkSession``.

    Raises:
        ImportError: pyspark is missing: ``pip install "docplatform[spark]"``.

    Example:
        >>> docplatform.spark.register(spark)
        >>> spark.read.format("docplatform").option("store", "visitors.db").load().count()
        3600
    """
    need("docplatform.spark.register")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(ListingDataSource)


def _base(name: str) -> Any:
    """A class of pyspark; without it, this module can be looked at, and :func:`register` says what is missing."""
    try:
        return getattr(import_module("pyspark.sql.datasource"), name)
    except ImportError:
        return object


if TYPE_CHECKING:
    # Types are checked where pyspark is not installed, too.
    _DataSource: TypeAlias = object
    _DataSourceReader: TypeAlias = object
else:
    _DataSource, _DataSourceReader = _base("DataSource"), _base("DataSourceReader")


class ListingDataSource(_DataSource):
    """Reads a listing in a store, or in a dataset that ``docplatform.export_dataset`` made, as a Spark table: the format
    ``docplatform``.

    ``register`` makes it known to a session. A partition is one project and some of its slices; filters on
    ``project_id``, ``date_from``, ``date_to`` and ``settled`` skip slices before anything is read. Workers need no
    API key: each opens the store or the dataset at the same path. The rows of a partition are fixed when the query
    is planned, so that a task that is run again reads the same; those of a dataset stay the same until
    ``export_dataset`` replaces its files.

    The columns are ``project_id`` (string), ``date_from`` and ``date_to`` (date), the listing's own (of visitors and
    views ``path``, string, and ``human``, ``ai`` and ``total``, bigint), ``settled`` (boolean) and ``extra`` (JSON text).

    Options:
        store: The path of the store's file, as given to a client as ``store=``. It may be in use by processes of
            the same machine.
        dataset: The folder of a dataset, instead of a store; ``load(path)`` is the same.
        listing: ``visitors`` (the default), ``views``, ``searches``, ``feedback``, ``conversations`` or
            ``feedback_by_page``.
        every: ``day`` (the default), ``week`` or ``month``: the slices. A dataset has slices of one length.
        base_url: The service's address; needed if the store has several.
        organization: The organization; needed if the store has several.
        settle_days: How many days after its end a range is treated as final; 2 by default. Give it the client's
            value.
        partition_rows: The largest number of rows in a partition; 100000 by default. A single slice may have more.

    Example:
        >>> docplatform.spark.register(spark)
        >>> visitors = spark.read.format("docplatform").option("store", "visitors.db").load()
        >>> visitors.where("project_id = 'docs'").count()
        1200
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        """Checks the options."""
        unknown = {name.lower() for name in options} - _OPTIONS
        if unknown:
            raise ValueError(
                f"unknown option of docplatform: {', '.join(sorted(unknown))}; there are {', '.join(sorted(_OPTIONS))}"
            )
        self._lake = parts.Lake.of(
            options.get("store"),
            options.get("dataset") or options.get("path"),
            options.get("every"),
            options.get("base_url"),
            options.get("organization"),
            _whole(options, "settle_days", 2),
            options.get("listing") or "visitors",
        )
        self._most = _whole(options, "partition_rows", parts.PARTITION_ROWS)

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "docplatform"

    def schema(self) -> str:
        """The columns, as Spark's DDL."""
        columns = (
            f"{field.name} {_TYPES[str(field.type)]}{'' if field.nullable else ' NOT NULL'}"
            for field in parts.schema(self._lake.listing)
        )
        return ", ".join(columns)

    def reader(self, schema: object) -> object:  # noqa: ARG002
        """The reader of the table."""
        return _Reader(self._lake, self._most)


def _whole(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name) or str(default)
    if not text.isdecimal():
        raise ValueError(f"{name} must be a whole number; it is {text!r}")
    return int(text)


class _Reader(_DataSourceReader):
    """Plans partitions, and reads them. It has paths and numbers, and no client."""

    def __init__(self, lake: parts.Lake, most: int) -> None:
        self._lake = lake
        self._most = most
        self._wanted: list[tuple[str, str, Any]] = []

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802
        """Keeps the filters that can skip whole slices; Spark applies the others."""
        for filter_ in filters:
            wanted = _condition(filter_)
            if wanted is None:
                yield filter_
            else:
                self._wanted.append(wanted)

    def partitions(self) -> list[Any]:
        """The parts that pass the filters."""
        slices = [piece for piece in self._lake.slices() if self._is_wanted(piece[0])]
        partition = _base("InputPartition")
        return [partition(part) for part in self._lake.parts(slices, self._most)]

    def read(self, partition: Any) -> Iterator[Any]:
        """The rows of a partition as Arrow's record batches, on a worker."""
        yield from partition.value.read().to_batches()

    def _is_wanted(self, slice_: StoredSlice) -> bool:
        return all(_COMPARISONS[kind](getattr(slice_, column), value) for column, kind, value in self._wanted)


def _condition(filter_: Any) -> tuple[str, str, Any] | None:
    """A filter that is true for all rows of a slice or for none: the column, the comparison and its value."""
    kind = type(filter_).__name__
    if kind not in _COMPARISONS or (column := ".".join(filter_.attribute)) not in _COMMON:
        return None
    values = filter_.value if kind == "In" else (filter_.value,)
    fit = all(type(value) is _COMMON[column] for value in values)
    return (column, kind, filter_.value) if fit else None
