//! Exports in the store: fetched once, resumed where they stopped, and fetched again on request.

use std::sync::Arc;

use docplatform::clock::{Clock, Millis};
use docplatform::error::{Kind, Result};
use docplatform::listing::endpoint::PagedBy;
use docplatform::listing::page::Totals;
use docplatform::store::{ClientStore, Content, Exports, Range, Store, StoredPage, StoredRange};
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::budget::ledger::{key, opened, owner};
use crate::helpers::support::{Hands, KEY};

const DAY: Millis = 24 * 3_600_000;
const NOW: Millis = 20_000 * DAY;

/// A store with a clock that the test sets.
struct Shop {
    _directory: TempDir,
    store: Store,
    hands: Hands,
    exports: Exports,
}

fn shop() -> Shop {
    let (directory, _path, store) = opened();
    let hands = Hands::at(NOW);
    let client = ClientStore {
        store: store.clone(),
        clock: hands.clock(),
        owner: owner(key(KEY)),
    };
    Shop {
        _directory: directory,
        store,
        hands,
        exports: Exports::new(Arc::new(client)),
    }
}

impl Shop {
    fn page(&self, offset: u64, asked: u32, rows: u64, has_more: bool) -> StoredPage {
        let body = format!("{{\"offset\": {offset}}}").repeat(20).into_bytes();
        StoredPage {
            offset,
            asked,
            rows,
            has_more,
            seen: self.hands.now(),
            body,
        }
    }

    async fn put(&self, export: i64, page: StoredPage, totals: Option<Totals>) -> Result<bool> {
        self.exports
            .put(export, page, totals, self.hands.now(), None, ())
            .await
    }

    /// The number of finished exports.
    async fn finished(&self) -> i64 {
        let count = "SELECT count(*) FROM export WHERE finished IS NOT NULL";
        let look =
            |connection: &mut Connection| Ok(connection.query_row(count, [], |row| row.get(0))?);
        self.store.run(look).await.unwrap()
    }

    /// The stored exports of `range` in pages of 250.
    async fn stored_range(&self, range: &Range) -> StoredRange {
        self.exports
            .stored_range(range.clone(), Content::Pages, 250)
            .await
            .unwrap()
    }

    /// Begins or resumes, and fetches the pages that are missing; says how many those were.
    async fn fetch(&self, range: &Range, pages: u64, refresh: bool) -> u64 {
        let export = self
            .exports
            .begin(range.clone(), Content::Pages, 250, refresh)
            .await
            .unwrap();
        if export.finished.is_some() {
            return 0;
        }
        let mut fetched = 0;
        for number in export.pages..pages {
            let last = number + 1 == pages;
            let page = self.page(number * 250, 250, if last { 7 } else { 250 }, !last);
            assert_eq!(self.put(export.id, page, Some(TOTALS)).await.unwrap(), last);
            fetched += 1;
        }
        fetched
    }
}

const TOTALS: Totals = Totals {
    human: 3,
    ai: 2,
    total: 4,
};

/// A range that settled long ago.
fn settled() -> Range {
    Range {
        project_id: Some("demo".to_owned()),
        path: "/v1/analytics/{project_id}/visitors".to_owned(),
        date_from: Some("2024-01-01".to_owned()),
        date_to: Some("2024-02-01".to_owned()),
        settles: Some(NOW - 100 * DAY),
        paged_by: PagedBy::Offset,
    }
}

/// One that may still change.
fn open() -> Range {
    Range {
        date_to: None,
        settles: None,
        ..settled()
    }
}

#[tokio::test]
async fn refresh_fetches_again_and_keeps_the_older_one() {
    let shop = shop();
    shop.fetch(&settled(), 2, false).await;
    assert_eq!(shop.fetch(&settled(), 3, true).await, 3);
    assert_eq!(
        shop.stored_range(&settled()).await.finished.unwrap().pages,
        3,
        "the latest is what one gets"
    );
    assert_eq!(shop.finished().await, 2);
}

#[tokio::test]
async fn a_rejected_page_is_the_next_one_to_fetch() {
    let shop = shop();
    shop.fetch(&settled(), 3, false).await;
    let whole = shop.stored_range(&settled()).await.finished.unwrap();
    // No page begins there.
    shop.exports.reject(whole.id, 499).await.unwrap();
    assert!(shop.stored_range(&settled()).await.finished.is_some());
    shop.exports.reject(whole.id, 250).await.unwrap();
    let stored = shop.stored_range(&settled()).await;
    let rest = stored.unfinished.unwrap();
    assert_eq!((stored.finished, rest.id, rest.next), (None, whole.id, 250));
    let page = shop.page(250, 250, 250, true);
    assert!(shop.put(rest.id, page, None).await.unwrap(), "it is whole");
    assert_eq!(shop.fetch(&settled(), 3, false).await, 0);
}

