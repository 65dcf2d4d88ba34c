//! Rows as columns: those of a page of any endpoint, or many of a table. Rows of a known endpoint
//! take a few allocations, not one a row. Users get each as a dict; `VisitorRow` in `types.py` is
//! the type of those of visitors and views.

use serde::de::DeserializeSeed as _;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::dates::slices::Slice;
use crate::listing::columns::{Cell, Column, ColumnBuilder};
use crate::listing::endpoint::{ColumnKind, Field, position};
use crate::listing::read::RowSeed;

/// One row of [`Rows`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) at: usize,
    /// The days that the row covers, if the rows name their days.
    pub days: Option<Slice>,
    /// The values of the row that have no column, or do not fit theirs. A row that is not an object
    /// is here whole.
    pub other: Option<&'a Value>,
}

impl<'a> Row<'a> {
    pub fn cell(&self, column: usize) -> Cell<'a> {
        let column = self.rows.columns.get(column);
        column.map_or(Cell::Null, |column| column.cell(self.at))
    }

    pub fn get(&self, name: &str) -> Cell<'a> {
        position(self.rows.fields, name).map_or(Cell::Null, |column| self.cell(column))
    }

    /// Fields that have no column, and values that do not fit theirs.
    pub fn extra(&self) -> Option<&'a Map<String, Value>> {
        self.other?.as_object()
    }

    /// The row itself, if it is no object.
    pub fn bare(&self) -> Option<&'a Value> {
        self.other.filter(|other| !other.is_object())
    }

    /// The value that the service sent for this column, if it does not fit.
    pub(crate) fn misfit(&self, column: usize) -> Option<&'a Value> {
        self.extra()?.get(self.rows.fields.get(column)?.name)
    }

    /// Fields that have no column.
    pub(crate) fn more(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let fields = self.rows.fields;
        self.extra()
            .into_iter()
            .flatten()
            .filter(|(name, _)| position(fields, name).is_none())
    }
}

/// Rows that are complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub fields: &'static [Field],
    key: Option<usize>,
    len: usize,
    pub(crate) columns: Vec<Column>,
    /// [`Row::other`] of the rows that have one, in ascending order.
    pub(crate) others: Vec<(usize, Value)>,
    /// The hashes of keys that were repaired, as two of them may look alike.
    keys: Vec<(usize, u64)>,
}

/// Rows while more are added.
#[derive(Debug)]
pub struct RowsBuilder {
    pub(crate) fields: &'static [Field],
    key: Option<usize>,
    pub(crate) len: usize,
    /// Each row adds one value to each.
    pub(crate) columns: Vec<ColumnBuilder>,
    others: Vec<(usize, Value)>,
}

impl RowsBuilder {
    /// No rows yet. `key` names the field that tells them apart. There is memory for `capacity`
    /// rows.
    pub fn new(fields: &'static [Field], key: Option<&str>, capacity: usize) -> Self {
        Self {
            fields,
            key: key.and_then(|key| position(fields, key)),
            len: 0,
            columns: fields
                .iter()
                .map(|field| ColumnBuilder::new(field.kind, capacity))
                .collect(),
            others: Vec::new(),
        }
    }

    /// Ends a row after each column has its value.
    pub(crate) fn end_row(&mut self, other: Option<Value>) {
        self.others.extend(other.map(|other| (self.len, other)));
        self.len += 1;
    }

    pub fn push<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.end_row(None);
    }

    /// Adds a row of the same fields.
    pub(crate) fn push_row(&mut self, row: &Row<'_>) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.push(row.cell(at));
        }
        self.end_row(row.other.cloned());
    }

    /// Adds a row that is written as a line of JSON.
    pub fn read_line(&mut self, line: &[u8]) -> serde_json::Result<()> {
        let mut parser = serde_json::Deserializer::from_slice(line);
        RowSeed(self, true).deserialize(&mut parser)?;
        parser.end()
    }

    /// Adds rows of the same fields.
    pub(crate) fn extend(&mut self, rows: &Rows) {
        for (column, more) in self.columns.iter_mut().zip(&rows.columns) {
            column.extend(more);
        }
        for (row, other) in &rows.others {
            self.others.push((self.len + row, other.clone()));
        }
        self.len += rows.len;
    }

    pub fn finish(self) -> Rows {
        Rows {
            fields: self.fields,
            key: self.key,
            len: self.len,
            columns: self
                .columns
                .into_iter()
                .map(ColumnBuilder::finish)
                .collect(),
            others: self.others,
            keys: Vec::new(),
        }
    }
}

