//! The only crossing between Python and the runtime: [`block`] for one face, [`awaitable`] for the other.
//!
//! An [`Op`] is started, tells what happens through its [`Port`](crate::python::bridge::port::Port), and is finished on the caller's
//! thread: every log line, callback and conversion happens there, and no worker ever holds a Python object for longer
//! than a wake-up.

pub(crate) mod drive;
pub(crate) mod op;
pub(crate) mod operation;
pub(crate) mod port;
pub(crate) mod running;
pub(crate) mod runtime;
pub(crate) mod waker;

use std::thread;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::python::bridge::op::{Face, Op};
use crate::python::bridge::operation::Operation;
use crate::python::bridge::port::Waiter;
use crate::python::bridge::running::Event;

/// What a blocking client cannot do with what `on_poll` is or returns.
const NOT_AWAITED: &str = "which Client cannot await: use AsyncClient, or a plain function";

/// Runs `op` to its end on the calling thread. Ctrl-C ends it, and drops its request. It never touches asyncio.
pub(crate) fn block(py: Python<'_>, op: Op) -> PyResult<Py<PyAny>> {
    if let Some(on_poll) = op.callback()
        && is_coroutine_function(on_poll.bind(py))?
    {
        return Err(PyTypeError::new_err(format!(
            "on_poll is a coroutine function, {NOT_AWAITED}; nothing was sent"
        )));
    }
    let mut running = op.start(py, Face::Blocking)?;
    loop {
        match running.next(py)? {
            Event::Done(value) => {
                if running.matters() {
                    running.check_signals(py)?;
                }
                return Ok(value);
            }
            Event::Begun => {}
            Event::Polled { returned, seen } => {
                refuse_awaitable(returned.bind(py)).map_err(|error| running.interrupted(py, error))?;
                let _ = seen.send(());
            }
            Event::Aside(call) => {
                let value = runtime::call_out(call.bind(py), ())?;
                running.given(value.unbind());
            }
            Event::Idle => {
                let port = running.port();
                runtime::blocked(py, || {
                    if port.wait_with(|| Waiter::Thread(thread::current())) {
                        thread::park_timeout(runtime::STEP);
                    }
                });
                running.check_signals(py)?;
            }
        }
    }
}

/// Whether calling it makes a coroutine, as far as that can be known before: it may be an object whose class says so.
fn is_coroutine_function(callback: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = callback.py();
    let asks = py.import("inspect")?.getattr(intern!(py, "iscoroutinefunction"))?;
    let call = callback.get_type().getattr(intern!(py, "__call__"))?;
    Ok(asks.call1((callback,))?.is_truthy()? || asks.call1((call,))?.is_truthy()?)
}

fn refuse_awaitable(returned: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = returned.py();
    if !returned.hasattr(intern!(py, "__await__"))? {
        return Ok(());
    }
    // A coroutine that is closed does not warn that nobody awaited it.
    if let Some(close) = returned.getattr_opt(intern!(py, "close"))? {
        close.call0()?;
    }
    Err(PyTypeError::new_err(format!("on_poll returned an awaitable, {NOT_AWAITED}")))
}

impl Face {
    /// Runs `op` as the callers of this face want it.
    pub(crate) fn run(self, py: Python<'_>, op: Op) -> PyResult<Py<PyAny>> {
        match self {
            Self::Blocking => block(py, op),
            Self::Async => awaitable(py, op),
        }
    }
}

/// A lazy coroutine that runs `op` when it is awaited.
pub(crate) fn awaitable(py: Python<'_>, op: Op) -> PyResult<Py<PyAny>> {
    drive::coroutine(py, op.name, Operation::new(op))
}
