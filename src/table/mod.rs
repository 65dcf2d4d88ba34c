//! Tables: rows of an export, a trend or a comparison in Arrow's columns. A builder fills them page
//! by page as answers arrive.

pub mod extras;
pub mod files;
pub mod formats;
pub mod layout;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchOptions,
    RecordBatchReader,
};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef, TimeUnit};
use jiff::civil::{Date, date};
use serde_json::Value;

use crate::dates::slices::Slice;
use crate::error::{Error, Result, refuse};
use crate::listing::columns::Column;
use crate::listing::endpoint::{ColumnKind, position};
use crate::listing::rows::{Row, Rows, RowsBuilder};
use crate::table::layout::{DAYS, Layout};
use crate::text::safe;

/// Rows in one record batch. Batches are filled one by one, so that at most one is copied when its
/// columns grow.
const MAX_BATCH_ROWS: usize = 64 * 1024;
/// The most bytes of text in one record batch, because the offsets of its columns are 32 bits wide.
const MAX_BATCH_TEXT: usize = 1 << 30;

/// A column in an Arrow schema.
pub(crate) fn arrow_field(name: &str, kind: ColumnKind, nullable: bool) -> ArrowField {
    let data_type = match kind {
        ColumnKind::Text | ColumnKind::Json => DataType::Utf8,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Float => DataType::Float64,
        ColumnKind::Bool => DataType::Boolean,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    };
    ArrowField::new(name, data_type, nullable)
}

/// Rows of an export, a trend or a comparison, never changed again.
#[derive(Debug)]
pub struct Table {
    pub layout: Layout,
    /// Where the rows of each slice end, in a table of several.
    pub slices: Vec<(usize, Slice)>,
    /// The rows in batches, each with the number of its first row.
    chunks: Vec<(usize, Rows)>,
    len: usize,
    /// The same rows as Arrow's batches, once they are asked for.
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
        let is_before = |(start, rows): &(usize, Rows)| start + rows.len() <= at;
        let (start, rows) = self.chunks.get(self.chunks.partition_point(is_before))?;
        Some(Row {
            days: self.days(at..at + 1).next()?,
            ..rows.row(at - start)?
        })
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        self.chunks()
            .flat_map(Rows::iter)
            .zip(self.days(0..self.len))
            .map(|(row, days)| Row { days, ..row })
    }

    /// The numbers of the rows, sorted by a column of numbers or times. The largest value comes
    /// first, and rows without a value last. Rows with the same value keep their order.
    pub fn ranked(&self, by: &str) -> Result<Vec<usize>> {
        let (schema, batches) = self.arrow()?;
        let mut known = Vec::new();
        for (column, field) in schema.fields().iter().enumerate() {
            let kind = field.data_type();
            if !kind.is_numeric() && !kind.is_temporal() {
                continue;
            }
            if field.name() == by {
                let keys: Vec<_> = batches
                    .iter()
                    .filter_map(|batch| batch.columns().get(column))
                    .flat_map(sort_keys)
                    .collect();
                let mut rows: Vec<_> = (0..self.len).collect();
                rows.sort_by_key(|row| Reverse(keys.get(*row)));
                return Ok(rows);
            }
            known.push(safe(field.name(), 60));
        }
        if known.is_empty() {
            known.push("this table has none".to_owned());
        }
        refuse(format!(
            "by must be a column of numbers or times ({}); it is {:?}",
            known.join(", "),
            safe(by, 60)
        ))
    }

    /// The table of these rows, in this order.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let mut builder = TableBuilder::new(self.layout);
        for row in rows.iter().filter_map(|at| self.row(*at)) {
            let mut one = RowsBuilder::new(self.layout.fields, None, 1);
            one.push_row(&row);
            builder.extend(&one.finish());
            if let Some(days) = row.days {
                builder.end_slice(days);
            }
        }
        builder.finish()
    }

    /// The days of each of these rows; `None` if the rows do not name their days.
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

    /// A column of whole numbers or instants, chunk by chunk; `None` if it is not one, or has
    /// nulls.
    pub fn integers(&self, name: &str) -> Option<Vec<&[i64]>> {
        let column = position(self.layout.fields, name)?;
        self.chunks()
            .map(|rows| rows.columns.get(column))
            .map(|column| column?.integers())
            .collect()
    }

    /// The rows in batches.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Rows> + Clone {
        self.chunks.iter().map(|(_, rows)| rows)
    }

    /// [`Row::other`] of the rows that have one.
    pub fn others(&self) -> impl Iterator<Item = &Value> {
        self.chunks()
            .flat_map(|rows| &rows.others)
            .map(|(_, other)| other)
    }

    /// The schema, also of a table without rows: days, the fields, then extra fields.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(Arc::clone(&self.arrow()?.0))
    }

    /// The rows as Arrow has them, without a copy.
    pub fn reader(&self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let (schema, batches) = self.arrow()?.clone();
        let batches = batches.into_iter().map(Ok);
        Ok(Box::new(RecordBatchIterator::new(batches, schema)))
    }

    fn arrow(&self) -> Result<&(SchemaRef, Vec<RecordBatch>)> {
        self.batches
            .get_or_init(|| self.to_arrow())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn to_arrow(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let Layout { days, fields } = self.layout;
        let day_types = [DataType::Date32, DataType::Date32, DataType::Int64];
        let day_fields = DAYS
            .into_iter()
            .zip(day_types)
            .filter(|_| days)
            .map(|(name, kind)| ArrowField::new(name, kind, false));
        let ours = fields
            .iter()
            .map(|field| arrow_field(field.name, field.kind, !field.required));
        let extra = extras::columns(self.others());
        let more = extra.iter().map(|column| {
            // A name in Arrow's C interface ends at a NUL.
            let name = self.layout.extra(column.name).replace('\0', "\u{FFFD}");
            arrow_field(&name, column.kind, true)
        });
        let all: Vec<_> = day_fields.chain(ours).chain(more).collect();
        let schema = Arc::new(Schema::new(all));
        let batch = |(start, rows): &(usize, Rows)| {
            let mut columns: Vec<ArrayRef> = Vec::new();
            if days {
                let days: Option<Vec<_>> = self.days(*start..start + rows.len()).collect();
                let days = days.ok_or_else(|| Error::bug("a row of a table has no days"))?;
                for of in [|days: &Slice| days.from, |days: &Slice| days.to] {
                    let dates = days.iter().map(of).map(number);
                    columns.push(Arc::new(Date32Array::from_iter_values(dates)));
                }
                let counts = days.iter().map(|days| i64::from(days.count()));
                columns.push(Arc::new(Int64Array::from_iter_values(counts)));
            }
            columns.extend(rows.columns.iter().map(Column::array));
            for column in extra.iter() {
                columns.push(column.array(rows)?);
            }
            let count = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &count)
                .map_err(|error| Error::bug(format!("the rows of a table are no columns: {error}")))
        };
        let batches = self.chunks.iter().map(batch).collect::<Result<_>>()?;
        Ok((schema, batches))
    }
}

