//! Visitor rows as columns: a page is four allocations, not one a row.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::listing::rows::{Identity, Totals};
use crate::text::json::{Count, need, set};

/// The readers of some paths.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VisitorRows {
    /// All paths, one after the other.
    text: String,
    /// Where each path ends in `text`.
    ends: Vec<usize>,
    human: Vec<i64>,
    ai: Vec<i64>,
    total: Vec<i64>,
    /// What else the service sent, for the rows that have it, in their order.
    extras: Vec<(usize, Map<String, Value>)>,
    /// By what the rows are known whose paths were repaired, and so may look alike.
    keys: Vec<(usize, u64)>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VisitorRow<'a> {
    /// The page's path.
    pub path: &'a str,
    /// Unique people.
    pub human: i64,
    /// Unique AI agents.
    pub ai: i64,
    /// Unique visitors, deduplicated: not `human + ai`.
    pub total: i64,
    /// What else the service sent.
    pub extra: Option<&'a Map<String, Value>>,
}

impl VisitorRows {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether the service sent nothing but the four fields.
    pub fn is_plain(&self) -> bool {
        self.extras.is_empty()
    }

    /// All paths, one after the other; [`VisitorRows::ends`] tells them apart.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where each path ends in [`VisitorRows::text`].
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The counts: people, AI agents, all.
    pub(crate) fn counts(&self) -> (&[i64], &[i64], &[i64]) {
        (&self.human, &self.ai, &self.total)
    }

    /// What else the service sent, for the rows that have it, in their order.
    pub(crate) fn extras(&self) -> &[(usize, Map<String, Value>)] {
        &self.extras
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = VisitorRow<'_>> + Clone {
        let mut extras = self.extras.iter().peekable();
        let mut start = 0;
        let counts = self.human.iter().zip(&self.ai).zip(&self.total);
        self.ends.iter().zip(counts).enumerate().map(move |(at, (&end, ((&human, &ai), &total)))| {
            let path = self.text.get(start..end).unwrap_or_default();
            start = end;
            let extra = extras.next_if(|(row, _)| *row == at).map(|(_, extra)| extra);
            VisitorRow { path, human, ai, total, extra }
        })
    }

    /// What each row is known by: its path, and all of it.
    pub(crate) fn identities(&self) -> Vec<Identity> {
        let mut keys = self.keys.iter().peekable();
        let rows = self.iter().enumerate();
        rows.map(|(at, row)| {
            let known = keys.next_if(|(row, _)| *row == at).map(|(_, key)| *key);
            row.identity(known.unwrap_or_else(|| xxh3_64(row.path.as_bytes())))
        })
        .collect()
    }

    /// Tells rows apart whose paths only look alike, by the same rows with what stood there.
    pub(crate) fn know_by(&mut self, literal: &Self) {
        let pairs = self.iter().zip(literal.iter()).enumerate();
        let repaired = pairs.filter(|(_, (row, literal))| row.path != literal.path);
        self.keys = repaired.map(|(at, (_, literal))| (at, xxh3_64(literal.path.as_bytes()))).collect();
    }

    /// Keeps the rows at the positions that `keep` lists in ascending order.
    pub(crate) fn select(&mut self, keep: &[u32]) {
        if keep.len() == self.len() {
            return;
        }
        let mut wanted = keep.iter().peekable();
        let kept = (0_u32..).zip(self.iter()).filter(|(at, _)| wanted.next_if_eq(&at).is_some());
        *self = kept.map(|(_, row)| row).collect();
    }

    /// Room for `rows`, and for `letters` bytes in their paths.
    pub(crate) fn with_capacity(rows: usize, letters: usize) -> Self {
        Self {
            text: String::with_capacity(letters),
            ends: Vec::with_capacity(rows),
            human: Vec::with_capacity(rows),
            ai: Vec::with_capacity(rows),
            total: Vec::with_capacity(rows),
            extras: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Gives back the letters that were not needed.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
    }

    fn push(&mut self, row: VisitorRow<'_>) {
        if let Some(extra) = row.extra {
            self.extras.push((self.len(), extra.clone()));
        }
        self.push_plain(row.path, row.human, row.ai, row.total);
    }

    /// Adds a row that has nothing but the four fields.
    pub(crate) fn push_plain(&mut self, path: &str, human: i64, ai: i64, total: i64) {
        self.text.push_str(path);
        self.ends.push(self.text.len());
        self.human.push(human);
        self.ai.push(ai);
        self.total.push(total);
    }
}

impl<'a> FromIterator<VisitorRow<'a>> for VisitorRows {
    fn from_iter<I: IntoIterator<Item = VisitorRow<'a>>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().for_each(|row| all.push(row));
        all
    }
}

