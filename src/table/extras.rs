//! Extra fields that the service sent, as columns: any row may have them, with any type.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The extra fields of some rows, by the rows' numbers, in ascending order; all of a row that is no object.
type Extras = [(usize, Value)];

/// The column of rows that are no objects.
const BARE: &str = "value";

/// The fields of what else came of a row.
pub(crate) fn fields(other: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let object = other.as_object();
    let bare = if object.is_none() {
        Some((BARE, other))
    } else {
        None
    };
    object
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
        .chain(bare)
}

/// How many extra fields have a column of their own. The service chooses their names, and each column takes memory in
/// every row, so all further fields share the column [`OTHERS`].
pub const MAX_COLUMNS: usize = 100;
/// The column of the fields that have none of their own, as JSON.
pub const OTHERS: &str = "other_fields";

/// The extra fields that have columns, in the order in which they first came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    places: HashMap<String, usize>,
    order: Vec<String>,
    /// Whether there are fields beyond.
    others: bool,
}

impl Names {
    /// Takes a field in; its place among the columns.
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

    /// The columns; `None`: that of the others.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let others = self.others.then_some(None);
        self.order
            .iter()
            .map(|name| Some(name.as_str()))
            .chain(others)
    }

    /// A row's value in a column.
    pub(crate) fn value<'a>(
        &self,
        column: Option<&str>,
        other: &'a Value,
    ) -> Option<Cow<'a, Value>> {
        if let Some(name) = column {
            let found = other
                .as_object()
                .map_or((name == BARE).then_some(other), |extra| extra.get(name));
            return found.map(Cow::Borrowed);
        }
        let others = fields(other).filter(|(name, _)| !self.places.contains_key(*name));
        let others: Map<_, _> = others
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        (!others.is_empty()).then(|| Cow::Owned(Value::Object(others)))
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraType {
    Int,
    Float,
    Bool,
    /// Texts, and anything else as JSON.
    Text,
}

#[derive(Debug)]
pub struct ExtraColumns {
    names: Names,
    kinds: Vec<ExtraType>,
}

impl ExtraType {
    /// What one value is; `None` for a null, which fits everywhere.
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Bool),
            Value::Number(number) if number.is_i64() => Some(Self::Int),
            // A whole number beyond 64 bits would lose digits as a float.
            Value::Number(number) if is_float(&number.to_string()) => Some(Self::Float),
            _ => Some(Self::Text),
        }
    }

    /// What holds both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Int | Self::Float, Self::Int | Self::Float) => Self::Float,
            _ => Self::Text,
        }
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Int => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Bool => DataType::Boolean,
            Self::Text => DataType::Utf8,
        }
    }
}

fn is_float(text: &str) -> bool {
    text.contains(['.', 'e', 'E']) && text.parse().is_ok_and(f64::is_finite)
}

/// What the values of a column are.
#[derive(Debug, Default)]
struct ValuesSeen {
    kind: Option<ExtraType>,
    /// Whether there is a whole number that a float may not hold.
    long: bool,
}

impl ValuesSeen {
    fn add(&mut self, value: &Value) {
        let kind = ExtraType::of(value);
        self.kind = self
            .kind
            .zip(kind)
            .map(|(a, b)| a.and(b))
            .or(self.kind)
            .or(kind);
        self.long |= value
            .as_i64()
            .is_some_and(|int| int.unsigned_abs() > 1 << 53);
    }

    /// What holds them all.
    fn kind(&self) -> ExtraType {
        self.kind
            .filter(|&kind| !(kind == ExtraType::Float && self.long))
            .unwrap_or(ExtraType::Text)
    }
}

pub fn columns(extras: &Extras) -> ExtraColumns {
    let mut names = Names::default();
    let mut values: Vec<ValuesSeen> = Vec::new();
    for (name, value) in extras.iter().flat_map(|(_, other)| fields(other)) {
        let place = names.add(name);
        if place >= values.len() {
            values.resize_with(place + 1, ValuesSeen::default);
        }
        if let Some(values) = values.get_mut(place) {
            match place == MAX_COLUMNS {
                true => values.kind = Some(ExtraType::Text),
                false => values.add(value),
            }
        }
    }
    ExtraColumns {
        names,
        kinds: values.iter().map(ValuesSeen::kind).collect(),
    }
}

/// A value as text: a text as it is, anything else as JSON, a null as nothing.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// One extra field, or the others.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Its name, as the service has it; `None`: the others.
    pub name: Option<&'a str>,
    pub kind: ExtraType,
    names: &'a Names,
}

impl ExtraColumns {
    pub fn iter(&self) -> impl Iterator<Item = Column<'_>> {
        let names = &self.names;
        names
            .iter()
            .zip(&self.kinds)
            .map(move |(name, &kind)| Column { name, kind, names })
    }
}

impl Column<'_> {
    /// Its values for the rows of `range`, null where a row has none.
    pub(crate) fn array(&self, extras: &Extras, range: Range<usize>) -> Result<ArrayRef> {
        let values = self.values(extras, range);
        Ok(match self.kind {
            ExtraType::Int => Arc::new(values.map(|value| value?.as_i64()).collect::<Int64Array>()),
            ExtraType::Float => Arc::new(
                values
                    .map(|value| value?.as_f64())
                    .collect::<Float64Array>(),
            ),
            ExtraType::Bool => Arc::new(
                values
                    .map(|value| value?.as_bool())
                    .collect::<BooleanArray>(),
            ),
            ExtraType::Text => {
                let texts: Vec<_> = values.map(|value| text(&*value?)).collect();
                if i32::try_from(texts.iter().flatten().map(String::len).sum::<usize>()).is_err() {
                    let name = crate::text::safe(self.name.unwrap_or(OTHERS), 60);
                    return Err(Error::new(
                        crate::error::Kind::Response,
                        format!(
                            "the field {name:?} holds more than 2 GiB of text in {} rows",
                            texts.len()
                        ),
                    ));
                }
                Arc::new(StringArray::from(texts))
            }
        })
    }

    /// Its value in each row of `range`.
    pub fn values<'a>(
        &self,
        extras: &'a Extras,
        range: Range<usize>,
    ) -> impl Iterator<Item = Option<Cow<'a, Value>>> {
        let first = extras.partition_point(|(row, _)| *row < range.start);
        let mut rest = extras.get(first..).unwrap_or_default().iter().peekable();
        range.map(move |row| {
            let (_, other) = rest.next_if(|(at, _)| *at == row)?;
            self.names.value(self.name, other)
        })
    }
}
