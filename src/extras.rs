//! What else the service sent with its rows, as columns: few rows or all may have it, and no two need agree.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use serde_json::{Map, Value};

/// The extra fields of some rows, by the rows' numbers, in ascending order.
type Extras = [(usize, Map<String, Value>)];

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Numbers.
    Float,
    /// Booleans.
    Bool,
    /// Texts, and whatever else as JSON.
    Text,
}

/// One extra field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

impl Kind {
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

    /// As Arrow names it.
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

/// The extra fields, in the order in which they first came.
pub fn columns(extras: &Extras) -> Vec<Column> {
    let mut columns: Vec<(String, Option<Kind>)> = Vec::new();
    for (name, value) in extras.iter().flat_map(|(_, extra)| extra) {
        let kind = Kind::of(value);
        match columns.iter_mut().find(|(other, _)| other == name) {
            None => columns.push((name.clone(), kind)),
            Some((_, known)) => *known = known.zip(kind).map(|(a, b)| a.and(b)).or(*known).or(kind),
        }
    }
    let named = |(name, kind): (String, Option<Kind>)| Column { name, kind: kind.unwrap_or(Kind::Text) };
    columns.into_iter().map(named).collect()
}

/// A value as text: a text as it is, anything else as JSON, a null as nothing.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

impl Column {
    /// Its values for the rows of `range`, null where a row has none.
    pub(crate) fn array(&self, extras: &Extras, range: Range<usize>) -> ArrayRef {
        let values = self.values(extras, range);
        match self.kind {
            Kind::Int => Arc::new(values.map(|value| value?.as_i64()).collect::<Int64Array>()),
            Kind::Float => Arc::new(values.map(|value| value?.as_f64()).collect::<Float64Array>()),
            Kind::Bool => Arc::new(values.map(|value| value?.as_bool()).collect::<BooleanArray>()),
            Kind::Text => Arc::new(values.map(|value| text(value?)).collect::<StringArray>()),
        }
    }

    /// Its value in each row of `range`.
    pub fn values<'a>(
        &'a self,
        extras: &'a Extras,
        range: Range<usize>,
    ) -> impl Iterator<Item = Option<&'a Value>> {
        let first = extras.partition_point(|(row, _)| *row < range.start);
        let mut rest = extras.get(first..).unwrap_or_default().iter().peekable();
        range.map(move |row| rest.next_if(|(at, _)| *at == row).and_then(|(_, extra)| extra.get(&self.name)))
    }
}
