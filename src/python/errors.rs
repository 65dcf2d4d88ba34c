//! The crate's error as a Python exception. The classes live in `docplatform/errors.py`.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::job;
use crate::error::{Attempt, Error, Kind};

/// `error` as the exception that its kind and status name.
pub(super) fn to_py(py: Python<'_>, error: Error) -> PyErr {
    match error.kind {
        Kind::Argument => PyValueError::new_err(error.message.clone()),
        Kind::Misuse => PyRuntimeError::new_err(error.message.clone()),
        _ => build(py, error).map_or_else(|failed| failed, PyErr::from_value),
    }
}

fn build(py: Python<'_>, mut error: Error) -> PyResult<Bound<'_, PyAny>> {
    let class = py.import("docplatform.errors")?.getattr(error.kind.class(error.status))?;
    let exception = class.call1((error.message.as_str(),))?;
    let attempts = error.attempts.iter().map(|attempt| attempt_to_py(py, attempt));
    exception.setattr("attempts", PyTuple::new(py, attempts.collect::<PyResult<Vec<_>>>()?)?)?;
    exception.setattr("deadline_exceeded", error.deadline_exceeded)?;
    exception.setattr("outcome", error.outcome.map(crate::error::Outcome::as_str))?;
    // What a class does not document, its instances do not have.
    let fields = [
        ("status", error.status.into_pyobject(py)?.into_any()),
        ("message", error.service_message.take().into_pyobject(py)?.into_any()),
        ("body", error.body.take().into_pyobject(py)?.into_any()),
        ("request_id", error.request_id.take().into_pyobject(py)?.into_any()),
        ("retry_after", error.retry_after.map(|wait| wait.as_secs_f64()).into_pyobject(py)?.into_any()),
    ];
    for (name, value) in fields {
        if class.hasattr(name)? {
            exception.setattr(name, value)?;
        }
    }
    if let Some(at) = error.resets_at {
        exception.setattr("resets_at", job::datetime(py, at)?)?;
    }
    if let Some(job) = error.job.take() {
        exception.setattr("job", job::wrap(py, job)?)?;
    }
    if let Some(source) = error.source.take() {
        exception.setattr("__cause__", to_py(py, source).into_value(py))?;
    }
    Ok(exception)
}

fn attempt_to_py<'py>(py: Python<'py>, attempt: &Attempt) -> PyResult<Bound<'py, PyAny>> {
    py.import("docplatform.types")?.getattr("Attempt")?.call1((
        attempt.number,
        attempt.status,
        attempt.error.as_str(),
        attempt.elapsed.as_secs_f64(),
        attempt.waited.as_secs_f64(),
        attempt.sent,
    ))
}

impl From<Error> for PyErr {
    /// For what fails before an operation starts: wrong arguments, missing settings.
    fn from(error: Error) -> Self {
        #[expect(clippy::disallowed_methods, reason = "`?` in a method called from Python: it is attached")]
        Python::attach(|py| to_py(py, error))
    }
}
