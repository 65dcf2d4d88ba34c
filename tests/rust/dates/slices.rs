//! Ranges in slices.

use jiff::ToSpan as _;

use docplatform::dates::Moment;
use docplatform::dates::slices::{Every, Slice, slices, whole};
use docplatform::error::Result;
use jiff::civil::Date;

fn cut(from: &str, to: &str, every: Option<Every>) -> Result<Vec<String>> {
    let moment = |text| Moment::parse("date", text).unwrap();
    let slices = slices(&moment(from), &moment(to), every)?;
    Ok(slices
        .iter()
        .map(|slice| format!("{} {}", slice.from, slice.to))
        .collect())
}

#[test]
fn slices_are_cut_at_days_mondays_and_months() {
    let cut = |from, to, every| cut(from, to, every).unwrap();
    assert_eq!(
        cut("2024-02-28", "2024-03-02", Some(Every::Day)),
        [
            "2024-02-28 2024-02-29",
            "2024-02-29 2024-03-01",
            "2024-03-01 2024-03-02"
        ]
    );
    // 2026-01-05 is a Monday.
    assert_eq!(
        cut("2026-01-01", "2026-01-14", Some(Every::Week)),
        [
            "2026-01-01 2026-01-05",
            "2026-01-05 2026-01-12",
            "2026-01-12 2026-01-14"
        ]
    );
    assert_eq!(
        cut("2025-12-31", "2026-03-01", Some(Every::Month)),
        [
            "2025-12-31 2026-01-01",
            "2026-01-01 2026-02-01",
            "2026-02-01 2026-03-01"
        ]
    );
    assert_eq!(
        cut("2026-01-01", "2026-03-01", None),
        ["2026-01-01 2026-03-01"]
    );
    assert_eq!(
        cut("9999-12-30", "9999-12-31", Some(Every::Month)),
        ["9999-12-30 9999-12-31"]
    );
}

#[test]
fn slices_tile_any_range() {
    let start: Date = "2023-11-17".parse().unwrap();
    for length in 1..800 {
        let end = start.checked_add(i64::from(length).days()).unwrap();
        for every in [
            None,
            Some(Every::Day),
            Some(Every::Week),
            Some(Every::Month),
        ] {
            let slices = slices(&Moment::of(start), &Moment::of(end), every).unwrap();
            assert_eq!((slices[0].from, slices[slices.len() - 1].to), (start, end));
            assert!(slices.windows(2).all(|pair| pair[0].to == pair[1].from));
            assert!(slices.iter().all(|slice| slice.from < slice.to));
        }
    }
}

#[test]
fn parts_of_slices_differ_from_whole_ones() {
    let whole = |from: &str, to: &str| {
        let days = Slice {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        };
        [Every::Day, Every::Week, Every::Month].map(|every| every.is_whole(days))
    };
    assert_eq!(whole("2026-01-05", "2026-01-06"), [true, false, false]);
    assert_eq!(whole("2026-01-05", "2026-01-12"), [false, true, false]);
    assert_eq!(whole("2026-01-06", "2026-01-12"), [false; 3]);
    assert_eq!(whole("2026-01-05", "2026-01-11"), [false; 3]);
    assert_eq!(whole("2026-02-01", "2026-03-01"), [false, false, true]);
    assert_eq!(whole("2026-02-02", "2026-03-01"), [false; 3]);
    assert_eq!(whole("2026-02-01", "2026-02-28"), [false; 3]);
}

#[test]
fn cut_slices_can_be_left_out() {
    let moment = |text| Moment::parse("date", text).unwrap();
    let some = |every| slices(&moment("2026-01-01"), &moment("2026-02-15"), every).unwrap();
    let left = |every| -> Vec<_> {
        whole(some(every), every)
            .unwrap()
            .iter()
            .map(|days| days.from.to_string())
            .collect()
    };
    assert_eq!(left(Some(Every::Month)), ["2026-01-01"]);
    let weeks = left(Some(Every::Week));
    assert_eq!(
        (weeks.len(), weeks[0].as_str(), weeks[4].as_str()),
        (5, "2026-01-05", "2026-02-02")
    );
    assert_eq!((left(Some(Every::Day)).len(), left(None).len()), (45, 1));
    let part = slices(
        &moment("2026-01-02"),
        &moment("2026-01-31"),
        Some(Every::Month),
    )
    .unwrap();
    assert!(
        whole(part, Some(Every::Month))
            .unwrap_err()
            .to_string()
            .contains("no whole month")
    );
}

#[test]
fn parts_of_days_and_absurd_ranges_are_refused() {
    for from in ["2026-01-01T12:00", "2026-01-01T00:00:00Z"] {
        assert!(
            cut(from, "2026-02-01", Some(Every::Day))
                .unwrap_err()
                .to_string()
                .contains("whole")
        );
    }
    assert!(cut("0001-01-01", "9999-01-01", Some(Every::Day)).is_err());
    assert!(Every::parse("hour").is_err());
}
