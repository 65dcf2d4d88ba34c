//! The position of an export as a small JSON text. Another process can continue from it. It
//! contains no secret.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result, refuse};
use crate::listing::Listing;
use crate::listing::page::Totals;
use crate::listing::rows::Identity;
use crate::text::message::{Setting, message};

/// The version of the text that is written and read.
const CHECKPOINT_VERSION: u32 = 1;
/// The longest text that is read. A checkpoint grows if a service sends more rows than were asked
/// for. A row has at least two bytes in an answer and 16 in the text, so an answer of 32 MiB does
/// not make it longer than this.
const MAX_TEXT: usize = 257 * 1024 * 1024;
/// How many of the last rows a checkpoint contains if rows have a key, so that the next part finds
/// rows that come twice: two full pages of visitors, in some 8 KB of text. It has more only where
/// the next answers may repeat more.
pub const RECENT: usize = 500;
/// Bytes of a row, before base64.
const ROW_BYTES: usize = 12;

/// The fields of the text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    #[serde(rename = "docplatform_checkpoint")]
    version: u32,
    pub(crate) base_url: String,
    pub listing: Listing,
    /// The wire's `limit`.
    pub page_size: u32,
    /// The offset that the export began with.
    pub begin: u64,
    /// Where the next request starts; with cursors, how many rows came before it.
    pub offset: u64,
    /// The cursor of the next request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) cursor: Option<String>,
    /// The number of the slice that it is in, if the range is read in several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) slice: usize,
    /// How many slices have begun, and so are read; `None`: all.
    #[serde(skip)]
    pub(crate) begun: Option<usize>,
    /// Rows handed out since the export began, in all its parts.
    pub rows: u64,
    pub done: bool,
    /// The totals that the export began with.
    pub totals: Option<Totals>,
    /// The last rows that were handed out: see [`RECENT`]. Shared, because a page's position has
    /// two checkpoints.
    #[serde(serialize_with = "encode", deserialize_with = "decode")]
    seen: Arc<Vec<Identity>>,
    /// Whether a page was shorter or longer than was asked for. Then rows may come twice, and
    /// offsets are not positions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) irregular: bool,
    /// How many of the last rows in `seen` the next answers may repeat: the service sends short
    /// pages, or the export stopped within a page that is requested again.
    pub(crate) near: usize,
    /// How many of those are rows of the next page itself, if rows have no keys and pages have
    /// offsets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) skip: usize,
}

impl Checkpoint {
    pub fn new(base_url: &str, listing: Listing, page_size: u32, offset: u64) -> Self {
        Self {
            version: CHECKPOINT_VERSION,
            base_url: base_url.to_owned(),
            listing,
            page_size,
            begin: offset,
            offset,
            ..Self::default()
        }
    }

    /// Reads a text that [`Checkpoint::text`] wrote, for a client of `base_url`.
    pub fn parse(text: &str, base_url: &str) -> Result<Self> {
        let refused = |why: &str| {
            let why = why.to_owned();
            refuse(message![Setting::Resume, ": ", why])
        };
        if text.len() > MAX_TEXT {
            return refused("the text is too long for a checkpoint");
        }
        let Ok(read) = serde_json::from_str::<Self>(text) else {
            return refused(
                "not a checkpoint that this docplatform can read: give its whole text, as rows or an error have it",
            );
        };
        if read.version != CHECKPOINT_VERSION {
            return refused(&format!(
                "the checkpoint is of version {}, this docplatform reads version {CHECKPOINT_VERSION}",
                read.version
            ));
        }
        if read.base_url != base_url {
            return refused(&format!(
                "the checkpoint belongs to {}, this client to {base_url}",
                crate::text::safe(&read.base_url, 200)
            ));
        }
        let of_resume = |error: Error| error.prefixed(message![Setting::Resume, ": "]);
        let checked = read.listing.check();
        let slices = checked
            .and_then(|()| check_page_size(read.page_size, &read.listing))
            .and_then(|()| read.listing.slices())
            .map_err(of_resume)?;
        if [read.begin, read.offset, read.rows].iter().max() > Some(&(i64::MAX as u64)) {
            return refused("its offset or its number of rows is too large");
        }
        if read.slice >= slices.len().max(1) {
            return refused("its range has no such slice");
        }
        if read.near > read.seen.len() || read.skip > read.near {
            return refused("its list of rows is damaged");
        }
        Ok(read)
    }

    pub fn text(&self) -> String {
        // Strings, numbers and a fixed shape: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
    pub fn seen(&self) -> &[Identity] {
        &self.seen
    }

    /// Adds rows that were handed out. The next answers may repeat the last `near`.
    pub(crate) fn remember(&mut self, rows: &[Identity], near: usize) {
        // Rows of unknown shape may rightly come twice.
        let most = if self.listing.endpoint().key.is_some() {
            near.max(RECENT)
        } else {
            near
        };
        let spare = (self.seen.len() + rows.len()).saturating_sub(most);
        let (seen, rows) = (
            self.seen.get(spare..),
            rows.get(spare.saturating_sub(self.seen.len())..),
        );
        self.seen = Arc::new([seen.unwrap_or_default(), rows.unwrap_or_default()].concat());
        self.near = near;
    }
}

fn encode<S: Serializer>(
    rows: &Arc<Vec<Identity>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW_BYTES);
    for row in rows.iter() {
        bytes.extend_from_slice(&row.key.to_le_bytes());
        bytes.extend_from_slice(&row.whole.to_le_bytes());
    }
    serializer.serialize_str(&URL_SAFE_NO_PAD.encode(bytes))
}

fn decode<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Arc<Vec<Identity>>, D::Error> {
    let damaged = || serde::de::Error::custom("its list of rows is damaged");
    let bytes = URL_SAFE_NO_PAD
        .decode(String::deserialize(deserializer)?)
        .map_err(|_| damaged())?;
    let (rows, rest) = bytes.as_chunks::<ROW_BYTES>();
    let row = |row: &[u8; ROW_BYTES]| {
        let (key, whole) = row.split_first_chunk()?;
        let whole = whole.first_chunk()?;
        Some(Identity {
            key: u64::from_le_bytes(*key),
            whole: u32::from_le_bytes(*whole),
        })
    };
    let rows = rows.iter().map(row).collect::<Option<_>>();
    rows.filter(|_| rest.is_empty())
        .map(Arc::new)
        .ok_or_else(damaged)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Checks the wire's `limit`.
pub fn check_page_size(page_size: u32, listing: &Listing) -> Result<()> {
    let most = listing.endpoint().max_page_size;
    if (1..=most).contains(&page_size) {
        return Ok(());
    }
    let why = match listing.is_known() {
        true => ", as the service grants",
        false => "",
    };
    refuse(message![
        Setting::PageSize,
        format!(" must be 1 to {most}{why}; it is {page_size}"),
    ])
}
