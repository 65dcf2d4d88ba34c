//! Where an export stands, as a small JSON text that holds no secret and can be taken up in another process.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::rows::{Identity, Totals};
use crate::visitors::Listing;

/// What this version writes and reads.
const VERSION: u32 = 1;
/// The longest text that is read. A checkpoint grows with the pages of a service that sends more rows than it
/// is asked for: this is enough for some 15,000 a page.
const MOST: usize = 1024 * 1024;

/// The text's fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    #[serde(rename = "docplatform_checkpoint")]
    version: u32,
    /// The service it belongs to.
    base_url: String,
    /// What is listed, with its filters.
    pub listing: Listing,
    /// The wire's `limit`.
    pub page_size: u32,
    /// Where the next request starts.
    pub offset: u64,
    /// Rows handed out since the export began, in all its parts.
    pub rows: u64,
    /// Whether the end was reached.
    pub done: bool,
    /// The totals that the export began with.
    pub totals: Option<(i64, i64, i64)>,
    /// Rows that the next answers may bring again, where the service sends short pages: 32 hex digits each.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    seen: String,
}

impl Checkpoint {
    /// A checkpoint of `listing` at `base_url`.
    pub fn new(base_url: &str, listing: Listing, page_size: u32, offset: u64) -> Self {
        Self {
            version: VERSION,
            base_url: base_url.to_owned(),
            listing,
            page_size,
            offset,
            rows: 0,
            done: false,
            totals: None,
            seen: String::new(),
        }
    }

    /// Reads a text that [`Checkpoint::text`] wrote, for a client of `base_url`.
    pub fn parse(text: &str, base_url: &str) -> Result<Self> {
        let refused = |why: String| Error::argument(format!("resume: {why}"));
        if text.len() > MOST {
            return Err(refused("the text is too long for a checkpoint".to_owned()));
        }
        let read: Self = serde_json::from_str(text).map_err(|error| {
            let error = crate::text::safe(&error.to_string(), 200);
            refused(format!("not a checkpoint of docplatform ({error})"))
        })?;
        if read.version != VERSION {
            return Err(refused(format!(
                "the checkpoint is of version {}, this docplatform reads version {VERSION}",
                read.version
            )));
        }
        if read.base_url != base_url {
            return Err(refused(format!(
                "the checkpoint belongs to {}, this client to {base_url}",
                crate::text::safe(&read.base_url, 200)
            )));
        }
        read.listing.check()?;
        check_page_size(read.page_size)?;
        if [read.offset, read.rows].iter().any(|&number| i64::try_from(number).is_err()) {
            return Err(refused("its offset or its number of rows is too large".to_owned()));
        }
        if read.totals().is_some_and(|t| t.human < 0 || t.ai < 0 || t.total < 0) {
            return Err(refused("its totals are negative".to_owned()));
        }
        if read.identities().is_none() {
            return Err(refused("its list of rows is damaged".to_owned()));
        }
        Ok(read)
    }

    /// The text.
    pub fn text(&self) -> String {
        // Strings, numbers and a fixed shape: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn totals(&self) -> Option<Totals> {
        self.totals.map(|(human, ai, total)| Totals { human, ai, total })
    }

    pub(crate) fn set_totals(&mut self, totals: Option<Totals>) {
        self.totals = totals.map(|t| (t.human, t.ai, t.total));
    }

    pub(crate) fn identities(&self) -> Option<Vec<Identity>> {
        let digits = self.seen.as_bytes();
        if !digits.len().is_multiple_of(32) || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        digits
            .chunks(32)
            .map(|row| {
                let row = std::str::from_utf8(row).ok()?;
                let (key, whole) = row.split_at(16);
                Some(Identity {
                    key: u64::from_str_radix(key, 16).ok()?,
                    whole: u64::from_str_radix(whole, 16).ok()?,
                })
            })
            .collect()
    }

    pub(crate) fn set_identities(&mut self, rows: impl IntoIterator<Item = Identity>) {
        self.seen.clear();
        for row in rows {
            // Writing to a String cannot fail.
            let _ = write!(self.seen, "{:016x}{:016x}", row.key, row.whole);
        }
    }
}

/// The wire's `limit` is 1 to 250.
pub fn check_page_size(page_size: u32) -> Result<()> {
    if (1..=250).contains(&page_size) {
        return Ok(());
    }
    Err(Error::argument(format!("page_size must be 1 to 250, as the service grants; it is {page_size}")))
}
