//! The next page is requested before this one is read, if it is certainly needed: no request is ever wasted.

use std::sync::{Arc, Mutex};

use docplatform::client::observer::Observer;
use docplatform::error::{Kind, Result};
use docplatform::export::pager::{Fetched, Pager, Paging, Source, Wanted};
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::{Page, Rows, Totals};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::helpers::site::{PLAIN, asked, export, page, pager, row, start, turn};
use crate::helpers::support::{Script, Step, query, reply};

const AHEAD: Paging = Paging { prefetch: 1, ..PLAIN };

/// Numbered rows, as the service spells them: without a space.
fn rows(numbers: std::ops::Range<u64>) -> Vec<String> {
    numbers.map(|number| row(&format!("/{number}"), number).replace(' ', "")).collect()
}

fn body(rows: &[String], total: u64, has_more: bool) -> String {
    page(rows, total, has_more).replace(' ', "")
}

/// `all` rows in pages of ten, or what `other` says of an offset.
fn serve(all: u64, other: impl Fn(u64) -> Option<String> + Send + 'static) -> Arc<Script> {
    Script::each(move |request| -> Step {
        let number = |name| query(&request.url, name).unwrap();
        let offset = number("offset");
        let end = (offset + number("limit")).min(all);
        let usual = || body(&rows(offset..end), all, end < all);
        reply(200, other(offset).unwrap_or_else(usual)).into()
    })
}

/// The first page, which is not known to be plain before it is read, and the one after it.
async fn two_pages(script: &Arc<Script>, paging: Paging) -> (Pager, Result<usize>) {
    let mut pager = pager(script, 10, paging);
    turn(&mut pager).await.unwrap().unwrap();
    let second = turn(&mut pager).await.map(|page| page.map_or(0, |page| page.rows.len()));
    (pager, second)
}

/// Full pages that promise more, and what was done with them.
#[derive(Default)]
struct Full(Arc<Mutex<Vec<(&'static str, u64)>>>);

impl Source for Full {
    fn fetch(&self, wanted: Wanted, _: Arc<dyn Observer>) -> BoxFuture<'static, Result<Fetched>> {
        let Wanted { offset, limit, .. } = wanted;
        self.0.lock().unwrap().push(("fetched", offset));
        let done = Arc::clone(&self.0);
        let decode = move || {
            done.lock().unwrap().push(("read", offset));
            let lines = rows(offset..offset + u64::from(limit));
            let mut rows = Rows::new(VISITORS.fields, VISITORS.key);
            for line in &lines {
                rows.read_line(line.as_bytes()).unwrap();
            }
            let totals = Some(Totals { human: 1, ai: 1, total: 1 });
            Ok(Page { rows, totals, has_more: true, cursor: None, repaired: false })
        };
        async move { Ok(Fetched { limit, promises_more: true, decode: Box::new(decode) }) }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_request_goes_out_before_the_page_is_read() {
    for prefetch in [0, 1] {
        let done = Arc::default();
        let source = Arc::new(Full(Arc::clone(&done)));
        let mut pager = Pager::new(source, start(10), Paging { prefetch, ..PLAIN });
        for _ in 0..2 {
            turn(&mut pager).await.unwrap();
        }
        let mut expected = vec![("fetched", 0), ("read", 0), ("fetched", 10), ("read", 10)];
        if prefetch == 1 {
            expected.insert(3, ("fetched", 20));
        }
        assert_eq!(*done.lock().unwrap(), expected, "prefetch {prefetch}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_export_costs_what_it_costs_without() {
    for all in [0, 1, 9, 10, 11, 20, 95, 100] {
        let mut expected = None;
        for prefetch in [0, 1] {
            let script = serve(all, |_| None);
            let paths = export(pager(&script, 10, Paging { prefetch, ..PLAIN })).await.unwrap().paths;
            assert_eq!(paths.len() as u64, all);
            let asked = asked(&script);
            assert_eq!(*expected.get_or_insert_with(|| asked.clone()), asked, "{all} rows");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn max_rows_are_kept_to() {
    for (max_rows, expected) in [
        (10, vec![(0, 10)]),
        (20, vec![(0, 10), (10, 10)]),
        (25, vec![(0, 10), (10, 10), (20, 5)]),
        (30, vec![(0, 10), (10, 10), (20, 10)]),
    ] {
        let script = serve(1000, |_| None);
        let paging = Paging { max_rows: Some(max_rows), ..AHEAD };
        assert_eq!(export(pager(&script, 10, paging)).await.unwrap().paths.len() as u64, max_rows);
        assert_eq!(asked(&script), expected);
    }
}

/// Rows: E2.
#[tokio::test(start_paused = true)]
async fn the_same_page_again_is_the_last_that_is_asked_for() {
    let script = serve(1000, |_| Some(body(&rows(0..10), 1000, true)));
    let (_, second) = two_pages(&script, AHEAD).await;
    assert_eq!(second.unwrap_err().kind, Kind::Pagination);
    assert_eq!(script.count(), 2);
}

/// Rows: E1, E4.
#[tokio::test(start_paused = true)]
async fn pages_that_are_not_full_tell_nothing_before_they_are_read() {
    // The second page: empty, short, too long, with the word for a path where none is.
    let twice = |text: &str| rows(10..19).join(",") + text;
    for odd in [
        body(&[], 1000, true),
        body(&rows(10..19), 1000, true),
        body(&rows(10..25), 1000, true),
        body(
            &[twice(
                r#",{"path":"/\"path\":","human":1,"ai":1,"total":1},{"path":"/x","human":1,"ai":1,"total":1}"#,
            )],
            1,
            true,
        ),
    ] {
        let script = serve(1000, move |offset| (offset == 10).then(|| odd.clone()));
        let mut pager = pager(&script, 10, AHEAD);
        turn(&mut pager).await.unwrap().unwrap();
        let _ = turn(&mut pager).await;
        let asked = asked(&script);
        assert_eq!(&asked[..2], [(0, 10), (10, 10)]);
        // What is requested after it is requested with what it said in mind.
        assert!(asked.len() <= 3 && asked.get(2) != Some(&(20, 10)), "{asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_requested_after_the_last_page() {
    let nested = body(&rows(10..20), 20, false).replacen('{', r#"{"x":{"visitors":[],"hasMore":true},"#, 1);
    for last in [body(&rows(10..20), 20, false), nested] {
        let script = serve(1000, move |offset| (offset == 10).then(|| last.clone()));
        let (mut pager, second) = two_pages(&script, AHEAD).await;
        assert_eq!(second.unwrap(), 10);
        assert!(turn(&mut pager).await.unwrap().is_none());
        assert_eq!(script.count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_read_costs_at_most_the_one_that_it_promised() {
    let script = serve(1000, |offset| {
        (offset == 10).then(|| body(&rows(10..20), 1000, true).replace(r#""human":13"#, r#""human":-13"#))
    });
    let (_, second) = two_pages(&script, AHEAD).await;
    assert_eq!(second.unwrap_err().kind, Kind::Response);
    assert_eq!(asked(&script), [(0, 10), (10, 10), (20, 10)]);
    tokio::task::yield_now().await;
    assert_eq!(script.in_flight(), 0, "and that is dropped");

    for status in [404, 401] {
        let script = Script::each(move |request| match query(&request.url, "offset").unwrap() {
            10 => reply(status, body(&rows(10..20), 1000, true)).into(),
            offset => reply(200, body(&rows(offset..offset + 10), 1000, true)).into(),
        });
        let (_, second) = two_pages(&script, AHEAD).await;
        second.unwrap_err();
        assert_eq!(script.count(), 2, "an error's body promises nothing");
    }
}
