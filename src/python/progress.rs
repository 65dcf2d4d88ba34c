//! How far a call is, shown as `docplatform._hooks.progress` does. It watches a call, and never ends one.

use jiff::Timestamp;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::client::observer::Waiting;
use crate::python::bridge::call::{Arguments, CallOut as _, import};
use crate::python::{bridge, convert, errors, job};

/// What an export counts.
pub(crate) const ROWS: &str = "rows";
/// What a trend counts.
pub(crate) const SLICES: &str = "slices";

/// What a batch of jobs counts.
pub(crate) const JOBS: &str = "jobs";

/// Whether progress is shown: as the caller said, or else on a terminal and in a notebook.
pub(crate) fn wanted(py: Python<'_>, said: Option<bool>) -> PyResult<bool> {
    match said {
        Some(said) => Ok(said),
        None => convert::hook(py, "progress", "watched")?
            .call_out(())?
            .is_truthy(),
    }
}

/// What shows how far something is, of at most `most` of a `unit`, if that is wanted and can be.
pub(crate) fn bar(
    py: Python<'_>,
    wanted: Option<bool>,
    most: Option<u64>,
    unit: &str,
) -> PyResult<Option<Py<PyAny>>> {
    if !wanted.unwrap_or(false) {
        return Ok(None);
    }
    let bar = convert::hook(py, "progress", "bar")?;
    Ok(watching(py, bar.call_out((most, unit)))?.map(Bound::unbind))
}

/// Calls a method of `progress`, which is let go where that fails.
pub(crate) fn show<'py>(
    progress: &mut Option<Py<PyAny>>,
    method: &Bound<'py, PyString>,
    values: impl Arguments<'py>,
) -> PyResult<()> {
    let py = method.py();
    let Some(shown) = progress else {
        return Ok(());
    };
    let shown = shown
        .bind(py)
        .getattr(method)
        .and_then(|method| method.call_out(values));
    if watching(py, shown)?.is_none() {
        *progress = None;
    }
    Ok(())
}

/// Announces a wait: on `progress`, else by a warning where the wait is long, raised where the user's code made the call.
pub(crate) fn announce(
    py: Python<'_>,
    progress: &mut Option<Py<PyAny>>,
    waiting: Waiting,
) -> PyResult<()> {
    let until = waiting
        .until
        .map(|until| job::datetime(py, until))
        .transpose()?;
    show(progress, intern!(py, "waits"), (waiting.why, &until))?;
    // What comes with a page that was asked for ahead may be over.
    let is_over = waiting.until.is_some_and(|until| until <= Timestamp::now());
    if progress.is_some() || !waiting.long || is_over {
        return Ok(());
    }
    let hooks = import(py, "docplatform._hooks.progress")?;
    let warning = hooks.getattr("warning")?.call_out((waiting.why, until))?;
    warn(&warning, 1)
}

/// Warns `depth` Python frames up, not counting a coroutine's own: 1 is where the user's code made the call.
pub(crate) fn warn(warning: &Bound<'_, PyAny>, depth: i32) -> PyResult<()> {
    let py = warning.py();
    let warn = import(py, "warnings")?.getattr("warn")?;
    warn.call_out((warning, py.None(), depth + bridge::frames(py)?))
        .map(drop)
}

/// `None` if it failed. A stream that is closed is nothing to tell of, and there is nowhere to tell it.
fn watching<T>(py: Python<'_>, shown: PyResult<T>) -> PyResult<Option<T>> {
    match shown {
        Err(error)
            if error.is_instance_of::<PyOSError>(py)
                || error.is_instance_of::<PyValueError>(py) =>
        {
            Ok(None)
        }
        shown => errors::watching(py, shown),
    }
}
