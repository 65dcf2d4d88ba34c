//! Rows for a caller that may leave: none is lost.

use std::sync::Arc;

use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::CheckedPage;
use docplatform::export::service::ServicePages;
use docplatform::export::stream::{ExportStream, Remainder};
use docplatform::table::Table;
use tokio::time::timeout;

use crate::export::resume::{reread, sites, turns};
use crate::helpers::site::{PLAIN, Site, export, names, pager_at, start, text};
use crate::helpers::support::{Recorder, Script, Step, bare, client, secs};

fn stream(script: &Arc<Script>, page_size: u32) -> ExportStream {
    let place = start(page_size);
    let source = Arc::new(ServicePages::new(client(script), place.listing.clone()));
    ExportStream::new(source, place, PLAIN)
}

fn observer() -> Arc<dyn ExportObserver> {
    Arc::new(Recorder::default())
}

/// All of an export that began at the beginning.
fn all(page_size: u32) -> Remainder {
    Remainder {
        place: start(page_size),
        paging: PLAIN,
        rest: None,
    }
}

fn paths(table: &Table) -> Vec<String> {
    table
        .rows()
        .map(|row| text(&row, "path").to_owned())
        .collect()
}

/// Rows: M5.
#[tokio::test(start_paused = true)]
async fn a_table_has_all_rows_and_the_checkpoint_after_them_however_pages_are_capped() {
    let caps = [1, 50, 249].map(|cap| ("capped", Site::new(1000).capped(cap), 250));
    for (name, site, page_size) in sites().into_iter().chain(caps) {
        let script = site.serve();
        let mut stream = stream(&script, page_size);
        let (table, error) = stream.gather(all(page_size), &observer()).await.unwrap();
        assert!(error.is_none(), "{name}");
        assert_eq!(paths(&table), site.paths(), "{name}");
        let last = stream.arrived().unwrap();
        assert!(reread(&last.checkpoint(last.rows())).done, "{name}");
        stream.peek(&observer()).await.unwrap();
        assert!(stream.front().is_none(), "{name}: all of it has arrived");
    }
}

/// A site whose page at `offset` never comes the first time.
fn stalls_at(offset: u64, site: &Site) -> Arc<Script> {
    let mut stalled = false;
    site.serve_but(move |asked| {
        (asked == offset && !std::mem::replace(&mut stalled, true)).then_some(Step::Never)
    })
}

/// Takes all pages that are left.
async fn take_all(stream: &mut ExportStream) -> Vec<CheckedPage> {
    let mut turns = Vec::new();
    loop {
        stream.peek(&observer()).await.unwrap();
        let Some(turn) = stream.take() else {
            return turns;
        };
        turns.push(turn);
    }
}

/// Rows: I4.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_given_up_leaves_its_rows_to_the_next() {
    for (name, site, page_size) in sites() {
        let all = turns(&mut pager_at(&site.serve(), start(page_size), PLAIN)).await;
        for is_ended in [false, true] {
            let middle = match is_ended {
                true => u64::MAX,
                false => all[all.len() / 2].position.offset(),
            };
            let mut stream = stream(&stalls_at(middle, &site), page_size);
            stream.peek(&observer()).await.unwrap();
            let mut first = stream.take().unwrap();
            // Some rows of the first page were handed out before.
            let spent = first.rows.len().min(3);
            let rest: Vec<_> = (0..).take(first.rows.len()).skip(spent).collect();
            first.rows.select(&rest);
            let left = |rest| Remainder {
                place: all[0].position.checkpoint(spent),
                paging: PLAIN,
                rest,
            };
            let gathered = timeout(secs(1), stream.gather(left(Some(first)), &observer())).await;
            assert_eq!(gathered.is_ok(), is_ended || all.len() == 1, "{name}");
            let again = stream.gather(left(None), &observer()).await.unwrap().0;
            assert_eq!(paths(&again), site.paths()[spent..], "{name}");
            // The caller did not get them either.
            let again = take_all(&mut stream).await;
            let again: Vec<_> = again.iter().flat_map(|turn| names(&turn.rows)).collect();
            assert_eq!(again, site.paths()[spent..], "{name}");
        }
    }
}

/// Rows: E10.
#[tokio::test(start_paused = true)]
async fn what_came_before_an_error_is_a_table_with_its_checkpoint() {
    let site = Site::new(47);
    let script = site.serve_but(|offset| (offset == 30).then(|| bare(404)));
    for delivered in [true, false] {
        let mut stream = stream(&script, 10);
        let (table, error) = stream.gather(all(10), &observer()).await.unwrap();
        assert_eq!(error.unwrap().status, Some(404));
        assert_eq!(paths(&table), site.paths()[..30]);
        if delivered {
            let last = stream.arrived().unwrap();
            let rest = pager_at(&site.serve(), reread(&last.checkpoint(last.rows())), PLAIN);
            assert_eq!(export(rest).await.unwrap().paths, site.paths()[30..]);
        }
        // A caller that did not get it finds its rows where they were.
        let again = stream
            .peek(&observer())
            .await
            .map(|()| stream.front().map(|turn| names(&turn.rows)));
        assert_eq!(
            again.ok(),
            (!delivered).then(|| Some(site.paths()[..10].to_vec()))
        );
    }
}