impl VisitorRow<'_> {
    fn identity(self, key: u64) -> Identity {
        let mut counts = [0; 24];
        for (bytes, count) in counts.chunks_exact_mut(8).zip([self.human, self.ai, self.total]) {
            bytes.copy_from_slice(&count.to_le_bytes());
        }
        let whole = xxh3_64_with_seed(&counts, key);
        let whole = match self.extra {
            None => whole,
            Some(extra) => {
                let text = serde_json::to_string(extra).unwrap_or_default();
                xxh3_64_with_seed(text.as_bytes(), whole)
            }
        };
        Identity::new(key, whole)
    }
}

/// The visitors object on the wire. No default anywhere: a missing `hasMore` would end an export in silence.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitorsObject {
    pub(crate) totals: Totals,
    pub(crate) visitors: VisitorRows,
    pub(crate) has_more: bool,
}

impl<'de> Deserialize<'de> for VisitorRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowsVisitor;

        impl<'de> Visitor<'de> for RowsVisitor {
            type Value = VisitorRows;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of visitor rows")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<VisitorRows, A::Error> {
                let mut all = VisitorRows::default();
                while rows.next_element_seed(OneRow(&mut all))?.is_some() {}
                Ok(all)
            }
        }

        deserializer.deserialize_seq(RowsVisitor)
    }
}

/// Whether a body, of which the rows are plain, promises more behind `limit` rows; cheaper than reading it.
/// `false` where that is not certain.
pub(crate) fn promises_more(body: &[u8], limit: u32) -> bool {
    body.ends_with(br#"],"hasMore":true}"#)
        && memchr::memmem::find_iter(body, br#""path":"#).count() == limit as usize
}

/// One row by itself.
pub struct Line(pub VisitorRows);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut row = VisitorRows::default();
        OneRow(&mut row).deserialize(deserializer)?;
        Ok(Self(row))
    }
}

/// Reads one row, straight into the columns.
struct OneRow<'a>(&'a mut VisitorRows);

impl<'de> DeserializeSeed<'de> for OneRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a visitor row (an object)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let rows = self.0;
        let (mut path, mut human, mut ai, mut total) = (None, None, None, None);
        let mut extra: Option<Map<String, Value>> = None;
        while let Some(name) = map.next_key::<Name>()? {
            match name {
                Name::Path => set(&mut path, "path", map.next_value_seed(Path(&mut rows.text))?)?,
                Name::Human => set(&mut human, "human", map.next_value::<Count>()?.0)?,
                Name::Ai => set(&mut ai, "ai", map.next_value::<Count>()?.0)?,
                Name::Total => set(&mut total, "total", map.next_value::<Count>()?.0)?,
                Name::Other(name) => {
                    let value = map.next_value()?;
                    extra.get_or_insert_default().insert(name, value);
                }
            }
        }
        need(path, "path")?;
        rows.human.push(need(human, "human")?);
        rows.ai.push(need(ai, "ai")?);
        rows.total.push(need(total, "total")?);
        if let Some(extra) = extra {
            rows.extras.push((rows.ends.len(), extra));
        }
        rows.ends.push(rows.text.len());
        Ok(())
    }
}

/// Reads a path, straight after the others.
struct Path<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Path<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Path<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, path: &str) -> Result<(), E> {
        self.0.push_str(path);
        Ok(())
    }
}

/// A row's field names. Known ones cost no allocation.
enum Name {
    Path,
    Human,
    Ai,
    Total,
    Other(String),
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(match name {
                    "path" => Name::Path,
                    "human" => Name::Human,
                    "ai" => Name::Ai,
                    "total" => Name::Total,
                    other => Name::Other(other.to_owned()),
                })
            }
        }

        deserializer.deserialize_identifier(NameVisitor)
    }
}
