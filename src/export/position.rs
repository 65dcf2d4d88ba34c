//! The position of an export, after each page and after each row.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use crate::dates::slices::Slice;
use crate::export::checkpoint::Checkpoint;
use crate::export::dedupe;
use crate::listing::endpoint::PagedBy;
use crate::listing::page::Totals;
use crate::listing::rows::Identity;

/// A page's position in the export, and what checkpoints after its rows need of it.
#[derive(Debug)]
pub struct PagePosition {
    /// The position before the page's first row.
    pub(super) before: Checkpoint,
    /// The position after its last row; `None` if rows were held back at its end, or the next
    /// cursor is not valid.
    pub(super) after: Option<Checkpoint>,
    /// The rows that are handed out.
    pub(super) rows: Vec<Identity>,
    /// Whether a row's place in the page may not give its place in the listing.
    pub(super) by_row: bool,
    /// How many rows came.
    pub(super) received: usize,
    /// How many were asked for.
    pub(super) limit: usize,
    /// How many of the first rows repeat the pages before it: see [`ExportPosition::overlap`].
    pub(super) overlap: usize,
    /// The positions in the answer of the rows that are handed out; `None` if these are all
    /// rows, or if it is read `by_row`.
    pub(super) kept: Option<Box<[u32]>>,
    /// Whether all its rows are handed out, and the next cursor is valid.
    pub(super) whole: bool,
    /// Whether another page follows.
    pub has_more: bool,
    pub totals: Option<Totals>,
    /// The cursor of the next page.
    pub(super) cursor: Option<String>,
    /// The slice that it is of, if the range is read in several.
    pub days: Option<Slice>,
}

impl PagePosition {
    /// How many of the page's rows are handed out.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The page's offset on the wire.
    pub fn offset(&self) -> u64 {
        self.before.offset
    }

    /// The checkpoint after the first `handed` rows of the page.
    pub fn checkpoint(&self, handed: usize) -> Checkpoint {
        if handed >= self.rows.len()
            && let Some(after) = &self.after
        {
            return after.clone();
        }
        let mut place = self.before.clone();
        let rows = self.rows.get(..handed).unwrap_or(&self.rows);
        let Some(last) = rows.len().checked_sub(1) else {
            return place;
        };
        place.rows = place.rows.saturating_add(rows.len() as u64);
        if self.by_row {
            // The next request gets the page again and skips these rows.
            place.remember(rows, place.near + rows.len());
            if place.listing.endpoint().key.is_none() && place.listing.paged_by() == PagedBy::Offset
            {
                place.skip += rows.len();
            }
        } else {
            let position = self.kept.as_ref().and_then(|kept| kept.get(last));
            let received = position.map_or(rows.len() as u64, |&position| u64::from(position) + 1);
            place.offset = place.offset.saturating_add(received);
            place.remember(rows, 0);
            place.skip = 0;
        }
        place
    }
}

/// The position of an export, which moves from page to page.
#[derive(Debug)]
pub(crate) struct ExportPosition {
    /// Where the next page starts.
    pub(crate) place: Checkpoint,
    /// The last pages: how many rows each handed out, and the offset after its last possible row.
    near: VecDeque<(usize, u64)>,
    /// How many rows from here on were handed out before, if pages have no offsets or rows no keys.
    /// All are rows of the page in whose middle the export stopped; it may now come as several
    /// shorter pages.
    pub(crate) skip: usize,
    /// Whether the pages' offsets tell them apart.
    pub(crate) by_offset: bool,
    /// The slices that the range is read in; none where it is read as a whole.
    slices: Vec<Slice>,
}

impl ExportPosition {
    /// Continues at `place`.
    pub(crate) fn new(mut place: Checkpoint) -> Self {
        let by_offset = place.listing.paged_by() == PagedBy::Offset;
        // The listing was checked when it was made.
        let mut slices = place.listing.slices().unwrap_or_default();
        slices.truncate(place.begun.unwrap_or(slices.len()));
        let near = place.near;
        let until = place
            .offset
            .saturating_add(u64::from(place.page_size).max(near as u64));
        let by_count = !by_offset || !place.irregular && place.listing.endpoint().key.is_none();
        place.irregular |= near > 0 && !by_count;
        Self {
            near: by_offset.then_some((near, until)).into_iter().collect(),
            skip: if by_count { near } else { place.skip },
            by_offset,
            slices,
            place,
        }
    }

