//! The memory of a collected export, however the service caps its pages. Each case is a process of
//! its own.

use std::process::Stdio;
use std::sync::Arc;

use docplatform::client::observer::Observer;
use docplatform::error::Result;
use docplatform::export::observer::ExportObserver;
use docplatform::export::page::{FetchedPage, PageRequest, Source};
use docplatform::export::stream::{ExportStream, Remainder};
use docplatform::listing::columns::Cell;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::page::{Page, Totals};
use docplatform::listing::rows::RowsBuilder;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::helpers::site::{PLAIN, start};
use crate::helpers::support::{Recorder, process};

const CAP: &str = "DOCPLATFORM_TEST_CAP";
const ROWS: u64 = 1_000_000;

/// A service that sends no page with more rows than this.
struct Capped(u64);

impl Source for Capped {
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        _more: oneshot::Sender<()>,
        _observer: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>> {
        let end = (wanted.offset + u64::from(wanted.limit).min(self.0)).min(ROWS);
        async move {
            let mut rows = RowsBuilder::new(VISITORS.fields, VISITORS.key, 0);
            for number in wanted.offset..end {
                let path = format!("/docs/section/page-{number:07}");
                rows.push([
                    Cell::Text(&path),
                    Cell::Integer(1),
                    Cell::Integer(2),
                    Cell::Integer(3),
                ]);
            }
            let totals = Some(Totals {
                human: 1,
                ai: 2,
                total: 3,
            });
            let page = Page {
                rows: rows.finish(),
                totals,
                has_more: end < ROWS,
                cursor: None,
                repaired: false,
            };
            Ok(FetchedPage::new(page, wanted.limit))
        }
        .boxed()
    }
}

/// The most memory that the process has taken, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 1024
}

#[tokio::test]
#[ignore = "a process of the next test"]
async fn child_that_collects() {
    let cap = std::env::var(CAP).unwrap();
    let place = start(250);
    let mut stream =
        ExportStream::new(Arc::new(Capped(cap.parse().unwrap())), place.clone(), PLAIN);
    let observer: Arc<dyn ExportObserver> = Arc::new(Recorder::default());
    let before = peak();
    let (table, _) = stream
        .gather(
            Remainder {
                place,
                paging: PLAIN,
                rest: None,
            },
            &observer,
        )
        .await
        .unwrap();
    assert_eq!(table.len() as u64, ROWS);
    let taken = peak() - before;
    let batches = table.reader().unwrap();
    let of_table: usize = batches
        .map(|batch| batch.unwrap().get_array_memory_size())
        .sum();
    assert!(
        taken < 2 * of_table,
        "{cap} rows a page: {taken} bytes for a table of {of_table}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_collected_export_takes_less_than_twice_its_table_however_pages_are_capped() {
    let children = ["1", "50", "249"].map(|cap| {
        process("export::memory::child_that_collects")
            .env(CAP, cap)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    });
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stdout)
        );
    }
}
