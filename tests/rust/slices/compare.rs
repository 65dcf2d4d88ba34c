//! Comparisons of two periods: every number as the service sent it, the significant changes, and
//! the cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use docplatform::client::Client;
use docplatform::dates::periods::Period;
use docplatform::dates::slices::Slice;
use docplatform::http::Outgoing;
use docplatform::listing::endpoint::VISITORS;
use docplatform::listing::rows::Row;
use docplatform::slices::compare::{Compared, ReaderKind, compare, movements};
use docplatform::slices::judge::Movement;

use crate::export::stored::{END, Shop};
use crate::helpers::site::{integer, page, row, text};
use crate::helpers::support::{Recorder, Script, client, query, reply, segment};

/// A path's readers.
type Paths = BTreeMap<String, u64>;

fn paths<const N: usize>(counts: [(&str, u64); N]) -> Paths {
    counts
        .into_iter()
        .map(|(path, count)| (path.to_owned(), count))
        .collect()
}

/// January 2026 and the month before it.
fn months() -> [Period; 2] {
    let day = |text: &str| text.parse().unwrap();
    let now = Period::of(Slice {
        from: day("2026-01-01"),
        to: day("2026-02-01"),
    });
    [now, now.before().unwrap()]
}

/// A service with these readers in January and December.
fn serve(now: Paths, before: Paths) -> Arc<Script> {
    Script::each(move |request: &Outgoing| {
        let from = request
            .url
            .query_pairs()
            .find(|(name, _)| name == "dateFrom")
            .unwrap()
            .1;
        let paths = if from == "2026-01-01" { &now } else { &before };
        let number = |name| usize::try_from(query(&request.url, name).unwrap()).unwrap();
        let (offset, limit) = (number("offset"), number("limit"));
        let rows: Vec<_> = paths
            .iter()
            .skip(offset)
            .take(limit)
            .map(|(path, count)| row(path, *count))
            .collect();
        reply(
            200,
            page(&rows, paths.len() as u64, offset + rows.len() < paths.len()),
        )
        .into()
    })
}

async fn compared_by(client: &Client) -> Compared {
    compare(
        client,
        VISITORS,
        &segment("demo"),
        months(),
        Arc::new(Recorder::default()),
        |_| (),
    )
    .await
    .unwrap()
}

async fn compared(shop: &Shop, script: &Arc<Script>) -> Compared {
    compared_by(&shop.client(script)).await
}

#[tokio::test]
async fn every_number_is_what_the_service_sent_for_1000_pairs_of_periods() {
    let mut random = fastrand::Rng::with_seed(14);
    for _ in 0..1_000 {
        let side = |random: &mut fastrand::Rng| -> Paths {
            let rows = random.usize(..12);
            (0..rows)
                .map(|_| (format!("/{}", random.u8(..15)), random.u64(..400)))
                .collect()
        };
        let (now, before) = (side(&mut random), side(&mut random));
        let script = serve(now.clone(), before.clone());
        let compared = compared_by(&client(&script)).await;
        assert_eq!((compared.requests, script.count()), (2, 2));
        assert_eq!(compared.totals.total, i64::try_from(now.len()).unwrap());
        assert_eq!(
            compared.totals_before.total,
            i64::try_from(before.len()).unwrap()
        );
        let known: Vec<_> = compared
            .table
            .rows()
            .map(|row| text(&row, "path").to_owned())
            .collect();
        // Those of the period in the service's order, then those that are gone.
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        assert_eq!(known, now.keys().chain(gone).cloned().collect::<Vec<_>>());
        for row in compared.table.rows() {
            let count = |side: &Paths| {
                i64::try_from(side.get(text(&row, "path")).copied().unwrap_or_default()).unwrap()
            };
            for kind in ["human", "total"] {
                let columns = [
                    kind.to_owned(),
                    format!("{kind}_before"),
                    format!("{kind}_change"),
                ];
                let found = columns.map(|name| integer(&row, &name));
                assert_eq!(
                    found,
                    [count(&now), count(&before), count(&now) - count(&before)]
                );
            }
            assert_eq!(integer(&row, "ai_change"), 0);
        }
    }
}

