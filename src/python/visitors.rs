//! The iterators: one cursor, two protocols.

use std::sync::Arc;

use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::bridge::{awaitable, block};
use super::convert;
use super::cursor::{Cursor, Rest};

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
        None => block(py, cursor.next(name, stop, take, finish)?),
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
    awaitable(py, cursor.next_lazily(name, stop_async, take, finish)?)
}

#[expect(clippy::unnecessary_wraps, reason = "the same shape as `page`")]
fn row(_py: Python<'_>, row: Py<PyAny>) -> PyResult<Py<PyAny>> {
    Ok(row)
}

fn page(py: Python<'_>, rest: Rest) -> PyResult<Py<PyAny>> {
    let totals = rest.totals.map(|totals| convert::totals(py, totals)).transpose()?;
    let rows = PyList::new(py, rest.rows)?;
    let page = convert::named_tuple(py, "VisitorsPage")?.call1((rows, totals, rest.offset, rest.has_more))?;
    Ok(page.unbind())
}

/// A single-pass iterator that hands out what `$take` takes from its cursor.
macro_rules! iterator {
    ($Name:ident, $name:literal, $doc:literal,
     $iter:ident, $next:ident, $take_next:path, $take:path, $finish:path, { $($more:tt)* }) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "docplatform")]
        pub(super) struct $Name(Arc<Cursor>);

        impl $Name {
            pub(super) fn new(cursor: Arc<Cursor>) -> Self {
                Self(cursor)
            }
        }

        #[pymethods]
        impl $Name {
            fn $iter(slf: Py<Self>) -> PyResult<Py<Self>> {
                slf.get().0.begin()?;
                Ok(slf)
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
     $iter:ident, $next:ident, $take_next:path, $run:path) => {
        iterator!(
            $Visitors,
            $visitors,
            "A single-pass iterator over a site's readers: one dict for each path.",
            $iter,
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
    __anext__,
    next_async,
    awaitable
);
