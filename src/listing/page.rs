//! A page: one answer of a paged endpoint.

use serde::{Deserialize, Deserializer, Serialize};

use crate::listing::Listing;
use crate::listing::endpoint::PagedBy;
use crate::listing::rows::{Rows, RowsBuilder};
use crate::text::json::Count;

/// The totals of the whole site and range: unique visitors, or page views. A checkpoint has them as
/// a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(into = "[i64; 3]")]
pub struct Totals {
    /// People.
    #[serde(deserialize_with = "count")]
    pub human: i64,
    /// AI agents.
    #[serde(deserialize_with = "count")]
    pub ai: i64,
    /// Both.
    #[serde(deserialize_with = "count")]
    pub total: i64,
}

impl From<Totals> for [i64; 3] {
    fn from(totals: Totals) -> Self {
        [totals.human, totals.ai, totals.total]
    }
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Count::deserialize(deserializer).map(|count| count.0)
}

/// One answer of a paged endpoint.
#[derive(Debug, PartialEq)]
pub struct Page {
    pub rows: Rows,
    pub totals: Option<Totals>,
    /// Whether the service says that there is more.
    pub has_more: bool,
    pub cursor: Option<String>,
    /// Whether invalid characters were replaced to read it.
    pub repaired: bool,
}

/// The parts of an answer that came so far. A missing part is an error, but a cursor can stand for
/// the flag for more rows, and the flag for a cursor. Where both are missing, an export would end
/// in silence.
#[derive(Default)]
pub(crate) struct PageParts {
    pub(crate) totals: Option<Totals>,
    pub(crate) rows: Option<RowsBuilder>,
    pub(crate) has_more: Option<bool>,
    /// The cursor of the next page; empty on the last page.
    pub(crate) next: Option<String>,
}

impl PageParts {
    /// The whole page, or what is wrong with the parts.
    pub(crate) fn page(self, listing: &Listing) -> Result<Page, String> {
        let missing = |name: &str| format!("missing field `{name}`");
        let endpoint = listing.endpoint();
        let rows = self.rows.ok_or_else(|| missing(listing.items()))?;
        if endpoint.totals && self.totals.is_none() {
            return Err(missing("totals"));
        }
        let has_more = match (self.has_more, &self.next) {
            (Some(has_more), _) => has_more,
            (None, Some(next)) if listing.paged_by() == PagedBy::Cursor => !next.is_empty(),
            _ => {
                let name = listing.has_more().or(listing.next_cursor());
                return Err(missing(name.unwrap_or_default()));
            }
        };
        let cursor = self.next.filter(|next| !next.is_empty());
        if (cursor.as_ref()).is_some_and(|cursor| cursor.contains(char::REPLACEMENT_CHARACTER)) {
            return Err("the cursor holds invalid characters".to_owned());
        }
        let mut rows = rows.finish();
        if let Some(page) = endpoint.page {
            rows.add_paths(page);
        }
        Ok(Page {
            rows,
            totals: self.totals,
            has_more,
            cursor,
            repaired: false,
        })
    }
}
