//! `VisitorTable` and `TrendTable`: what came, and what it is handed on as.

pub(crate) mod arrow;
pub(crate) mod data;
pub(crate) mod dataset;
pub(crate) mod plan;
pub(crate) mod sync;
pub(crate) mod whole_file;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict, PyList, PyString, PyTuple};

use crate::dates::slices::Slice;
use crate::listing::rows::Totals;
use crate::python::convert;
use crate::python::listing::rows;
use crate::python::table::data::{Data, Meta, frame, load};
use crate::table::extras;
use crate::table::formats::{Encoder, Format};
use crate::table::{CountColumn, Table};

/// A table of Python's; both kinds do the same with their rows.
macro_rules! table {
    ($Name:ident, $name:literal, $load:literal, $html:literal, $doc:literal, { $($more:tt)* }) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "docplatform", sequence)]
        pub(crate) struct $Name(Data);

        impl $Name {
            pub(crate) fn new(table: Arc<Table>, meta: Meta) -> Self {
                Self(Data { table, meta })
            }
        }

        impl std::ops::Deref for $Name {
            type Target = Data;

            fn deref(&self) -> &Data {
                &self.0
            }
        }

        #[pymethods]
        impl $Name {
            $($more)*

            /// The project.
            #[getter]
            fn project_id(&self) -> Option<&str> {
                self.meta.project_id.as_deref()
            }

            /// How many requests it cost, retries included.
            #[getter]
            fn requests(&self) -> u64 {
                self.meta.requests
            }

            /// What was found on the way: data that moved, short pages, invalid characters.
            #[getter]
            fn warnings(&self) -> Vec<String> {
                self.meta.warnings.clone()
            }

            fn __len__(&self) -> usize {
                self.table.len()
            }

            fn __getitem__(slf: &Bound<'_, Self>, at: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                if let Ok(name) = at.cast::<PyString>() {
                    return Err(data::no_column(slf.as_any(), name)?);
                }
                slf.get().at(slf.py(), at)
            }

            fn __iter__(&self) -> TableRows {
                TableRows { table: Arc::clone(&self.table), next: AtomicUsize::new(0) }
            }

            /// The schema: `path`, `human`, `ai`, `total`, then whatever else the service sent.
            fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
                arrow::schema(py, &*self.table.schema()?)
            }

            /// The rows, in the memory that they are in; may be asked for any number of times.
            #[pyo3(signature = (requested_schema = None))]
            fn __arrow_c_stream__<'py>(
                &self,
                py: Python<'py>,
                requested_schema: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyCapsule>> {
                let _ = requested_schema;
                arrow::stream(py, self.table.reader()?)
            }

            /// A `pandas.DataFrame`.
            fn to_pandas(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                frame(slf.into_any(), "to_pandas")
            }

            /// A `polars.DataFrame`.
            fn to_polars(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                frame(slf.into_any(), "to_polars")
            }

            /// A `pyarrow.Table`.
            fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                frame(slf.into_any(), "to_arrow")
            }

            /// A list of dicts.
            pub(crate) fn to_dicts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let mut dicts = rows::Dicts::new(py, self.table.columns());
                let made: PyResult<Vec<_>> = self.table.records().map(|row| dicts.make(row)).collect();
                Ok(PyList::new(py, made?)?.into_any().unbind())
            }

            /// Writes a CSV file; returns the number of rows.
            #[pyo3(signature = (path, *, escape_formulas = true, bom = false))]
            fn to_csv(
                &self,
                py: Python<'_>,
                path: &Bound<'_, PyAny>,
                escape_formulas: bool,
                bom: bool,
            ) -> PyResult<usize> {
                self.write(py, path, Format::Csv { escape_formulas, bom })
            }

            /// Writes a JSON Lines file; returns the number of rows.
            fn to_jsonl(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<usize> {
                self.write(py, path, Format::JsonLines)
            }

            /// Writes a Parquet file with pyarrow, polars or duckdb; returns the number of rows.
            fn to_parquet(slf: Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                let frames = slf.py().import("docplatform._hooks.frames")?;
                Ok(frames.getattr("to_parquet")?.call1((slf, path))?.unbind())
            }

            /// Writes an Excel workbook with `XlsxWriter`; returns the number of rows.
            fn to_excel(slf: Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                let frames = slf.py().import("docplatform._hooks.frames")?;
                Ok(frames.getattr("to_excel")?.call1((slf, path))?.unbind())
            }

            fn __repr__(&self) -> String {
                self.repr($name)
            }

            fn __str__(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                let shown = slf.py().import("docplatform._hooks.shown")?;
                Ok(shown.getattr("text")?.call1((slf,))?.unbind())
            }

            /// The columns and their types, as people name them.
            fn _schema(&self) -> PyResult<Vec<(String, &'static str)>> {
                Ok(data::kinds(&*self.table.schema()?))
            }

            fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                let html = slf.py().import("docplatform._hooks.notebook")?;
                Ok(html.getattr($html)?.call1((slf,))?.unbind())
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
                let (meta, lines) = py
                    .detach(|| {
                        let mut lines = Vec::new();
                        Encoder::new(Format::JsonLines).encode(self.table.rows(), &mut lines)?;
                        Ok((serde_json::to_string(&self.meta)?, lines))
                    })
                    .map_err(|error: std::io::Error| PyOSError::new_err(error.to_string()))?;
                let load = py.import("docplatform._native")?.getattr($load)?;
                let arguments = (meta, PyBytes::new(py, &lines)).into_pyobject(py)?;
                Ok((load, arguments.into_any()))
            }

            /// A column of counts, as 64-bit integers of this machine.
            fn _counts<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
                let which = match name {
                    "human" => CountColumn::Human,
                    "ai" => CountColumn::Ai,
                    "total" => CountColumn::Total,
                    _ => return Err(PyValueError::new_err("no such column")),
                };
                PyByteArray::new_with(py, self.table.len() * 8, |bytes| {
                    let values = self.table.counts(which).flatten();
                    for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
                        place.copy_from_slice(&value.to_ne_bytes());
                    }
                    Ok(())
                })
            }

            /// All paths.
            fn _paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
                let paths: Vec<_> = self.table.rows().map(|row| PyString::new(py, row.path)).collect();
                PyList::new(py, paths)
            }

            /// Whatever else the service sent: for each name the type, and the values or `None`.
            fn _extras<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let all = PyDict::new(py);
                for column in extras::columns(self.table.extras()).iter() {
                    let values = column.values(self.table.extras(), 0..self.table.len());
                    let made: PyResult<Vec<_>> = match column.kind {
                        extras::ExtraType::Text => values
                            .map(|value| Ok(value.as_deref().and_then(extras::text).into_pyobject(py)?.into_any()))
                            .collect(),
                        _ => values
                            .map(|value| match value {
                                Some(value) => convert::json_out(py, &value),
                                None => Ok(py.None().into_bound(py)),
                            })
                            .collect(),
                    };
                    let kind = match column.kind {
                        extras::ExtraType::Int => "int",
                        extras::ExtraType::Float => "float",
                        extras::ExtraType::Bool => "bool",
                        extras::ExtraType::Text => "text",
                    };
                    all.set_item(self.table.columns().extra(column.name), (kind, PyList::new(py, made?)?))?;
                }
                Ok(all)
            }

            /// How much memory the four columns take, in bytes.
            fn _arrow_bytes(&self) -> usize {
                self.table.arrow_bytes()
            }

            /// The columns before whatever else the service sent.
            fn _columns(&self) -> Vec<&'static str> {
                self.table.columns().names().collect()
            }

            /// A column of days, as 32-bit integers of this machine: days since 1970.
            fn _days<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
                let of: fn(Slice) -> jiff::civil::Date = match name {
                    "date_from" => |days| days.from,
                    "date_to" => |days| days.to,
                    _ => return Err(PyValueError::new_err("no such column")),
                };
                let days = self.table.day_numbers(0..self.table.len(), of);
                let bytes: Vec<_> = days.map(|day| Ok(day?.to_ne_bytes())).collect::<PyResult<_>>()?;
                Ok(PyByteArray::new(py, bytes.as_flattened()))
            }
        }
    };
}

