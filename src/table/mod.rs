//! A finished export: Arrow columns, built page by page as answers arrive.

pub mod extras;
pub mod files;
pub mod formats;
pub mod record;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, PrimitiveArray,
    RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef, TimeUnit};
use jiff::civil::Date;
use serde_json::Value;

use crate::dates::slices::Slice;
use crate::error::{Error, Result};
use crate::listing::endpoint::{Field, Holds};
use crate::listing::rows::{Cell, Cells, ColumnOfCells, Row, Rows, Values};
use crate::table::record::{DAYS, Layout, Record};
use crate::text::safe;

/// Rows in one record batch. Batches are filled one by one, so that no column is copied when it grows.
const MAX_BATCH_ROWS: usize = 64 * 1024;
/// The most characters of a column in one record batch, because its offsets are 32 bits wide.
const MAX_BATCH_TEXT: usize = 1 << 30;

/// A column of Arrow's memory.
fn arrow_column(holds: Holds, ColumnOfCells { values, valid }: ColumnOfCells) -> ArrayRef {
    let nulls = (!valid.is_empty()).then(|| NullBuffer::from(valid));
    match values {
        Values::Text(mut text, ends) => {
            text.shrink_to_fit();
            // Below 2^30 by the builder's check, but for one page beyond it: a body has at most 2^29 bytes.
            let offset = |end: usize| i32::try_from(end).unwrap_or(i32::MAX);
            let offsets = std::iter::once(0)
                .chain(ends.into_iter().map(offset))
                .collect::<Vec<_>>();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            Arc::new(StringArray::new(
                offsets,
                Buffer::from_vec(text.into_bytes()),
                nulls,
            ))
        }
        Values::Integer(mut values) => {
            values.shrink_to_fit();
            let values = ScalarBuffer::from(values);
            match holds {
                Holds::Time => {
                    Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone("UTC"))
                }
                _ => Arc::new(Int64Array::new(values, nulls)),
            }
        }
        Values::Float(values) => Arc::new(Float64Array::new(ScalarBuffer::from(values), nulls)),
        Values::Flag(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
    }
}

/// How Arrow names a field's column.
pub(crate) fn arrow_field(field: &Field) -> ArrowField {
    let data_type = match field.holds {
        Holds::Text | Holds::Json => DataType::Utf8,
        Holds::Integer => DataType::Int64,
        Holds::Float => DataType::Float64,
        Holds::Flag => DataType::Boolean,
        Holds::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    };
    ArrowField::new(field.name, data_type, !field.required)
}

/// Some rows in Arrow's memory.
#[derive(Debug)]
struct Chunk {
    /// The number of its first row.
    start: usize,
    len: usize,
    fields: &'static [Field],
    columns: Vec<ArrayRef>,
}

impl Chunk {
    fn end(&self) -> usize {
        self.start + self.len
    }

    /// The values of a column, if they are whole numbers or instants and there is one in each row.
    fn integers(&self, column: usize) -> Option<&[i64]> {
        let array = self
            .columns
            .get(column)
            .filter(|array| array.null_count() == 0)?;
        let integers = array
            .as_primitive_opt::<Int64Type>()
            .map(PrimitiveArray::values);
        let times = || {
            array
                .as_primitive_opt::<TimestampMicrosecondType>()
                .map(PrimitiveArray::values)
        };
        integers.or_else(times).map(AsRef::as_ref)
    }
}

impl Cells for Chunk {
    fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        let (Some(array), Some(field)) = (self.columns.get(column), self.fields.get(column)) else {
            return Cell::Null;
        };
        if array.is_null(row) {
            return Cell::Null;
        }
        let array = array.as_ref();
        let cell = match field.holds {
            Holds::Text => array
                .as_string_opt::<i32>()
                .map(|texts| Cell::Text(texts.value(row))),
            Holds::Json => array
                .as_string_opt::<i32>()
                .map(|texts| Cell::Json(texts.value(row))),
            Holds::Integer => array
                .as_primitive_opt::<Int64Type>()
                .map(|array| Cell::Integer(array.value(row))),
            Holds::Float => array
                .as_primitive_opt::<Float64Type>()
                .map(|array| Cell::Float(array.value(row))),
            Holds::Flag => array
                .as_boolean_opt()
                .map(|flags| Cell::Flag(flags.value(row))),
            Holds::Time => array
                .as_primitive_opt::<TimestampMicrosecondType>()
                .map(|times| Cell::Time(times.value(row))),
        };
        cell.unwrap_or(Cell::Null)
    }
}

/// All rows of an export, never changed again.
#[derive(Debug)]
pub struct Table {
    chunks: Vec<Chunk>,
    len: usize,
    layout: Layout,
    /// Where the rows of each slice end, in a table of several.
    slices: Vec<(usize, Slice)>,
    /// What else the service sent, for the rows that have it, in their order.
    extras: Vec<(usize, Value)>,
    /// The same as columns, once they are asked for.
    batches: OnceLock<Result<(SchemaRef, Vec<RecordBatch>)>>,
}

