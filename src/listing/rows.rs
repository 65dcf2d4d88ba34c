//! Rows as columns: what a page has, whatever endpoint it is of. A page is a few allocations, not one a row.

use serde::de::{DeserializeSeed, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::listing::endpoint::{Field, Holds};
use crate::listing::read::OneRow;
use crate::text::json::Count;

/// How long a text usually is, in bytes.
const USUAL_TEXT: usize = 32;

/// The totals of the whole site and range. A checkpoint has them as a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(into = "[i64; 3]")]
pub struct Totals {
    /// Unique people.
    #[serde(deserialize_with = "count")]
    pub human: i64,
    /// Unique AI agents.
    #[serde(deserialize_with = "count")]
    pub ai: i64,
    /// Unique visitors, deduplicated.
    #[serde(deserialize_with = "count")]
    pub total: i64,
}

impl From<Totals> for [i64; 3] {
    fn from(totals: Totals) -> Self {
        [totals.human, totals.ai, totals.total]
    }
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<i64, D::Error> {
    Count::deserialize(deserializer).map(|count| count.0)
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// None: the service sent a null, or nothing, or what does not fit the column.
    Null,
    Text(&'a str),
    Integer(i64),
    Float(f64),
    Flag(bool),
    /// Microseconds since 1970.
    Time(i64),
    /// JSON as text.
    Json(&'a str),
}

/// Where the values of rows are.
pub trait Cells: Sync {
    fn cell(&self, column: usize, row: usize) -> Cell<'_>;
}

/// One row, wherever its values are.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    fields: &'static [Field],
    cells: &'a dyn Cells,
    at: usize,
    other: Option<&'a Value>,
    /// What else the service sent.
    pub extra: Option<&'a Map<String, Value>>,
    /// All of a row that is no object.
    pub bare: Option<&'a Value>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(
        fields: &'static [Field],
        cells: &'a dyn Cells,
        at: usize,
        other: Option<&'a Value>,
    ) -> Self {
        let extra = other.and_then(Value::as_object);
        Self {
            fields,
            cells,
            at,
            other,
            extra,
            bare: other.filter(|_| extra.is_none()),
        }
    }

    pub fn cell(&self, column: usize) -> Cell<'a> {
        self.cells.cell(column, self.at)
    }

    pub fn get(&self, name: &str) -> Cell<'a> {
        let column = self.fields.iter().position(|field| field.name == name);
        column.map_or(Cell::Null, |column| self.cell(column))
    }

    /// What else came of it, or all of it where it is no object.
    pub(crate) fn other(&self) -> Option<&'a Value> {
        self.other
    }

    /// What came in a column that it does not fit.
    pub(crate) fn misfit(&self, column: usize) -> Option<&'a Value> {
        self.extra?.get(self.fields.get(column)?.name)
    }

    /// What else the service sent, but for what came in a column that it does not fit.
    pub(crate) fn more(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let fields = self.fields;
        let ours = move |name: &str| fields.iter().any(|field| field.name == name);
        self.extra
            .into_iter()
            .flatten()
            .filter(move |(name, _)| !ours(name))
    }
}

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// All texts, one after the other, and where each ends.
    Text(String, Vec<usize>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Flag(Vec<bool>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnOfCells {
    pub(crate) values: Values,
    /// Which rows have a value; empty as long as all have one.
    pub(crate) valid: Vec<bool>,
}

impl ColumnOfCells {
    fn new(holds: Holds) -> Self {
        let values = match holds {
            Holds::Text | Holds::Json => Values::Text(String::new(), Vec::new()),
            Holds::Integer | Holds::Time => Values::Integer(Vec::new()),
            Holds::Float => Values::Float(Vec::new()),
            Holds::Flag => Values::Flag(Vec::new()),
        };
        Self {
            values,
            valid: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Text(_, ends) => ends.len(),
            Values::Integer(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Flag(values) => values.len(),
        }
    }

    /// How long its texts are together, in bytes.
    pub(crate) fn text_len(&self) -> usize {
        match &self.values {
            Values::Text(text, _) => text.len(),
            _ => 0,
        }
    }

    /// Adds a value; whether it fits.
    #[expect(
        clippy::inline_always,
        reason = "where the kind is known, no cell is made"
    )]
    #[inline(always)]
    pub(crate) fn push(&mut self, cell: Cell<'_>) -> bool {
        match (&mut self.values, cell) {
            (Values::Text(text, ends), Cell::Text(value) | Cell::Json(value)) => {
                text.push_str(value);
                ends.push(text.len());
            }
            (Values::Integer(values), Cell::Integer(value) | Cell::Time(value)) => {
                values.push(value);
            }
            (Values::Float(values), Cell::Float(value)) => values.push(value),
            (Values::Flag(values), Cell::Flag(value)) => values.push(value),
            _ => return false,
        }
        if !self.valid.is_empty() {
            self.valid.push(true);
        }
        true
    }

    /// Adds a value, or none where it does not fit; whether it fits.
    pub(crate) fn put(&mut self, cell: Cell<'_>) -> bool {
        let fits = self.push(cell);
        if !fits {
            self.push_null();
        }
        fits
    }

    /// Adds a row without a value.
    pub(crate) fn push_null(&mut self) {
        if self.valid.is_empty() {
            self.valid.resize(self.len(), true);
        }
        self.valid.push(false);
        match &mut self.values {
            Values::Text(text, ends) => ends.push(text.len()),
            Values::Integer(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Flag(values) => values.push(false),
        }
    }

    fn extend(&mut self, other: &Self) {
        if !(self.valid.is_empty() && other.valid.is_empty()) {
            let known = self.len();
            self.valid.resize(known, true);
            self.valid.extend_from_slice(&other.valid);
            self.valid.resize(known + other.len(), true);
        }
        match (&mut self.values, &other.values) {
            (Values::Text(text, ends), Values::Text(more, others)) => {
                let start = text.len();
                text.push_str(more);
                ends.extend(others.iter().map(|end| start + end));
            }
            (Values::Integer(values), Values::Integer(more)) => values.extend_from_slice(more),
            (Values::Float(values), Values::Float(more)) => values.extend_from_slice(more),
            (Values::Flag(values), Values::Flag(more)) => values.extend_from_slice(more),
            // Columns of one layout hold the same.
            _ => {}
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "where it is taken apart at once, no cell is made"
    )]
    #[inline(always)]
    pub(crate) fn cell(&self, holds: Holds, row: usize) -> Cell<'_> {
        if !self.valid.is_empty() && !self.valid.get(row).copied().unwrap_or_default() {
            return Cell::Null;
        }
        let cell = match &self.values {
            Values::Text(text, ends) => {
                let start = row
                    .checked_sub(1)
                    .and_then(|before| ends.get(before))
                    .copied();
                let found = ends
                    .get(row)
                    .and_then(|&end| text.get(start.unwrap_or_default()..end));
                found.map(|text| {
                    if holds == Holds::Json {
                        Cell::Json(text)
                    } else {
                        Cell::Text(text)
                    }
                })
            }
            Values::Integer(values) => {
                let found = values.get(row).copied();
                found.map(|value| {
                    if holds == Holds::Time {
                        Cell::Time(value)
                    } else {
                        Cell::Integer(value)
                    }
                })
            }
            Values::Float(values) => values.get(row).copied().map(Cell::Float),
            Values::Flag(values) => values.get(row).copied().map(Cell::Flag),
        };
        cell.unwrap_or(Cell::Null)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    fields: &'static [Field],
    key: Option<usize>,
    len: usize,
    columns: Vec<ColumnOfCells>,
    /// What else the service sent, for the rows that have it, in their order; all of a row that is no object.
    extras: Vec<(usize, Value)>,
    /// By what the rows are known whose texts were repaired, and so may look alike.
    keys: Vec<(usize, u64)>,
}

impl Cells for Rows {
    fn cell(&self, column: usize, row: usize) -> Cell<'_> {
        match (self.columns.get(column), self.fields.get(column)) {
            (Some(cells), Some(field)) => cells.cell(field.holds, row),
            _ => Cell::Null,
        }
    }
}

impl Rows {
    /// None yet, of these fields, told apart by `key`.
    pub fn new(fields: &'static [Field], key: Option<&str>) -> Self {
        let key = key.and_then(|key| fields.iter().position(|field| field.name == key));
        let columns = fields
            .iter()
            .map(|field| ColumnOfCells::new(field.holds))
            .collect();
        Self {
            fields,
            key,
            len: 0,
            columns,
            extras: Vec::new(),
            keys: Vec::new(),
        }
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        for column in &mut self.columns {
            match &mut column.values {
                Values::Text(text, ends) => {
                    text.reserve(rows * USUAL_TEXT);
                    ends.reserve(rows);
                }
                Values::Integer(values) => values.reserve(rows),
                Values::Float(values) => values.reserve(rows),
                Values::Flag(values) => values.reserve(rows),
            }
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether they hold nothing but what this client knows.
    pub fn is_plain(&self) -> bool {
        self.extras.is_empty()
    }

    pub fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// How many values do not fit their columns.
    pub(crate) fn misfits(&self) -> u64 {
        let is_ours = |name: &&String| self.fields.iter().any(|field| field.name == **name);
        let extras = self
            .extras
            .iter()
            .filter_map(|(_, other)| other.as_object());
        extras
            .map(|extra| extra.keys().filter(is_ours).count() as u64)
            .sum()
    }

    pub(crate) fn columns(&self) -> &[ColumnOfCells] {
        &self.columns
    }

    /// The columns, to be filled; then [`Rows::end_row`].
    pub(crate) fn columns_mut(&mut self) -> &mut [ColumnOfCells] {
        &mut self.columns
    }

    /// All columns have one more value. `other`: what else came of the row, or all of one that is no object.
    pub(crate) fn end_row(&mut self, other: Option<Value>) {
        self.extras.extend(other.map(|other| (self.len, other)));
        self.len += 1;
    }

    /// All columns have as many more values, and nothing else came.
    pub(crate) fn end_rows(&mut self, count: usize) {
        self.len += count;
    }

    /// Adds a row as it stands in a line of JSON.
    pub fn read_line(&mut self, line: &[u8]) -> serde_json::Result<()> {
        let mut parser = serde_json::Deserializer::from_slice(line);
        OneRow(self).deserialize(&mut parser)?;
        parser.end()
    }

    pub fn push(&mut self, cells: &[Cell<'_>]) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.put(*cell);
        }
        self.end_row(None);
    }

    /// Adds a row of the same fields.
    pub(crate) fn push_row(&mut self, row: &Row<'_>) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.put(row.cell(at));
        }
        self.end_row(row.other().cloned());
    }

    /// Fills the column `path` with the paths of the URLs in the column `page`. A path that the service sent stays.
    pub(crate) fn add_paths(&mut self, page: &str) {
        let column = |name| self.fields.iter().position(|field| field.name == name);
        let (Some(page), Some(path)) = (column(page), column("path")) else {
            return;
        };
        let mut paths = ColumnOfCells::new(Holds::Text);
        for at in 0..self.len {
            paths.put(match (self.cell(path, at), self.cell(page, at)) {
                (Cell::Null, Cell::Text(url)) => path_of(url).map_or(Cell::Null, Cell::Text),
                (sent, _) => sent,
            });
        }
        if let Some(column) = self.columns.get_mut(path) {
            *column = paths;
        }
    }

    /// Adds rows of the same fields at the end.
    pub(crate) fn extend(&mut self, more: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&more.columns) {
            column.extend(other);
        }
        let start = self.len;
        self.extras.extend(
            more.extras
                .iter()
                .map(|(row, other)| (start + row, other.clone())),
        );
        self.len += more.len;
    }

    /// The columns, and what else the service sent, for the rows that have it, in their order.
    pub(crate) fn into_parts(self) -> (Vec<ColumnOfCells>, Vec<(usize, Value)>) {
        (self.columns, self.extras)
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        let mut extras = self.extras.iter().peekable();
        (0..self.len).map(move |at| {
            let other = extras
                .next_if(|(row, _)| *row == at)
                .map(|(_, other)| other);
            Row::new(self.fields, self, at, other)
        })
    }

    /// Keeps the rows at the positions that `keep` lists in ascending order.
    pub fn select(&mut self, keep: &[u32]) {
        if keep.len() == self.len {
            return;
        }
        let mut kept = Self {
            key: self.key,
            ..Self::new(self.fields, None)
        };
        let mut extras = std::mem::take(&mut self.extras).into_iter().peekable();
        for (place, &row) in keep.iter().enumerate() {
            let row = row as usize;
            if let Ok(known) = self.keys.binary_search_by_key(&row, |(at, _)| *at)
                && let Some((_, key)) = self.keys.get(known)
            {
                kept.keys.push((place, *key));
            }
            for ((column, from), field) in
                kept.columns.iter_mut().zip(&self.columns).zip(self.fields)
            {
                column.put(from.cell(field.holds, row));
            }
            while extras.next_if(|(at, _)| *at < row).is_some() {}
            kept.end_row(extras.next_if(|(at, _)| *at == row).map(|(_, other)| other));
        }
        *self = kept;
    }

    /// What each row is known by: its key, and all of it.
    pub fn identities(&self) -> Vec<Identity> {
        let columns = self.columns.iter().zip(self.fields).enumerate();
        let (ours, rest): (Vec<_>, Vec<_>) =
            columns.partition(|(column, _)| Some(*column) == self.key);
        let key = ours.first().map(|(_, (cells, _))| *cells);
        let rest: Vec<_> = rest.into_iter().map(|(_, column)| column).collect();
        if let Some(identities) = key.and_then(|key| self.identities_of_counts(key, &rest)) {
            return identities;
        }
        let mut keys = self.keys.iter().peekable();
        let mut extras = self.extras.iter().peekable();
        let mut bytes = Vec::with_capacity(64);
        let rows = 0..self.len;
        rows.map(|at| {
            bytes.clear();
            for (cells, field) in &rest {
                match cells.cell(field.holds, at) {
                    Cell::Null => bytes.push(0),
                    Cell::Text(text) | Cell::Json(text) => {
                        bytes.extend_from_slice(text.as_bytes());
                        bytes.push(0xff);
                    }
                    Cell::Integer(value) | Cell::Time(value) => {
                        bytes.extend_from_slice(&value.to_le_bytes());
                    }
                    Cell::Float(value) => bytes.extend_from_slice(&value.to_le_bytes()),
                    Cell::Flag(value) => bytes.push(1 + u8::from(value)),
                }
            }
            let other = extras
                .next_if(|(row, _)| *row == at)
                .map(|(_, other)| other.to_string());
            let known = keys.next_if(|(row, _)| *row == at).map(|(_, key)| *key);
            let key = known.unwrap_or_else(|| match key.map(|key| key.cell(Holds::Text, at)) {
                Some(Cell::Text(text)) => xxh3_64(text.as_bytes()),
                _ => NO_KEY,
            });
            let whole = xxh3_64_with_seed(&bytes, key);
            let whole = other.map_or(whole, |other| xxh3_64_with_seed(other.as_bytes(), whole));
            Identity::new(key, whole)
        })
        .collect()
    }

    /// The same, quicker, of plain rows of a text and counts: `None` of others.
    fn identities_of_counts(
        &self,
        key: &ColumnOfCells,
        rest: &[(&ColumnOfCells, &Field)],
    ) -> Option<Vec<Identity>> {
        let Values::Text(text, ends) = &key.values else {
            return None;
        };
        let gaps = rest.iter().any(|(cells, _)| !cells.valid.is_empty()) || !key.valid.is_empty();
        if gaps || !self.keys.is_empty() || !self.extras.is_empty() {
            return None;
        }
        let counts = rest.iter().map(|(cells, _)| match &cells.values {
            Values::Integer(values) => Some(values),
            _ => None,
        });
        let counts = counts.collect::<Option<Vec<_>>>()?;
        let mut bytes = vec![0; counts.len() * size_of::<i64>()];
        let (mut start, mut identities) = (0, Vec::with_capacity(self.len));
        for (row, &end) in ends.iter().enumerate() {
            for (to, values) in bytes.as_chunks_mut().0.iter_mut().zip(&counts) {
                *to = values.get(row)?.to_le_bytes();
            }
            let key = xxh3_64(text.as_bytes().get(start..end)?);
            identities.push(Identity::new(key, xxh3_64_with_seed(&bytes, key)));
            start = end;
        }
        Some(identities)
    }

    /// Tells rows apart whose keys only look alike, by the same rows with what stood there.
    pub(crate) fn know_by(&mut self, literal: &Self) {
        let Some(key) = self.key else { return };
        let pairs = self.iter().zip(literal.iter()).enumerate();
        let repaired =
            pairs.filter_map(
                |(at, (row, literal))| match (row.cell(key), literal.cell(key)) {
                    (Cell::Text(text), Cell::Text(literal)) if text != literal => {
                        Some((at, xxh3_64(literal.as_bytes())))
                    }
                    _ => None,
                },
            );
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

/// What a row is known by: hashes, the same in every process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Of what the row is about: a visitor row's path.
    pub key: u64,
    /// Of all of it: it only tells rows of one key apart, and rows without a key.
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

    /// Whether it has a key: another row of the key is the same one. Without a key, equal rows may be two.
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

/// One answer of a paged endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub rows: Rows,
    pub totals: Option<Totals>,
    /// Whether the service says that there is more.
    pub has_more: bool,
    pub cursor: Option<String>,
    /// Whether invalid characters were replaced to read it.
    pub repaired: bool,
}

/// Microseconds since 1970 as text, in UTC.
pub fn instant(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros)
        .map(|instant| instant.to_string())
        .unwrap_or_default()
}
