//! A finished export: Arrow columns, built page by page as answers arrive.

pub mod extras;
pub mod files;
pub mod formats;
pub mod record;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::dates::slices::Slice;
use crate::error::{Error, Result};
use crate::listing::visitor_rows::{VisitorRow, VisitorRows};
use crate::table::record::{Columns, Record};

/// Rows in one record batch. Batches are filled one by one, so that no column is ever copied to grow.
const MAX_BATCH_ROWS: usize = 64 * 1024;
/// Letters in one record batch: its offsets are 32 bits wide.
const MAX_BATCH_TEXT: usize = 1 << 30;

/// Some rows in Arrow's memory.
#[derive(Debug)]
struct Chunk {
    /// The number of its first row.
    start: usize,
    path: StringArray,
    human: Int64Array,
    ai: Int64Array,
    total: Int64Array,
}

impl Chunk {
    fn columns(&self) -> [ArrayRef; 4] {
        // Each clone shares its memory.
        [
            Arc::new(self.path.clone()),
            Arc::new(self.human.clone()),
            Arc::new(self.ai.clone()),
            Arc::new(self.total.clone()),
        ]
    }

    fn end(&self) -> usize {
        self.start + self.human.len()
    }
}

/// One of the three counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountColumn {
    /// Unique people.
    Human,
    /// Unique AI agents.
    Ai,
    /// Unique visitors, deduplicated.
    Total,
}

/// All rows of an export, never changed again.
#[derive(Debug, Default)]
pub struct Table {
    chunks: Vec<Chunk>,
    len: usize,
    columns: Columns,
    /// Where the rows of each slice end, in a table of several.
    slices: Vec<(usize, Slice)>,
    /// What else the service sent, for the rows that have it, in their order.
    extras: Vec<(usize, Map<String, Value>)>,
    /// The same as columns, once they are asked for.
    batches: OnceLock<Result<(SchemaRef, Vec<RecordBatch>)>>,
}

impl Table {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One row.
    pub fn row(&self, at: usize) -> Option<VisitorRow<'_>> {
        let chunk = self.chunks.get(self.chunks.partition_point(|chunk| chunk.end() <= at))?;
        let place = at - chunk.start;
        let extra = self.extras.binary_search_by_key(&at, |(row, _)| *row).ok();
        Some(VisitorRow {
            path: chunk.path.value(place),
            human: chunk.human.value(place),
            ai: chunk.ai.value(place),
            total: chunk.total.value(place),
            extra: extra.and_then(|at| self.extras.get(at)).map(|(_, extra)| extra),
        })
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = VisitorRow<'_>> + Clone {
        let mut extras = self.extras.iter().peekable();
        self.chunks.iter().flat_map(|chunk| (0..chunk.human.len()).map(move |at| (chunk, at))).map(
            move |(chunk, at)| VisitorRow {
                path: chunk.path.value(at),
                human: chunk.human.value(at),
                ai: chunk.ai.value(at),
                total: chunk.total.value(at),
                extra: extras.next_if(|(row, _)| *row == chunk.start + at).map(|(_, extra)| extra),
            },
        )
    }

    /// All rows with their days, in order.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> + Clone {
        self.rows().zip(self.days(0..self.len)).map(|(row, days)| Record { days, row })
    }

    /// One row with its days.
    pub fn record(&self, at: usize) -> Option<Record<'_>> {
        Some(Record { days: self.days(at..at + 1).next()?, row: self.row(at)? })
    }

    /// The columns before whatever else the service sent.
    pub fn columns(&self) -> Columns {
        self.columns
    }

    /// Where the rows of each slice end, in a table of several.
    pub fn slices(&self) -> &[(usize, Slice)] {
        &self.slices
    }

    /// The days of some rows.
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

    /// A column of counts, chunk by chunk.
    pub fn counts(&self, which: CountColumn) -> impl Iterator<Item = &[i64]> {
        self.chunks.iter().map(move |chunk| {
            let column = match which {
                CountColumn::Human => &chunk.human,
                CountColumn::Ai => &chunk.ai,
                CountColumn::Total => &chunk.total,
            };
            column.values().as_ref()
        })
    }

    /// The path and the three counts, chunk by chunk, with the numbers of the rows.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Range<usize>, [ArrayRef; 4])> {
        self.chunks.iter().map(|chunk| (chunk.start..chunk.end(), chunk.columns()))
    }

    /// What else the service sent, for the rows that have it, in their order.
    pub fn extras(&self) -> &[(usize, Map<String, Value>)] {
        &self.extras
    }

    /// The schema, which stands for zero rows too: `path` and three counts, then whatever else came.
    pub fn schema(&self) -> Result<SchemaRef> {
        Ok(Arc::clone(&self.arrow()?.0))
    }

    /// The rows as Arrow has them, without a copy.
    pub fn reader(&self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let (schema, batches) = self.arrow()?;
        Ok(Box::new(RecordBatchIterator::new(batches.clone().into_iter().map(Ok), Arc::clone(schema))))
    }

    /// How much memory the four columns take, in bytes.
    pub fn arrow_bytes(&self) -> usize {
        let column = |chunk: &Chunk| chunk.path.value_data().len() + (chunk.human.len() * (3 * 8 + 4)) + 4;
        self.chunks.iter().map(column).sum()
    }

    fn arrow(&self) -> Result<&(SchemaRef, Vec<RecordBatch>)> {
        self.batches.get_or_init(|| self.to_arrow()).as_ref().map_err(Clone::clone)
    }

    fn to_arrow(&self) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        let field = |name| {
            let data_type = match name {
                "date_from" | "date_to" => DataType::Date32,
                "path" => DataType::Utf8,
                _ => DataType::Int64,
            };
            Field::new(name, data_type, false)
        };
        let mut fields: Vec<_> = self.columns.names().map(field).collect();
        let more = extras::columns(&self.extras);
        let name = |column: &extras::Column<'_>| self.columns.extra(column.name).into_owned();
        fields.extend(more.iter().map(|column| Field::new(name(&column), column.kind.data_type(), true)));
        let schema = Arc::new(Schema::new(fields));
        let batch = |chunk: &Chunk| {
            let rows = chunk.start..chunk.end();
            let mut columns = Vec::new();
            if self.columns.days {
                columns.extend([
                    self.days_of(rows.clone(), |days| days.from)?,
                    self.days_of(rows.clone(), |days| days.to)?,
                ]);
            }
            columns.extend(chunk.columns().into_iter().skip(usize::from(!self.columns.paths)));
            for column in more.iter() {
                columns.push(column.array(&self.extras, rows.clone())?);
            }
            RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| {
                Error::bug(format!("rows {} to {} of a table are no columns: {error}", rows.start, rows.end))
            })
        };
        let batches = self.chunks.iter().map(batch).collect::<Result<_>>()?;
        Ok((schema, batches))
    }

    fn days_of(&self, rows: Range<usize>, of: fn(Slice) -> Date) -> Result<ArrayRef> {
        let days = self.day_numbers(rows, of).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Date32Array::from_iter_values(days)))
    }

    /// A column of days, as Arrow counts them.
    pub fn day_numbers(
        &self,
        rows: Range<usize>,
        of: fn(Slice) -> Date,
    ) -> impl Iterator<Item = Result<i32>> {
        self.days(rows.clone()).zip(rows).map(move |(days, row)| {
            days.map(|days| number(of(days)))
                .ok_or_else(|| Error::bug(format!("row {row} of a table has no days")))
        })
    }
}

