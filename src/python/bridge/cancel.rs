//! The cancellation of an operation: by Ctrl-C, a cancelled task, or a callback that failed.
//! Signals are looked for here, and a note tells what became of the write or job.

use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;

use crate::client::observer::{Level, LogFields, Note};
use crate::config::url::MAX_SEGMENT;
use crate::python::bridge::inbox::InboxMessage;
use crate::python::bridge::operation::Running;
use crate::python::bridge::runtime;
use crate::python::logging;
use crate::python::prelude::*;
use crate::python::words::{carry, words};

impl Running {
    /// Raises a signal that came meanwhile, with a note on a write.
    pub fn check_signals(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()
            .map_err(|error| self.interrupted(py, error))
    }

    /// Whether an interrupt would get a note: the operation writes, or waits for a job.
    pub fn has_note(&self) -> bool {
        let state = self.inbox.state();
        state.write.is_some() || state.job.is_some()
    }

    /// Cancels the operation. `error`, which ended it, gets a note on its write or job. A single
    /// write that may have happened is logged as well, because `gather` and `TaskGroup` make new
    /// exceptions without our notes.
    pub fn interrupted(&self, py: Python<'_>, error: PyErr) -> PyErr {
        // After this the request can no longer leave.
        self.inbox.state().interrupted = true;
        let error = self.await_answer(py, error);
        let (job, runs, write, lost) = {
            let state = self.inbox.state();
            let lost = state.messages.iter().find_map(|message| match message {
                InboxMessage::Done(Err(error)) => Some(error.message.clone()),
                _ => None,
            });
            (state.job.clone(), state.runs, state.write, lost)
        };
        if let Some(task) = &self.inbox.state().task {
            task.abort();
        }
        if let Some(batch) = &self.callbacks.batch {
            let report = batch.report(py);
            let told = report.and_then(|report| error.value(py).setattr("report", report));
            if let Err(other) = told {
                other.write_unraisable(py, None);
            }
            let note = "the jobs that were begun are in the attribute report of this exception";
            add_note(py, &error, note);
            return error;
        }
        let _ = error.value(py).setattr("_job_id", &job);
        let mut about = LogFields::default();
        let note = match (job, write) {
            (Some(job), _) => {
                let shown = safe(&job, MAX_SEGMENT);
                let what = format!("the call was about job {shown}");
                about.job_id = Some(shown);
                message![what, Advice::WaitForJob { job, runs }]
            }
            (None, Some(outcome)) => of_write(outcome, lost),
            (None, None) => return error,
        };
        add_note(py, &error, &words(&note));
        // For the command line. An exception that takes no attributes is raised without them.
        let value = error.value(py).as_any();
        let _ = carry(value, &note);
        if let Some(write) = write {
            let _ = value.setattr("_outcome", write.as_str());
        }
        if matches!(write, Some(Outcome::Unknown | Outcome::Applied))
            && let Err(other) = logging::emit(
                py,
                &Note::new(Level::Warning, format!("interrupted: {note}")).about(about),
            )
        {
            other.write_unraisable(py, None);
        }
        error
    }

    /// After a signal, waits for the answer to a write that has left, as long as
    /// `docplatform._hooks.patience` says. A further signal ends the wait, and is returned in place
    /// of `error`.
    fn await_answer(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let is_signal = error.is_instance_of::<PyKeyboardInterrupt>(py);
        if self.face == Face::Async || !is_signal || !self.awaits_answer() {
            return error;
        }
        let seconds = convert::call_hook(py, "patience", "seconds", ());
        let patience = match seconds.and_then(|seconds| seconds.extract(py)) {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            Err(another) => return another,
        };
        let begun = Instant::now();
        while begun.elapsed() < patience && self.awaits_answer() {
            runtime::blocked(py, || thread::park_timeout(runtime::SIGNAL_CHECK_INTERVAL));
            if let Err(another) = py.check_signals() {
                return another;
            }
        }
        error
    }

    /// Whether a write has left, and its answer may still come.
    fn awaits_answer(&self) -> bool {
        let (is_running, write) = {
            let state = self.inbox.state();
            let task = state.task.as_ref();
            (task.is_some_and(|task| !task.is_finished()), state.write)
        };
        // The inbox is free by now: a request of a batch that leaves locks the batch first, and
        // then the inbox.
        is_running
            && match &self.callbacks.batch {
                Some(batch) => batch.batch.is_creating(),
                None => write == Some(Outcome::Unknown),
            }
    }
}

/// The note on an interrupted write, with the text of its own error if that did not reach the
/// caller.
pub fn of_write(outcome: Outcome, lost: Option<Message>) -> Message {
    let what = match outcome {
        Outcome::NotSent => "the request was not sent, or not sent again after it was refused",
        Outcome::Rejected => "the service refused the request, and it was not sent again",
        Outcome::Unknown => {
            "the request was under way, and its outcome is unknown: look on the platform before you send it again"
        }
        Outcome::Applied => {
            "the service has done what was asked, but its answer did not reach the caller: do not send it again"
        }
    };
    let mut note = message![format!("{what} (outcome: {})", outcome.as_str())];
    if let Some(lost) = lost {
        note.push(": ");
        note.push(lost);
    }
    note
}

/// Adds a note to an exception, if it takes one.
pub fn add_note(py: Python<'_>, error: &PyErr, note: &str) {
    let _ = error
        .value(py)
        .call_method_out("add_note", (format!("docplatform: {note}"),));
}
