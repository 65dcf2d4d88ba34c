//! The iterators: every method once, in the classes that both faces extend, and the two protocols
//! beside them.

pub mod collect;
pub mod reader;
pub mod rows;

use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};

use crate::python::bridge::{awaitable, block};
use crate::python::listing::collect::{TableEnd, file, table};
use crate::python::listing::reader::{Iteration, RowReader};
use crate::python::prelude::*;
use crate::python::progress;
use crate::python::table::whole_file::PyWholeFile;
use crate::table::formats::Format;

const NEXT_ROW: Iteration = Iteration {
    name: "Rows.__next__",
    take: |reader, _| Ok(reader.take_row()),
    stop: || PyStopIteration::new_err(()),
    depth: 1,
};
const NEXT_ROW_ASYNC: Iteration = Iteration {
    name: "Rows.__anext__",
    stop: || PyStopAsyncIteration::new_err(()),
    ..NEXT_ROW
};
const NEXT_PAGE: Iteration = Iteration {
    name: "Pages.__next__",
    take: RowReader::take_rest,
    ..NEXT_ROW
};
const NEXT_PAGE_ASYNC: Iteration = Iteration {
    name: "Pages.__anext__",
    take: RowReader::take_rest,
    ..NEXT_ROW_ASYNC
};

/// The next, as `__next__` gives it.
fn next(py: Python<'_>, reader: &Arc<RowReader>, how: Iteration) -> Returned {
    match (how.take)(reader, py)? {
        Some(taken) => Ok(taken),
        None => block(py, reader.next(how)?),
    }
}

/// The next, as `__anext__` gives it.
fn next_async(py: Python<'_>, reader: &Arc<RowReader>, how: Iteration) -> Returned {
    awaitable(py, reader.next_lazily(how)?)
}

/// The rows of a listing, for a client of this face; with totals where the endpoint has them.
pub fn rows(py: Python<'_>, face: Face, reader: Arc<RowReader>) -> Returned {
    let totals = reader.listing().endpoint().totals;
    let base = PyClassInitializer::from(BaseRows { reader, face });
    Ok(match (face, totals) {
        (Face::Blocking, false) => Py::new(py, base.add_subclass(ListedRows))?.into_any(),
        (Face::Blocking, true) => {
            Py::new(py, base.add_subclass(ListedRows).add_subclass(Visitors))?.into_any()
        }
        (Face::Async, false) => Py::new(py, base.add_subclass(AsyncRows))?.into_any(),
        (Face::Async, true) => {
            Py::new(py, base.add_subclass(AsyncRows).add_subclass(AsyncVisitors))?.into_any()
        }
    })
}

/// The rows of the current page, as a plain iterator; it ends where a page has to be turned.
#[pyclass(frozen, module = "docplatform._native", name = "_AtHand")]
pub struct CurrentRows(Arc<RowReader>);

#[pymethods]
impl CurrentRows {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Option<Py<PyAny>> {
        self.0.take_row()
    }

    /// An awaitable for the row after them. Warnings are about the code that goes through the
    /// generator.
    fn turn(&self, py: Python<'_>) -> Returned {
        let how = Iteration {
            depth: 2,
            ..NEXT_ROW_ASYNC
        };
        next_async(py, &self.0, how)
    }
}

/// The base of the iterators over any listing. Errors of wrong arguments show its name.
#[pyclass(frozen, subclass, module = "docplatform", name = "rows")]
pub struct BaseRows {
    reader: Arc<RowReader>,
    face: Face,
}

impl BaseRows {
    /// A pass of `async for`: an asynchronous generator costs less than an awaitable a row.
    fn generator<'py>(&self, py: Python<'py>) -> PyResult<Object<'py>> {
        self.reader.begin()?;
        let rows = CurrentRows(Arc::clone(&self.reader));
        convert::hook(py, "iteration", "each")?.call_out((rows,))
    }

    fn totals(&self, py: Python<'_>) -> Returned {
        self.face.run(py, self.reader.totals("Visitors.totals")?)
    }

    /// Runs an export of all that is left.
    fn export(&self, py: Python<'_>, op: Operation, progress: Option<&Object<'_>>) -> Returned {
        let wanted = progress.map_or(Ok(None), convert::progress)?;
        let bar = progress::bar(py, wanted, self.reader.most(), "rows")?;
        self.face.run(py, op.progress(bar))
    }
}

getters! {
    BaseRows as Rows, |slf, py| rows = slf.get();
    checkpoint = rows.reader.checkpoint();
    warnings = rows.reader.warnings();
}

