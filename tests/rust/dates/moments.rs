//! Dates and ranges as users give them.

use docplatform::dates::{Moment, check_range};

#[test]
fn what_is_a_date() {
    for (given, wire) in [
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T00:00:00", "2026-01-31"),
        ("2026-01-31T00:00", "2026-01-31"),
        ("2026-01-31T12:30:00", "2026-01-31T12:30:00"),
        ("2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z"),
        (
            "2026-01-31T00:00:00.000001+02:00",
            "2026-01-31T00:00:00.000001+02:00",
        ),
    ] {
        assert_eq!(Moment::parse("date_from", given).unwrap().as_str(), wire);
    }
    for bad in [
        "",
        "today",
        "2026-1-1",
        "2026-02-30",
        "31.01.2026",
        "20260131",
        "2026-01-31 00:00:00",
        "2026-01-31T25:00:00",
        "2026-01-31T00:00:00[Europe/Paris]",
        "2026-01-31T00:00:00+99:00",
        "٢٠٢٦-٠١-٣١",
        "2026-W05",
        "-026-01-31",
        "0000-01-31",
        "0000-01-31T00:00:00Z",
        "+002026-01-31T00:00:00",
        "2026-01-31\n",
    ] {
        assert!(Moment::parse("date_from", bad).is_err(), "{bad:?}");
    }
}

/// Rows: E12.
#[test]
fn a_range_holds_at_least_something() {
    let moment = |text| Moment::parse("date", text).unwrap();
    let check = |from, to| check_range(Some(&moment(from)), Some(&moment(to)));
    assert!(check("2026-01-01", "2026-01-02").is_ok());
    assert!(check("2026-01-01", "2026-01-01T00:00:01").is_ok());
    assert!(check("2026-01-01T00:00:00Z", "2026-01-01").is_ok());
    assert!(check("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:01Z").is_ok());
    for (from, to) in [
        ("2026-01-01", "2026-01-01"),
        ("2026-01-02", "2026-01-01"),
        ("2026-01-01", "2026-01-01T00:00:00"),
        ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"),
        // Whatever the service's time zone is.
        ("2026-01-02", "2026-01-01T00:00:00Z"),
        ("2026-01-02T00:00:00Z", "2026-01-01"),
    ] {
        assert!(
            check(from, to)
                .unwrap_err()
                .to_string()
                .contains("exclusive"),
            "{from} {to}"
        );
    }
}

/// Rows: D16.
#[test]
fn a_range_settles_days_after_its_end() {
    let settles = |text, days| {
        Moment::parse("date_to", text)
            .unwrap()
            .settles(days)
            .unwrap()
    };
    let midnight = 1_767_225_600_000;
    assert_eq!(settles("2026-01-01", 0), midnight);
    assert_eq!(settles("2026-01-01", 2), midnight + 2 * 86_400_000);
    assert_eq!(settles("2026-01-01T00:00:00Z", 0), midnight);
    assert_eq!(settles("2026-01-01T02:00:00+02:00", 0), midnight);
    assert_eq!(settles("2026-01-01T12:00", 0), midnight + 12 * 3_600_000);
    assert_eq!(
        Moment::parse("date_to", "9999-12-31").unwrap().settles(0),
        None,
        "no instant is so late"
    );
}
