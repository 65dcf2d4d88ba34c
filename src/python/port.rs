//! Where an operation's messages wait for its caller, and what wakes the caller for them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3_async_runtimes::TaskLocals;
use tokio::sync::oneshot;

use super::op::{Finish, Op};
use super::runtime::call_out;
use super::waker::Waker;
use crate::endpoint::Segment;
use crate::error::{Error, Outcome};
use crate::findings::Finding;
use crate::jobs::Job;
use crate::observer::{Note, Observer};
use crate::rows::Rows;
use crate::trace::TraceParent;

/// What an operation tells its caller.
pub(super) enum Message {
    Note(Note),
    Found(Vec<Finding>),
    Progress,
    Rows(Rows),
    Polled(Box<Job>, oneshot::Sender<()>),
    Done(Result<Finish, Error>),
}

/// Who is woken by the next message.
pub(super) enum Waiter {
    Thread(Thread),
    Loop { waker: Waker, locals: TaskLocals, future: Py<PyAny> },
}

#[derive(Default)]
pub(super) struct PortState {
    pub(super) inbox: VecDeque<Message>,
    pub(super) waiter: Option<Waiter>,
    /// How many rows came, where that was not shown yet.
    pub(super) progress: Option<u64>,
    pub(super) write: Option<Outcome>,
    pub(super) job: Option<String>,
    /// Whether its caller was interrupted, and told what was known of the write: nothing leaves any more.
    pub(super) ended: bool,
}

/// Where an operation's messages wait for its caller.
pub(super) struct Port {
    state: Mutex<PortState>,
    /// Whether the caller wants to see polls.
    polls: bool,
    /// The caller's, when the operation began.
    trace: Option<TraceParent>,
    /// Whether the caller wants to see how many rows came.
    counts: bool,
    /// Whether the caller wants the rows as they come.
    rows: bool,
}

impl Port {
    /// What the caller of `op` does not want to see never comes.
    pub(super) fn new(op: &Op, trace: Option<TraceParent>) -> Self {
        Self {
            state: Mutex::new(PortState {
                write: op.writes.then_some(Outcome::NotSent),
                ..PortState::default()
            }),
            polls: op.on_poll.is_some(),
            counts: op.progress.is_some(),
            rows: op.rows.is_some(),
            trace,
        }
    }

    /// Never held while Python runs.
    pub(super) fn state(&self) -> MutexGuard<'_, PortState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, message: Message) {
        let waiter = {
            let mut state = self.state();
            state.inbox.push_back(message);
            state.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Puts a waiter in place unless there is something to deal with; says whether it did.
    pub(super) fn wait_with(&self, waiter: impl FnOnce() -> Waiter) -> bool {
        let mut state = self.state();
        if !state.inbox.is_empty() {
            return false;
        }
        state.waiter = Some(waiter());
        true
    }
}

impl Observer for Port {
    fn note(&self, note: Note) {
        self.push(Message::Note(note));
    }

    fn write(&self, outcome: Option<Outcome>) {
        self.state().write = outcome;
    }

    fn leaves(&self) -> bool {
        let mut state = self.state();
        if !state.ended {
            state.write = Some(Outcome::Unknown);
        }
        !state.ended
    }

    fn progress(&self, rows: u64) {
        if self.counts && self.state().progress.replace(rows).is_none() {
            self.push(Message::Progress);
        }
    }

    fn rows(&self, rows: &Rows) {
        if self.rows {
            self.push(Message::Rows(rows.clone()));
        }
    }

    fn found(&self, findings: Vec<Finding>) {
        if !findings.is_empty() {
            self.push(Message::Found(findings));
        }
    }

    fn job(&self, id: &Segment) {
        self.state().job = Some(id.as_str().to_owned());
    }

    fn trace(&self) -> Option<TraceParent> {
        self.trace.clone()
    }

    fn polled(&self, job: &Job) -> BoxFuture<'static, ()> {
        if !self.polls {
            return std::future::ready(()).boxed();
        }
        let (seen, done) = oneshot::channel();
        self.push(Message::Polled(Box::new(job.clone()), seen));
        done.map(drop).boxed()
    }
}

impl Waiter {
    pub(super) fn wake(self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Loop { waker, locals, future } => waker.wake(move |py| wake_loop(py, &locals, future)),
        }
    }
}

fn wake_loop(py: Python<'_>, locals: &TaskLocals, future: Py<PyAny>) {
    let event_loop = locals.event_loop(py);
    let woken = wake_function(py).and_then(|wake| {
        // It writes to a socket, and so lets the interpreter go: the loop's thread may exit meanwhile.
        call_out(&event_loop.getattr(intern!(py, "call_soon_threadsafe"))?, (wake, future))
    });
    if let Err(error) = woken {
        let closed = event_loop.call_method0(intern!(py, "is_closed")).and_then(|closed| closed.is_truthy());
        // Nobody waits in a loop that is closed; anything else is to be seen.
        if !closed.unwrap_or(false) {
            error.write_unraisable(py, Some(&event_loop));
        }
    }
}

fn wake_function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static WAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let wake =
        WAKE.get_or_try_init(py, || pyo3::wrap_pyfunction!(wake, py).map(|wake| wake.into_any().unbind()))?;
    Ok(wake.bind(py))
}

/// Runs in the loop. A future that was cancelled meanwhile is left alone.
#[pyfunction]
fn wake(future: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = future.py();
    if !future.call_method0(intern!(py, "done"))?.is_truthy()? {
        future.call_method1(intern!(py, "set_result"), (py.None(),))?;
    }
    Ok(())
}
