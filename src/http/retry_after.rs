//! Reads the `Retry-After` header.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

use crate::http::rate_limit::number;

/// A `Date` header is ignored unless it is this long after 1970, where clocks start that were never
/// set.
const PLAUSIBLE: Range<Duration> =
    Duration::from_hours(20 * 365 * 24)..Duration::from_hours(200 * 365 * 24);

/// The wait that `headers` ask for, if any, and whether a value could not be understood.
///
/// Digits are seconds, and saturate. A date in one of HTTP's three forms is compared with the
/// answer's own `Date` (with `wall` if that is missing or absurd); a date in the past is 0. Of
/// several values the longest counts.
pub fn retry_after(headers: &HeaderMap, wall: SystemTime) -> (Option<Duration>, bool) {
    let now = answered_at(headers, wall);
    let mut longest = None;
    let mut malformed = false;
    for value in headers.get_all(RETRY_AFTER) {
        match value.to_str().ok().and_then(|text| parse(text, now)) {
            Some(wait) => longest = longest.max(Some(wait)),
            None => malformed = true,
        }
    }
    (longest, malformed)
}

/// The time of an answer by its own `Date`, or `wall` if that is missing or absurd. Its other dates
/// are compared with it.
pub fn answered_at(headers: &HeaderMap, wall: SystemTime) -> SystemTime {
    date(headers).unwrap_or(wall)
}

/// The answer's own `Date`, unless it is absurd.
pub(crate) fn date(headers: &HeaderMap) -> Option<SystemTime> {
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let since = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    PLAUSIBLE.contains(&since).then_some(date)
}

fn parse(text: &str, now: SystemTime) -> Option<Duration> {
    // A proxy may join several values with commas.
    if let Some(all) = text.split(',').map(number).collect::<Option<Vec<_>>>() {
        return all.into_iter().max().map(Duration::from_secs);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}
