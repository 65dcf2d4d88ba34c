//! The only crossing between Python and the runtime: [`block`] for one face, [`awaitable`] for the other.
//!
//! An [`Op`] is started, tells what happens through its [`Port`](super::port::Port), and is finished on the caller's
//! thread: every log line, callback and conversion happens there, and no worker ever holds a Python object for longer
//! than a wake-up.

use std::thread;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::coroutine::Coroutine;
use super::op::Op;
use super::port::Waiter;
use super::running::Event;
use super::runtime;

/// Runs `op` to its end on the calling thread. Ctrl-C ends it, and drops its request. It never touches asyncio.
pub(super) fn block(py: Python<'_>, op: Op) -> PyResult<Py<PyAny>> {
    let mut running = op.start(py)?;
    loop {
        match running.next(py)? {
            Event::Done(value) => return Ok(value),
            Event::Begun => {}
            Event::Polled { returned, seen } => {
                let returned = returned.bind(py);
                if returned.hasattr(intern!(py, "__await__"))? {
                    // A coroutine that is closed does not warn that nobody awaited it.
                    if let Some(close) = returned.getattr_opt(intern!(py, "close"))? {
                        close.call0()?;
                    }
                    return Err(PyTypeError::new_err(
                        "on_poll returned an awaitable, which Client cannot await: use AsyncClient, or a plain function",
                    ));
                }
                let _ = seen.send(());
            }
            Event::Idle => {
                let port = running.port();
                runtime::blocked(py, || {
                    if port.wait_with(|| Waiter::Thread(thread::current())) {
                        thread::park_timeout(runtime::STEP);
                    }
                });
                py.check_signals().map_err(|error| running.interrupted(py, error))?;
            }
        }
    }
}

/// A lazy coroutine object that runs `op` when it is awaited.
pub(super) fn awaitable(py: Python<'_>, op: Op) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, Coroutine::new(op))?.into_any())
}
