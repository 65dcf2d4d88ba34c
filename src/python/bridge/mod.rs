//! The only crossing between Python and the runtime: [`block`] for one face, [`awaitable`] for the
//! other.
//!
//! An [`Operation`] is started, sends messages to its
//! [`Inbox`](crate::python::bridge::inbox::Inbox), and is finished on the caller's thread. Every
//! log line and callback happens there, and every conversion to Python's objects but those of an
//! `AsyncClient` to frames and files, which take a thread of asyncio's. CSV and JSON Lines are
//! written by the runtime. No worker touches a Python object outside a wake-up.

pub mod callout;
pub mod cancel;
pub mod fork;
pub mod inbox;
pub mod operation;
pub mod runtime;
pub mod wake;

use std::sync::Mutex;
use std::thread;

use pyo3_async_runtimes::get_running_loop;

use crate::lock;
use crate::python::bridge::inbox::Waiter;
use crate::python::bridge::operation::{Event, OnReturn, Running};
use crate::python::prelude::*;

/// Why a blocking client refuses a callback that is or returns an awaitable.
pub const NOT_AWAITED: &str = "which Client cannot await: use AsyncClient, or a plain function";

/// Runs `op` to its end on the calling thread. Ctrl-C ends it and cancels its request. The command
/// line first waits for the answer to a write (`_hooks/patience.py`). It never touches asyncio.
pub fn block(py: Python<'_>, op: Operation) -> Returned {
    if let Some((name, callback)) = op.callbacks.function() {
        refuse_coroutine_function(name, callback.bind(py), NOT_AWAITED)?;
    }
    let mut running = op.start(py, Face::Blocking)?;
    loop {
        match running.next(py)? {
            Event::Done(value) => {
                if running.has_note() {
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
            Event::Offload(call) => {
                let value = call.bind(py).call_out(())?;
                running.given(value.unbind());
            }
            Event::Idle => {
                let inbox = &running.inbox;
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

/// Refuses a coroutine function, or an object whose `__call__` is one.
pub fn refuse_coroutine_function(name: &str, callback: &Object<'_>, why: &str) -> PyResult<()> {
    let py = callback.py();
    let asks = import(py, "inspect")?.getattr("iscoroutinefunction")?;
    let call = callback.get_type().getattr("__call__")?;
    if asks.call_out((callback,))?.is_truthy()? || asks.call_out((call,))?.is_truthy()? {
        let text = format!("{name} is a coroutine function, {why}; nothing was sent");
        return Err(PyTypeError::new_err(text));
    }
    Ok(())
}

fn refuse_awaitable(name: &str, returned: &Object<'_>) -> PyResult<()> {
    if !returned.hasattr("__await__")? {
        return Ok(());
    }
    // A closed coroutine does not warn that it was never awaited.
    if let Some(close) = returned.getattr_opt("close")? {
        close.call_out(())?;
    }
    Err(PyTypeError::new_err(format!(
        "{name} returned an awaitable, {NOT_AWAITED}"
    )))
}

impl Face {
    /// Runs `op` to its end, or returns its coroutine.
    pub fn run(self, py: Python<'_>, op: Operation) -> Returned {
        match self {
            Self::Blocking => block(py, op),
            Self::Async => awaitable(py, op),
        }
    }
}

/// The operation of an `AsyncClient`, for its coroutine: see `docplatform._hooks.drive`. The
/// coroutine takes one step after another.
#[pyclass(frozen, name = "_Operation", module = "docplatform._native")]
pub struct DrivenOperation(Mutex<OperationState>);

enum OperationState {
    /// Not awaited yet.
    New(Operation),
    /// Under way. `then` takes the value of a user's awaitable.
    Running {
        running: Running,
        then: Option<OnReturn>,
    },
    /// Done. The coroutine has not taken the value yet.
    Done(Py<PyAny>),
    /// Over, or within a step.
    Over,
}

#[pymethods]
impl DrivenOperation {
    /// Runs up to the next awaitable, and returns it; `None` at the end.
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
                    let awaitable = returned.bind(py).hasattr("__await__");
                    if awaitable.map_err(|error| running.interrupted(py, error))? {
                        self.keep(running, Some(then));
                        return Ok(Some(returned));
                    }
                    then(py, returned).map_err(|error| running.interrupted(py, error))?;
                }
                Event::Offload(call) => {
                    self.keep(running, None);
                    let made = hooks(py)?.offload.bind(py).call_out((call,))?;
                    return Ok(Some(made.unbind()));
                }
                Event::Idle => {
                    let future = hooks(py)?.future.bind(py).call_out(())?;
                    if running.wake(&future, runtime::waker(py)?)? {
                        self.keep(running, None);
                        return Ok(Some(future.unbind()));
                    }
                    future.call_method_out("cancel", ())?;
                }
            }
        }
    }

    /// Cancels it. `error` gets a note on its write or job.
    fn interrupt(&self, error: &Object<'_>) {
        if let OperationState::Running { running, .. } = self.replace(OperationState::Over) {
            running.interrupted(error.py(), PyErr::from_value(error.clone()));
        }
    }

    /// Its value, after the last step.
    fn result(&self, py: Python<'_>) -> Py<PyAny> {
        match self.replace(OperationState::Over) {
            OperationState::Done(value) => value,
            _ => py.None(),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A locked state is in use, so there is nothing to collect.
        let Ok(state) = self.0.try_lock() else {
            return Ok(());
        };
        match &*state {
            OperationState::New(op) => visit.call(op.callbacks.function().map(|(_, it)| it)),
            OperationState::Running { running, .. } => {
                visit.call(running.callbacks.function().map(|(_, it)| it))
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

    fn keep(&self, running: Running, then: Option<OnReturn>) {
        self.replace(OperationState::Running { running, then });
    }

    fn pause(&self, py: Python<'_>, running: Running) -> PyResult<Option<Py<PyAny>>> {
        self.keep(running, None);
        Ok(Some(hooks(py)?.turn.clone_ref(py)))
    }
}

/// The functions of `docplatform._hooks.drive`.
struct DriveHooks {
    coroutine: Py<PyAny>,
    /// Lets the loop have a turn when it is awaited.
    turn: Py<PyAny>,
    /// Makes a future of the running loop.
    future: Py<PyAny>,
    /// Runs a call in another thread, and makes an awaitable for its value.
    offload: Py<PyAny>,
    /// Gives `coroutine` under a method's name, for its coroutines to have.
    named: Py<PyAny>,
}

static DRIVE: PyOnceLock<DriveHooks> = PyOnceLock::new();

fn hooks(py: Python<'_>) -> PyResult<&DriveHooks> {
    convert::made_once(py, &DRIVE, || {
        let get = |name| convert::hook(py, "drive", name).map(Bound::unbind);
        Ok(DriveHooks {
            coroutine: get("drive")?,
            turn: get("TURN")?,
            future: get("future")?,
            offload: get("offload")?,
            named: get("named")?,
        })
    })
}

/// Lets pyo3-async-runtimes find its function before the first call, beside which the process may
/// fork: see [`convert::made_once`].
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    if import(py, "sys")?.getattr("modules")?.contains("asyncio")? {
        // Where no loop runs, this is an error, and the function is found all the same.
        let _ = get_running_loop(py);
    }
    Ok(())
}

/// A lazy coroutine that runs `op` when it is awaited. Its name is the blocking method's with
/// `Async` before it.
pub fn awaitable(py: Python<'_>, op: Operation) -> Returned {
    hooks(py)?
        .named
        .bind(py)
        .call_out((op.name,))?
        .call_out((DrivenOperation(Mutex::new(OperationState::New(op))),))
        .map(Bound::unbind)
}

/// The number of our coroutine's frames on top of the stack.
pub fn frames(py: Python<'_>) -> PyResult<i32> {
    let Some(hooks) = DRIVE.get(py) else {
        return Ok(0);
    };
    let frame = import(py, "sys")?.call_method_out("_getframe", ())?;
    Ok(i32::from(
        frame
            .getattr("f_code")?
            .is(hooks.coroutine.bind(py).getattr("__code__")?),
    ))
}
