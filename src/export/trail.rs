//! Where an export stands, page by page, and after each of a page's rows.

use std::collections::VecDeque;

use crate::export::checkpoint::Checkpoint;
use crate::listing::rows::{Identity, Totals};

/// All of a page but its rows: what there is to know for the places behind them. Many pages are alike in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PageShape {
    /// How many rows came.
    pub received: u32,
    /// How many were asked for.
    pub limit: u32,
    /// Their positions in the answer, where they are not simply the first ones.
    pub kept: Option<Box<[u32]>>,
    /// Whether none was held back at its end.
    pub whole: bool,
    /// Whether the service says that there is more.
    pub has_more: bool,
    /// The page's totals.
    pub totals: Option<Totals>,
}

/// A page's place in the export.
#[derive(Debug)]
pub struct Mark {
    /// As before the page's first row.
    before: Checkpoint,
    /// As after its last row; `None` where rows were held back at its end.
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
            place.remember(rows, place.near() + rows.len());
        } else {
            let position = self.shape.kept.as_ref().and_then(|kept| kept.get(last));
            let received = position.map_or(rows.len() as u64, |&position| u64::from(position) + 1);
            place.offset = place.offset.saturating_add(received);
            place.remember(rows, 0);
        }
        place
    }
}

/// An export's place, which goes from page to page.
#[derive(Debug)]
pub(crate) struct Trail {
    /// Where the next page starts.
    pub(crate) place: Checkpoint,
    /// A page was short: rows may come again, and offsets are not positions.
    irregular: bool,
    /// Of the last pages, how many rows they handed out, and the offset from which on none of them can come again.
    near: VecDeque<(usize, u64)>,
}

impl Trail {
    /// Goes on at `place`.
    pub(crate) fn new(place: Checkpoint) -> Self {
        let near = place.near();
        let until = place.offset.saturating_add(u64::from(place.page_size).max(near as u64));
        let near = (near > 0).then_some((near, until));
        Self { irregular: near.is_some(), place, near: near.into_iter().collect() }
    }

    /// Whether a page was short.
    pub(crate) fn is_irregular(&self) -> bool {
        self.irregular
    }

    /// The offset from which on none of the rows that came at `place` and before can come again.
    pub(crate) fn until(&self) -> u64 {
        self.near.back().map_or(self.place.offset, |(_, until)| *until)
    }

    /// Moves on after a page of such a shape, of which these rows are handed out.
    pub(crate) fn step(&mut self, mut shape: PageShape, rows: Vec<Identity>) -> Mark {
        // Known from the first row on: a part that goes on within this page is to see that they moved.
        self.place.begin_totals(shape.totals);
        let before = self.place.clone();
        let is_short = shape.received < shape.limit;
        self.irregular |= shape.has_more && shape.received != shape.limit;
        // A short last page is what most exports end with, and what one ends with that leaves rows out: the next part
        // is to know the rows, as their positions may be no offsets. Rows of unknown shape could not be told apart.
        let by_row = self.irregular || (is_short && before.listing.is_visitors());
        if by_row {
            shape.kept = None;
        }
        let step = if shape.has_more && is_short { shape.received } else { shape.limit };
        let place = &mut self.place;
        place.offset = before.offset.saturating_add(u64::from(step));
        place.rows = place.rows.saturating_add(rows.len() as u64);
        place.done = shape.whole && !shape.has_more;
        let until = before.offset.saturating_add(u64::from(shape.limit.max(shape.received)));
        self.near.push_back((rows.len(), until));
        // Each short page starts within those before it, which can bring their rows again.
        while self.near.pop_front_if(|(_, until)| *until <= place.offset).is_some() {}
        let near = if self.irregular { self.near.iter().map(|(rows, _)| rows).sum() } else { 0 };
        place.remember(&rows, near);
        let behind = shape.whole.then(|| place.clone());
        Mark { before, behind, rows, by_row, shape }
    }
}
