//! Periods as people name them ("2026-01", "last week"): the days they have, their names, and the
//! period before each.

use std::str::FromStr;

use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::fmt::strtime;
use jiff::{Span, ToSpan as _};
use serde::{Deserialize, Serialize};

use crate::dates::slices::Slice;
use crate::error::{Error, Result};
use crate::text::message::{Setting, message};
use crate::text::named_enum;
use crate::text::safe;

const FORMS: &str = "use \"2026\", \"2026-Q1\", \"2026-01\", \"2026-W03\", \"2026-01-31\", \"2026-01-15 to 2026-02-14\", \
                     \"yesterday\", \"last 7 days\", \"last 4 weeks\", \"last 3 months\", \"last month\", \"last quarter\" or \"last year\"";

named_enum! {
    /// The kind of a period on the calendar. Checkpoints have those of slices.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    PeriodKind {
        #[serde(skip)]
        Year = "year",
        #[serde(skip)]
        Quarter = "quarter",
        Month = "month",
        /// A week from Monday on, numbered as ISO 8601 does.
        Week = "week",
        Day = "day",
        /// Any other number of days.
        #[serde(skip)]
        Days = "days",
    }
}

impl PeriodKind {
    /// The length of slices that a user names.
    pub fn parse(name: &str) -> Result<Self> {
        let kind = Self::named(name);
        let kind = kind.filter(|kind| matches!(kind, Self::Day | Self::Week | Self::Month));
        kind.ok_or_else(|| {
            let name = safe(name, 60);
            let why =
                format!(" must be \"day\", \"week\" or \"month\", or left out; it is {name:?}");
            Error::argument(message![Setting::Every, why])
        })
    }

    /// The length of one; `None` for a number of days that the calendar has no name for.
    fn span(self) -> Option<Span> {
        match self {
            Self::Year => Some(1.year()),
            Self::Quarter => Some(3.months()),
            Self::Month => Some(1.month()),
            Self::Week => Some(1.week()),
            Self::Day => Some(1.day()),
            Self::Days => None,
        }
    }

    /// The first day of the period that `day` is in.
    fn first(self, day: Date) -> Option<Date> {
        let month = |month| Date::new(day.year(), month, 1).ok();
        match self {
            Self::Year => month(1),
            Self::Quarter => month((day.month() - 1) / 3 * 3 + 1),
            Self::Month => month(day.month()),
            Self::Week => day
                .checked_sub(i64::from(day.weekday().since(Weekday::Monday)).days())
                .ok(),
            Self::Day | Self::Days => Some(day),
        }
    }

    /// The first day after the period that `day` is in.
    pub fn end(self, day: Date) -> Option<Date> {
        self.first(day)?.checked_add(self.span()?).ok()
    }

    /// Whether these days are one.
    pub fn is_whole(self, days: Slice) -> bool {
        self.first(days.from) == Some(days.from) && self.end(days.from) == Some(days.to)
    }

    /// The days of the whole slices that these days lie in.
    pub fn around(self, days: Slice) -> Option<Slice> {
        let last = days.to.yesterday().ok()?;
        let (from, to) = (self.first(days.from)?, self.end(last)?);
        Some(Slice { from, to })
    }
}

/// Some days in a row that people compare with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Its days; the end is exclusive.
    pub days: Slice,
    /// The kind on the calendar.
    pub kind: PeriodKind,
}

impl Period {
    /// Reads a period as people write it. Relative periods consist of whole days in UTC, without
    /// `today`.
    pub fn parse(text: &str, today: Date) -> Result<Self> {
        let refuse = |text: &str, why| {
            let what = format!(" {:?}{why}", safe(text, 60));
            Error::argument(message![Setting::Period, what])
        };
        let named = |part: &str| {
            let part = part.trim();
            named(&part.to_ascii_lowercase(), today).map_err(|why| refuse(part, why))
        };
        // The bytes of ASCII have the same places in lower case.
        let to = text.to_ascii_lowercase().find(" to ");
        let period = match to.and_then(|to| text.get(..to).zip(text.get(to + 4..))) {
            Some((first, last)) => {
                let (first, last) = (named(first)?, named(last)?);
                if first.days.from >= last.days.to {
                    return Err(refuse(text, ": it ends before it begins".to_owned()));
                }
                let (from, to) = (first.days.from, last.days.to);
                Self::of(Slice { from, to })
            }
            None => named(text)?,
        };
        if period.days.from > today {
            let why = format!(" has not begun: today is {today} in UTC");
            return Err(refuse(text, why));
        }
        Ok(period)
    }

    /// The period that consists of these days.
    pub fn of(days: Slice) -> Self {
        let kind = PeriodKind::VARIANTS.iter().find(|kind| kind.is_whole(days));
        Self {
            days,
            kind: *kind.unwrap_or(&PeriodKind::Days),
        }
    }

    /// The period of the same kind before it, or as many days before it. `None` if it would begin
    /// before the year 1.
    pub fn before(self) -> Option<Self> {
        let span = self.kind.span();
        let span = span.unwrap_or_else(|| i64::from(self.days.count()).days());
        Some(Self {
            days: before(self.days.from, span)?,
            kind: self.kind,
        })
    }

