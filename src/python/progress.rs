//! How far a call is, shown as `docplatform._hooks.progress` does. It watches a call, and never ends one.

use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::python::bridge::runtime::call_out;

/// What an export counts.
pub(crate) const ROWS: &str = "rows";
/// What a trend counts.
pub(crate) const SLICES: &str = "slices";

/// What shows how far something is, of at most `most` of a `unit`, where that is wanted and can be.
pub(crate) fn bar(
    py: Python<'_>,
    wanted: Option<bool>,
    most: Option<u64>,
    unit: &str,
) -> PyResult<Option<Py<PyAny>>> {
    if !wanted.unwrap_or(false) {
        return Ok(None);
    }
    let bar = py.import("docplatform._hooks.progress")?.getattr("bar")?;
    Ok(watching(py, bar.call1((most, unit)))?.map(Bound::unbind))
}

/// Calls a method of `progress`, which is let go where that fails.
pub(crate) fn show<'py>(
    progress: &mut Option<Py<PyAny>>,
    method: &Bound<'py, PyString>,
    value: Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = method.py();
    let Some(shown) = progress else {
        return Ok(());
    };
    let shown = shown.bind(py).getattr(method).and_then(|method| call_out(&method, (value,)));
    if watching(py, shown)?.is_none() {
        *progress = None;
    }
    Ok(())
}

/// `None` where it failed. A stream that is closed is nothing to tell of, and there is nowhere to tell it; what is no
/// `Exception`, such as a Ctrl-C that came meanwhile, was not raised by it.
fn watching<T>(py: Python<'_>, shown: PyResult<T>) -> PyResult<Option<T>> {
    match shown {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            if !error.is_instance_of::<PyOSError>(py) && !error.is_instance_of::<PyValueError>(py) {
                error.write_unraisable(py, None);
            }
            Ok(None)
        }
        shown => shown.map(Some),
    }
}
