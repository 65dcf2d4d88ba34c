"""A store in parts, for processes that know only its path."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from docplatform import export_dataset
from docplatform.dask import read_listing
from docplatform.dataset.parts import Lake, Part, schema
from docplatform.spark import ListingDataSource, register
from docplatform.testing import StubServer
from helpers.lake import COLUMNS, alter, expected, fill, ordered
from helpers.pages import page, row, rows, serve


def parts(most: int = 1, **where: Any) -> list[Part]:
    lake = Lake.of(
        where.get("store"),
        where.get("dataset"),
        where.get("every"),
        where.get("base_url"),
        where.get("organization"),
        2,
    )
    return lake.parts(lake.slices(), most)


def read(part: Part) -> list[dict[str, Any]]:
    return list(part.read().to_pylist())


def test_parts_are_of_one_project_and_of_limited_size(store: Path, tmp_path: Path) -> None:
    with StubServer(visitors=10, projects=("a", "b")) as stub:
        fill(store, stub, ("a", "b"))
        whole = ordered(line for project in ("a", "b") for line in expected(stub, store, project))
    export_dataset(tmp_path / "lake", store=store)
    for where in ({"store": store}, {"dataset": tmp_path / "lake"}):
        for most, sizes in ((1, [10] * 8), (29, [20] * 4), (30, [30, 10] * 2), (10_000, [40] * 2)):
            made = parts(most, **where)
            assert [len(read(part)) for part in made] == sizes
            assert all(len({line["project_id"] for line in read(part)}) == 1 for part in made)
            assert ordered(line for part in made for line in read(part)) == whole
            assert all(part.read().schema.equals(schema()) for part in made)


def test_a_part_does_not_change_when_the_store_does(store: Path) -> None:
    with StubServer(rows(0, 3)) as stub:
        fill(store, stub, date_to="2024-01-02")
        (part,) = parts(store=store)
        before = read(part)
        serve(stub, page([row(9)]))
        with stub.client(store=store) as client:
            client.visitors(date_from="2024-01-01", date_to="2024-01-02", refresh=True).collect()
    assert read(part) == before
    (later,) = parts(store=store)
    assert len(read(later)) == 1
    alter(store, "DELETE FROM export WHERE id = (SELECT min(id) FROM export)")
    with pytest.raises(Exception, match="deleted meanwhile"):
        read(part)


def test_a_part_drops_repeats_as_a_client_does(store: Path) -> None:
    given = rows(0, 600)
    # Row 3 comes again, a page later and then two.
    given[300] = given[550] = given[3]
    with StubServer(given) as stub:
        day = stub.client(store=store).visitors(date_from="2024-01-01", date_to="2024-01-02")
        with pytest.warns(UserWarning, match="twice, unchanged"):
            fetched = day.collect()
        (part,) = parts(store=store)
        assert [(line["path"], line["total"]) for line in read(part)] == [
            (line["path"], line["total"]) for line in fetched
        ]
    assert len(fetched) == 598


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_other_processes_read_the_parts(stub: StubServer, store: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"a platform without {method}")
    fill(store, stub)
    sent = len(stub.requests)
    made = parts(store=store)
    # What this process has open and running is not to be in a child's way.
    here = [read(part) for part in made]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(read, made)) == here
    assert ordered(line for lines in here for line in lines) == ordered(expected(stub, store))
    assert len(stub.requests) == sent
    assert stub.api_key.rpartition("_")[2].encode() not in pickle.dumps(made)


def test_a_wrong_source_is_an_error(stub: StubServer, store: Path, tmp_path: Path) -> None:
    fill(store, stub)
    export_dataset(tmp_path / "lake", store=store)
    for where, text in (
        ({}, "give store="),
        ({"store": store, "dataset": tmp_path / "lake"}, "give store="),
        ({"dataset": tmp_path / "lake", "organization": "acme"}, "a dataset has only one"),
        ({"dataset": tmp_path / "lake", "every": "week"}, 'has slices of every="day"'),
        ({"dataset": tmp_path}, "has no files"),
        ({"store": tmp_path / "none.db"}, "there is no such file"),
    ):
        with pytest.raises(ValueError, match=text):
            parts(**where)
    with pytest.raises(ValueError, match="partition_rows"):
        parts(0, store=store)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"projects": ["demo", "typo"]}, ValueError, "projects: .*typo.*those of .demo"),
        ({"date_from": "2024-01-05", "date_to": "2024-01-01"}, ValueError, "not before"),
        ({"date_from": datetime.fromisoformat("2024-01-01T12:00")}, ValueError, "must be a day"),
        ({"date_from": 3}, TypeError, "date_from must be"),
        ({"projects": 5}, TypeError, "projects must be"),
    ],
)
def test_a_store_and_a_dataset_refuse_the_same(
    stub: StubServer, store: Path, tmp_path: Path, wrong: dict[str, Any], error: type[Exception], text: str
) -> None:
    fill(store, stub)
    export_dataset(tmp_path / "lake", store=store)
    for lake in (
        Lake.of(store, None, None, None, None, 2),
        Lake.of(None, tmp_path / "lake", None, None, None, 2),
    ):
        with pytest.raises(error, match=text):
            lake.slices(**wrong)
        midnight = datetime.fromisoformat("2024-01-02")
        assert len(lake.slices(iter(["demo"]), midnight)) == 3


def test_a_missing_engine_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dask", "pyspark"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'needs dask: pip install "docplatform\[dask\]"'):
        read_listing(store=store)
    with pytest.raises(ImportError, match=r'needs pyspark: pip install "docplatform\[spark\]"'):
        register(None)


def test_a_source_has_the_columns_of_a_dataset(store: Path) -> None:
    source = ListingDataSource({"store": str(store)})
    columns = dict(column.split(" ", 1) for column in source.schema().split(", "))
    assert list(columns) == COLUMNS
    assert columns["date_from"] == "DATE NOT NULL"
    assert columns["extra"] == "STRING"
    with pytest.raises(ValueError, match="unknown option of docplatform: api_key"):
        ListingDataSource({"api_key": "dp_secret"})
    for wrong in ({"settle_days": "two"}, {"partition_rows": "1e5"}, {"settle_days": "-1"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a whole number"):
            ListingDataSource({"store": str(store), **wrong})
