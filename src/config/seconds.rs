//! Times that a user gives, in seconds.

use std::time::Duration;

use crate::error::{Error, Result};

pub fn seconds(what: &str, value: f64) -> Result<Duration> {
    positive(what, value, value > 0.0, "above 0")
}

pub fn seconds_or_zero(what: &str, value: f64) -> Result<Duration> {
    positive(what, value, value >= 0.0, "0 or more")
}

fn positive(what: &str, value: f64, fits: bool, bound: &str) -> Result<Duration> {
    /// A hundred years: far beyond any use, far below any overflow.
    const MAX_SECONDS: f64 = 100.0 * 365.0 * 86_400.0;
    if value.is_finite() && fits && value <= MAX_SECONDS {
        return Ok(Duration::from_secs_f64(value));
    }
    let text = format!(
        "{what} must be a finite number of seconds, {bound} and at most {MAX_SECONDS}; it is {value:?}"
    );
    Err(Error::argument(text))
}