#[tokio::test]
async fn one_that_a_later_one_has_overtaken_is_not_taken_up() {
    let shop = shop();
    shop.exports
        .begin(open(), Content::Pages, 250, false)
        .await
        .unwrap();
    shop.fetch(&open(), 2, true).await;
    assert_eq!(shop.stored_range(&open()).await.unfinished, None);
}

#[tokio::test]
async fn another_page_size_goes_on_with_nothing_but_has_what_is_whole() {
    let shop = shop();
    let export = shop
        .exports
        .begin(settled(), Content::Pages, 100, false)
        .await
        .unwrap();
    shop.put(export.id, shop.page(0, 100, 100, true), None)
        .await
        .unwrap();
    assert_eq!(shop.stored_range(&settled()).await, StoredRange::default());
    shop.put(export.id, shop.page(100, 100, 3, false), None)
        .await
        .unwrap();
    assert_eq!(
        shop.stored_range(&settled())
            .await
            .finished
            .unwrap()
            .page_size,
        100
    );
}

#[tokio::test]
async fn a_page_that_was_fetched_twice_is_kept_once() {
    let shop = shop();
    let begin = || shop.exports.begin(settled(), Content::Pages, 250, false);
    let (first, second) = (begin().await.unwrap(), begin().await.unwrap());
    assert_eq!(first.id, second.id);
    shop.put(first.id, shop.page(0, 250, 250, true), Some(TOTALS))
        .await
        .unwrap();
    let other = StoredPage {
        body: b"{}".to_vec(),
        ..shop.page(0, 250, 249, true)
    };
    shop.put(
        second.id,
        other,
        Some(Totals {
            human: 0,
            ai: 0,
            total: 0,
        }),
    )
    .await
    .unwrap();
    assert_eq!(
        shop.exports.page(first.id, 0).await.unwrap().unwrap().rows,
        250
    );
    assert_eq!(
        shop.stored_range(&settled())
            .await
            .unfinished
            .unwrap()
            .totals,
        Some(TOTALS)
    );
    // One that was cut short by the rows that were wanted gives way.
    shop.put(first.id, shop.page(250, 10, 10, true), None)
        .await
        .unwrap();
    shop.put(first.id, shop.page(250, 250, 250, true), None)
        .await
        .unwrap();
    assert_eq!(
        shop.stored_range(&settled()).await.unfinished.unwrap().next,
        500
    );
}

#[tokio::test]
async fn a_finished_export_keeps_its_pages() {
    let shop = shop();
    shop.fetch(&settled(), 1, false).await;
    let before = shop.stored_range(&settled()).await.finished.unwrap();
    // Another call asked for the page at the same time, and more rows came.
    assert!(
        shop.put(before.id, shop.page(0, 300, 300, true), None)
            .await
            .unwrap()
    );
    assert_eq!(
        shop.stored_range(&settled()).await.finished.as_ref(),
        Some(&before)
    );
    assert_eq!(
        shop.exports.page(before.id, 0).await.unwrap().unwrap().rows,
        7
    );
}

#[tokio::test]
async fn totals_are_an_export_of_one_request() {
    let shop = shop();
    let begin = || shop.exports.begin(settled(), Content::Totals, 1, false);
    let export = begin().await.unwrap();
    assert!(
        shop.put(export.id, shop.page(0, 1, 1, true), Some(TOTALS))
            .await
            .unwrap()
    );
    let finished = begin().await.unwrap();
    assert_eq!((finished.totals, finished.pages), (Some(TOTALS), 1));
    assert_eq!(
        shop.stored_range(&settled()).await,
        StoredRange::default(),
        "its rows are not in the store"
    );
}

