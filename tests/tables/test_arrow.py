"""Arrow's PyCapsule interface: the same memory for every library, and never a request."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import duckdb
import nanoarrow  # type: ignore[import-untyped]
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from docplatform import VisitorTable
from docplatform.testing import StubServer
from helpers.exports import ROWS, collect
from helpers.marks import linux
from helpers.pages import row

COUNT = pa.int64()
SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        *(pa.field(name, COUNT, nullable=False) for name in ("human", "ai", "total")),
    ]
)


@pytest.fixture(scope="module")
def table() -> VisitorTable:
    return collect(ROWS)


@pytest.fixture(scope="module")
def empty() -> VisitorTable:
    return collect([], max_rows=0)


def test_pyarrow_reads_a_table(table: VisitorTable) -> None:
    for made in (
        table.to_arrow(),
        pa.table(table),
        pa.RecordBatchReader.from_stream(table).read_all(),
    ):
        assert made.schema == SCHEMA
        assert made.to_pylist() == ROWS
        made.validate(full=True)


def test_duckdb_scans_a_table_several_times_and_finds_it_by_its_name(table: VisitorTable) -> None:
    with duckdb.connect() as connection:
        connection.register("visitors", table)

        def ask(query: str) -> list[Any]:
            return connection.execute(query).fetchall()

        for _ in range(2):
            assert ask("select count(*), sum(human) from visitors") == [(600, sum(range(600)))]
        joined = (
            "select count(*) from visitors a join visitors b using (path) where a.human + b.ai = 3 * a.human"
        )
        assert ask(joined) == [(600,)]
    visitors = table
    assert duckdb.execute("select max(human) from visitors").fetchall() == [(599,)]
    assert visitors is table


def test_nanoarrow_reads_a_table(table: VisitorTable, empty: VisitorTable) -> None:
    library: Any = nanoarrow
    for each, rows in ((table, ROWS), (empty, [])):
        assert [field.name for field in library.Schema(each).fields] == list(SCHEMA.names)
        read = library.ArrayStream(each).read_all()
        assert list(read.iter_py()) == rows
        assert len(read) == len(rows)


def test_a_table_without_rows_has_all_columns(empty: VisitorTable) -> None:
    assert empty.to_arrow().schema == SCHEMA
    assert empty.to_polars().columns == list(SCHEMA.names)
    assert (empty.to_arrow().num_rows, empty.to_polars().height) == (0, 0)
    visitors = empty
    assert duckdb.execute("select count(*), max(path) from visitors").fetchall() == [(0, None)]
    assert visitors is empty
    assert pa.schema(empty) == SCHEMA


def test_a_name_that_the_c_interface_cannot_have_loses_no_row() -> None:
    found = collect([row(1, **{"a\0b": 1})])
    assert found.to_arrow().column_names[-1] == found.to_polars().columns[-1] == "a\ufffdb"
    assert found.to_pandas().columns[-1] == list(found[0])[-1] == "a\0b"


def test_no_bytes_are_copied(table: VisitorTable) -> None:
    def addresses(made: pa.Table) -> list[int]:
        chunks = [chunk for column in made.columns for chunk in column.chunks]
        return [buffer.address for chunk in chunks for buffer in chunk.buffers() if buffer is not None]

    one, other = table.to_arrow(), pa.table(table)
    assert addresses(one) == addresses(other)
    assert len(addresses(one)) == 5
    polars_frame = table.to_polars()
    assert polars_frame["human"].to_arrow().buffers()[1].address == one["human"].chunk(0).buffers()[1].address


def test_arrow_data_outlives_the_table() -> None:
    table = collect(ROWS)
    made, stream = table.to_arrow(), table.__arrow_c_stream__()
    del table
    gc.collect()
    assert made.to_pylist() == ROWS
    assert pa.RecordBatchReader._import_from_c_capsule(stream).read_all().to_pylist() == ROWS


def test_a_requested_schema_may_be_ignored(table: VisitorTable) -> None:
    wish = pa.schema([("path", pa.large_string())])
    stream = table.__arrow_c_stream__(wish.__arrow_c_schema__())
    assert pa.RecordBatchReader._import_from_c_capsule(stream).schema == SCHEMA
    assert table.__arrow_c_stream__(requested_schema=None) is not None
    # The reader casts what it gets.
    wide = SCHEMA.set(0, pa.field("path", pa.large_string(), nullable=False))
    assert pa.RecordBatchReader.from_stream(table, schema=SCHEMA).read_all().to_pylist() == ROWS
    assert pa.table(table).cast(wide).to_pylist() == ROWS


def test_capsules_are_of_their_kind(table: VisitorTable) -> None:
    assert '"arrow_schema"' in repr(table.__arrow_c_schema__())
    assert '"arrow_array_stream"' in repr(table.__arrow_c_stream__())
    # Read once, as the protocol has it.
    stream = table.__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(stream).read_all()
    with pytest.raises(pa.ArrowInvalid, match="released"):
        pa.RecordBatchReader._import_from_c_capsule(stream)


@linux
def test_unread_capsules_leak_nothing() -> None:
    with StubServer(visitors=10_000) as stub, stub.client() as client:
        pickled = pickle.dumps(client.visitors().collect())

    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * 4096

    def drop(rounds: int) -> None:
        for _ in range(rounds):
            table = pickle.loads(pickled)
            table.__arrow_c_stream__()
            table.__arrow_c_schema__()
            pa.RecordBatchReader.from_stream(table).read_next_batch()

    drop(5)
    before = resident()
    drop(60)
    # Sixty tables would be some 35 MiB.
    assert resident() - before < 12 * 2**20
