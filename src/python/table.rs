//! `VisitorTable`: a finished export, and what it is handed on as.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::{PyIndexError, PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict, PyList, PySlice, PyString};
use serde::{Deserialize, Serialize};

use super::collect::{self, os_error};
use super::engine::Engine;
use super::{convert, rows};
use crate::export::Writing;
use crate::extras;
use crate::files;
use crate::formats::{Encoder, Format};
use crate::rows::Totals;
use crate::table::{Builder, Count, Table};
use crate::visitor_rows::Line;
use crate::visitors::Listing;

/// What is known of an export besides its rows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Meta {
    totals: Option<(i64, i64, i64)>,
    date_from: Option<String>,
    date_to: Option<String>,
    project_id: Option<String>,
    requests: u64,
    warnings: Vec<String>,
}

impl Meta {
    pub(super) fn new(listing: &Listing, engine: &Engine) -> Self {
        Self {
            totals: engine.totals().map(|totals| (totals.human, totals.ai, totals.total)),
            date_from: listing.filter("dateFrom").map(str::to_owned),
            date_to: listing.filter("dateTo").map(str::to_owned),
            project_id: listing.project_id().map(str::to_owned),
            requests: engine.requests(),
            warnings: engine.warnings(),
        }
    }
}

/// All rows of an export. It never changes, and never asks the service for anything.
#[pyclass(frozen, module = "docplatform", sequence)]
pub(super) struct VisitorTable {
    table: Arc<Table>,
    meta: Meta,
}

impl VisitorTable {
    pub(super) fn new(table: Arc<Table>, meta: Meta) -> Self {
        Self { table, meta }
    }

    fn row(&self, py: Python<'_>, at: usize) -> PyResult<Py<PyAny>> {
        let row = self.table.row(at).ok_or_else(|| PyIndexError::new_err("row index out of range"))?;
        rows::visitor(py, row)
    }

    fn write(&self, py: Python<'_>, path: &Bound<'_, PyAny>, format: Format) -> PyResult<usize> {
        let path = collect::path(path)?;
        py.detach(|| Writing::begin(path.clone(), format)?.table(&self.table))
            .map_err(|error| os_error(&path, &error))
    }
}

/// What every sequence of Python can do, where it is not done here.
fn sequence(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("collections.abc")?.getattr("Sequence")
}

/// Something that `docplatform._frames` does with a table.
pub(super) fn frame(table: Bound<'_, VisitorTable>, name: &str) -> PyResult<Py<PyAny>> {
    let frames = table.py().import("docplatform._frames")?;
    Ok(frames.getattr(name)?.call1((table,))?.unbind())
}

#[pymethods]
impl VisitorTable {
    /// The totals of the whole range when the export began; `None` where no page was asked for.
    #[getter]
    fn totals(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let totals = self.meta.totals.map(|(human, ai, total)| Totals { human, ai, total });
        totals.map(|totals| convert::totals(py, totals)).transpose()
    }

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