/// Whole numbers that are sorted like the values of a column; `None` for a null, which is below all
/// of them.
fn sort_keys(array: &ArrayRef) -> Vec<Option<i64>> {
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        let key = |value: f64| {
            // The bits of a negative float are sorted backwards.
            let bits = value.to_bits().cast_signed();
            bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
        };
        return floats.iter().map(|value| value.map(key)).collect();
    }
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        return days.iter().map(|day| day.map(i64::from)).collect();
    }
    match array.as_primitive_opt::<TimestampMicrosecondType>() {
        Some(times) => times.iter().collect(),
        None => array.as_primitive::<Int64Type>().iter().collect(),
    }
}

/// A day as Arrow counts: from 1970 on.
pub fn number(day: Date) -> i32 {
    let (from, to) = (date(1970, 1, 1), day);
    Slice { from, to }.count()
}

/// Rows on their way into a table.
#[derive(Debug)]
pub struct TableBuilder {
    table: Table,
    /// The rows since the last chunk.
    rows: RowsBuilder,
    /// The bytes of their texts.
    text_len: usize,
}

impl TableBuilder {
    pub fn new(layout: Layout) -> Self {
        let (slices, chunks, batches) = Default::default();
        Self {
            table: Table {
                layout,
                slices,
                chunks,
                len: 0,
                batches,
            },
            rows: RowsBuilder::new(layout.fields, None, 0),
            text_len: 0,
        }
    }

    /// Assigns these days to all rows since the last slice.
    pub fn end_slice(&mut self, days: Slice) {
        let end = self.len();
        match self.table.slices.last_mut() {
            Some(last) if last.1 == days => last.0 = end,
            _ => self.table.slices.push((end, days)),
        }
    }

    pub fn len(&self) -> usize {
        self.table.len + self.rows.len
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn extend(&mut self, rows: &Rows) {
        let text_len: usize = rows.columns.iter().map(Column::text_len).sum();
        if self.rows.len + rows.len() > MAX_BATCH_ROWS || self.text_len + text_len > MAX_BATCH_TEXT
        {
            self.end_chunk();
        }
        self.text_len += text_len;
        self.rows.extend(rows);
    }

    /// Makes a chunk of the rows since the last one.
    fn end_chunk(&mut self) {
        let next = RowsBuilder::new(self.table.layout.fields, None, 0);
        let mut rows = std::mem::replace(&mut self.rows, next).finish();
        if !rows.is_empty() {
            rows.columns.iter_mut().for_each(Column::shrink);
            let start = self.table.len;
            self.table.len += rows.len();
            self.table.chunks.push((start, rows));
        }
        self.text_len = 0;
    }

    pub fn finish(mut self) -> Table {
        self.end_chunk();
        self.table
    }
}
