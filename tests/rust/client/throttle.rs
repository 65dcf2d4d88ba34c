//! One throttled call makes all others of its kind wait (faults.md, B7).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use docplatform::client::{Call, Journal};
use docplatform::config::Options;
use docplatform::error::{Kind, Outcome, Result};
use docplatform::text::message::Advice;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::helpers::support::{
    Recorder, Script, Step, all_of, analytics, bare, call, client, client_throwing, client_with,
    dice, ends, fail, good, handle, json, millis, options, read, secs, with_retry_after, write,
};

/// Answers 429 once, then well.
fn once(retry_after: &'static str) -> Arc<Script> {
    let mut throttled = true;
    Script::each(move |_| {
        if std::mem::take(&mut throttled) {
            with_retry_after(429, retry_after)
        } else {
            good()
        }
    })
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn one_throttled_caller_makes_all_wait_and_come_back_at_different_times() {
    let script = once("60");
    let client = client_throwing(&script, &options(), dice());
    fail(
        &handle(
            &client,
            Options {
                max_retries: 0,
                ..options()
            },
        ),
        read(),
    )
    .await;
    let begun = Instant::now();
    let waiting = all_of(20, &client, |client| async move {
        call(&client, read()).await.map(drop)
    });
    assert!(ends(waiting).await.iter().all(Result::is_ok));
    let mut times: Vec<_> = script.sent()[1..]
        .iter()
        .map(|request| request.at - begun)
        .collect();
    assert!(
        times
            .iter()
            .all(|time| (secs(60)..=secs(66)).contains(time)),
        "{times:?}"
    );
    times.sort();
    times.dedup();
    assert!(times.len() > 10, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_more_than_ten_seconds_is_announced_once_with_its_end() {
    for (retry_after, long) in [("10", false), ("11", true)] {
        let client = client(&once(retry_after));
        let (first, second) = (Recorder::default(), Recorder::default());
        let (now, begun) = (jiff::Timestamp::now(), Instant::now());
        let waits_for_retry = client.call(analytics(), &first, json);
        let waits_for_throttle = async {
            sleep(millis(1)).await;
            client.call(analytics(), &second, json).await
        };
        let (retried, throttled) = tokio::join!(waits_for_retry, waits_for_throttle);
        retried.unwrap();
        throttled.unwrap();
        for recorder in [first, second] {
            let announced: Vec<_> = recorder
                .notes()
                .into_iter()
                .filter_map(|note| note.waiting)
                .collect();
            assert_eq!(announced.len(), 1, "{announced:?}");
            assert_eq!(announced[0].why, "the service asked this client to wait");
            assert_eq!(announced[0].long, long);
            let ahead = announced[0]
                .until
                .unwrap()
                .duration_since(now)
                .unsigned_abs();
            assert!(ahead.abs_diff(begun.elapsed()) < secs(2), "{ahead:?}");
        }
    }
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn a_call_whose_deadline_passes_first_is_not_sent() {
    for status in [429, 503] {
        let script = Script::new([
            with_retry_after(status, "120"),
            with_retry_after(status, "120"),
            with_retry_after(status, "120"),
        ]);
        let client = client(&script);
        for of in [analytics(), read(), write()] {
            fail(&client, of.clone()).await;
            let sent = script.count();
            sleep(secs(1)).await;
            let begun = Instant::now();
            let error = fail(&client, of).await;
            assert_eq!((script.count(), begun.elapsed()), (sent, Duration::ZERO));
            assert_eq!(error.kind.class(error.status), "RateLimitError");
            assert_eq!(error.outcome, Some(Outcome::NotSent), "{error}");
            assert_eq!(
                (error.retry_after, error.attempts.len()),
                (Some(secs(119)), 0)
            );
            assert!(error.deadline_exceeded && error.transient);
            assert!(error.to_string().contains("not sent"), "{error}");
            let seconds = Some(119);
            assert_eq!(error.message.advice(), Some(&Advice::CallAfter { seconds }));
        }
        assert_eq!(client.stats().snapshot().requests, 3);
    }
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn other_kinds_of_call_go_on() {
    let lanes = [read(), analytics(), write()];
    for closed in &lanes {
        let script = once("120");
        let client = client(&script);
        fail(&client, closed.clone()).await;
        for other in lanes.iter().filter(|other| other.lane != closed.lane) {
            call(&client, other.clone()).await.unwrap();
        }
        fail(&client, closed.clone()).await;
        assert_eq!(script.count(), 3);
    }
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn handles_share_the_throttle_and_other_clients_do_not() {
    let script = once("120");
    let first = client(&script);
    let patient = handle(
        &first,
        Options {
            deadline: 600.0,
            max_retry_after: 600.0,
            ..options()
        },
    );
    fail(&first, read()).await;
    assert!(
        fail(
            &handle(
                &first,
                Options {
                    timeout: 1.0,
                    ..options()
                }
            ),
            read()
        )
        .await
        .deadline_exceeded
    );
    assert_eq!(script.count(), 1);
    call(&client(&script), read()).await.unwrap();
    call(&patient, read()).await.unwrap();
    assert_eq!(
        script.gaps(),
        [Duration::ZERO, secs(120)],
        "a handle with the time for it waits"
    );
    assert_eq!(
        first.stats().snapshot(),
        patient.stats().snapshot(),
        "and counts for all"
    );
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn another_key_address_or_connection_cannot_use_the_same_connections() {
    let client = client(&Script::new::<Step>([]));
    for other in [
        Options {
            api_key: Some("dp_another".into()),
            ..options()
        },
        Options {
            base_url: Some("https://other.example.com".to_owned()),
            ..options()
        },
        Options {
            connect_timeout: 1.0,
            ..options()
        },
        Options {
            proxy: Some("http://proxy:1".into()),
            ..options()
        },
        Options {
            trust_env: false,
            ..options()
        },
    ] {
        assert!(client.with(other.validate(|_| None).unwrap()).is_none());
    }
}

/// Rows: B7, M1.
#[tokio::test(start_paused = true)]
async fn a_handle_with_connections_of_its_own_keeps_within_the_same_limits() {
    let (first, second) = (
        Script::each(|_| with_retry_after(429, "120")),
        Script::each(|_| good()),
    );
    let budgeted = Options {
        requests_per_hour: Some(3),
        ..options()
    };
    let client = client_with(&first, &budgeted, 0.0);
    let apart = |changed: Options| {
        client.apart(
            changed.validate(|_| None).unwrap(),
            Arc::clone(&second) as _,
            None,
        )
    };
    let handle = apart(Options {
        connect_timeout: 1.0,
        ..budgeted.clone()
    })
    .unwrap();
    fail(&client, read()).await;
    assert_eq!(
        fail(&handle, read()).await.outcome,
        Some(Outcome::NotSent),
        "both are throttled"
    );
    for _ in 0..3 {
        call(&handle, analytics()).await.unwrap();
    }
    assert_eq!(
        client.budget().unwrap().left().await.unwrap(),
        0,
        "the hour is one for both"
    );
    assert_eq!(
        (
            first.count(),
            second.count(),
            client.stats().snapshot().requests
        ),
        (1, 3, 4)
    );
    assert!(
        apart(Options {
            api_key: Some("dp_another".into()),
            ..budgeted
        })
        .is_none()
    );
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn a_throttle_lasts_for_a_day_at_most_and_never_ends_early() {
    let script = Script::new([
        with_retry_after(429, "999999999"),
        with_retry_after(503, "1"),
        good(),
        good(),
    ]);
    let client = client(&script);
    let hasty = handle(
        &client,
        Options {
            max_retries: 0,
            ..options()
        },
    );
    fail(&hasty, read()).await;
    sleep(secs(24 * 3600 - 100)).await;
    let error = fail(&hasty, read()).await;
    assert_eq!(
        (
            error.outcome.is_none_or(|o| o == Outcome::NotSent),
            script.count()
        ),
        (true, 1)
    );
    assert_eq!(error.retry_after, Some(secs(100)));
    sleep(secs(100)).await;
    fail(&hasty, read()).await;
    assert_eq!(script.count(), 2, "after a day it is open");
    call(&hasty, read()).await.unwrap();
    call(&client, read()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_throttled_answer_without_a_wait_closes_nothing() {
    let script = Script::new([
        bare(429),
        with_retry_after(503, "0"),
        with_retry_after(429, "soon"),
        with_retry_after(500, "60"),
        with_retry_after(404, "60"),
        good(),
    ]);
    let client = client(&script);
    let hasty = handle(
        &client,
        Options {
            max_retries: 0,
            ..options()
        },
    );
    for _ in 0..5 {
        fail(&hasty, read()).await;
    }
    let begun = Instant::now();
    call(&hasty, read()).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_throttled_retry_reports_its_attempts() {
    let mut times = 0;
    let script = Script::each(move |_| {
        times += 1;
        if times == 1 {
            bare(500)
        } else {
            with_retry_after(429, "600")
        }
    });
    let client = client_with(&script, &options(), 1.0);
    let first = tokio::spawn({
        let client = client.clone();
        async move { fail(&client, read()).await }
    });
    sleep(millis(100)).await;
    fail(&client, read()).await;
    let error = first.await.unwrap();
    assert_eq!(
        (error.status, error.attempts.len(), script.count()),
        (Some(429), 1, 2)
    );
    assert!(
        error.attempts[0].error.starts_with("ServerError"),
        "{error:?}"
    );
    let counts = client.stats().snapshot();
    assert_eq!(
        (counts.requests, counts.retries),
        (2, 0),
        "what was not sent is no retry"
    );
}

#[tokio::test(start_paused = true)]
async fn a_throttled_pause_never_eats_up_the_deadline() {
    // The throttle opens before the deadline, but the spread after it must not reach beyond.
    let script = once("60");
    let options = Options {
        deadline: 62.0,
        max_retries: 0,
        ..options()
    };
    let client = client_with(&script, &options, 1.0);
    fail(&client, write()).await;
    let begun = Instant::now();
    call(&client, write()).await.unwrap();
    assert!(
        (secs(60)..=secs(61)).contains(&begun.elapsed()),
        "{:?}",
        begun.elapsed()
    );
}

/// A note of a write that takes a while, and how often it was begun and withdrawn.
#[derive(Default)]
struct SlowNote {
    takes: Duration,
    begun: AtomicU32,
    withdrawn: AtomicU32,
}

impl Journal for SlowNote {
    fn begin(&self, _: Instant) -> BoxFuture<'_, Result<()>> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        sleep(self.takes).map(Ok).boxed()
    }

    fn nothing_happened(&self) {
        self.withdrawn.fetch_add(1, Ordering::Relaxed);
    }
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn a_write_checks_deadline_and_throttle_after_its_note() {
    for (takes, throttle, left_at, withdrawn) in [
        (millis(3_900), None, Some(millis(3_900)), 0),
        (millis(4_800), None, None, 1),
        (secs(1), Some("2"), Some(millis(3_001)), 1),
    ] {
        let script = throttle.map_or_else(|| Script::each(|_| good()), once);
        let settings = Options {
            deadline: 5.0,
            ..options()
        };
        let client = client_with(&script, &settings, 0.0);
        let note = Arc::new(SlowNote {
            takes,
            ..SlowNote::default()
        });
        let noted = Call {
            journal: Some(Arc::clone(&note) as _),
            ..write()
        };
        let begun = Instant::now();
        let throttled = async {
            sleep(millis(1)).await;
            if throttle.is_some() {
                call(&client, write()).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(call(&client, noted), throttled);
        let sent = script.sent();
        assert_eq!(sent.last().map(|sent| sent.at - begun), left_at);
        let counts = [&note.begun, &note.withdrawn].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(
            counts,
            [u32::from(left_at.is_some()) + withdrawn, withdrawn]
        );
        if let Err(error) = written {
            assert_eq!(
                (error.kind, error.outcome),
                (Kind::Timeout, Some(Outcome::NotSent)),
                "{error}"
            );
            assert!(error.deadline_exceeded && left_at.is_none(), "{error}");
        }
    }
}
