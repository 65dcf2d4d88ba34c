//! Rows and pages, as the pager sees them: it knows how to tell rows apart, not what is in them.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::listing::visitor_rows::VisitorRows;
use crate::text::json::Count;

/// Unique visitors of a whole site and range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<i64, D::Error> {
    Count::deserialize(deserializer).map(|count| count.0)
}

/// The rows of one page.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// Visitors.
    Visitors(VisitorRows),
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

    /// Whether they hold nothing but what this client knows.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Visitors(rows) if rows.is_plain())
    }

    /// Rows of visitors, which alone have columns.
    pub fn into_visitors(self) -> Result<VisitorRows> {
        match self {
            Self::Visitors(rows) => Ok(rows),
            Self::Json(_) => Err(Error::bug("rows without columns came on their way into some")),
        }
    }

    /// Keeps the rows at the positions that `keep` lists in ascending order.
    pub fn select(&mut self, keep: &[u32]) {
        match self {
            Self::Visitors(rows) => rows.select(keep),
            Self::Json(rows) => {
                let mut wanted = keep.iter().peekable();
                let mut at = 0..;
                rows.retain(|_| at.next().is_some_and(|at| wanted.next_if_eq(&&at).is_some()));
            }
        }
    }

    /// What each row is known by.
    pub fn identities(&self) -> Vec<Identity> {
        match self {
            Self::Visitors(rows) => rows.identities(),
            Self::Json(rows) => rows
                .iter()
                .map(|row| {
                    let whole = xxh3_64(row.to_string().as_bytes());
                    Identity::new(whole, whole)
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
    /// Of all of it: it only tells rows of one key apart.
    pub whole: u32,
}

impl Identity {
    pub(crate) fn new(key: u64, whole: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
        Self { key, whole: whole as u32 }
    }

    /// Both in one hash.
    pub(crate) fn digest(&self) -> u64 {
        self.key ^ u64::from(self.whole) << 32 ^ u64::from(self.whole)
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
    /// Whether invalid characters were replaced to read it.
    pub repaired: bool,
}
