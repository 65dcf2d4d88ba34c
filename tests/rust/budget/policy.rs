//! The budget's policy, on a clock that nobody waits for.

use std::time::Duration;

use docplatform::budget::policy::{Account, Hold, RequestEnd};
use docplatform::budget::{Budget, Ledger, Ticket};
use docplatform::clock::{Clock, Millis};
use docplatform::config::account::Terms;
use docplatform::http::rate_limit::Quota;
use futures_util::future::join_all;
use http::HeaderMap;
use proptest::prelude::*;
use tokio::time::{Instant, sleep};

use crate::helpers::service::{HOUR, Headers, LIMIT, Service, Window, send};
use crate::helpers::support::{far, millis, secs};

const TERMS: Terms = Terms {
    per_hour: LIMIT as u64,
    reserve: 0,
    patience: 0,
};
/// 1.00 hours, as people round it.
const DONE: Duration = secs(3618);

pub(crate) fn budget(terms: Terms) -> Budget {
    Ledger::in_memory(Clock::steady()).budget(terms)
}

/// A request that is on its way.
pub(crate) async fn ticket(budget: &Budget) -> Ticket {
    match budget.acquire(far()).await.unwrap() {
        Ok(mut ticket) => {
            ticket.sent();
            ticket
        }
        Err(slot) => panic!("{slot:?}"),
    }
}

/// How long the next request has to wait.
pub(crate) async fn wait(budget: &Budget) -> Duration {
    match budget.acquire(far()).await.unwrap() {
        Ok(_) => Duration::ZERO,
        Err(slot) => slot.wait,
    }
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    lines
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect()
}

