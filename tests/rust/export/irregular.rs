//! Services that break the paging rule: short pages, long pages, no progress (reliability.md, E1 to E4).

use std::sync::Arc;

use docplatform::error::{Error, Kind};
use docplatform::export::findings::Finding;
use docplatform::export::pager::Paging;

use crate::export::resume::{reread, turns};
use crate::helpers::site::{
    PLAIN, Site, asked, export, names, page, pager, pager_at, pages, row, start, start_json, turn,
};
use crate::helpers::support::{Script, query, reply};

const STRICT: Paging = Paging {
    strict: true,
    ..PLAIN
};

async fn fails(script: &Arc<Script>, page_size: u32, paging: Paging) -> Error {
    export(pager(script, page_size, paging))
        .await
        .err()
        .expect("the export should fail")
}

/// Rows: E4.
#[tokio::test(start_paused = true)]
async fn a_service_that_caps_its_pages_is_followed_row_by_row() {
    for prefetch in [0, 1, 3] {
        let site = Site::new(500).capped(50);
        let script = site.serve();
        let export = export(pager(&script, 250, Paging { prefetch, ..PLAIN }))
            .await
            .unwrap();
        assert_eq!(export.paths, site.paths());
        assert_eq!(
            export.findings,
            [Finding::Irregular {
                received: 50,
                limit: 250
            }],
            "told once"
        );
        assert!(
            export.warnings[0].contains("sent 50 rows instead of 250"),
            "{:?}",
            export.warnings
        );
        let sent = asked(&script);
        let wasted = sent.len() - 10;
        assert!(
            wasted < prefetch.max(1) as usize,
            "{wasted} requests wasted: {sent:?}"
        );
    }
}

/// Rows: E4, E5.
#[tokio::test(start_paused = true)]
async fn rows_that_many_pages_bring_again_are_still_known() {
    // A twentieth is shown, so each row stands in some twenty pages: more than are remembered.
    let site = Site::new(2000).filtered(|n| n % 20 == 0);
    let script = site.serve();
    let mut all = Vec::new();
    let mut pager = pager(&script, 250, PLAIN);
    while let Ok(Some(turn)) = turn(&mut pager).await {
        all.extend(names(&turn.rows));
    }
    let mut once = all.clone();
    once.sort();
    once.dedup();
    assert!(
        all.len() == once.len() && all.len() > 90,
        "{} rows, {} of them once",
        all.len(),
        once.len()
    );
}

/// Rows: E5.
#[tokio::test(start_paused = true)]
async fn a_page_that_is_longer_than_asked_for_loses_and_doubles_no_row() {
    for prefetch in [0, 1, 3] {
        let site = Site::new(100).at_least(25);
        let script = site.serve();
        let export = export(pager(&script, 10, Paging { prefetch, ..PLAIN }))
            .await
            .unwrap();
        assert_eq!(export.paths, site.paths());
        assert_eq!(
            export.findings,
            [Finding::Irregular {
                received: 25,
                limit: 10
            }]
        );
        assert!(
            asked(&script).iter().all(|(offset, _)| offset % 10 == 0),
            "by the limit, as the contract says"
        );
    }
}

/// Rows: E4.
#[tokio::test(start_paused = true)]
async fn an_irregular_page_is_an_error_where_that_was_asked_for() {
    for site in [Site::new(100).capped(5), Site::new(100).at_least(25)] {
        let script = site.serve();
        let error = fails(&script, 10, STRICT).await;
        assert_eq!((error.kind, script.count()), (Kind::Pagination, 1));
        assert!(error.to_string().contains("instead of 10"), "{error}");
    }
    let export = export(pager(&Site::new(95).serve(), 10, STRICT))
        .await
        .unwrap();
    assert_eq!(export.paths.len(), 95, "a short last page is no fault");
}

