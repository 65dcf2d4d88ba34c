//! The operation of an `AsyncClient` as its coroutine drives it: see `docplatform._hooks.drive`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use tokio::sync::oneshot;

use crate::python::bridge::drive;
use crate::python::bridge::op::{Face, Op};
use crate::python::bridge::running::{Event, Running};
use crate::python::bridge::runtime;

/// Its steps are taken one after another: the coroutine sees to that.
#[pyclass(frozen, name = "_Operation", module = "docplatform._native")]
pub(crate) struct Operation(Mutex<State>);

enum State {
    /// Not awaited yet.
    New(Op),
    /// Under way. `seen` is to be told once what `on_poll` returned has been awaited.
    Running { running: Running, seen: Option<oneshot::Sender<()>> },
    /// It has come to its value, which nobody took yet.
    Done(Py<PyAny>),
    /// Over, or in the middle of a step.
    Over,
}

#[pymethods]
impl Operation {
    /// Goes on up to what is to be awaited next, which is returned; `None` at the end.
    fn step(&self, py: Python<'_>, given: Py<PyAny>) -> PyResult<Option<Py<PyAny>>> {
        // Taken out, so that an error drops it, and no lock is held while Python runs.
        let mut running = match self.replace(State::Over) {
            State::New(op) => {
                let mut running = op.start(py, Face::Async)?;
                if running.take_turn_first() {
                    return self.pause(py, running);
                }
                running
            }
            State::Running { mut running, seen } => {
                if let Some(seen) = seen {
                    let _ = seen.send(());
                }
                running.given(given);
                running
            }
            State::Done(_) | State::Over => return Ok(None),
        };
        loop {
            match running.next(py)? {
                Event::Done(value) => {
                    self.replace(State::Done(value));
                    return Ok(None);
                }
                Event::Begun if running.take_turn_first() => return self.pause(py, running),
                Event::Begun => {}
                Event::Polled { returned, seen } => {
                    let awaitable = returned.bind(py).hasattr(intern!(py, "__await__"));
                    if awaitable.map_err(|error| running.interrupted(py, error))? {
                        self.replace(State::Running { running, seen: Some(seen) });
                        return Ok(Some(returned));
                    }
                    let _ = seen.send(());
                }
                Event::Aside(call) => {
                    self.replace(State::Running { running, seen: None });
                    return drive::aside(py, call).map(Some);
                }
                Event::Idle => {
                    let future = drive::future(py)?;
                    if running.wake(&future, runtime::waker(py)?)? {
                        self.replace(State::Running { running, seen: None });
                        return Ok(Some(future.unbind()));
                    }
                    future.call_method0(intern!(py, "cancel"))?;
                }
            }
        }
    }

    /// Ends it from outside; `error` gets a note on what becomes of a write or a job.
    fn interrupt(&self, error: &Bound<'_, PyAny>) {
        if let State::Running { running, .. } = self.replace(State::Over) {
            running.interrupted(error.py(), PyErr::from_value(error.clone()));
        }
    }

    /// Its value, once there is no more to await.
    fn result(&self, py: Python<'_>) -> Py<PyAny> {
        match self.replace(State::Over) {
            State::Done(value) => value,
            _ => py.None(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A state that is busy is in use, so there is nothing to collect.
        let Ok(state) = self.0.try_lock() else {
            return Ok(());
        };
        match &*state {
            State::New(op) => visit.call(op.callback()),
            State::Running { running, .. } => visit.call(running.callback()),
            State::Done(value) => visit.call(value),
            State::Over => Ok(()),
        }
    }

    fn __clear__(&self) {
        self.replace(State::Over);
    }
}

impl Operation {
    pub(crate) fn new(op: Op) -> Self {
        Self(Mutex::new(State::New(op)))
    }

    fn replace(&self, state: State) -> State {
        let mut held: MutexGuard<'_, State> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, state)
    }

    fn pause(&self, py: Python<'_>, running: Running) -> PyResult<Option<Py<PyAny>>> {
        self.replace(State::Running { running, seen: None });
        drive::turn(py).map(Some)
    }
}
