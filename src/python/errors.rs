//! The crate's error as a Python exception. The classes live in `docplatform/errors.py`.

use crate::error::Attempt;
use crate::python::job;
use crate::python::prelude::*;
use crate::python::words::{carry, words};

/// `error` as the exception that stands for it in Python.
pub fn to_py(py: Python<'_>, error: Error) -> PyErr {
    let exception = match error.kind {
        Kind::Argument => PyValueError::new_err(words(&error.message)),
        Kind::Misuse => PyRuntimeError::new_err(words(&error.message)),
        _ => return build(py, error).map_or_else(|failed| failed, PyErr::from_value),
    };
    carry(exception.value(py), &error.message)
        .err()
        .unwrap_or(exception)
}

/// Marks the error of a write that could not begin: nothing was sent.
pub fn not_sent<T>(py: Python<'_>, begun: PyResult<T>) -> PyResult<T> {
    begun.inspect_err(|error| {
        let value = error.value(py);
        // Only the package's own errors have an outcome.
        if value.hasattr("outcome").unwrap_or(false) {
            let _ = value.setattr("outcome", Outcome::NotSent.as_str());
        }
    })
}

/// Sets the checkpoint of an error, if its class has one.
pub fn tell_checkpoint(error: &Object<'_>, checkpoint: Option<String>) -> PyResult<()> {
    match error.hasattr("checkpoint")? {
        true => error.setattr("checkpoint", checkpoint),
        false => Ok(()),
    }
}

/// The result of code that only watches a call. Its failure is reported and does not end the call.
/// Something that is no `Exception`, such as Ctrl-C, is raised.
pub fn watching<T>(py: Python<'_>, watched: PyResult<T>) -> PyResult<Option<T>> {
    match watched {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            error.write_unraisable(py, None);
            Ok(None)
        }
        watched => watched.map(Some),
    }
}

/// An exception of one of our classes.
pub fn of_class<'py>(py: Python<'py>, name: &str, message: &Message) -> PyResult<Object<'py>> {
    let exception = import(py, "docplatform.errors")?.call_method_out(name, (words(message),))?;
    carry(&exception, message)?;
    Ok(exception)
}

fn build(py: Python<'_>, mut error: Error) -> PyResult<Object<'_>> {
    let exception = of_class(py, error.kind.class(error.status), &error.message)?;
    let attempts = error.attempts.iter().map(|one| attempt_to_py(py, one));
    let attempts = PyTuple::new(py, attempts.collect::<PyResult<Vec<_>>>()?)?;
    exception.setattr("attempts", attempts)?;
    let sent = error.attempts.iter().filter(|attempt| attempt.sent).count();
    exception.setattr("_sent", sent)?;
    exception.setattr("deadline_exceeded", error.deadline_exceeded)?;
    exception.setattr("outcome", error.outcome.map(Outcome::as_str))?;
    // Only the classes that document these attributes have them.
    let answered = matches!(error.kind, Kind::Status | Kind::HeldBack);
    if answered || matches!(error.kind, Kind::Response | Kind::UnconfirmedWrite) {
        exception.setattr("status", error.status)?;
        exception.setattr("body", error.body.take())?;
        exception.setattr("request_id", error.request_id.take())?;
    }
    if answered {
        exception.setattr("message", error.service_message.take())?;
        exception.setattr(
            "retry_after",
            error.retry_after.map(|wait| wait.as_secs_f64()),
        )?;
    }
    if let Some(at) = error.resets_at {
        exception.setattr("resets_at", job::datetime(py, at)?)?;
    }
    if let Some(source) = error.source.take() {
        exception.setattr("__cause__", to_py(py, source).into_value(py))?;
    }
    Ok(exception)
}

pub fn attempt_to_py(py: Python<'_>, attempt: &Attempt) -> Returned {
    convert::named_tuple(
        py,
        "Attempt",
        (
            attempt.number,
            attempt.status,
            attempt.class.map(|_| attempt.error.as_str()),
            attempt.elapsed.as_secs_f64(),
            attempt.waited.as_secs_f64(),
        ),
    )
}

impl From<Error> for PyErr {
    /// For errors of Rust code that holds the interpreter: wrong arguments, missing settings.
    fn from(error: Error) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "`?` in a method called from Python: it is attached"
        )]
        Python::attach(|py| to_py(py, error))
    }
}
