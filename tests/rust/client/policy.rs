//! The retry policy as a table: what each failure means for a read and for a write.

use std::time::Duration;

use bytes::Bytes;
use docplatform::client::retry::{
    Failure, Head, Limits, Pace, RetryPlan, RetryQuota, Verdict, backoff, judge, plan,
};
use docplatform::error::{Kind, Outcome};

use crate::helpers::support::{millis, secs};

fn head(status: u16) -> Head {
    Head { status, ..Head::default() }
}

fn refused(status: u16) -> Failure {
    Failure::Refused { head: head(status).into(), body: Bytes::new() }
}

fn text() -> String {
    "why".to_owned()
}

/// What is expected: the kind, what it says of a write, and how it is tried again.
type Row = (Kind, Option<Outcome>, Option<Pace>);

fn check(name: &str, failure: &Failure, read: Row, write: Row) {
    for (is_write, (kind, outcome, retry)) in [(false, read), (true, write)] {
        let expected = Verdict { kind, outcome, retry };
        assert_eq!(judge(is_write, failure), expected, "{name}, write: {is_write}");
    }
}

/// Rows: A1, A5, A6, C19.
#[test]
fn failures_without_a_verdict_of_the_service() {
    use Outcome::{Applied, NotSent, Unknown};
    let again = Some(Pace::Normal);
    let unconfirmed = |outcome| (Kind::UnconfirmedWrite, Some(outcome), None);
    check(
        "refused, DNS, connect timeout, unwritten",
        &Failure::Unsent { reason: text(), fatal: false },
        (Kind::Connect, None, again),
        (Kind::Connect, Some(NotSent), again),
    );
    check(
        "certificate or host name",
        &Failure::Unsent { reason: text(), fatal: true },
        (Kind::Connect, None, None),
        (Kind::Connect, Some(NotSent), None),
    );
    check(
        "reset, EOF, bad head",
        &Failure::Ambiguous { reason: text(), timeout: false },
        (Kind::Transport, None, again),
        unconfirmed(Unknown),
    );
    check(
        "timeout",
        &Failure::Ambiguous { reason: text(), timeout: true },
        (Kind::Timeout, None, again),
        unconfirmed(Unknown),
    );
    check(
        "2xx, body broken off",
        &Failure::BodyLost { head: head(200).into(), reason: text(), timeout: false },
        (Kind::Transport, None, again),
        unconfirmed(Applied),
    );
    check(
        "2xx, body too slow",
        &Failure::BodyLost { head: head(200).into(), reason: text(), timeout: true },
        (Kind::Timeout, None, again),
        unconfirmed(Applied),
    );
    check(
        "2xx, wrong content",
        &Failure::Unreadable { head: head(200).into(), reason: text(), body: Bytes::new() },
        (Kind::Response, None, None),
        unconfirmed(Applied),
    );
}

/// Rows: A2, A8, A9, A10.
#[test]
fn every_status_that_refuses() {
    for status in (100..=199).chain(300..=599) {
        let retry = match status {
            408 | 500 | 502 | 504 | 520..=524 => Some(Pace::Normal),
            429 | 503 => Some(Pace::Throttled),
            _ => None,
        };
        let write = match status {
            429 => (Kind::Status, Some(Outcome::Rejected), Some(Pace::RetryAfter)),
            100..=199 | 408 | 500..=599 => (Kind::UnconfirmedWrite, Some(Outcome::Unknown), None),
            _ => (Kind::Status, Some(Outcome::Rejected), None),
        };
        check(&status.to_string(), &refused(status), (Kind::Status, None, retry), write);
    }
}

/// Rows: B1.
#[test]
fn backoff_doubles_up_to_its_cap() {
    for (pace, base) in [(Pace::Normal, 500), (Pace::Throttled, 2000), (Pace::RetryAfter, 2000)] {
        for retry in 1..10 {
            let most = millis(base << (retry - 1)).min(secs(20));
            assert_eq!(backoff(pace, retry, 1.0), most, "{pace:?} {retry}");
            assert_eq!(backoff(pace, retry, 0.25), most / 4, "{pace:?} {retry}");
            assert_eq!(backoff(pace, retry, 0.0), Duration::ZERO, "{pace:?} {retry}");
        }
    }
}

const LIMITS: Limits = Limits { max_retries: 2, max_retry_after: secs(60) };
/// So far off that it does not matter.
const FAR: Duration = secs(1000);