    /// The slice of the next page, if the range is read in several.
    pub(crate) fn days(&self) -> Option<Slice> {
        self.slices.get(self.place.slice).copied()
    }

    /// The days of the next page: those of its slice, or of the whole range if both ends are days.
    pub(crate) fn range(&self) -> Option<Slice> {
        self.days().or_else(|| self.place.listing.range())
    }

    /// The identities of the next page's rows within the whole export. Rows that sum up their
    /// slice, and rows without keys, are different rows in each slice.
    pub(crate) fn identities(&self, mut identities: Vec<Identity>) -> Vec<Identity> {
        if self.place.slice > 0 {
            let slice = xxh3_64(&self.place.slice.to_le_bytes());
            let has_time = self.place.listing.endpoint().time.is_some();
            for identity in &mut identities {
                if !has_time || !identity.has_key() {
                    *identity = identity.of_slice(slice);
                }
            }
        }
        identities
    }

    /// How many of the next page's first rows repeat the last rows of short pages, if they have no
    /// key.
    pub(crate) fn overlap(&self, rows: &[Identity]) -> usize {
        if !self.place.irregular || rows.iter().any(Identity::has_key) {
            return 0;
        }
        let seen = self.place.seen();
        let end = seen.len().saturating_sub(self.skip);
        let room = self.until().saturating_sub(self.place.offset);
        let begin = end.saturating_sub(room.try_into().unwrap_or(usize::MAX));
        dedupe::overlap(seen.get(begin..end).unwrap_or_default(), rows)
    }

    /// Whether rows of the next page may have been handed out before.
    pub(crate) fn may_repeat(&self) -> bool {
        self.place.irregular || self.skip > 0
    }

    /// Whether the next page's offset is the position of its first row in the listing.
    pub(crate) fn is_by_position(&self) -> bool {
        self.by_offset && !self.place.irregular
    }

    /// The offset after the last row that can come twice of those at `place` and before.
    pub(crate) fn until(&self) -> u64 {
        self.near
            .back()
            .map_or(self.place.offset + self.skip as u64, |(_, until)| *until)
    }

    /// Moves on after a page, and completes its position.
    pub(crate) fn step(&mut self, page: &mut PagePosition) {
        // Totals are part of the first checkpoint, so that an export resumed within this page sees
        // them change.
        self.place.totals = self.place.totals.or(page.totals);
        page.before = self.place.clone();
        let is_short = page.received < page.limit;
        self.place.irregular |= self.by_offset && page.has_more && page.received != page.limit;
        // A short last page may mean that the service leaves rows out. Then a row's place in the
        // page is not its offset, so the checkpoint keeps the rows themselves.
        page.by_row = self.place.irregular || !self.by_offset || is_short;
        if page.by_row {
            page.kept = None;
        }
        let left = self.skip.saturating_sub(page.received - page.overlap);
        self.skip = if page.has_more { left } else { 0 };
        let place = &mut self.place;
        let offset = place.offset;
        let near = if self.by_offset {
            let step = if page.has_more && is_short {
                page.received
            } else {
                page.limit
            };
            place.offset = offset.saturating_add(step as u64);
            let until = offset.saturating_add(page.limit.max(page.received) as u64);
            self.near.push_back((page.rows.len(), until));
            // Each short page starts within those before it, which can bring their rows again.
            let is_past = |(_, until): &mut (_, u64)| *until <= place.offset;
            while self.near.pop_front_if(is_past).is_some() {}
            let near = if place.irregular {
                self.near.iter().map(|(rows, _)| rows).sum()
            } else {
                0
            };
            place.skip = self.skip.min(near);
            near
        } else {
            place.offset = offset.saturating_add(page.received as u64);
            place.cursor.clone_from(&page.cursor);
            self.skip
        };
        place.rows = place.rows.saturating_add(page.rows.len() as u64);
        place.remember(&page.rows, near);
        if page.whole && !page.has_more {
            place.done = place.slice + 1 >= self.slices.len();
            if !place.done {
                (place.offset, place.cursor) = (0, None);
                place.slice += 1;
                self.near.clear();
            }
        }
        page.after = page.whole.then(|| place.clone());
    }
}
