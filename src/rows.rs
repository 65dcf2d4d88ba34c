//! Rows and pages, as the pager sees them: it knows how to tell rows apart, not what is in them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::json::{Count, need, set};

/// One page's readers.
#[derive(Debug, Clone, PartialEq)]
pub struct VisitorRow {
    /// The page's path.
    pub path: String,
    /// Unique people.
    pub human: i64,
    /// Unique AI agents.
    pub ai: i64,
    /// Unique visitors, deduplicated: not `human + ai`.
    pub total: i64,
    /// What else the service sent.
    pub extra: Option<Box<Map<String, Value>>>,
}

/// Unique visitors of a whole site and range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Count::deserialize(deserializer).map(|count| count.0)
}

/// The rows of one page.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Visitors.
    Visitors(Vec<VisitorRow>),
    /// Whatever a sibling endpoint lists.
    Json(Vec<Value>),
}

impl Rows {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Visitors(rows) => rows.len(),
            Self::Json(rows) => rows.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps the first `most`.
    pub fn truncate(&mut self, most: usize) {
        match self {
            Self::Visitors(rows) => rows.truncate(most),
            Self::Json(rows) => rows.truncate(most),
        }
    }

    /// Keeps the rows at the positions that `keep` lists in ascending order.
    pub fn select(&mut self, keep: &[u32]) {
        fn pick<T>(rows: &mut Vec<T>, keep: &[u32]) {
            let mut wanted = keep.iter().peekable();
            let mut at = 0;
            rows.retain(|_| {
                let kept = wanted.next_if_eq(&&at).is_some();
                at += 1;
                kept
            });
        }
        match self {
            Self::Visitors(rows) => pick(rows, keep),
            Self::Json(rows) => pick(rows, keep),
        }
    }

    /// What each row is known by.
    pub fn identities(&self) -> Vec<Identity> {
        match self {
            Self::Visitors(rows) => rows.iter().map(VisitorRow::identity).collect(),
            Self::Json(rows) => rows
                .iter()
                .map(|row| {
                    let whole = xxh3_64(row.to_string().as_bytes());
                    Identity { key: whole, whole }
                })
                .collect(),
        }
    }
}

/// What a row is known by: hashes, the same in every process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Of what the row is about: a visitor row's path. Of a row of unknown shape, all of it.
    pub key: u64,
    /// Of all of it.
    pub whole: u64,
}

impl VisitorRow {
    fn identity(&self) -> Identity {
        let key = xxh3_64(self.path.as_bytes());
        let mut whole = Xxh3::with_seed(key);
        for count in [self.human, self.ai, self.total] {
            whole.update(&count.to_le_bytes());
        }
        if let Some(extra) = &self.extra {
            whole.update(Value::Object((**extra).clone()).to_string().as_bytes());
        }
        Identity { key, whole: whole.digest() }
    }
}

/// One answer of a paged endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The rows, as received.
    pub rows: Rows,
    /// The totals, where the endpoint has them.
    pub totals: Option<Totals>,
    /// Whether the service says that there is more.
    pub has_more: bool,
    /// Whether letters that are no text were replaced to read it.
    pub repaired: bool,
}

/// The visitors object on the wire. No default anywhere: a missing `hasMore` would end an export in silence.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitorsObject {
    pub(crate) totals: Totals,
    pub(crate) visitors: Vec<VisitorRow>,
    pub(crate) has_more: bool,
}

impl<'de> Deserialize<'de> for VisitorRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;

        impl<'de> Visitor<'de> for RowVisitor {
            type Value = VisitorRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a visitor row (an object)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VisitorRow, A::Error> {
                let (mut path, mut human, mut ai, mut total) = (None, None, None, None);
                let mut extra: Option<Box<Map<String, Value>>> = None;
                while let Some(name) = map.next_key::<Name>()? {
                    match name {
                        Name::Path => set(&mut path, "path", map.next_value()?)?,
                        Name::Human => set(&mut human, "human", map.next_value::<Count>()?.0)?,
                        Name::Ai => set(&mut ai, "ai", map.next_value::<Count>()?.0)?,
                        Name::Total => set(&mut total, "total", map.next_value::<Count>()?.0)?,
                        Name::Other(name) => {
                            let value = map.next_value()?;
                            extra.get_or_insert_default().insert(name, value);
                        }
                    }
                }
                Ok(VisitorRow {
                    path: need(path, "path")?,
                    human: need(human, "human")?,
                    ai: need(ai, "ai")?,
                    total: need(total, "total")?,
                    extra,
                })
            }
        }

        deserializer.deserialize_map(RowVisitor)
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
