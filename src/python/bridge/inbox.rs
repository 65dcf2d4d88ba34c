//! Where an operation's messages wait for its caller, and what wakes the caller for them.

use std::collections::VecDeque;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyWeakrefReference;
use pyo3_async_runtimes::get_running_loop;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::client::observer::{Level, Note, Observer, Span, Tracer};
use crate::config::url::Segment;
use crate::dates::slices::Slice;
use crate::error::{Error, Outcome};
use crate::export::findings::Finding;
use crate::export::observer::ExportObserver;
use crate::job::Job;
use crate::job::batch::BatchObserver;
use crate::job::observer::JobObserver;
use crate::listing::rows::Rows;
use crate::lock;
use crate::python::bridge::call::CallOut as _;
use crate::python::bridge::operation::{Face, Finish, Operation, Then};
use crate::python::bridge::wake::Waker;

/// The least time between two looks whether the loop that waits for work is still there.
const LOOP_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// What an operation tells its caller.
pub(crate) enum InboxMessage {
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

/// Who is woken by the next message.
pub(crate) enum Waiter {
    Thread(Thread),
    Loop {
        waker: Waker,
        future: Py<PyWeakrefReference>,
        inbox: Weak<Inbox>,
    },
}

/// Who deals with the messages.
pub(crate) enum Caller {
    Thread(ThreadId),
    Loop(Py<PyWeakrefReference>),
}

impl Caller {
    /// The caller of this moment; an error if a loop is needed and none runs.
    pub(crate) fn current(py: Python<'_>, face: Face) -> PyResult<Self> {
        Ok(match face {
            Face::Blocking => Self::Thread(thread::current().id()),
            Face::Async => Self::Loop(PyWeakrefReference::new(&get_running_loop(py)?)?.unbind()),
        })
    }
}

fn is_closed(event_loop: &Bound<'_, PyAny>) -> bool {
    let closed = event_loop.call_method_out(intern!(event_loop.py(), "is_closed"), ());
    closed
        .and_then(|closed| closed.is_truthy())
        .unwrap_or(false)
}

#[derive(Default)]
pub(crate) struct InboxState {
    pub(crate) messages: VecDeque<InboxMessage>,
    pub(crate) waiter: Option<Waiter>,
    /// The work on the runtime, if there is any.
    pub(crate) task: Option<AbortHandle>,
    /// What is made of the value of a call that is under way elsewhere.
    pub(crate) then: Option<Then>,
    /// `None` once nobody wants its messages any more, and before that for what needs no worker.
    caller: Option<Caller>,
    /// Nobody will deal with what comes.
    abandoned: bool,
    /// When it was last looked whether the caller is still there.
    looked: Option<Instant>,
    /// How many rows came, where that was not shown yet.
    pub(crate) progress: Option<u64>,
    pub(crate) write: Option<Outcome>,
    pub(crate) job: Option<String>,
    /// The last snapshot of the job that a failed wait was for.
    pub(crate) last: Option<Job>,
    /// Whether its caller was interrupted, and told what was known of the write: nothing leaves any more.
    pub(crate) ended: bool,
}

/// Where an operation's messages wait for its caller.
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    /// Whether the caller wants to see polls.
    polls: bool,
    /// Makes spans below that of the caller, when the operation began.
    tracer: Option<Arc<dyn Tracer>>,
    /// The lowest level of the lines that the caller wants.
    lowest: Level,
    /// Whether the caller wants to see how many rows came.
    counts: bool,
    /// Whether the caller wants the rows as they come.
    rows: bool,
}

impl Inbox {
    /// What the caller of `op` does not want to see never comes.
    pub(crate) fn new(
        op: &Operation,
        caller: Option<Caller>,
        tracer: Option<Arc<dyn Tracer>>,
        debugs: bool,
    ) -> Self {
        Self {
            state: Mutex::new(InboxState {
                write: op.writes.then_some(Outcome::NotSent),
                caller,
                ..InboxState::default()
            }),
            polls: op.wants.on_poll.is_some(),
            counts: op.wants.progress.is_some(),
            rows: op.wants.rows.is_some(),
            tracer,
            lowest: if debugs { Level::Debug } else { Level::Info },
        }
    }

