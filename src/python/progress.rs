//! The progress of a call, which `docplatform._hooks.progress` shows. An error of the display
//! never ends the call. A warning that Python makes an error does.

use jiff::Timestamp;

use crate::client::observer::Waiting;
use crate::python::prelude::*;
use crate::python::{bridge, job};

/// Whether progress is shown: as the caller said, or else on a terminal and in a notebook.
pub fn wanted(py: Python<'_>, said: Option<bool>) -> PyResult<bool> {
    match said {
        Some(said) => Ok(said),
        None => convert::call_hook(py, "progress", "watched", ())?.is_truthy(py),
    }
}

/// A progress bar for at most `most` of a `unit` ("rows", "slices" or "jobs"), if it is wanted and
/// possible.
pub fn bar(
    py: Python<'_>,
    wanted: Option<bool>,
    most: Option<u64>,
    unit: &str,
) -> PyResult<Option<Py<PyAny>>> {
    if !wanted.unwrap_or(false) {
        return Ok(None);
    }
    watching(py, convert::call_hook(py, "progress", "bar", (most, unit)))
}

/// Calls a method of `progress`. After a failure there is no progress any more.
pub fn show<'py>(
    py: Python<'py>,
    progress: &mut Option<Py<PyAny>>,
    method: &str,
    values: impl Arguments<'py>,
) -> PyResult<()> {
    let Some(shown) = progress else {
        return Ok(());
    };
    let shown = shown.bind(py).call_method_out(method, values);
    if watching(py, shown)?.is_none() {
        *progress = None;
    }
    Ok(())
}

/// Announces a wait: on `progress`, else by a warning where the wait is long, raised where the
/// user's code made the call.
pub fn announce(
    py: Python<'_>,
    progress: &mut Option<Py<PyAny>>,
    waiting: Waiting,
) -> PyResult<()> {
    let until = waiting
        .until
        .map(|until| job::datetime(py, until))
        .transpose()?;
    show(py, progress, "waits", (waiting.why, &until))?;
    // The wait for a prefetched page may be over.
    let is_over = waiting.until.is_some_and(|until| until <= Timestamp::now());
    if progress.is_some() || !waiting.long || is_over {
        return Ok(());
    }
    let warning = convert::hook(py, "progress", "warning")?.call_out((waiting.why, until))?;
    warn(&warning, 1)
}

/// Warns `depth` Python frames up, not counting a coroutine's own: 1 is where the user's code made
/// the call.
pub fn warn(warning: &Object<'_>, depth: i32) -> PyResult<()> {
    let py = warning.py();
    import(py, "warnings")?
        .call_method_out("warn", (warning, py.None(), depth + bridge::frames(py)?))
        .map(drop)
}

/// `None` if it failed. A closed stream is not reported.
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
