//! The rows of an export on their way into a table.

use std::sync::Arc;

use crate::pager::{Mark, Turn};
use crate::rows::{Rows, Totals};
use crate::table::{Builder, Table};

/// Pages that came, their rows as columns already.
#[derive(Debug, Default)]
pub struct Gathered {
    builder: Builder,
    pages: Vec<Emptied>,
}

/// A page without its rows.
#[derive(Debug)]
struct Emptied {
    rows: usize,
    totals: Option<Totals>,
    offset: u64,
    has_more: bool,
    mark: Arc<Mark>,
}

impl Gathered {
    /// Takes a page's rows in. Only visitors have columns.
    pub fn add(&mut self, turn: Turn) {
        let Turn { rows: Rows::Visitors(rows), totals, offset, has_more, mark, .. } = turn else {
            return;
        };
        self.pages.push(Emptied { rows: rows.len(), totals, offset, has_more, mark });
        self.builder.extend(&rows);
    }

    /// How many rows came.
    pub fn len(&self) -> usize {
        self.builder.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them as a table.
    pub fn finish(self) -> Finished {
        Finished { table: Arc::new(self.builder.finish()), pages: self.pages }
    }
}

/// A table, and the pages that it came in.
#[derive(Debug)]
pub struct Finished {
    table: Arc<Table>,
    pages: Vec<Emptied>,
}

impl Finished {
    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Where the export stands behind it.
    pub fn mark(&self) -> Option<&Mark> {
        self.pages.last().map(|page| &*page.mark)
    }

    /// The pages as they came, for whoever goes on row by row.
    pub fn into_turns(self) -> impl Iterator<Item = Turn> {
        let table = self.table;
        let mut start = 0;
        self.pages.into_iter().map(move |Emptied { rows, totals, offset, has_more, mark }| {
            let range = start..start + rows;
            start += rows;
            let rows = Rows::Visitors(range.filter_map(|row| table.row(row)).collect());
            Turn { rows, totals, offset, has_more, findings: Vec::new(), mark }
        })
    }
}
