//! Dates as users give them and as the service wants them.

pub mod periods;
pub mod slices;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::clock::Millis;
use crate::error::{Error, Result, refuse};
use crate::text::message::{Message, Setting, message};

/// A checked date or date-time.
#[derive(Debug, PartialEq, Eq)]
pub struct Moment {
    text: String,
    /// The date and time without a time zone; `Err` if the text names an instant.
    at: Result<DateTime, Timestamp>,
}

impl Moment {
    /// Checks `YYYY-MM-DD` or an ISO 8601 date-time; `what` names it in the error.
    ///
    /// Midnight without an offset is the date itself, so that one range has one name.
    pub fn parse(what: impl Into<Message>, text: &str) -> Result<Self> {
        let what = what.into();
        let fail = || {
            let why = format!(
                " {:?} is not a date: use YYYY-MM-DD or an ISO 8601 date-time",
                crate::text::safe(text, 60),
            );
            Error::argument(message![what.clone(), why])
        };
        // Python's dates begin with the year 1, and a year with a sign may have more digits than
        // four.
        if text.starts_with("0000") || !text.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(fail());
        }
        let at = if text.len() == 10 {
            let day: Date = text.parse().map_err(|_| fail())?;
            Ok(day.to_datetime(Time::midnight()))
        } else if !text.is_ascii() || text.len() < 16 || text.contains(['[', ' ']) {
            return Err(fail());
        } else if let Ok(instant) = text.parse::<Timestamp>() {
            Err(instant)
        } else {
            Ok(text.parse().map_err(|_| fail())?)
        };
        let text = text.to_owned();
        let moment = Self { text, at };
        Ok(moment.day().map_or(moment, Self::of))
    }

    pub fn of(day: Date) -> Self {
        Self {
            text: day.to_string(),
            at: Ok(day.to_datetime(Time::midnight())),
        }
    }

    /// The day; `None` if there is a time.
    pub fn day(&self) -> Option<Date> {
        let at = self.at.as_ref().ok()?;
        (at.time() == Time::midnight()).then(|| at.date())
    }

    /// The day; an error that names it `what` if there is a time.
    pub fn whole_day(&self, what: impl Into<Message>) -> Result<Date> {
        self.day().ok_or_else(|| {
            let why = " must be a day without a time, because slices consist of whole days; it is ";
            Error::argument(message![what, why, self.text.clone()])
        })
    }

    /// As it goes on the wire.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The time at which a range that ends here is `days` in the past; `None` if the end is beyond
    /// the calendar. Dates are taken as UTC, because the service's time zone is unknown; the days
    /// make up for the difference.
    pub fn settles(&self, days: u32) -> Option<Millis> {
        let end = self.in_utc()?.as_millisecond();
        end.checked_add(Millis::from(days) * 86_400_000)
    }

    fn in_utc(&self) -> Option<Timestamp> {
        match &self.at {
            Ok(date) => Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp()),
            Err(instant) => Some(*instant),
        }
    }
}

const A_DAY: SignedDuration = SignedDuration::from_hours(24);

/// Refuses an empty range. The service's time zone is unknown, so that a date and an instant are
/// only compared to a day.
pub fn check_range(from: Option<&Moment>, to: Option<&Moment>) -> Result<()> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    let empty = match (&from.at, &to.at) {
        (Ok(from), Ok(to)) => from >= to,
        (Err(from), Err(to)) => from >= to,
        _ => from
            .in_utc()
            .zip(to.in_utc())
            .is_some_and(|(from, to)| from.duration_since(to) >= A_DAY),
    };
    if empty {
        return refuse(message![
            Setting::DateFrom,
            format!(" {} is not before ", from.text),
            Setting::DateTo,
            format!(" {}; ", to.text),
            Setting::DateTo,
            " is exclusive: for one day, give the day after it",
        ]);
    }
    Ok(())
}

/// A date-time in an answer: ISO 8601, in UTC where it has no offset. A leap second after a colon
/// is refused, as no `datetime` can hold one; without a colon it becomes second 59.
pub fn parse_instant(text: &str) -> Result<Timestamp, String> {
    if let Some(instant) = usual_instant(text) {
        return Ok(instant);
    }
    // jiff reads offsets up to 25:59:59, which RFC 3339 does not allow.
    let time = text.get(11..).unwrap_or_default();
    let offset = time.split_once(['+', '-']).map(|(_, offset)| offset);
    let hours = offset.and_then(|offset| offset.get(..2)?.parse::<u8>().ok());
    let is_readable =
        !text.contains(":60") && text.is_ascii() && hours.is_none_or(|hours| hours < 24);
    let is_local = time.ends_with(|end: char| end.is_ascii_digit()) && offset.is_none();
    let instant = match is_local {
        true => format!("{text}Z").parse(),
        false => text.parse::<Timestamp>(),
    };
    // The range of Python's datetime.
    let is_known =
        |instant: &Timestamp| (1..=9999).contains(&instant.to_zoned(TimeZone::UTC).year());
    let instant = instant.ok().filter(is_known).filter(|_| is_readable);
    instant.ok_or_else(|| {
        let text = crate::text::safe(text, 60);
        format!("{text:?} is not an ISO 8601 date-time")
    })
}

/// An instant as services write it, such as `2026-01-31T12:00:00.000Z`. It has a fast path, because
/// a table may have a million. `None` leaves everything else to the parser for all of ISO 8601.
fn usual_instant(text: &str) -> Option<Timestamp> {
    let is_like = |form: &str| {
        let mut pairs = text.bytes().zip(form.bytes());
        text.len() == form.len()
            && pairs.all(|(c, form)| c == form || form == b'0' && c.is_ascii_digit())
    };
    if !is_like("0000-00-00T00:00:00Z") && !is_like("0000-00-00T00:00:00.000Z") {
        return None;
    }
    let two = |at| text.get(at..at + 2)?.parse().ok();
    let millis: i32 = text.get(20..23).unwrap_or("0").parse().ok()?;
    let year = text.get(..4)?.parse().ok().filter(|&year| year > 0)?;
    let date = Date::new(year, two(5)?, two(8)?).ok()?;
    let time = Time::new(two(11)?, two(14)?, two(17)?, millis * 1_000_000).ok()?;
    Offset::UTC.to_timestamp(date.to_datetime(time)).ok()
}
