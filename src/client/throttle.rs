//! The throttle: until when each kind of call has to wait after a 429 or 503 with `Retry-After`.
//! `attempt.rs` records it, and `admission.rs` waits.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::lock;

/// The beginning of all paths that share the limit of analytics.
const ANALYTICS: &str = "/v1/analytics/";
/// The longest that calls are throttled, and the longest wait that an error reports.
pub(crate) const MAX_THROTTLE: Duration = Duration::from_hours(24);

/// A kind of call that the service throttles by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Everything but `GET`.
    Writes,
    /// Reads of jobs, and of everything else that is not analytics.
    Jobs,
    /// Reads below `/v1/analytics/`.
    Analytics,
}

impl Lane {
    /// The kind of a read of `path`.
    pub fn of_read(path: &str) -> Self {
        if path.starts_with(ANALYTICS) {
            Self::Analytics
        } else {
            Self::Jobs
        }
    }
}

/// A throttle of one kind of calls.
#[derive(Debug, Clone, Copy)]
pub struct Throttled {
    pub until: Instant,
    pub asked: Duration,
    pub status: u16,
}

/// The throttles of one origin and key, which a client shares with its handles. Each lane has two.
/// Every call waits for the first. Only calls without a budget wait for the second, because a call
/// with one finds the same refusal in its ledger.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<[[Option<Throttled>; 2]; 3]>);

impl Throttle {
    /// The throttle of `lane`, if its calls have to wait. Calls with a budget skip the second
    /// throttle.
    pub fn throttled(&self, lane: Lane, has_budget: bool) -> Option<Throttled> {
        let [alone, in_ledger] = *lock(&self.0).get(lane as usize)?;
        let throttled = alone.into_iter().chain(in_ledger.filter(|_| !has_budget));
        throttled
            .filter(|throttled| throttled.until > Instant::now())
            .max_by_key(|throttled| throttled.until)
    }

    /// Makes the calls of `lane` wait. With `in_ledger`, the ledger of a budget has the same wait.
    pub fn throttle(&self, lane: Lane, status: u16, asked: Duration, in_ledger: bool) {
        let until = Instant::now() + asked.min(MAX_THROTTLE);
        let mut lanes = lock(&self.0);
        if let Some(known) = lanes
            .get_mut(lane as usize)
            .and_then(|lane| lane.get_mut(usize::from(in_ledger)))
            && known.is_none_or(|known| known.until < until)
        {
            *known = Some(Throttled {
                until,
                asked,
                status,
            });
        }
    }
}