/// A day as Arrow counts: from 1970 on.
pub fn number(day: Date) -> i32 {
    // What a civil date can be is far within.
    let hours = day.duration_since(jiff::civil::date(1970, 1, 1)).as_hours();
    i32::try_from(hours / 24).unwrap_or_default()
}

/// Rows on their way into a table.
#[derive(Debug, Default)]
pub struct Builder {
    table: Table,
    text: Vec<u8>,
    offsets: Vec<i32>,
    human: Vec<i64>,
    ai: Vec<i64>,
    total: Vec<i64>,
}

impl Builder {
    /// For a table of several slices.
    pub fn sliced(paths: bool) -> Self {
        let table = Table { columns: Columns { days: true, paths }, ..Table::default() };
        Self { table, ..Self::default() }
    }

    /// All rows that came since the last slice are of these days.
    pub fn end_slice(&mut self, days: Slice) {
        self.table.slices.push((self.len(), days));
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.table.len + self.human.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds rows at the end.
    pub fn extend(&mut self, rows: &VisitorRows) {
        if self.human.len() + rows.len() > MAX_BATCH_ROWS
            || self.text.len() + rows.text().len() > MAX_BATCH_TEXT
        {
            self.seal();
        }
        let extras = rows.extras().iter().map(|(row, extra)| (self.len() + row, extra.clone()));
        let extras: Vec<_> = extras.collect();
        self.table.extras.extend(extras);
        let start = self.text.len();
        self.text.extend_from_slice(rows.text().as_bytes());
        // Below 2^30 by the check above, but for one page beyond it: a body has at most 2^29 bytes.
        let offset = |end: &usize| i32::try_from(start + end).unwrap_or(i32::MAX);
        self.offsets.extend(rows.ends().iter().map(offset));
        let (human, ai, total) = rows.counts();
        self.human.extend_from_slice(human);
        self.ai.extend_from_slice(ai);
        self.total.extend_from_slice(total);
    }

    /// Makes a chunk of what came since the last one.
    fn seal(&mut self) {
        let rows = self.human.len();
        if rows == 0 {
            return;
        }
        let mut offsets = std::mem::take(&mut self.offsets);
        offsets.insert(0, 0);
        let mut text = std::mem::take(&mut self.text);
        text.shrink_to_fit();
        let column = |counts: &mut Vec<i64>| {
            let mut counts = std::mem::take(counts);
            counts.shrink_to_fit();
            Int64Array::new(ScalarBuffer::from(counts), None)
        };
        let path =
            StringArray::new(OffsetBuffer::new(ScalarBuffer::from(offsets)), Buffer::from_vec(text), None);
        let chunk = Chunk {
            start: self.table.len,
            path,
            human: column(&mut self.human),
            ai: column(&mut self.ai),
            total: column(&mut self.total),
        };
        self.table.chunks.push(chunk);
        self.table.len += rows;
    }

    /// The table.
    pub fn finish(mut self) -> Table {
        self.seal();
        self.table
    }
}
