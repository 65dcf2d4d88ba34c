//! Counts of a client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts of a client and all its handles.
#[derive(Debug, Default)]
pub struct Stats {
    requests: AtomicU64,
    retries: AtomicU64,
    waited_micros: AtomicU64,
}

#[derive(Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Requests that left this machine, retries included; a connection that could not be made is
    /// none.
    pub requests: u64,
    pub retries: u64,
    /// Seconds of pauses before retries, for a `Retry-After` and for the budget. Pauses between
    /// polls, and waits for other calls, do not count.
    pub waited: f64,
}

impl Stats {
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            requests: self.requests.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            waited: Duration::from_micros(self.waited_micros.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }

    pub(super) fn sent(&self, retry: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.retries.fetch_add(u64::from(retry), Ordering::Relaxed);
    }

    pub(super) fn paused(&self, pause: Duration) {
        let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
        self.waited_micros.fetch_add(micros, Ordering::Relaxed);
    }
}
