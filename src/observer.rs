//! What a running call tells its caller. The caller decides where: a log, a callback, an exception's note.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::endpoint::Segment;
use crate::error::Outcome;
use crate::findings::Finding;
use crate::jobs::Job;
use crate::rows::Rows;
use crate::trace::TraceParent;

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something the user may want to know while it goes on.
    Info,
    /// Something went wrong and is being dealt with.
    Warning,
}

/// A line for the log: no key, no prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub level: Level,
    /// The line.
    pub text: String,
    /// Until when nothing is sent, where it tells of such a wait.
    pub until: Option<Timestamp>,
}

impl Note {
    /// A line that says something.
    pub fn new(level: Level, text: String) -> Self {
        Self { level, text, until: None }
    }
}

/// Receives what a call has to tell while it runs.
pub trait Observer: Send + Sync {
    /// A line for the log.
    fn note(&self, note: Note);

    /// Where requests that leave are counted, beside the client's own count.
    fn requests(&self) -> Option<Arc<AtomicU64>> {
        None
    }

    /// So many rows came so far.
    fn progress(&self, _rows: u64) {}

    /// A page of these rows came.
    fn rows(&self, _rows: &Rows) {}

    /// What was found in a page for the first time.
    fn found(&self, _findings: Vec<Finding>) {}

    /// What is known of the write that is under way, or that was answered; `None` for a read.
    fn write(&self, _outcome: Option<Outcome>) {}

    /// Asks, right before a write leaves, whether it may: from then on its outcome is unknown. A caller that was told
    /// that nothing was sent says no.
    fn leaves(&self) -> bool {
        self.write(Some(Outcome::Unknown));
        true
    }

    /// The job that was created, written to or is waited for, for the note of an interrupt. Called before the write
    /// counts as applied, so that there is no moment at which neither is known.
    fn job(&self, _id: &Segment) {}

    /// The trace that the call belongs to.
    fn trace(&self) -> Option<TraceParent> {
        None
    }

    /// A poll came back. Resolves when the caller has looked at it.
    fn polled(&self, _job: &Job) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

/// Passes notes on to whoever waits at the moment, and keeps them while nobody does: a prefetched page
/// has no caller yet. Counts the requests.
#[derive(Default)]
pub struct Relay {
    state: Mutex<RelayState>,
    requests: Arc<AtomicU64>,
}

#[derive(Default)]
struct RelayState {
    listener: Option<Arc<dyn Observer>>,
    kept: Vec<Note>,
    /// Of whoever listened last: what was asked for ahead was asked for on its behalf.
    trace: Option<TraceParent>,
}

impl Relay {
    /// From now on `listener` hears everything, first what was kept; nobody does once the guard is dropped.
    pub fn listen(self: &Arc<Self>, listener: Arc<dyn Observer>) -> Listening {
        let kept = {
            let mut state = self.state();
            state.listener = Some(Arc::clone(&listener));
            state.trace = listener.trace();
            std::mem::take(&mut state.kept)
        };
        for note in kept {
            listener.note(note);
        }
        Listening(Arc::clone(self))
    }

    /// For what is asked for now: it is told of as everything is, and belongs to the trace of whoever asks, also
    /// when somebody else listens by the time that it is sent.
    pub fn asked(self: &Arc<Self>) -> Arc<dyn Observer> {
        Arc::new(Asked { trace: self.state().trace.clone(), relay: Arc::clone(self) })
    }

    /// How many requests were sent.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, RelayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Relay {
    fn note(&self, note: Note) {
        let mut state = self.state();
        let Some(listener) = state.listener.clone() else {
            return state.kept.push(note);
        };
        // Outside the lock: whoever listens may need one that a caller of `listen` holds.
        drop(state);
        listener.note(note);
    }
}

/// See [`Relay::asked`].
struct Asked {
    relay: Arc<Relay>,
    trace: Option<TraceParent>,
}

impl Observer for Asked {
    fn note(&self, note: Note) {
        self.relay.note(note);
    }

    fn trace(&self) -> Option<TraceParent> {
        self.trace.clone()
    }

    fn requests(&self) -> Option<Arc<AtomicU64>> {
        Some(Arc::clone(&self.relay.requests))
    }
}

/// See [`Relay::listen`].
pub struct Listening(Arc<Relay>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.state().listener = None;
    }
}
