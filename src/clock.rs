//! The time of day, for what is stored in files and so must mean the same in every process.
//!
//! Timeouts, pauses and polls use a clock that nobody sets instead.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::time::Instant;

/// Milliseconds since 1970, as the store keeps them.
pub type Millis = i64;

/// The time of day.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// The machine's clock. All processes share it, and it can be set.
    pub fn system() -> Self {
        Self::new(SystemTime::now)
    }

    /// The time of day at this moment, advanced by tokio's clock: for what never leaves the
    /// process.
    pub fn steady() -> Self {
        let (wall, begun) = (SystemTime::now(), Instant::now());
        Self::new(move || wall + begun.elapsed())
    }

    /// A clock that reads the time of day from `now`.
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time of day.
    pub fn now(&self) -> Millis {
        Self::read(self.time())
    }

    /// The same, as the system has it.
    pub fn time(&self) -> SystemTime {
        (self.0)()
    }

    /// The day that it is in UTC.
    pub fn today(&self) -> Date {
        timestamp(self.now()).to_zoned(TimeZone::UTC).date()
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

/// A time for people. A time outside the calendar's range becomes the nearest end of it.
pub fn timestamp(millis: Millis) -> Timestamp {
    let nearest = if millis < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::from_millisecond(millis).unwrap_or(nearest)
}
