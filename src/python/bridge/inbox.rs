//! The inbox of an operation: messages for its caller, and what wakes the caller for them.

use std::collections::VecDeque;
use std::process;
use std::sync::{Mutex, MutexGuard, Weak};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::types::PyWeakrefReference;
use pyo3_async_runtimes::get_running_loop;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::client::observer::{Note, Observer, ObserverOptions, Span};
use crate::dates::slices::Slice;
use crate::export::findings::Finding;
use crate::export::observer::ExportObserver;
use crate::job::Job;
use crate::job::batch::BatchObserver;
use crate::job::wait::JobObserver;
use crate::listing::rows::Rows;
use crate::lock;
use crate::python::bridge::operation::{Finish, Then};
use crate::python::bridge::wake::Waker;
use crate::python::prelude::*;

/// The least time between two checks that the event loop of a caller is not closed.
const LOOP_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A message of an operation to its caller.
pub enum InboxMessage {
    Note(Note),
    /// The call of this span has ended.
    Span(Box<dyn Span>),
    Found(Vec<Finding>),
    Progress,
    Rows(Rows, Option<Slice>),
    Polled(Box<Job>, oneshot::Sender<()>),
    /// The job at this place of a batch has ended.
    Ended(usize),
    Done(Result<Finish, Error>),
}

/// The waiting caller, which the next message wakes.
pub enum Waiter {
    Thread(Thread),
    Loop {
        waker: Waker,
        future: Py<PyWeakrefReference>,
        inbox: Weak<Inbox>,
    },
}

/// The thread or the event loop that handles the messages.
pub enum Caller {
    Thread(ThreadId),
    Loop(Py<PyWeakrefReference>),
}

impl Caller {
    /// The current caller. An error if a loop is needed and none runs.
    pub fn current(py: Python<'_>, face: Face) -> PyResult<Self> {
        Ok(match face {
            Face::Blocking => Self::Thread(thread::current().id()),
            Face::Async => Self::Loop(PyWeakrefReference::new(&get_running_loop(py)?)?.unbind()),
        })
    }
}

fn is_closed(event_loop: &Object<'_>) -> bool {
    let closed = event_loop.call_method_out("is_closed", ());
    closed
        .and_then(|closed| closed.is_truthy())
        .unwrap_or(false)
}

#[derive(Default)]
pub struct InboxState {
    pub messages: VecDeque<InboxMessage>,
    pub waiter: Option<Waiter>,
    /// The work on the runtime, if there is any.
    pub task: Option<AbortHandle>,
    /// Takes the value of an offloaded call.
    pub then: Option<Then>,
    /// `None` after the caller has left. Also `None` for an operation that needs no worker.
    caller: Option<Caller>,
    /// Whether the caller has left. Further messages are dropped.
    abandoned: bool,
    /// The time of the last check that the caller's loop is not closed.
    checked: Option<Instant>,
    /// The number of rows, slices or jobs that are done, if it is not shown yet.
    pub progress: Option<u64>,
    pub write: Option<Outcome>,
    pub job: Option<String>,
    /// Whether the service has said that this job runs.
    pub runs: bool,
    /// The last snapshot of the job that a failed wait was for.
    pub last: Option<Job>,
    /// Whether its caller was interrupted, with a note on the write. No further request leaves.
    pub interrupted: bool,
}

/// The inbox of an operation.
pub struct Inbox {
    state: Mutex<InboxState>,
    /// Whether the caller wants to see polls.
    polls: bool,
    options: ObserverOptions,
    /// Whether the caller wants to see how many rows, slices or jobs are done.
    counts: bool,
    /// Whether the caller wants the rows as they come.
    rows: bool,
}

impl Inbox {
    /// The inbox of `op`. It takes only the messages that the caller wants.
    pub fn new(op: &Operation, caller: Option<Caller>, options: ObserverOptions) -> Self {
        Self {
            state: Mutex::new(InboxState {
                write: op.writes.then_some(Outcome::NotSent),
                caller,
                ..InboxState::default()
            }),
            polls: op.callbacks.on_poll.is_some(),
            counts: op.callbacks.progress.is_some(),
            rows: op.callbacks.rows.is_some(),
            options,
        }
    }