impl Rows {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether every value has a column that it fits.
    pub fn is_plain(&self) -> bool {
        self.others.is_empty()
    }

    /// How many values do not fit their columns.
    pub(crate) fn misfits(&self) -> u64 {
        self.others
            .iter()
            .filter_map(|(_, other)| other.as_object())
            .flat_map(Map::keys)
            .filter(|name| position(self.fields, name).is_some())
            .count() as u64
    }

    pub fn row(&self, at: usize) -> Option<Row<'_>> {
        let other = self
            .others
            .binary_search_by_key(&at, |(row, _)| *row)
            .ok()
            .and_then(|found| self.others.get(found));
        (at < self.len).then(|| self.row_with(at, other.map(|(_, other)| other)))
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        let mut others = self.others.iter().peekable();
        (0..self.len).map(move |at| {
            let other = others.next_if(|(row, _)| *row == at);
            self.row_with(at, other.map(|(_, other)| other))
        })
    }

    fn row_with<'a>(&'a self, at: usize, other: Option<&'a Value>) -> Row<'a> {
        Row {
            rows: self,
            at,
            days: None,
            other,
        }
    }

    /// Fills the column `path` with the paths of the URLs in the column `page`. A path that the
    /// service sent stays.
    pub(crate) fn add_paths(&mut self, page: &str) {
        let mut paths = ColumnBuilder::new(ColumnKind::Text, self.len);
        for row in self.iter() {
            paths.push(match (row.get("path"), row.get(page)) {
                (Cell::Null, Cell::Text(url)) => path_of(url).map_or(Cell::Null, Cell::Text),
                (sent, _) => sent,
            });
        }
        if let Some(column) = position(self.fields, "path").and_then(|at| self.columns.get_mut(at))
        {
            *column = paths.finish();
        }
    }

    /// Keeps the rows at the positions that `keep` lists in ascending order.
    pub fn select(&mut self, keep: &[u32]) {
        if keep.len() == self.len {
            return;
        }
        let mut kept = RowsBuilder::new(self.fields, None, keep.len());
        let mut keys = Vec::new();
        for row in keep.iter().filter_map(|&at| self.row(at as usize)) {
            if let Ok(found) = self.keys.binary_search_by_key(&row.at, |(at, _)| *at)
                && let Some((_, key)) = self.keys.get(found)
            {
                keys.push((kept.len, *key));
            }
            kept.push_row(&row);
        }
        *self = Self {
            key: self.key,
            keys,
            ..kept.finish()
        };
    }

    /// The identity of each row: hashes of its key and of all of it.
    pub fn identities(&self) -> Vec<Identity> {
        let key = self.key.and_then(|key| self.columns.get(key));
        let rest: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .filter(|(column, _)| Some(*column) != self.key)
            .map(|(_, column)| column)
            .collect();
        if let Some(identities) = key.and_then(|key| self.identities_of_counts(key, &rest)) {
            return identities;
        }
        let mut keys = self.keys.iter().peekable();
        let mut bytes = Vec::with_capacity(64);
        let identity = |row: Row<'_>| {
            bytes.clear();
            for column in &rest {
                match column.cell(row.at) {
                    Cell::Null => bytes.push(0),
                    Cell::Text(text) | Cell::Json(text) => {
                        bytes.extend_from_slice(text.as_bytes());
                        bytes.push(0xff);
                    }
                    Cell::Integer(value) | Cell::Time(value) => {
                        bytes.extend_from_slice(&value.to_le_bytes());
                    }
                    Cell::Float(value) => bytes.extend_from_slice(&value.to_le_bytes()),
                    Cell::Bool(value) => bytes.push(1 + u8::from(value)),
                }
            }
            let known = keys.next_if(|(at, _)| *at == row.at);
            let key = match (known, key.map(|key| key.cell(row.at))) {
                (Some((_, key)), _) => *key,
                (None, Some(Cell::Text(text))) => xxh3_64(text.as_bytes()),
                _ => NO_KEY,
            };
            let whole = xxh3_64_with_seed(&bytes, key);
            let other = row.other.map(Value::to_string);
            let whole = other.map_or(whole, |other| xxh3_64_with_seed(other.as_bytes(), whole));
            Identity::new(key, whole)
        };
        self.iter().map(identity).collect()
    }

    /// The same identities, computed faster for plain rows of a text and counts. `None` for other
    /// rows.
    fn identities_of_counts(&self, key: &Column, rest: &[&Column]) -> Option<Vec<Identity>> {
        let Column::Text(texts) = key else {
            return None;
        };
        if !self.keys.is_empty() || !self.others.is_empty() {
            return None;
        }
        let counts = rest.iter().map(|column| match column {
            Column::Integer(_) => column.integers(),
            _ => None,
        });
        let counts = counts.collect::<Option<Vec<_>>>()?;
        let mut bytes = vec![0; counts.len() * size_of::<i64>()];
        let mut identities = Vec::with_capacity(self.len);
        for (row, text) in texts.iter().enumerate() {
            for (to, values) in bytes.as_chunks_mut().0.iter_mut().zip(&counts) {
                *to = values.get(row)?.to_le_bytes();
            }
            let key = xxh3_64(text?.as_bytes());
            identities.push(Identity::new(key, xxh3_64_with_seed(&bytes, key)));
        }
        Some(identities)
    }

    /// Tells repaired keys apart by the same rows as they were sent.
    pub(crate) fn know_keys(&mut self, sent: &Self) {
        let Some(key) = self.key else { return };
        let repaired = self.iter().zip(sent.iter()).filter_map(|(row, sent)| {
            match (row.cell(key), sent.cell(key)) {
                (Cell::Text(text), Cell::Text(sent)) if text != sent => {
                    Some((row.at, xxh3_64(sent.as_bytes())))
                }
                _ => None,
            }
        });
        self.keys = repaired.collect();
    }
}

