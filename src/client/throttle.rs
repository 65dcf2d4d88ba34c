//! The throttle, which all calls of one client share: which of them wait, and until when, after a 429 or 503 with
//! `Retry-After`.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::lock;

/// All paths that begin with this share one limit.
const ANALYTICS: &str = "/v1/analytics/";
/// The longest that calls are throttled, and the longest wait that an error reports.
pub(crate) const MAX_THROTTLE: Duration = Duration::from_hours(24);

/// The kinds of call that a service throttles apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Everything but `GET`.
    Writes,
    /// Reads of jobs, and of everything else that is not analytics.
    Jobs,
    /// Everything that the service lists.
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

/// Calls of one kind are not sent for a while.
#[derive(Debug, Clone, Copy)]
pub struct Throttled {
    pub until: Instant,
    pub asked: Duration,
    pub status: u16,
}

/// Shared by a client and its handles, for one origin and key; two places for each lane: for what no ledger holds for, and for
/// what one does.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<[[Option<Throttled>; 2]; 3]>);

impl Throttle {
    /// Whether calls of `lane` have to wait. `has_ledger`: they have one, and go by it.
    pub fn throttled(&self, lane: Lane, has_ledger: bool) -> Option<Throttled> {
        let [alone, in_ledger] = *lock(&self.0).get(lane as usize)?;
        let throttled = alone.into_iter().chain(in_ledger.filter(|_| !has_ledger));
        throttled
            .filter(|throttled| throttled.until > Instant::now())
            .max_by_key(|throttled| throttled.until)
    }

    /// A throttled answer asked all to wait. `in_ledger`: the ledger of a budget holds for as long.
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
