//! Lines for Python's `logging`, from the caller's thread: a worker that asked for the interpreter could deadlock.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::observer::{Level, Note};

static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Logs a line. A logging set-up that raises must not break the call that it only watches.
pub(super) fn emit(py: Python<'_>, note: &Note) {
    if let Err(error) = log(py, note) {
        error.write_unraisable(py, None);
    }
}

fn log(py: Python<'_>, note: &Note) -> PyResult<()> {
    let logger = LOGGER
        .get_or_try_init(py, || {
            let logger = py.import("docplatform._logging")?.getattr("logger")?;
            PyResult::Ok(logger.unbind())
        })?
        .bind(py);
    let level = match note.level {
        Level::Info => 20,
        Level::Warning => 30,
    };
    if logger.call_method1(intern!(py, "isEnabledFor"), (level,))?.is_truthy()? {
        logger.call_method1(intern!(py, "log"), (level, "%s", &note.text))?;
    }
    Ok(())
}
