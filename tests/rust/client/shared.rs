//! Permits and the retry quota, which the calls of one client share (faults.md, B6).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use docplatform::client::Call;
use docplatform::config::Options;
use docplatform::config::url::Template;
use docplatform::error::Kind;
use docplatform::http::{MAX_READS, MAX_WRITES};
use docplatform::job::wait::{Wait, wait};
use tokio::time::{Instant, sleep, timeout};

use crate::helpers::support::{
    Recorder, Script, Step, all_of, analytics, bare, call, client, client_with, ends, fail, good,
    handle, millis, options, read, reply, secs, write,
};
use crate::job::waits::{how, target};

/// Rows: F7.
#[tokio::test(start_paused = true)]
async fn at_most_the_limit_is_in_flight() {
    let script = Script::each(|_| reply(200, "{}").after(secs(1)).into());
    let client = client(&script);
    let reads = all_of(100, &client, |client| async move {
        call(&client, read()).await.map(drop)
    });
    sleep(millis(500)).await;
    assert_eq!(script.in_flight(), MAX_READS);
    let writes = all_of(50, &client, |client| async move {
        call(&client, write()).await.map(drop)
    });
    sleep(millis(200)).await;
    assert_eq!(
        script.in_flight(),
        MAX_READS + MAX_WRITES,
        "reads do not keep writes waiting"
    );
    assert!(
        ends(reads)
            .await
            .iter()
            .chain(&ends(writes).await)
            .all(Result::is_ok)
    );
    assert_eq!(
        (script.count(), script.most_in_flight()),
        (150, MAX_READS + MAX_WRITES)
    );
    assert!(script.most_in_flight() <= 64);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_gives_its_place_back() {
    let script = Script::each(|_| Step::Never);
    let client = client(&script);
    for _ in 0..3 * MAX_READS {
        assert!(timeout(millis(1), call(&client, read())).await.is_err());
    }
    assert_eq!((script.count(), script.in_flight()), (3 * MAX_READS, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_in_its_pause_takes_no_place() {
    let script = Script::each(|request| {
        if request.url.path().ends_with("thing") {
            bare(503)
        } else {
            good()
        }
    });
    let client = client_with(&script, &options(), 1.0);
    let pausing = all_of(2 * MAX_READS, &client, |client| async move {
        fail(&client, read()).await
    });
    sleep(secs(1)).await;
    let begun = Instant::now();
    let other = Call {
        path: Template::own("/v2/other".to_owned()),
        ..analytics()
    };
    call(&client, other).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    ends(pausing).await;
}

/// Rows: B6.
#[tokio::test(start_paused = true)]
async fn a_call_without_quota_raises_its_first_error_until_successes_have_paid_for_a_retry() {
    let down = Arc::new(AtomicBool::new(true));
    let is_down = Arc::clone(&down);
    let script = Script::each(move |_| {
        if is_down.load(Ordering::Relaxed) {
            bare(500)
        } else {
            good()
        }
    });
    let client = client(&script);
    while fail(&client, read()).await.attempts.len() > 1 {}
    let error = fail(&client, read()).await;
    assert_eq!(
        (error.kind, error.attempts.len(), error.transient),
        (Kind::Status, 1, true)
    );
    assert!(!error.deadline_exceeded, "{error}");
    let handle = handle(
        &client,
        Options {
            max_retries: 9,
            ..options()
        },
    );
    assert_eq!(
        fail(&handle, read()).await.attempts.len(),
        1,
        "handles share the quota"
    );
    down.store(false, Ordering::Relaxed);
    for _ in 0..14 {
        call(&client, read()).await.unwrap();
    }
    down.store(true, Ordering::Relaxed);
    for attempts in [2, 1] {
        assert_eq!(
            fail(&client, read()).await.attempts.len(),
            attempts,
            "fourteen successes, one retry"
        );
    }
}

/// Rows: B6, F7.
#[tokio::test(start_paused = true)]
async fn waits_for_thousands_of_jobs_do_not_storm_a_service_that_is_down() {
    const WAITS: usize = 2_000;
    let script = Script::each(|_| bare(503));
    let client = client_with(&script, &options(), 0.5);
    let begun = Instant::now();
    let waits = all_of(WAITS, &client, |client| async move {
        let how = Wait {
            timeout: Some(secs(30)),
            poll_interval: secs(30),
            ..how()
        };
        wait(&client, target(), &how, &Recorder::default())
            .await
            .unwrap_err()
    });
    assert!(
        ends(waits)
            .await
            .iter()
            .all(|error| error.kind == Kind::WaitTimeout)
    );
    // Each looks at once and once more at its end, and 100 retries are paid for.
    assert_eq!(script.count(), 2 * WAITS + 100);
    assert!(script.most_in_flight() <= MAX_READS);
    assert!(begun.elapsed() < secs(60), "{:?}", begun.elapsed());
}
