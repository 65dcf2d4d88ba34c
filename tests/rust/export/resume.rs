//! Checkpoints: within a page and at its end, in another process, and only where they belong
//! (faults.md, E6, E11 and J14).

use docplatform::error::Kind;
use docplatform::export::checkpoint::Checkpoint;
use docplatform::export::findings::Finding;
use docplatform::export::pager::{CheckedPage, Pager, Paging};
use docplatform::listing::Listing;
use docplatform::listing::endpoint::VISITORS;

use crate::helpers::site::{
    self, PLAIN, Site, asked, export, page, pager, pager_at, pages, row, start, turn,
};
use crate::helpers::support::{BASE_URL, Script, Step, segment};

/// As another process would read it.
pub(crate) fn reread(place: &Checkpoint) -> Checkpoint {
    let text = place.text();
    assert!(text.len() < 20 * 1024, "small: {}", text.len());
    Checkpoint::parse(&text, BASE_URL).unwrap()
}

pub(crate) async fn turns(pager: &mut Pager) -> Vec<CheckedPage> {
    let mut turns = Vec::new();
    while let Some(turn) = turn(pager).await.unwrap() {
        turns.push(turn);
    }
    turns
}

/// Services of all habits, and page sizes to read them with.
pub(crate) fn sites() -> Vec<(&'static str, Site, u32)> {
    vec![
        ("regular", Site::new(47), 10),
        ("regular, all pages full", Site::new(40), 10),
        ("capped", Site::new(47).capped(7), 10),
        ("capped to one", Site::new(9).capped(1), 10),
        ("long pages", Site::new(47).at_least(15), 10),
        ("filtered", Site::new(60).filtered(|n| n % 5 != 2), 10),
        (
            "filtered by half",
            Site::new(60).filtered(|n| n % 2 == 0),
            10,
        ),
        (
            "filtered late",
            Site::new(60).filtered(|n| n < 25 || n % 3 != 0),
            10,
        ),
        (
            "filtered and capped",
            Site::new(60).capped(8).filtered(|n| n % 4 != 1),
            10,
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_regular_export_resumes_without_asking_for_a_row_again() {
    let script = Site::new(100).serve();
    let first = turn(&mut pager(&script, 10, PLAIN)).await.unwrap().unwrap();
    for (handed, offset) in [(0, 0), (1, 1), (7, 7), (10, 10)] {
        let script = Site::new(100).serve();
        export(pager_at(&script, first.position.checkpoint(handed), PLAIN))
            .await
            .unwrap();
        assert_eq!(asked(&script)[0], (offset, 10));
    }
}

#[tokio::test(start_paused = true)]
async fn a_finished_export_stays_finished_and_costs_no_request() {
    let script = Site::new(15).serve();
    let all = turns(&mut pager(&script, 10, PLAIN)).await;
    let last = all.last().unwrap();
    let end = reread(&last.position.checkpoint(last.rows.len()));
    assert!(end.done);
    let nothing = Script::new::<Step>([]);
    assert_eq!(
        export(pager_at(&nothing, end, PLAIN)).await.unwrap().paths,
        [""; 0]
    );
    assert!(!reread(&last.position.checkpoint(last.rows.len() - 1)).done);
}

#[tokio::test(start_paused = true)]
async fn an_export_that_max_rows_cut_is_not_finished() {
    for (max_rows, done) in [(14, false), (15, true), (16, true)] {
        let script = Site::new(15).serve();
        let mut pager = pager(
            &script,
            10,
            Paging {
                max_rows: Some(max_rows),
                ..PLAIN
            },
        );
        let all = turns(&mut pager).await;
        let last = all.last().unwrap();
        assert_eq!(
            last.position.checkpoint(last.rows.len()).done,
            done,
            "{max_rows}"
        );
        assert_eq!(pager.place().done, done, "{max_rows}");
    }
    // Nor where the last page brought more than was asked for.
    let script = Site::new(15).at_least(6).serve();
    let mut pager = pager(
        &script,
        10,
        Paging {
            max_rows: Some(14),
            ..PLAIN
        },
    );
    let all = turns(&mut pager).await;
    let last = all.last().unwrap();
    assert!(!last.position.has_more && !pager.place().done);
    let rest = export(pager_at(
        &script,
        reread(&last.position.checkpoint(last.rows.len())),
        PLAIN,
    ))
    .await
    .unwrap();
    assert_eq!(rest.paths, ["/14"]);
}

#[tokio::test(start_paused = true)]
async fn dropped_repeats_are_not_asked_for_again() {
    let script = pages([page(
        &[row("/0", 0), row("/0", 0), row("/1", 1), row("/1", 1)],
        9,
        true,
    )]);
    let turn = turn(&mut pager(&script, 4, PLAIN)).await.unwrap().unwrap();
    let offsets: Vec<_> = (0..=2)
        .map(|handed| turn.position.checkpoint(handed).offset)
        .collect();
    assert_eq!(offsets, [0, 1, 4]);
    let script = pages([
        page(&[row("/0", 0), row("/1", 0)], 9, true),
        page(&[row("/1", 0), row("/0", 0)], 9, true),
    ]);
    let mut pager = pager(&script, 2, PLAIN);
    site::turn(&mut pager).await.unwrap();
    let empty = site::turn(&mut pager).await.unwrap().unwrap();
    assert_eq!(
        (empty.rows.len(), empty.position.checkpoint(0).offset),
        (0, 4),
        "a page of repeats is behind us"
    );
}

/// Rows: E6.
#[tokio::test(start_paused = true)]
async fn totals_that_moved_between_two_runs_are_reported() {
    let rows: Vec<_> = (0..20).map(|n| row(&format!("/{n}"), 1)).collect();
    for handed in [1, 9, 10] {
        let script = pages([page(&rows[..10], 20, true)]);
        let first = turn(&mut pager(&script, 10, PLAIN)).await.unwrap().unwrap();
        let place = reread(&first.position.checkpoint(handed));
        let script = pages([page(&rows[handed..], 21, false)]);
        let rest = export(pager_at(&script, place, PLAIN)).await.unwrap();
        assert_eq!(rest.paths.len(), 20 - handed);
        let [Finding::Totals { first, last }] = rest.findings[..] else {
            panic!("behind {handed} rows: {:?}", rest.findings)
        };
        assert_eq!((first.total, last.total), (20, 21));
    }
}

/// A checkpoint after the third row.
async fn third() -> serde_json::Value {
    let script = Site::new(20).capped(4).serve();
    let turn = turn(&mut pager(&script, 10, PLAIN)).await.unwrap().unwrap();
    serde_json::from_str(&turn.position.checkpoint(3).text()).unwrap()
}

fn refused(text: &str) -> String {
    let error = Checkpoint::parse(text, BASE_URL).expect_err(text);
    assert_eq!(error.kind, Kind::Argument);
    assert!(error.to_string().chars().count() < 500, "{error}");
    error.to_string()
}

/// Rows: E11.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_is_refused_where_it_does_not_belong() {
    let text = third().await.to_string();
    assert!(Checkpoint::parse(&text, BASE_URL).is_ok());
    let error = Checkpoint::parse(&text, "https://other.example.com").unwrap_err();
    assert!(
        error.to_string().contains(BASE_URL) && error.to_string().contains("other.example.com"),
        "{error}"
    );

    let mut other = third().await;
    other["docplatform_checkpoint"] = 2.into();
    assert!(refused(&other.to_string()).contains("of version 2, this docplatform reads version 1"));
    for no in [
        "",
        "{}",
        "null",
        "[]",
        "42",
        "not JSON",
        "{\"docplatform_checkpoint\": 1}",
        "\u{1b}[2J",
    ] {
        let error = refused(no);
        assert_eq!(
            error,
            "resume: not a checkpoint that this docplatform can read: give its whole text, as rows or an error have it"
        );
    }
    let endless = format!("{text}{}", " ".repeat(257 * 1024 * 1024));
    assert!(
        Checkpoint::parse(&endless, BASE_URL)
            .unwrap_err()
            .to_string()
            .contains("too long")
    );
}

/// Rows: J14.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_was_tampered_with_is_refused() {
    use serde_json::json;
    for (pointer, value) in [
        ("/base_url", json!("https://evil.example\u{1b}[2J")),
        ("/listing/path", json!("//evil.example/{project_id}")),
        ("/listing/path", json!("/v2/other")),
        ("/listing/path", json!("/a?b")),
        ("/listing/project_id", json!("../../x")),
        ("/listing/project_id", json!("")),
        ("/listing/query", json!([["limit", "1"]])),
        ("/listing/query", json!([["offset", "1"]])),
        ("/page_size", json!(0)),
        ("/page_size", json!(251)),
        ("/page_size", json!(-1)),
        ("/offset", json!(-1)),
        ("/offset", json!(1.5)),
        ("/offset", json!("3")),
        ("/offset", json!(u64::MAX)),
        ("/rows", json!(-1)),
        ("/rows", json!(u64::MAX)),
        ("/done", json!("yes")),
        ("/totals", json!([1, 2])),
        ("/totals", json!([1, 2, -3])),
        ("/begin", json!(-1)),
        ("/begin", json!(u64::MAX)),
        ("/seen", json!("00")),
        ("/seen", json!("=".repeat(16))),
        ("/seen", json!("\u{e9}".repeat(16))),
        ("/seen", json!(5)),
        ("/near", json!(-1)),
        ("/near", json!(4)),
    ] {
        let mut bad = third().await;
        *bad.pointer_mut(pointer).unwrap() = value.clone();
        let error = refused(&bad.to_string());
        assert!(!error.contains('\u{1b}'), "{pointer} {value}: {error}");
    }
    let mut beyond = third().await;
    beyond["slice"] = json!(1);
    assert!(refused(&beyond.to_string()).contains("no such slice"));
    let mut more = third().await;
    more["key"] = json!("x");
    assert!(refused(&more.to_string()).contains("not a checkpoint"));
    for field in [
        "base_url",
        "listing",
        "page_size",
        "begin",
        "offset",
        "rows",
        "done",
        "seen",
        "near",
    ] {
        let mut less = third().await;
        less.as_object_mut().unwrap().remove(field);
        refused(&less.to_string());
    }
}

/// Rows: J14.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_names_what_it_lists() {
    let listing = Listing::of(
        VISITORS,
        &segment("demo"),
        Some("2026-01-01".to_owned()),
        None,
    );
    let text = Checkpoint::new(BASE_URL, listing.clone(), 250, 5).text();
    let read = Checkpoint::parse(&text, BASE_URL).unwrap();
    assert_eq!(
        (
            &read.listing,
            read.page_size,
            read.offset,
            read.rows,
            read.done
        ),
        (&listing, 250, 5, 0, false)
    );
    assert_eq!(read.listing.filter("dateFrom"), Some("2026-01-01"));
    assert_ne!(
        read.listing,
        Listing::of(VISITORS, &segment("demo"), None, None)
    );
    assert_ne!(
        read.listing,
        Listing::of(
            VISITORS,
            &segment("other"),
            Some("2026-01-01".to_owned()),
            None
        )
    );
}

#[tokio::test(start_paused = true)]
async fn an_offset_at_the_end_of_all_numbers_does_not_wrap() {
    for offset in [u64::MAX, u64::MAX - 1, i64::MAX as u64] {
        let mut place = start(10);
        place.offset = offset;
        let script = Script::each(|_| Site::new(30).answer(0, 10));
        let mut pager = pager_at(
            &script,
            place,
            Paging {
                prefetch: 2,
                ..PLAIN
            },
        );
        let turn = turn(&mut pager).await.unwrap().unwrap();
        for handed in 0..=turn.rows.len() {
            assert!(turn.position.checkpoint(handed).offset >= offset);
        }
    }
}
