//! The stop rule, and no request more than it takes.

use docplatform::client::throttle::Lane;
use docplatform::config::url::Template;
use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::pager::Paging;
use docplatform::export::source::totals;
use docplatform::listing::Listing;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::page::Totals;
use tokio::time::{sleep, timeout};

use crate::helpers::site::{PLAIN, Site, asked, export, names, pager, pager_at, shape, turn};
use crate::helpers::support::{BASE_URL, Recorder, Script, Step, bare, client, secs, segment};

#[tokio::test(start_paused = true)]
async fn offsets_grow_by_the_limit_until_there_is_no_more() {
    for prefetch in [0, 1] {
        for (rows, requests) in [
            (0, 1),
            (1, 1),
            (9, 1),
            (10, 1),
            (11, 2),
            (20, 2),
            (95, 10),
            (100, 10),
        ] {
            let site = Site::new(rows);
            let script = site.serve();
            let export = export(pager(&script, 10, Paging { prefetch, ..PLAIN }))
                .await
                .unwrap();
            assert_eq!(export.paths, site.paths());
            assert_eq!(export.warnings, [""; 0]);
            let expected: Vec<_> = (0..requests).map(|number| (number * 10, 10)).collect();
            assert_eq!(asked(&script), expected, "{rows} rows, prefetch {prefetch}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_is_the_end() {
    let script = Site::new(3).serve();
    let mut pager = pager(
        &script,
        2,
        Paging {
            prefetch: 1,
            ..PLAIN
        },
    );
    let mut more = Vec::new();
    for _ in 0..5 {
        more.push(
            turn(&mut pager)
                .await
                .unwrap()
                .map(|turn| turn.position.has_more),
        );
    }
    assert_eq!(more, [Some(true), Some(false), None, None, None]);
    assert_eq!(script.count(), 2);
    assert!(pager.place().done);
}

#[tokio::test(start_paused = true)]
async fn requests_carry_the_filters_and_the_offset() {
    let script = Site::new(100).serve();
    let (from, to) = (
        Some("2026-01-01".to_owned()),
        Some("2026-02-01T00:00:00+02:00".to_owned()),
    );
    let listing = Listing::of(VISITORS, &segment("a&b"), from, to);
    let export = export(pager_at(
        &script,
        Checkpoint::new(BASE_URL, listing, 50, 30),
        PLAIN,
    ))
    .await
    .unwrap();
    assert_eq!(export.paths, Site::new(100).paths()[30..]);
    let sent = script.sent();
    assert_eq!(
        sent[1].url.as_str(),
        "https://docs.example.com/api/v1/analytics/a%26b/visitors\
         ?dateFrom=2026-01-01&dateTo=2026-02-01T00%3A00%3A00%2B02%3A00&limit=50&offset=80"
    );
    assert_eq!(
        (sent[0].method.as_str(), sent[0].body.is_none()),
        ("GET", true)
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_for_before_it_is_wanted() {
    for (prefetch, first, second) in [(0, 1, 2), (1, 2, 3)] {
        let script = Site::new(100).serve();
        let mut pager = pager(&script, 10, Paging { prefetch, ..PLAIN });
        sleep(secs(60)).await;
        assert_eq!(script.count(), 0);
        turn(&mut pager).await.unwrap();
        sleep(secs(60)).await;
        assert_eq!(script.count(), first, "prefetch {prefetch}");
        turn(&mut pager).await.unwrap();
        sleep(secs(60)).await;
        assert_eq!(script.count(), second, "prefetch {prefetch}");
        drop(pager);
        sleep(secs(60)).await;
        assert_eq!(script.count(), second, "prefetch {prefetch}");
    }
}

#[tokio::test(start_paused = true)]
async fn max_rows_is_what_is_handed_out_and_the_last_request_asks_for_no_more() {
    for prefetch in [0, 1, 4] {
        for (max_rows, limits) in [
            (0, &[][..]),
            (1, &[1]),
            (9, &[9]),
            (10, &[10]),
            (11, &[10, 1]),
            (35, &[10, 10, 10, 5]),
            (40, &[10, 10, 10, 10]),
        ] {
            let site = Site::new(1000);
            let script = site.serve();
            let paging = Paging {
                max_rows: Some(max_rows),
                prefetch,
                ..PLAIN
            };
            let export = export(pager(&script, 10, paging)).await.unwrap();
            assert_eq!(
                export.paths,
                site.paths()[..usize::try_from(max_rows).unwrap()]
            );
            let asked = asked(&script);
            let asked_limits: Vec<_> = asked.iter().map(|(_, limit)| *limit).collect();
            assert_eq!(
                asked_limits, limits,
                "max_rows {max_rows}, prefetch {prefetch}"
            );
            assert!(
                asked
                    .iter()
                    .zip((0..).step_by(10))
                    .all(|((offset, _), at)| *offset == at)
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn max_rows_holds_also_where_the_service_sends_more_than_was_asked_for() {
    let script = Site::new(100).at_least(30).serve();
    let paging = Paging {
        max_rows: Some(7),
        ..PLAIN
    };
    let export = export(pager(&script, 10, paging)).await.unwrap();
    assert_eq!(export.paths, Site::new(7).paths());
    assert_eq!(script.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_is_gone_and_is_asked_for_again() {
    for prefetch in [0, 1, 3] {
        let site = Site::new(35);
        let script = site.clone().latency(secs(2)).serve();
        let mut pager = pager(&script, 10, Paging { prefetch, ..PLAIN });
        let mut paths = Vec::new();
        let mut dropped = 0;
        loop {
            match timeout(secs(if dropped < 3 { 1 } else { 10 }), turn(&mut pager)).await {
                Err(_) => {
                    dropped += 1;
                    tokio::task::yield_now().await;
                    assert_eq!(script.in_flight(), 0, "prefetch {prefetch}");
                }
                Ok(Ok(Some(turn))) => {
                    paths.extend(names(&turn.rows));
                    dropped = 0;
                }
                Ok(Ok(None)) => break,
                Ok(Err(error)) => panic!("{error}"),
            }
        }
        assert_eq!(paths, site.paths(), "prefetch {prefetch}");
    }
}

/// Rows: E14.
#[tokio::test(start_paused = true)]
async fn an_abandoned_export_leaves_no_request_under_way() {
    for (prefetch, under_way) in [(0, 0), (1, 1), (4, 4)] {
        let script = Site::new(1000).serve_but(|offset| (offset > 0).then_some(Step::Never));
        let mut pager = pager(&script, 10, Paging { prefetch, ..PLAIN });
        turn(&mut pager).await.unwrap();
        sleep(secs(1)).await;
        assert_eq!(script.in_flight(), under_way);
        drop(pager);
        sleep(secs(1)).await;
        assert_eq!((script.in_flight(), script.count()), (0, 1 + under_way));
    }
}

#[test]
fn a_listing_leaves_paging_to_the_pager() {
    let path = Template::parse("path", "/v1/analytics/{project_id}/feedback").unwrap();
    let listing = |query: &[&str], more| {
        let query = query
            .iter()
            .map(|name| ((*name).to_owned(), "1".to_owned()))
            .collect();
        Listing::other(&path, None, query, shape("items", more))
    };
    for taken in ["limit", "offset", "cursor"] {
        let error = listing(&["kind", taken], "hasMore").unwrap_err();
        assert!(
            error.kind == Kind::Argument && error.to_string().contains(taken),
            "{error}"
        );
    }
    assert_eq!(listing(&[], "items").unwrap_err().kind, Kind::Argument);
    let good = listing(&["kind", "Limit"], "hasMore").unwrap();
    assert_eq!(
        (good.filter("kind"), good.filter("limit"), good.is_known()),
        (Some("1"), None, false)
    );
}

#[test]
fn a_read_is_in_the_lane_of_its_path() {
    for (path, of) in [
        ("/v1/analytics/{project_id}/visitors", Lane::Analytics),
        ("/v1/analytics/{project_id}/feedback", Lane::Analytics),
        ("/v1/analyticsx/y", Lane::Jobs),
        ("/v2/agent/{project_id}/jobs", Lane::Jobs),
    ] {
        assert_eq!(Lane::of_read(path), of, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn totals_cost_one_request_for_one_row() {
    let script = Site::new(100).serve();
    let listing = Listing::of(VISITORS, &segment("demo"), None, None);
    let found = totals(&client(&script), &listing, &Recorder::default())
        .await
        .unwrap();
    assert_eq!(
        found,
        Totals {
            human: 100,
            ai: 0,
            total: 100
        }
    );
    assert_eq!(asked(&script), [(0, 1)]);
    let script = Script::new([bare(403)]);
    let error = totals(&client(&script), &listing, &Recorder::default())
        .await
        .unwrap_err();
    assert_eq!((error.kind, error.status), (Kind::Status, Some(403)));
}
