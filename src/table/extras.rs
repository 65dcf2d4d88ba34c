//! Columns of extra fields: any row may have them, with values of any type.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use serde_json::{Map, Value};

use crate::error::{Error, Kind, Result};
use crate::listing::endpoint::ColumnKind;
use crate::listing::rows::Rows;

/// The column of rows that are no objects.
const BARE: &str = "value";

/// How many extra fields have a column of their own. The service chooses their names, and each
/// column takes memory in every row, so all further fields share the column [`OTHERS`].
pub const MAX_COLUMNS: usize = 100;
/// The column of the fields that have none of their own, as JSON.
pub const OTHERS: &str = "other_fields";

/// The extra fields of a row, or all of a row that is no object. `other`: see
/// [`Row`](crate::listing::rows::Row).
pub(crate) fn fields(other: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let object = other.as_object();
    let bare = object.is_none().then_some((BARE, other));
    object
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
        .chain(bare)
}

/// The extra fields that have columns, in the order of their first appearance.
#[derive(Debug, Default)]
pub struct ExtraNames {
    places: HashMap<String, usize>,
    order: Vec<String>,
    /// Whether further fields share the last column.
    others: bool,
}

impl ExtraNames {
    /// Adds a field if it is new. Returns the number of its column.
    pub(crate) fn add(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.order.len();
        if place == MAX_COLUMNS {
            self.others = true;
        } else {
            self.places.insert(name.to_owned(), place);
            self.order.push(name.to_owned());
        }
        place
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len() + usize::from(self.others)
    }

    /// The names of the columns; `None` is the column that further fields share.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.order
            .iter()
            .map(|name| Some(name.as_str()))
            .chain(self.others.then_some(None))
    }

    /// A row's value in a column.
    pub(crate) fn value<'a>(
        &self,
        column: Option<&str>,
        other: &'a Value,
    ) -> Option<Cow<'a, Value>> {
        if let Some(name) = column {
            let bare = (name == BARE).then_some(other);
            return other
                .as_object()
                .map_or(bare, |extra| extra.get(name))
                .map(Cow::Borrowed);
        }
        let others: Map<_, _> = fields(other)
            .filter(|(name, _)| !self.places.contains_key(*name))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        (!others.is_empty()).then(|| Cow::Owned(Value::Object(others)))
    }
}

#[derive(Debug)]
pub struct ExtraColumns {
    names: ExtraNames,
    kinds: Vec<ColumnKind>,
}

/// The kind of one value; `None` for a null, which fits every column.
fn kind_of(value: &Value) -> Option<ColumnKind> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(ColumnKind::Bool),
        Value::Number(number) if number.is_i64() => Some(ColumnKind::Integer),
        // A whole number that no `i64` holds would lose digits as a float.
        Value::Number(number) if is_float(&number.to_string()) => Some(ColumnKind::Float),
        _ => Some(ColumnKind::Text),
    }
}

/// The kind for values of both. Texts, and values of several kinds as JSON, are texts.
fn common_kind(one: ColumnKind, other: ColumnKind) -> ColumnKind {
    use ColumnKind::{Float, Integer, Text};
    match (one, other) {
        (one, other) if one == other => one,
        (Integer | Float, Integer | Float) => Float,
        _ => Text,
    }
}

fn is_float(text: &str) -> bool {
    text.contains(['.', 'e', 'E']) && text.parse().is_ok_and(f64::is_finite)
}

/// The types of the values of a column so far.
#[derive(Debug, Default)]
struct ValuesSeen {
    kind: Option<ColumnKind>,
    /// Whether a whole number is beyond 2^53, so that a float may change it.
    long: bool,
}

impl ValuesSeen {
    fn add(&mut self, value: &Value) {
        let kind = kind_of(value);
        let both = self
            .kind
            .zip(kind)
            .map(|(one, other)| common_kind(one, other));
        self.kind = both.or(self.kind).or(kind);
        self.long |= (value.as_i64()).is_some_and(|int| int.unsigned_abs() > 1 << 53);
    }

    /// The type for all values.
    fn kind(&self) -> ColumnKind {
        self.kind
            .filter(|&kind| !(kind == ColumnKind::Float && self.long))
            .unwrap_or(ColumnKind::Text)
    }
}

/// The columns for these extra fields. `others`: see [`Row`](crate::listing::rows::Row).
pub fn columns<'a>(others: impl Iterator<Item = &'a Value>) -> ExtraColumns {
    let mut names = ExtraNames::default();
    let mut seen: Vec<ValuesSeen> = Vec::new();
    for (name, value) in others.flat_map(fields) {
        let place = names.add(name);
        if place >= seen.len() {
            seen.resize_with(place + 1, ValuesSeen::default);
        }
        if let Some(values) = seen.get_mut(place) {
            match place == MAX_COLUMNS {
                true => values.kind = Some(ColumnKind::Text),
                false => values.add(value),
            }
        }
    }
    ExtraColumns {
        names,
        kinds: seen.iter().map(ValuesSeen::kind).collect(),
    }
}

/// A value as text: a string as it is, anything else as JSON, and nothing for a null.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The column of an extra field.
#[derive(Debug, Clone, Copy)]
pub struct ExtraColumn<'a> {
    /// The service's name for the field; `None` if further fields share the column.
    pub name: Option<&'a str>,
    pub kind: ColumnKind,
    names: &'a ExtraNames,
}

impl ExtraColumns {
    pub fn iter(&self) -> impl Iterator<Item = ExtraColumn<'_>> {
        let names = &self.names;
        names
            .iter()
            .zip(&self.kinds)
            .map(move |(name, &kind)| ExtraColumn { name, kind, names })
    }
}

impl ExtraColumn<'_> {
    /// A row's value, given its [`Row::other`](crate::listing::rows::Row::other).
    pub fn value<'a>(&self, other: Option<&'a Value>) -> Option<Cow<'a, Value>> {
        self.names.value(self.name, other?)
    }

    pub(crate) fn array(&self, rows: &Rows) -> Result<ArrayRef> {
        let values = rows.iter().map(|row| self.value(row.other));
        Ok(match self.kind {
            ColumnKind::Integer => {
                Arc::new(values.map(|value| value?.as_i64()).collect::<Int64Array>())
            }
            ColumnKind::Float => Arc::new(
                values
                    .map(|value| value?.as_f64())
                    .collect::<Float64Array>(),
            ),
            ColumnKind::Bool => Arc::new(
                values
                    .map(|value| value?.as_bool())
                    .collect::<BooleanArray>(),
            ),
            _ => {
                let texts: Vec<_> = values.map(|value| text(&*value?)).collect();
                if i32::try_from(texts.iter().flatten().map(String::len).sum::<usize>()).is_err() {
                    let name = crate::text::safe(self.name.unwrap_or(OTHERS), 60);
                    let (rows, what) = (texts.len(), "holds more than 2 GiB of text");
                    let text = format!("the field {name:?} {what} in {rows} rows");
                    return Err(Error::new(Kind::Response, text));
                }
                Arc::new(StringArray::from(texts))
            }
        })
    }
}
