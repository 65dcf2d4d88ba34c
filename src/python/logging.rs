//! Log lines for Python's `logging`. The caller's thread writes them, because a worker that asks
//! for the interpreter could deadlock.

use crate::client::observer::{About, Level, LogFields, Note};
use crate::python::prelude::*;

/// `docplatform._hooks.logging`: its logger, and its functions `log` and `watch`.
static HOOKS: PyOnceLock<[Py<PyAny>; 3]> = PyOnceLock::new();

const DEBUG: u8 = 10;

fn hooks(py: Python<'_>) -> PyResult<&[Py<PyAny>; 3]> {
    convert::made_once(py, &HOOKS, || {
        let get = |name| convert::hook(py, "logging", name).map(Bound::unbind);
        Ok([get("logger")?, get("log")?, get("watch")?])
    })
}

/// Whether lines of the level DEBUG are shown. A process that has not imported `logging` shows
/// none.
pub fn debugs(py: Python<'_>) -> PyResult<bool> {
    let ask = || {
        if HOOKS.get(py).is_none() {
            let modules = import(py, "sys")?.getattr("modules")?;
            if !modules.cast::<PyDict>()?.contains("logging")? {
                return Ok(false);
            }
        }
        let [logger, ..] = hooks(py)?;
        logger
            .bind(py)
            .call_method_out("isEnabledFor", (DEBUG,))?
            .is_truthy()
    };
    match ask() {
        // A finalizer at the end of the process finds no modules.
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(false),
        asked => asked,
    }
}

/// Calls a user's function that only watches what `note` is about. Its errors are logged.
pub fn watch(
    py: Python<'_>,
    note: &Note,
    name: &str,
    function: &Py<PyAny>,
    value: Py<PyAny>,
) -> PyResult<()> {
    let [.., watch] = hooks(py)?;
    let arguments = (name, function, value, fields(py, note)?);
    watch.bind(py).call_out(arguments).map(drop)
}

pub fn emit(py: Python<'_>, note: &Note) -> PyResult<()> {
    errors::watching(py, log(py, note)).map(drop)
}

fn log(py: Python<'_>, note: &Note) -> PyResult<()> {
    let [logger, log, _] = hooks(py)?;
    let level = match note.level {
        Level::Debug => DEBUG,
        Level::Info => 20,
        Level::Warning => 30,
    };
    if logger
        .bind(py)
        .call_method_out("isEnabledFor", (level,))?
        .is_truthy()?
    {
        let arguments = (level, &note.text, fields(py, note)?);
        log.bind(py).call_out(arguments)?;
    }
    Ok(())
}

/// The attributes of the record of a note.
fn fields<'py>(py: Python<'py>, note: &Note) -> PyResult<Bound<'py, PyTuple>> {
    // A record without a call has the same attributes, so that every formatter can name them.
    let none = LogFields::default();
    let about = match &note.about {
        Some(About::Call(fields) | About::UnknownStatus { fields, .. }) => fields,
        Some(About::Unrecorded(job)) => &job.fields,
        Some(About::Key(_)) | None => &none,
    };
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let LogFields {
        method,
        path,
        project_id,
        job_id,
        host,
        attempt,
        status,
        error_type,
        request_id,
    } = about;
    let attempt = attempt.as_ref();
    (
        text(method),
        text(path),
        project_id,
        job_id,
        text(host),
        attempt.map(|attempt| attempt.number),
        *status,
        *error_type,
        attempt.map(|attempt| attempt.elapsed.as_secs_f64()),
        request_id,
    )
        .into_pyobject(py)
}
