//! Filling a store: the order, what a failure stops, and that nothing is fetched twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use docplatform::client::{Client, WaitOrStop};
use docplatform::config::Options;
use docplatform::dates::Moment;
use docplatform::dates::slices::{Every, Slice, slices};
use docplatform::error::Kind;
use docplatform::http::Outgoing;
use docplatform::listing::endpoint::{Endpoint, VIEWS, VISITORS};
use docplatform::slices::Subject;
use docplatform::slices::sync::{Sync, SyncCounts, SyncScope, sync};
use docplatform::store::Content;
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use crate::export::stored::{END, Shop};
use crate::helpers::script::Sent;
use crate::helpers::site::Site;
use crate::helpers::support::{
    Recorder, Script, Step, bare, millis, options, query, reply, secs, segment, with_retry_after,
};

/// Days. On the shop's first day those of January 2026 are final, and those of February are not.
fn days(from: &str, to: &str) -> Vec<Slice> {
    let day = |text| Moment::parse("date", text).unwrap();
    slices(&day(from), &day(to), Some(Every::Day)).unwrap()
}

fn wanted(projects: &[&str], slices: Vec<Slice>) -> SyncScope {
    SyncScope {
        projects: projects.iter().map(|project| segment(project)).collect(),
        slices,
        of: vec![Subject {
            endpoint: VISITORS,
            content: Content::Pages,
        }],
        until: None,
    }
}

/// The project and the first day in `url`.
fn asked(url: &url::Url) -> (String, String) {
    let project = url.path_segments().unwrap().nth(3).unwrap().to_owned();
    let from = url
        .query_pairs()
        .find(|(name, _)| name == "dateFrom")
        .unwrap()
        .1
        .into_owned();
    (project, from)
}

fn all_asked(script: &Script) -> Vec<(String, String)> {
    script
        .sent()
        .iter()
        .map(|Sent { url, .. }| asked(url))
        .collect()
}

/// A site of 30 rows for every project and day, but for those that `other` answers otherwise.
fn serve(other: impl Fn(&str, &str) -> Option<Step> + Send + 'static) -> Arc<Script> {
    let site = Site::new(30);
    Script::each(move |request: &Outgoing| {
        let (project, from) = asked(&request.url);
        let number = |name| query(&request.url, name).unwrap();
        other(&project, &from).unwrap_or_else(|| site.answer(number("offset"), number("limit")))
    })
}