/// Rows: B1.
#[test]
fn two_retries_and_no_more() {
    let after = |number| plan(Some(Pace::Normal), None, number, LIMITS, FAR, || 1.0);
    assert_eq!(after(1), RetryPlan::Pause(millis(500)));
    assert_eq!(after(2), RetryPlan::Pause(secs(1)));
    assert_eq!(after(3), RetryPlan::GiveUp);
    assert_eq!(after(u32::MAX), RetryPlan::GiveUp);
    assert_eq!(plan(None, Some(secs(1)), 1, LIMITS, FAR, || 1.0), RetryPlan::GiveUp);
}

#[test]
fn a_retry_is_never_earlier_than_the_service_asked() {
    let asked =
        |seconds, unit: f64| plan(Some(Pace::Throttled), Some(secs(seconds)), 1, LIMITS, FAR, move || unit);
    assert_eq!(asked(5, 0.0), RetryPlan::Pause(secs(5)));
    assert_eq!(asked(5, 1.0), RetryPlan::Pause(millis(5500)));
    // A tenth, but 5 s at most.
    assert_eq!(asked(60, 1.0), RetryPlan::Pause(secs(65)));
    // Retry-After: 0 does not undercut the backoff.
    assert_eq!(asked(0, 1.0), RetryPlan::Pause(secs(2)));
    assert_eq!(asked(1, 1.0), RetryPlan::Pause(secs(2)));
}

/// Rows: B2.
#[test]
fn what_the_service_asks_beyond_the_cap_is_not_waited_for() {
    let asked = |wait| plan(Some(Pace::Throttled), Some(wait), 1, LIMITS, Duration::MAX, || 0.0);
    assert_eq!(asked(secs(60)), RetryPlan::Pause(secs(60)));
    assert_eq!(asked(secs(60) + Duration::from_nanos(1)), RetryPlan::GiveUp);
    assert_eq!(asked(Duration::MAX), RetryPlan::GiveUp);
    let all = Limits { max_retries: 2, max_retry_after: Duration::MAX };
    assert_eq!(
        plan(Some(Pace::Throttled), Some(Duration::MAX), 1, all, FAR, || 1.0),
        RetryPlan::Deadline,
        "not even without a cap"
    );
}

/// Rows: A7, A8.
#[test]
fn a_throttled_write_waits_only_for_a_retry_after() {
    let asked = |wait| plan(Some(Pace::RetryAfter), wait, 1, LIMITS, FAR, || 0.0);
    assert_eq!(asked(None), RetryPlan::GiveUp);
    assert_eq!(asked(Some(secs(1))), RetryPlan::Pause(secs(1)));
}

/// Rows: B11.
#[test]
fn a_pause_that_ends_within_a_second_of_the_deadline_is_not_begun() {
    let left = |left| plan(Some(Pace::Throttled), Some(secs(5)), 1, LIMITS, left, || 0.0);
    assert_eq!(left(secs(6)), RetryPlan::Pause(secs(5)));
    assert_eq!(left(millis(5999)), RetryPlan::Deadline);
    assert_eq!(left(Duration::ZERO), RetryPlan::Deadline);
    // Out of retries is out of retries, whatever the clock says.
    assert_eq!(plan(Some(Pace::Normal), None, 3, LIMITS, Duration::ZERO, || 0.0), RetryPlan::GiveUp);
}

/// Rows: B6.
#[test]
fn the_quota_pays_for_35_retries_or_100_throttled_ones() {
    for (pace, retries) in [(Pace::Normal, 35), (Pace::Throttled, 100), (Pace::RetryAfter, 100)] {
        let mut quota = RetryQuota::default();
        let paid = (0..1000).take_while(|_| quota.take(pace)).count();
        assert_eq!(paid, retries, "{pace:?}");
    }
}

/// Rows: B6.
#[test]
fn successes_refill_the_quota_up_to_where_it_began() {
    let mut quota = RetryQuota::default();
    while quota.take(Pace::Throttled) {}
    quota.give_back(Some(Pace::Normal));
    assert!(quota.take(Pace::Normal), "a success after a retry brings its cost back");
    assert!(!quota.take(Pace::Throttled));
    for _ in 0..4 {
        quota.give_back(None);
    }
    assert!(!quota.take(Pace::Throttled), "four first-try successes bring four");
    quota.give_back(None);
    assert!(quota.take(Pace::Throttled));

    for _ in 0..10_000 {
        quota.give_back(Some(Pace::Normal));
    }
    assert_eq!((0..1000).take_while(|_| quota.take(Pace::Normal)).count(), 35, "never above full");
}
