//! A range of days in slices: half-open, without gap or overlap.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::dates::Moment;
/// How long a slice is: a day, a week from Monday on, or a month.
pub use crate::dates::periods::PeriodKind as Every;
use crate::error::{Result, refuse};
use crate::text::message::{Setting, message};

/// The days of more than a hundred years. More slices are surely a mistake.
const MAX_SLICES: usize = 40_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    pub from: Date,
    /// The day after the last one.
    pub to: Date,
}

impl Slice {
    /// The days between two dates as they go on the wire; `None` if one of them has a time.
    pub fn parse(from: &str, to: &str) -> Option<Self> {
        let day = |text| Moment::parse("date", text).ok()?.day();
        Some(Self {
            from: day(from)?,
            to: day(to)?,
        })
    }

    pub fn count(&self) -> i32 {
        // All civil dates fit.
        let hours = self.to.duration_since(self.from).as_hours();
        i32::try_from(hours / 24).unwrap_or_default()
    }

    /// The time at which it is treated as final; `None`: never.
    pub fn settles(&self, days: u32) -> Option<crate::clock::Millis> {
        Moment::of(self.to).settles(days)
    }
}

/// The slices of a range of whole days; a single one if `every` is `None`. The first and the last
/// are cut to fit.
pub fn slices(from: &Moment, to: &Moment, every: Option<Every>) -> Result<Vec<Slice>> {
    let (mut from, to) = (
        from.whole_day(Setting::DateFrom)?,
        to.whole_day(Setting::DateTo)?,
    );
    let mut slices = Vec::new();
    while from < to {
        if slices.len() == MAX_SLICES {
            return refuse(message![
                format!(
                    "the range has more than {MAX_SLICES} slices: give a shorter range or a longer "
                ),
                Setting::Every.argument(),
            ]);
        }
        let end = every.and_then(|every| every.end(from));
        let to = end.map_or(to, |end| end.min(to));
        slices.push(Slice { from, to });
        from = to;
    }
    Ok(slices)
}

/// The slices that are a whole day, week or month; an error if there is none. Without `every`, all
/// of them.
pub fn whole(mut slices: Vec<Slice>, every: Option<Every>) -> Result<Vec<Slice>> {
    if let Some(every) = every {
        slices.retain(|days| every.is_whole(*days));
        if slices.is_empty() {
            return refuse(message![
                format!("the range has no whole {}: leave out ", every.as_str()),
                Setting::Whole.to(true),
                ", or name a longer range",
            ]);
        }
    }
    Ok(slices)
}

/// The slices that have begun by `today`; an error if there is none. A later slice would cost a
/// request and have no rows. Without `every`, all of them.
pub fn begun(mut slices: Vec<Slice>, every: Option<Every>, today: Date) -> Result<Vec<Slice>> {
    if every.is_some() {
        slices.retain(|days| days.from <= today);
        if slices.is_empty() {
            return refuse(format!(
                "no slice of the range has begun: today is {today} in UTC"
            ));
        }
    }
    Ok(slices)
}
