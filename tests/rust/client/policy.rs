//! The retry policy as a table: what each failure means for a read and for a write.

use std::time::Duration;

use bytes::Bytes;
use docplatform::client::policy::{
    Pace, Refusal, RetryPlan, RetryQuota, Verdict, backoff, judge, plan,
};
use docplatform::client::{Failure, Head};
use docplatform::config::Limits;
use docplatform::error::{Kind, Outcome};

use crate::helpers::support::{millis, secs};

fn head(status: u16) -> Head {
    Head {
        status,
        ..Head::default()
    }
}

fn refused(status: u16) -> Failure {
    Failure::Refused {
        head: head(status).into(),
        body: Bytes::new(),
    }
}

fn text() -> String {
    "why".to_owned()
}

/// Expected: the kind, the outcome of a write, and the pace of the next attempt.
type Row = (Kind, Option<Outcome>, Option<Pace>);

fn check(name: &str, failure: &Failure, read: Row, write: Row) {
    for (is_write, (kind, outcome, retry)) in [(false, read), (true, write)] {
        let expected = Verdict {
            kind,
            outcome,
            retry,
        };
        assert_eq!(
            judge(is_write, failure),
            expected,
            "{name}, write: {is_write}"
        );
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
        &Failure::Unsent {
            reason: text().into(),
            fatal: false,
        },
        (Kind::Connect, None, again),
        (Kind::Connect, Some(NotSent), again),
    );
    check(
        "certificate or host name",
        &Failure::Unsent {
            reason: text().into(),
            fatal: true,
        },
        (Kind::Connect, None, None),
        (Kind::Connect, Some(NotSent), None),
    );
    check(
        "reset, EOF, bad head",
        &Failure::Ambiguous {
            reason: text().into(),
            timeout: false,
        },
        (Kind::Transport, None, again),
        unconfirmed(Unknown),
    );
    check(
        "timeout",
        &Failure::Ambiguous {
            reason: text().into(),
            timeout: true,
        },
        (Kind::Timeout, None, again),
        unconfirmed(Unknown),
    );
    check(
        "2xx, body broken off",
        &Failure::BodyLost {
            head: head(200).into(),
            reason: text().into(),
            timeout: false,
        },
        (Kind::Transport, None, again),
        unconfirmed(Unknown),
    );
    check(
        "2xx, body too slow",
        &Failure::BodyLost {
            head: head(200).into(),
            reason: text().into(),
            timeout: true,
        },
        (Kind::Timeout, None, again),
        unconfirmed(Unknown),
    );
    for (is_requested, outcome) in [(false, Unknown), (true, Applied)] {
        check(
            "2xx, wrong content",
            &Failure::Unreadable {
                head: head(200).into(),
                reason: text().into(),
                body: Bytes::new(),
                is_requested,
            },
            (Kind::Response, None, None),
            unconfirmed(outcome),
        );
    }
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
            429 => (
                Kind::Status,
                Some(Outcome::Rejected),
                Some(Pace::RetryAfter),
            ),
            100..=199 | 408 | 500..=599 => (Kind::UnconfirmedWrite, Some(Outcome::Unknown), None),
            _ => (Kind::Status, Some(Outcome::Rejected), None),
        };
        check(
            &status.to_string(),
            &refused(status),
            (Kind::Status, None, retry),
            write,
        );
    }
}

/// Rows: B1.
#[test]
fn backoff_doubles_up_to_its_cap() {
    for (pace, base) in [
        (Pace::Normal, 500),
        (Pace::Throttled, 2000),
        (Pace::RetryAfter, 2000),
    ] {
        for retry in 1..10 {
            let most = millis(base << (retry - 1)).min(secs(20));
            assert_eq!(backoff(pace, retry, 1.0), most, "{pace:?} {retry}");
            assert_eq!(backoff(pace, retry, 0.25), most / 4, "{pace:?} {retry}");
            assert_eq!(
                backoff(pace, retry, 0.0),
                Duration::ZERO,
                "{pace:?} {retry}"
            );
        }
    }
}

const LIMITS: Limits = Limits {
    max_retries: 2,
    max_retry_after: secs(60),
};
/// So far off that it does not matter.
const FAR: Duration = secs(1000);

