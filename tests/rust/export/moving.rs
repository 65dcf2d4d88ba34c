//! Data that moves under an export is reported (faults.md, E5 to E7).

use docplatform::error::Kind;
use docplatform::export::checkpoint::RECENT;
use docplatform::export::findings::Finding;
use docplatform::export::pager::Paging;
use docplatform::listing::page::Totals;

use crate::export::resume::reread;
use crate::helpers::site::{PLAIN, Site, export, names, page, pager, pages, row, turn};
use crate::helpers::support::{Script, query, reply};

const STRICT: Paging = Paging {
    strict: true,
    ..PLAIN
};

fn totals(total: i64) -> Totals {
    Totals {
        human: total,
        ai: 0,
        total,
    }
}

/// Rows: D13, E5, E7.
#[tokio::test(start_paused = true)]
async fn repeats_are_dropped_or_kept_and_reported() {
    let alike = [
        "/caf\u{e9}",
        "/cafe\u{301}",
        "/A",
        "/a",
        "/a/",
        "",
        " ",
        "/a\u{200f}",
    ];
    let alike_rows = alike.map(|path| (path, 1));
    // The rows of each page, what is left of them, what is found first, and how the first warning
    // begins.
    for (sent, left, found, warned) in [
        (
            &[
                &[("/0", 0), ("/1", 1)][..],
                &[("/1", 1), ("/2", 2)],
                &[("/0", 0), ("/3", 3)],
            ][..],
            &["/0", "/1", "/2", "/3"][..],
            &[Finding::Dropped(1)][..],
            "2 rows came twice, unchanged",
        ),
        (
            &[
                &[("/0", 0), ("/1", 1)],
                &[("/1", 7), ("/2", 2)],
                &[("/1", 7), ("/2", 9)],
            ],
            &["/0", "/1", "/1", "/2", "/2"],
            &[Finding::Differing(1), Finding::Dropped(1)],
            "2 rows came twice with different values",
        ),
        (
            &[&[("/0", 1), ("/0", 1), ("/0", 2)]],
            &["/0", "/0"],
            &[Finding::Dropped(1), Finding::Differing(1)],
            "1 row came twice, unchanged",
        ),
        (&[&alike_rows], &alike, &[], ""),
    ] {
        let bodies = sent.iter().enumerate().map(|(at, rows)| {
            let rows: Vec<_> = rows.iter().map(|(path, count)| row(path, *count)).collect();
            page(&rows, 9, at + 1 < sent.len())
        });
        let size = u32::try_from(sent[0].len()).unwrap();
        let export = export(pager(&pages(bodies), size, PLAIN)).await.unwrap();
        assert_eq!(
            (export.paths, &export.findings[..]),
            (left.iter().map(ToString::to_string).collect(), found)
        );
        let first = export.warnings.first().map_or("", String::as_str);
        assert!(
            first.starts_with(warned) && first.is_empty() == warned.is_empty(),
            "{:?}",
            export.warnings
        );
    }
}

/// Rows: E5.
#[tokio::test(start_paused = true)]
async fn a_row_that_came_before_is_no_differing_one_whatever_came_between() {
    let counts = [192, 193, 192, 193, 194, 192];
    let rows = counts.map(|count| row("/0", count));
    for size in [1, 2, 6] {
        let script = pages(rows.chunks(size).enumerate().map(|(at, rows)| {
            // Another row on each page, as the same page again is an error.
            page(
                &[rows, &[row(&format!("/more/{at}"), 1)]].concat(),
                9,
                (at + 1) * size < counts.len(),
            )
        }));
        let export = export(pager(&script, u32::try_from(size).unwrap() + 1, PLAIN))
            .await
            .unwrap();
        assert_eq!(
            export.paths.iter().filter(|path| *path == "/0").count(),
            3,
            "192, 193 and 194"
        );
        let warnings = export.warnings.join("; ");
        assert!(
            warnings.contains("3 rows came twice, unchanged"),
            "{warnings}"
        );
        assert!(
            warnings.contains("2 rows came twice with different values"),
            "{warnings}"
        );
    }
}

/// Rows: E5.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_knows_the_last_rows_and_stays_small() {
    for page_size in [250, 100, 7] {
        let mut pager = pager(&Site::new(750).serve(), page_size, PLAIN);
        while let Some(turn) = turn(&mut pager).await.unwrap() {
            let place = reread(&turn.position.checkpoint(turn.rows.len()));
            assert_eq!(place.seen().len() as u64, place.rows.min(RECENT as u64));
            assert!(place.text().len() < 8_500, "{}", place.text().len());
        }
    }
}

/// Rows: E5.
#[tokio::test(start_paused = true)]
async fn what_else_the_service_sends_makes_a_row_another() {
    let with = |row: String, extra: &str| row.replace('}', &format!(", {extra}}}"));
    let first = with(row("/0", 1), "\"bot\": 1");
    for (second, rows) in [
        (first.clone(), 1),
        (with(row("/0", 1), "\"bot\": 2"), 2),
        (row("/0", 1), 2),
    ] {
        let script = pages([
            page(std::slice::from_ref(&first), 9, true),
            page(&[second], 9, false),
        ]);
        assert_eq!(
            export(pager(&script, 1, PLAIN)).await.unwrap().paths.len(),
            rows
        );
    }
}

