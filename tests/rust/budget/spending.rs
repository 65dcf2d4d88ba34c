//! The request budget on the way of every analytics call, on a clock that nobody waits for.

use std::sync::Arc;
use std::time::Duration;

use docplatform::client::{Client, WaitOrStop};
use docplatform::clock::Clock;
use docplatform::config::Options;
use docplatform::error::{Kind, Outcome};
use docplatform::store::Store;
use tokio::time::Instant;

use crate::budget::ledger::place;
use crate::helpers::service::{HOUR, LIMIT, most_in_an_hour};
use crate::helpers::support::{
    Recorder, Script, Step, analytics, bare, call, client_in_store_with, client_with, fail, good,
    handle, json, options, reply, secs, with_retry_after,
};

fn budgeted() -> Options {
    Options {
        requests_per_hour: Some(LIMIT as u64),
        ..options()
    }
}

fn client(script: &Arc<Script>) -> Client {
    client_with(script, &budgeted(), 0.0)
}

/// The requests that the budget still grants.
async fn left(client: &Client) -> u64 {
    client.budget().unwrap().left().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_logged_once_and_counted_and_no_deadline_runs() {
    let script = Script::each(|_| good());
    let client = client_with(
        &script,
        &Options {
            deadline: 2.0,
            timeout: 1.0,
            ..budgeted()
        },
        0.0,
    );
    for _ in 0..LIMIT {
        call(&client, analytics()).await.unwrap();
    }
    let observer = Recorder::default();
    client.call(analytics(), &observer, json).await.unwrap();
    let notes = observer.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0]
            .text
            .contains("the request budget is spent: waiting"),
        "{notes:?}"
    );
    let waiting = notes[0].waiting.unwrap();
    assert_eq!(
        (waiting.why, waiting.long),
        ("the request budget is spent", true)
    );
    assert!(waiting.until.is_some());
    let waited = client.stats().snapshot().waited;
    assert!((3600.0..3610.0).contains(&waited), "{waited}");
    let times: Vec<_> = script.sent().iter().map(|sent| sent.at).collect();
    assert!(most_in_an_hour(&times) <= LIMIT);
}

