//! Columns of rows in Arrow's memory. A builder takes single values or whole columns. A finished
//! column never changes.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{
    Array as _, ArrayAccessor, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};

use crate::listing::endpoint::ColumnKind;

/// The usual length of a text, in bytes.
const USUAL_TEXT: usize = 32;

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// The service sent a null, no value, or a value that does not fit the column.
    Null,
    Text(&'a str),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// Microseconds since 1970.
    Time(i64),
    /// JSON as text.
    Json(&'a str),
}

macro_rules! columns {
    ($rows:ident: $($kind:ident: $array:ident, $builder:ident($($capacity:expr),*) $(.$option:ident($value:literal))?;)*) => {
        /// A finished column.
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum Column { $($kind($array)),* }

        /// A column that grows.
        #[derive(Debug)]
        pub(crate) enum ColumnBuilder { $($kind($builder)),* }

        impl ColumnBuilder {
            /// An empty column with memory for that many rows.
            pub(crate) fn new(kind: ColumnKind, $rows: usize) -> Self {
                match kind {
                    $(ColumnKind::$kind => Self::$kind($builder::with_capacity($($capacity),*)$(.$option($value))?),)*
                }
            }

            /// Adds a value, or a null if the value does not fit. Returns whether it fits.
            pub(crate) fn push(&mut self, cell: Cell<'_>) -> bool {
                match (&mut *self, cell) {
                    $((Self::$kind(values), Cell::$kind(value)) => values.append_value(value),)*
                    _ => {
                        self.push_null();
                        return false;
                    }
                }
                true
            }

            pub(crate) fn push_null(&mut self) {
                match self { $(Self::$kind(values) => values.append_null(),)* }
            }

            /// Adds all values of a column of the same kind.
            pub(crate) fn extend(&mut self, column: &Column) {
                match (self, column) {
                    // A text column refuses more than 2 GiB. `TableBuilder` keeps it below that.
                    $((Self::$kind(values), Column::$kind(more)) => { let _ = values.append_array(more); })*
                    _ => {}
                }
            }

            pub(crate) fn finish(self) -> Column {
                match self { $(Self::$kind(mut values) => Column::$kind(values.finish()),)* }
            }
        }

        impl Column {
            /// The value in a row.
            #[inline(always)]
            pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
                match self { $(Self::$kind(values) => value(values, row).map_or(Cell::Null, Cell::$kind),)* }
            }

            pub(crate) fn has_nulls(&self) -> bool {
                match self { $(Self::$kind(values) => values.null_count() > 0,)* }
            }

            /// The same memory as Arrow's libraries take it.
            pub(crate) fn array(&self) -> ArrayRef {
                match self { $(Self::$kind(values) => Arc::new(values.clone()),)* }
            }

            /// Gives memory back that no value needs.
            pub(crate) fn shrink(&mut self) {
                match self { $(Self::$kind(values) => values.shrink_to_fit(),)* }
            }
        }
    };
}

columns! {
    rows:
    Text: StringArray, StringBuilder(rows, rows * USUAL_TEXT);
    Integer: Int64Array, Int64Builder(rows);
    Float: Float64Array, Float64Builder(rows);
    Bool: BooleanArray, BooleanBuilder(rows);
    Time: TimestampMicrosecondArray, TimestampMicrosecondBuilder(rows).with_timezone("UTC");
    Json: StringArray, StringBuilder(rows, rows * USUAL_TEXT);
}

#[inline]
fn value<A: ArrayAccessor>(values: A, row: usize) -> Option<A::Item> {
    (row < values.len() && values.is_valid(row)).then(|| values.value(row))
}

impl Column {
    /// How many bytes its texts have together.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Self::Text(texts) | Self::Json(texts) => texts.value_data().len(),
            _ => 0,
        }
    }

    /// All values, if they are whole numbers or instants and no row is without one.
    pub(crate) fn integers(&self) -> Option<&[i64]> {
        match self {
            _ if self.has_nulls() => None,
            Self::Integer(values) => Some(values.values()),
            Self::Time(values) => Some(values.values()),
            _ => None,
        }
    }
}
