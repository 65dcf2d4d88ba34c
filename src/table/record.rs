//! What tables and files are made of: a visitor row, and the days that it is of where there are several slices.

use std::borrow::Cow;

use crate::dates::slices::Slice;
use crate::listing::visitor_rows::VisitorRow;
use crate::table::extras::OTHERS;

/// Before the name of a field of the service that is named as a column of ours.
const SERVICE: &str = "service_";

/// The columns that stand before whatever else the service sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// Whether each row names its days.
    pub days: bool,
    /// Whether each row names its path; else it is of the whole site.
    pub paths: bool,
}

impl Default for Columns {
    /// Those of one range.
    fn default() -> Self {
        Self { days: false, paths: true }
    }
}

impl Columns {
    /// Their names, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        let days: &[_] = if self.days { &["date_from", "date_to"] } else { &[] };
        let paths: &[_] = if self.paths { &["path"] } else { &[] };
        days.iter().chain(paths).chain(&["human", "ai", "total"]).copied()
    }
}

impl Columns {
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Record<'a> {
    /// Its days, where it names them.
    pub days: Option<Slice>,
    /// The row.
    pub row: VisitorRow<'a>,
}

impl<'a> From<VisitorRow<'a>> for Record<'a> {
    fn from(row: VisitorRow<'a>) -> Self {
        Self { days: None, row }
    }
}
