//! Exports with a store: fetched once, in whole pages, whatever happens to the reader.

use std::path::Path;
use std::sync::Arc;

use docplatform::client::Client;
use docplatform::clock::Clock;
use docplatform::config::Options;
use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::pager::{Pager, Paging};
use docplatform::export::source;
use docplatform::listing::Listing;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::page::Totals;
use docplatform::store::Store;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::budget::ledger::opened;
use crate::export::resume::{reread, sites, turns};
use crate::helpers::site::{PLAIN, Site, asked, export, names, page, pages, row, start_json};
use crate::helpers::support::{
    BASE_URL, Hands, Recorder, Script, client_in_store, options, segment,
};

/// The first of February 2026, in days since 1970.
pub(crate) const END: i64 = 20_485;

/// A store, and the day.
pub(crate) struct Shop {
    _directory: TempDir,
    store: Store,
    pub(crate) hands: Hands,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let (directory, _path, store) = opened();
        let shop = Self {
            _directory: directory,
            store,
            hands: Hands::at(0),
        };
        shop.set_day(END + 2);
        shop
    }

    pub(crate) fn path(&self) -> &Path {
        self.store.path()
    }

    pub(crate) fn set_day(&self, day: i64) {
        self.hands.set(day * 86_400_000);
    }

    pub(crate) fn day(&self) -> i64 {
        self.hands.now() / 86_400_000
    }

    pub(crate) fn client(&self, script: &Arc<Script>) -> Client {
        self.client_with(script, &options())
    }

    pub(crate) fn client_with(&self, script: &Arc<Script>, options: &Options) -> Client {
        client_in_store(script, options, &self.store, self.hands.clock())
    }

    /// The client of another process: it shares the file and nothing else.
    pub(crate) fn process(&self, script: &Arc<Script>) -> Client {
        let store = Store::open(self.path()).unwrap();
        client_in_store(script, &options(), &store, self.hands.clock())
    }

    /// A client whose clock goes on from the shop's time.
    pub(crate) fn client_in_time(&self, script: &Arc<Script>, options: &Options) -> Client {
        let (begun, now) = (Instant::now(), self.hands.clock().time());
        let clock = Clock::new(move || now + begun.elapsed());
        client_in_store(script, options, &self.store, clock)
    }

    fn pager(&self, script: &Arc<Script>, place: Checkpoint, paging: Paging) -> Pager {
        Pager::new(
            source::source(self.client(script), &place, false),
            place,
            paging,
        )
    }

    /// The paths of a whole export.
    async fn read(&self, script: &Arc<Script>, page_size: u32) -> Vec<String> {
        export(self.pager(script, january(page_size, 0), PLAIN))
            .await
            .unwrap()
            .paths
    }
}

pub(crate) fn listing() -> Listing {
    Listing::of(
        VISITORS,
        &segment("demo"),
        Some("2026-01-01".to_owned()),
        Some("2026-02-01".to_owned()),
    )
}

/// The beginning of an export of January.
pub(crate) fn january(page_size: u32, offset: u64) -> Checkpoint {
    Checkpoint::new(BASE_URL, listing(), page_size, offset)
}

#[tokio::test]
async fn a_final_range_is_fetched_once_in_whatever_pieces_it_is_read() {
    let (shop, site) = (Shop::new(), Site::new(47));
    let script = site.serve();
    assert_eq!(shop.read(&script, 10).await, site.paths());
    assert_eq!(
        asked(&script),
        [(0, 10), (10, 10), (20, 10), (30, 10), (40, 10)]
    );
    for page_size in [1, 7, 10, 46, 47, 48, 250] {
        assert_eq!(
            shop.read(&script, page_size).await,
            site.paths(),
            "{page_size}"
        );
        for offset in [1, 9, 10, 13, 46, 47, 1000] {
            let rest = export(shop.pager(&script, january(page_size, offset), PLAIN))
                .await
                .unwrap();
            let skip = usize::try_from(offset).unwrap().min(47);
            assert_eq!(rest.paths, site.paths()[skip..], "{page_size} {offset}");
            assert_eq!(rest.warnings, [] as [String; 0]);
        }
        let pages = turns(&mut shop.pager(&script, january(page_size, 3), PLAIN)).await;
        let pages: Vec<_> = pages.iter().map(|turn| turn.rows.len()).collect();
        assert_eq!(pages, [7, 10, 10, 10, 7], "as they were fetched");
        for max_rows in [1, 9, 10, 11, 47, 100] {
            let paging = Paging {
                max_rows: Some(max_rows),
                prefetch: 1,
                ..PLAIN
            };
            let some = export(shop.pager(&script, january(page_size, 0), paging))
                .await
                .unwrap();
            assert_eq!(
                some.paths,
                site.paths()[..usize::try_from(max_rows).unwrap().min(47)]
            );
        }
    }
    let totals = source::totals(&shop.client(&script), &listing(), &Recorder::default())
        .await
        .unwrap();
    assert_eq!(
        totals,
        Totals {
            human: 47,
            ai: 0,
            total: 47
        }
    );
    assert_eq!(script.count(), 5);
}

