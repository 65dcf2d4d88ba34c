//! The only crossing between Python and the runtime: [`block`] for one face, [`awaitable`] for the other.
//!
//! An [`Op`] is started, tells what happens through its [`Port`], and is finished on the caller's thread: every log
//! line, callback and conversion happens there, and no worker ever holds a Python object for longer than a wake-up.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll};
use std::thread::{self, Thread};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use pyo3_async_runtimes::TaskLocals;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::coroutine::Coroutine;
use super::runtime::call_out;
use super::waker::Waker;
use super::{errors, job, logging, rows, runtime, tracing};
use crate::error::{Error, Kind, Outcome};
use crate::findings::Finding;
use crate::jobs::Job;
use crate::observer::{Note, Observer};
use crate::rows::Rows;
use crate::trace::TraceParent;

/// Makes the Python value of a result, on the caller's thread.
pub(super) type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Next> + Send>;
type Start = Box<dyn FnOnce(Arc<Port>) -> BoxFuture<'static, Result<Finish, Error>> + Send>;
type OnError = Box<dyn Fn(&Bound<'_, PyAny>) -> PyResult<()> + Send>;

/// What an operation's end leads to.
pub(super) enum Next {
    /// Its value.
    Value(Py<PyAny>),
    /// Another operation, whose end is the end of this one.
    Then(Op),
}

/// One operation of a client, not yet started.
pub(super) struct Op {
    /// As Python names it, for warnings and representations.
    pub(super) name: &'static str,
    work: Work,
    on_poll: Option<Py<PyAny>>,
    /// Shows how many rows came: see `docplatform._progress`.
    progress: Option<Py<PyAny>>,
    /// Takes rows as dicts as their pages come.
    rows: Option<Py<PyList>>,
    on_error: Option<OnError>,
}

enum Work {
    Ready(Finish),
    Future { start: Start, in_place: bool },
}

impl Op {
    /// An operation that runs `future` on the runtime and makes its value with `finish`.
    pub(super) fn new<T, F>(
        name: &'static str,
        future: impl FnOnce(Arc<Port>) -> F + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Next> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // `map`, not an async block: that would hold the future twice over.
        let start: Start = Box::new(move |port| {
            let made = |value| Box::new(move |py: Python<'_>| finish(py, value)) as Finish;
            future(port).map(move |result| result.map(made)).boxed()
        });
        Self {
            name,
            work: Work::Future { start, in_place: false },
            on_poll: None,
            progress: None,
            rows: None,
            on_error: None,
        }
    }

    /// An operation that needs nothing but the caller's thread.
    pub(super) fn ready(
        name: &'static str,
        finish: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Self {
        Self::at_hand(name, move |py| finish(py).map(Next::Value))
    }

    /// As [`Op::ready`], where it may turn out that another operation has to follow.
    pub(super) fn at_hand(
        name: &'static str,
        finish: impl FnOnce(Python<'_>) -> PyResult<Next> + Send + 'static,
    ) -> Self {
        Self {
            name,
            work: Work::Ready(Box::new(finish)),
            on_poll: None,
            progress: None,
            rows: None,
            on_error: None,
        }
    }

    /// Looks once, on the caller's thread, whether it is done already: a crossing costs more than most pages.
    pub(super) fn in_place(mut self) -> Self {
        if let Work::Future { in_place, .. } = &mut self.work {
            *in_place = true;
        }
        self
    }

    /// Calls `on_poll` with every job that is polled.
    pub(super) fn on_poll(mut self, on_poll: Option<Py<PyAny>>) -> Self {
        self.on_poll = on_poll;
        self
    }

    /// Shows on `progress` how many rows came.
    pub(super) fn progress(mut self, progress: Option<Py<PyAny>>) -> Self {
        self.progress = progress;
        self
    }

    /// Puts the rows into `list` as dicts, page by page as they come, while others are on their way.
    pub(super) fn rows(mut self, list: Py<PyList>) -> Self {
        self.rows = Some(list);
        self
    }

    /// Lets `on_error` add to the exception of a failure.
    pub(super) fn on_error(
        mut self,
        on_error: impl Fn(&Bound<'_, PyAny>) -> PyResult<()> + Send + 'static,
    ) -> Self {
        self.on_error = Some(Box::new(on_error));
        self
    }

    /// Whether it waits for a worker, and so in a loop.
    pub(super) fn needs_loop(&self) -> bool {
        matches!(self.work, Work::Future { .. })
    }

    /// The callback, for the garbage collector.
    pub(super) fn callback(&self) -> Option<&Py<PyAny>> {
        self.on_poll.as_ref()
    }

    /// Starts it; the result comes through the port.
    pub(super) fn start(self, py: Python<'_>) -> PyResult<Running> {
        let trace = if self.needs_loop() { tracing::current(py)? } else { None };
        let port = Arc::new(Port {
            state: Mutex::default(),
            polls: self.on_poll.is_some(),
            counts: self.progress.is_some(),
            rows: self.rows.is_some(),
            trace,
        });
        let mut turn_first = false;
        let task = match self.work {
            Work::Ready(finish) => {
                port.push(Message::Done(Ok(finish)));
                None
            }
            Work::Future { start, in_place } => {
                let runtime = runtime::handle(py)?;
                let _context = runtime.enter();
                let mut future = AssertUnwindSafe(start(Arc::clone(&port))).catch_unwind().boxed();
                // Ready here, or on a worker before this thread looks again: either would starve the loop.
                turn_first = in_place;
                let ready = match in_place {
                    true => future.poll_unpin(&mut task::Context::from_waker(task::Waker::noop())),
                    false => Poll::Pending,
                };
                match ready {
                    Poll::Ready(result) => {
                        port.push(Message::Done(result.unwrap_or_else(|panic| Err(panicked(&*panic)))));
                        None
                    }
                    Poll::Pending => {
                        let port = Arc::clone(&port);
                        let task = runtime.spawn(async move {
                            let result = future.await.unwrap_or_else(|panic| Err(panicked(&*panic)));
                            port.push(Message::Done(result));
                        });
                        Some(task.abort_handle())
                    }
                }
            }
        };
        Ok(Running {
            pid: process::id(),
            port,
            task,
            turn_first,
            on_poll: self.on_poll,
            progress: self.progress,
            rows: self.rows,
            on_error: self.on_error,
        })
    }
}

/// To be called on the thread that panicked.
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let place = runtime::take_panic_place();
    Error::new(Kind::Internal, format!("a bug in docplatform: {words}{place}; please report it"))
}

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
                let port = &running.port;
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

/// An operation under way. Dropping it drops its request.
pub(super) struct Running {
    pid: u32,
    port: Arc<Port>,
    task: Option<AbortHandle>,
    turn_first: bool,
    on_poll: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    rows: Option<Py<PyList>>,
    on_error: Option<OnError>,
}

/// What an operation wants of its caller.
pub(super) enum Event {
    /// Nothing before it wakes its waiter.
    Idle,
    /// It has only now begun, and may be done already.
    Begun,
    /// `on_poll` was called and returned this; the poll goes on once `seen` is told.
    Polled { returned: Py<PyAny>, seen: oneshot::Sender<()> },
    /// It has ended with this value.
    Done(Py<PyAny>),
}

impl Running {
    /// Deals with what came, up to the first event that only the caller can deal with.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Event> {
        loop {
            let message = self.port.state().inbox.pop_front();
            match message {
                None => return Ok(Event::Idle),
                Some(Message::Note(note)) => {
                    logging::emit(py, &note).map_err(|error| self.interrupted(py, error))?;
                    if let (Some(progress), Some(until)) = (&self.progress, note.until) {
                        let until = job::datetime(py, until)?;
                        call_out(&progress.bind(py).getattr(intern!(py, "waits"))?, (until,))
                            .map_err(|error| self.interrupted(py, error))?;
                    }
                }
                Some(Message::Polled(job, seen)) => {
                    let Some(on_poll) = &self.on_poll else {
                        let _ = seen.send(());
                        continue;
                    };
                    let returned = call_out(on_poll.bind(py), (job::wrap(py, *job)?,))
                        .map_err(|error| self.interrupted(py, error))?;
                    return Ok(Event::Polled { returned: returned.unbind(), seen });
                }
                Some(Message::Found(findings)) => {
                    for finding in findings {
                        rows::warn(py, finding, 1).map_err(|error| self.interrupted(py, error))?;
                    }
                }
                Some(Message::Rows(came)) => {
                    if let Some(list) = &self.rows {
                        rows::extend(list.bind(py), &came)?;
                    }
                }
                Some(Message::Progress) => {
                    let rows = std::mem::take(&mut self.port.state().progress);
                    if let (Some(progress), Some(rows)) = (&self.progress, rows) {
                        call_out(&progress.bind(py).getattr(intern!(py, "update"))?, (rows,))
                            .map_err(|error| self.interrupted(py, error))?;
                    }
                }
                Some(Message::Done(Ok(finish))) => match finish(py)? {
                    Next::Value(value) => return Ok(Event::Done(value)),
                    Next::Then(op) => {
                        *self = op.start(py)?;
                        return Ok(Event::Begun);
                    }
                },
                Some(Message::Done(Err(error))) => {
                    let error = errors::to_py(py, error);
                    if let Some(on_error) = &self.on_error {
                        on_error(error.value(py).as_any())?;
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Whether the loop is to have a turn before anything else, since it may be done already. Said once.
    pub(super) fn take_turn_first(&mut self) -> bool {
        std::mem::take(&mut self.turn_first)
    }

    /// The future that wakes the loop of `locals` when there is something to deal with; `None` if there is already.
    pub(super) fn wake_up<'py>(
        &self,
        py: Python<'py>,
        locals: &TaskLocals,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let future = locals.event_loop(py).call_method0(intern!(py, "create_future"))?;
        let waker = runtime::waker(py)?;
        let waiter = || Waiter::Loop { waker, locals: locals.clone(), future: future.clone().unbind() };
        Ok(self.port.wait_with(waiter).then_some(future))
    }

    /// Before it is dropped: has a loop that waits for it look again, where it was not that loop that ended it.
    pub(super) fn release(&self, py: Python<'_>) {
        if self.pid != process::id() {
            // A forked child: as below.
            return;
        }
        let waiter = self.port.state().waiter.take();
        if let Some(Waiter::Loop { future, .. }) = &waiter {
            // A task that is cancelled cancels its future first.
            let done = future.bind(py).call_method0(intern!(py, "done")).and_then(|done| done.is_truthy());
            if !done.unwrap_or(true)
                && let Some(waiter) = waiter
            {
                waiter.wake();
            }
        }
    }

    /// `error`, which ends this operation from outside, with a note on what becomes of a write or a job.
    pub(super) fn interrupted(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let (write, job) = {
            let state = self.port.state();
            (state.write, state.job.clone())
        };
        let note = match (write, job) {
            (Some(Outcome::NotSent), _) => {
                Some("docplatform: the request was not sent (outcome: not_sent)".to_owned())
            }
            (Some(Outcome::Unknown), _) => Some(
                "docplatform: the request was under way, and its outcome is unknown: \
                 look on the platform before you send it again"
                    .to_owned(),
            ),
            (_, Some(id)) => Some(format!(
                "docplatform: job {id} goes on by itself; wait_for_job({id:?}) takes the wait up again"
            )),
            _ => None,
        };
        if let Some(note) = note {
            // A note is a kindness: an exception that takes none is raised without it.
            let _ = error.value(py).call_method1(intern!(py, "add_note"), (note,));
        }
        error
    }

    /// The callback, for the garbage collector.
    pub(super) fn callback(&self) -> Option<&Py<PyAny>> {
        self.on_poll.as_ref()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // A forked child: what the parent's workers may have locked is not to be touched.
            std::mem::forget(Arc::clone(&self.port));
            return;
        }
        if let Some(task) = &self.task {
            task.abort();
        }
        // Here, where the interpreter is held: the task may outlive this on a worker, which holds none.
        let waiter = self.port.state().waiter.take();
        drop(waiter);
    }
}

enum Message {
    Note(Note),
    Found(Vec<Finding>),
    Progress,
    Rows(Rows),
    Polled(Box<Job>, oneshot::Sender<()>),
    Done(Result<Finish, Error>),
}

enum Waiter {
    Thread(Thread),
    Loop { waker: Waker, locals: TaskLocals, future: Py<PyAny> },
}

#[derive(Default)]
struct PortState {
    inbox: VecDeque<Message>,
    waiter: Option<Waiter>,
    /// How many rows came, where that was not shown yet.
    progress: Option<u64>,
    write: Option<Outcome>,
    job: Option<String>,
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
    /// Never held while Python runs.
    fn state(&self) -> MutexGuard<'_, PortState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Message) {
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
    fn wait_with(&self, waiter: impl FnOnce() -> Waiter) -> bool {
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

    fn job(&self, job: &Job) {
        self.state().job = Some(job.id.as_str().to_owned());
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
    fn wake(self) {
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
