//! `Retry-After`: its value, and the pauses after it.

use std::time::{Duration, SystemTime};

use docplatform::client::policy::{Pace, Refusal, RetryPlan, backoff, plan};
use docplatform::config::Limits;
use docplatform::http::retry_after::retry_after;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use proptest::prelude::*;

use super::cases;

/// 1970 to 2068, which the two digits of one form can say.
fn any_second() -> impl Strategy<Value = i64> {
    0..3_124_137_600_i64
}

/// The same from 1990 on: a `Date` before that is of a clock that was never set, and ignored.
fn set_clock() -> impl Strategy<Value = i64> {
    631_152_000..3_124_137_600_i64
}

/// The three forms of an HTTP date.
fn forms(second: i64) -> [String; 3] {
    let at = Timestamp::from_second(second).unwrap();
    [
        "%a, %d %b %Y %H:%M:%S GMT",
        "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %e %H:%M:%S %Y",
    ]
    .map(|form| at.strftime(form).to_string())
}

fn headers(date: Option<&str>, values: &[Vec<u8>]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append("retry-after", HeaderValue::from_bytes(value).ok()?);
    }
    if let Some(date) = date {
        headers.append("date", HeaderValue::from_str(date).ok()?);
    }
    Some(headers)
}

fn any_pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        Just(Pace::Normal),
        Just(Pace::Throttled),
        Just(Pace::RetryAfter)
    ]
}

proptest! {
    #![proptest_config(cases(256))]

    /// Rows: B3, B8.
    #[test]
    fn a_date_is_taken_against_the_answers_own(at in any_second(), now in set_clock(), wall in any_second()) {
        let wall = SystemTime::UNIX_EPOCH + Duration::from_secs(wall.unsigned_abs());
        for date in forms(now) {
            for asked in forms(at) {
                let headers = headers(Some(&date), &[asked.clone().into_bytes()]).unwrap();
                let wait = Duration::from_secs(u64::try_from(at - now).unwrap_or(0));
                prop_assert_eq!(retry_after(&headers, wall), (Some(wait), false), "{} {}", asked, date);
            }
        }
    }

    /// Rows: B4.
    #[test]
    fn the_longest_wait_counts_whatever_stands_beside_it(
        seconds in prop::collection::vec(any::<u64>(), 1..5),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..3),
    ) {
        let mut values: Vec<_> = seconds.iter().map(|s| s.to_string().into_bytes()).collect();
        values.extend(noise);
        if let Some(headers) = headers(None, &values) {
            let (wait, _) = retry_after(&headers, SystemTime::UNIX_EPOCH);
            prop_assert!(wait >= seconds.iter().max().copied().map(Duration::from_secs));
        }
        // A proxy may make one value of several.
        let joined = seconds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let wait = seconds.iter().max().copied().map(Duration::from_secs);
        let headers = headers(None, &[joined.into_bytes()]).unwrap();
        prop_assert_eq!(retry_after(&headers, SystemTime::UNIX_EPOCH), (wait, false));
    }

    /// Rows: B4.
    #[test]
    fn a_value_is_understood_or_reported(value in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Some(headers) = headers(None, &[value]) {
            let (wait, malformed) = retry_after(&headers, SystemTime::UNIX_EPOCH);
            prop_assert_eq!(wait.is_none(), malformed);
        }
    }

    /// Rows: B10.
    #[test]
    fn a_backoff_is_within_its_bounds_for_ever(pace in any_pace(), retry in any::<u32>(), unit in -1.0..2.0_f64) {
        prop_assert!(backoff(pace, retry, unit) <= Duration::from_secs(20));
        prop_assert!(backoff(pace, retry, 1.0) >= backoff(pace, retry.saturating_sub(1), 1.0));
    }

    #[test]
    fn a_pause_is_never_shorter_than_asked_for_nor_beyond_the_deadline(
        pace in any_pace(),
        retry_after in prop::option::of(any::<u64>()),
        number in 1..8_u32,
        (max_retries, most, left) in (0..8_u32, any::<u32>(), any::<u32>()),
        unit in 0.0..=1.0_f64,
    ) {
        let retry_after = retry_after.map(Duration::from_secs);
        let (most, left) = (Duration::from_secs(most.into()), Duration::from_secs(left.into()));
        let limits = Limits { max_retries, max_retry_after: most };
        let refusal = Refusal { retry_after, ..Refusal::default() };
        if let RetryPlan::Pause(pause) = plan(Some(pace), refusal, number, limits, left, || unit) {
            prop_assert!(number <= max_retries);
            prop_assert!(pause >= retry_after.unwrap_or_default() && retry_after.unwrap_or_default() <= most);
            prop_assert!(pause + Duration::from_secs(1) <= left);
        }
    }
}