#[tokio::test(start_paused = true)]
async fn without_waiting_the_error_says_when_the_budget_resets() {
    let script = Script::each(|_| good());
    let client = client(&script);
    for _ in 0..LIMIT {
        call(&client, analytics()).await.unwrap();
    }
    let begun = Instant::now();
    let error = fail(&client.on_budget(WaitOrStop::Stop), analytics()).await;
    assert_eq!(
        (error.kind, error.outcome, begun.elapsed()),
        (Kind::Budget, Some(Outcome::NotSent), secs(0))
    );
    let wait = error
        .resets_at
        .unwrap()
        .duration_since(jiff::Timestamp::now())
        .unsigned_abs();
    assert!((secs(3590)..secs(3602)).contains(&wait), "{wait:?}");
    assert_eq!(script.count(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn what_was_never_sent_costs_nothing_and_what_may_have_been_does() {
    let steps = [
        Step::Connecting,
        Step::Unsent { fatal: false },
        Step::Ambiguous,
        reply(200, "{").broken().into(),
    ];
    let script = Script::new(steps);
    let client = client_with(
        &script,
        &Options {
            max_retries: 3,
            ..budgeted()
        },
        0.0,
    );
    fail(&client, analytics()).await;
    assert_eq!((script.count(), left(&client).await), (4, 98));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_was_answered_before_the_budget_was_spent_is_not_said_to_be_unsent() {
    for (answer, says) in [
        (
            reply(200, "{").broken().into(),
            "answered, but not wholly, and not sent again: ",
        ),
        (bare(502), "refused with 502, and not sent again: "),
        (Step::Ambiguous, "not answered, and not sent again: "),
    ] {
        let one = Options {
            requests_per_hour: Some(1),
            ..options()
        };
        let client = client_with(&Script::new([answer]), &one, 0.0).on_budget(WaitOrStop::Stop);
        let error = fail(&client, analytics()).await;
        assert_eq!((error.kind, error.outcome), (Kind::Budget, None));
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_waited_for_by_all_and_announced_as_one() {
    for (refusal, least) in [(with_retry_after(429, "600"), secs(600)), (bare(429), HOUR)] {
        let mut refusal = Some(refusal);
        let script = Script::each(move |_| refusal.take().unwrap_or_else(good));
        let client = client(&script);
        let other = handle(&client, budgeted()).on_budget(WaitOrStop::Stop);
        let begun = Instant::now();
        let observer = Arc::new(Recorder::default());
        let waiting = tokio::spawn({
            let (client, observer) = (client.clone(), Arc::clone(&observer));
            async move { client.call(analytics(), &*observer, json).await }
        });
        tokio::time::sleep(secs(60)).await;
        let error = fail(&other, analytics()).await;
        assert_eq!(error.kind, Kind::Budget);
        // The budget has requests left.
        let why = "the limit of the service is reached";
        assert!(
            error
                .to_string()
                .contains(&format!("not sent: {why}; the next request may go out at")),
            "{error}"
        );
        assert_eq!(observer.notes().last().unwrap().waiting.unwrap().why, why);
        waiting.await.unwrap().unwrap();
        assert_eq!(script.count(), 2);
        assert!(
            (least..least + secs(60)).contains(&begun.elapsed()),
            "{:?}",
            begun.elapsed()
        );
    }
}

/// How long the ledger holds a refusal, beyond a backoff.
const REFUSALS: [(Option<&str>, Option<Duration>); 6] = [
    (Some("0"), None),
    (Some("Sun, 06 Nov 1994 08:49:37 GMT"), None),
    (Some("600"), Some(secs(600))),
    (None, Some(HOUR)),
    (Some("soon"), Some(HOUR)),
    (Some("9999999999999999999999999"), Some(secs(24 * 3600))),
];

/// Rows: B5, M1.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_tried_again_within_max_retries_and_never_at_once() {
    for (header, held) in REFUSALS {
        for stored in [false, true] {
            for on_budget in [WaitOrStop::Wait, WaitOrStop::Stop] {
                if stored && on_budget == WaitOrStop::Wait && held > Some(HOUR) {
                    // Days of looks into a file. Memory has the same policy.
                    continue;
                }
                let case = format!("{header:?} {stored} {on_budget:?}");
                let script = Script::each(move |_| {
                    header.map_or_else(|| bare(429), |text| with_retry_after(429, text))
                });
                let (_directory, path) = place();
                let client = if stored {
                    let store = Store::open(&path).unwrap();
                    client_in_store_with(&script, &budgeted(), &store, Clock::steady(), 1.0)
                } else {
                    client_with(&script, &budgeted(), 1.0)
                };
                let begun = Instant::now();
                let error = fail(&client.on_budget(on_budget), analytics()).await;
                if on_budget == WaitOrStop::Stop && held.is_some() {
                    assert_eq!((error.kind, script.count()), (Kind::Budget, 1), "{case}");
                    assert!(begun.elapsed() < secs(1), "{case}: {:?}", begun.elapsed());
                } else {
                    assert_eq!(
                        (error.status, script.count(), error.attempts.len()),
                        (Some(429), 3, 3),
                        "{case}"
                    );
                    for (gap, backoff) in script.gaps().into_iter().zip([secs(2), secs(4)]) {
                        let least = held.unwrap_or(backoff);
                        assert!((least..least + secs(40)).contains(&gap), "{case}: {gap:?}");
                    }
                }
                if held.is_none() {
                    assert_eq!(left(&client).await, 97, "{case}");
                }
            }
        }
    }
}

/// Rows: B7, M1.
#[tokio::test(start_paused = true)]
async fn a_refusal_holds_for_handles_with_a_budget_and_without_one() {
    for budget_first in [true, false] {
        let script = Script::new([with_retry_after(429, "3600")]);
        let client = client(&script).on_budget(WaitOrStop::Stop);
        let free = handle(
            &client,
            Options {
                max_retries: 0,
                ..options()
            },
        );
        let (first, second) = if budget_first {
            (&client, &free)
        } else {
            (&free, &client)
        };
        fail(first, analytics()).await;
        let error = fail(second, analytics()).await;
        assert_eq!(
            (error.outcome, script.count()),
            (Some(Outcome::NotSent), 1),
            "{error}"
        );
        assert_eq!(
            error.kind,
            if budget_first {
                Kind::HeldBack
            } else {
                Kind::Budget
            }
        );
    }
}

#[tokio::test(start_paused = true)]
async fn retries_under_a_budget_use_up_the_retry_quota_too() {
    let script = Script::each(|_| with_retry_after(429, "0"));
    let client = client(&script);
    for _ in 0..50 {
        fail(&client, analytics()).await;
    }
    let before = script.count();
    fail(&client, analytics()).await;
    assert_eq!(script.count(), before + 1, "first attempts alone");
}

#[tokio::test(start_paused = true)]
async fn handles_share_what_was_spent_each_under_its_own_terms() {
    let script = Script::each(|_| good());
    let client = client(&script);
    let careful = handle(
        &client,
        Options {
            reserve: Some(90),
            ..budgeted()
        },
    );
    for _ in 0..4 {
        call(&client, analytics()).await.unwrap();
        call(&careful, analytics()).await.unwrap();
    }
    assert_eq!((left(&client).await, left(&careful).await), (92, 2));
    assert!(handle(&client, options()).budget().is_none());
}
