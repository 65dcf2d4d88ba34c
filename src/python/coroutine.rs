//! The lazy coroutine object: nothing happens before it is awaited, and everything that takes a coroutine takes it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyStopIteration, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use pyo3::{PyErr, intern};
use pyo3_async_runtimes::TaskLocals;
use tokio::sync::oneshot;

use super::op::Op;
use super::running::{Event, Running, add_note, of_write};
use super::runtime::call_out;
use crate::error::Outcome;

/// What `AsyncClient`'s methods return: a `collections.abc.Coroutine`.
#[pyclass(frozen, name = "Coroutine", module = "docplatform._native")]
pub(super) struct Coroutine {
    name: &'static str,
    state: Mutex<State>,
}

enum State {
    /// Not awaited yet.
    New(Op),
    /// Inside `send` or `throw`.
    Executing,
    /// Has let the loop have a turn.
    Paused(Running),
    /// Waiting for what `on` yields for.
    Suspended(Suspended),
    /// Ended.
    Closed,
}

struct Suspended {
    running: Running,
    /// The iterator of an asyncio future, or of what `on_poll` returned.
    on: Py<PyAny>,
    /// Where `on` is what `on_poll` returned: to be told when that is done.
    seen: Option<oneshot::Sender<()>>,
}

/// What one step of a coroutine comes to.
enum Step {
    /// It could go on, but the loop shall have a turn.
    Pause(Running),
    /// It waits; the loop gets this.
    Yield(Suspended, Py<PyAny>),
    /// It has ended.
    Return(Py<PyAny>),
}

#[pymethods]
impl Coroutine {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.send(py, py.None())
    }

    fn send(&self, py: Python<'_>, value: Py<PyAny>) -> PyResult<Py<PyAny>> {
        let step = match self.enter()? {
            State::New(op) => {
                if !value.is_none(py) {
                    *self.state() = State::New(op);
                    return Err(PyTypeError::new_err(
                        "can't send non-None value to a just-started coroutine",
                    ));
                }
                start(py, op)
            }
            State::Paused(running) => advance(py, running),
            State::Suspended(Suspended { running, on, seen }) => {
                let resumed = step(on.bind(py));
                resume(py, running, on, seen, resumed)
            }
            State::Executing | State::Closed => Err(reused()),
        };
        self.leave(py, step)
    }

    #[pyo3(signature = (typ, val = None, tb = None))]
    fn throw(
        &self,
        py: Python<'_>,
        typ: Bound<'_, PyAny>,
        val: Option<Bound<'_, PyAny>>,
        tb: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let error = thrown(&typ, val, tb)?;
        let step = match self.enter()? {
            // What `on_poll` returned may want to clean up, or even go on.
            State::Suspended(Suspended { running, on, seen: Some(seen) }) => {
                let resumed = match on.bind(py).getattr_opt(intern!(py, "throw")) {
                    Ok(Some(throw)) => call_out(&throw, (error.value(py),)),
                    Ok(None) => Err(error),
                    Err(other) => Err(other),
                };
                resume(py, running, on, Some(seen), resumed)
            }
            State::Suspended(Suspended { running, .. }) | State::Paused(running) => {
                running.release(py);
                Err(running.interrupted(py, error))
            }
            State::New(op) => {
                if op.writes {
                    add_note(py, &error, &of_write(Outcome::NotSent, None));
                }
                Err(error)
            }
            State::Executing | State::Closed => Err(reused()),
        };
        self.leave(py, step)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state();
        if matches!(*state, State::Executing) {
            return Err(PyValueError::new_err("coroutine already executing"));
        }
        let ended = std::mem::replace(&mut *state, State::Closed);
        // Outside the lock: its request is dropped with it.
        drop(state);
        if let State::Suspended(Suspended { running, .. }) = &ended {
            running.release(py);
        }
        // What `on_poll` returned may want to clean up, also where somebody else still holds it.
        if let State::Suspended(Suspended { on, seen: Some(_), .. }) = &ended
            && let Some(close) = on.bind(py).getattr_opt(intern!(py, "close"))?
        {
            call_out(&close, ())?;
        }
        Ok(())
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name.rsplit_once('.').map_or(self.name, |(_, name)| name)
    }

    #[getter]
    fn __qualname__(&self) -> &str {
        self.name
    }

    #[getter]
    fn cr_running(&self) -> bool {
        matches!(*self.state(), State::Executing)
    }

    fn __repr__(&self) -> String {
        format!("<coroutine object {}>", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A state that is busy is in use, so there is nothing to collect.
        let Ok(state) = self.state.try_lock() else {
            return Ok(());
        };
        match &*state {
            State::New(op) => visit.call(op.callback()),
            State::Paused(running) => visit.call(running.callback()),
            State::Suspended(Suspended { running, on, .. }) => {
                visit.call(on)?;
                visit.call(running.callback())
            }
            State::Executing | State::Closed => Ok(()),
        }
    }

    fn __clear__(&self) {
        let state = std::mem::replace(&mut *self.state(), State::Closed);
        drop(state);
    }
}

impl Coroutine {
    pub(super) fn new(op: Op) -> Self {
        Self { name: op.name, state: Mutex::new(State::New(op)) }
    }

    /// Never held while Python runs.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the state out, so that a second entry is seen.
    fn enter(&self) -> PyResult<State> {
        let mut state = self.state();
        match *state {
            State::Executing => Err(PyValueError::new_err("coroutine already executing")),
            State::Closed => Err(reused()),
            _ => Ok(std::mem::replace(&mut *state, State::Executing)),
        }
    }

