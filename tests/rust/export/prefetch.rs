//! Prefetch: certain pages at 1, speculative ones above.

use std::sync::Arc;

use docplatform::client::WaitOrStop;
use docplatform::config::Options;
use docplatform::error::Kind;
use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::Paging;
use tokio::time::{Instant, sleep};

use crate::helpers::site::{PLAIN, Site, export, names, pager, pager_of, start, turn};
use crate::helpers::support::{Recorder, Step, bare, client_with, options, secs, with_retry_after};

#[tokio::test(start_paused = true)]
async fn the_next_page_comes_while_the_caller_works_on_this_one() {
    for (prefetch, seconds) in [(0, 2 * 10), (1, 11)] {
        let script = Site::new(100).latency(secs(1)).serve();
        let mut pager = pager(&script, 10, Paging { prefetch, ..PLAIN });
        let begun = Instant::now();
        while let Some(page) = turn(&mut pager).await.unwrap() {
            sleep(secs(1)).await;
            drop(page);
        }
        assert_eq!(begun.elapsed(), secs(seconds), "prefetch {prefetch}");
        assert_eq!(script.count(), 10);
    }
}

#[tokio::test(start_paused = true)]
async fn speculation_goes_at_most_n_minus_one_requests_beyond_the_end() {
    for prefetch in 2..=16 {
        for rows in [1, 10, 11, 95, 100, 101] {
            let site = Site::new(rows);
            let script = site.clone().latency(secs(1)).serve();
            let begun = Instant::now();
            let export = export(pager(&script, 10, Paging { prefetch, ..PLAIN }))
                .await
                .unwrap();
            assert_eq!(export.paths, site.paths(), "in order");
            let needed = rows.div_ceil(10);
            let requests = script.count() as u64;
            assert!(
                requests < needed + u64::from(prefetch),
                "prefetch {prefetch}: {requests} for {needed}"
            );
            if needed == 1 {
                assert_eq!(requests, 1, "an answer that says so ends it");
            }
            let rounds = 1 + (needed - 1).div_ceil(u64::from(prefetch));
            assert_eq!(
                begun.elapsed(),
                secs(rounds),
                "prefetch {prefetch}, {rows} rows"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_stay_in_order_when_later_ones_are_faster() {
    let site = Site::new(100);
    let served = site.clone();
    let script = site.serve_but(move |offset| {
        Some(
            served
                .clone()
                .latency(secs(100 - offset))
                .answer(offset, 10),
        )
    });
    // 100 s is more than one attempt may take; the first pages are merely slow.
    let options = Options {
        timeout: 200.0,
        deadline: 300.0,
        ..options()
    };
    let client = client_with(&script, &options, 0.0);
    let pager = pager_of(
        client,
        start(10),
        Paging {
            prefetch: 8,
            ..PLAIN
        },
    );
    assert_eq!(export(pager).await.unwrap().paths, site.paths());
}

/// Rows: E14.
#[tokio::test(start_paused = true)]
async fn requests_beyond_the_end_are_dropped_with_it() {
    let script = Site::new(20).serve_but(|offset| (offset >= 20).then_some(Step::Never));
    let mut pager = pager(
        &script,
        10,
        Paging {
            prefetch: 4,
            ..PLAIN
        },
    );
    turn(&mut pager).await.unwrap();
    sleep(secs(1)).await;
    assert_eq!(script.in_flight(), 3);
    assert!(!turn(&mut pager).await.unwrap().unwrap().position.has_more);
    sleep(secs(1)).await;
    assert_eq!(script.in_flight(), 0, "nobody will want them");
    assert!(turn(&mut pager).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn an_error_beyond_the_end_is_nobodys() {
    let site = Site::new(20);
    let script = site.serve_but(|offset| (offset >= 20).then(|| bare(400)));
    let export = export(pager(
        &script,
        10,
        Paging {
            prefetch: 4,
            ..PLAIN
        },
    ))
    .await
    .unwrap();
    assert_eq!(export.paths, site.paths());
}

#[tokio::test(start_paused = true)]
async fn an_error_ahead_is_raised_where_its_rows_are_wanted() {
    let script = Site::new(40).serve_but(|offset| (offset == 20).then(|| bare(403)));
    let mut pager = pager(
        &script,
        10,
        Paging {
            prefetch: 4,
            ..PLAIN
        },
    );
    let mut rows = Vec::new();
    for _ in 0..2 {
        let page = turn(&mut pager).await.unwrap().unwrap();
        sleep(secs(5)).await;
        rows.extend(names(&page.rows));
    }
    assert_eq!(rows.len(), 20);
    assert_eq!(turn(&mut pager).await.unwrap_err().status, Some(403));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_the_budget_held_back_ahead_of_need_is_asked_for_again_where_its_rows_are_wanted()
 {
    let script = Site::new(60).serve();
    let options = Options {
        requests_per_hour: Some(1),
        ..options()
    };
    let client = client_with(&script, &options, 0.0).on_budget(WaitOrStop::Stop);
    let mut pager = pager_of(
        client,
        start(10),
        Paging {
            prefetch: 1,
            ..PLAIN
        },
    );
    for page in 1..=3 {
        assert_eq!(turn(&mut pager).await.unwrap().unwrap().rows.len(), 10);
        assert_eq!(script.count(), page);
        sleep(secs(2 * 3600)).await;
    }
    turn(&mut pager).await.unwrap();
    let error = turn(&mut pager).await.unwrap_err();
    assert_eq!(error.kind, Kind::Budget);
}

#[tokio::test(start_paused = true)]
async fn log_lines_of_a_prefetched_page_come_when_it_is_asked_for() {
    let mut requests = 0;
    let script = Site::new(20).serve_but(move |_| {
        requests += 1;
        (requests == 2).then(|| with_retry_after(503, "1"))
    });
    let mut pager = pager(
        &script,
        10,
        Paging {
            prefetch: 1,
            ..PLAIN
        },
    );
    turn(&mut pager).await.unwrap();
    sleep(secs(30)).await;
    assert_eq!(
        script.count(),
        3,
        "it came meanwhile, on its second attempt"
    );
    let listener = Arc::new(Recorder::default());
    let observer: Arc<dyn ExportObserver> = Arc::clone(&listener) as _;
    pager.next_page(&observer).await.unwrap();
    assert!(
        listener.log().contains("attempt 1 failed"),
        "{}",
        listener.log()
    );
}

/// Rows: D18.
#[tokio::test(start_paused = true)]
async fn a_panic_ahead_is_a_panic_and_no_hang() {
    let script = Site::new(9).serve_but(|offset| {
        assert!(offset < 1, "scripted panic");
        None
    });
    let mut pager = pager(
        &script,
        1,
        Paging {
            prefetch: 1,
            ..PLAIN
        },
    );
    turn(&mut pager).await.unwrap();
    let outcome = tokio::spawn(async move { turn(&mut pager).await.map(|_| ()) }).await;
    assert!(outcome.unwrap_err().is_panic());
}
