"""Every engine of the guide reads the same rows with the line that the guide shows."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

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
    "DuckDB": lambda found: found.fetch_arrow_table().to_pylist(),
    "Arrow": lambda dataset: dataset.to_table().to_pylist(),
    "Dask": lambda frame: frame.compute().to_dict("records"),
    "Spark": lambda table: (row.asDict() for row in table.collect()),
}
FILES = len(PROJECTS) * DAYS


def names(line: str) -> dict[str, Any]:
    """The modules of a line, and Spark's session. Where there is no Java its test is skipped; on GitHub it fails."""
    module = re.match(r"\w+(?:\.\w+)*(?=\.)", line)
    assert module
    if module[0] != "spark.read":
        importlib.import_module(module[0])
        return {module[0].partition(".")[0]: sys.modules[module[0].partition(".")[0]]}
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        (pytest.fail if os.environ.get("GITHUB_ACTIONS") else pytest.skip)("no Java: `make java` installs it")
    session = importlib.import_module("pyspark.sql").SparkSession
    local = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    return {"spark": session.builder.master("local[2]").config(map=local).getOrCreate()}


def test_the_guide_has_a_line_for_every_engine() -> None:
    assert set(LINES) == {*ROWS_OF, "Ray"}


@pytest.mark.parametrize("engine", ROWS_OF)
def test_an_engine_reads_every_row_from_a_folder(
    filled: Filled, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(filled.dataset.parent)
    line = LINES[engine][0]
    assert ordered(ROWS_OF[engine](eval(line, names(line)))) == filled.rows


@pytest.fixture(scope="module")
def exported(filled: Filled, s3: Any) -> DatasetReport:
    return export_dataset("s3://bucket/lake", store=filled.store)


@pytest.mark.parametrize("engine", [engine for engine in ROWS_OF if engine != "Spark"])
def test_an_engine_reads_every_row_from_an_object_store(
    filled: Filled, exported: DatasetReport, engine: str
) -> None:
    """Spark would need Hadoop's files for S3, and DuckDB its own extension: s3fs stands in for that."""
    line = LINES[engine][1]
    known = names(line)
    if engine == "DuckDB":
        import s3fs  # type: ignore[import-not-found]

        known["duckdb"].register_filesystem(s3fs.S3FileSystem())
    assert ordered(ROWS_OF[engine](eval(line, known))) == filled.rows


def test_a_second_run_writes_only_what_is_new(filled: Filled, exported: DatasetReport, s3: Any) -> None:
    assert exported == DatasetReport(FILES, 0, FILES * ROWS, 0)
    for where in ({}, {"filesystem": s3}):
        target = "bucket/lake" if where else "s3://bucket/lake"
        assert export_dataset(target, store=filled.store, **where) == DatasetReport(0, FILES, 0, 0)
    s3.delete_file("bucket/lake/listing=visitors/project=blog/date=2024-01-02/part-0.parquet")
    assert export_dataset("s3://bucket/lake", store=filled.store) == DatasetReport(1, FILES - 1, ROWS, 0)


KILLED = """
import os, signal, sys
import docplatform
from docplatform.dataset import places

put, count = places.Remote._put, 0

def killing(self, path, data):
    global count
    count += 1
    if count <= 3:
        return put(self, path, data)
    with self._system.open_output_stream(path) as stream:
        stream.write(data.slice(0, 100))
        os.kill(os.getpid(), signal.SIGKILL)

places.Remote._put = killing
docplatform.export_dataset("s3://bucket/killed", store=sys.argv[1])
"""


def test_a_run_that_is_killed_leaves_whole_files_only(filled: Filled, s3: Any) -> None:
    assert run_script(KILLED, str(filled.store), env=dict(os.environ)).status == -signal.SIGKILL
    assert export_dataset("s3://bucket/killed", store=filled.store) == DatasetReport(
        FILES - 3, 3, (FILES - 3) * ROWS, 0
    )
