//! Lines for Python's `logging`, from the caller's thread: a worker that asked for the interpreter could deadlock.

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::client::observer::{Level, Note};
use crate::python::bridge::runtime::call_out;

static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Logs a line. A logging set-up that raises must not break the call that it only watches; what is no `Exception`,
/// such as a Ctrl-C that came meanwhile, was not raised by it.
pub(crate) fn emit(py: Python<'_>, note: &Note) -> PyResult<()> {
    match log(py, note) {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            error.write_unraisable(py, None);
            Ok(())
        }
        result => result,
    }
}

fn log(py: Python<'_>, note: &Note) -> PyResult<()> {
    let logger = LOGGER
        .get_or_try_init(py, || {
            let logger = py.import("docplatform._hooks.logging")?.getattr("logger")?;
            PyResult::Ok(logger.unbind())
        })?
        .bind(py);
    let level = match note.level {
        Level::Info => 20,
        Level::Warning => 30,
    };
    if logger.call_method1(intern!(py, "isEnabledFor"), (level,))?.is_truthy()? {
        call_out(&logger.getattr(intern!(py, "log"))?, (level, "%s", &note.text))?;
    }
    Ok(())
}