impl Table {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        let chunk = self
            .chunks
            .get(self.chunks.partition_point(|chunk| chunk.end() <= at))?;
        let other = self.extras.binary_search_by_key(&at, |(row, _)| *row).ok();
        let other = other
            .and_then(|at| self.extras.get(at))
            .map(|(_, other)| other);
        Some(Row::new(self.layout.fields, chunk, at - chunk.start, other))
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        let mut extras = self.extras.iter().peekable();
        self.chunks
            .iter()
            .flat_map(|chunk| (0..chunk.len).map(move |at| (chunk, at)))
            .map(move |(chunk, at)| {
                let other = extras
                    .next_if(|(row, _)| *row == chunk.start + at)
                    .map(|(_, other)| other);
                Row::new(self.layout.fields, chunk, at, other)
            })
    }

    pub fn records(&self) -> impl Iterator<Item = Record<'_>> + Clone {
        self.rows()
            .zip(self.days(0..self.len))
            .map(|(row, days)| Record { days, row })
    }

    pub fn record(&self, at: usize) -> Option<Record<'_>> {
        Some(Record {
            days: self.days(at..at + 1).next()?,
            row: self.row(at)?,
        })
    }

    /// The numbers of the rows, sorted by a column of numbers or times. The largest value comes first, and rows without a value last. Rows
    /// with the same value keep their order.
    pub fn ranked(&self, by: &str) -> Result<Vec<usize>> {
        let (schema, batches) = self.arrow()?;
        let mut known = Vec::new();
        for (column, field) in schema.fields().iter().enumerate() {
            if !matches!(
                field.data_type(),
                DataType::Int64 | DataType::Float64 | DataType::Date32 | DataType::Timestamp(..)
            ) {
                continue;
            }
            if field.name() == by {
                let keys = |batch: &RecordBatch| batch.columns().get(column).map(sort_keys);
                let keys: Vec<_> = batches.iter().filter_map(keys).flatten().collect();
                let mut rows: Vec<_> = (0..self.len).collect();
                rows.sort_by_key(|row| Reverse(keys.get(*row)));
                return Ok(rows);
            }
            known.push(safe(field.name(), 60));
        }
        Err(Error::argument(format!(
            "by must be a column of numbers or times ({}); it is {:?}",
            match known.is_empty() {
                true => "this table has none".to_owned(),
                false => known.join(", "),
            },
            safe(by, 60)
        )))
    }

    /// The table of these rows, in this order.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let mut builder = Builder::new(self.layout);
        for Record { days, row } in rows.iter().filter_map(|at| self.record(*at)) {
            let mut one = Rows::new(self.layout.fields, None);
            one.push_row(&row);
            builder.extend(&one);
            if let Some(days) = days {
                builder.end_slice(days);
            }
        }
        builder.finish()
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub fn slices(&self) -> &[(usize, Slice)] {
        &self.slices
    }

    pub fn days(&self, rows: Range<usize>) -> impl Iterator<Item = Option<Slice>> + Clone {
        let first = self.slices.partition_point(|(end, _)| *end <= rows.start);
        let mut rest = self.slices.get(first..).unwrap_or_default();
        rows.map(move |row| {
            while let Some(((end, _), later)) = rest.split_first()
                && *end <= row
            {
                rest = later;
            }
            rest.first().map(|(_, days)| *days)
        })
    }

    /// A column of whole numbers or instants, chunk by chunk; `None` if it is not one, or has nulls.
    pub fn integers(&self, name: &str) -> Option<Vec<&[i64]>> {
        let column = self
            .layout
            .fields
            .iter()
            .position(|field| field.name == name)?;
        self.chunks
            .iter()
            .map(|chunk| chunk.integers(column))
            .collect()
    }

    /// The columns of the fields, chunk by chunk, with the numbers of the rows.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Range<usize>, Vec<ArrayRef>)> {
        self.chunks
            .iter()
            .map(|chunk| (chunk.start..chunk.end(), chunk.columns.clone()))
    }

    /// The extra fields of rows that have some, in the order of the rows.
    pub fn extras(&self) -> &[(usize, Value)] {
        &self.extras
    }

    /// The schema, which stands for zero rows too: days, the fields, then everything else that came.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(Arc::clone(&self.arrow()?.0))
    }

    /// The rows as Arrow has them, without a copy.
    pub fn reader(&self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let (schema, batches) = self.arrow()?;
        Ok(Box::new(RecordBatchIterator::new(
            batches.clone().into_iter().map(Ok),
            Arc::clone(schema),
        )))
    }

    fn arrow(&self) -> Result<&(SchemaRef, Vec<RecordBatch>)> {
        self.batches
            .get_or_init(|| self.to_arrow())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn to_arrow(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let days: &[_] = if self.layout.days { &DAYS } else { &[] };
        let days = days
            .iter()
            .zip([DataType::Date32, DataType::Date32, DataType::Int64]);
        let mut fields: Vec<_> = days
            .map(|(name, kind)| ArrowField::new(*name, kind, false))
            .collect();
        fields.extend(self.layout.fields.iter().map(arrow_field));
        let more = extras::columns(&self.extras);
        // A name in Arrow's C interface ends at a NUL.
        let name =
            |column: &extras::Column<'_>| self.layout.extra(column.name).replace('\0', "\u{FFFD}");
        fields.extend(
            more.iter()
                .map(|column| ArrowField::new(name(&column), column.kind.data_type(), true)),
        );
        let schema = Arc::new(Schema::new(fields));
        let batch = |chunk: &Chunk| {
            let rows = chunk.start..chunk.end();
            let mut columns = Vec::new();
            if self.layout.days {
                columns.extend([
                    self.days_of(rows.clone(), |days| days.from)?,
                    self.days_of(rows.clone(), |days| days.to)?,
                    Arc::new(Int64Array::from_iter_values(self.day_counts(rows.clone()))),
                ]);
            }
            columns.extend_from_slice(&chunk.columns);
            for column in more.iter() {
                columns.push(column.array(&self.extras, rows.clone())?);
            }
            let count = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &count).map_err(
                |error| {
                    Error::bug(format!(
                        "rows {} to {} of a table are no columns: {error}",
                        rows.start, rows.end
                    ))
                },
            )
        };
        let batches = self.chunks.iter().map(batch).collect::<Result<_>>()?;
        Ok((schema, batches))
    }

    fn days_of(&self, rows: Range<usize>, of: fn(Slice) -> Date) -> Result<ArrayRef> {
        let numbers = self.days(rows.clone()).zip(rows).map(|(days, row)| {
            days.map(|days| number(of(days)))
                .ok_or_else(|| Error::bug(format!("row {row} of a table has no days")))
        });
        Ok(Arc::new(Date32Array::from_iter_values(
            numbers.collect::<Result<Vec<_>>>()?,
        )))
    }

    /// How many days some rows are of.
    pub fn day_counts(&self, rows: Range<usize>) -> impl Iterator<Item = i64> {
        self.days(rows)
            .map(|days| days.map_or(0, |days| i64::from(days.count())))
    }
}