#[tokio::test]
async fn paths_that_moved_most_come_first() {
    let now = paths([
        ("/a", 200),
        ("/b", 300),
        ("/c", 101),
        ("/d", 10),
        ("/new", 9),
        ("/newer", 8),
        ("/f", 30),
    ]);
    let before = paths([
        ("/a", 100),
        ("/b", 100),
        ("/c", 100),
        ("/d", 400),
        ("/e", 7),
        ("/gone", 70),
        ("/f", 150),
    ]);
    let compared = compared(&Shop::new(), &serve(now, before)).await;
    let rows: Vec<Row<'_>> = compared.table.rows().collect();
    let found: Vec<_> = movements(&compared.table, ReaderKind::Human, compared.paces[0])
        .into_iter()
        .map(|(at, how)| (text(&rows[at], "path"), how))
        .collect();
    // `/new`, `/newer` and `/e` have too few readers to be told.
    let expected = [
        ("/d", Movement::Faller),
        ("/b", Movement::Riser),
        ("/f", Movement::Faller),
        ("/a", Movement::Riser),
        ("/gone", Movement::Vanished),
        // One reader more, while the site lost more than a quarter.
        ("/c", Movement::Riser),
    ];
    assert_eq!(found, expected);
}

/// Rows: D12.
#[tokio::test]
async fn paths_that_are_alike_only_once_they_are_repaired_are_two() {
    let side = || paths([("/a\\ud800", 2), ("/a\\udc00", 1)]);
    assert_eq!(
        compared(&Shop::new(), &serve(side(), side()))
            .await
            .table
            .len(),
        2
    );
}

#[tokio::test]
async fn what_the_store_has_of_either_period_is_not_fetched_again() {
    let side = || {
        (0..251)
            .map(|number| (format!("/{number:03}"), number))
            .collect::<Paths>()
    };
    let (shop, script) = (Shop::new(), serve(side(), side()));
    assert_eq!(
        (compared(&shop, &script).await.requests, script.count()),
        (4, 4)
    );
    shop.set_day(END + 3);
    let again = compared(&shop, &script).await;
    assert_eq!(
        (again.requests, script.count(), again.table.len()),
        (0, 4, 251)
    );
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
}

#[tokio::test]
async fn a_period_that_is_not_over_or_not_final_is_warned_of() {
    let shop = Shop::new();
    for (day, says) in [
        (END - 5, "January 2026 is not over"),
        (END + 1, "January 2026 may still change"),
    ] {
        shop.set_day(day);
        let warnings = compared(&shop, &serve(paths([("/a", 1)]), Paths::new()))
            .await
            .warnings;
        assert!(
            warnings.len() == 1 && warnings[0].contains(says),
            "{warnings:?}"
        );
    }
}

#[tokio::test]
async fn periods_that_differ_much_in_length_are_warned_of() {
    let shop = Shop::new();
    let client = shop.client(&serve(paths([("/a", 1)]), Paths::new()));
    for (from, to, days) in [
        ("2025-12-01", "2025-12-29", None),
        ("2025-12-01", "2025-12-28", Some(27)),
        ("2025-12-30", "2026-01-01", Some(2)),
    ] {
        let before = Period::of(Slice {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        });
        let observer = Arc::new(Recorder::default());
        let found = compare(
            &client,
            VISITORS,
            &segment("demo"),
            [months()[0], before],
            observer,
            |_| (),
        )
        .await;
        let says = |days| {
            format!(
                "January 2026 has 31 days, and {} has {days} days: the longer period has higher counts for that reason alone",
                before.name()
            )
        };
        assert_eq!(found.unwrap().warnings, Vec::from_iter(days.map(says)));
    }
}
