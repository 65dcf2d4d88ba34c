"""A real Dask cluster of two processes: rows as pandas has them, and no request."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed  # type: ignore[import-not-found]
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import docplatform.dask
from docplatform.dask import read_listing
from docplatform.dataset.parts import Lake
from helpers.lake import COLUMNS, backup, ordered

from .conftest import DAYS, LISTINGS, PROJECTS, ROWS, Filled, check_example

ALL = len(PROJECTS) * DAYS * ROWS


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def read(cluster: Any, source: dict[str, str]) -> Callable[..., Any]:
    """The frame, a partition a slice where nothing else is said."""

    def load(**options: Any) -> Any:
        wanted: dict[str, Any] = {**source, "partition_rows": 1, **options}
        return read_listing(**wanted)

    return load


def rows(frame: Any) -> list[dict[str, Any]]:
    return ordered(frame.compute().to_dict("records"))


def test_every_row_is_there(read: Callable[..., Any], filled: Filled) -> None:
    frame = read()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == ALL
    assert rows(frame) == filled.rows
    assert frame.compute().dtypes.equals(frame.dtypes)
    kinds = frame.dtypes.astype(str).to_dict()
    assert (kinds["date_from"], kinds["total"], kinds["settled"]) == ("datetime64[s]", "int64", "bool")


def test_the_example_prints_what_it_shows(cluster: Any, filled: Filled) -> None:
    check_example(read_listing, filled.store, docplatform=docplatform)


def test_both_workers_read(cluster: Any, read: Callable[..., Any]) -> None:
    def process(frame: pd.DataFrame) -> pd.DataFrame:
        import os

        return pd.DataFrame({"pid": [os.getpid()] * len(frame)})

    pids = read().map_partitions(process, meta={"pid": "int64"})["pid"].unique().compute()
    assert set(pids) == {worker["pid"] for worker in cluster.run(_pid).values()}


def _pid() -> dict[str, int]:
    import os

    return {"pid": os.getpid()}


def test_filters_leave_out_partitions(read: Callable[..., Any], filled: Filled) -> None:
    assert read().npartitions == len(PROJECTS) * DAYS
    assert read(partition_rows=10_000).npartitions == len(PROJECTS)
    few = read(projects=["docs", "007"], date_from="2024-01-02", date_to="2024-01-04")
    assert few.npartitions == 4
    wanted = [row for row in filled.rows if row["project_id"] != "blog" and row["date_from"].day in {2, 3}]
    assert rows(few) == wanted
    none = read(date_from="2030-01-01")
    assert (none.npartitions, len(none), list(none.columns)) == (1, 0, COLUMNS)


def test_a_join_is_that_of_pandas(read: Callable[..., Any], filled: Filled) -> None:
    frame = pd.DataFrame(filled.rows)
    owners = pd.DataFrame({"path": sorted(set(frame["path"]))[::3], "owner": "ann"})
    joined = read().merge(owners, on="path").groupby(["project_id", "owner"])["total"].max()
    found = {key: int(value) for key, value in joined.compute().to_dict().items()}
    assert found == frame.merge(owners, on="path").groupby(["project_id", "owner"])["total"].max().to_dict()


def test_persisted_rows_are_not_read_again(cluster: Any, filled: Filled) -> None:
    store = filled.store.with_name("persisted.db")
    backup(filled.store, store)
    frame = read_listing(store=store).persist()
    distributed.wait(frame)
    store.unlink()
    assert rows(frame) == filled.rows
    with pytest.raises(ValueError, match="there is no such file"):
        read_listing(store=store)


def test_a_task_that_fails_is_run_again(
    cluster: Any, read: Callable[..., Any], filled: Filled, tmp_path: Path
) -> None:
    marker = str(tmp_path / "failed")

    def failing(frame: pd.DataFrame) -> pd.DataFrame:
        try:
            open(marker, "x").close()  # noqa: PTH123
        except FileExistsError:
            return frame
        raise RuntimeError("on purpose")

    frame = read()
    tried = frame.map_partitions(failing, meta=frame._meta)
    assert ordered(cluster.compute(tried, retries=2).result().to_dict("records")) == filled.rows
    assert Path(marker).exists()


@pytest.mark.parametrize("listing", LISTINGS)
def test_any_listing_is_read(cluster: Any, listings: Path, listing: Any) -> None:
    lake = Lake.of(listings, None, "week", None, None, 2, listing)
    table = pa.concat_tables([part.read() for part in lake.parts(lake.slices(), 1)])
    frame = read_listing(listing, store=listings, every="week", partition_rows=1)
    found = frame.compute()
    assert (frame.npartitions, list(found.columns)) == (2, table.column_names)
    assert found.dtypes.equals(frame.dtypes)
    assert found["project_id"].count() == table.num_rows > 0
    (first, *_) = [name for name in table.column_names if name not in COLUMNS] or ["path"]
    assert list(found[first]) == table[first].to_pylist()


def test_no_key_goes_to_the_workers(read: Callable[..., Any], filled: Filled) -> None:
    sent = pickle.dumps(read().optimize().dask)
    assert filled.stub.api_key.rpartition("_")[2].encode() not in sent
    assert b"DOCPLATFORM_API_KEY" not in sent
