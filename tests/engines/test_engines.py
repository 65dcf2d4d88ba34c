"""Every engine of the guide but Ray reads the same rows with the line that the guide shows."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from docplatform import DatasetReport, export_dataset
from helpers.lake import ordered
from helpers.scripts import run_script

from .conftest import DAYS, PROJECTS, ROWS, Filled

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "engines.md").read_text(encoding="utf-8")
LINES = {row[0]: row[1:] for row in re.findall(r"^\| (\w+) \| `(.*)` \| `(.*)` \|$", GUIDE, re.MULTILINE)}
ROWS_OF: dict[str, Callable[[Any], Iterable[dict[str, Any]]]] = {
    "pandas": lambda frame: frame.to_dict("records"),
    "polars": lambda frame: frame.collect().to_dicts(),
    "DuckDB": lambda found: [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()],
    "Arrow": lambda dataset: dataset.to_table().to_pylist(),
    "Dask": lambda frame: frame.compute().to_dict("records"),
    "Spark": lambda table: (row.asDict() for row in table.collect()),
}
FILES = len(PROJECTS) * DAYS
LAKE = "s3://bucket/lake"


def names(line: str) -> dict[str, Any]:
    """The modules of a line, or Spark's session. Without Java its test is skipped; on GitHub it fails."""
    module = re.match(r"\w+(?:\.\w+)*(?=\.)", line)
    assert module
    if module[0] != "spark.read":
        importlib.import_module(module[0])
        package = module[0].partition(".")[0]
        return {package: sys.modules[package]}
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        (pytest.fail if os.environ.get("GITHUB_ACTIONS") else pytest.skip)("no Java: `make java` installs it")
    session = importlib.import_module("pyspark.sql").SparkSession
    local = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    return {"spark": session.builder.master("local[2]").config(map=local).getOrCreate()}


def rows(engine: str, line: str) -> list[dict[str, Any]]:
    return ordered(ROWS_OF[engine](eval(line, names(line))))


def test_the_guide_has_a_line_for_every_engine() -> None:
    assert set(LINES) == {*ROWS_OF, "Ray"}


@pytest.mark.parametrize("engine", ROWS_OF)
def test_an_engine_reads_every_row_from_a_folder(
    filled: Filled, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled.dataset.parent)
    assert rows(engine, LINES[engine][0]) == filled.rows


@pytest.fixture(scope="module")
def exported(filled: Filled, s3: Any) -> DatasetReport:
    return export_dataset(LAKE, store=filled.store)


@pytest.fixture
def httpfs(s3: Any) -> None:
    """DuckDB's extension and its secret. DuckDB would download the extension."""
    import duckdb

    (extension,) = (files("duckdb_extension_httpfs") / "extensions" / f"v{duckdb.__version__}").iterdir()
    duckdb.sql(f"LOAD '{extension}'")
    place = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")
    duckdb.sql(
        f"CREATE OR REPLACE SECRET (TYPE s3, KEY_ID 'key', SECRET 'secret', ENDPOINT '{place}', URL_STYLE path, USE_SSL false)"
    )


@pytest.mark.usefixtures("exported", "httpfs")
@pytest.mark.parametrize("engine", [engine for engine in ROWS_OF if engine != "Spark"])
def test_an_engine_reads_every_row_from_an_object_store(filled: Filled, engine: str) -> None:
    """Spark would need Hadoop's files for S3."""
    assert rows(engine, LINES[engine][1]) == filled.rows


def test_a_second_run_writes_only_what_is_new(filled: Filled, exported: DatasetReport, s3: Any) -> None:
    assert exported == DatasetReport(FILES, 0, FILES * ROWS, 0)
    assert export_dataset(LAKE, store=filled.store) == DatasetReport(0, FILES, 0, 0)
    assert export_dataset("bucket/lake/", store=filled.store, filesystem=s3) == DatasetReport(0, FILES, 0, 0)
    s3.delete_file("bucket/lake/listing=visitors/project=docs/date=2024-01-02/part-0.parquet")
    assert export_dataset(LAKE, store=filled.store) == DatasetReport(1, FILES - 1, ROWS, 0)


def test_an_object_of_somebody_else_is_left_alone(filled: Filled, s3: Any) -> None:
    name = "bucket/other/listing=visitors/project=docs/date=2024-01-01/part-0.parquet"
    with s3.open_output_stream(name) as stream:
        stream.write(b"another file")
    with pytest.raises(ValueError, match="was not written by this version"):
        export_dataset("s3://bucket/other", store=filled.store)
    with s3.open_input_file(name) as file:
        assert file.read() == b"another file"


def test_a_bucket_that_is_missing_is_named(filled: Filled, s3: Any) -> None:
    with pytest.raises(OSError, match="'nope'"):
        export_dataset("s3://nope/lake", store=filled.store)


KILLED = """
import itertools, os, signal, sys
import docplatform
from docplatform.dataset import places

put, count = places.Remote._put, itertools.count()

def killing(self, path, data):
    if next(count) < 3:
        return put(self, path, data)
    with self._system.open_output_stream(path) as stream:
        stream.write(data.slice(0, 100))
        os.kill(os.getpid(), signal.SIGKILL)

places.Remote._put = killing
docplatform.export_dataset("s3://bucket/killed", store=sys.argv[1])
"""


def test_a_run_that_is_killed_leaves_whole_files_only(filled: Filled, s3: Any) -> None:
    assert run_script(KILLED, str(filled.store), env=dict(os.environ)).status == -signal.SIGKILL
    selector = importlib.import_module("pyarrow.fs").FileSelector(
        "bucket/killed", allow_not_found=True, recursive=True
    )
    there = [info.path for info in s3.get_file_info(selector) if info.is_file]
    for path in there:
        with s3.open_input_file(path) as file:
            assert pq.read_metadata(file).num_rows == ROWS
    rest = FILES - len(there)
    assert rest >= FILES - 3
    report = export_dataset("s3://bucket/killed", store=filled.store)
    assert report == DatasetReport(rest, len(there), rest * ROWS, 0)
