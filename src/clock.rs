//! The time of day, where it matters: what a file remembers must mean the same in every process.
//!
//! Timeouts, pauses and polls never look here; they go by tokio's clock, which nobody can set.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio::time::Instant;

/// Milliseconds since 1970, as the store keeps them.
pub type Millis = i64;

/// Tells the time of day.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// The machine's clock, which all its processes share and somebody may set.
    pub fn system() -> Self {
        Self::new(SystemTime::now)
    }

    /// The time of day at this moment, and from then on as tokio's clock goes: for what never leaves the process.
    pub fn steady() -> Self {
        let (wall, begun) = (SystemTime::now(), Instant::now());
        Self::new(move || wall + begun.elapsed())
    }

    /// Any other.
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What it shows.
    pub fn now(&self) -> Millis {
        Self::read((self.0)())
    }

    /// A time as the store keeps it.
    pub fn read(time: SystemTime) -> Millis {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", timestamp(self.now()))
    }
}

/// A duration in milliseconds; saturates.
pub fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

/// A time for people; what no calendar holds becomes its nearest end.
pub fn timestamp(millis: Millis) -> Timestamp {
    let nearest = if millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(millis).unwrap_or(nearest)
}