/// Spends `count` requests, answered at once.
async fn spend(budget: &Budget, count: usize) {
    for _ in 0..count {
        ticket(budget).await.answered(200, &HeaderMap::new(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn what_needs_more_than_an_hours_requests_is_done_when_the_hour_is_over() {
    for window in [
        Window::Rolling,
        Window::Fixed(secs(10)),
        Window::Fixed(secs(3000)),
    ] {
        for counts_refused in [false, true] {
            for headers in Headers::ALL {
                for together in [1, 8] {
                    let case = format!("{window:?} {counts_refused} {headers:?} {together}");
                    let service = Service::new(window, counts_refused, headers);
                    let budget = budget(TERMS);
                    let begun = Instant::now();
                    let each =
                        (0..together).map(|_| send(&budget, &service, 120 / together, millis(400)));
                    join_all(each).await;
                    assert_eq!((service.accepted(), service.refused()), (120, 0), "{case}");
                    assert!(service.most_in_an_hour() <= LIMIT, "{case}");
                    assert!(begun.elapsed() < DONE, "{case}: {:?}", begun.elapsed());
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_that_others_began_costs_at_most_one_refusal() {
    for window in [Window::Rolling, Window::Fixed(secs(1800))] {
        for headers in Headers::ALL {
            let service = Service::new(window, true, headers);
            for _ in 0..70 {
                service.answer();
            }
            let begun = Instant::now();
            send(&budget(TERMS), &service, 120, millis(400)).await;
            let case = format!("{window:?} {headers:?}: {:?}", begun.elapsed());
            let announced = !matches!(headers, Headers::None | Headers::RetryAfter);
            assert_eq!(service.refused(), usize::from(!announced), "{case}");
            assert!(begun.elapsed() < 2 * DONE, "{case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_429_holds_as_long_as_it_says_and_no_other_status_does() {
    for status in [200, 400, 401, 500, 503] {
        let budget = budget(TERMS);
        ticket(&budget)
            .await
            .answered(status, &HeaderMap::new(), Some(secs(600)));
        assert_eq!(wait(&budget).await, Duration::ZERO, "{status}");
    }
    for (lines, announced, expected) in [
        (&[][..], Some(secs(1234)), secs(1234)),
        (&[], Some(secs(0)), secs(0)),
        (&[], Some(secs(u64::MAX)), secs(24 * 3600)),
        (&[], None, secs(3601)),
        (
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "77")],
            None,
            secs(78),
        ),
        (
            &[("x-ratelimit-remaining", "9"), ("x-ratelimit-reset", "77")],
            None,
            secs(78),
        ),
        (
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "77")],
            Some(secs(5)),
            secs(78),
        ),
        (
            &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "77")],
            Some(secs(99)),
            secs(99),
        ),
        (&[("x-ratelimit-remaining", "0")], None, secs(3601)),
    ] {
        let budget = budget(TERMS);
        ticket(&budget)
            .await
            .answered(429, &headers(lines), announced);
        assert_eq!(wait(&budget).await, expected, "{lines:?} {announced:?}");
        assert_eq!(budget.left().await.unwrap() > 0, expected == Duration::ZERO);
        sleep(expected).await;
        assert_eq!(
            wait(&budget).await,
            Duration::ZERO,
            "{lines:?} {announced:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_that_is_a_date_is_measured_by_the_services_own_clock() {
    for (date, epoch) in [
        ("Tue, 06 Nov 2001 08:49:37 GMT", 1_005_036_577),
        ("Sat, 06 Nov 2094 08:49:37 GMT", 3_939_871_777_u64),
    ] {
        let budget = budget(TERMS);
        let reset = (epoch + 77).to_string();
        let lines = headers(&[
            ("date", date),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", &reset),
        ]);
        ticket(&budget).await.answered(429, &lines, None);
        assert_eq!(wait(&budget).await, secs(78), "{date}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_shorter_refusal_does_not_end_a_longer_one() {
    let budget = budget(TERMS);
    let (first, second) = (ticket(&budget).await, ticket(&budget).await);
    first.answered(429, &HeaderMap::new(), Some(secs(600)));
    second.answered(429, &HeaderMap::new(), Some(secs(6)));
    assert_eq!(wait(&budget).await, secs(600));
}

#[tokio::test(start_paused = true)]
async fn the_reserve_is_left_to_others_also_of_what_the_service_tells() {
    let careful = || budget(Terms::new(100, 30).unwrap());
    let budget = careful();
    assert_eq!(budget.left().await.unwrap(), 70);
    spend(&budget, 70).await;
    assert_eq!(
        (budget.left().await.unwrap(), wait(&budget).await),
        (0, secs(3601))
    );
    let budget = careful();
    let announced = headers(&[("ratelimit", "\"default\";r=32;t=100")]);
    ticket(&budget).await.answered(200, &announced, None);
    assert_eq!(budget.left().await.unwrap(), 2);
    for (left, by_service) in [(30, false), (0, true)] {
        let budget = careful();
        let announced = headers(&[("ratelimit", &format!("\"default\";r={left};t=100"))]);
        ticket(&budget).await.answered(200, &announced, None);
        let Err(slot) = budget.acquire(far()).await.unwrap() else {
            panic!("{left} are left")
        };
        assert_eq!(
            (slot.wait, slot.by_service),
            (secs(101), by_service),
            "{left} are left"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn headers_tighten_the_budget_and_never_widen_it() {
    let budget = budget(Terms::new(10, 0).unwrap());
    let announced = |text| headers(&[("ratelimit", text)]);
    ticket(&budget)
        .await
        .answered(200, &announced("\"default\";r=5;t=100"), None);
    assert_eq!(budget.left().await.unwrap(), 5);
    ticket(&budget)
        .await
        .answered(200, &announced("\"default\";r=4000;t=100"), None);
    assert_eq!(budget.left().await.unwrap(), 8);
    ticket(&budget).await.answered(
        200,
        &announced("\"burst\";r=1;t=5, \"default\";r=3;t=100"),
        None,
    );
    assert_eq!(budget.left().await.unwrap(), 1);
    sleep(secs(6)).await;
    assert_eq!(
        budget.left().await.unwrap(),
        7,
        "the burst's five seconds are over"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_without_an_entry_loosens_nothing() {
    let ledger = Ledger::in_memory(Clock::steady());
    let budget = ledger.budget(TERMS);
    let announced = |text| headers(&[("ratelimit", text)]);
    let strict = announced("\"default\";r=2;t=1000");
    ticket(&budget).await.answered(200, &strict, None);
    sleep(secs(1)).await;
    ledger.refused(&announced("\"default\";r=50;t=1000"), Some(secs(0)));
    assert_eq!(budget.left().await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_under_way_are_not_promised_twice() {
    let budget = budget(TERMS);
    let announced =
        |left: usize| headers(&[("ratelimit", &format!("\"default\";r={left};t=1000"))]);
    let (first, second) = (ticket(&budget).await, ticket(&budget).await);
    sleep(secs(1)).await;
    first.answered(200, &announced(2), None);
    assert_eq!(
        budget.left().await.unwrap(),
        1,
        "one of the two is the second's"
    );
    let third = ticket(&budget).await;
    let Err(slot) = budget.acquire(far()).await.unwrap() else {
        panic!("the two are under way")
    };
    assert_eq!(slot.wait, secs(1), "its answer will tell");
    assert!(slot.by_service, "the budget has requests left");
    second.answered(200, &announced(1), None);
    assert_eq!(budget.left().await.unwrap(), 0);
    drop(third);
    assert_eq!(budget.left().await.unwrap(), 0, "it may have been counted");
    assert_eq!(wait(&budget).await, secs(1001));
}

#[tokio::test(start_paused = true)]
async fn answers_that_overtake_each_other_do_not_give_back_what_is_spent() {
    let budget = budget(TERMS);
    let announced =
        |left: usize| headers(&[("ratelimit", &format!("\"default\";r={left};t=1000"))]);
    let (first, second) = (ticket(&budget).await, ticket(&budget).await);
    sleep(secs(1)).await;
    second.answered(200, &announced(3), None);
    first.answered(200, &announced(4), None);
    assert_eq!(budget.left().await.unwrap(), 3);
    sleep(secs(1)).await;
    ticket(&budget).await.answered(200, &announced(7), None);
    assert_eq!(
        budget.left().await.unwrap(),
        7,
        "this one was asked for later: the service grants more again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_counts_until_an_hour_after_its_answer() {
    let budget = budget(Terms::new(1, 0).unwrap());
    let slow = ticket(&budget).await;
    sleep(secs(20)).await;
    slow.answered(200, &HeaderMap::new(), None);
    assert_eq!(wait(&budget).await, secs(3601));
}

#[tokio::test(start_paused = true)]
async fn one_whose_answer_never_came_counts_no_shorter() {
    let budget = budget(Terms::new(1, 0).unwrap());
    let lost = ticket(&budget).await;
    std::mem::forget(lost);
    sleep(HOUR + secs(1)).await;
    assert_eq!(wait(&budget).await, secs(1), "it may have come in late");
    sleep(secs(60)).await;
    assert_eq!(wait(&budget).await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_it_says() {
    let budget = budget(Terms::new(3, 0).unwrap());
    for _ in 0..3 {
        spend(&budget, 1).await;
        sleep(secs(100)).await;
    }
    assert_eq!(wait(&budget).await, secs(3301));
    sleep(secs(3301)).await;
    spend(&budget, 1).await;
    assert_eq!(wait(&budget).await, secs(100));
}

fn account() -> Account {
    Account {
        next: 1,
        ..Account::default()
    }
}

const YEAR: Millis = 365 * 24 * 3_600_000;

/// A request on its way to the service: when it is counted, and when its answer is here.
#[derive(Debug, Clone)]
struct Trip {
    idle: u64,
    there: u64,
    back: u64,
    /// Its end: an answer, a cancelled wait, a killed process.
    end: u8,
}

fn trips() -> impl Strategy<Value = Vec<Trip>> {
    let trip =
        (0..400_u64, 0..20_000_u64, 0..20_000_u64, 0..4_u8).prop_map(|(idle, there, back, end)| {
            Trip {
                idle: idle * idle,
                there,
                back,
                end,
            }
        });
    prop::collection::vec(trip, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the delays, and whatever becomes of each request: no hour of the service sees too
    /// many.
    #[test]
    fn no_hour_of_the_service_sees_more_than_was_granted(trips in trips(), per_hour in 1..20_u64) {
        let terms = Terms { per_hour, reserve: 0, patience: 0 };
        let mut account = account();
        let mut now: Millis = YEAR;
        let mut arrivals: Vec<Millis> = Vec::new();
        let mut pending: Vec<(Millis, i64)> = Vec::new();
        for trip in trips {
            now += i64::try_from(trip.idle).unwrap();
            let number = loop {
                pending.sort_unstable();
                while let Some((at, number)) = pending.first().copied().filter(|(at, _)| *at <= now) {
                    pending.remove(0);
                    account.settle(number, &RequestEnd::default(), at);
                }
                match account.acquire(terms, now) {
                    Ok(number) => break number,
                    Err(Hold { until, .. }) => {
                        prop_assert!(until > now && until <= now + 3_631_000);
                        now = until;
                    }
                }
            };
            let arrived = now + i64::try_from(trip.there).unwrap();
            let ended = arrived + i64::try_from(trip.back).unwrap();
            match trip.end {
                // Killed: nobody ever says how it ended.
                0 => arrivals.push(arrived),
                // It never left.
                1 => account.withdraw(number),
                _ => {
                    arrivals.push(arrived);
                    pending.push((ended, number));
                }
            }
        }
        arrivals.sort_unstable();
        for (first, at) in arrivals.iter().enumerate() {
            let within = arrivals[first..].iter().filter(|other| **other - at < 3_600_000).count();
            prop_assert!(within as u64 <= per_hour, "{within} within an hour, {per_hour} granted");
        }
    }

    /// Whatever a service says, the ledger goes on within a day and a second.
    #[test]
    fn no_answer_of_a_service_holds_for_longer_than_a_day_and_a_second(
        refused: bool,
        retry_after in prop::option::of(any::<u64>()),
        quota in prop::option::of((any::<u64>(), prop::option::of(any::<u64>()))),
    ) {
        let mut account = account();
        let Ok(number) = account.acquire(TERMS, YEAR) else { panic!() };
        let quota_of = |(remaining, reset): (u64, Option<u64>)| Quota {
            remaining,
            reset: reset.map(Duration::from_secs),
        };
        let outcome = RequestEnd {
            refused,
            retry_after: retry_after.map(Duration::from_secs),
            quota: quota.map(quota_of),
        };
        account.settle(number, &outcome, YEAR);
        if let Err(Hold { until, .. }) = account.acquire(TERMS, YEAR) {
            prop_assert!((YEAR + 1..=YEAR + 24 * 3_600_000 + 1_000).contains(&until), "{until}");
            prop_assert!(account.acquire(TERMS, until).is_ok());
        }
    }
}
