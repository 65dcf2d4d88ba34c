//! The ledger in a file that threads and processes share.

use std::path::{Path, PathBuf};
use std::process::Child;

use docplatform::budget::{Budget, Ledger};
use docplatform::client::Limit;
use docplatform::clock::Clock;
use docplatform::config::account::{Organization, Owner, Terms};
use docplatform::config::{ApiKey, Options};
use docplatform::error::{Kind, Outcome};
use docplatform::http::MAX_READS;
use docplatform::store::Store;
use futures_util::FutureExt as _;
use http::HeaderMap;
use tempfile::TempDir;
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use crate::budget::policy::{ticket, wait};
use crate::helpers::service::LIMIT;
use crate::helpers::support::{
    BASE_URL, Hands, KEY, Script, all_of, analytics, call, client_in_store, ends, fail, far, good,
    millis, options, process, read, secs, segment,
};

const TERMS: Terms = Terms {
    per_hour: LIMIT as u64,
    reserve: 0,
    patience: 0,
};

pub(crate) fn owner(organization: Organization) -> Owner {
    Owner {
        base_url: BASE_URL.to_owned(),
        organization,
    }
}

pub(crate) fn key(key: &str) -> Organization {
    Organization::Key(ApiKey::parse("api_key", &key.into()).unwrap())
}

/// A directory, and the path of a store in it.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("visitors.db");
    (directory, path)
}

/// A store there; it is gone with the directory.
pub(crate) fn opened() -> (TempDir, PathBuf, Store) {
    let (directory, path) = place();
    let store = Store::open(&path).unwrap();
    (directory, path, store)
}

fn budget(path: &Path, clock: Clock) -> Budget {
    Ledger::in_store(clock, Store::open(path).unwrap(), owner(key(KEY))).budget(TERMS)
}

/// Asks for `wanted` requests, sends what is granted, and says how many those were.
async fn spend(budget: &Budget, wanted: usize) -> usize {
    let mut granted = 0;
    for _ in 0..wanted {
        if let Ok(mut ticket) = budget.acquire(far()).await.unwrap() {
            ticket.sent();
            ticket.answered(200, &HeaderMap::new(), None);
            granted += 1;
        }
    }
    granted
}

/// A request that is answered with a 429, which holds for ten minutes.
async fn refused(budget: &Budget) {
    ticket(budget)
        .await
        .answered(429, &HeaderMap::new(), Some(secs(600)));
}

fn hands() -> Hands {
    Hands::at(1_700_000_000_000)
}

#[tokio::test]
async fn what_one_client_spent_another_one_sees() {
    let (_directory, path) = place();
    let hands = self::hands();
    let (first, second) = (budget(&path, hands.clock()), budget(&path, hands.clock()));
    assert_eq!(
        (spend(&first, 60).await, second.left().await.unwrap()),
        (60, 40)
    );
    assert_eq!((spend(&second, 60).await, spend(&first, 1).await), (40, 0));
    assert_eq!(wait(&first).await, secs(3601));
    hands.later(3_601_000);
    assert_eq!(first.left().await.unwrap(), 100);
}

#[tokio::test]
async fn a_refusal_holds_for_all_clients() {
    let (_directory, path) = place();
    let (first, second) = (
        budget(&path, hands().clock()),
        budget(&path, hands().clock()),
    );
    refused(&first).await;
    // The answer is recorded in the background; asking the same client comes after that.
    assert_eq!(first.left().await.unwrap(), 0);
    assert_eq!(wait(&second).await, secs(600));
}

#[tokio::test]
async fn organizations_and_addresses_have_ledgers_of_their_own() {
    let (_directory, _path, store) = opened();
    let of = |base_url: &str, organization| {
        let owner = Owner {
            base_url: base_url.to_owned(),
            organization,
        };
        Ledger::in_store(Clock::system(), store.clone(), owner).budget(TERMS)
    };
    let named = |name| Organization::named("organization", name).unwrap();
    spend(&of(BASE_URL, key(KEY)), 30).await;
    spend(&of(BASE_URL, named("acme")), 20).await;
    for (base_url, organization, left) in [
        (BASE_URL, key(KEY), 70),
        (BASE_URL, key("dp_another"), 100),
        ("https://other.example.com", key(KEY), 100),
        (BASE_URL, named("acme"), 80),
        (BASE_URL, named("umbrella"), 100),
    ] {
        assert_eq!(
            of(base_url, organization.clone()).left().await.unwrap(),
            left,
            "{organization:?}"
        );
    }
    for bad in ["", " ", "a\nb", &"x".repeat(201)] {
        assert!(Organization::named("organization", bad).is_err(), "{bad:?}");
    }
}

