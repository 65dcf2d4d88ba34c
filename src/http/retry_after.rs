//! Reads the `Retry-After` header.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// A `Date` header is ignored unless it is this long after 1970, where clocks start that were never set.
const PLAUSIBLE: Range<Duration> = Duration::from_hours(20 * 365 * 24)..Duration::from_hours(200 * 365 * 24);

/// The wait that `headers` ask for, if any, and whether a value could not be understood.
///
/// Digits are seconds, and saturate. A date in one of HTTP's three forms is compared with the answer's own `Date` (with
/// `wall` if that is missing or absurd); a date in the past is 0. Of several values the longest counts.
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

/// The time of an answer by its own `Date`, with which its other dates are compared; `wall` if that is missing or
/// absurd.
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
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = text
            .bytes()
            .fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(values: &[&str], date: Option<&str>) -> (Option<u64>, bool) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(RETRY_AFTER, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        if let Some(date) = date {
            headers.append(DATE, date.parse().unwrap());
        }
        let wall = httpdate::parse_http_date("Sun, 06 Nov 1994 07:49:37 GMT").unwrap();
        let (wait, malformed) = retry_after(&headers, wall);
        (wait.map(|wait| wait.as_secs()), malformed)
    }

    /// Rows: B4.
    #[test]
    fn seconds() {
        assert_eq!(ask(&["120"], None), (Some(120), false));
        assert_eq!(ask(&["0"], None), (Some(0), false));
        assert_eq!(ask(&["007"], None), (Some(7), false));
        assert_eq!(ask(&[&"9".repeat(40)], None), (Some(u64::MAX), false));
        assert_eq!(ask(&[], None), (None, false));
    }

    /// Rows: B4.
    #[test]
    fn malformed_is_absent() {
        for bad in ["-1", "1.5", "1e3", "soon", "", "+5", "\u{661}\u{662}", "5 s", "0x10"] {
            assert_eq!(ask(&[bad], None), (None, true), "{bad:?}");
        }
    }

    /// Rows: B4.
    #[test]
    fn the_longest_of_several_counts() {
        assert_eq!(ask(&["5", "60", "7"], None), (Some(60), false));
        assert_eq!(ask(&["soon", "7"], None), (Some(7), true));
    }

    /// Rows: C25.
    #[test]
    fn an_absent_or_absurd_date_is_ignored() {
        let asked = ["Sun, 06 Nov 1994 07:50:37 GMT"];
        assert_eq!(ask(&asked, None), (Some(60), false));
        assert_eq!(ask(&asked, Some("not a date")), (Some(60), false));
        assert_eq!(ask(&asked, Some("Fri, 31 Dec 9999 23:59:59 GMT")), (Some(60), false));
        assert_eq!(ask(&asked, Some("Thu, 01 Jan 1970 00:00:07 GMT")), (Some(60), false));
    }
}
