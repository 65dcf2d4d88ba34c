//! An operation of a client: its work, its callbacks, its start, and its messages. Its cancellation
//! is in `cancel.rs`.

use std::panic::AssertUnwindSafe;
use std::process;
use std::task::{self, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::exceptions::{PyMemoryError, PyRecursionError};
use pyo3::types::PyWeakrefReference;

use crate::client::observer::{About, Note, ObserverOptions};
use crate::python::batch::BatchResults;
use crate::python::bridge::inbox::{ActiveOperations, Caller, InboxMessage, Waiter};
use crate::python::bridge::runtime;
use crate::python::bridge::wake::Waker;
use crate::python::client::hooks::Hooks;
use crate::python::listing::rows;
use crate::python::prelude::*;
use crate::python::{job, logging, progress, tracing};

/// Turns the result of the core into the next step, on the caller's thread.
pub type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Next> + Send>;
pub type Then = Box<dyn FnOnce(Python<'_>, Py<PyAny>) -> PyResult<Next> + Send>;
type Start = Box<dyn FnOnce(Arc<Inbox>) -> BoxFuture<'static, Result<Finish, Error>> + Send>;
/// Takes the value of a user's function.
pub type OnReturn = Box<dyn FnOnce(Python<'_>, Py<PyAny>) -> PyResult<()> + Send>;
pub type OnError = Box<dyn Fn(&Object<'_>) -> PyResult<()> + Send>;

/// The end of an operation.
pub enum Next {
    /// Its value.
    Value(Py<PyAny>),
    /// Another operation, whose end is the end of this one.
    Then(Operation),
    /// A call of Python that may take long, so a loop runs it in another thread. `then` takes its
    /// value.
    Offload { call: Py<PyAny>, then: Then },
}

/// The kind of client that runs an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Face {
    Blocking,
    Async,
}

/// One operation of a client, not yet started.
pub struct Operation {
    /// As Python names it, for warnings and representations.
    pub name: &'static str,
    pub work: Work,
    /// Whether it begins with a write. Its outcome is "not sent" until the core reports another
    /// one.
    pub writes: bool,
    pub callbacks: Callbacks,
    /// The running operations of the same object, such as an iterator.
    pub active: Option<Arc<ActiveOperations>>,
}

/// The functions and objects that get an operation's messages.
#[derive(Default)]
pub struct Callbacks {
    pub on_poll: Option<Py<PyAny>>,
    /// The functions of its client.
    hooks: Option<Arc<Hooks>>,
    /// The results of many jobs, and the function that gets each.
    pub batch: Option<Arc<BatchResults>>,
    /// Shows how many rows, slices or jobs are done: see `docplatform._hooks.progress`.
    pub progress: Option<Py<PyAny>>,
    /// Takes rows as dicts as their pages come, while others are on their way.
    pub rows: Option<Py<PyList>>,
    on_error: Option<OnError>,
}

impl Callbacks {
    fn on_attempt(&self) -> Option<&Py<PyAny>> {
        self.hooks.as_ref()?.on_attempt.as_ref()
    }

    /// The user's function and the name of its argument.
    pub fn function(&self) -> Option<(&'static str, &Py<PyAny>)> {
        match &self.on_poll {
            Some(on_poll) => Some(("on_poll", on_poll)),
            None => Some(("on_done", self.batch.as_ref()?.on_done.as_ref()?)),
        }
    }
}

/// The work of an operation: on the caller's thread alone, or on the runtime first.
pub enum Work {
    Ready(Finish),
    Future { start: Start, in_place: bool },
}

impl Operation {
    /// An operation that runs `future` on the runtime and makes its value with `finish`.
    pub fn new<T, F>(
        name: &'static str,
        future: impl FnOnce(Arc<Inbox>) -> F + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Next> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // An async block would store the future twice: before and after its first await.
        let start: Start = Box::new(move |inbox| {
            let made = |value| Box::new(move |py: Python<'_>| finish(py, value)) as Finish;
            future(inbox).map(move |result| result.map(made)).boxed()
        });
        let in_place = false;
        Self::of(name, Work::Future { start, in_place })
    }

    /// An operation that runs on the caller's thread.
    pub fn ready(
        name: &'static str,
        finish: impl FnOnce(Python<'_>) -> PyResult<Next> + Send + 'static,
    ) -> Self {
        Self::of(name, Work::Ready(Box::new(finish)))
    }

    fn of(name: &'static str, work: Work) -> Self {
        Self {
            name,
            work,
            writes: false,
            callbacks: Callbacks::default(),
            active: None,
        }
    }

    /// Marks an operation that begins with a write.
    pub fn writing(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Polls the work once on the caller's thread: a page that is ready costs less than waking the
    /// runtime.
    pub fn in_place(mut self) -> Self {
        if let Work::Future { in_place, .. } = &mut self.work {
            *in_place = true;
        }
        self
    }

    /// Calls `on_poll` with every job that is polled.
    pub fn on_poll(mut self, on_poll: Option<Py<PyAny>>) -> Self {
        self.callbacks.on_poll = on_poll;
        self
    }

    /// Calls these functions of its client.
    pub fn hooks(mut self, hooks: Arc<Hooks>) -> Self {
        self.callbacks.hooks = Some(hooks);
        self
    }

    /// Shows on `progress` how many rows, slices or jobs are done.
    pub fn progress(mut self, progress: Option<Py<PyAny>>) -> Self {
        self.callbacks.progress = progress;
        self
    }

    /// Adds the operation to those on an object that serves one at a time.
    pub fn among(mut self, active: &Arc<ActiveOperations>) -> Self {
        self.active = Some(Arc::clone(active));
        self
    }

    /// Lets `on_error` add to the exception of a failure.
    pub fn on_error(
        mut self,
        on_error: impl Fn(&Object<'_>) -> PyResult<()> + Send + 'static,
    ) -> Self {
        self.callbacks.on_error = Some(Box::new(on_error));
        self
    }

    /// Starts it. The result comes through the inbox.
    pub fn start(self, py: Python<'_>, face: Face) -> PyResult<Running> {
        let (caller, options) = match &self.work {
            // Fails before anything is sent if an `AsyncClient` has no running loop.
            Work::Future { .. } => {
                let caller = Caller::current(py, face)?;
                let options = ObserverOptions {
                    tracer: tracing::tracer(py)?,
                    debugs: self.callbacks.on_attempt().is_some() || logging::debugs(py)?,
                    requests: None,
                };
                (Some(caller), options)
            }
            Work::Ready(_) => Default::default(),
        };
        let inbox = Arc::new(Inbox::new(&self, caller, options));
        if let Some(active) = &self.active {
            active.enter(py, &inbox)?;
        }
        let mut turn_first = false;
        match self.work {
            Work::Ready(finish) => inbox.push(InboxMessage::Done(Ok(finish))),
            Work::Future { start, in_place } => {
                let runtime = runtime::handle(py, self.writes)?;
                let _context = runtime.enter();
                let mut future = AssertUnwindSafe(start(Arc::clone(&inbox)))
                    .catch_unwind()
                    .map(|result| result.unwrap_or_else(|panic| Err(panicked(&*panic))))
                    .boxed();
                // Without a turn of the loop first, an iterator whose pages are ready would never
                // yield to it.
                turn_first = in_place;
                let ready = match in_place {
                    true => future.poll_unpin(&mut task::Context::from_waker(task::Waker::noop())),
                    false => Poll::Pending,
                };
                match ready {
                    Poll::Ready(result) => inbox.push(InboxMessage::Done(result)),
                    Poll::Pending => {
                        let tell = Arc::clone(&inbox);
                        let task = runtime.spawn(async move {
                            tell.push(InboxMessage::Done(future.await));
                        });
                        inbox.state().task = Some(task.abort_handle());
                    }
                }
            }
        }
        Ok(Running {
            pid: process::id(),
            face,
            inbox,
            turn_first,
            callbacks: self.callbacks,
        })
    }
}

/// The error of a panic of this thread.
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let place = runtime::take_panic_location();
    Error::bug(format_args!("{words}{place}"))
}

/// An operation under way. Dropping it cancels its work.
pub struct Running {
    pid: u32,
    pub(super) face: Face,
    pub inbox: Arc<Inbox>,
    turn_first: bool,
    pub callbacks: Callbacks,
}

/// The next step of an operation, for its caller.
pub enum Event {
    /// Wait until it wakes its waiter.
    Idle,
    /// It has only now begun, and may be done already.
    Begun,
    /// The user's function of this name was called. `then` takes its value, or the value of the
    /// awaitable that it returned.
    Called {
        name: &'static str,
        returned: Py<PyAny>,
        then: OnReturn,
    },
    /// Call this, in another thread if a loop runs. [`Running::given`] takes its value.
    Offload(Py<PyAny>),
    /// It has ended with this value.
    Done(Py<PyAny>),
}

impl Running {
    /// Handles messages until one needs the caller. If handling one fails, the operation is
    /// cancelled, and the exception has a note on its write or job.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Event> {
        loop {
            let message = self.inbox.state().messages.pop_front();
            let event = match message {
                None => return Ok(Event::Idle),
                Some(InboxMessage::Done(Err(error))) => return Err(self.failed(py, error)),
                Some(message) => self
                    .handle(py, message)
                    .map_err(|error| self.interrupted(py, error))?,
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    fn handle(&mut self, py: Python<'_>, message: InboxMessage) -> PyResult<Option<Event>> {
        match message {
            InboxMessage::Note(Note {
                about: Some(About::Key(request)),
                ..
            }) => {
                let outcome = self.inbox.state().write;
                if let Some(hooks) = &self.callbacks.hooks {
                    return hooks.ask_key(py, request, outcome);
                }
            }
            InboxMessage::Note(note) => {
                logging::emit(py, &note)?;
                if let Some((on_attempt, attempt)) = self.callbacks.on_attempt().zip(note.attempt())
                {
                    let attempt = errors::attempt_to_py(py, attempt)?;
                    logging::watch(py, &note, "on_attempt", on_attempt, attempt)?;
                }
                match &note.about {
                    Some(About::Unrecorded(job)) => job::warn_unrecorded(py, &note.text, job)?,
                    Some(About::UnknownStatus { status, fields }) => {
                        let job = fields.job_id.clone().unwrap_or_default();
                        job::warn_status(py, &note.text, status, job)?;
                    }
                    _ => {}
                }
                if let Some(waiting) = note.waiting {
                    progress::announce(py, &mut self.callbacks.progress, waiting)?;
                }
            }
            InboxMessage::Span(span) => tracing::end(py, span)?,
            InboxMessage::Polled(job, seen) => {
                // Without `on_poll`, dropping `seen` lets the wait go on as well.
                if let Some(on_poll) = &self.callbacks.on_poll {
                    let job = job::wrap(py, *job)?;
                    return Ok(Some(Event::Called {
                        name: "on_poll",
                        returned: on_poll.bind(py).call_out((job,))?.unbind(),
                        then: Box::new(|_, _| {
                            let _ = seen.send(());
                            Ok(())
                        }),
                    }));
                }
            }
            InboxMessage::Ended(at) => {
                if let Some(batch) = &self.callbacks.batch
                    && let Some(ended) = batch.ended(py, at)?
                {
                    let done = (batch.done(py),);
                    progress::show(py, &mut self.callbacks.progress, "update", done)?;
                    if let Some(on_done) = &batch.on_done {
                        return Ok(Some(Event::Called {
                            name: "on_done",
                            returned: on_done.bind(py).call_out(ended)?.unbind(),
                            // The other jobs do not wait for it.
                            then: Box::new(|_, _| Ok(())),
                        }));
                    }
                }
            }
            InboxMessage::Found(findings) => {
                for finding in findings {
                    rows::warn(py, finding, 1)?;
                }
            }
            InboxMessage::Rows(came, days) => {
                if let Some(list) = &self.callbacks.rows {
                    rows::extend(list.bind(py), &came, days)?;
                }
            }
            InboxMessage::Progress => {
                let rows = std::mem::take(&mut self.inbox.state().progress);
                if let Some(rows) = rows {
                    progress::show(py, &mut self.callbacks.progress, "update", (rows,))?;
                }
            }
            InboxMessage::Done(result) => {
                let finish = result?;
                match finish(py)? {
                    Next::Value(value) => return Ok(Some(Event::Done(value))),
                    Next::Then(op) => {
                        self.inbox.leave();
                        *self = op.start(py, self.face)?;
                        return Ok(Some(Event::Begun));
                    }
                    Next::Offload { call, then } => {
                        self.inbox.state().then = Some(then);
                        return Ok(Some(Event::Offload(call)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Makes the exception of a failed operation, with the outcome of its write if the core's error
    /// has none.
    fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        let (outcome, last) = {
            let mut state = self.inbox.state();
            (error.outcome.or(state.write), state.last.take())
        };
        let error = errors::to_py(py, error.with_outcome(outcome));
        let unmade = error.is_instance_of::<PyRecursionError>(py)
            || error.is_instance_of::<PyMemoryError>(py);
        if unmade || !error.is_instance_of::<PyException>(py) {
            // Something such as Ctrl-C kept the exception from being made.
            return self.interrupted(py, error);
        }
        let details = || {
            if let Some(last) = last {
                error.value(py).setattr("job", job::wrap(py, last)?)?;
            }
            self.callbacks
                .on_error
                .as_ref()
                .map_or(Ok(()), |on_error| on_error(error.value(py)))
        };
        details().err().unwrap_or(error)
    }

    /// Takes the value of an offloaded call.
    pub fn given(&mut self, value: Py<PyAny>) {
        let then = self.inbox.state().then.take();
        if let Some(then) = then {
            let finish: Finish = Box::new(move |py| then(py, value));
            self.inbox.push(InboxMessage::Done(Ok(finish)));
        }
    }

    /// Whether the loop runs once before anything else, because the operation may be done already.
    /// True once.
    pub fn take_turn_first(&mut self) -> bool {
        std::mem::take(&mut self.turn_first)
    }

    /// Registers `future`, which the next message completes. Returns `false` if a message waits
    /// already.
    pub fn wake(&self, future: &Object<'_>, waker: Waker) -> PyResult<bool> {
        let future = PyWeakrefReference::new(future)?.unbind();
        let inbox = Arc::downgrade(&self.inbox);
        Ok(self.inbox.wait_with(|| Waiter::Loop {
            waker,
            future,
            inbox,
        }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // In a forked child the inbox is leaked: threads that exist only in the parent may hold
            // its locks.
            std::mem::forget(Arc::clone(&self.inbox));
            return;
        }
        self.inbox.leave();
    }
}