/// Rows: D12, E5.
#[tokio::test(start_paused = true)]
async fn paths_that_are_alike_only_once_they_are_repaired_are_two() {
    let rows = ["/a\\ud800", "/a\\udc00", "/a\\ufffd"].map(|path| row(path, 1));
    for size in [1, 3] {
        let bodies: Vec<_> = rows.chunks(size).enumerate().collect();
        let last = bodies.len() - 1;
        let script = pages(
            bodies
                .into_iter()
                .map(|(at, rows)| page(rows, 9, at < last)),
        );
        let export = export(pager(&script, u32::try_from(size).unwrap(), PLAIN))
            .await
            .unwrap();
        assert_eq!(export.paths, ["/a\u{fffd}"; 3]);
        assert!(
            export.findings.iter().all(|finding| !finding.is_change()),
            "{:?}",
            export.findings
        );
    }
    let again = pages([page(&rows[..1], 9, true), page(&rows[..1], 9, false)]);
    assert_eq!(
        export(pager(&again, 1, PLAIN)).await.unwrap().paths.len(),
        1,
        "the same bytes are the same path"
    );
}

/// Rows: E6.
#[tokio::test(start_paused = true)]
async fn totals_that_move_are_reported_with_both_values() {
    let bodies = [10, 11, 11, 12].map(|total| (total, total < 12));
    let bodies = bodies.into_iter().enumerate();
    let script =
        pages(bodies.map(|(n, (total, more))| page(&[row(&format!("/{n}"), 1)], total, more)));
    let export = export(pager(&script, 1, PLAIN)).await.unwrap();
    assert_eq!(
        export.findings,
        [Finding::Totals {
            first: totals(10),
            last: totals(11)
        }],
        "told once"
    );
    assert_eq!(export.paths.len(), 4);
    let [warning] = &export.warnings[..] else {
        panic!("{:?}", export.warnings)
    };
    assert!(
        warning.contains("total=10") && warning.contains("total=12"),
        "{warning}"
    );
}

/// Rows: E5.
#[tokio::test(start_paused = true)]
async fn repeats_are_looked_for_in_the_last_eight_pages_or_in_all() {
    for (window, distance, found) in [
        (Some(8), 8, true),
        (Some(8), 9, false),
        (None, 9, true),
        (None, 500, true),
    ] {
        let again = distance;
        let mut bodies: Vec<_> = (0..again)
            .map(|n| page(&[row(&format!("/{n}"), 1)], 9, true))
            .collect();
        bodies.push(page(&[row("/0", 1)], 9, false));
        let script = pages(bodies);
        let export = export(pager(&script, 1, Paging { window, ..PLAIN }))
            .await
            .unwrap();
        assert_eq!(
            export.findings == [Finding::Dropped(1)],
            found,
            "{window:?} {distance}"
        );
    }
}

/// Rows: E5, E6, E7.
#[tokio::test(start_paused = true)]
async fn a_strict_export_fails_at_moved_totals_repeats_and_repairs() {
    let moved = pages([
        page(&[row("/0", 1)], 9, true),
        page(&[row("/1", 1)], 10, false),
    ]);
    let dropped = pages([
        page(&[row("/0", 1)], 9, true),
        page(&[row("/0", 1)], 9, false),
    ]);
    let differing = pages([
        page(&[row("/0", 1)], 9, true),
        page(&[row("/0", 2)], 9, false),
    ]);
    let repaired = pages([
        page(&[row("/0", 1)], 9, true),
        page(&[row("/\\ud800", 2)], 9, false),
    ]);
    for (script, words) in [
        (moved, "the totals changed during the export, from human=9"),
        (dropped, "1 row came twice, unchanged"),
        (differing, "1 row came twice with different values"),
        (repaired, "1 page had invalid characters"),
    ] {
        let mut pager = pager(&script, 1, STRICT);
        assert!(turn(&mut pager).await.unwrap().is_some());
        let error = turn(&mut pager).await.unwrap_err();
        assert_eq!(error.kind, Kind::Pagination);
        assert!(
            error.to_string().contains(words) && error.to_string().contains("is strict"),
            "{error}"
        );
    }
}

/// Rows: E10.
#[tokio::test(start_paused = true)]
async fn continuing_after_a_strict_error_loses_no_row() {
    for last in [2, 4] {
        // The totals move with the second page, for good.
        let script = Script::each(move |request| {
            let offset = query(&request.url, "offset").unwrap();
            let rows = [offset, offset + 1].map(|n| row(&format!("/{n}"), 1));
            reply(
                200,
                page(&rows, if offset < 2 { 9 } else { 10 }, offset < last),
            )
            .into()
        });
        let mut pager = pager(&script, 2, STRICT);
        assert_eq!(
            names(&turn(&mut pager).await.unwrap().unwrap().rows),
            ["/0", "/1"]
        );
        for _ in 0..5 {
            assert_eq!(
                turn(&mut pager).await.unwrap_err().kind,
                Kind::Pagination,
                "no page, and no end"
            );
        }
        assert_eq!(
            (pager.place().offset, pager.place().rows, pager.place().done),
            (2, 2, false)
        );
    }
}
