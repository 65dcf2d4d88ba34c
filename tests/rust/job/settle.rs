//! A message to a finished job: its old status is not taken for the new one (faults.md, F2).

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use docplatform::client::Client;
use docplatform::client::observer::{Note, Observer};
use docplatform::error::{Kind, Outcome, Result};
use docplatform::job::Job;
use docplatform::job::wait::{JobObserver, Target, Wait, wait};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::helpers::support::{
    Recorder, Script, Step, bare, client, client_throwing, client_with, get, job_body, message,
    options, prompt, reply, secs, with_retry_after,
};
use crate::job::waits::{how, shows, times};

/// Sends a message, then waits as `follow_up` does.
async fn follow_up(steps: Vec<Step>, how: &Wait) -> (Result<Job>, Vec<f64>) {
    let begun = Instant::now();
    let script = Script::new(steps);
    let client = client_with(&script, &options(), 0.5);
    let result = follow_up_by(&client, how, &Recorder::default()).await;
    (result, times(&script, begun)[1..].to_vec())
}

async fn follow_up_by(client: &Client, how: &Wait, observer: &dyn JobObserver) -> Result<Job> {
    let job = message(client, "More", observer).await.unwrap();
    wait(client, Target::just_written(job, prompt()), how, observer).await
}

/// As long as an old status may show.
fn settling() -> Wait {
    Wait {
        settle: secs(15),
        ..how()
    }
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn an_old_final_status_is_not_taken_for_the_new_one() {
    let steps = ["completed", "completed", "completed", "active", "completed"].map(shows);
    let (job, polls) = follow_up(steps.into(), &settling()).await;
    assert_eq!(
        (job.unwrap().status.as_str(), polls),
        ("completed", vec![2.0, 5.0, 9.5, 16.25])
    );

    // A failure of yesterday neither.
    let steps = ["failed", "failed", "active", "completed"].map(shows);
    assert_eq!(
        follow_up(steps.into(), &settling()).await.0.unwrap().status,
        "completed"
    );

    // After the grace it counts, and a look is due just then, not an interval later.
    let (job, polls) = follow_up((0..5).map(|_| shows("completed")).collect(), &settling()).await;
    assert_eq!(
        (job.unwrap().status.as_str(), polls),
        ("completed", vec![2.0, 5.0, 9.5, 15.0])
    );

    let (job, polls) = follow_up(
        vec![shows("active"), shows("completed")],
        &Wait {
            settle: Duration::ZERO,
            ..how()
        },
    )
    .await;
    assert_eq!(
        (job.unwrap().status.as_str(), polls),
        ("completed", vec![2.0]),
        "no grace, no doubt"
    );
}

/// Looks at each poll for longer than any status takes to settle.
struct Slow;

impl Observer for Slow {
    fn note(&self, _: Note) {}
}

impl JobObserver for Slow {
    fn polled(&self, _: &Job) -> BoxFuture<'static, ()> {
        tokio::time::sleep(secs(20)).boxed()
    }
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn an_old_status_does_not_settle_while_the_caller_looks_at_it() {
    let script = Script::new(["completed", "completed", "active", "completed"].map(shows));
    follow_up_by(&client(&script), &settling(), &Slow)
        .await
        .unwrap();
    assert_eq!(
        script.count(),
        4,
        "the first poll was taken too early to count"
    );
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn a_status_that_never_settles_within_the_timeout_is_a_timeout() {
    let short = Wait {
        timeout: Some(secs(5)),
        ..settling()
    };
    let (result, polls) = follow_up((0..3).map(|_| shows("completed")).collect(), &short).await;
    assert_eq!(
        (result.unwrap_err().kind, polls),
        (Kind::WaitTimeout, vec![2.0, 5.0])
    );
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn an_error_while_an_old_status_settles_does_not_make_polls_come_faster() {
    for (name, failing) in [
        ("down", (|| bare(500)) as fn() -> Step),
        ("throttled", || with_retry_after(429, "300")),
    ] {
        let begun = Instant::now();
        let mut requests = 0;
        let script = Script::each(move |_| {
            requests += 1;
            if requests > 2 && begun.elapsed() < secs(600) {
                failing()
            } else {
                shows("completed")
            }
        });
        // Every rest is a throw of the dice.
        let throws = AtomicU32::new(0);
        let client = client_throwing(&script, &options(), move || {
            assert!(
                throws.fetch_add(1, Ordering::Relaxed) < 1000,
                "{name}: it spins"
            );
            0.5
        });
        follow_up_by(&client, &settling(), &Recorder::default())
            .await
            .unwrap();
        // By then intervals are 30 s long.
        assert!(
            script.count() < 3 * 30,
            "{name}: {} requests",
            script.count()
        );
        if name == "throttled" {
            let gaps = script.gaps();
            assert!(
                gaps[2..gaps.len() - 1].iter().all(|gap| *gap >= secs(300)),
                "{gaps:?}"
            );
        }
    }
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn an_old_status_does_not_settle_on_its_way_here() {
    let slow = |status| reply(200, job_body(status)).after(secs(20)).into();
    let script = Script::new([
        shows("completed"),
        slow("completed"),
        shows("active"),
        shows("completed"),
    ]);
    follow_up_by(&client(&script), &settling(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(
        script.count(),
        4,
        "the first poll was asked for too early to count"
    );
}

/// Rows: F2.
#[tokio::test(start_paused = true)]
async fn a_retry_that_leaves_after_the_grace_counts() {
    let script = Script::new([shows("completed"), Step::Never, shows("completed")]);
    follow_up_by(&client(&script), &settling(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(script.count(), 3);
}

/// The write was answered: no error of the wait after it may say otherwise.
#[tokio::test(start_paused = true)]
async fn an_error_of_the_wait_says_that_the_write_was_applied() {
    let short = Wait {
        timeout: Some(secs(5)),
        ..how()
    };
    for (name, mut steps) in [
        ("throttled", vec![with_retry_after(429, "3600")]),
        ("refused", vec![bare(401)]),
        ("unreadable", vec![reply(200, "<html>").into()]),
        ("failed", vec![shows("failed")]),
        (
            "late",
            vec![shows("active"), shows("active"), shows("active")],
        ),
    ] {
        steps.insert(0, shows("active"));
        let (result, _) = follow_up(steps, &short).await;
        assert_eq!(
            result.unwrap_err().outcome,
            Some(Outcome::Applied),
            "{name}"
        );
    }
    // A poll of another was throttled before.
    let script = Script::new([with_retry_after(429, "3600"), shows("active")]);
    let client = client(&script);
    get(&client, &Recorder::default()).await.unwrap_err();
    let error = follow_up_by(&client, &short, &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::HeldBack, Some(Outcome::Applied))
    );
}