    /// Its name: `October 2026`, `week 3 of 2026 (from 12 January)`,
    /// `15 January to 14 February 2026`.
    pub fn name(self) -> String {
        const WHOLE_DATE: &str = "%-d %B %Y";
        let Slice { from, to } = self.days;
        // A range is never empty.
        let last = to.yesterday().unwrap_or(from);
        let form = match self.kind {
            PeriodKind::Year => "%Y",
            PeriodKind::Quarter => "Q%q %Y",
            PeriodKind::Month => "%B %Y",
            PeriodKind::Week if from.iso_week_date().year() == from.year() => {
                "week %-V of %G (from %-d %B)"
            }
            PeriodKind::Week => "week %-V of %G (from %-d %B %Y)",
            PeriodKind::Day => WHOLE_DATE,
            PeriodKind::Days => {
                let first = match (from.year() == last.year(), from.month() == last.month()) {
                    (true, true) => "%-d",
                    (true, false) => "%-d %B",
                    (false, _) => WHOLE_DATE,
                };
                return format!("{} to {}", from.strftime(first), last.strftime(WHOLE_DATE));
            }
        };
        from.strftime(form).to_string()
    }
}

/// A single period; `words` is in lower case. An error is the end of a sentence that begins with
/// the period.
fn named(words: &str, today: Date) -> Result<Period, String> {
    let now = words.strip_prefix("this ").and_then(calendar_kind);
    if now.is_some() || words == "today" {
        let month = today.strftime("%Y-%m");
        return Err(format!(
            ": it is not over: name it by its date, such as {today} or {month}"
        ));
    }
    let last = match words {
        "yesterday" => Some("day"),
        _ => words.strip_prefix("last "),
    };
    let Some(last) = last else {
        return calendar(words);
    };
    let (number, unit) = last.rsplit_once(' ').unwrap_or(("1", last));
    let singular = unit.strip_suffix('s').unwrap_or(unit);
    let kind = calendar_kind(singular).ok_or_else(unknown)?;
    let number = number.trim().parse().ok().filter(|number| *number > 0);
    let number: i64 =
        number.ok_or_else(|| format!(": give a whole number of {singular}s from 1 on"))?;
    before_today(kind, number, today).ok_or_else(|| ": it goes back too far".to_owned())
}

/// The last periods of a kind before the one that today is in.
fn before_today(kind: PeriodKind, number: i64, today: Date) -> Option<Period> {
    let span = kind.span()?.checked_mul(number).ok()?;
    let days = before(kind.first(today)?, span)?;
    let kind = match kind {
        _ if number == 1 => kind,
        // Four weeks stay four weeks where they happen to be a month, so that four weeks are before
        // them.
        PeriodKind::Day | PeriodKind::Week => PeriodKind::Days,
        _ => return Some(Period::of(days)),
    };
    Some(Period { days, kind })
}

/// The days before `to`. Python's dates begin with the year 1.
fn before(to: Date, span: Span) -> Option<Slice> {
    let from = to.checked_sub(span).ok().filter(|from| from.year() > 0)?;
    Some(Slice { from, to })
}

/// A kind of the calendar by its name in lower case.
fn calendar_kind(name: &str) -> Option<PeriodKind> {
    PeriodKind::named(name).filter(|kind| *kind != PeriodKind::Days)
}

fn unknown() -> String {
    format!(" is not known: {FORMS}")
}

/// A year, quarter, month, week or day by its number, or a month by its name.
fn calendar(words: &str) -> Result<Period, String> {
    if let Some((name, year)) = words.split_once(' ') {
        let month = |form| strtime::parse(form, name).ok()?.month();
        let number = month("%B").or_else(|| month("%b")).ok_or_else(unknown)?;
        return calendar(&format!("{year}-{number:02}")).map_err(|_| unknown());
    }
    let (year, rest) = words.split_at_checked(4).ok_or_else(unknown)?;
    let year_number = digits(year, 4).filter(|number| *number > 0);
    let year_number: i16 = year_number.ok_or_else(unknown)?;
    let begin = |month: i8, day: i8| Date::new(year_number, month, day).ok();
    let (from, kind) = if rest.is_empty() {
        (begin(1, 1), PeriodKind::Year)
    } else if let Some(number) = rest.strip_prefix("-q") {
        let quarter: i8 = digits(number, 1).ok_or_else(unknown)?;
        if !(1..=4).contains(&quarter) {
            return Err(": quarters are Q1 to Q4".to_owned());
        }
        (begin(quarter * 3 - 2, 1), PeriodKind::Quarter)
    } else if let Some(number) = rest.strip_prefix("-w") {
        let week: i8 =
            digits(number, 2).ok_or_else(|| ": give the week two digits, as W03".to_owned())?;
        let monday = ISOWeekDate::new(year_number, week, Weekday::Monday);
        let weeks = begin(7, 1).map_or(52, |day| day.iso_week_date().weeks_in_year());
        let date = monday.map_err(|_| format!(": {year} has the weeks W01 to W{weeks}"))?;
        (Some(date.date()), PeriodKind::Week)
    } else {
        let mut parts = rest.strip_prefix('-').ok_or_else(unknown)?.split('-');
        let (number, day, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if more.is_some() || !is_number(number) {
            return Err(unknown());
        }
        let two = || ": give months and days two digits, as 2026-01 or 2026-01-31".to_owned();
        let month: i8 = digits(number, 2).ok_or_else(two)?;
        let first = begin(month, 1).ok_or_else(|| ": months are 01 to 12".to_owned())?;
        match day {
            None => (Some(first), PeriodKind::Month),
            Some(day) => {
                let day: i8 = digits(day, 2).ok_or_else(two)?;
                let short = || {
                    let (month, days) = (first.strftime("%B"), first.days_in_month());
                    format!(": {month} {year} has {days} days")
                };
                (Some(begin(month, day).ok_or_else(short)?), PeriodKind::Day)
            }
        }
    };
    let period = |from| {
        let to = kind.end(from)?;
        let days = Slice { from, to };
        Some(Period { days, kind })
    };
    let far = || ": it is too far from today".to_owned();
    from.and_then(period).ok_or_else(far)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of that many digits.
fn digits<T: FromStr>(text: &str, count: usize) -> Option<T> {
    text.parse()
        .ok()
        .filter(|_| text.len() == count && is_number(text))
}
