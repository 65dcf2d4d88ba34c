//! Services that break the paging rule: short pages, long pages, no progress (faults.md, E1 to E4).

use std::sync::Arc;

use docplatform::error::{Error, Kind};
use docplatform::export::findings::Finding;
use docplatform::export::pager::Paging;

use crate::helpers::site::{
    PLAIN, Site, asked, export, page, pager, pager_at, pages, row, start_json, turn,
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
async fn no_row_is_lost_where_a_service_caps_its_pages() {
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
    // A page that stands still is asked for twice, and none beyond it. With prefetch and moving
    // counts, one more request may have left.
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
async fn a_broken_rule_is_an_error_at_the_next_call_too() {
    let same = page(&[row("/0", 1), row("/1", 1)], 9, true);
    let script = Script::each(move |_| reply(200, same.clone()).into());
    let mut pager = pager(&script, 2, PLAIN);
    assert!(turn(&mut pager).await.is_ok());
    for _ in 0..3 {
        assert_eq!(turn(&mut pager).await.unwrap_err().kind, Kind::Pagination);
    }
    assert_eq!(script.count(), 2);
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
