//! The iterators: one cursor, two protocols.

pub(crate) mod collect;
pub(crate) mod cursor;
pub(crate) mod engine;
pub(crate) mod rows;

use std::sync::Arc;

use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::Error;
use crate::python::bridge::op::Op;
use crate::python::bridge::{awaitable, block};
use crate::python::convert;
use crate::python::listing::collect::Into;
use crate::python::listing::cursor::{Cursor, How, Rest};
use crate::python::progress;
use crate::python::table::whole_file;
use crate::table::formats::Format;

fn stop() -> PyErr {
    PyStopIteration::new_err(())
}

fn stop_async() -> PyErr {
    PyStopAsyncIteration::new_err(())
}

/// The next, as `__next__` gives it.
fn next<T: 'static>(
    py: Python<'_>,
    cursor: &Arc<Cursor>,
    name: &'static str,
    take: fn(&Cursor) -> Option<T>,
    finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    match take(cursor) {
        Some(taken) => finish(py, taken),
        None => block(py, cursor.next(name, How { stop, depth: 1 }, take, finish)?),
    }
}

/// The next, as `__anext__` gives it.
fn next_async<T: 'static>(
    py: Python<'_>,
    cursor: &Arc<Cursor>,
    name: &'static str,
    take: fn(&Cursor) -> Option<T>,
    finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    awaitable(py, cursor.next_lazily(name, How { stop: stop_async, depth: 1 }, take, finish)?)
}

#[expect(clippy::unnecessary_wraps, reason = "the same shape as `page`")]
fn row(_py: Python<'_>, row: Py<PyAny>) -> PyResult<Py<PyAny>> {
    Ok(row)
}

fn page(py: Python<'_>, rest: Rest) -> PyResult<Py<PyAny>> {
    let totals = rest.totals.ok_or_else(|| Error::bug("a page of visitors without totals"))?;
    let totals = convert::totals(py, totals)?;
    let rows = PyList::new(py, rest.rows)?;
    let page = convert::named_tuple(py, "VisitorsPage")?.call1((rows, totals, rest.offset, rest.has_more))?;
    Ok(page.unbind())
}

/// The operation behind the direct ways to a frame: its library is looked for before anything is asked for.
fn to_frame(
    cursor: &Arc<Cursor>,
    py: Python<'_>,
    name: &'static str,
    progress: Option<bool>,
    frame: &'static str,
) -> PyResult<Op> {
    py.import("docplatform._hooks.frames")?.getattr("need")?.call1((frame,))?;
    let progress = progress::bar(py, progress, cursor.most(), progress::ROWS)?;
    collect::table(cursor, name, progress, Into::Frame(frame))
}

fn to_file(
    cursor: &Arc<Cursor>,
    py: Python<'_>,
    name: &'static str,
    progress: Option<bool>,
    path: &Bound<'_, PyAny>,
    format: Format,
) -> PyResult<Op> {
    let path = collect::path(path)?;
    let progress = progress::bar(py, progress, cursor.most(), progress::ROWS)?;
    collect::file(cursor, name, progress, path, format)
}

fn to_parquet(
    cursor: &Arc<Cursor>,
    py: Python<'_>,
    name: &'static str,
    progress: Option<bool>,
    path: &Bound<'_, PyAny>,
) -> PyResult<Op> {
    let frames = py.import("docplatform._hooks.frames")?;
    frames.getattr("need")?.call1(("to_parquet",))?;
    // No Python object before it is needed: should the call be left, a worker that holds no interpreter removes it.
    let file = whole_file::WholeFile::new(path, None)?;
    let progress = progress::bar(py, progress, cursor.most(), progress::ROWS)?;
    collect::table(cursor, name, progress, Into::Parquet(Box::new(file)))
}

#[expect(clippy::unnecessary_wraps, reason = "the same shape as `generator`")]
fn itself<'py>(iterator: Bound<'py, PyAny>, _cursor: &Arc<Cursor>) -> PyResult<Bound<'py, PyAny>> {
    Ok(iterator)
}