/// Rows: E1.
#[tokio::test(start_paused = true)]
async fn an_empty_page_with_more_to_come_is_an_error_at_once() {
    for prefetch in [0, 1, 4] {
        let script = pages([page(&[], 0, true)]);
        let error = fails(&script, 10, Paging { prefetch, ..PLAIN }).await;
        assert_eq!(error.kind, Kind::Pagination);
        assert!(
            error
                .to_string()
                .contains("it sent no rows and said that there are more"),
            "{error}"
        );
    }
    let script = pages([page(&[row("/0", 1)], 1, true), page(&[], 1, true)]);
    assert_eq!(fails(&script, 1, PLAIN).await.kind, Kind::Pagination);
}

/// Rows: E2.
#[tokio::test(start_paused = true)]
async fn the_same_page_again_is_an_error() {
    let [a, b] =
        ["/a", "/b"].map(|path| page(&[row(path, 1), row(&format!("{path}/x"), 2)], 9, true));
    for bodies in [
        vec![a.clone(), a.clone()],
        vec![a.clone(), b.clone(), a.clone()],
    ] {
        let count = bodies.len();
        let script = pages(bodies);
        let error = fails(&script, 2, PLAIN).await;
        assert_eq!((error.kind, script.count()), (Kind::Pagination, count));
        assert!(error.to_string().contains("the same page again"), "{error}");
    }
    // However long ago it was: that loop would never end.
    let mut bodies: Vec<_> = (0..40)
        .map(|n| page(&[row(&format!("/{n}"), 1)], 9, true))
        .collect();
    bodies.push(bodies[3].clone());
    let script = pages(bodies);
    assert_eq!(fails(&script, 1, PLAIN).await.kind, Kind::Pagination);
    // As the last page it is merely a repeat.
    let script = pages([a, b.replace("\"/b", "\"/a").replace("true", "false")]);
    assert_eq!(
        export(pager(&script, 2, PLAIN)).await.unwrap().paths.len(),
        2
    );
}

