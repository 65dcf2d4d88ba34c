//! The retry policy: what a failure means, whether it is tried again, and after how long. The loop
//! that asks it is in `retry.rs`.

use std::time::Duration;

use crate::client::attempt::Failure;
use crate::config::Limits;
use crate::error::{Kind, Outcome};

/// The longest backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(20);
/// The least time between the end of a pause and the deadline.
pub(crate) const MIN_TIME_LEFT: Duration = Duration::from_secs(1);

/// How fast a failure is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Something broke.
    Normal,
    /// The service has too much to do.
    Throttled,
    /// Only when the service said after how long.
    RetryAfter,
}

impl Pace {
    /// The first backoff.
    fn base(self) -> Duration {
        match self {
            Self::Normal => Duration::from_millis(500),
            Self::Throttled | Self::RetryAfter => Duration::from_secs(2),
        }
    }

    /// The share of the quota that a retry costs.
    pub(crate) fn cost(self) -> u32 {
        match self {
            Self::Normal => 14,
            Self::Throttled | Self::RetryAfter => 5,
        }
    }
}

/// The meaning of a failure.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The error it becomes.
    pub kind: Kind,
    /// The outcome of a write.
    pub outcome: Option<Outcome>,
    /// Whether and how it may be tried again.
    pub retry: Option<Pace>,
}

/// The table of the retry policy. A write is retried only if the failure proves that it did not
/// happen.
pub fn judge(write: bool, failure: &Failure) -> Verdict {
    use Outcome::{Applied, NotSent, Rejected, Unknown};
    let (kind, outcome, retry) = match (failure, write) {
        (Failure::Unsent { fatal, .. }, _) => {
            (Kind::Connect, NotSent, (!fatal).then_some(Pace::Normal))
        }
        (Failure::Ambiguous { timeout, .. } | Failure::BodyLost { timeout, .. }, false) => {
            let slow = timeout.then_some(Kind::Timeout);
            (slow.unwrap_or(Kind::Transport), Unknown, Some(Pace::Normal))
        }
        (Failure::Ambiguous { .. }, true) => (Kind::UnconfirmedWrite, Unknown, None),
        (
            Failure::Unreadable {
                is_requested: true, ..
            },
            true,
        ) => (Kind::UnconfirmedWrite, Applied, None),
        // A sign-in page has a 2xx head, too.
        (Failure::BodyLost { .. } | Failure::Unreadable { .. }, true) => {
            (Kind::UnconfirmedWrite, Unknown, None)
        }
        (Failure::Unreadable { .. }, false) => (Kind::Response, Unknown, None),
        (Failure::Refused { head, .. }, false) => {
            let retry = match head.status {
                429 | 503 => Some(Pace::Throttled),
                408 | 500 | 502 | 504 | 520..=524 => Some(Pace::Normal),
                _ => None,
            };
            (Kind::Status, Unknown, retry)
        }
        (Failure::Refused { head, .. }, true) => match head.status {
            // 101 is no final answer.
            ..200 | 408 | 500.. => (Kind::UnconfirmedWrite, Unknown, None),
            429 => (Kind::Status, Rejected, Some(Pace::RetryAfter)),
            _ => (Kind::Status, Rejected, None),
        },
    };
    Verdict {
        kind,
        outcome: write.then_some(outcome),
        retry,
    }
}

/// The wait that the service asked for when it refused an attempt, and who keeps it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Refusal {
    pub retry_after: Option<Duration>,
    /// A 429 of a call with a budget. The ledger has its `Retry-After`, and admission waits for it.
    pub in_ledger: bool,
    /// Whether the call fails where it would have to wait for its budget.
    pub stops: bool,
}

impl Refusal {
    /// The `Retry-After` that the retry loop waits for.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.retry_after.filter(|_| !self.in_ledger)
    }
}

/// The decision after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPlan {
    /// Try again after this pause.
    Pause(Duration),
    /// Raise it.
    GiveUp,
    /// Raise it, because the deadline comes first.
    Deadline,
}

/// Decides what follows the latest attempt with `time_left` until the deadline. `number`: the
/// attempts so far, without the one with a new key.
/// `unit` gives random numbers from 0 to 1.
pub fn plan(
    pace: Option<Pace>,
    refusal: Refusal,
    number: u32,
    limits: Limits,
    time_left: Duration,
    unit: impl Fn() -> f64,
) -> RetryPlan {
    let Some(pace) = pace else {
        return RetryPlan::GiveUp;
    };
    let asked = refusal.pause();
    if number > limits.max_retries
        || asked.is_some_and(|retry_after| retry_after > limits.max_retry_after)
        || (pace == Pace::RetryAfter && refusal.retry_after.is_none())
    {
        return RetryPlan::GiveUp;
    }
    let mut pause = backoff(pace, number, unit());
    if let Some(retry_after) = asked {
        pause = pause.max(retry_after.saturating_add(spread(retry_after, unit())));
    }
    if pause.saturating_add(MIN_TIME_LEFT) > time_left {
        return RetryPlan::Deadline;
    }
    if refusal.in_ledger && refusal.stops && refusal.retry_after.is_none_or(|wait| wait > pause) {
        // The ledger refuses for as long as the service asked, and usually for an hour if it did
        // not say. So the retry asks the ledger at once, and fails there.
        pause = Duration::ZERO;
    }
    RetryPlan::Pause(pause)
}

/// Full jitter before the n-th retry: `unit · min(20 s, base · 2^(n-1))`.
pub fn backoff(pace: Pace, retry: u32, unit: f64) -> Duration {
    let doubled = 1_u32
        .checked_shl(retry.saturating_sub(1))
        .and_then(|factor| pace.base().checked_mul(factor))
        .unwrap_or(MAX_BACKOFF);
    doubled.min(MAX_BACKOFF).mul_f64(unit.clamp(0.0, 1.0))
}

/// The time that is added to a wait that the service asked for, so that clients do not all return
/// at the same moment.
pub(crate) fn spread(retry_after: Duration, unit: f64) -> Duration {
    (retry_after / 10)
        .min(Duration::from_secs(5))
        .mul_f64(unit.clamp(0.0, 1.0))
}

/// The retry quota of one client and origin. With two retries a call, while more than about one
/// call in thirty fails (of throttled ones, one in eleven), retries become rare, and first attempts
/// go on.
#[derive(Debug)]
pub struct RetryQuota {
    tokens: u32,
}

impl RetryQuota {
    const FULL: u32 = 500;

    /// Pays for a retry; `false` if too little is left.
    pub fn take(&mut self, pace: Pace) -> bool {
        let rest = self.tokens.checked_sub(pace.cost());
        self.tokens = rest.unwrap_or(self.tokens);
        rest.is_some()
    }

    /// Gives back what the last retry of a successful call cost, or 1 for a call without retries.
    pub fn give_back(&mut self, last: Option<Pace>) {
        let back = last.map_or(1, Pace::cost);
        self.tokens = self.tokens.saturating_add(back).min(Self::FULL);
    }
}

impl Default for RetryQuota {
    fn default() -> Self {
        Self { tokens: Self::FULL }
    }
}
