//! Hands the rows of a table out again as the pages that they came in, without a request.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::export::pager::Turn;
use crate::export::trail::{Arrival, Mark, Run, Trail};
use crate::listing::rows::Rows;
use crate::table::Table;

impl Arrival {
    /// The pages again, with the rows of the table that was made of them.
    pub(crate) fn replay(self, table: Arc<Table>) -> Replay {
        let Self {
            first,
            first_rows,
            runs,
        } = self;
        let trail = Trail::new(first.behind(first.rows()));
        Replay {
            table,
            start: 0,
            first: Some((first, first_rows)),
            trail,
            runs,
        }
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
            return Some(Turn {
                rows: self.rows(rows),
                findings: Vec::new(),
                mark,
            });
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
        Some(Turn {
            rows,
            findings: Vec::new(),
            mark: Arc::new(mark),
        })
    }
}

impl Replay {
    fn rows(&mut self, count: usize) -> Rows {
        let endpoint = self.trail.place.listing.endpoint();
        let mut rows = Rows::new(endpoint.fields, endpoint.key);
        let places = self.start..self.start + count;
        self.start = places.end;
        places
            .filter_map(|row| self.table.row(row))
            .for_each(|row| rows.push_row(row));
        rows
    }
}