    /// Never held while Python runs.
    pub fn state(&self) -> MutexGuard<'_, InboxState> {
        lock(&self.state)
    }

    pub fn push(&self, message: InboxMessage) {
        let waiter = {
            let mut state = self.state();
            if state.abandoned {
                return;
            }
            state.messages.push_back(message);
            state.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Ends the work and drops all messages, because the caller has left. The messages have Python
    /// objects, so they are dropped here, by a thread that holds the interpreter.
    pub fn leave(&self) {
        let mut state = self.state();
        state.abandoned = true;
        let messages = std::mem::take(&mut state.messages);
        let (task, then) = (state.task.take(), state.then.take());
        let (waiter, caller) = (state.waiter.take(), state.caller.take());
        drop(state);
        if let Some(task) = task {
            task.abort();
        }
        // Outside the lock: this may run Python.
        drop((messages, then, waiter, caller));
    }

    /// Leaves if the caller's loop was closed or collected.
    fn leave_if_gone(&self, py: Python<'_>) {
        let event_loop = match &self.state().caller {
            Some(Caller::Loop(event_loop)) => event_loop.clone_ref(py),
            Some(Caller::Thread(_)) | None => return,
        };
        if event_loop
            .bind(py)
            .upgrade()
            .is_none_or(|event_loop| is_closed(&event_loop))
        {
            self.leave();
        }
    }

    /// Checks now and then that the caller's loop is not closed. A long operation without messages
    /// would not notice it.
    fn check_loop(&self) {
        let mut state = self.state();
        let Some(Waiter::Loop { waker, inbox, .. }) = &state.waiter else {
            return;
        };
        if state
            .checked
            .is_some_and(|at| at.elapsed() < LOOP_CHECK_INTERVAL)
        {
            return;
        }
        let (waker, inbox) = (waker.clone(), Weak::clone(inbox));
        state.checked = Some(Instant::now());
        drop(state);
        waker.wake(move |py| {
            if let Some(inbox) = inbox.upgrade() {
                inbox.leave_if_gone(py);
            }
        });
    }

    /// Whether this thread waits for its messages, further up on the stack.
    fn is_of_this_thread(&self) -> bool {
        matches!(self.state().caller, Some(Caller::Thread(thread)) if thread == thread::current().id())
    }

    /// Sets the waiter, unless there is a message; says whether it did.
    pub fn wait_with(&self, waiter: impl FnOnce() -> Waiter) -> bool {
        let mut state = self.state();
        if !state.messages.is_empty() {
            return false;
        }
        state.waiter = Some(waiter());
        true
    }
}

/// The operations on an object that serves one at a time, such as the pages of an iterator.
pub struct ActiveOperations {
    pid: u32,
    /// Locked for moments, and only while attached, so that it is not locked in a fork.
    inboxes: Mutex<Vec<Weak<Inbox>>>,
}

impl ActiveOperations {
    pub fn new() -> Self {
        Self {
            pid: process::id(),
            inboxes: Mutex::default(),
        }
    }

    /// Adds an operation. Ends those whose loop was closed, because they would never end by
    /// themselves. Refuses a second one of the same thread, because the first could not end, and
    /// one of a forked child, because the object belongs to its parent.
    pub fn enter(&self, py: Python<'_>, inbox: &Arc<Inbox>) -> PyResult<()> {
        if self.pid != process::id() {
            return Err(PyRuntimeError::new_err(
                "this iterator belongs to the process that made it, and this process was forked from that one: make a \
                 new iterator here; with resume= and this iterator's checkpoint it continues after the last row \
                 received",
            ));
        }
        let others: Vec<_> = {
            let mut inboxes = lock(&self.inboxes);
            inboxes.retain(|other| other.strong_count() > 0);
            inboxes.iter().filter_map(Weak::upgrade).collect()
        };
        for other in others {
            other.leave_if_gone(py);
            if inbox.is_of_this_thread() && other.is_of_this_thread() {
                return Err(PyRuntimeError::new_err(
                    "this iterator is already executing: what runs now, such as a signal handler or a callback, \
                     interrupted it on this thread. No row is lost; use another iterator here, or none",
                ));
            }
        }
        lock(&self.inboxes).push(Arc::downgrade(inbox));
        Ok(())
    }
}

impl Observer for Inbox {
    fn note(&self, note: Note) {
        self.push(InboxMessage::Note(note));
    }

    fn write(&self, outcome: Option<Outcome>) {
        self.state().write = outcome;
    }

    fn leaves(&self) -> bool {
        let mut state = self.state();
        if !state.interrupted {
            state.write = Some(Outcome::Unknown);
        }
        !state.interrupted
    }

    fn job(&self, id: &Segment, runs: bool) {
        let mut state = self.state();
        state.job = Some(id.as_str().to_owned());
        state.runs |= runs;
    }

    fn options(&self) -> ObserverOptions {
        self.options.clone()
    }

    fn span_ended(&self, span: Box<dyn Span>) {
        self.push(InboxMessage::Span(span));
    }
}

impl ExportObserver for Inbox {
    fn progress(&self, rows: u64) {
        if !self.counts {
            self.check_loop();
        } else if self.state().progress.replace(rows).is_none() {
            self.push(InboxMessage::Progress);
        }
    }

    fn rows(&self, rows: Rows, days: Option<Slice>) {
        if self.rows {
            self.push(InboxMessage::Rows(rows, days));
        }
    }

    fn found(&self, findings: Vec<Finding>) {
        if !findings.is_empty() {
            self.push(InboxMessage::Found(findings));
        }
    }
}

impl JobObserver for Inbox {
    fn polled(&self, job: &Job) -> BoxFuture<'static, ()> {
        self.state().runs = job.is_known() && !job.is_final();
        if !self.polls {
            self.check_loop();
            return std::future::ready(()).boxed();
        }
        let (seen, done) = oneshot::channel();
        self.push(InboxMessage::Polled(Box::new(job.clone()), seen));
        done.map(drop).boxed()
    }

    fn failed(&self, last: Option<Job>) {
        self.state().last = last;
    }
}