#[tokio::test]
async fn a_range_that_may_change_is_fetched_again() {
    let (shop, site) = (Shop::new(), Site::new(25));
    let script = site.serve();
    shop.set_day(END + 1);
    shop.read(&script, 10).await;
    shop.read(&script, 10).await;
    assert_eq!(script.count(), 6);
    shop.set_day(END + 2);
    shop.read(&script, 10).await;
    shop.set_day(END + 500);
    shop.read(&script, 10).await;
    assert_eq!(script.count(), 9);
    for _ in 0..2 {
        source::totals(&shop.client(&script), &listing(), &Recorder::default())
            .await
            .unwrap();
    }
    assert_eq!(script.count(), 9);
}

#[tokio::test]
async fn what_was_fetched_while_the_clock_was_ahead_is_final_only_by_the_services_date() {
    let going_on = "Sat, 31 Jan 2026 12:00:00 GMT";
    let after_it = "Wed, 04 Feb 2026 00:00:00 GMT";
    let absurd = "Thu, 31 Jan 1985 12:00:00 GMT";
    // The days on which it is read, the first one by a clock that is ahead or by the service's, and
    // how many requests each reading costs.
    for (date, days) in [
        (
            None,
            &[(END + 100, 3), (END - 1, 3), (END + 400, 3), (END + 400, 0)][..],
        ),
        (Some(going_on), &[(END + 100, 3), (END + 400, 3)]),
        (Some(absurd), &[(END + 100, 3), (END + 400, 0)]),
        // A reader whose clock is behind takes nothing from the others.
        (Some(after_it), &[(END + 3, 3), (END - 1, 3), (END + 3, 0)]),
    ] {
        let shop = Shop::new();
        let script = Site::new(25).dated(date).serve();
        for &(day, cost) in days {
            shop.set_day(day);
            let before = script.count();
            assert_eq!(shop.read(&script, 10).await.len(), 25);
            assert_eq!(script.count() - before, cost, "{date:?}, day {day}");
        }
    }
}

#[tokio::test]
async fn a_checkpoint_after_any_row_yields_the_rest_without_a_request() {
    for (name, site, page_size) in sites() {
        let (shop, script) = (Shop::new(), site.serve());
        let all = turns(&mut shop.pager(&script, january(page_size, 0), PLAIN)).await;
        let every: Vec<_> = all.iter().flat_map(|turn| names(&turn.rows)).collect();
        assert_eq!(every, site.paths(), "{name}");
        let fetched = script.count();
        let mut row = 0;
        for turn in &all {
            for handed in 0..=turn.rows.len() {
                let place = reread(&turn.position.checkpoint(handed));
                let rest = export(shop.pager(&script, place, PLAIN)).await.unwrap();
                assert_eq!(
                    rest.paths,
                    every[row + handed..],
                    "{name}: {handed} rows of a page"
                );
            }
            row += turn.rows.len();
        }
        assert_eq!(script.count(), fetched, "{name}");
    }
}