/// A pass of `async for`: an asynchronous generator costs less than an awaitable a row.
fn generator<'py>(iterator: Bound<'py, PyAny>, cursor: &Arc<Cursor>) -> PyResult<Bound<'py, PyAny>> {
    let rows = AtHand(Arc::clone(cursor));
    iterator.py().import("docplatform._hooks.iteration")?.getattr("each")?.call1((rows,))
}

/// The rows of the page at hand, as a plain iterator; it ends where a page has to be turned.
#[pyclass(frozen, module = "docplatform._native", name = "_AtHand")]
pub(crate) struct AtHand(Arc<Cursor>);

#[pymethods]
impl AtHand {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Option<Py<PyAny>> {
        self.0.take_row()
    }

    /// An awaitable for the row behind them. Warnings are about the code that goes through the generator.
    fn turn(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let how = How { stop: stop_async, depth: 2 };
        awaitable(py, self.0.next_lazily("__anext__", how, Cursor::take_row, row)?)
    }
}

/// A single-pass iterator that hands out what `$take` takes from its cursor.
macro_rules! iterator {
    ($Name:ident, $name:literal, $doc:literal,
     $iter:ident, $pass:path, $next:ident, $take_next:path, $take:path, $finish:path, { $($more:tt)* }) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "docplatform")]
        pub(crate) struct $Name(Arc<Cursor>);

        impl $Name {
            pub(crate) fn new(cursor: Arc<Cursor>) -> Self {
                Self(cursor)
            }
        }

        #[pymethods]
        impl $Name {
            fn $iter(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
                slf.get().0.begin()?;
                let cursor = Arc::clone(&slf.get().0);
                $pass(slf.into_any(), &cursor)
            }

            fn $next(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                const NAME: &str = concat!($name, ".", stringify!($next));
                $take_next(py, &self.0, NAME, $take, $finish)
            }

            $($more)*
        }
    };
}