#[tokio::test]
async fn what_differs_in_anything_is_another_range() {
    let shop = shop();
    shop.fetch(&settled(), 1, false).await;
    for other in [
        Range {
            project_id: None,
            ..settled()
        },
        Range {
            project_id: Some("other".to_owned()),
            ..settled()
        },
        Range {
            path: "/v1/analytics/{project_id}/views".to_owned(),
            ..settled()
        },
        Range {
            date_from: None,
            ..settled()
        },
        Range {
            date_from: Some("2024-01-02".to_owned()),
            ..settled()
        },
        Range {
            date_to: Some("2024-02-02".to_owned()),
            ..settled()
        },
    ] {
        assert_eq!(
            shop.stored_range(&other).await,
            StoredRange::default(),
            "{other:?}"
        );
    }
    let owner = owner(key("dp_another"));
    let other = Exports::new(Arc::new(ClientStore {
        store: shop.store.clone(),
        clock: Clock::system(),
        owner,
    }));
    assert_eq!(
        other
            .stored_range(settled(), Content::Pages, 250)
            .await
            .unwrap(),
        StoredRange::default()
    );
}

#[tokio::test]
async fn what_a_person_deletes_is_gone() {
    let shop = shop();
    shop.fetch(&settled(), 3, false).await;
    let unfinished = shop
        .exports
        .begin(open(), Content::Pages, 250, false)
        .await
        .unwrap();
    let other = Connection::open(shop.store.path()).unwrap();
    // As the shell of SQLite does.
    other
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM export")
        .unwrap();
    let left: i64 = other
        .query_row("SELECT count(*) FROM page", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
    drop(other);
    assert_eq!(shop.stored_range(&settled()).await, StoredRange::default());
    let error = shop
        .put(unfinished.id, shop.page(0, 250, 1, false), None)
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::Store);
    assert!(error.to_string().contains("deleted"), "{error}");
}

#[tokio::test]
async fn damage_is_an_error() {
    for sql in [
        "UPDATE page SET body = x'00'",
        "UPDATE export SET page_size = 0",
    ] {
        let shop = shop();
        shop.fetch(&settled(), 1, false).await;
        shop.store
            .run(move |connection| Ok(connection.execute(sql, [])?))
            .await
            .unwrap();
        let page = async {
            let stock = shop
                .exports
                .stored_range(settled(), Content::Pages, 250)
                .await?;
            shop.exports.page(stock.finished.unwrap().id, 0).await
        };
        let error = page.await.unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}

/// A body as the service sends them.
fn body(page: u64) -> Vec<u8> {
    let row = |number: u64| {
        let (human, ai) = (
            number.wrapping_mul(7919) % 5000,
            number.wrapping_mul(104_729) % 900,
        );
        let path = format!("/docs/guide/section-{}/page-{number}", number % 37);
        format!(
            r#"{{"path":"{path}","human":{human},"ai":{ai},"total":{}}}"#,
            human + ai
        )
    };
    let rows: Vec<_> = (page * 250..page * 250 + 250).map(row).collect();
    let totals = r#""totals":{"human":1,"ai":1,"total":2}"#;
    format!(
        r#"{{{totals},"visitors":[{}],"hasMore":true}}"#,
        rows.join(",")
    )
    .into_bytes()
}

#[tokio::test]
async fn a_row_takes_less_than_sixty_bytes() {
    let shop = shop();
    let export = shop
        .exports
        .begin(settled(), Content::Pages, 250, false)
        .await
        .unwrap()
        .id;
    let pages = 200;
    for number in 0..pages {
        let page = StoredPage {
            body: body(number),
            ..shop.page(number * 250, 250, 250, number + 1 < pages)
        };
        shop.put(export, page, None).await.unwrap();
    }
    let size: i64 = shop
        .store
        .run(|c| {
            Ok(c.query_row(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                [],
                |row| row.get(0),
            )?)
        })
        .await
        .unwrap();
    let a_row = size.unsigned_abs() / (pages * 250);
    assert!(a_row < 60, "{a_row} bytes a row");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the pages of an export come in, and however often: it is whole with the last one
    /// that was missing.
    #[test]
    fn an_export_is_whole_when_nothing_is_missing(
        pages in 1..12_u64,
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let shop = shop();
            let export = shop.exports.begin(settled(), Content::Pages, 250, false).await.unwrap().id;
            let mut missing: std::collections::BTreeSet<_> = (0..pages).collect();
            let order = order.iter().map(|index| index.index(usize::try_from(pages).unwrap()) as u64);
            for number in order.chain(0..pages) {
                missing.remove(&number);
                let page = shop.page(number * 250, 250, 250, number + 1 < pages);
                let whole = shop.put(export, page, None).await.unwrap();
                assert_eq!(whole, missing.is_empty());
            }
        });
    }
}
