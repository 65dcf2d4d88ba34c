"""A table as a frame of pandas, polars or pyarrow. Each library is imported only when it is used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from docplatform._hooks import parquet
from docplatform._native import _WholeFile

if TYPE_CHECKING:
    import os

    from docplatform._native import Table

# The modules that each method can use. It takes the first one that is installed.
_MODULES = {
    "to_pandas": ("pandas",),
    "to_polars": ("polars",),
    "to_arrow": ("pyarrow",),
    "to_parquet": ("pyarrow", "polars", "duckdb"),
    "to_excel": ("xlsxwriter",),
    "write_arrow": ("pyarrow", "polars"),
    "export_dataset": ("pyarrow", "polars", "duckdb"),
    "docplatform.otel.instrument": ("opentelemetry",),
    "object_store": ("pyarrow",),
}
# The kinds of columns that are numbers in memory, and their types.
_NUMBERS = {
    "days": "datetime64[D]",
    "count": "int64",
    "int": "int64",
    "float": "float64",
    "time": "datetime64[us]",
}
# The extra that brings a module.
_EXTRAS = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "opentelemetry": "otel",
    "xlsxwriter": "excel",
}


def need(way: str, called: str | None = None) -> str:
    """The module for ``way``; an ``ImportError`` that says how to get it."""
    modules = _MODULES[way]
    for module in modules:
        if find_spec(module) is not None:
            return module
    raise ImportError(needs(way, called or f"{way}()"), name=modules[0])


def needs(way: str, called: str) -> str:
    """How to get a module for ``way``, by the name that a reader knows it by."""
    modules = _MODULES[way]
    return f'{called} needs {" or ".join(modules)}: pip install "docplatform[{_EXTRAS[modules[0]]}]"'


def attempt(make: Callable[[Table], Any], table: Table) -> tuple[Any, None] | tuple[None, Exception]:
    """The result of ``make``, or its error. The extension adds the table to the error."""
    try:
        return make(table), None
    except Exception as error:  # noqa: BLE001  # the extension raises it
        return None, error


def to_pandas(table: Table) -> Any:
    """A ``DataFrame``: texts in pandas' default type, days and instants as datetimes, counts as int64, integers and bools that may have gaps in nullable types, and floats as float64."""
    need("to_pandas")
    import numpy as np
    import pandas as pd

    text = pd.Series([""]).dtype
    dtypes = {"int": "Int64", "float": "float64", "bool": "boolean", "text": text, "json": text}
    columns: dict[str, Any] = {}
    schema = table._schema()
    for name, kind, is_own in schema:
        if not is_own:
            break
        if kind in _NUMBERS:
            # Each column has a bytearray of its own, so that the frame is writable.
            values: Any = np.frombuffer(table._numbers(name), dtype=_NUMBERS[kind])
            if kind == "days":
                values = values.astype("datetime64[s]")
            elif kind == "int":
                values = pd.arrays.IntegerArray(values, np.frombuffer(table._missing(name), dtype=np.bool_))
            elif kind == "time":
                values = pd.DatetimeIndex(values).tz_localize("UTC")
        elif getattr(dtypes[kind], "storage", None) == "pyarrow":
            # The type of texts depends on the version of pandas.
            values = pd.array(to_arrow(table).column(name), dtype=dtypes[kind])
        else:
            values = pd.Series(table._values(name), dtype=dtypes[kind])
        columns[name] = values
    kinds = [kind for _, kind, is_own in schema if not is_own]
    for kind, (name, values) in zip(kinds, table._extras().items(), strict=True):
        columns[name] = pd.Series(values, dtype=dtypes[kind])
    return pd.DataFrame(columns, index=None if columns else range(len(table)), copy=False)


def to_polars(table: Table) -> Any:
    """A ``polars.DataFrame`` on the same memory."""
    need("to_polars")
    return import_module("polars").DataFrame(table)


def to_arrow(table: Table) -> Any:
    """A ``pyarrow.Table`` on the same memory."""
    need("to_arrow")
    return import_module("pyarrow").table(table)


def to_parquet(table: Table, path: str | os.PathLike[str]) -> int:
    """A Parquet file; returns the number of rows."""
    return _to_file("to_parquet", table, path)


def to_excel(table: Table, path: str | os.PathLike[str]) -> int:
    """An Excel workbook; returns the number of rows."""
    return _to_file("to_excel", table, path)


def _to_file(way: str, table: Table, path: str | os.PathLike[str]) -> int:
    need(way)
    with _WholeFile(path) as file:
        rows = encode(way, table, file)
        file.commit()
    return rows


def encode(way: str, table: Table, file: _WholeFile) -> int:
    """Writes the table under the temporary name of ``file``. The caller commits it."""
    # After an error it is deleted now, because the traceback would keep it.
    with file:
        module = need(way)
        if way == "to_excel":
            import_module("docplatform._hooks.excel").write(table, file.path)
        else:
            parquet.write(module, table, file.path)
    return len(table)


def write_arrow(table: Table, file: _WholeFile) -> int:
    """An Arrow IPC file, also called Feather; returns the number of rows."""
    module = need("write_arrow")
    with file:
        if module == "pyarrow":
            arrow = to_arrow(table)
            with import_module("pyarrow").ipc.new_file(file.path, arrow.schema) as writer:
                writer.write_table(arrow)
        else:
            to_polars(table).write_ipc(file.path)
        file.commit()
    return len(table)
