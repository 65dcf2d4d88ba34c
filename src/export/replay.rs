//! Keeps how the rows of a table came in pages: if its caller is gone, they are handed out again without a request.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::export::pager::Turn;
use crate::export::trail::{Mark, PageShape, Trail};
use crate::listing::rows::Rows;
use crate::table::Table;

/// Consecutive pages that are equal in all but their rows.
struct Run {
    shape: PageShape,
    /// How many rows each of them handed out.
    rows: usize,
    pages: usize,
}

/// How the rows of a table came. A service that caps its pages may send as many pages as rows, so of a page nothing is
/// kept that the one before it had too: its place follows from theirs.
pub(crate) struct Arrival {
    first: Arc<Mark>,
    /// Of the first page: others had its beginning.
    first_rows: usize,
    runs: VecDeque<Run>,
}

impl Arrival {
    /// Begins with what is left of a page.
    pub(crate) fn new(first: Arc<Mark>, first_rows: usize) -> Self {
        Self { first, first_rows, runs: VecDeque::new() }
    }

    /// Adds the page after it.
    pub(crate) fn add(&mut self, mark: &Mark) {
        let rows = mark.rows();
        match self.runs.back_mut() {
            Some(run) if run.rows == rows && run.shape == *mark.shape() => run.pages += 1,
            _ => self.runs.push_back(Run { shape: mark.shape().clone(), rows, pages: 1 }),
        }
    }

    /// The pages again, with the rows of the table that was made of them.
    pub(crate) fn replay(self, table: Arc<Table>) -> Replay {
        let Self { first, first_rows, runs } = self;
        let trail = Trail::new(first.behind(first.rows()));
        Replay { table, start: 0, first: Some((first, first_rows)), trail, runs }
    }
}

/// Pages that came before.
pub(crate) struct Replay {
    table: Arc<Table>,
    /// The first row of the next page.
    start: usize,
    first: Option<(Arc<Mark>, usize)>,
    trail: Trail,
    runs: VecDeque<Run>,
}

impl Iterator for Replay {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        if let Some((mark, rows)) = self.first.take() {
            return Some(Turn { rows: self.rows(rows), findings: Vec::new(), mark });
        }
        let run = self.runs.front_mut()?;
        run.pages -= 1;
        let (shape, rows) = (run.shape.clone(), run.rows);
        if run.pages == 0 {
            self.runs.pop_front();
        }
        let rows = self.rows(rows);
        let identities = self.trail.identities(rows.identities());
        let mark = self.trail.step(shape, identities);
        Some(Turn { rows, findings: Vec::new(), mark: Arc::new(mark) })
    }
}

impl Replay {
    fn rows(&mut self, count: usize) -> Rows {
        let endpoint = self.trail.place.listing.endpoint();
        let mut rows = Rows::new(endpoint.fields, endpoint.key);
        let places = self.start..self.start + count;
        self.start = places.end;
        places.filter_map(|row| self.table.row(row)).for_each(|row| rows.push_row(row));
        rows
    }
}
