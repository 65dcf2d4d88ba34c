//! The position of an export, after each page and after each row.

use std::collections::{HashSet, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use crate::dates::slices::Slice;
use crate::export::checkpoint::Checkpoint;
use crate::listing::endpoint::PagedBy;
use crate::listing::page::Totals;
use crate::listing::rows::Identity;

/// A page without its rows. The positions after its rows share it.
#[derive(Debug)]
pub struct PageShape {
    /// How many rows came.
    pub received: u32,
    /// How many were asked for.
    pub limit: u32,
    /// How many of the first came with the pages before it: see [`Trail::overlap`].
    pub overlap: u32,
    /// Their positions in the answer, if they are not simply the first ones.
    pub kept: Option<Box<[u32]>>,
    /// Whether none was held back at its end.
    pub whole: bool,
    /// Whether the service says that there is more.
    pub has_more: bool,
    pub totals: Option<Totals>,
    /// The cursor of the next page.
    pub cursor: Option<String>,
    /// The slice that it is of, if the range is read in several.
    pub days: Option<Slice>,
}

/// A page's place in the export.
#[derive(Debug)]
pub struct Mark {
    /// As before the page's first row.
    before: Checkpoint,
    /// As after its last row; `None` if rows were held back at its end.
    behind: Option<Checkpoint>,
    /// The rows that are handed out.
    rows: Vec<Identity>,
    /// Positions in the page may not be positions in the table.
    by_row: bool,
    shape: PageShape,
}

impl Mark {
    /// How many of the page's rows are handed out.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The page's offset on the wire.
    pub fn offset(&self) -> u64 {
        self.before.offset
    }

    /// The page without its rows.
    pub fn shape(&self) -> &PageShape {
        &self.shape
    }

    /// The position after the first `handed` rows of the page.
    pub fn behind(&self, handed: usize) -> Checkpoint {
        if handed >= self.rows.len()
            && let Some(behind) = &self.behind
        {
            return behind.clone();
        }
        let mut place = self.before.clone();
        let rows = self.rows.get(..handed).unwrap_or(&self.rows);
        let Some(last) = rows.len().checked_sub(1) else {
            return place;
        };
        place.rows = place.rows.saturating_add(rows.len() as u64);
        if self.by_row {
            // Ask for the page again, and know its rows.
            place.remember(rows, place.near + rows.len());
            if place.listing.endpoint().key.is_none() && place.listing.paged_by() == PagedBy::Offset
            {
                place.skip += rows.len();
            }
        } else {
            let position = self.shape.kept.as_ref().and_then(|kept| kept.get(last));
            let received = position.map_or(rows.len() as u64, |&position| u64::from(position) + 1);
            place.offset = place.offset.saturating_add(received);
            place.remember(rows, 0);
            place.skip = 0;
        }
        place
    }
}

/// An export's place, which goes from page to page.
#[derive(Debug)]
pub(crate) struct Trail {
    /// Where the next page starts.
    pub(crate) place: Checkpoint,
    /// Of the last pages, how many rows they handed out, and the offset from which on none of them can come twice.
    near: VecDeque<(usize, u64)>,
    /// Where neither offsets tell pages apart nor keys rows: how many rows from here on were handed out before. All are of the
    /// page that the export was resumed in, which may now come as several shorter ones.
    skip: usize,
    by_offset: bool,
    /// The slices that the range is read in; none where it is read as a whole.
    slices: Vec<Slice>,
}

impl Trail {
    /// Continues at `place`.
    pub(crate) fn new(mut place: Checkpoint) -> Self {
        let by_offset = place.listing.paged_by() == PagedBy::Offset;
        // Checked where it was made.
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

    /// The slice that the next page is of, if the range is read in several.
    pub(crate) fn days(&self) -> Option<Slice> {
        self.slices.get(self.place.slice).copied()
    }

    /// The days that the next page is of: those of its slice, or of the whole range if both ends are days.
    pub(crate) fn range(&self) -> Option<Slice> {
        self.days().or_else(|| self.place.listing.range())
    }

    /// What the rows of the next page are known by, which are these by themselves. Of what sums up its slice, and
    /// of rows without keys, each slice has its own.
    pub(crate) fn identities(&self, mut identities: Vec<Identity>) -> Vec<Identity> {
        if self.place.slice > 0 {
            let slice = xxh3_64(&self.place.slice.to_le_bytes());
            let has_time = self.place.listing.endpoint().time.is_some();
            for identity in identities
                .iter_mut()
                .filter(|identity| !has_time || !identity.has_key())
            {
                *identity = identity.of_slice(slice);
            }
        }
        identities
    }

    /// Whether the pages' offsets tell them apart.
    pub(crate) fn is_by_offset(&self) -> bool {
        self.by_offset
    }

    /// How many of the `received` rows of the next page, without its overlap, were handed out before.
    pub(crate) fn skip(&self, received: usize) -> usize {
        self.skip.min(received)
    }

    /// How many of the next page's first rows are the last ones that short pages brought: rows without a key are known by their
    /// order, as equal ones may be two.
    pub(crate) fn overlap(&self, rows: &[Identity]) -> usize {
        if !self.is_irregular() || rows.iter().any(Identity::has_key) {
            return 0;
        }
        let seen = self.place.seen();
        let known = seen
            .get(..seen.len().saturating_sub(self.skip))
            .unwrap_or_default();
        let room =
            usize::try_from(self.until().saturating_sub(self.place.offset)).unwrap_or(usize::MAX);
        let known = known
            .get(known.len().saturating_sub(room)..)
            .unwrap_or_default();
        let most = known.len().min(rows.len());
        let is_end = |&count: &usize| known.ends_with(rows.get(..count).unwrap_or_default());
        (1..=most).rev().find(is_end).unwrap_or_else(|| {
            // A page may be too short to come to their end. Where there are equal rows, that would be a guess.
            let differ = known
                .iter()
                .map(|row| row.whole)
                .collect::<HashSet<_>>()
                .len()
                == known.len();
            let is_within =
                !rows.is_empty() && differ && known.windows(rows.len()).any(|some| some == rows);
            if is_within { rows.len() } else { 0 }
        })
    }

    /// Whether rows of the next page were handed out before.
    pub(crate) fn has_skip(&self) -> bool {
        self.skip > 0
    }

    /// Whether the next page's offset is the position of its first row in the listing.
    pub(crate) fn is_by_position(&self) -> bool {
        self.by_offset && !self.place.irregular
    }

    /// Whether a page was short: rows may come twice, and offsets are not positions.
    pub(crate) fn is_irregular(&self) -> bool {
        self.place.irregular
    }

    /// The offset from which on none of the rows that came at `place` and before can come twice.
    pub(crate) fn until(&self) -> u64 {
        self.near
            .back()
            .map_or(self.place.offset + self.skip as u64, |(_, until)| *until)
    }

    /// Moves on after a page of this shape, of which these rows are handed out.
    pub(crate) fn step(&mut self, mut shape: PageShape, rows: Vec<Identity>) -> Mark {
        // Known from the first row on: a part that goes on within this page is to see that they moved.
        self.place.totals = self.place.totals.or(shape.totals);
        let before = self.place.clone();
        let is_short = shape.received < shape.limit;
        self.place.irregular |= self.by_offset && shape.has_more && shape.received != shape.limit;
        // A short last page is what most exports end with, and what one ends with that leaves rows out: the next part
        // is to know the rows, as their positions may be no offsets.
        let by_row = self.place.irregular || !self.by_offset || is_short;
        if by_row {
            shape.kept = None;
        }
        let left = self
            .skip
            .saturating_sub((shape.received - shape.overlap) as usize);
        self.skip = if shape.has_more { left } else { 0 };
        if !self.by_offset {
            let place = &mut self.place;
            place.offset = place.offset.saturating_add(u64::from(shape.received));
            place.cursor.clone_from(&shape.cursor);
            return self.end(before, shape, rows, by_row, self.skip);
        }
        let step = if shape.has_more && is_short {
            shape.received
        } else {
            shape.limit
        };
        let place = &mut self.place;
        place.offset = before.offset.saturating_add(u64::from(step));
        let until = before
            .offset
            .saturating_add(u64::from(shape.limit.max(shape.received)));
        self.near.push_back((rows.len(), until));
        // Each short page starts within those before it, which can bring their rows again.
        while self
            .near
            .pop_front_if(|(_, until)| *until <= place.offset)
            .is_some()
        {}
        let near = if self.place.irregular {
            self.near.iter().map(|(rows, _)| rows).sum()
        } else {
            0
        };
        self.place.skip = self.skip.min(near);
        self.end(before, shape, rows, by_row, near)
    }

    /// The mark of a page, after which the next slice may come.
    fn end(
        &mut self,
        before: Checkpoint,
        shape: PageShape,
        rows: Vec<Identity>,
        by_row: bool,
        near: usize,
    ) -> Mark {
        let place = &mut self.place;
        place.rows = place.rows.saturating_add(rows.len() as u64);
        place.remember(&rows, near);
        if shape.whole && !shape.has_more {
            place.done = place.slice + 1 >= self.slices.len();
            if !place.done {
                (place.offset, place.cursor) = (0, None);
                place.slice += 1;
                self.near.clear();
            }
        }
        let behind = shape.whole.then(|| place.clone());
        Mark {
            before,
            behind,
            rows,
            by_row,
            shape,
        }
    }
}