    fn leave(&self, py: Python<'_>, step: PyResult<Step>) -> PyResult<Py<PyAny>> {
        let (state, result) = match step {
            Ok(Step::Pause(running)) => (State::Paused(running), Ok(py.None())),
            Ok(Step::Yield(suspended, value)) => (State::Suspended(suspended), Ok(value)),
            // In a tuple of its own: a value that is a tuple would be taken for arguments.
            Ok(Step::Return(value)) => (State::Closed, Err(PyStopIteration::new_err((value,)))),
            // As Python's own coroutines do: it would be taken for the result.
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                let raised = PyRuntimeError::new_err("coroutine raised StopIteration");
                raised.set_cause(py, Some(error));
                (State::Closed, Err(raised))
            }
            Err(error) => (State::Closed, Err(error)),
        };
        *self.state() = state;
        result
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        if !matches!(*self.state(), State::New(_)) {
            return;
        }
        Python::try_attach(|py| {
            // As Python's own coroutines do. An exception on its way must not get lost over it.
            let on_its_way = PyErr::take(py);
            let message = format!("coroutine '{}' was never awaited", self.name);
            let message = std::ffi::CString::new(message).unwrap_or_default();
            if let Err(error) = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 1) {
                // This object is on its way out: its text stands for it.
                error.write_unraisable(py, Some(&PyString::new(py, &self.__repr__())));
            }
            if let Some(error) = on_its_way {
                error.restore(py);
            }
        });
    }
}

/// Begins; nothing is sent where there is no loop to come back to.
fn start(py: Python<'_>, op: Op) -> PyResult<Step> {
    if op.needs_loop() {
        TaskLocals::with_running_loop(py)?;
    }
    let mut running = op.start(py)?;
    if running.take_turn_first() {
        return Ok(Step::Pause(running));
    }
    advance(py, running)
}

/// One step of what is waited for: user code, where it came from `on_poll`.
fn step<'py>(on: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    call_out(&on.getattr(intern!(on.py(), "__next__"))?, ())
}

/// Goes on until there is something to wait for.
fn advance(py: Python<'_>, mut running: Running) -> PyResult<Step> {
    loop {
        match running.next(py)? {
            Event::Done(value) => return Ok(Step::Return(value)),
            Event::Begun if running.take_turn_first() => return Ok(Step::Pause(running)),
            Event::Begun => {}
            Event::Polled { returned, seen } => {
                let on = awaited(returned.bind(py)).map_err(|error| running.interrupted(py, error))?;
                let Some(on) = on else {
                    let _ = seen.send(());
                    continue;
                };
                let yielded = step(&on);
                return resume(py, running, on.unbind(), Some(seen), yielded);
            }
            Event::Idle => {
                let waiting = wait_in_loop(py, &running).map_err(|error| running.interrupted(py, error))?;
                if let Some((on, yielded)) = waiting {
                    return Ok(Step::Yield(Suspended { running, on, seen: None }, yielded));
                }
            }
        }
    }
}

/// What awaits that which `on_poll` returned, where it is to be awaited.
fn awaited<'py>(returned: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let awaits = returned.getattr_opt(intern!(returned.py(), "__await__"))?;
    awaits.map(|awaits| call_out(&awaits, ())).transpose()
}

/// Has the loop look again when there is something to deal with: what awaits that, and what it yields. `None` if there
/// is already.
fn wait_in_loop(py: Python<'_>, running: &Running) -> PyResult<Option<(Py<PyAny>, Py<PyAny>)>> {
    let locals = TaskLocals::with_running_loop(py)?;
    let Some(future) = running.wake_up(py, &locals)? else {
        return Ok(None);
    };
    let on = future.call_method0(intern!(py, "__await__"))?;
    let yielded = on.call_method0(intern!(py, "__next__"))?.unbind();
    Ok(Some((on.unbind(), yielded)))
}

/// Goes on behind what `on` yielded, returned or raised.
fn resume(
    py: Python<'_>,
    running: Running,
    on: Py<PyAny>,
    seen: Option<oneshot::Sender<()>>,
    resumed: PyResult<Bound<'_, PyAny>>,
) -> PyResult<Step> {
    match resumed {
        Ok(yielded) => Ok(Step::Yield(Suspended { running, on, seen }, yielded.unbind())),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
            if let Some(seen) = seen {
                let _ = seen.send(());
            }
            advance(py, running)
        }
        Err(error) => {
            running.release(py);
            Err(running.interrupted(py, error))
        }
    }
}

fn reused() -> PyErr {
    PyRuntimeError::new_err("cannot reuse already awaited coroutine")
}

/// The exception that `throw` was given, in either of its forms.
fn thrown(
    typ: &Bound<'_, PyAny>,
    val: Option<Bound<'_, PyAny>>,
    tb: Option<Bound<'_, PyAny>>,
) -> PyResult<PyErr> {
    let py = typ.py();
    let value = match typ.cast::<PyType>() {
        Err(_) => typ.clone(),
        Ok(class) => match val {
            Some(value) if value.is_instance(class)? => value,
            Some(value) => class.call1((value,))?,
            None => class.call0()?,
        },
    };
    if let Some(tb) = tb {
        value.setattr(intern!(py, "__traceback__"), tb)?;
    }
    Ok(PyErr::from_value(value))
}
