//! What the extension needs of `docplatform._hooks.drive`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::python::bridge::operation::Operation;

struct Drive {
    coroutine: Py<PyAny>,
    turn: Py<PyAny>,
    future: Py<PyAny>,
    aside: Py<PyAny>,
    /// [`coroutine`](Self::coroutine) under the name of each method, for its coroutines to have.
    named: Mutex<HashMap<&'static str, Py<PyAny>>>,
}

static DRIVE: PyOnceLock<Drive> = PyOnceLock::new();

fn module(py: Python<'_>) -> PyResult<&Drive> {
    DRIVE.get_or_try_init(py, || {
        let module = py.import("docplatform._hooks.drive")?;
        Ok(Drive {
            coroutine: module.getattr("drive")?.unbind(),
            turn: module.getattr("TURN")?.unbind(),
            future: module.getattr("future")?.unbind(),
            aside: module.getattr("aside")?.unbind(),
            named: Mutex::default(),
        })
    })
}

/// A coroutine that runs `operation`. `name` is the blocking method's: the async face's class has the same with `Async` before it.
pub(crate) fn coroutine(py: Python<'_>, name: &'static str, operation: Operation) -> PyResult<Py<PyAny>> {
    let module = module(py)?;
    // Locked for moments, and never while Python runs.
    let named = || module.named.lock().unwrap_or_else(PoisonError::into_inner);
    let known = named().get(name).map(|function| function.clone_ref(py));
    if let Some(function) = known {
        return function.call1(py, (operation,));
    }
    let function =
        py.import("docplatform._hooks.drive")?.getattr("named")?.call1((format!("Async{name}"),))?.unbind();
    named().insert(name, function.clone_ref(py));
    function.call1(py, (operation,))
}

/// What lets the loop have a turn when it is awaited.
pub(crate) fn turn(py: Python<'_>) -> PyResult<Py<PyAny>> {
    Ok(module(py)?.turn.clone_ref(py))
}

/// An awaitable for the value of `call`, which runs in another thread.
pub(crate) fn aside(py: Python<'_>, call: Py<PyAny>) -> PyResult<Py<PyAny>> {
    module(py)?.aside.call1(py, (call,))
}

/// A future of the running loop, which keeps it.
pub(crate) fn future(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    module(py)?.future.bind(py).call0()
}

/// How many frames of a coroutine of ours are on top of the stack.
pub(crate) fn frames(py: Python<'_>) -> PyResult<i32> {
    let Some(module) = DRIVE.get(py) else {
        return Ok(0);
    };
    let frame = py.import("sys")?.getattr("_getframe")?.call0()?;
    Ok(i32::from(frame.getattr("f_code")?.is(module.coroutine.bind(py).getattr("__code__")?)))
}
