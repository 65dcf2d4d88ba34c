//! Calls that want the same page at the same time: one of them fetches it for all.

use std::sync::atomic::{AtomicBool, Ordering};

use docplatform::client::{Client, WaitOrStop};
use docplatform::config::Options;
use docplatform::error::Kind;
use docplatform::export::pager::Pager;
use docplatform::export::source;
use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use crate::export::stored::{END, Shop, january, listing};
use crate::helpers::site::{Export, PLAIN, Site, asked, export};
use crate::helpers::support::{Recorder, bare, options, secs};

/// January, read by a client in pages of ten.
async fn read(client: &Client, refresh: bool) -> docplatform::error::Result<Export> {
    let place = january(10, 0);
    let source = source::source(client.clone(), &place, refresh);
    export(Pager::new(source, place, PLAIN)).await
}

/// A service that takes a second for each of four pages.
fn slow() -> Site {
    Site::new(35).latency(secs(1))
}

const ONCE: [(u64, u64); 4] = [(0, 10), (10, 10), (20, 10), (30, 10)];

#[tokio::test(start_paused = true)]
async fn eight_calls_at_once_send_one_request_a_page() {
    // Final, and still changing.
    for day in [END + 2, END + 1] {
        let (shop, script) = (Shop::new(), slow().serve());
        shop.set_day(day);
        let client = shop.client(&script);
        for read in join_all((0..8).map(|_| read(&client, false))).await {
            assert_eq!(read.unwrap().paths, slow().paths());
        }
        assert_eq!(asked(&script), ONCE);
        let totals = async || source::totals(&client, &listing(), &Recorder::default()).await;
        let requests = if day == END + 2 { 4 } else { 5 };
        for totals in join_all([totals(), totals(), totals()]).await {
            assert_eq!(totals.unwrap().total, 35);
        }
        assert_eq!(script.count(), requests, "day {day}");
    }
}

#[tokio::test(start_paused = true)]
async fn refresh_is_a_fetch_of_its_own() {
    let (shop, script) = (Shop::new(), slow().serve());
    let client = shop.client(&script);
    let all = [false, true, true, false].map(|refresh| read(&client, refresh));
    for read in join_all(all).await {
        assert_eq!(read.unwrap().paths, slow().paths());
    }
    assert_eq!(script.count(), 3 * ONCE.len());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_or_fails_hands_over_to_the_next() {
    for cancels in [true, false] {
        let failed = AtomicBool::new(cancels);
        let (shop, site) = (Shop::new(), slow());
        let script =
            site.serve_but(move |_| (!failed.swap(true, Ordering::Relaxed)).then(|| bare(400)));
        let client = shop.client(&script);
        let read = || {
            let client = client.clone();
            tokio::spawn(async move { read(&client, false).await })
        };
        let first = read();
        while script.count() == 0 {
            sleep(secs(0)).await;
        }
        let others = [read(), read()];
        sleep(secs(0)).await;
        if cancels {
            first.abort();
        } else {
            assert_eq!(first.await.unwrap().err().unwrap().status, Some(400));
        }
        for other in others {
            assert_eq!(other.await.unwrap().unwrap().paths, site.paths());
        }
        assert_eq!(asked(&script), [&[(0, 10)][..], &ONCE].concat());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_another_within_its_own_deadline() {
    let (shop, site) = (Shop::new(), Site::new(35).latency(secs(20)));
    let script = site.serve();
    let client = shop.client(&script);
    let impatient = Options {
        deadline: 5.0,
        ..options()
    };
    let same = client.with(impatient.validate(|_| None).unwrap()).unwrap();
    let apart = shop
        .process(&script)
        .with(impatient.validate(|_| None).unwrap());
    for handle in [same, apart.unwrap()] {
        let reading = read(&client, false);
        let waiting = async {
            sleep(secs(1)).await;
            let begun = Instant::now();
            let error = read(&handle, false).await.err().unwrap();
            assert_eq!((error.kind, error.outcome), (Kind::Timeout, None));
            let text = "not sent within its deadline of 5 s, because another call was still fetching the same page";
            assert!(error.to_string().contains(text), "{error}");
            assert!(begun.elapsed() <= secs(5));
        };
        let reading = timeout(secs(10), reading);
        assert!(tokio::join!(reading, waiting).0.is_err());
    }
    assert_eq!(asked(&script), [(0, 10), (0, 10)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_budget_holds_up_no_other() {
    let (shop, site) = (Shop::new(), Site::new(20).latency(secs(1)));
    let script = site.serve();
    let budgeted = Options {
        requests_per_hour: Some(1),
        ..options()
    };
    let client = shop.client_in_time(&script, &budgeted);
    let begun = Instant::now();
    let waiting = join_all((0..3).map(|_| read(&client, false)));
    let stopping = async {
        sleep(secs(600)).await;
        let begun = Instant::now();
        let stopping = client.on_budget(WaitOrStop::Stop);
        let error = read(&stopping, false).await.err().unwrap();
        assert_eq!((error.kind, begun.elapsed()), (Kind::Budget, secs(0)));
    };
    for read in tokio::join!(waiting, stopping).0 {
        assert_eq!(read.unwrap().paths, site.paths());
    }
    // The others look again within half a minute, and do not wait for another hour.
    assert!((secs(3_600)..secs(3_640)).contains(&begun.elapsed()));
    assert_eq!(asked(&script), ONCE[..2]);
}
