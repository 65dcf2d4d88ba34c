"""A real Spark session, with two workers and a task's second try: rows as pandas has them, and no request."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle  # type: ignore[import-not-found]
from pyspark.errors import PySparkException  # type: ignore[import-not-found]
from pyspark.sql import SparkSession  # type: ignore[import-not-found]

import docplatform.spark
from docplatform import spark as source_module
from docplatform.dataset.parts import Lake
from docplatform.spark import ListingDataSource
from helpers.lake import COLUMNS, backup, ordered

from .conftest import DAYS, LISTINGS, PROJECTS, ROWS, Filled, check_example

ALL = len(PROJECTS) * DAYS * ROWS


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Where there is no Java the tests are skipped, and say so; on GitHub, whose machines have one, they fail."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        (pytest.fail if os.environ.get("GITHUB_ACTIONS") else pytest.skip)(
            "no Java: `make java` installs Debian's"
        )
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    # The last number: how often a task may be tried.
    builder = SparkSession.builder.master("local[2,3]").config(map=settings)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    source_module.register(session)
    yield session
    session.stop()


@pytest.fixture
def read(session: Any, source: dict[str, str]) -> Callable[..., Any]:
    """The table, a partition a slice where nothing else is said."""

    def load(**options: Any) -> Any:
        return session.read.format("docplatform").options(**source, **{"partition_rows": 1, **options}).load()

    return load


def rows(table: Any) -> list[dict[str, Any]]:
    return ordered(row.asDict() for row in table.collect())


@pytest.mark.parametrize("documented", [source_module.register, ListingDataSource])
def test_the_example_prints_what_it_shows(documented: Any, session: Any, filled: Filled) -> None:
    check_example(documented, filled.store, spark=session, docplatform=docplatform)


def test_every_row_is_there(read: Callable[..., Any], filled: Filled) -> None:
    table = read()
    assert table.columns == COLUMNS
    types = ["string", "date", "string", "bigint", "boolean"]
    assert [kind for _, kind in table.dtypes] == [types[at] for at in (0, 1, 1, 2, 3, 3, 3, 4, 0)]
    assert table.count() == ALL
    assert rows(table) == filled.rows


def test_the_dataset_is_read_as_it_is(session: Any, filled: Filled) -> None:
    table = session.read.parquet(str(filled.dataset))
    assert rows(table) == filled.rows
    assert {row.project_id for row in table.where("date = '2024-01-02'").collect()} == set(PROJECTS)


def test_partitions_are_one_project_and_some_of_its_days(read: Callable[..., Any]) -> None:
    assert read().rdd.getNumPartitions() == len(PROJECTS) * DAYS
    assert read(partition_rows=3 * ROWS).rdd.getNumPartitions() == len(PROJECTS) * 2
    assert read(partition_rows=10_000).rdd.getNumPartitions() == len(PROJECTS)


@pytest.mark.parametrize(
    ("where", "parts", "chosen"),
    [
        ("project_id = 'docs'", 4, lambda row: row["project_id"] == "docs"),
        ("project_id = '007'", 4, lambda row: row["project_id"] == "007"),
        ("project_id IN ('docs', 'blog', 'typo')", 8, lambda row: row["project_id"] != "007"),
        ("date_from >= '2024-01-03'", 6, lambda row: row["date_from"].day >= 3),
        ("date_from > '2024-01-03'", 3, lambda row: row["date_from"].day > 3),
        ("date_to <= date'2024-01-03'", 6, lambda row: row["date_to"].day <= 3),
        ("date_to < '2024-01-03'", 3, lambda row: row["date_to"].day < 3),
        ("date_from = '2024-01-02' AND total > 500", 3, lambda row: row["date_from"].day == 2 and row["total"] > 500),
        ("date_from IN (date'2024-01-02', date'2024-01-04')", 6, lambda row: row["date_from"].day in {2, 4}),
        ("project_id = 'docs' OR total < 20", 12, lambda row: row["project_id"] == "docs" or row["total"] < 20),
        ("settled AND project_id LIKE 'd%'", 12, lambda row: row["project_id"] == "docs"),
        ("NOT settled", 12, lambda row: False),
        ("settled = false", 12, lambda row: False),
        ("project_id = 'typo'", 1, lambda row: False),
    ],
)  # fmt: skip
def test_filters_leave_out_partitions(
    read: Callable[..., Any], filled: Filled, where: str, parts: int, chosen: Callable[[Any], bool]
) -> None:
    table = read().where(where)
    assert rows(table) == [row for row in filled.rows if chosen(row)]
    assert table.rdd.getNumPartitions() == parts


def test_a_join_is_that_of_pandas(session: Any, read: Callable[..., Any], filled: Filled) -> None:
    frame = pd.DataFrame(filled.rows)
    owners = pd.DataFrame({"path": sorted(set(frame["path"]))[::3], "owner": "ann"})
    joined = read().join(session.createDataFrame(owners), "path").groupBy("project_id", "owner").max("total")
    found = {(row[0], row[1]): row[2] for row in joined.collect()}
    assert found == frame.merge(owners, on="path").groupby(["project_id", "owner"])["total"].max().to_dict()


def test_what_is_cached_is_not_read_again(session: Any, filled: Filled) -> None:
    store = filled.store.with_name("cached.db")
    backup(filled.store, store)
    table = session.read.format("docplatform").option("store", str(store)).load().cache()
    assert table.count() == ALL
    store.unlink()
    assert rows(table) == filled.rows
    table.unpersist()
    with pytest.raises(PySparkException, match="there is no such file"):
        session.read.format("docplatform").option("store", str(store)).load().count()
    assert not store.exists()


def test_a_task_that_fails_is_run_again(read: Callable[..., Any], filled: Filled, tmp_path: Path) -> None:
    marker = str(tmp_path / "failed")

    def failing(batches: Iterator[Any]) -> Iterator[Any]:
        for number, batch in enumerate(batches):
            # In the middle, once for all tasks.
            try:
                open(marker, "x").close()  # noqa: PTH123
            except FileExistsError:
                yield batch
            else:
                raise RuntimeError(f"on purpose, at batch {number}")

    table = read()
    assert rows(table.mapInArrow(failing, table.schema)) == filled.rows
    assert Path(marker).exists()


@pytest.mark.parametrize("listing", LISTINGS)
def test_any_listing_is_read(session: Any, listings: Path, listing: str) -> None:
    lake = Lake.of(listings, None, "week", None, None, 2, listing)
    rows = [row for part in lake.parts(lake.slices(), 1) for row in part.read().to_pylist()]
    options = {"store": str(listings), "every": "week", "listing": listing}
    table = session.read.format("docplatform").options(**options).load()
    found = [row.asDict() for row in table.collect()]
    assert table.columns == list(rows[0])
    key = next(name for name in ("searchQuery", "id", "path") if name in rows[0])
    assert sorted((row["date_from"], row[key]) for row in found) == sorted(
        (row["date_from"], row[key]) for row in rows
    )
    if listing == "searches":
        assert {row["searchQuery"]: (row["hits"], row["ctr"]) for row in found} == {
            row["searchQuery"]: (row["hits"], row["ctr"]) for row in rows
        }


def test_no_key_goes_to_the_workers(session: Any, source: dict[str, str], filled: Filled) -> None:
    made = ListingDataSource({**source, "partition_rows": "1"})
    reader: Any = made.reader(None)
    sent = cloudpickle.dumps((made, reader, reader.partitions()))
    secret = filled.stub.api_key.rpartition("_")[2].encode()
    assert secret not in sent
    assert b"DOCPLATFORM_API_KEY" not in sent

    def environment(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        import docplatform

        for _ in batches:
            try:
                docplatform.Client()
            except docplatform.ConfigurationError as error:
                yield pa.record_batch({"said": [str(error)]})

    table = session.read.format("docplatform").options(**source).load()
    said = {row.said for row in table.mapInArrow(environment, "said string").collect()}
    assert len(said) == 1
    assert "DOCPLATFORM_API_KEY" in said.pop()


def test_a_wrong_option_is_an_error(session: Any, filled: Filled, tmp_path: Path) -> None:
    for options, text in (
        ({}, "give store="),
        ({"store": "a", "dataset": "b"}, "give store="),
        ({"store": str(filled.store), "api_key": "dp_secret"}, "unknown option of docplatform: api_key"),
        ({"store": str(filled.store), "every": "week"}, "no whole week"),
        ({"store": str(tmp_path / "none.db")}, "there is no such file"),
        ({"dataset": str(tmp_path)}, "has no files of export_dataset"),
        ({"dataset": str(filled.dataset), "every": "month"}, 'has slices of every="day"'),
    ):
        with pytest.raises(PySparkException, match=text):
            session.read.format("docplatform").options(**options).load().count()
    assert session.read.format("docplatform").load(str(filled.dataset)).count() == ALL
    assert not (tmp_path / "none.db").exists()
