//! The only crossing between Python and the runtime: [`block`] for one face, [`awaitable`] for the other.
//!
//! An [`Operation`] is started, tells what happens through its [`Inbox`](crate::python::bridge::inbox::Inbox), and is finished on the caller's
//! thread: every log line, callback and conversion happens there, and no worker ever holds a Python object for longer
//! than a wake-up.

pub(crate) mod call;
pub(crate) mod inbox;
pub(crate) mod operation;
pub(crate) mod runtime;
pub(crate) mod wake;

use std::sync::Mutex;
use std::thread;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::lock;
use crate::python::bridge::call::{CallOut as _, import};
use crate::python::bridge::inbox::Waiter;
use crate::python::bridge::operation::{Event, Face, Operation, Running, Taken};

/// Why a blocking client refuses a callback that is or returns an awaitable.
pub(crate) const NOT_AWAITED: &str =
    "which Client cannot await: use AsyncClient, or a plain function";

/// Runs `op` to its end on the calling thread. Ctrl-C ends it, and drops its request. It never touches asyncio.
pub(crate) fn block(py: Python<'_>, op: Operation) -> PyResult<Py<PyAny>> {
    if let Some((name, callback)) = op.callback() {
        refuse_coroutine_function(name, callback.bind(py), NOT_AWAITED)?;
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
            Event::Called {
                name,
                returned,
                then,
            } => {
                refuse_awaitable(name, returned.bind(py))
                    .and_then(|()| then(py, returned))
                    .map_err(|error| running.interrupted(py, error))?;
            }
            Event::Aside(call) => {
                let value = call.bind(py).call_out(())?;
                running.given(value.unbind());
            }
            Event::Idle => {
                let inbox = running.inbox();
                runtime::blocked(py, || {
                    if inbox.wait_with(|| Waiter::Thread(thread::current())) {
                        thread::park_timeout(runtime::SIGNAL_CHECK_INTERVAL);
                    }
                });
                running.check_signals(py)?;
            }
        }
    }
}

/// Refuses a function whose call makes a coroutine, as far as that is known before. It may be an object whose class says so.
pub(crate) fn refuse_coroutine_function(
    name: &str,
    callback: &Bound<'_, PyAny>,
    why: &str,
) -> PyResult<()> {
    let py = callback.py();
    let asks = import(py, "inspect")?.getattr(intern!(py, "iscoroutinefunction"))?;
    let call = callback.get_type().getattr(intern!(py, "__call__"))?;
    match asks.call_out((callback,))?.is_truthy()? || asks.call_out((call,))?.is_truthy()? {
        true => Err(PyTypeError::new_err(format!(
            "{name} is a coroutine function, {why}; nothing was sent"
        ))),
        false => Ok(()),
    }
}

fn refuse_awaitable(name: &str, returned: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = returned.py();
    if !returned.hasattr(intern!(py, "__await__"))? {
        return Ok(());
    }
    // A coroutine that is closed does not warn that nobody awaited it.
    if let Some(close) = returned.getattr_opt(intern!(py, "close"))? {
        close.call_out(())?;
    }
    Err(PyTypeError::new_err(format!(
        "{name} returned an awaitable, {NOT_AWAITED}"
    )))
}

impl Face {
    /// Runs `op` as the callers of this face want it.
    pub(crate) fn run(self, py: Python<'_>, op: Operation) -> PyResult<Py<PyAny>> {
        match self {
            Self::Blocking => block(py, op),
            Self::Async => awaitable(py, op),
        }
    }
}

/// The operation of an `AsyncClient` as its coroutine drives it: see `docplatform._hooks.drive`. Its steps are taken one after
/// another: the coroutine sees to that.
#[pyclass(frozen, name = "_Operation", module = "docplatform._native")]
pub(crate) struct DrivenOperation(Mutex<OperationState>);

enum OperationState {
    /// Not awaited yet.
    New(Operation),
    /// Under way. `then` takes what comes of the awaitable of a user's function.
    Running {
        running: Running,
        then: Option<Taken>,
    },
    /// It has come to its value, which nobody took yet.
    Done(Py<PyAny>),
    /// Over, or in the middle of a step.
    Over,
}

