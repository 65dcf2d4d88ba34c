//! Retries of reads: how often, how late, and what the last error says (faults.md, B).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use docplatform::client::Snapshot;
use docplatform::config::Options;
use docplatform::error::Kind;
use docplatform::text::message::Advice;
use tokio::time::Instant;

use crate::helpers::support::{
    Recorder, Script, Step, bare, call, client, client_throwing, client_with, fail, good, json,
    millis, options, read, reply, secs, with_retry_after, write,
};

type Failing = fn() -> Step;

/// Rows: B1, C4.
#[tokio::test(start_paused = true)]
async fn what_is_tried_again_is_tried_three_times_in_all() {
    let again: [(&str, Failing, Kind); 5] = [
        ("unsent", || Step::Unsent { fatal: false }, Kind::Connect),
        ("broke off", || Step::Ambiguous, Kind::Transport),
        (
            "body broke off",
            || reply(200, "{").broken().into(),
            Kind::Transport,
        ),
        ("failed", || bare(500), Kind::Status),
        ("throttled", || bare(503), Kind::Status),
    ];
    for (name, step, kind) in again {
        let script = Script::each(move |_| step());
        let error = fail(&client(&script), read()).await;
        assert_eq!((error.kind, error.outcome), (kind, None), "{name}");
        assert_eq!((script.count(), error.attempts.len()), (3, 3), "{name}");
        assert!(
            error.to_string().ends_with("(3 attempts)"),
            "{name}: {error}"
        );
        assert!(error.transient && !error.deadline_exceeded, "{name}");

        let script = Script::new([step(), step(), good()]);
        assert!(call(&client(&script), read()).await.is_ok(), "{name}");
    }
}

/// Rows: B2, B4, N11.
#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_cap_is_raised_at_once() {
    for (header, wait) in [
        ("3600", 3600),
        ("61", 61),
        (&"9".repeat(40), 86_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
    ] {
        let begun = Instant::now();
        let script = Script::new([with_retry_after(429, header)]);
        let error = fail(&client(&script), read()).await;
        assert_eq!(
            (error.kind, error.status, begun.elapsed()),
            (Kind::Status, Some(429), Duration::ZERO)
        );
        assert_eq!(error.retry_after, Some(secs(wait)));
        assert!(error.transient && !error.deadline_exceeded);
        let advice = Advice::CallAfter {
            seconds: Some(wait),
        };
        assert_eq!(error.message.advice(), Some(&advice));
    }
    let patient = Options {
        max_retry_after: 7200.0,
        deadline: 7200.0,
        ..options()
    };
    let script = Script::new([with_retry_after(429, "3600"), good()]);
    call(&client_with(&script, &patient, 0.0), read())
        .await
        .unwrap();
    assert_eq!(script.gaps(), [secs(3600)]);
    let impatient = Options {
        max_retry_after: 0.0,
        ..options()
    };
    let script = Script::new([with_retry_after(429, "1")]);
    fail(&client_with(&script, &impatient, 0.0), read()).await;
}

/// Rows: B4.
#[tokio::test(start_paused = true)]
async fn a_retry_after_that_cannot_be_understood_is_logged_once_and_ignored() {
    let bad: [&[u8]; 10] = [
        b"-1",
        b"1.5",
        b"1e3",
        b"soon",
        b"",
        b"+5",
        b"5 s",
        "\u{661}".as_bytes(),
        b"\xff",
        b"0x10",
    ];
    for header in bad {
        let script = Script::new([reply(429, "").header("retry-after", header).into(), good()]);
        let recorder = Recorder::default();
        client(&script).call(read(), &recorder, json).await.unwrap();
        assert_eq!(
            recorder
                .log()
                .matches("unreadable Retry-After was ignored")
                .count(),
            1,
            "{header:?}"
        );
        assert_eq!(script.gaps(), [Duration::ZERO]);
    }
}

/// Rows: B3, C25.
#[tokio::test(start_paused = true)]
async fn an_absent_or_absurd_clock_of_the_service_is_replaced_by_the_machines_own() {
    let soon = httpdate::fmt_http_date(std::time::SystemTime::now() + secs(50));
    let (far, unset) = (
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:07 GMT",
    );
    for date in [None, Some(far), Some(unset), Some("yesterday")] {
        let mut throttled = reply(429, "").header("retry-after", &soon);
        if let Some(date) = date {
            throttled = throttled.header("date", date);
        }
        let script = Script::new([throttled.into(), good()]);
        call(&client(&script), read()).await.unwrap();
        // The machine's clock went on meanwhile.
        assert!(
            (secs(20)..=secs(50)).contains(&script.gaps()[0]),
            "{date:?}: {:?}",
            script.gaps()
        );
    }
}

/// Rows: B11.
#[tokio::test(start_paused = true)]
async fn a_retry_that_would_come_too_late_is_left_out_and_said_so() {
    let begun = Instant::now();
    let script = Script::new([with_retry_after(429, "5"), with_retry_after(429, "5")]);
    let short = Options {
        deadline: 3.0,
        ..options()
    };
    let error = fail(&client_with(&script, &short, 0.0), read()).await;
    assert_eq!(
        (error.status, error.retry_after, begun.elapsed()),
        (Some(429), Some(secs(5)), Duration::ZERO)
    );
    assert!(
        error.deadline_exceeded
            && error
                .to_string()
                .contains("the call's deadline leaves no time"),
        "{error}"
    );
    let error = fail(&client_with(&script, &short, 0.0), write()).await;
    assert!(error.deadline_exceeded, "{error}");
}