/// Rows: E2.
#[tokio::test(start_paused = true)]
async fn a_service_that_ignores_the_offset_ends_in_an_error_also_while_its_counts_move() {
    // A page that stands still is asked for twice, and none beyond it.
    for (prefetch, moving, most) in [(0, 0, 2), (0, 1, 2), (1, 0, 2), (1, 1, 3)] {
        let mut requests = 0;
        let script = Script::each(move |_| {
            requests += moving;
            reply(
                200,
                page(&[row("/0", requests), row("/1", requests)], 9, true),
            )
            .into()
        });
        assert_eq!(
            fails(&script, 2, Paging { prefetch, ..PLAIN }).await.kind,
            Kind::Pagination
        );
        assert!(script.count() <= most, "{}", script.count());
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_rule_is_an_error_at_the_next_request_too() {
    let same = page(&[row("/0", 1), row("/1", 1)], 9, true);
    let script = Script::each(move |_| reply(200, same.clone()).into());
    let mut pager = pager(&script, 2, PLAIN);
    assert!(turn(&mut pager).await.is_ok());
    for _ in 0..3 {
        assert_eq!(turn(&mut pager).await.unwrap_err().kind, Kind::Pagination);
    }
}

#[tokio::test(start_paused = true)]
async fn rows_of_unknown_shape_may_stand_there_twice() {
    // In full pages: nothing can have brought a row again but the service itself.
    let script = pages([
        page(&[row("/0", 1), row("/0", 1)], 9, true),
        page(&[row("/0", 1), row("/1", 1)], 9, false),
    ]);
    let export = export(pager_at(&script, start_json(2), PLAIN))
        .await
        .unwrap();
    assert_eq!(
        export
            .paths
            .iter()
            .filter(|row| row.contains("\"/0\""))
            .count(),
        3
    );
    assert_eq!(export.findings, []);
    assert!(
        script.sent()[0]
            .url
            .path()
            .ends_with("/v1/analytics/demo/feedback")
    );
}

/// Rows: E2, M5.
#[tokio::test(start_paused = true)]
async fn equal_rows_without_a_key_are_kept_where_pages_are_capped() {
    let rows: Vec<_> = (0..60)
        .map(|n| row(&format!("/{}", n * n % 16), 1))
        .collect();
    let served = rows.clone();
    let script = Script::each(move |request| {
        let offset = usize::try_from(query(&request.url, "offset").unwrap()).unwrap();
        let some: Vec<_> = served.iter().skip(offset).take(7).cloned().collect();
        reply(200, page(&some, 60, offset + some.len() < 60)).into()
    });
    let every = export(pager_at(&script, start_json(250), PLAIN))
        .await
        .unwrap();
    assert_eq!(every.paths, rows);
    assert_eq!(
        every.findings,
        [Finding::Irregular {
            received: 7,
            limit: 250
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn rows_without_a_key_that_short_pages_bring_again_are_dropped_and_told() {
    let rows = ["/0", "/1", "/1", "/2"].map(|path| row(path, 1));
    let script = pages([page(&rows[..3], 9, true), page(&rows[2..], 9, false)]);
    let every = export(pager_at(&script, start_json(4), PLAIN))
        .await
        .unwrap();
    assert_eq!(every.paths, rows);
    assert_eq!(
        every.findings[1..],
        [Finding::Overlap {
            rows: 1,
            received: 3
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn rows_without_a_key_come_once_also_if_pages_are_cut_where_rows_are_left_out() {
    let site = Site::new(12).filtered(|n| n % 3 != 2);
    let mut caps = [6, 1, 7, 1, 1, 12].into_iter().cycle();
    let script = Script::each(move |request| {
        let number = |name| query(&request.url, name).unwrap();
        site.answer(number("offset"), number("limit").min(caps.next().unwrap()))
    });
    let every = export(pager_at(&script, start_json(100), PLAIN))
        .await
        .unwrap();
    let rows = [0, 1, 3, 4, 6, 7, 9, 10].map(|n| row(&format!("/{n}"), n));
    assert_eq!(every.paths, rows);
}

#[tokio::test(start_paused = true)]
async fn a_last_page_that_left_rows_out_is_resumed_within() {
    let site = Site::new(6).filtered(|n| n != 3);
    for beginning in [start(3), start_json(3)] {
        let script = site.serve();
        let all = turns(&mut pager_at(&script, beginning, PLAIN)).await;
        let last = all.last().unwrap();
        assert_eq!(
            (
                last.position.offset(),
                last.position.has_more,
                last.rows.len()
            ),
            (3, false, 2)
        );
        let rest = export(pager_at(
            &script,
            reread(&last.position.checkpoint(1)),
            PLAIN,
        ))
        .await
        .unwrap();
        assert_eq!(
            (&rest.paths[..], rest.warnings),
            (&names(&last.rows)[1..], vec![])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn rows_that_were_handed_out_are_remembered_within_the_window() {
    let every: Vec<_> = (0..30).map(|n| row(&format!("/{n}"), n)).collect();
    let answer = |rows: std::ops::Range<usize>| page(&every[rows], 30, true);
    let first = turn(&mut pager(&pages([answer(0..12)]), 20, PLAIN))
        .await
        .unwrap()
        .unwrap();
    // In the next part pages are shorter than what was handed out, and more of them than the window holds.
    let short = pages((0..10).map(|n| answer(n..n + 1)).chain([answer(10..13)]));
    let mut pager = pager_at(&short, reread(&first.position.checkpoint(11)), PLAIN);
    for _ in 0..10 {
        let again = turn(&mut pager).await.unwrap().unwrap();
        assert_eq!(again.rows.len(), 0);
        // Nor are they forgotten by a third part.
        let offset = usize::try_from(again.position.offset()).unwrap() + 1;
        let rest = pages([answer(offset..14)]);
        let third = turn(&mut pager_at(
            &rest,
            reread(&again.position.checkpoint(0)),
            PLAIN,
        ))
        .await
        .unwrap()
        .unwrap();
        assert_eq!(names(&third.rows), ["/11", "/12", "/13"], "from {offset}");
    }
    assert_eq!(
        names(&turn(&mut pager).await.unwrap().unwrap().rows),
        ["/11", "/12"]
    );
}
