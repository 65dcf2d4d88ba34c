//! Periods: the days that each has, its name, the one before it, and what is refused.

use docplatform::dates::periods::Period;
use docplatform::dates::slices::Slice;
use jiff::ToSpan as _;
use jiff::civil::Date;

const TODAY: Date = jiff::civil::date(2026, 11, 22);

fn parsed(text: &str) -> Period {
    Period::parse(text, TODAY).unwrap()
}

fn days(period: Period) -> String {
    format!("{} {}", period.days.from, period.days.to)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_people_write_has_days_a_kind_a_name_and_a_period_before_it() {
    for (text, has, kind, name, before) in [
        (
            "2025",
            "2025-01-01 2026-01-01",
            "year",
            "2025",
            "2024-01-01 2025-01-01",
        ),
        (
            "2026-Q1",
            "2026-01-01 2026-04-01",
            "quarter",
            "Q1 2026",
            "2025-10-01 2026-01-01",
        ),
        (
            "2024-02",
            "2024-02-01 2024-03-01",
            "month",
            "February 2024",
            "2024-01-01 2024-02-01",
        ),
        (
            "January 2026",
            "2026-01-01 2026-02-01",
            "month",
            "January 2026",
            "2025-12-01 2026-01-01",
        ),
        (
            "oct 2026",
            "2026-10-01 2026-11-01",
            "month",
            "October 2026",
            "2026-09-01 2026-10-01",
        ),
        (
            "2026-W03",
            "2026-01-12 2026-01-19",
            "week",
            "week 3 of 2026 (from 12 January)",
            "2026-01-05 2026-01-12",
        ),
        (
            "2026-w01",
            "2025-12-29 2026-01-05",
            "week",
            "week 1 of 2026 (from 29 December 2025)",
            "2025-12-22 2025-12-29",
        ),
        (
            "2020-W53",
            "2020-12-28 2021-01-04",
            "week",
            "week 53 of 2020 (from 28 December)",
            "2020-12-21 2020-12-28",
        ),
        (
            "2026-01-31",
            "2026-01-31 2026-02-01",
            "day",
            "31 January 2026",
            "2026-01-30 2026-01-31",
        ),
        (
            "2026-11-22",
            "2026-11-22 2026-11-23",
            "day",
            "22 November 2026",
            "2026-11-21 2026-11-22",
        ),
        (
            "yesterday",
            "2026-11-21 2026-11-22",
            "day",
            "21 November 2026",
            "2026-11-20 2026-11-21",
        ),
        (
            " Last 7 days",
            "2026-11-15 2026-11-22",
            "days",
            "15 to 21 November 2026",
            "2026-11-08 2026-11-15",
        ),
        (
            "last 30 days",
            "2026-10-23 2026-11-22",
            "days",
            "23 October to 21 November 2026",
            "2026-09-23 2026-10-23",
        ),
        (
            "last week",
            "2026-11-09 2026-11-16",
            "week",
            "week 46 of 2026 (from 9 November)",
            "2026-11-02 2026-11-09",
        ),
        (
            "last month",
            "2026-10-01 2026-11-01",
            "month",
            "October 2026",
            "2026-09-01 2026-10-01",
        ),
        (
            "last 4 weeks",
            "2026-10-19 2026-11-16",
            "days",
            "19 October to 15 November 2026",
            "2026-09-21 2026-10-19",
        ),
        (
            "Last 3 Months",
            "2026-08-01 2026-11-01",
            "days",
            "1 August to 31 October 2026",
            "2026-05-01 2026-08-01",
        ),
        (
            "last 1 month",
            "2026-10-01 2026-11-01",
            "month",
            "October 2026",
            "2026-09-01 2026-10-01",
        ),
        (
            "last quarter",
            "2026-07-01 2026-10-01",
            "quarter",
            "Q3 2026",
            "2026-04-01 2026-07-01",
        ),
        (
            "last year",
            "2025-01-01 2026-01-01",
            "year",
            "2025",
            "2024-01-01 2025-01-01",
        ),
        (
            "2025-12-30 to 2026-01-02",
            "2025-12-30 2026-01-03",
            "days",
            "30 December 2025 to 2 January 2026",
            "2025-12-26 2025-12-30",
        ),
        (
            "2026-01-01 to 2026-01-31",
            "2026-01-01 2026-02-01",
            "month",
            "January 2026",
            "2025-12-01 2026-01-01",
        ),
        (
            "2026-01 to 2026-03",
            "2026-01-01 2026-04-01",
            "quarter",
            "Q1 2026",
            "2025-10-01 2026-01-01",
        ),
    ] {
        let period = parsed(text);
        assert_eq!(
            (days(period), period.kind.as_str(), period.name()),
            (has.into(), kind, name.into()),
            "{text}"
        );
        assert_eq!(days(period.before().unwrap()), before, "{text}");
        assert_eq!(period.before().unwrap().kind, period.kind, "{text}");
    }
}

#[test]
fn relative_periods_end_before_today_on_any_day() {
    for back in 0..800 {
        let today = TODAY.checked_sub(i64::from(back).days()).unwrap();
        for (text, span) in [
            ("yesterday", 1.day()),
            ("last week", 1.week()),
            ("last month", 1.month()),
            ("last quarter", 3.months()),
            ("last year", 1.year()),
        ] {
            let period = Period::parse(text, today).unwrap();
            assert!(
                period.days.to <= today && Period::of(period.days) == period,
                "{text} {today}"
            );
            // The one after it holds today.
            let to = period.days.to.checked_add(span).unwrap();
            let next = Period::of(Slice {
                from: period.days.to,
                to,
            });
            assert!(
                to > today && next.before() == Some(period),
                "{text} {today}"
            );
        }
    }
}

#[test]
fn what_is_no_period_is_refused_with_what_to_write() {
    for (text, says) in [
        ("2026-13", "months are 01 to 12"),
        ("2026-00", "months are 01 to 12"),
        ("2026-1", "two digits"),
        ("2026-01-5", "two digits"),
        ("2026-02-30", "February 2026 has 28 days"),
        ("2026-Q5", "Q1 to Q4"),
        ("2026-W54", "W01 to W53"),
        ("2025-W53", "W01 to W52"),
        ("2026-W3", "W03"),
        ("last 0 days", "from 1 on"),
        ("last few days", "from 1 on"),
        ("last 9999999 days", "too far"),
        ("last 800000 days", "too far"),
        ("last 99999999999999999999 days", "from 1 on"),
        ("last 0 weeks", "a whole number of weeks from 1 on"),
        ("last 99999999999999 months", "too far"),
        ("last 3 fortnights", "\"last 4 weeks\""),
        ("today", "2026-11-22"),
        ("This month", "2026-11"),
        ("2027", "has not begun"),
        ("2026-12", "has not begun: today is 2026-11-22 in UTC"),
        ("2026-11-23", "has not begun"),
        ("2026-01 to 2025-w53", "W01 to W52"),
        ("2026-02 TO 2026-01", "ends before it begins"),
        ("9999", "too far from today"),
        ("", "2026-W03"),
        ("October", "2026-W03"),
        ("Foo 2026", "2026-W03"),
        ("0000", "2026-W03"),
        ("20260101", "2026-W03"),
        ("2026-01-01T00:00", "two digits"),
        ("2026-01-01-01", "2026-W03"),
        ("٢٠٢٦", "2026-W03"),
        ("2026–01", "2026-W03"),
        ("-026", "2026-W03"),
        ("2026-", "2026-W03"),
    ] {
        let error = Period::parse(text, TODAY).unwrap_err();
        let message = &error.to_string();
        assert!(message.contains(says), "{text}: {message}");
        let written = text.split(" to ").last().unwrap();
        assert!(
            message.contains(&format!("{written:?}")),
            "{text}: {message}"
        );
    }
    assert_eq!(parsed("0001").before(), None);
}

#[test]
fn four_weeks_that_are_a_month_have_four_weeks_before_them() {
    let period = Period::parse("last 4 weeks", jiff::civil::date(2027, 3, 1)).unwrap();
    assert_eq!(days(period), "2027-02-01 2027-03-01");
    assert_eq!(days(period.before().unwrap()), "2027-01-04 2027-02-01");
}