#[pymethods]
impl BaseRows {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(slf.get().reader.repr(slf.get_type().name()?.to_str()?))
    }

    /// Only for names that it does not have.
    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> Returned {
        convert::no_attribute(slf.as_any(), name)
    }

    #[doc = doc!("Rows.pages")]
    fn pages(slf: &Bound<'_, Self>) -> Returned {
        let (py, rows) = (slf.py(), slf.get());
        rows.reader.begin()?;
        let reader = Arc::clone(&rows.reader);
        match rows.face {
            Face::Blocking => Pages(reader).into_py_any(py),
            Face::Async => AsyncPages(reader).into_py_any(py),
        }
    }

    #[doc = doc!("Rows.collect")]
    #[pyo3(signature = (progress = None))]
    fn collect(&self, py: Python<'_>, progress: Option<&Object<'_>>) -> Returned {
        let op = table(py, &self.reader, "Rows.collect", TableEnd::Itself)?;
        self.export(py, op, progress)
    }

    #[doc = doc!("Rows.to_dicts")]
    #[pyo3(signature = (*, progress = None))]
    fn to_dicts(&self, py: Python<'_>, progress: Option<&Object<'_>>) -> Returned {
        let op = table(py, &self.reader, "Rows.to_dicts", TableEnd::Dicts)?;
        self.export(py, op, progress)
    }

    #[doc = doc!("Rows.to_csv")]
    #[pyo3(signature = (path, *, escape_formulas = true, bom = false, progress = None))]
    fn to_csv(
        &self,
        path: &Object<'_>,
        #[pyo3(from_py_with = convert::escape_formulas)] escape_formulas: bool,
        #[pyo3(from_py_with = convert::bom)] bom: bool,
        progress: Option<&Object<'_>>,
    ) -> Returned {
        let format = Format::Csv {
            escape_formulas,
            bom,
        };
        let op = file(&self.reader, "Rows.to_csv", path, format)?;
        self.export(path.py(), op, progress)
    }

    #[doc = doc!("Rows.to_jsonl")]
    #[pyo3(signature = (path, *, progress = None))]
    fn to_jsonl(&self, path: &Object<'_>, progress: Option<&Object<'_>>) -> Returned {
        let op = file(&self.reader, "Rows.to_jsonl", path, Format::JsonLines)?;
        self.export(path.py(), op, progress)
    }
}

/// The exports by a library, into a frame or into a file. The library is looked for before anything
/// is asked for.
macro_rules! library_exports {
    ($($frame:ident)*; $($file:ident)*) => {
        #[pymethods]
        impl BaseRows {
            $(
                #[doc = doc!("Rows.", stringify!($frame))]
                #[pyo3(signature = (*, progress = None))]
                fn $frame(&self, py: Python<'_>, progress: Option<&Object<'_>>) -> Returned {
                    convert::call_hook(py, "frames", "need", (stringify!($frame),))?;
                    let end = TableEnd::Frame(stringify!($frame));
                    let op = table(py, &self.reader, concat!("Rows.", stringify!($frame)), end)?;
                    self.export(py, op, progress)
                }
            )*
            $(
                #[doc = doc!("Rows.", stringify!($file))]
                #[pyo3(signature = (path, *, progress = None))]
                fn $file(&self, path: &Object<'_>, progress: Option<&Object<'_>>) -> Returned {
                    let py = path.py();
                    convert::call_hook(py, "frames", "need", (stringify!($file),))?;
                    // A Rust object, so that a worker without the interpreter can remove the file
                    // if the call is given up.
                    let file = Box::new(PyWholeFile::new(path, None)?);
                    let end = TableEnd::Encoded(stringify!($file), file);
                    let op = table(py, &self.reader, concat!("Rows.", stringify!($file)), end)?;
                    self.export(py, op, progress)
                }
            )*
        }
    };
}

library_exports! { to_pandas to_polars to_arrow; to_parquet to_excel }

#[doc = doc!("Rows")]
#[pyclass(frozen, subclass, extends = BaseRows, module = "docplatform", name = "Rows")]
pub struct ListedRows;

#[pymethods]
impl ListedRows {
    fn __iter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.as_super().get().reader.begin()?;
        Ok(slf)
    }

    fn __next__(slf: &Bound<'_, Self>) -> Returned {
        next(slf.py(), &slf.as_super().get().reader, NEXT_ROW)
    }
}

#[doc = doc!("AsyncRows")]
#[pyclass(frozen, subclass, extends = BaseRows, module = "docplatform")]
pub struct AsyncRows;

#[pymethods]
impl AsyncRows {
    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        slf.as_super().get().generator(slf.py())
    }

    fn __anext__(slf: &Bound<'_, Self>) -> Returned {
        next_async(slf.py(), &slf.as_super().get().reader, NEXT_ROW_ASYNC)
    }
}

#[doc = doc!("Visitors")]
#[pyclass(frozen, extends = ListedRows, module = "docplatform")]
pub struct Visitors;

#[pymethods]
impl Visitors {
    #[doc = doc!("Visitors.totals")]
    fn totals(slf: &Bound<'_, Self>) -> Returned {
        slf.as_super().as_super().get().totals(slf.py())
    }
}

#[doc = doc!("AsyncVisitors")]
#[pyclass(frozen, extends = AsyncRows, module = "docplatform")]
pub struct AsyncVisitors;

#[pymethods]
impl AsyncVisitors {
    #[doc = doc!("AsyncVisitors.totals")]
    fn totals(slf: &Bound<'_, Self>) -> Returned {
        slf.as_super().as_super().get().totals(slf.py())
    }
}

/// The rest of an export, page by page.
#[pyclass(frozen, module = "docplatform", name = "_Pages")]
pub struct Pages(Arc<RowReader>);

#[pymethods]
impl Pages {
    fn __iter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().0.begin()?;
        Ok(slf)
    }

    fn __next__(&self, py: Python<'_>) -> Returned {
        next(py, &self.0, NEXT_PAGE)
    }
}

#[pyclass(frozen, module = "docplatform", name = "_AsyncPages")]
pub struct AsyncPages(Arc<RowReader>);

#[pymethods]
impl AsyncPages {
    fn __aiter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().0.begin()?;
        Ok(slf)
    }

    fn __anext__(&self, py: Python<'_>) -> Returned {
        next_async(py, &self.0, NEXT_PAGE_ASYNC)
    }
}