/// Rows: N7.
#[tokio::test]
async fn a_process_whose_clock_is_wrong_frees_nothing_for_the_others() {
    for hours in [-23, -2, 2, 23] {
        let (_directory, path) = place();
        let (right, wrong) = (self::hands(), self::hands());
        wrong.later(hours * 3_600_000);
        let (ours, theirs) = (budget(&path, right.clock()), budget(&path, wrong.clock()));
        let is_ahead = hours > 0;
        assert_eq!(spend(&ours, 60).await, 60);
        // To a clock that is ahead, these requests look old. The service's 429 ends what it sends
        // too much.
        let left = if is_ahead { 100 } else { 40 };
        assert_eq!(theirs.left().await.unwrap(), left, "{hours}");
        // The others count what it sends, although its clock is behind.
        assert_eq!(spend(&theirs, 30).await, 30);
        assert_eq!(spend(&ours, 20).await, 10, "{hours}");
        right.later(3_600_000);
        wrong.later(3_600_000);
        // It asks, and sends nothing if it counts the requests of the others.
        assert_eq!(spend(&theirs, 1).await, usize::from(is_ahead), "{hours}");
        // The answer is recorded before this.
        theirs.left().await.unwrap();
        assert_eq!(ours.left().await.unwrap(), 0, "{hours}");
        right.later(hours.max(0) * 3_600_000 + 3_601_000);
        assert_eq!(ours.left().await.unwrap(), 100, "{hours}");
    }
}

/// Rows: B8.
#[tokio::test]
async fn a_refusal_lasts_as_long_as_the_service_asked_although_the_clock_is_set() {
    for by in [-1_000_000_000, 300_000, 1_000_000_000] {
        let (_directory, path) = place();
        let hands = self::hands();
        let client = budget(&path, hands.clock());
        refused(&client).await;
        // The refusal is in the file before the clock is set.
        assert_eq!(client.left().await.unwrap(), 0);
        hands.later(by);
        // The clock that nobody sets goes on meanwhile.
        let wait = wait(&client).await;
        let least = if by == 300_000 { 290 } else { 590 };
        assert!((secs(least)..=secs(600)).contains(&wait), "{by}: {wait:?}");
    }
}

#[tokio::test]
async fn a_request_of_a_clock_that_is_days_ahead_counts_for_no_other_process() {
    let (_directory, path) = place();
    let (right, wrong) = (self::hands(), self::hands());
    wrong.later(1_000_000_000);
    let (ours, theirs) = (budget(&path, right.clock()), budget(&path, wrong.clock()));
    refused(&theirs).await;
    assert_eq!(theirs.left().await.unwrap(), 0);
    assert_eq!(spend(&ours, 101).await, 100);
    assert_eq!(wait(&ours).await, secs(3601));
}

#[tokio::test]
async fn a_dropped_request_spends_nothing() {
    let (_directory, path) = place();
    let budget = budget(&path, Clock::system());
    for _ in 0..20 {
        let mut asking = Box::pin(budget.acquire(far()));
        assert!(asking.as_mut().now_or_never().is_none());
    }
    // Requests that were granted after their callers had left are given back after this.
    budget.left().await.unwrap();
    assert_eq!(budget.left().await.unwrap(), 100);
}

fn spawned(test: &str, path: &Path) -> Child {
    process(&format!("budget::ledger::{test}"))
        .env(PATH, path)
        .spawn()
        .unwrap()
}

const PATH: &str = "DOCPLATFORM_TEST_STORE";

fn path_of_parent() -> PathBuf {
    std::env::var_os(PATH).unwrap().into()
}

#[tokio::test]
#[ignore = "a process of the next test"]
async fn child_that_spends() {
    spend(&budget(&path_of_parent(), Clock::system()), 50).await;
}

#[tokio::test]
async fn processes_share_the_hour() {
    let (_directory, path) = place();
    // All of them may make the file, too.
    let children: Vec<_> = (0..4)
        .map(|_| spawned("child_that_spends", &path))
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let budget = budget(&path, Clock::system());
    assert_eq!(spend(&budget, 1).await, 0, "100 of 200 were granted");
    let entries = rusqlite::Connection::open(&path).unwrap();
    let count: i64 = entries
        .query_row("SELECT count(*) FROM request", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 100);
}

#[tokio::test]
#[ignore = "a process of the next test"]
async fn child_that_dies() {
    let granted = budget(&path_of_parent(), Clock::system())
        .acquire(far())
        .await
        .unwrap();
    assert!(granted.is_ok());
    // Between the entry and the request.
    std::process::abort();
}