    /// Never held while Python runs.
    pub(crate) fn state(&self) -> MutexGuard<'_, InboxState> {
        lock(&self.state)
    }

    pub(crate) fn push(&self, message: InboxMessage) {
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

    /// Ends the work, and lets go of everything that came: nobody will deal with it. To be called where the interpreter is
    /// held: the task may outlive this on a worker, which holds none.
    pub(crate) fn leave(&self) {
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

    /// The same, if its caller is a loop that was closed, or that is not there any more.
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

    /// For work that goes on for long without a message, none of which would be missed: nobody else would notice that
    /// the loop that waits for it was closed.
    fn look(&self) {
        let mut state = self.state();
        let Some(Waiter::Loop { waker, inbox, .. }) = &state.waiter else {
            return;
        };
        if state
            .looked
            .is_some_and(|at| at.elapsed() < LOOP_CHECK_INTERVAL)
        {
            return;
        }
        let (waker, inbox) = (waker.clone(), Weak::clone(inbox));
        state.looked = Some(Instant::now());
        drop(state);
        waker.wake(move |py| {
            if let Some(inbox) = inbox.upgrade() {
                inbox.leave_if_gone(py);
            }
        });
    }

    /// Whether it is this thread that waits for its messages, further up on the stack.
    fn is_of_this_thread(&self) -> bool {
        matches!(self.state().caller, Some(Caller::Thread(thread)) if thread == thread::current().id())
    }

    /// Puts a waiter in place unless there is something to deal with; says whether it did.
    pub(crate) fn wait_with(&self, waiter: impl FnOnce() -> Waiter) -> bool {
        let mut state = self.state();
        if !state.messages.is_empty() {
            return false;
        }
        state.waiter = Some(waiter());
        true
    }
}

/// The operations under way on what only one at a time may work on, such as the pages of an iterator.
pub(crate) struct Inside {
    pid: u32,
    /// Locked for moments, and only while attached, so that it is not locked in a fork.
    inboxes: Mutex<Vec<Weak<Inbox>>>,
}

impl Inside {
    pub(crate) fn new() -> Self {
        Self {
            pid: process::id(),
            inboxes: Mutex::default(),
        }
    }

    /// Lets `inbox` in, after those that are inside. One whose loop was closed would stay there for ever, and is put
    /// out; one of this very thread cannot end before this one does. A forked child is not let in: what is under way
    /// is its parent's.
    pub(crate) fn enter(&self, py: Python<'_>, inbox: &Arc<Inbox>) -> PyResult<()> {
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
        if !state.ended {
            state.write = Some(Outcome::Unknown);
        }
        !state.ended
    }

    fn job(&self, id: &Segment) {
        self.state().job = Some(id.as_str().to_owned());
    }

    fn debugs(&self) -> bool {
        self.lowest == Level::Debug
    }

    fn tracer(&self) -> Option<Arc<dyn Tracer>> {
        self.tracer.clone()
    }

    fn span_ended(&self, span: Box<dyn Span>) {
        self.push(InboxMessage::Span(span));
    }
}

impl ExportObserver for Inbox {
    fn progress(&self, rows: u64) {
        if !self.counts {
            self.look();
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
        if !self.polls {
            self.look();
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
    pub(crate) fn wake(self) {
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
        // Nobody waits for it any more.
        return;
    };
    let woken = future
        .call_method_out(intern!(py, "get_loop"), ())
        .and_then(|event_loop| {
            // It writes to a socket, and so lets the interpreter go: the loop's thread may exit meanwhile.
            event_loop
                .getattr(intern!(py, "call_soon_threadsafe"))?
                .call_out((wake_function(py)?, &future))
        });
    if let Err(error) = woken {
        let event_loop = future.call_method_out(intern!(py, "get_loop"), ());
        // Anything but a loop that is closed is to be seen.
        if event_loop.is_ok_and(|event_loop| is_closed(&event_loop)) {
            if let Some(inbox) = inbox.upgrade() {
                inbox.leave();
            }
        } else {
            error.write_unraisable(py, Some(&future));
        }
    }
}

fn wake_function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static WAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let wake = WAKE.get_or_try_init(py, || {
        pyo3::wrap_pyfunction!(wake, py).map(|wake| wake.into_any().unbind())
    })?;
    Ok(wake.bind(py))
}

/// Runs in the loop. A future that was cancelled meanwhile is left alone.
#[pyfunction]
fn wake(future: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = future.py();
    if !future
        .call_method_out(intern!(py, "done"), ())?
        .is_truthy()?
    {
        future.call_method_out(intern!(py, "set_result"), (py.None(),))?;
    }
    Ok(())
}