/// Rows: C24.
#[tokio::test(start_paused = true)]
async fn the_deadline_ends_a_call_whatever_its_attempts_do() {
    let begun = Instant::now();
    let script = Script::each(|_| Step::Never);
    let error = fail(&client(&script), read()).await;
    assert_eq!((error.kind, script.count()), (Kind::Timeout, 3));
    assert_eq!(script.gaps(), [secs(30), secs(30)]);
    assert_eq!(begun.elapsed(), secs(90));

    let short = Options {
        deadline: 45.0,
        ..options()
    };
    let script = Script::each(|_| Step::Never);
    let begun = Instant::now();
    let error = fail(&client_with(&script, &short, 0.0), read()).await;
    assert_eq!(
        (error.kind, script.count(), begun.elapsed()),
        (Kind::Timeout, 2, secs(45))
    );
    assert!(error.deadline_exceeded, "{error}");
    assert!(
        error.attempts[0].error.contains("within 30 s"),
        "{:?}",
        error.attempts
    );
    assert!(
        error.attempts[1]
            .error
            .contains("within the call's deadline"),
        "{:?}",
        error.attempts
    );
}

/// Rows: B12.
#[tokio::test(start_paused = true)]
async fn the_last_error_tells_of_every_attempt() {
    let throttled = reply(429, r#"{"error": "slow down"}"#)
        .header("retry-after", "3600")
        .header("x-request-id", "r-3");
    let script = Script::new([
        reply(503, "")
            .header("x-request-id", "r-1")
            .after(secs(1))
            .into(),
        Step::Ambiguous,
        throttled.into(),
    ]);
    let recorder = Recorder::default();
    let error = client_with(&script, &options(), 0.5)
        .call(read(), &recorder, json)
        .await
        .unwrap_err();
    let shown: Vec<_> = error
        .attempts
        .iter()
        .map(|a| (a.number, a.status, a.error.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (
                1,
                Some(503),
                "ServerError: status 503: Service Unavailable (request id r-1)"
            ),
            (2, None, "TransportError: scripted: broke off"),
            (
                3,
                Some(429),
                "RateLimitError: status 429: slow down (request id r-3)"
            ),
        ]
    );
    let times: Vec<_> = error
        .attempts
        .iter()
        .map(|a| (a.elapsed, a.waited))
        .collect();
    assert_eq!(
        times,
        [
            (secs(1), Duration::ZERO),
            (Duration::ZERO, secs(1)),
            (Duration::ZERO, millis(500))
        ]
    );
    assert_eq!(
        (error.status, error.request_id.as_deref()),
        (Some(429), Some("r-3"))
    );
    assert_eq!(
        error.to_string(),
        "GET /v2/thing: status 429: slow down (3 attempts)"
    );
    let lines: Vec<_> = recorder.notes().into_iter().map(|note| note.text).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, attempt) in lines.iter().zip(&error.attempts) {
        assert!(line.contains(&attempt.error), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn time_throttled_counts_as_waited() {
    let script = Script::new([with_retry_after(429, "30"), bare(404)]);
    let client = client_with(
        &script,
        &Options {
            max_retries: 0,
            ..options()
        },
        0.0,
    );
    fail(&client, read()).await;
    assert_eq!(fail(&client, read()).await.attempts[0].waited, secs(30));
    assert_eq!(
        client.stats().snapshot(),
        Snapshot {
            requests: 2,
            retries: 0,
            waited: 30.0
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_more_than_a_second_is_logged_before_it_begins() {
    let script = Script::new([with_retry_after(503, "30"), bare(500), good()]);
    let recorder = Recorder::default();
    let client = client_with(&script, &options(), 0.0);
    assert!(
        tokio::time::timeout(secs(1), client.call(read(), &recorder, json))
            .await
            .is_err()
    );
    assert!(
        recorder.log().contains("retry 1: waiting 30.0 s"),
        "{}",
        recorder.log()
    );
    assert!(
        client.stats().snapshot().waited < 0.1,
        "a pause that was broken off"
    );
}

#[tokio::test(start_paused = true)]
async fn what_never_left_is_no_request() {
    let throttled = with_retry_after(503, "3");
    let steps = [
        Step::Unsent { fatal: false },
        Step::Connecting,
        throttled,
        Step::Ambiguous,
        bare(404),
    ];
    let script = Script::new(steps.into_iter().chain([good()]));
    let many = Options {
        max_retries: 4,
        timeout: 2.0,
        ..options()
    };
    let client = client_with(&script, &many, 0.0);
    let error = fail(&client, read()).await;
    let sent: Vec<_> = error.attempts.iter().map(|attempt| attempt.sent).collect();
    assert_eq!(sent, [false, false, true, true, true]);
    assert!(
        error.attempts[1].error.contains("no connection within 2 s"),
        "{error:?}"
    );
    assert_eq!(
        client.stats().snapshot(),
        Snapshot {
            requests: 3,
            retries: 2,
            waited: 3.0
        }
    );
    call(&client, read()).await.unwrap();
    assert_eq!(
        client.stats().snapshot(),
        Snapshot {
            requests: 4,
            retries: 2,
            waited: 3.0
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_is_counted_when_it_leaves() {
    for (step, requests) in [(Step::Connecting, 0), (Step::Never, 1)] {
        let script = Script::new([step]);
        let client = client(&script);
        assert!(
            tokio::time::timeout(secs(1), call(&client, read()))
                .await
                .is_err()
        );
        assert_eq!(client.stats().snapshot().requests, requests);
    }
}

/// Rows: B1.
#[tokio::test(start_paused = true)]
async fn dice_are_thrown_for_every_pause() {
    let script = Script::each(|_| bare(500));
    let thrown = AtomicU32::new(0);
    let client = client_throwing(&script, &options(), move || {
        f64::from(thrown.fetch_add(1, Ordering::Relaxed)) / 2.0
    });
    fail(&client, read()).await;
    assert_eq!(script.gaps(), [Duration::ZERO, millis(500)]);
}
