//! What all calls of one client share: the gates that a throttled answer closes, and the retry quota.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::client::retry::{Pace, Quota};

/// All paths below it share one limit.
const ANALYTICS: &str = "/v1/analytics/";
/// The longest that a gate stays closed.
const LONGEST: Duration = Duration::from_hours(24);

/// The kinds of call that a service throttles apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Everything that is no `GET`.
    Writes,
    /// Reads of jobs, and of whatever else is not analytics.
    Jobs,
    /// Everything that the service lists.
    Analytics,
}

impl Lane {
    /// The kind of a read of `path`.
    pub fn of_read(path: &str) -> Self {
        if path.starts_with(ANALYTICS) { Self::Analytics } else { Self::Jobs }
    }
}

/// A closed gate.
#[derive(Debug, Clone, Copy)]
pub struct Closed {
    /// When it opens.
    pub until: Instant,
    /// What the service asked for when it closed.
    pub told: Duration,
    /// The status that it asked with.
    pub status: u16,
}

#[derive(Debug, Default)]
struct State {
    gates: [Option<Closed>; 3],
    quota: Quota,
}

/// Shared by a client and its handles, for one origin and key.
#[derive(Debug, Default)]
pub struct Shared(Mutex<State>);

impl Shared {
    /// Never held over an await; a panic elsewhere leaves nothing half done in it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate of `lane`, where it is closed.
    pub fn closed(&self, lane: Lane) -> Option<Closed> {
        let gate = *self.state().gates.get(lane as usize)?;
        gate.filter(|gate| gate.until > Instant::now())
    }

    /// A throttled answer asked all to wait.
    pub fn close(&self, lane: Lane, status: u16, told: Duration) {
        let until = Instant::now() + told.min(LONGEST);
        let mut state = self.state();
        if let Some(gate) = state.gates.get_mut(lane as usize)
            && gate.is_none_or(|gate| gate.until < until)
        {
            *gate = Some(Closed { until, told, status });
        }
    }

    /// See [`Quota::take`].
    pub fn take(&self, pace: Pace) -> bool {
        self.state().quota.take(pace)
    }

    /// See [`Quota::give_back`].
    pub fn give_back(&self, last: Option<Pace>) {
        self.state().quota.give_back(last);
    }
}
