//! Reports of a running export to its caller, and the relay between prefetched pages and that
//! caller.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::client::observer::{Note, Observer, ObserverOptions, Span};
use crate::dates::slices::Slice;
use crate::export::findings::Finding;
use crate::listing::rows::Rows;

pub trait ExportObserver: Observer {
    fn progress(&self, _done: u64) {}

    /// A page of these rows came.
    fn rows(&self, _rows: Rows, _days: Option<Slice>) {}

    /// Findings that are new: of a page, or of the two periods of a comparison.
    fn found(&self, _findings: Vec<Finding>) {}
}

/// Passes notes on to the caller that waits at the moment, and keeps them while nobody does: a
/// prefetched page has no caller yet. Counts the requests.
#[derive(Default)]
pub struct Relay {
    state: Mutex<RelayState>,
    requests: Arc<AtomicU64>,
}

#[derive(Default)]
struct RelayState {
    listener: Option<Arc<dyn ExportObserver>>,
    kept: Vec<Note>,
    ended: Vec<Box<dyn Span>>,
    /// The options of the caller that listened last: pages were prefetched for it.
    options: ObserverOptions,
}

impl Relay {
    /// Sends the kept notes and all later ones to `listener`, until the guard is dropped.
    pub fn listen(self: &Arc<Self>, listener: &Arc<dyn ExportObserver>) -> Listening {
        let (kept, ended) = {
            let mut state = self.state();
            state.listener = Some(Arc::clone(listener));
            state.options = listener.options();
            (
                std::mem::take(&mut state.kept),
                std::mem::take(&mut state.ended),
            )
        };
        for note in kept {
            listener.note(note);
        }
        for span in ended {
            listener.span_ended(span);
        }
        Listening(Arc::clone(self))
    }

    /// For a request that is made now: it is reported like all others, and its span is one of this
    /// caller's, even if another one listens when it is sent.
    pub fn asked(self: &Arc<Self>) -> Arc<dyn Observer> {
        let options = ObserverOptions {
            requests: Some(Arc::clone(&self.requests)),
            ..self.state().options.clone()
        };
        Arc::new(Asked {
            relay: Arc::clone(self),
            options,
        })
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, RelayState> {
        crate::lock(&self.state)
    }
}

/// See [`Relay::asked`].
struct Asked {
    relay: Arc<Relay>,
    options: ObserverOptions,
}

impl Observer for Asked {
    fn note(&self, note: Note) {
        let mut state = self.relay.state();
        let Some(listener) = state.listener.clone() else {
            return state.kept.push(note);
        };
        // Outside the lock: a listener may need one that a caller of `listen` holds.
        drop(state);
        listener.note(note);
    }

    fn options(&self) -> ObserverOptions {
        self.options.clone()
    }

    fn span_ended(&self, span: Box<dyn Span>) {
        let mut state = self.relay.state();
        let Some(listener) = state.listener.clone() else {
            return state.ended.push(span);
        };
        drop(state);
        listener.span_ended(span);
    }
}

/// See [`Relay::listen`].
pub struct Listening(Arc<Relay>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.state().listener = None;
    }
}
