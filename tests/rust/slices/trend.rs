//! Trends and plans by way of the store, as the days go by.

use std::sync::Arc;

use docplatform::client::Client;
use docplatform::config::Options;
use docplatform::dates::Moment;
use docplatform::dates::slices::{Every, Slice, slices};
use docplatform::listing::endpoint::VISITORS;
use docplatform::slices::Subject;
use docplatform::slices::plan::plan;
use docplatform::slices::{reader::SlicedTable, trend::trend};
use docplatform::store::Content;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};

use crate::export::stored::{END, Shop};
use crate::helpers::site::Site;
use crate::helpers::support::{Recorder, Script, options, segment};

const TOTALS: Subject = Subject {
    endpoint: VISITORS,
    content: Content::Totals,
};
const PAGES: Subject = Subject {
    endpoint: VISITORS,
    content: Content::Pages,
};

/// The day on the shop's clock.
fn today(shop: &Shop) -> Date {
    let day = shop.day();
    Timestamp::from_second(day * 86_400)
        .unwrap()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date()
}

/// The last ninety days up to yesterday, day by day.
fn quarter(shop: &Shop) -> Vec<Slice> {
    let to = today(shop);
    slices(
        &Moment::of(to.checked_sub(90.days()).unwrap()),
        &Moment::of(to),
        Some(Every::Day),
    )
    .unwrap()
}

async fn totals(client: &Client, slices: &[Slice]) -> SlicedTable {
    trended(client, slices, TOTALS).await
}

async fn trended(client: &Client, slices: &[Slice], of: Subject) -> SlicedTable {
    trend(
        client,
        &segment("demo"),
        slices,
        of,
        Arc::new(Recorder::default()),
    )
    .await
    .unwrap()
}

fn client(shop: &Shop, script: &Arc<Script>, settle_days: u32) -> Client {
    shop.client_with(
        script,
        &Options {
            settle_days,
            ..options()
        },
    )
}

#[tokio::test]
async fn a_quarter_of_daily_totals_costs_the_days_that_were_not_final_the_day_before() {
    for (settle_days, each_day) in [(0, 1), (2, 3)] {
        let (shop, script) = (Shop::new(), Site::new(9).serve());
        let client = client(&shop, &script, settle_days);
        assert_eq!(totals(&client, &quarter(&shop)).await.requests, 90);
        for day in 1..5 {
            shop.set_day(END + 2 + day);
            let days = quarter(&shop);
            let planned = plan(&client, &segment("demo"), days.clone(), TOTALS)
                .await
                .unwrap();
            assert_eq!(planned.requests(), each_day, "{settle_days}");
            let trend = totals(&client, &days).await;
            assert_eq!(
                (trend.table.len(), trend.requests),
                (90, each_day),
                "{settle_days}"
            );
            let open = i64::from(settle_days);
            let from = (open > 0).then(|| today(&shop).checked_sub(open.days()).unwrap());
            assert_eq!(trend.open_from, from);
        }
        let last = usize::try_from(each_day).unwrap();
        assert_eq!(script.count(), 90 + 4 * last);
    }
}

#[tokio::test]
async fn a_plan_is_what_is_sent_where_the_pages_are_known() {
    let (shop, script) = (Shop::new(), Site::new(620).serve());
    let client = client(&shop, &script, 30_000);
    let days = quarter(&shop).split_off(85);
    let demo = segment("demo");
    let cost = || plan(&client, &demo, days.clone(), PAGES);
    let floor = cost().await.unwrap();
    assert_eq!(
        (
            floor.requests(),
            floor.slices.iter().any(|slice| slice.exact)
        ),
        (5, false)
    );
    for _ in 0..2 {
        let before = script.count();
        let planned = cost().await.unwrap();
        let sent = trended(&client, &days, PAGES).await.requests;
        assert_eq!((sent, script.count() - before), (15, 15));
        assert_eq!(
            (planned.requests() == 15, planned.slices[0].estimated),
            (before > 0, before > 0)
        );
        assert!(!planned.slices[0].exact, "it may have more rows by now");
    }
}

#[tokio::test]
async fn a_plan_estimates_from_ranges_of_about_the_same_length_else_of_any() {
    let (shop, script) = (Shop::new(), Site::new(620).serve());
    let client = client(&shop, &script, 30_000);
    let days = quarter(&shop).split_off(83);
    let demo = segment("demo");
    trended(&client, &days[..3], PAGES).await;
    let cost = async |slices: &[Slice]| {
        let planned = plan(&client, &demo, slices.to_vec(), PAGES)
            .await
            .unwrap()
            .slices;
        planned
            .iter()
            .map(|slice| (slice.requests, slice.exact, slice.estimated))
            .collect::<Vec<_>>()
    };
    assert_eq!(cost(&days[2..5]).await, [(3, false, true); 3]);
    // A range of another length: no fewer rows than the days within it.
    let whole = Slice {
        from: days[0].from,
        to: days[6].to,
    };
    assert_eq!(cost(&[whole]).await, [(3, false, true)]);
    let elsewhere = Slice {
        from: days[5].from,
        to: days[6].to.checked_add(20.days()).unwrap(),
    };
    assert_eq!(cost(&[elsewhere]).await, [(3, false, true)]);
    let planned = plan(&client, &segment("other"), days[3..4].to_vec(), PAGES)
        .await
        .unwrap();
    assert_eq!(
        (planned.requests(), planned.slices[0].estimated),
        (1, false),
        "of another project"
    );
}