table!(
    VisitorTable,
    "VisitorTable",
    "_table",
    "visitor_table",
    "All rows of an export. It never changes, and never asks the service for anything.",
    {
        /// Where the range begins, as it was asked for.
        #[getter]
        fn date_from(&self) -> Option<&str> {
            self.meta.date_from.as_deref()
        }

        /// Where it ends; the end is exclusive.
        #[getter]
        fn date_to(&self) -> Option<&str> {
            self.meta.date_to.as_deref()
        }

        /// The totals of the whole range when the export began; `None` where no page was asked for.
        #[getter]
        fn totals(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
            let totals = self.meta.totals.map(|(human, ai, total)| Totals { human, ai, total });
            totals.map(|totals| convert::totals(py, totals)).transpose()
        }

        /// The most read pages as a matplotlib chart; returns its `Axes`.
        #[pyo3(signature = (n = 15, *, by = "total", ax = None))]
        fn plot(
            slf: Bound<'_, Self>,
            n: usize,
            by: &str,
            ax: Option<Bound<'_, PyAny>>,
        ) -> PyResult<Py<PyAny>> {
            let plots = slf.py().import("docplatform._hooks.plots")?;
            Ok(plots.getattr("top_pages")?.call1((slf, n, by, ax))?.unbind())
        }
    }
);
table!(
    TrendTable,
    "TrendTable",
    "_trend",
    "trend_table",
    "Visitors slice by slice. It never changes, and never asks the service for anything.",
    {
        /// The first day.
        #[getter]
        fn date_from<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
            data::day(py, self.meta.date_from.as_deref())
        }

        /// The day after the last.
        #[getter]
        fn date_to<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
            data::day(py, self.meta.date_to.as_deref())
        }

        /// How long a slice is; `None` for one slice.
        #[getter]
        fn every(&self) -> Option<&str> {
            self.meta.every.as_deref()
        }

        /// From which day on slices may still change; `None` where all have settled.
        #[getter]
        fn open_from<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
            data::day(py, self.meta.open_from.as_deref())
        }

        /// The site's visitors by slice as a matplotlib chart; returns its `Axes`.
        #[pyo3(signature = (*, ax = None))]
        fn plot(slf: Bound<'_, Self>, ax: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
            let plots = slf.py().import("docplatform._hooks.plots")?;
            Ok(plots.getattr("trend")?.call1((slf, ax))?.unbind())
        }

        /// Refuses, and says why.
        #[pyo3(signature = (*args, **kwargs), text_signature = "($self, *args, **kwargs)")]
        fn sum(
            slf: Bound<'_, Self>,
            args: &Bound<'_, PyTuple>,
            kwargs: Option<&Bound<'_, PyDict>>,
        ) -> PyResult<()> {
            let _ = (slf, args, kwargs);
            Err(PyTypeError::new_err(
                "unique visitors do not add up: a visitor who came on two days, or read two pages, would count twice; \
                 visitor_totals(date_from=..., date_to=...) has those of the whole range, for one request",
            ))
        }
    }
);

/// Makes a table again from what its pickle carries.
#[pyfunction]
pub(crate) fn _table(py: Python<'_>, meta: &str, lines: &[u8]) -> PyResult<VisitorTable> {
    load(py, meta, lines, false).map(|(table, meta)| VisitorTable::new(table, meta))
}

/// Makes a trend again from what its pickle carries.
#[pyfunction]
pub(crate) fn _trend(py: Python<'_>, meta: &str, lines: &[u8]) -> PyResult<TrendTable> {
    load(py, meta, lines, true).map(|(table, meta)| TrendTable::new(table, meta))
}

/// Goes through a table's rows, as dicts.
#[pyclass(frozen, module = "docplatform._native", name = "_TableRows")]
pub(crate) struct TableRows {
    table: Arc<Table>,
    next: AtomicUsize,
}

#[pymethods]
impl TableRows {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        self.table.record(at).map(|row| rows::Dicts::new(py, self.table.columns()).make(row)).transpose()
    }
}
