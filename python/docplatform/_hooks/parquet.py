"""Reads and writes Parquet files with whichever library is installed. A note in each file of a dataset says what it contains."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

_KEY = "docplatform"


def write(module: str, table: Any, path: str | os.PathLike[str], note: str | None = None) -> None:
    """Writes a table that Arrow can stream."""
    if module == "pyarrow":
        arrow = import_module("pyarrow").table(table)
        if note is not None:
            arrow = arrow.replace_schema_metadata({_KEY: note})
        import_module("pyarrow.parquet").write_table(arrow, path)
    elif module == "polars":
        noted = {} if note is None else {"metadata": {_KEY: note}}
        import_module("polars").DataFrame(table).write_parquet(path, **noted)
    else:
        noted_too = "" if note is None else f", kv_metadata {{{_KEY}: {_quoted(note)}}}"
        with import_module("duckdb").connect() as connection:
            connection.register("visitors", table)
            # The file has no name yet, so DuckDB cannot create a temporary file beside it.
            into = f"(FORMAT parquet, USE_TMP_FILE false{noted_too})"
            connection.execute(f"COPY visitors TO {_quoted(str(path))} {into}")


def read_note(module: str, path: str | os.PathLike[str]) -> str | None:
    """The note in a file; ``None`` if there is none, or if it is not a Parquet file."""
    if module == "pyarrow":
        pyarrow = import_module("pyarrow")
        try:
            found = import_module("pyarrow.parquet").read_metadata(path).metadata or {}
        except pyarrow.ArrowInvalid:
            return None
        note = found.get(_KEY.encode())
        return None if note is None else note.decode()
    if module == "polars":
        polars = import_module("polars")
        try:
            found = polars.read_parquet_metadata(path)
        except polars.exceptions.ComputeError:
            return None
        return None if _KEY not in found else str(found[_KEY])
    duckdb = import_module("duckdb")
    with duckdb.connect() as connection:
        look = f"SELECT decode(value) FROM parquet_kv_metadata({_quoted(str(path))}) WHERE decode(key) = '{_KEY}'"  # noqa: S608
        try:
            row = connection.execute(look).fetchone()
        except duckdb.Error:
            return None
    return None if row is None else str(row[0])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
