//! A range of days in slices: half-open, without gap or overlap.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::dates::Moment;
use crate::dates::periods::PeriodKind;
use crate::error::{Error, Result};
use crate::text::message::{Setting, message};

/// The days of a hundred years. More slices are surely a mistake.
const MAX_SLICES: usize = 40_000;

/// How long a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Every {
    Day,
    /// A week, from Monday on.
    Week,
    Month,
}

impl Every {
    pub fn parse(name: &str) -> Result<Self> {
        [Self::Day, Self::Week, Self::Month]
            .into_iter()
            .find(|every| every.as_str() == name)
            .ok_or_else(|| {
                let name = crate::text::safe(name, 60);
                let why =
                    format!(" must be \"day\", \"week\" or \"month\", or left out; it is {name:?}");
                Error::argument(message![Setting::Every, why])
            })
    }

    fn kind(self) -> PeriodKind {
        match self {
            Self::Day => PeriodKind::Day,
            Self::Week => PeriodKind::Week,
            Self::Month => PeriodKind::Month,
        }
    }

    pub fn as_str(self) -> &'static str {
        self.kind().as_str()
    }

    /// Whether these days are a whole slice.
    pub fn is_whole(self, days: Slice) -> bool {
        self.kind().is(days)
    }

    /// The days of the whole slices that these days lie in.
    pub fn around(self, days: Slice) -> Option<Slice> {
        Some(Slice {
            from: self.kind().first(days.from)?,
            to: self.end(days.to.yesterday().ok()?)?,
        })
    }

    /// Whether these days are more than one slice.
    pub fn cuts(self, days: Slice) -> bool {
        self.end(days.from).is_some_and(|end| end < days.to)
    }

    /// The first day after the slice that holds `day`.
    pub fn end(self, day: Date) -> Option<Date> {
        self.kind().end(day)
    }
}

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

/// The slices of a range of whole days; a single one if `every` is `None`. The first and the last are cut to fit.
pub fn slices(from: &Moment, to: &Moment, every: Option<Every>) -> Result<Vec<Slice>> {
    let (mut from, to) = (
        from.whole_day(Setting::DateFrom)?,
        to.whole_day(Setting::DateTo)?,
    );
    let mut slices = Vec::new();
    while from < to {
        if slices.len() == MAX_SLICES {
            return Err(Error::argument(message![
                format!(
                    "the range has more than {MAX_SLICES} slices: give a shorter range or a longer "
                ),
                Setting::Every.argument(),
            ]));
        }
        let end = every
            .and_then(|every| every.end(from))
            .map_or(to, |end| end.min(to));
        slices.push(Slice { from, to: end });
        from = end;
    }
    Ok(slices)
}

/// The slices that are a whole day, week or month; an error if there is none.
pub fn whole(slices: Vec<Slice>, every: Option<Every>) -> Result<Vec<Slice>> {
    let Some(every) = every else {
        return Ok(slices);
    };
    let whole: Vec<_> = slices
        .into_iter()
        .filter(|days| every.is_whole(*days))
        .collect();
    match whole.is_empty() {
        true => {
            let every = every.as_str();
            Err(Error::argument(message![
                format!("the range has no whole {every}: leave out "),
                Setting::Whole.to(true),
                ", or name a longer range",
            ]))
        }
        false => Ok(whole),
    }
}

/// The slices that have begun by `today`; an error if there is none. A later slice would cost a request and have no rows.
pub fn begun(slices: Vec<Slice>, every: Option<Every>, today: Date) -> Result<Vec<Slice>> {
    if every.is_none() {
        return Ok(slices);
    }
    let begun: Vec<_> = slices
        .into_iter()
        .filter(|days| days.from <= today)
        .collect();
    match begun.is_empty() {
        true => Err(Error::argument(format!(
            "the range has not begun: today is {today} in UTC"
        ))),
        false => Ok(begun),
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

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
}