/// Rows: A7, A8, B1, B2, B11.
#[test]
fn what_follows_a_failed_attempt() {
    use Pace::{Normal, RetryAfter, Throttled};
    use RetryPlan::{Deadline, GiveUp, Pause};
    let beyond = secs(60) + Duration::from_nanos(1);
    // The attempt's number, what the service asked for, the time that is left, the dice, and what
    // is planned.
    for (pace, number, asked, left, unit, planned) in [
        (Some(Normal), 1, None, FAR, 1.0, Pause(millis(500))),
        (Some(Normal), 2, None, FAR, 1.0, Pause(secs(1))),
        (Some(Normal), 3, None, FAR, 1.0, GiveUp),
        (Some(Normal), u32::MAX, None, FAR, 1.0, GiveUp),
        (None, 1, Some(secs(1)), FAR, 1.0, GiveUp),
        // Never earlier than the service asked, and a tenth later, but 5 s at most.
        (Some(Throttled), 1, Some(secs(5)), FAR, 0.0, Pause(secs(5))),
        (
            Some(Throttled),
            1,
            Some(secs(5)),
            FAR,
            1.0,
            Pause(millis(5500)),
        ),
        (
            Some(Throttled),
            1,
            Some(secs(60)),
            FAR,
            1.0,
            Pause(secs(65)),
        ),
        // Retry-After: 0 does not undercut the backoff.
        (Some(Throttled), 1, Some(secs(0)), FAR, 1.0, Pause(secs(2))),
        (Some(Throttled), 1, Some(secs(1)), FAR, 1.0, Pause(secs(2))),
        // A wait beyond the cap is not begun.
        (
            Some(Throttled),
            1,
            Some(secs(60)),
            Duration::MAX,
            0.0,
            Pause(secs(60)),
        ),
        (Some(Throttled), 1, Some(beyond), Duration::MAX, 0.0, GiveUp),
        (
            Some(Throttled),
            1,
            Some(Duration::MAX),
            Duration::MAX,
            0.0,
            GiveUp,
        ),
        // A write waits only for a Retry-After.
        (Some(RetryAfter), 1, None, FAR, 0.0, GiveUp),
        (Some(RetryAfter), 1, Some(secs(1)), FAR, 0.0, Pause(secs(1))),
        // A pause that ends within a second of the deadline is not begun.
        (
            Some(Throttled),
            1,
            Some(secs(5)),
            secs(6),
            0.0,
            Pause(secs(5)),
        ),
        (
            Some(Throttled),
            1,
            Some(secs(5)),
            millis(5999),
            0.0,
            Deadline,
        ),
        (
            Some(Throttled),
            1,
            Some(secs(5)),
            Duration::ZERO,
            0.0,
            Deadline,
        ),
        // Out of retries is out of retries, whatever the clock says.
        (Some(Normal), 3, None, Duration::ZERO, 0.0, GiveUp),
    ] {
        assert_eq!(
            plan(pace, refusal(asked), number, LIMITS, left, || unit),
            planned,
            "{pace:?} {number} {asked:?} {left:?}"
        );
    }
    let all = Limits {
        max_retries: 2,
        max_retry_after: Duration::MAX,
    };
    let forever = refusal(Some(Duration::MAX));
    let planned = plan(Some(Throttled), forever, 1, all, FAR, || 1.0);
    assert_eq!(planned, Deadline, "not even without a cap");
}

/// A `Retry-After` alone.
fn refusal(retry_after: Option<Duration>) -> Refusal {
    Refusal {
        retry_after,
        ..Refusal::default()
    }
}

#[test]
fn a_429_of_a_call_with_a_budget_is_waited_for_at_the_ledger() {
    use Pace::{RetryAfter, Throttled};
    use RetryPlan::{GiveUp, Pause};
    let hour = Some(secs(3600));
    for (pace, retry_after, stops, planned) in [
        // The backoff alone, although the service asks for more than the cap.
        (Throttled, hour, false, Pause(secs(2))),
        (Throttled, None, false, Pause(secs(2))),
        (RetryAfter, hour, false, Pause(secs(2))),
        (RetryAfter, None, false, GiveUp),
        // The ledger refuses the retry, so nothing is waited for before.
        (Throttled, hour, true, Pause(Duration::ZERO)),
        (Throttled, None, true, Pause(Duration::ZERO)),
        (Throttled, Some(secs(1)), true, Pause(secs(2))),
    ] {
        let refusal = Refusal {
            retry_after,
            in_ledger: true,
            stops,
        };
        let found = plan(Some(pace), refusal, 1, LIMITS, FAR, || 1.0);
        assert_eq!(found, planned, "{pace:?} {refusal:?}");
    }
}

/// Rows: B6.
#[test]
fn the_quota_pays_for_35_retries_or_100_throttled_ones() {
    for (pace, retries) in [
        (Pace::Normal, 35),
        (Pace::Throttled, 100),
        (Pace::RetryAfter, 100),
    ] {
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
    assert!(
        quota.take(Pace::Normal),
        "a success after a retry brings its cost back"
    );
    assert!(!quota.take(Pace::Throttled));
    for _ in 0..4 {
        quota.give_back(None);
    }
    assert!(
        !quota.take(Pace::Throttled),
        "four first-try successes bring four"
    );
    quota.give_back(None);
    assert!(quota.take(Pace::Throttled));

    for _ in 0..10_000 {
        quota.give_back(Some(Pace::Normal));
    }
    assert_eq!(
        (0..1000).take_while(|_| quota.take(Pace::Normal)).count(),
        35,
        "never above full"
    );
}