/// The iterators of one face.
macro_rules! iterators {
    ($Visitors:ident, $visitors:literal, $Pages:ident, $pages:literal, $Rows:ident, $rows:literal,
     $iter:ident, $pass:path, $next:ident, $take_next:path, $run:path) => {
        iterator!(
            $Visitors,
            $visitors,
            "A single-pass iterator over a site's readers: one dict for each path.",
            $iter,
            $pass,
            $next,
            $take_next,
            Cursor::take_row,
            row,
            {
                /// The totals of the whole range, from the first page; asks for that page if it did not come yet.
                fn totals(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                    $run(py, self.0.totals(concat!($visitors, ".totals"))?)
                }

                /// What is left, page by page.
                fn pages(&self) -> PyResult<$Pages> {
                    self.0.begin()?;
                    Ok($Pages::new(Arc::clone(&self.0)))
                }

                /// All that is left, as a table.
                #[pyo3(signature = (progress = None))]
                fn collect(&self, py: Python<'_>, progress: Option<bool>) -> PyResult<Py<PyAny>> {
                    let progress = progress::bar(py, progress, self.0.most(), progress::ROWS)?;
                    $run(py, collect::table(&self.0, concat!($visitors, ".collect"), progress, Into::Itself)?)
                }

                /// All that is left, as a `pandas.DataFrame`.
                #[pyo3(signature = (*, progress = None))]
                fn to_pandas(&self, py: Python<'_>, progress: Option<bool>) -> PyResult<Py<PyAny>> {
                    $run(py, to_frame(&self.0, py, concat!($visitors, ".to_pandas"), progress, "to_pandas")?)
                }

                /// All that is left, as a `polars.DataFrame`.
                #[pyo3(signature = (*, progress = None))]
                fn to_polars(&self, py: Python<'_>, progress: Option<bool>) -> PyResult<Py<PyAny>> {
                    $run(py, to_frame(&self.0, py, concat!($visitors, ".to_polars"), progress, "to_polars")?)
                }

                /// All that is left, as a `pyarrow.Table`.
                #[pyo3(signature = (*, progress = None))]
                fn to_arrow(&self, py: Python<'_>, progress: Option<bool>) -> PyResult<Py<PyAny>> {
                    $run(py, to_frame(&self.0, py, concat!($visitors, ".to_arrow"), progress, "to_arrow")?)
                }

                /// All that is left, as a list of dicts.
                #[pyo3(signature = (*, progress = None))]
                fn to_dicts(&self, py: Python<'_>, progress: Option<bool>) -> PyResult<Py<PyAny>> {
                    let progress = progress::bar(py, progress, self.0.most(), progress::ROWS)?;
                    $run(py, collect::dicts(py, &self.0, concat!($visitors, ".to_dicts"), progress)?)
                }

                /// Writes all that is left into a CSV file as the pages come; returns the number of rows.
                #[pyo3(signature = (path, *, escape_formulas = true, progress = None))]
                fn to_csv(
                    &self,
                    py: Python<'_>,
                    path: &Bound<'_, PyAny>,
                    escape_formulas: bool,
                    progress: Option<bool>,
                ) -> PyResult<Py<PyAny>> {
                    let format = Format::Csv { escape_formulas };
                    $run(py, to_file(&self.0, py, concat!($visitors, ".to_csv"), progress, path, format)?)
                }

                /// Writes all that is left into a JSON Lines file as the pages come; returns the number of rows.
                #[pyo3(signature = (path, *, progress = None))]
                fn to_jsonl(
                    &self,
                    py: Python<'_>,
                    path: &Bound<'_, PyAny>,
                    progress: Option<bool>,
                ) -> PyResult<Py<PyAny>> {
                    let name = concat!($visitors, ".to_jsonl");
                    $run(py, to_file(&self.0, py, name, progress, path, Format::JsonLines)?)
                }

                /// Writes all that is left into a Parquet file with pyarrow, polars or duckdb; returns the number of rows.
                #[pyo3(signature = (path, *, progress = None))]
                fn to_parquet(
                    &self,
                    py: Python<'_>,
                    path: &Bound<'_, PyAny>,
                    progress: Option<bool>,
                ) -> PyResult<Py<PyAny>> {
                    $run(py, to_parquet(&self.0, py, concat!($visitors, ".to_parquet"), progress, path)?)
                }

                /// Where the export stands, as a small JSON text without secrets; `visitors(resume=...)` goes on there.
                #[getter]
                fn checkpoint(&self) -> String {
                    self.0.checkpoint()
                }

                /// What was found on the way: data that moved, short pages, letters that are no text.
                #[getter]
                fn warnings(&self) -> Vec<String> {
                    self.0.warnings()
                }

                fn __repr__(&self) -> String {
                    self.0.repr($visitors)
                }

                fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.0.html(py, $visitors)
                }
            }
        );

        iterator!(
            $Pages,
            $pages,
            "What is left of an export, page by page.",
            $iter,
            itself,
            $next,
            $take_next,
            Cursor::take_rest,
            page,
            {}
        );

        iterator!(
            $Rows,
            $rows,
            "A single-pass iterator over whatever a paged endpoint lists.",
            $iter,
            $pass,
            $next,
            $take_next,
            Cursor::take_row,
            row,
            {
                /// Where the listing stands, as a small JSON text without secrets; `paginate(resume=...)` goes on there.
                #[getter]
                fn checkpoint(&self) -> String {
                    self.0.checkpoint()
                }

                /// What was found on the way: short pages, letters that are no text.
                #[getter]
                fn warnings(&self) -> Vec<String> {
                    self.0.warnings()
                }

                fn __repr__(&self) -> String {
                    self.0.repr($rows)
                }

                fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.0.html(py, $rows)
                }
            }
        );
    };
}

iterators!(
    Visitors,
    "Visitors",
    VisitorsPages,
    "VisitorsPages",
    Rows,
    "Rows",
    __iter__,
    itself,
    __next__,
    next,
    block
);
iterators!(
    AsyncVisitors,
    "AsyncVisitors",
    AsyncVisitorsPages,
    "AsyncVisitorsPages",
    AsyncRows,
    "AsyncRows",
    __aiter__,
    generator,
    __anext__,
    next_async,
    awaitable
);
