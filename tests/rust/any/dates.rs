//! Dates in, instants out.

use docplatform::dates::{Moment, check_range, parse_instant};
use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;

use super::cases;

fn any_date() -> impl Strategy<Value = Date> {
    (1..=9999_i16, 1..=12_i8, 1..=31_i8)
        .prop_filter_map("no such day", |(y, m, d)| Date::new(y, m, d).ok())
}

fn any_time() -> impl Strategy<Value = DateTime> {
    let micros = prop_oneof![
        Just(0),
        (0..1000_i64).prop_map(|millis| millis * 1000),
        0..1_000_000_i64
    ];
    (any_date(), 0..86_400_i64, micros).prop_map(|(date, second, micro)| {
        date.at(0, 0, 0, 0) + second.seconds().microseconds(micro)
    })
}

/// Seconds east of Greenwich, as ISO 8601 writes them; without an offset it is UTC.
fn any_offset() -> impl Strategy<Value = (i64, String)> {
    let offset = (-23..=23_i64, 0..60_i64).prop_map(|(hours, minutes)| {
        let sign = if hours < 0 { '-' } else { '+' };
        let seconds = hours.abs() * 3600 + minutes * 60;
        (
            if hours < 0 { -seconds } else { seconds },
            format!("{sign}{:02}:{minutes:02}", hours.abs()),
        )
    });
    prop_oneof![1 => Just((0, "Z".to_owned())), 1 => Just((0, String::new())), 3 => offset]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_range_is_empty_where_its_end_is_not_after_its_beginning(from in any_time(), to in any_time()) {
        let moment = |at: DateTime| Moment::parse("date", &at.to_string()).unwrap();
        let (first, last) = (moment(from), moment(to));
        prop_assert_eq!(check_range(Some(&first), Some(&last)).is_ok(), from < to);
        prop_assert!(check_range(Some(&first), Some(&first)).is_err());
    }

    /// Rows: D16.
    #[test]
    fn an_instant_is_the_same_in_any_offset(at in any_time(), (east, offset) in any_offset()) {
        let text = format!("{at}{offset}");
        let instant = at.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp() - east.seconds();
        let year = instant.to_zoned(jiff::tz::TimeZone::UTC).year();
        match parse_instant(&text) {
            Ok(read) => prop_assert_eq!(read, instant),
            Err(error) => prop_assert!(!(1..=9999).contains(&year), "{}", error),
        }
        let read: Option<Timestamp> = text.parse().ok();
        if let (Some(read), Ok(moment)) = (read, Moment::parse("date", &text)) {
            let utc = Moment::parse("date", &read.to_string());
            prop_assert!(utc.is_ok_and(|utc| check_range(Some(&utc), Some(&moment)).is_err()));
        }
    }

}
