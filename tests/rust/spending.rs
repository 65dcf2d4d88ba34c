//! The request budget on the way of every analytics call, on a clock that nobody waits for.

use std::sync::Arc;

use docplatform::client::{Client, OnBudget};
use docplatform::config::Options;
use docplatform::error::{Kind, Outcome};
use tokio::time::Instant;

use crate::service::{HOUR, Headers, LIMIT, Service, Window, most_in_an_hour};
use crate::support::{
    Script, Step, Told, all_of, analytics, call, client_with, fail, good, handle, json, millis, options,
    read, reply, secs, told,
};

fn budgeted() -> Options {
    Options { requests_per_hour: Some(LIMIT as u64), ..options() }
}

fn client(script: &Arc<Script>) -> Client {
    client_with(script, &budgeted(), 0.0)
}

/// A service that counts.
fn counting(service: Arc<Service>) -> Arc<Script> {
    Script::each(move |_| {
        let (status, headers) = service.answer();
        let mut answer = reply(status, "{}").after(millis(200));
        for (name, value) in &headers {
            let name: &'static str = name.as_str().to_owned().leak();
            answer = answer.header(name, value.as_bytes());
        }
        answer.into()
    })
}

/// What the budget still grants.
async fn left(client: &Client) -> u64 {
    client.budget().unwrap().left().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_requests_and_a_bit_is_done_when_the_hour_is_over() {
    for window in [Window::Rolling, Window::Fixed(secs(1800))] {
        for headers in Headers::ALL {
            for together in [1, 8] {
                let service = Arc::new(Service::new(window, true, headers));
                let script = counting(Arc::clone(&service));
                let client = client(&script);
                let begun = Instant::now();
                let some = || {
                    let client = client.clone();
                    let some = async move {
                        for _ in 0..120 / together {
                            call(&client, analytics()).await.unwrap();
                        }
                    };
                    Box::pin(some) as _
                };
                for task in all_of(together, some) {
                    task.await.unwrap();
                }
                let case = format!("{window:?} {headers:?} {together}");
                assert_eq!((service.accepted(), service.refused()), (120, 0), "{case}");
                assert!(service.most_in_an_hour() <= LIMIT, "{case}");
                assert!(begun.elapsed() < secs(3630), "{case}: {:?}", begun.elapsed());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_told_once_and_counted_and_no_deadline_runs() {
    let script = Script::each(|_| good());
    let client = client_with(&script, &Options { deadline: 2.0, timeout: 1.0, ..budgeted() }, 0.0);
    for _ in 0..LIMIT {
        call(&client, analytics()).await.unwrap();
    }
    let observer = Told::default();
    client.call(analytics(), &observer, json).await.unwrap();
    let notes = observer.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].text.contains("the request budget is spent: waiting"), "{notes:?}");
    assert!(notes[0].until.is_some());
    let waited = client.stats().snapshot().waited;
    assert!((3600.0..3610.0).contains(&waited), "{waited}");
    let times: Vec<_> = script.sent().iter().map(|sent| sent.at).collect();
    assert!(most_in_an_hour(&times) <= LIMIT);
}

#[tokio::test(start_paused = true)]
async fn who_would_not_wait_is_told_when_to_come_back() {
    let script = Script::each(|_| good());
    let client = client(&script);
    for _ in 0..LIMIT {
        call(&client, analytics()).await.unwrap();
    }
    let begun = Instant::now();
    let error = fail(&client.on_budget(OnBudget::Stop), analytics()).await;
    assert_eq!((error.kind, error.outcome, begun.elapsed()), (Kind::Budget, Some(Outcome::NotSent), secs(0)));
    let wait = error.resets_at.unwrap().duration_since(jiff::Timestamp::now()).unsigned_abs();
    assert!((secs(3590)..secs(3602)).contains(&wait), "{wait:?}");
    assert_eq!(script.count(), LIMIT);
}

#[tokio::test(start_paused = true)]
async fn only_analytics_cost() {
    let script = Script::each(|_| good());
    let client = client(&script);
    for _ in 0..3 {
        call(&client, read()).await.unwrap();
        call(&client, analytics()).await.unwrap();
    }
    assert_eq!(left(&client).await, 97);
}

#[tokio::test(start_paused = true)]
async fn what_was_never_sent_costs_nothing_and_what_may_have_been_does() {
    let steps = [Step::Unsent { fatal: false }, Step::Ambiguous, reply(200, "{").broken().into()];
    let script = Script::new(steps);
    let client = client(&script);
    fail(&client, analytics()).await;
    assert_eq!((script.count(), left(&client).await), (3, 98));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_waited_for_and_held_for_all() {
    for (refusal, least) in [(told(429, "600"), secs(600)), (crate::support::bare(429), HOUR)] {
        let mut refusal = Some(refusal);
        let script = Script::each(move |_| refusal.take().unwrap_or_else(good));
        let client = client(&script);
        let other = handle(&client, budgeted()).on_budget(OnBudget::Stop);
        let begun = Instant::now();
        let waiting = tokio::spawn({
            let client = client.clone();
            async move { call(&client, analytics()).await }
        });
        tokio::time::sleep(secs(60)).await;
        assert_eq!(fail(&other, analytics()).await.kind, Kind::Budget);
        waiting.await.unwrap().unwrap();
        assert_eq!(script.count(), 2);
        assert!((least..least + secs(60)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_always_refuses_is_believed_in_the_end() {
    let script = Script::each(|_| told(429, "60"));
    let error = fail(&client(&script), analytics()).await;
    assert_eq!((error.status, error.attempts.len(), script.count()), (Some(429), 3, 3));

    let script = Script::each(|_| told(429, "60"));
    let error = fail(&client(&script).on_budget(OnBudget::Stop), analytics()).await;
    assert_eq!((error.kind, error.attempts.len(), script.count()), (Kind::Budget, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn handles_share_what_was_spent_each_under_its_own_terms() {
    let script = Script::each(|_| good());
    let client = client(&script);
    let careful = handle(&client, Options { reserve: 90, ..budgeted() });
    for _ in 0..4 {
        call(&client, analytics()).await.unwrap();
        call(&careful, analytics()).await.unwrap();
    }
    assert_eq!((left(&client).await, left(&careful).await), (92, 2));
    assert!(handle(&client, options()).budget().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_costs_nothing() {
    let script = Script::each(|_| good());
    let client = client_with(&script, &Options { requests_per_hour: Some(1), ..options() }, 0.0);
    call(&client, analytics()).await.unwrap();
    let waiting = tokio::time::timeout(secs(100), call(&client, analytics())).await;
    assert!(waiting.is_err());
    tokio::time::sleep(HOUR).await;
    assert_eq!((script.count(), left(&client).await), (1, 1));
}
