"""A table as a frame of the libraries that people use, each imported only here."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from docplatform._native import _WholeFile

if TYPE_CHECKING:
    import os

    from docplatform._native import VisitorTable

# What each way needs: one of these modules, the first that is there.
_MODULES = {
    "to_pandas": ("pandas",),
    "to_polars": ("polars",),
    "to_arrow": ("pyarrow",),
    "to_parquet": ("pyarrow", "polars", "duckdb"),
    "write_arrow": ("pyarrow", "polars"),
}
_EXTRAS = {
    "to_pandas": "pandas",
    "to_polars": "polars",
    "to_arrow": "arrow",
    "to_parquet": "arrow",
    "write_arrow": "arrow",
}


def need(way: str) -> str:
    """The module for ``way``; an ``ImportError`` that says how to get it."""
    modules = _MODULES[way]
    for module in modules:
        if find_spec(module) is not None:
            return module
    missing = " or ".join(modules)
    raise ImportError(f'{way}() needs {missing}: pip install "docplatform[{_EXTRAS[way]}]"', name=modules[0])


def to_pandas(table: VisitorTable) -> Any:
    """A ``DataFrame``: ``path`` as pandas has texts by default, counts as int64, whatever else came as nullable columns."""
    need("to_pandas")
    import numpy as np
    import pandas as pd

    columns: dict[str, Any] = {"path": _texts(pd, table)}
    for name in ("human", "ai", "total"):
        # The bytearray is this column's alone, so that the frame may be written to.
        columns[name] = np.frombuffer(table._counts(name), dtype=np.int64)
    dtypes = {"int": "Int64", "float": "float64", "bool": "boolean"}
    for name, (kind, values) in table._extras().items():
        columns[name] = pd.Series(values, dtype=dtypes.get(kind, columns["path"].dtype))
    return pd.DataFrame(columns, copy=False)


def _texts(pd: Any, table: VisitorTable) -> Any:
    """The paths, of the dtype that this pandas gives to texts."""
    dtype = pd.Series([""]).dtype
    if getattr(dtype, "storage", None) == "pyarrow":
        return pd.array(to_arrow(table).column("path"), dtype=dtype)
    return pd.Series(table._paths(), dtype=dtype)


def to_polars(table: VisitorTable) -> Any:
    """A ``polars.DataFrame`` on the same memory."""
    need("to_polars")
    return import_module("polars").DataFrame(table)


def to_arrow(table: VisitorTable) -> Any:
    """A ``pyarrow.Table`` on the same memory."""
    need("to_arrow")
    return import_module("pyarrow").table(table)


def to_parquet(table: VisitorTable, path: str | os.PathLike[str]) -> int:
    """A Parquet file; returns the number of rows."""
    need("to_parquet")
    return write_parquet(table, _WholeFile(path))


def write_parquet(table: VisitorTable, file: _WholeFile) -> int:
    """The same into a file that was begun before."""
    try:
        module = need("to_parquet")
        if module == "pyarrow":
            import_module("pyarrow.parquet").write_table(to_arrow(table), file.path)
        elif module == "polars":
            to_polars(table).write_parquet(file.path)
        else:
            with import_module("duckdb").connect() as connection:
                connection.register("visitors", table)
                connection.table("visitors").write_parquet(file.path)
        file.commit()
    finally:
        file.discard()
    return len(table)


def write_arrow(table: VisitorTable, file: _WholeFile) -> int:
    """An Arrow IPC file, also called Feather; returns the number of rows."""
    module = need("write_arrow")
    try:
        if module == "pyarrow":
            arrow = to_arrow(table)
            with import_module("pyarrow").ipc.new_file(file.path, arrow.schema) as writer:
                writer.write_table(arrow)
        else:
            to_polars(table).write_ipc(file.path)
        file.commit()
    finally:
        file.discard()
    return len(table)
