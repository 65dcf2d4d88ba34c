//! The budget of new jobs: counted by project before a creation leaves, apart from the requests of
//! analytics.

use std::sync::Arc;

use docplatform::client::{Client, Limit, WaitOrStop};
use docplatform::config::Options;
use docplatform::error::{Kind, Outcome, Result};
use docplatform::job::{self, Job};
use tokio::time::{Instant, timeout};

use crate::helpers::service::{HOUR, most_in_an_hour};
use crate::helpers::support::{
    Recorder, Script, Step, analytics, bare, call, client_with, create, get, handle, job_body,
    message, millis, options, prompt, reply, secs, segment, with_retry_after,
};

const LIMIT: u64 = 10;

fn budgeted() -> Options {
    Options {
        jobs_per_hour: Some(LIMIT),
        ..options()
    }
}

fn created() -> Step {
    reply(201, job_body("active")).after(millis(200)).into()
}

fn client(script: &Arc<Script>) -> Client {
    client_with(script, &budgeted(), 0.0)
}

async fn create_in(client: &Client, project: &str) -> Result<Job> {
    let (project, ear) = (segment(project), Recorder::default());
    job::once::write(client, project, None, prompt(), None, &ear).await
}

async fn left(client: &Client, project: &str) -> u64 {
    client
        .budget_of(Limit::Jobs(&segment(project)))
        .unwrap()
        .left()
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn no_hour_has_more_new_jobs_than_the_budget_grants() {
    let script = Script::each(|_| created());
    let client = client(&script);
    let observer = Recorder::default();
    for _ in 0..=2 * LIMIT {
        create(&client, "Fix it", &observer).await.unwrap();
    }
    let times: Vec<_> = script.sent().iter().map(|sent| sent.at).collect();
    assert_eq!(times.len() as u64, 2 * LIMIT + 1);
    assert_eq!(most_in_an_hour(&times) as u64, LIMIT);
    let why = "the budget of new jobs is spent";
    let waits: Vec<_> = observer
        .notes()
        .into_iter()
        .filter_map(|note| note.waiting)
        .collect();
    assert!(
        !waits.is_empty() && waits.iter().all(|wait| wait.why == why && wait.long),
        "{waits:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn each_project_has_its_own_and_only_new_jobs_count() {
    let script = Script::each(|_| created());
    let both = Options {
        requests_per_hour: Some(1),
        ..budgeted()
    };
    let client = client_with(&script, &both, 0.0).on_budget(WaitOrStop::Stop);
    create_in(&client, "demo").await.unwrap();
    message(&client, "More", &Recorder::default())
        .await
        .unwrap();
    get(&client, &Recorder::default()).await.unwrap();
    create_in(&client, "blog").await.unwrap();
    call(&client, analytics()).await.unwrap();
    assert_eq!(
        (left(&client, "demo").await, left(&client, "blog").await),
        (LIMIT - 1, LIMIT - 1)
    );
    assert_eq!(client.budget().unwrap().left().await.unwrap(), 0);
    // A handle without such a budget spends nothing of it.
    create_in(&handle(&client, options()), "demo")
        .await
        .unwrap();
    assert_eq!(left(&client, "demo").await, LIMIT - 1);
}

/// Rows: A8.
#[tokio::test(start_paused = true)]
async fn a_refusal_in_spite_of_the_budget_is_waited_for_or_ends_the_call() {
    let script = Script::new([with_retry_after(429, "600"), created()]);
    let client = client(&script);
    let begun = Instant::now();
    create_in(&client, "demo").await.unwrap();
    assert!(
        (secs(600)..secs(660)).contains(&begun.elapsed()),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(script.count(), 2);
    let script = Script::new([with_retry_after(429, "600")]);
    let client = self::client(&script).on_budget(WaitOrStop::Stop);
    for (outcome, told) in [
        (
            Outcome::Rejected,
            "refused with 429, and not sent again: the",
        ),
        (Outcome::NotSent, "not sent: the"),
    ] {
        let error = create_in(&client, "demo").await.unwrap_err();
        assert_eq!((error.kind, error.outcome), (Kind::Budget, Some(outcome)));
        assert!(
            error
                .to_string()
                .starts_with(&format!("POST /v2/agent/{{project_id}}/job: {told}")),
            "{error}"
        );
    }
    assert_eq!(script.count(), 1);
}

/// Rows: B7.
#[tokio::test(start_paused = true)]
async fn a_message_that_was_refused_holds_up_creations_too() {
    let script = Script::new(["600", "900"].map(|after| {
        reply(429, "")
            .header("retry-after", after)
            .after(millis(200))
    }));
    let client = client(&script);
    // The creation in `blog` is refused for longer, which its own ledger holds. The refusal of the
    // message still holds up a creation in `demo`.
    let recorder = Recorder::default();
    let (message, created) = tokio::join!(
        message(&client, "More", &recorder),
        timeout(secs(60), create_in(&client, "blog"))
    );
    assert!(message.is_err() && !matches!(created, Ok(Ok(_))));
    let error = create_in(&client, "demo").await.unwrap_err();
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::HeldBack, Some(Outcome::NotSent)),
        "{error}"
    );
    assert_eq!(script.count(), 2);
}

/// Rows: A8.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_does_not_say_how_long_it_holds_ends_the_call_and_holds_for_an_hour() {
    let script = Script::new([bare(429), created()]);
    let client = client(&script);
    let begun = Instant::now();
    let error = create_in(&client, "demo").await.unwrap_err();
    assert_eq!(
        (error.kind, error.outcome),
        (Kind::Status, Some(Outcome::Rejected))
    );
    assert_eq!((script.count(), begun.elapsed()), (1, millis(0)));
    create_in(&client, "demo").await.unwrap();
    assert!(
        (HOUR..HOUR + secs(60)).contains(&begun.elapsed()),
        "{:?}",
        begun.elapsed()
    );
}
