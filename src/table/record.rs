//! What tables and files are made of: a row, and the days that it is of where there are several slices.

use std::borrow::Cow;

use crate::dates::slices::Slice;
use crate::listing::endpoint::Field;
use crate::listing::rows::Row;
use crate::table::extras::OTHERS;

/// Before the name of a field of the service that is named as a column of ours.
const SERVICE: &str = "service_";

/// The columns of a slice's days: its first, the day after its last, and how many they are.
pub const DAYS: [&str; 3] = ["date_from", "date_to", "days"];

/// The columns that stand before anything else the service sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Whether each row names its days.
    pub days: bool,
    /// What each row has of its own.
    pub fields: &'static [Field],
}

impl Layout {
    /// Of one range.
    pub fn of(fields: &'static [Field]) -> Self {
        Self {
            days: false,
            fields,
        }
    }

    /// Of several slices.
    pub fn sliced(fields: &'static [Field]) -> Self {
        Self { days: true, fields }
    }

    /// The columns' names, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        let days: &[_] = if self.days { &DAYS } else { &[] };
        days.iter()
            .copied()
            .chain(self.fields.iter().map(|field| field.name))
    }

    /// The name of an extra field's column beside these (`None`: of those that have no column of their own). A name that
    /// one of ours has gets a prefix, and so does each that would be the same with it.
    pub fn extra(self, name: Option<&str>) -> Cow<'_, str> {
        let Some(name) = name else {
            return OTHERS.into();
        };
        let bare = name.trim_start_matches(SERVICE);
        match bare == OTHERS || self.names().any(|ours| ours == bare) {
            true => format!("{SERVICE}{name}").into(),
            false => name.into(),
        }
    }
}

/// A row and its days.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// Its days, if it names them.
    pub days: Option<Slice>,
    pub row: Row<'a>,
}

impl<'a> From<Row<'a>> for Record<'a> {
    fn from(row: Row<'a>) -> Self {
        Self { days: None, row }
    }
}
