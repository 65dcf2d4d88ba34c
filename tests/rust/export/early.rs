//! The next page is requested before this one is read, if it is certainly needed. Only a page that
//! cannot be used wastes one.

use std::sync::{Arc, Mutex};

use docplatform::client::observer::Observer;
use docplatform::error::{Kind, Result};
use docplatform::export::page::{FetchedPage, PageRequest, Source};
use docplatform::export::pager::{Pager, Paging};
use docplatform::listing::page::{Page, Totals};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::helpers::site::{PLAIN, Site, asked, page, pager, row, start, turn};
use crate::helpers::support::{Script, Step, reply};

const AHEAD: Paging = Paging {
    prefetch: 1,
    ..PLAIN
};

fn rows(numbers: std::ops::Range<u64>) -> Vec<String> {
    numbers
        .map(|number| row(&format!("/{number}"), number))
        .collect()
}

/// A thousand rows, and this instead of the second page of ten.
fn serve(second: impl Fn() -> Step + Send + 'static) -> Arc<Script> {
    Site::new(1000).serve_but(move |offset| (offset == 10).then(&second))
}

/// The first page, which is not known to be plain before it is read, and the one after it.
async fn two_pages(script: &Arc<Script>) -> (Pager, Result<usize>) {
    let mut pager = pager(script, 10, AHEAD);
    turn(&mut pager).await.unwrap().unwrap();
    let second = turn(&mut pager)
        .await
        .map(|page| page.map_or(0, |page| page.rows.len()));
    (pager, second)
}

/// Full pages that promise more, and what was done with them.
#[derive(Default)]
struct Full(Arc<Mutex<Vec<(&'static str, u64)>>>);

impl Source for Full {
    fn fetch(
        self: Arc<Self>,
        wanted: PageRequest,
        more: oneshot::Sender<()>,
        _: Arc<dyn Observer>,
    ) -> BoxFuture<'static, Result<FetchedPage>> {
        let PageRequest { offset, limit, .. } = wanted;
        self.0.lock().unwrap().push(("fetched", offset));
        let done = Arc::clone(&self.0);
        async move {
            let _ = more.send(());
            yield_now().await;
            done.lock().unwrap().push(("read", offset));
            let lines = rows(offset..offset + u64::from(limit));
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let totals = Some(Totals {
                human: 1,
                ai: 1,
                total: 1,
            });
            let page = Page {
                rows: crate::table::columns::rows(&lines),
                totals,
                has_more: true,
                cursor: None,
                repaired: false,
            };
            Ok(FetchedPage::new(page, limit))
        }
        .boxed()
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

/// Rows: E1, E4.
#[tokio::test(start_paused = true)]
async fn pages_that_are_not_full_tell_nothing_before_they_are_read() {
    // The second page: empty, short, too long, with the word for a path where none is.
    let twice = |text: &str| rows(10..18).join(",") + text;
    for odd in [
        page(&[], 1000, true),
        page(&rows(10..19), 1000, true),
        page(&rows(10..25), 1000, true),
        page(
            &[twice(
                r#",{"path":"/\"path\":","human":1,"ai":1,"total":1}"#,
            )],
            1,
            true,
        ),
    ] {
        let script = serve(move || reply(200, odd.clone()).into());
        let _ = two_pages(&script).await;
        let asked = asked(&script);
        assert_eq!(&asked[..2], [(0, 10), (10, 10)]);
        // Later requests take into account what it said.
        assert!(
            asked.len() <= 3 && asked.get(2) != Some(&(20, 10)),
            "{asked:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn braces_in_paths_do_not_stand_for_rows() {
    let mut short = rows(10..19);
    short[0] = row("/users/{id}", 1);
    let script = serve(move || reply(200, page(&short, 1000, true)).into());
    let _ = two_pages(&script).await;
    assert!(!asked(&script).contains(&(20, 10)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_requested_after_the_last_page() {
    let last = page(&rows(10..20), 20, false);
    let nested = last.replacen('{', r#"{"x":{"visitors":[],"hasMore":true},"#, 1);
    for last in [last, nested] {
        let script = serve(move || reply(200, last.clone()).into());
        let (mut pager, second) = two_pages(&script).await;
        assert_eq!(second.unwrap(), 10);
        assert!(turn(&mut pager).await.unwrap().is_none());
        assert_eq!(script.count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_read_costs_at_most_the_one_that_it_promised() {
    let unreadable = page(&rows(10..20), 1000, true).replace(r#""human":13"#, r#""human":-13"#);
    let script = serve(move || reply(200, unreadable.clone()).into());
    let (_, second) = two_pages(&script).await;
    assert_eq!(second.unwrap_err().kind, Kind::Response);
    assert_eq!(asked(&script), [(0, 10), (10, 10), (20, 10)]);
    tokio::task::yield_now().await;
    assert_eq!(script.in_flight(), 0, "and that is dropped");

    for status in [404, 401] {
        let script = serve(move || reply(status, page(&rows(10..20), 1000, true)).into());
        let (_, second) = two_pages(&script).await;
        second.unwrap_err();
        assert_eq!(script.count(), 2, "an error's body promises nothing");
    }
}