impl BatchObserver for Inbox {
    fn ended(&self, at: usize) {
        self.push(InboxMessage::Ended(at));
    }
}

impl Waiter {
    pub fn wake(self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Loop {
                waker,
                future,
                inbox,
            } => waker.wake(move |py| wake_loop(py, &future, &inbox)),
        }
    }
}

fn wake_loop(py: Python<'_>, future: &Py<PyWeakrefReference>, inbox: &Weak<Inbox>) {
    let Some(future) = future.bind(py).upgrade() else {
        // The caller has left.
        return;
    };
    let woken = future
        .call_method_out("get_loop", ())
        .and_then(|event_loop| {
            // The call writes to a socket without the interpreter. The loop's thread may exit
            // meanwhile.
            event_loop.call_method_out(
                "call_soon_threadsafe",
                (pyo3::wrap_pyfunction!(wake, py)?, &future),
            )
        });
    if let Err(error) = woken {
        let event_loop = future.call_method_out("get_loop", ());
        // Only a closed loop is no error.
        if event_loop.is_ok_and(|event_loop| is_closed(&event_loop)) {
            if let Some(inbox) = inbox.upgrade() {
                inbox.leave();
            }
        } else {
            error.write_unraisable(py, Some(&future));
        }
    }
}

/// Runs in the loop. A cancelled future stays as it is.
#[pyfunction]
fn wake(future: &Object<'_>) -> PyResult<()> {
    let py = future.py();
    if !future.call_method_out("done", ())?.is_truthy()? {
        future.call_method_out("set_result", (py.None(),))?;
    }
    Ok(())
}