async fn run(client: &Client, wanted: &SyncScope, on_running: WaitOrStop) -> Sync {
    sync(
        client,
        client.exports().unwrap(),
        wanted,
        on_running,
        Arc::new(Recorder::default()),
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn final_slices_come_first_and_then_those_fetched_the_longest_ago() {
    let (shop, script) = (Shop::new(), serve(|_, _| None));
    let client = shop.client(&script);
    let wanted = wanted(&["a", "b"], days("2026-01-31", "2026-02-03"));
    let filled = run(&client, &wanted, WaitOrStop::Wait).await.filled;
    assert_eq!(
        filled,
        SyncCounts {
            slices: 6,
            cached: 0,
            open: 4,
            requests: 6,
            rows: 180,
            ..SyncCounts::default()
        }
    );
    let day = |project: &str, day: &str| (project.to_owned(), format!("2026-{day}"));
    let open = [
        day("a", "02-01"),
        day("a", "02-02"),
        day("b", "02-01"),
        day("b", "02-02"),
    ];
    assert_eq!(
        all_asked(&script),
        [&[day("a", "01-31"), day("b", "01-31")][..], &open].concat()
    );
    // Somebody has looked at one of them meanwhile.
    shop.set_day(END + 3);
    run(
        &client,
        &self::wanted(&["a"], days("2026-02-02", "2026-02-03")),
        WaitOrStop::Wait,
    )
    .await;
    let filled = run(&client, &wanted, WaitOrStop::Wait).await.filled;
    // The first of February has settled by now.
    assert_eq!((filled.cached, filled.open, filled.requests), (2, 2, 4));
    assert_eq!(
        all_asked(&script)[7..],
        [
            day("a", "02-01"),
            day("b", "02-01"),
            day("b", "02-02"),
            day("a", "02-02")
        ]
    );
}

/// The totals of visitors and of views, without a row.
const TOTALS: &str =
    r#"{"totals":{"human":3,"ai":0,"total":3},"visitors":[],"views":[],"hasMore":false}"#;

fn listing(url: &url::Url) -> String {
    url.path_segments().unwrap().next_back().unwrap().to_owned()
}

fn subjects(endpoints: &[&'static Endpoint], content: Content) -> Vec<Subject> {
    let subject = |&endpoint| Subject { endpoint, content };
    endpoints.iter().map(subject).collect()
}

#[tokio::test(start_paused = true)]
async fn the_listings_of_a_slice_are_fetched_together_and_the_sync_ends_in_time() {
    let script = Script::each(|request: &Outgoing| match asked(&request.url).1.as_str() {
        "2026-01-03" => Step::Never,
        _ => reply(200, TOTALS).into(),
    });
    let shop = Shop::new();
    let client = shop.client(&script);
    let mut wanted = wanted(&["a"], days("2026-01-01", "2026-01-06"));
    wanted.of = subjects(&[VISITORS, VIEWS], Content::Totals);
    // While another sync fills the store, or if its time is over, a sync says how much is left.
    let running = client.exports().unwrap().lock().await.unwrap();
    let busy = run(&client, &wanted, WaitOrStop::Stop).await;
    assert_eq!(busy.ended.unwrap().kind, Kind::StoreBusy);
    wanted.until = Some(0);
    let late = run(&client, &wanted, WaitOrStop::Wait).await;
    assert!(late.ended.is_none());
    assert_eq!((late.filled.slices, late.filled.left), (10, 10));
    assert_eq!((busy.filled, script.count()), (late.filled, 0));
    drop(running);
    wanted.until = Some(shop.day() * 86_400_000 + 20_000);
    let begun = Instant::now();
    let done = run(&client, &wanted, WaitOrStop::Wait).await;
    assert!(done.ended.is_none() && done.failures.is_empty(), "{done:?}");
    assert_eq!(begun.elapsed(), secs(20));
    let filled = done.filled;
    assert_eq!((filled.requests, filled.left, filled.hours), (5, 6, None));
    let sent = script.sent();
    let order: Vec<_> = sent
        .iter()
        .map(|Sent { url, .. }| listing(url) + &asked(url).1[7..])
        .collect();
    assert_eq!(
        order,
        [
            "visitors-01",
            "views-01",
            "visitors-02",
            "views-02",
            "visitors-03"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_ends_says_how_many_requests_and_hours_are_left() {
    let (shop, script) = (
        Shop::new(),
        serve(|project, from| (project == "b" && from == "2026-01-02").then(|| bare(404))),
    );
    let client = shop.client_with(
        &script,
        &Options {
            requests_per_hour: Some(4),
            ..options()
        },
    );
    let wanted = wanted(&["b", "a"], days("2026-01-01", "2026-01-06"));
    let (client, recorder) = (client.on_budget(WaitOrStop::Stop), Recorder::default());
    let (exports, observer) = (client.exports().unwrap(), Arc::new(recorder));
    let done = sync(
        &client,
        exports,
        &wanted,
        WaitOrStop::Wait,
        Arc::clone(&observer) as _,
    )
    .await;
    assert_eq!(done.ended.unwrap().kind, Kind::Budget);
    // One day of the first project was fetched, its next one does not exist, and its others are not
    // asked for. Two days of the other project follow.
    let filled = done.filled;
    assert_eq!(
        (filled.requests, filled.left, filled.hours),
        (4, 7, Some(2.0))
    );
    let notes = observer.log();
    let forecasts: Vec<_> = notes
        .lines()
        .filter(|line| line.contains("missing"))
        .collect();
    assert_eq!(
        forecasts,
        [
            "missing requests: at least 10; hours at the request budget: 2",
            "missing requests: at least 7; hours at the request budget: 2"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_slice_that_came_are_not_left() {
    let shop = Shop::new();
    let page = Site::new(600);
    let script =
        Script::each(
            move |request: &Outgoing| match query(&request.url, "offset").unwrap() {
                500 => reply(200, "{}").into(),
                offset => page.answer(offset, query(&request.url, "limit").unwrap()),
            },
        );
    let mut wanted = wanted(&["a"], days("2026-02-01", "2026-02-02"));
    // It was read before it was final, so that its number of pages is known.
    let whole = shop.client(&Site::new(600).serve());
    assert_eq!(
        run(&whole, &wanted, WaitOrStop::Wait).await.filled.requests,
        3
    );
    shop.set_day(END + 3);
    let client = shop.client(&script);
    assert_eq!(run(&client, &wanted, WaitOrStop::Wait).await.filled.left, 1);
    wanted.until = Some(0);
    assert_eq!(run(&client, &wanted, WaitOrStop::Wait).await.filled.left, 1);
}

#[tokio::test(start_paused = true)]
async fn a_project_without_any_listing_holds_up_no_other() {
    for seed in 0..20 {
        fastrand::seed(seed);
        let shop = Shop::new();
        let script = serve(|project, _| {
            Some(match project {
                "a" => reply(200, TOTALS).into(),
                _ => bare(404),
            })
        });
        let mut wanted = wanted(&["gone", "gone-too", "a"], days("2026-01-01", "2026-01-02"));
        wanted.of = subjects(&[VISITORS, VIEWS], Content::Totals);
        let done = run(&shop.client(&script), &wanted, WaitOrStop::Wait).await;
        assert!(!done.gave_up, "{seed}");
        let mut failed: Vec<_> = done.failures.iter().map(|failed| failed.listing).collect();
        failed.sort_unstable();
        assert_eq!(failed, ["views", "views", "visitors", "visitors"]);
        assert_eq!(done.filled.left, 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_day_or_a_project_that_fails_holds_up_no_other() {
    let down = Arc::new(AtomicBool::new(true));
    let script = serve({
        let down = Arc::clone(&down);
        move |project, from| match (project, from) {
            ("gone", _) => Some(bare(404)),
            ("b", "2026-01-02") if down.load(Ordering::Relaxed) => Some(reply(200, "{}").into()),
            _ => None,
        }
    });
    let shop = Shop::new();
    let client = shop.client(&script);
    let wanted = wanted(&["a", "gone", "b", "c"], days("2026-01-01", "2026-01-04"));
    let found = run(&client, &wanted, WaitOrStop::Wait).await;
    let failures: Vec<_> = found
        .failures
        .iter()
        .map(|failure| {
            (
                failure.project.as_str(),
                failure.slice.from.to_string(),
                failure.error.kind,
            )
        })
        .collect();
    assert_eq!(
        failures,
        [
            ("gone", "2026-01-01".to_owned(), Kind::Status),
            ("b", "2026-01-02".to_owned(), Kind::Response)
        ]
    );
    assert!(found.ended.is_none() && !found.gave_up);
    // Nine slices less the one, and one request to each that failed.
    assert_eq!(
        (found.filled.rows, found.filled.requests, script.count()),
        (8 * 30, 10, 10)
    );
    down.store(false, Ordering::Relaxed);
    let again = run(&client, &wanted, WaitOrStop::Wait).await;
    assert_eq!(
        (
            again.filled.cached,
            again.filled.requests,
            again.failures.len()
        ),
        (8, 2, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn what_fails_each_time_keeps_nothing_out_for_ever() {
    // Three in front fail each time, and one fails on its first days.
    let first = ["a", "b", "c"];
    for status in [404, 422, 500] {
        let shop = Shop::new();
        let script = serve(move |project, from| {
            let refused = first.contains(&project) || (project == "d" && from < "2026-01-06");
            refused.then(|| bare(status))
        });
        let client = shop.client(&script);
        let wanted = wanted(
            &["a", "b", "c", "d", "e", "f"],
            days("2026-01-01", "2026-01-11"),
        );
        let there = if status == 404 { 20 } else { 25 };
        let mut cached = 0;
        for _ in 0..1_000 {
            let found = run(&client, &wanted, WaitOrStop::Wait).await;
            assert!(found.filled.cached >= cached, "{status}: nothing is lost");
            cached = found.filled.cached;
            if cached >= there {
                break;
            }
        }
        assert!(cached >= there, "{status}: {cached} of {there}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_project_that_fails_comes_last() {
    let script = serve(|project, _| (project == "a").then(|| reply(200, "{}").into()));
    let shop = Shop::new();
    let wanted = wanted(&["a", "b", "c"], days("2026-01-01", "2026-01-11"));
    let found = run(&shop.client(&script), &wanted, WaitOrStop::Wait).await;
    assert_eq!((found.filled.rows, found.gave_up), (20 * 30, true));
    // Three of its ten days show that the others would not come either; the first one's turn was
    // the first.
    let failures: Vec<_> = found
        .failures
        .iter()
        .map(|failure| failure.project.as_str())
        .collect();
    assert_eq!(failures, ["a"; 4]);
    assert_eq!(found.filled.requests, 20 + 4);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_but_failures_come_it_is_given_up() {
    let many = ["a", "b", "c", "d", "e", "f", "g"];
    for (status, good, asked) in [
        (403, 0, 3),
        (404, 0, 3),
        (403, 2, 7),
        (503, 0, 9),
        (503, 2, 2 + 9),
    ] {
        let shop = Shop::new();
        let script = serve(move |project, _| (project >= &*many[good]).then(|| bare(status)));
        let wanted = wanted(&many, days("2026-01-01", "2026-01-02"));
        let found = run(&shop.client(&script), &wanted, WaitOrStop::Wait).await;
        assert_eq!(script.count(), asked, "{status} behind {good}");
        assert_eq!(
            found.gave_up,
            status == 503 || good == 0,
            "{status} behind {good}"
        );
        assert_eq!(found.failures.len(), if found.gave_up { 3 } else { 5 });
        assert_eq!(found.filled.requests, asked as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_everything_ends_it() {
    for (step, kind, requests) in [
        ((|| bare(401)) as fn() -> Step, Kind::Status, 2),
        (|| with_retry_after(429, "3600"), Kind::Status, 2),
        (|| Step::Unsent { fatal: true }, Kind::Connect, 1),
    ] {
        let shop = Shop::new();
        let script = serve(move |project, _| (project == "b").then(step));
        let wanted = wanted(&["a", "b", "c"], days("2026-01-01", "2026-01-02"));
        let found = run(&shop.client(&script), &wanted, WaitOrStop::Wait).await;
        assert_eq!(
            (found.ended.unwrap().kind, found.filled.requests),
            (kind, requests)
        );
        assert_eq!(
            (found.filled.rows, script.count(), found.failures.len()),
            (30, 2, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_that_waits_for_another_is_announced_at_once_and_again_once_that_is_long() {
    let (shop, script) = (Shop::new(), serve(|_, _| None));
    let client = shop.client(&script);
    let lock = client.exports().unwrap().lock().await.unwrap().unwrap();
    let recorder = Arc::new(Recorder::default());
    let (observer, begun) = (Arc::clone(&recorder), Instant::now());
    let other = tokio::spawn(async move {
        let wanted = wanted(&["a"], days("2026-01-01", "2026-01-02"));
        sync(
            &client,
            client.exports().unwrap(),
            &wanted,
            WaitOrStop::Wait,
            observer,
        )
        .await
    });
    // The first look at the lock takes the disk's time: were the clock to run meanwhile, it would
    // be a long wait already.
    while recorder.notes().is_empty() {
        yield_now().await;
    }
    while recorder.notes().len() < 2 {
        advance(millis(100)).await;
    }
    assert!(begun.elapsed() > secs(10), "{:?}", begun.elapsed());
    drop(lock);
    assert_eq!(other.await.unwrap().filled.rows, 30);
    let announced: Vec<_> = recorder
        .notes()
        .into_iter()
        .filter_map(|note| note.waiting)
        .collect();
    assert_eq!(
        announced
            .iter()
            .map(|waiting| waiting.long)
            .collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(
        announced[1].until, None,
        "when the other one ends is unknown"
    );
}

#[tokio::test(start_paused = true)]
async fn a_slice_that_becomes_final_while_it_waits_for_the_budget_is_fetched_once() {
    let (shop, script) = (Shop::new(), serve(|_, _| None));
    let settings = Options {
        requests_per_hour: Some(1),
        ..options()
    };
    // Half an hour before the first of February is final.
    shop.hands.set((END + 3) * 86_400_000 - 1_800_000);
    let client = shop.client_in_time(&script, &settings);
    for (from, to, filled) in [
        ("2026-01-31", "2026-02-01", (0, 0, 1)),
        ("2026-02-01", "2026-02-02", (0, 0, 1)),
        ("2026-01-31", "2026-02-02", (2, 0, 0)),
    ] {
        let found = run(&client, &wanted(&["a"], days(from, to)), WaitOrStop::Wait)
            .await
            .filled;
        assert_eq!((found.cached, found.open, found.requests), filled, "{from}");
    }
}