/// The path of a URL, without host, query and fragment; `None` of an empty text.
fn path_of(url: &str) -> Option<&str> {
    let end = |text: &str, of: &[char]| text.find(of).unwrap_or(text.len());
    let scheme = url.find("://");
    let path = match scheme.filter(|&scheme| scheme < end(url, &['/', '?', '#'])) {
        Some(scheme) => {
            let host = url.get(scheme + 3..)?;
            host.get(end(host, &['/', '?', '#'])..)?
        }
        None => url,
    };
    match path.get(..end(path, &['?', '#']))? {
        "" => Some("/").filter(|_| !url.is_empty()),
        path => Some(path),
    }
}

/// The key of rows that have none.
const NO_KEY: u64 = 0;

/// The hashes that tell a row from others. They are the same in every process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The hash of the key, such as a visitor row's path.
    pub key: u64,
    /// The hash of the whole row. It tells rows of one key apart, and rows without a key.
    pub whole: u32,
}

impl Identity {
    pub(crate) fn new(key: u64, whole: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
        Self {
            key,
            whole: whole as u32,
        }
    }

    /// Whether it has a key: another row of the key is the same one. Without a key, equal rows may
    /// be two.
    pub(crate) fn has_key(&self) -> bool {
        self.key != NO_KEY
    }

    /// Another one for each slice.
    pub(crate) fn of_slice(self, slice: u64) -> Self {
        if self.has_key() {
            Self {
                key: self.key ^ slice,
                ..self
            }
        } else {
            Self::new(NO_KEY, u64::from(self.whole) ^ slice)
        }
    }

    /// Both in one hash.
    pub(crate) fn digest(&self) -> u64 {
        self.key ^ u64::from(self.whole) << 32 ^ u64::from(self.whole)
    }
}

/// Microseconds since 1970 as text, in UTC.
pub fn instant(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros)
        .map(|instant| instant.to_string())
        .unwrap_or_default()
}