#[pymethods]
impl DrivenOperation {
    /// Goes on up to what is to be awaited next, which is returned; `None` at the end.
    fn step(&self, py: Python<'_>, given: Py<PyAny>) -> PyResult<Option<Py<PyAny>>> {
        // Taken out, so that an error drops it, and no lock is held while Python runs.
        let mut running = match self.replace(OperationState::Over) {
            OperationState::New(op) => {
                let mut running = op.start(py, Face::Async)?;
                if running.take_turn_first() {
                    return self.pause(py, running);
                }
                running
            }
            OperationState::Running { mut running, then } => {
                match then {
                    Some(then) => {
                        then(py, given).map_err(|error| running.interrupted(py, error))?;
                    }
                    None => running.given(given),
                }
                running
            }
            OperationState::Done(_) | OperationState::Over => return Ok(None),
        };
        loop {
            match running.next(py)? {
                Event::Done(value) => {
                    self.replace(OperationState::Done(value));
                    return Ok(None);
                }
                Event::Begun if running.take_turn_first() => return self.pause(py, running),
                Event::Begun => {}
                Event::Called { returned, then, .. } => {
                    let awaitable = returned.bind(py).hasattr(intern!(py, "__await__"));
                    if awaitable.map_err(|error| running.interrupted(py, error))? {
                        self.replace(OperationState::Running {
                            running,
                            then: Some(then),
                        });
                        return Ok(Some(returned));
                    }
                    then(py, returned).map_err(|error| running.interrupted(py, error))?;
                }
                Event::Aside(call) => {
                    self.replace(OperationState::Running {
                        running,
                        then: None,
                    });
                    return hooks(py)?
                        .aside
                        .bind(py)
                        .call_out((call,))
                        .map(|made| Some(made.unbind()));
                }
                Event::Idle => {
                    let future = hooks(py)?.future.bind(py).call_out(())?;
                    if running.wake(&future, runtime::waker(py)?)? {
                        self.replace(OperationState::Running {
                            running,
                            then: None,
                        });
                        return Ok(Some(future.unbind()));
                    }
                    future.call_method_out(intern!(py, "cancel"), ())?;
                }
            }
        }
    }

    /// Ends it from outside; `error` gets a note on what becomes of a write or a job.
    fn interrupt(&self, error: &Bound<'_, PyAny>) {
        if let OperationState::Running { running, .. } = self.replace(OperationState::Over) {
            running.interrupted(error.py(), PyErr::from_value(error.clone()));
        }
    }

    /// Its value, once there is no more to await.
    fn result(&self, py: Python<'_>) -> Py<PyAny> {
        match self.replace(OperationState::Over) {
            OperationState::Done(value) => value,
            _ => py.None(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A state that is busy is in use, so there is nothing to collect.
        let Ok(state) = self.0.try_lock() else {
            return Ok(());
        };
        match &*state {
            OperationState::New(op) => visit.call(op.callback().map(|(_, callback)| callback)),
            OperationState::Running { running, .. } => {
                visit.call(running.callback().map(|(_, callback)| callback))
            }
            OperationState::Done(value) => visit.call(value),
            OperationState::Over => Ok(()),
        }
    }

    fn __clear__(&self) {
        self.replace(OperationState::Over);
    }
}

impl DrivenOperation {
    fn replace(&self, state: OperationState) -> OperationState {
        std::mem::replace(&mut *lock(&self.0), state)
    }

    fn pause(&self, py: Python<'_>, running: Running) -> PyResult<Option<Py<PyAny>>> {
        self.replace(OperationState::Running {
            running,
            then: None,
        });
        // It lets the loop have a turn when it is awaited.
        Ok(Some(hooks(py)?.turn.clone_ref(py)))
    }
}

/// What the crossing needs of `docplatform._hooks.drive`.
struct Drive {
    coroutine: Py<PyAny>,
    /// Lets the loop have a turn when it is awaited.
    turn: Py<PyAny>,
    /// Makes a future of the running loop, which keeps it.
    future: Py<PyAny>,
    /// Makes an awaitable for the value of a call, which runs in another thread.
    aside: Py<PyAny>,
    /// Gives `coroutine` under a method's name, for its coroutines to have.
    named: Py<PyAny>,
}

static DRIVE: PyOnceLock<Drive> = PyOnceLock::new();

fn hooks(py: Python<'_>) -> PyResult<&Drive> {
    DRIVE.get_or_try_init(py, || {
        let module = import(py, "docplatform._hooks.drive")?;
        Ok(Drive {
            coroutine: module.getattr("drive")?.unbind(),
            turn: module.getattr("TURN")?.unbind(),
            future: module.getattr("future")?.unbind(),
            aside: module.getattr("aside")?.unbind(),
            named: module.getattr("named")?.unbind(),
        })
    })
}

/// A lazy coroutine that runs `op` when it is awaited. Its name is the blocking method's with `Async` before it.
pub(crate) fn awaitable(py: Python<'_>, op: Operation) -> PyResult<Py<PyAny>> {
    let drive = hooks(py)?.named.bind(py).call_out((op.name,))?;
    drive
        .call_out((DrivenOperation(Mutex::new(OperationState::New(op))),))
        .map(Bound::unbind)
}

/// How many frames of a coroutine of ours are on top of the stack.
pub(crate) fn frames(py: Python<'_>) -> PyResult<i32> {
    let Some(hooks) = DRIVE.get(py) else {
        return Ok(0);
    };
    let frame = import(py, "sys")?.getattr("_getframe")?.call_out(())?;
    Ok(i32::from(
        frame
            .getattr("f_code")?
            .is(hooks.coroutine.bind(py).getattr("__code__")?),
    ))
}