#[tokio::test]
async fn a_process_that_dies_after_its_entry_has_spent_it() {
    let (_directory, path) = place();
    for died in 1..=3 {
        assert!(!spawned("child_that_dies", &path).wait().unwrap().success());
        assert_eq!(
            budget(&path, Clock::system()).left().await.unwrap(),
            100 - died
        );
    }
}

#[tokio::test]
async fn a_request_whose_process_died_counts_as_long_as_its_client_would_have_waited_and_a_minute_at_least()
 {
    let (_directory, path) = place();
    let hands = self::hands();
    let store = Store::open(&path).unwrap();
    for (deadline, counts) in [(5.0, 60_000), (300.0, 300_000)] {
        let settings = Options {
            deadline,
            timeout: 1.0,
            requests_per_hour: Some(100),
            jobs_per_hour: Some(100),
            ..options()
        };
        let client = client_in_store(&Script::each(|_| good()), &settings, &store, hands.clock());
        let project = segment("demo");
        for limit in [Limit::Analytics, Limit::Jobs(&project)] {
            let budget = client.budget_of(limit).unwrap();
            // Its process dies: the end of the request is never entered.
            std::mem::forget(ticket(&budget).await);
            hands.later(3_601_000 + counts - 1);
            assert_eq!(budget.left().await.unwrap(), 99, "{deadline} {limit:?}");
            hands.later(1);
            assert_eq!(budget.left().await.unwrap(), 100, "{deadline} {limit:?}");
        }
    }
}

/// A store's file as another process holds it in the middle of a write.
pub(crate) fn in_a_transaction(path: &Path) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

/// No call waits for the file beyond its deadline, nor for the calls before it.
#[tokio::test(start_paused = true)]
async fn calls_end_with_their_deadline_while_the_ledger_is_locked() {
    let (_directory, path) = place();
    let script = Script::each(|_| good());
    let settings = Options {
        deadline: 2.0,
        requests_per_hour: Some(100),
        ..options()
    };
    let client = client_in_store(
        &script,
        &settings,
        &Store::open(&path).unwrap(),
        Clock::steady(),
    );
    let lock = in_a_transaction(&path);
    let begun = Instant::now();
    let calls = all_of(MAX_READS, &client, |client| async move {
        (fail(&client, analytics()).await, Instant::now())
    });
    yield_now().await;
    call(&client, read()).await.unwrap();
    assert_eq!(begun.elapsed(), secs(0), "what needs no budget goes on");
    // By hand: the clock does not move by itself while the store's thread is at work.
    advance(secs(2)).await;
    for (error, at) in ends(calls).await {
        assert_eq!(
            (error.kind, error.outcome),
            (Kind::Store, Some(Outcome::NotSent)),
            "{error}"
        );
        assert_eq!(at.duration_since(begun), secs(2));
    }
    assert_eq!(script.count(), 1);
    drop(lock);
    // Requests that were granted too late are given back after this.
    let budget = client.budget().unwrap();
    budget.left().await.unwrap();
    assert_eq!(budget.left().await.unwrap(), 100);
    call(&client, analytics()).await.unwrap();
    // A grant that leaves no time for the answer is given back as well.
    let lock = in_a_transaction(&path);
    let late = all_of(1, &client, |client| async move {
        fail(&client, analytics()).await
    });
    yield_now().await;
    advance(millis(1_900)).await;
    drop(lock);
    let error = ends(late).await.remove(0);
    assert!(
        error.kind == Kind::Timeout && error.deadline_exceeded,
        "{error}"
    );
    assert_eq!((script.count(), budget.left().await.unwrap()), (2, 99));
}

#[tokio::test]
async fn what_could_not_be_settled_fails_no_other_call_and_is_written_with_the_next_one() {
    let (_directory, path) = place();
    let hands = self::hands();
    let store = Store::open(&path).unwrap();
    let budget = Ledger::in_store(hands.clock(), store.clone(), owner(key(KEY))).budget(TERMS);
    let ticket = ticket(&budget).await;
    let breaking =
        |sql: &'static str| store.run(move |connection| Ok(connection.execute_batch(sql)?));
    breaking("CREATE TRIGGER broken BEFORE INSERT ON told BEGIN SELECT raise(FAIL, 'broken'); END")
        .await
        .unwrap();
    ticket.answered(429, &HeaderMap::new(), Some(secs(600)));
    breaking("DROP TRIGGER broken").await.unwrap();
    assert_eq!(
        budget.left_as_seen(),
        Some(0),
        "this process knows of the refusal"
    );
    assert_eq!(wait(&budget).await, secs(600));
    assert!(budget.take_fault().unwrap().to_string().contains("broken"));
    assert!(budget.take_fault().is_none(), "it is logged once");
}