/// Whole numbers that are sorted like the values of a column; `None` for a null, which is below all of them.
fn sort_keys(array: &ArrayRef) -> Vec<Option<i64>> {
    fn keys<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        key: fn(T::Native) -> i64,
    ) -> Vec<Option<i64>> {
        let values = array.as_primitive_opt::<T>();
        values.map_or_else(Vec::new, |values| {
            values.iter().map(|value| value.map(key)).collect()
        })
    }
    match array.data_type() {
        DataType::Float64 => keys::<Float64Type>(array, |value| {
            // The bits of a negative float are sorted backwards.
            let bits = value.to_bits().cast_signed();
            bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
        }),
        DataType::Date32 => keys::<Date32Type>(array, i64::from),
        DataType::Timestamp(..) => keys::<TimestampMicrosecondType>(array, |time| time),
        _ => keys::<Int64Type>(array, |number| number),
    }
}

/// A day as Arrow counts: from 1970 on.
pub fn number(day: Date) -> i32 {
    // What a civil date can be is far within.
    let hours = day.duration_since(jiff::civil::date(1970, 1, 1)).as_hours();
    i32::try_from(hours / 24).unwrap_or_default()
}

/// Rows on their way into a table.
#[derive(Debug)]
pub struct Builder {
    table: Table,
    /// Those that came since the last chunk.
    rows: Rows,
}

impl Builder {
    pub fn new(layout: Layout) -> Self {
        let table = Table {
            chunks: Vec::new(),
            len: 0,
            layout,
            slices: Vec::new(),
            extras: Vec::new(),
            batches: OnceLock::new(),
        };
        Self {
            table,
            rows: Rows::new(layout.fields, None),
        }
    }

    /// All rows that came since the last slice are of these days.
    pub fn end_slice(&mut self, days: Slice) {
        let end = self.len();
        match self.table.slices.last_mut() {
            Some(last) if last.1 == days => last.0 = end,
            _ => self.table.slices.push((end, days)),
        }
    }

    pub fn len(&self) -> usize {
        self.table.len + self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn extend(&mut self, rows: &Rows) {
        let texts = self.rows.columns().iter().zip(rows.columns());
        if self.rows.len() + rows.len() > MAX_BATCH_ROWS
            || texts
                .into_iter()
                .any(|(ours, more)| ours.text_len() + more.text_len() > MAX_BATCH_TEXT)
        {
            self.seal();
        }
        self.rows.extend(rows);
    }

    /// Makes a chunk of what came since the last one.
    fn seal(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let fields = self.table.layout.fields;
        let rows = std::mem::replace(&mut self.rows, Rows::new(fields, None));
        let (start, len) = (self.table.len, rows.len());
        let (columns, extras) = rows.into_parts();
        self.table
            .extras
            .extend(extras.into_iter().map(|(row, other)| (start + row, other)));
        let columns = columns
            .into_iter()
            .zip(fields)
            .map(|(column, field)| arrow_column(field.holds, column));
        self.table.chunks.push(Chunk {
            start,
            len,
            fields,
            columns: columns.collect(),
        });
        self.table.len += len;
    }

    pub fn finish(mut self) -> Table {
        self.seal();
        self.table
    }
}