#[tokio::test]
async fn a_dropped_repeat_costs_no_stored_page() {
    let shop = Shop::new();
    let rows = |paths: [&str; 3]| paths.map(|path| row(path, 1));
    let script = pages([
        page(&rows(["/0", "/1", "/2"]), 5, true),
        page(&rows(["/2", "/3", "/4"]), 5, false),
    ]);
    let all = turns(&mut shop.pager(&script, january(3, 0), PLAIN)).await;
    let place = reread(&all[1].position.checkpoint(1));
    assert_eq!((place.offset, place.rows), (5, 4));
    assert_eq!(
        export(shop.pager(&script, place, PLAIN))
            .await
            .unwrap()
            .paths,
        ["/4"]
    );
    assert_eq!(script.count(), 2);
}

/// Rows: D12.
#[tokio::test]
async fn rows_within_a_stored_page_are_known_by_what_stood_there() {
    let shop = Shop::new();
    let rows = ["/0", "/a\\ud800", "/a\\ud801"].map(|path| row(path, 1));
    let script = pages([page(&rows, 3, false)]);
    let all = turns(&mut shop.pager(&script, january(3, 0), PLAIN)).await;
    let place = reread(&all[0].position.checkpoint(2));
    for (place, count) in [(january(3, 1), 2), (place, 1)] {
        let rest = export(shop.pager(&script, place, PLAIN)).await.unwrap();
        assert_eq!(
            (rest.paths.len(), rest.findings),
            (count, vec![Finding::Repaired(1)])
        );
    }
}

#[tokio::test]
async fn whole_pages_are_fetched_counted_from_the_beginning() {
    let (shop, site) = (Shop::new(), Site::new(47));
    let script = site.serve();
    let paging = Paging {
        max_rows: Some(3),
        prefetch: 1,
        ..PLAIN
    };
    let some = export(shop.pager(&script, january(10, 13), paging))
        .await
        .unwrap();
    assert_eq!(
        (some.paths.as_slice(), asked(&script)),
        (&site.paths()[13..16], vec![(10, 10)])
    );
    assert_eq!(shop.read(&script, 10).await, site.paths());
    assert_eq!(
        asked(&script),
        [(10, 10), (0, 10), (20, 10), (30, 10), (40, 10)]
    );
}

/// Rows: E1, E2.
#[tokio::test]
async fn a_page_that_breaks_the_paging_rule_is_fetched_again_by_the_next_call() {
    let site = Site::new(25);
    let paths = site.paths();
    let right = |offset: usize| {
        let rows = &paths[offset..paths.len().min(offset + 10)];
        let rows: Vec<_> = rows.iter().map(|path| row(path, 1)).collect();
        page(&rows, 25, offset < 20)
    };
    for faulty in [page(&[], 25, true), right(0)] {
        for prefetch in [0, 1] {
            let shop = Shop::new();
            let bodies = [right(0), faulty.clone(), right(10), right(20)];
            let script = pages(bodies);
            let read = || {
                let paging = Paging { prefetch, ..PLAIN };
                export(shop.pager(&script, january(10, 0), paging))
            };
            assert_eq!(read().await.err().unwrap().kind, Kind::Pagination);
            assert_eq!(script.count(), 2);
            for _ in 0..2 {
                assert_eq!(read().await.unwrap().paths, paths);
                assert_eq!(script.count(), 4);
            }
        }
    }
}

#[tokio::test]
async fn with_refresh_it_is_fetched_again_once() {
    let (shop, script) = (Shop::new(), Site::new(25).serve());
    shop.read(&script, 10).await;
    let place = january(10, 0);
    let source = source::source(shop.client(&script), &place, true);
    for _ in 0..2 {
        // As an engine does that has to begin again.
        export(Pager::new(Arc::clone(&source), place.clone(), PLAIN))
            .await
            .unwrap();
        assert_eq!(script.count(), 6);
    }
    shop.read(&script, 10).await;
    assert_eq!(script.count(), 6);
}

#[tokio::test]
async fn a_listing_of_any_path_is_not_kept() {
    let (shop, script) = (Shop::new(), Site::new(25).serve());
    for _ in 0..2 {
        export(shop.pager(&script, start_json(10), PLAIN))
            .await
            .unwrap();
    }
    assert_eq!(script.count(), 6);
}
