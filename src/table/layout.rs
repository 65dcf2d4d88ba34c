//! The columns of a table or file, but for those of extra fields.

use std::borrow::Cow;

use crate::listing::endpoint::Field;
use crate::table::extras::OTHERS;

/// The prefix for a field of the service that has the name of another column.
const SERVICE: &str = "service_";

/// The columns of a slice's days: its first day, the day after its last, and their number.
pub const DAYS: [&str; 3] = ["date_from", "date_to", "days"];

/// The columns before those of extra fields.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Whether each row names its days.
    pub days: bool,
    pub fields: &'static [Field],
}

impl Layout {
    /// The layout of rows that do not name their days.
    pub fn of(fields: &'static [Field]) -> Self {
        Self {
            days: false,
            fields,
        }
    }

    /// The names of the columns, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        DAYS.into_iter()
            .filter(move |_| self.days)
            .chain(self.fields.iter().map(|field| field.name))
    }

    /// The name of an extra field's column; `None` is the column of all further fields. The name
    /// gets a prefix if another column has it, or if it is such a name with the prefix already.
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
