//! Rows for a caller that may leave: none is lost, and if possible none costs a second request.

use std::sync::Arc;
use std::time::Duration;

use docplatform::export::observer::ExportObserver;
use docplatform::export::pager::Turn;
use docplatform::export::service::ServicePages;
use docplatform::export::stream::{ExportStream, Remainder};
use docplatform::table::Table;
use docplatform::table::formats::Format;
use tokio::time::{sleep, timeout};

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
        .records()
        .map(|record| text(&record.row, "path").to_owned())
        .collect()
}

/// Rows: M5.
#[tokio::test(start_paused = true)]
async fn a_table_has_all_rows_and_the_checkpoint_after_them_however_pages_are_capped() {
    let caps = [1, 50, 249].map(|cap| ("capped", Site::new(1000).capped(cap), 250));
    for (name, site, page_size) in sites().into_iter().chain(caps) {
        let script = site.serve();
        let mut stream = stream(&script, page_size);
        stream.gather(all(page_size), &observer()).await.unwrap();
        let table = stream.table().await.unwrap();
        assert_eq!(paths(&table), site.paths(), "{name}");
        let last = stream.arrived().unwrap();
        assert!(reread(&last.behind(last.rows())).done, "{name}");
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

/// Rows: I4.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_left_is_continued_by_the_next_one_without_a_request() {
    let site = Site::new(47);
    let script = stalls_at(30, &site);
    let mut stream = stream(&script, 10);
    // In the middle of a request.
    timeout(secs(1), stream.gather(all(10), &observer()))
        .await
        .unwrap_err();
    assert_eq!(script.count(), 4);
    stream.gather(all(10), &observer()).await.unwrap();
    assert_eq!(script.count(), 4 + 2);
    // While the table is made, and after that.
    let _ = timeout(Duration::ZERO, stream.table()).await;
    for _ in 0..2 {
        stream.gather(all(10), &observer()).await.unwrap();
        assert_eq!(paths(&stream.table().await.unwrap()), site.paths());
    }
    assert_eq!(script.count(), 4 + 2);
}

/// Takes all pages that are left.
async fn take_all(stream: &mut ExportStream) -> Vec<Turn> {
    let mut turns = Vec::new();
    loop {
        stream.peek(&observer()).await.unwrap();
        let Some(turn) = stream.take() else {
            return turns;
        };
        turns.push(turn);
    }
}

/// Rows: I4, M5.
#[tokio::test(start_paused = true)]
async fn after_a_call_that_was_left_its_rows_come_again_with_every_place_and_without_a_request() {
    let caps = [1, 50, 249].map(|cap| ("capped", Site::new(1000).capped(cap), 250));
    for (name, site, page_size) in sites().into_iter().chain(caps) {
        for (spent, finished) in [(0, false), (3, false), (0, true), (3, true)] {
            let script = site.serve();
            let all = turns(&mut pager_at(&script, start(page_size), PLAIN)).await;
            let needed = script.count();
            let middle = if finished {
                u64::MAX
            } else {
                all[all.len() / 2].mark.offset()
            };
            let script = stalls_at(middle, &site);
            let mut stream = stream(&script, page_size);
            let spent = spent.min(all[0].rows.len());
            // Some rows of the first page were handed out before.
            stream.peek(&observer()).await.unwrap();
            let mut first = stream.take().unwrap();
            let rest: Vec<_> = (0..).take(first.rows.len()).skip(spent).collect();
            first.rows.select(&rest);
            let left = Remainder {
                place: first.mark.behind(spent),
                paging: PLAIN,
                rest: Some(first),
            };
            let left = timeout(secs(1), stream.gather(left, &observer())).await;
            assert_eq!(left.is_ok(), finished || all.len() == 1, "{name}");
            // A frame that was being made is given up, too.
            if finished {
                let _ = timeout(Duration::ZERO, stream.table()).await;
            }
            let again = take_all(&mut stream).await;
            assert_eq!(
                script.count(),
                needed + usize::from(!finished),
                "{name}: nothing is asked for again"
            );
            assert_eq!(again.len(), all.len(), "{name}");
            for (at, (turn, again)) in all.iter().zip(&again).enumerate() {
                let spent = if at == 0 { spent } else { 0 };
                assert_eq!(names(&turn.rows)[spent..], names(&again.rows), "{name}");
                assert_eq!(turn.mark.shape(), again.mark.shape(), "{name}");
                // A checkpoint is some 8 KB of text: of long exports, some of the places.
                let every = if page_size < 250 { 1 } else { 83 };
                for handed in (0..=turn.rows.len()).step_by(every) {
                    let (was, is) = (turn.mark.behind(handed), reread(&again.mark.behind(handed)));
                    assert_eq!(
                        (was.offset, was.rows, was.done),
                        (is.offset, is.rows, is.done),
                        "{name}"
                    );
                    if page_size < 250 && handed % 3 == spent {
                        let rest = export(pager_at(&site.serve(), is, PLAIN))
                            .await
                            .unwrap()
                            .paths;
                        assert_eq!(
                            rest,
                            site.paths()[usize::try_from(was.rows).unwrap()..],
                            "{name}"
                        );
                    }
                }
            }
        }
    }
}

/// Rows: I4.
#[tokio::test(start_paused = true)]
async fn rows_that_come_again_may_go_into_the_next_table_or_file() {
    let site = Site::new(47);
    let script = stalls_at(30, &site);
    let mut stream = stream(&script, 10);
    timeout(secs(1), stream.gather(all(10), &observer()))
        .await
        .unwrap_err();
    stream.peek(&observer()).await.unwrap();
    let first = stream.take().unwrap();
    let behind = || Remainder {
        place: first.mark.behind(10),
        paging: PLAIN,
        rest: None,
    };
    let _ = timeout(Duration::ZERO, stream.gather(behind(), &observer())).await;
    stream.gather(behind(), &observer()).await.unwrap();
    assert_eq!(paths(&stream.table().await.unwrap()), site.paths()[10..]);
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("file");
    let written = stream
        .write(behind(), target, Format::JsonLines, &observer())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((written.rows, script.count()), (37, 4 + 2));
}

/// Rows: I4.
#[tokio::test(start_paused = true)]
async fn after_a_file_that_was_left_rows_start_again_where_it_began() {
    let site = Site::new(47);
    let directory = tempfile::tempdir().unwrap();
    let script = stalls_at(30, &site);
    let mut stream = stream(&script, 10);
    let (target, observer) = (directory.path().join("file"), observer());
    let writing = stream.write(all(10), target, Format::JsonLines, &observer);
    assert!(timeout(secs(1), writing).await.is_err());
    let found = take_all(&mut stream).await;
    assert_eq!(
        found
            .iter()
            .flat_map(|turn| names(&turn.rows))
            .collect::<Vec<_>>(),
        site.paths()
    );
    sleep(secs(1)).await;
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "and no file is left"
    );
}

/// Rows: E10.
#[tokio::test(start_paused = true)]
async fn what_came_before_an_error_is_a_table_with_its_checkpoint() {
    let site = Site::new(47);
    let script = site.serve_but(|offset| (offset == 30).then(|| bare(404)));
    for delivered in [true, false] {
        let mut stream = stream(&script, 10);
        stream.gather(all(10), &observer()).await.unwrap_err();
        let table = stream.partial().await.unwrap();
        assert_eq!(paths(&table), site.paths()[..30]);
        if delivered {
            let last = stream.arrived().unwrap();
            let rest = pager_at(&site.serve(), reread(&last.behind(last.rows())), PLAIN);
            assert_eq!(export(rest).await.unwrap().paths, site.paths()[30..]);
        }
        // A caller that did not get it finds its rows where they were.
        let asked = script.count();
        let again = stream
            .peek(&observer())
            .await
            .map(|()| stream.front().map(|turn| names(&turn.rows)));
        assert_eq!(
            again.ok(),
            (!delivered).then(|| Some(site.paths()[..10].to_vec()))
        );
        assert_eq!(script.count(), asked + usize::from(delivered));
    }
}
