//! An operation under way: how it starts, what its caller does with each message, and how it ends from outside.

use std::panic::AssertUnwindSafe;
use std::process;
use std::sync::Arc;
use std::task::{self, Poll};

use futures_util::FutureExt as _;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pyo3_async_runtimes::TaskLocals;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::op::{Next, OnError, Op, Work};
use super::port::{Message, Port, Waiter};
use super::runtime::call_out;
use super::{errors, job, logging, rows, runtime, tracing};
use crate::endpoint::MAX_SEGMENT;
use crate::error::{Error, Outcome};
use crate::observer::{Level, Note};

impl Op {
    /// Starts it; the result comes through the port.
    pub(super) fn start(self, py: Python<'_>) -> PyResult<Running> {
        let trace = if self.needs_loop() { tracing::current(py)? } else { None };
        let port = Arc::new(Port::new(&self, trace));
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
    Error::bug(format_args!("{words}{place}"))
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
    /// Deals with what came, up to the first event that only the caller can deal with. What ends it before its time,
    /// wherever that strikes, carries a note on what becomes of a write or a job.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Event> {
        loop {
            let message = self.port.state().inbox.pop_front();
            let event = match message {
                None => return Ok(Event::Idle),
                Some(Message::Done(Err(error))) => return Err(self.failed(py, error)),
                Some(message) => self.deal(py, message).map_err(|error| self.interrupted(py, error))?,
            };
            if let Some(event) = event {
                return Ok(event);
            }
        }
    }

    fn deal(&mut self, py: Python<'_>, message: Message) -> PyResult<Option<Event>> {
        match message {
            Message::Note(note) => {
                logging::emit(py, &note)?;
                if let (Some(progress), Some(until)) = (&self.progress, note.until) {
                    let until = job::datetime(py, until)?;
                    call_out(&progress.bind(py).getattr(intern!(py, "waits"))?, (until,))?;
                }
            }
            Message::Polled(job, seen) => {
                let Some(on_poll) = &self.on_poll else {
                    let _ = seen.send(());
                    return Ok(None);
                };
                let returned = call_out(on_poll.bind(py), (job::wrap(py, *job)?,))?.unbind();
                return Ok(Some(Event::Polled { returned, seen }));
            }
            Message::Found(findings) => {
                for finding in findings {
                    rows::warn(py, finding, 1)?;
                }
            }
            Message::Rows(came) => {
                if let Some(list) = &self.rows {
                    rows::extend(list.bind(py), &came)?;
                }
            }
            Message::Progress => {
                let rows = std::mem::take(&mut self.port.state().progress);
                if let (Some(progress), Some(rows)) = (&self.progress, rows) {
                    call_out(&progress.bind(py).getattr(intern!(py, "update"))?, (rows,))?;
                }
            }
            Message::Done(result) => {
                let finish = result?;
                match finish(py)? {
                    Next::Value(value) => return Ok(Some(Event::Done(value))),
                    Next::Then(op) => {
                        *self = op.start(py)?;
                        return Ok(Some(Event::Begun));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The exception of its failure. One that says nothing of a write says what is known of it.
    fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        let outcome = error.outcome.or(self.port.state().write);
        let error = errors::to_py(py, error.with_outcome(outcome));
        if !error.is_instance_of::<PyException>(py) {
            // Ctrl-C, while the exception was made.
            return self.interrupted(py, error);
        }
        let told = self.on_error.as_ref().map_or(Ok(()), |on_error| on_error(error.value(py).as_any()));
        told.err().unwrap_or(error)
    }

    /// Where its messages wait.
    pub(super) fn port(&self) -> &Port {
        &self.port
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

    /// A signal that came while its result was on the way. Whoever began a write hears of it here, with a note.
    pub(super) fn check_signals(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals().map_err(|error| self.interrupted(py, error))
    }

    /// Whether it writes, or waits for a job.
    pub(super) fn matters(&self) -> bool {
        let state = self.port.state();
        state.write.is_some() || state.job.is_some()
    }

    /// `error`, which ends this operation from outside, with a note on what becomes of a write or a job. A write that may
    /// have happened is logged as well: `gather` and `TaskGroup` make new exceptions, without the notes of ours.
    pub(super) fn interrupted(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let (job, write, lost) = {
            let mut state = self.port.state();
            // From here on nothing is sent of which this says that it was not.
            state.ended = true;
            let lost = state.inbox.iter().find_map(|message| match message {
                Message::Done(Err(error)) => Some(error.message.clone()),
                _ => None,
            });
            (state.job.clone(), state.write, lost)
        };
        if let Some(task) = &self.task {
            task.abort();
        }
        let note = match (job, write) {
            (Some(id), _) => {
                let quoted =
                    PyString::new(py, &id).repr().map_or_else(|_| String::new(), |id| id.to_string());
                let shown = crate::text::safe(&id, MAX_SEGMENT);
                format!("job {shown} goes on by itself; wait_for_job({quoted}) takes the wait up again")
            }
            (None, Some(outcome)) => of_write(outcome, lost),
            (None, None) => return error,
        };
        add_note(py, &error, &note);
        if matches!(write, Some(Outcome::Unknown | Outcome::Applied))
            && let Err(other) = logging::emit(py, &Note::new(Level::Warning, format!("interrupted: {note}")))
        {
            other.write_unraisable(py, None);
        }
        error
    }

    /// The callback, for the garbage collector.
    pub(super) fn callback(&self) -> Option<&Py<PyAny>> {
        self.on_poll.as_ref()
    }
}

/// What an interrupted write comes to, with the text of its own error where that did not reach the caller.
pub(super) fn of_write(outcome: Outcome, lost: Option<String>) -> String {
    let what = match outcome {
        Outcome::NotSent => "the request was not sent",
        Outcome::Rejected => "the service refused the request, and it was not sent again",
        Outcome::Unknown => {
            "the request was under way, and its outcome is unknown: look on the platform before you send it again"
        }
        Outcome::Applied => {
            "the service has done what was asked, but its answer did not reach the caller: do not send it again"
        }
    };
    let lost = lost.map_or_else(String::new, |lost| format!(": {lost}"));
    format!("{what} (outcome: {}){lost}", outcome.as_str())
}

/// A note is a kindness: an exception that takes none is raised without it.
pub(super) fn add_note(py: Python<'_>, error: &PyErr, note: &str) {
    let _ = error.value(py).call_method1(intern!(py, "add_note"), (format!("docplatform: {note}"),));
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