    /// What was found on the way: data that moved, short pages, letters that are no text.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.meta.warnings.clone()
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __getitem__(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            let range = slice.indices(self.table.len().cast_signed())?;
            let places = (0..range.slicelength).map(|step| range.start + step.cast_signed() * range.step);
            let rows = places.map(|at| self.row(py, at.cast_unsigned()));
            return Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind());
        }
        let at: isize =
            at.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(py) {
                true => PyIndexError::new_err("row index out of range"),
                false => error,
            })?;
        let at = if at < 0 { at + self.table.len().cast_signed() } else { at };
        match usize::try_from(at) {
            Ok(at) => self.row(py, at),
            Err(_) => Err(PyIndexError::new_err("row index out of range")),
        }
    }

    fn __iter__(slf: Py<Self>) -> TableRows {
        TableRows { table: slf, next: AtomicUsize::new(0) }
    }

    /// How many rows are equal to `value`.
    #[pyo3(signature = (value, /))]
    fn count<'py>(slf: Bound<'py, Self>, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        sequence(slf.py())?.call_method1("count", (slf, value))
    }

    /// The number of the first row that is equal to `value`.
    #[pyo3(signature = (value, start = 0, stop = isize::MAX, /))]
    fn index<'py>(
        slf: Bound<'py, Self>,
        value: Bound<'py, PyAny>,
        start: isize,
        stop: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        sequence(slf.py())?.call_method1("index", (slf, value, start, stop))
    }

    /// The schema: `path`, `human`, `ai`, `total`, then whatever else the service sent.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.table.schema().as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, in the memory that they are in; may be asked for any number of times.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish that the protocol allows to pass over: readers cast what they get.
        let _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(self.table.reader());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// A `pandas.DataFrame`.
    fn to_pandas(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        frame(slf, "to_pandas")
    }

    /// A `polars.DataFrame`.
    fn to_polars(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        frame(slf, "to_polars")
    }

    /// A `pyarrow.Table`.
    fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        frame(slf, "to_arrow")
    }

    /// A list of dicts.
    pub(super) fn to_dicts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made: PyResult<Vec<_>> = self.table.rows().map(|row| rows::visitor(py, row)).collect();
        Ok(PyList::new(py, made?)?.into_any().unbind())
    }

    /// Writes a CSV file; returns the number of rows.
    #[pyo3(signature = (path, *, escape_formulas = true))]
    fn to_csv(&self, py: Python<'_>, path: &Bound<'_, PyAny>, escape_formulas: bool) -> PyResult<usize> {
        self.write(py, path, Format::Csv { escape_formulas })
    }

    /// Writes a JSON Lines file; returns the number of rows.
    fn to_jsonl(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.write(py, path, Format::JsonLines)
    }

    /// Writes a Parquet file with pyarrow, polars or duckdb; returns the number of rows.
    fn to_parquet(slf: Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let frames = slf.py().import("docplatform._frames")?;
        Ok(frames.getattr("to_parquet")?.call1((slf, path))?.unbind())
    }

    /// The most read pages as a matplotlib chart; returns its `Axes`.
    #[pyo3(signature = (n = 15, *, by = "total", ax = None))]
    fn plot(slf: Bound<'_, Self>, n: usize, by: &str, ax: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let plots = slf.py().import("docplatform._plots")?;
        Ok(plots.getattr("top_pages")?.call1((slf, n, by, ax))?.unbind())
    }

    fn __repr__(&self) -> String {
        let text = |value: &Option<String>| value.as_ref().map(|value| crate::text::safe(value, 60));
        let mut parts = vec![format!("{} rows", self.table.len())];
        parts.extend(text(&self.meta.project_id).map(|id| format!("project_id='{id}'")));
        parts.extend(text(&self.meta.date_from).map(|date| format!("date_from='{date}'")));
        parts.extend(text(&self.meta.date_to).map(|date| format!("date_to='{date}'")));
        format!("VisitorTable({})", parts.join(", "))
    }

    fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let html = slf.py().import("docplatform._html")?;
        Ok(html.getattr("visitor_table")?.call1((slf,))?.unbind())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (meta, lines) = py
            .detach(|| {
                let mut lines = Vec::new();
                Encoder::new(Format::JsonLines).encode(self.table.rows(), &mut lines)?;
                Ok((serde_json::to_string(&self.meta)?, lines))
            })
            .map_err(|error: std::io::Error| PyOSError::new_err(error.to_string()))?;
        let load = py.import("docplatform._native")?.getattr("_table")?;
        let arguments = (meta, PyBytes::new(py, &lines)).into_pyobject(py)?;
        Ok((load, arguments.into_any()))
    }

    /// A column of counts, as 64-bit integers of this machine.
    fn _counts<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
        let which = match name {
            "human" => Count::Human,
            "ai" => Count::Ai,
            "total" => Count::Total,
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

    /// Whatever else the service sent: for each name its kind, and its values or `None`.
    fn _extras<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for column in extras::columns(self.table.extras()) {
            let values = column.values(self.table.extras(), 0..self.table.len());
            let made: PyResult<Vec<_>> = match column.kind {
                extras::Kind::Text => values
                    .map(|value| Ok(value.and_then(extras::text).into_pyobject(py)?.into_any()))
                    .collect(),
                _ => values
                    .map(|value| match value {
                        Some(value) => convert::json_out(py, value),
                        None => Ok(py.None().into_bound(py)),
                    })
                    .collect(),
            };
            let kind = match column.kind {
                extras::Kind::Int => "int",
                extras::Kind::Float => "float",
                extras::Kind::Bool => "bool",
                extras::Kind::Text => "text",
            };
            all.set_item(column.name.as_str(), (kind, PyList::new(py, made?)?))?;
        }
        Ok(all)
    }

    /// How much memory the four columns take, in bytes.
    fn _arrow_bytes(&self) -> usize {
        self.table.arrow_bytes()
    }
}

/// Makes a table again from what its pickle carries.
#[pyfunction]
pub(super) fn _table(py: Python<'_>, meta: &str, lines: &[u8]) -> PyResult<VisitorTable> {
    let broken = |error: serde_json::Error| PyValueError::new_err(format!("not a pickled table: {error}"));
    let meta: Meta = serde_json::from_str(meta).map_err(broken)?;
    let table = py.detach(|| {
        let mut builder = Builder::default();
        let mut stream = serde_json::Deserializer::from_slice(lines).into_iter::<Line>();
        stream.try_for_each(|line| line.map(|line| builder.extend(&line.0)))?;
        Ok(builder.finish())
    });
    Ok(VisitorTable::new(Arc::new(table.map_err(broken)?), meta))
}

/// Goes through a table's rows, as dicts.
#[pyclass(frozen, module = "docplatform._native", name = "_TableRows")]
pub(super) struct TableRows {
    table: Py<VisitorTable>,
    next: AtomicUsize,
}

#[pymethods]
impl TableRows {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let table = &self.table.get().table;
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        table.row(at).map(|row| rows::visitor(py, row)).transpose()
    }
}

/// A file under a temporary name, for libraries that write files themselves: see `files.rs`.
#[pyclass(frozen, module = "docplatform._native", name = "_WholeFile")]
pub(super) struct WholeFile(Mutex<Option<files::WholeFile>>, PathBuf);

#[pymethods]
impl WholeFile {
    #[new]
    pub(super) fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let path = collect::path(path)?;
        let file = files::WholeFile::create(&path).map_err(|error| os_error(&path, &error))?;
        Ok(Self(Mutex::new(Some(file)), path))
    }

    /// The temporary name.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.file().as_ref().map(|file| file.path().to_owned())
    }

    /// Puts it in the target's place.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.file().take();
        let commit = || file.map_or(Ok(()), files::WholeFile::commit);
        py.detach(commit).map_err(|error| os_error(&self.1, &error))
    }

    /// Removes it, unless it was put in its place.
    fn discard(&self) {
        let file = self.file().take();
        drop(file);
    }
}

impl WholeFile {
    fn file(&self) -> MutexGuard<'_, Option<files::WholeFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
