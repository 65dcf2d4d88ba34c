//! The rows of an export on their way into a table.

use std::iter::repeat_n;
use std::sync::Arc;

use crate::error::Result;
use crate::export::pager::Turn;
use crate::export::trail::{Mark, Shape, Trail};
use crate::listing::rows::Rows;
use crate::table::{Builder, Table};

/// Pages that came, their rows as columns already. A service that caps its pages may send as many pages as there are
/// rows, so that nothing is kept of each: how many of one shape came in a row, and the last one's place.
#[derive(Debug, Default)]
pub struct Gathered {
    builder: Builder,
    pages: Pages,
}

/// Pages without their rows.
#[derive(Debug, Default)]
struct Pages {
    /// The first, of which some rows may have been handed out before: how many are here, and its place.
    first: Option<(usize, Arc<Mark>)>,
    /// The others: how many in a row are of one shape.
    shapes: Vec<(usize, Shape)>,
    last: Option<Arc<Mark>>,
}

impl Gathered {
    /// Takes a page's rows in.
    pub fn add(&mut self, turn: Turn) -> Result<()> {
        let rows = turn.rows.into_visitors()?;
        let pages = &mut self.pages;
        match pages.shapes.last_mut() {
            _ if pages.first.is_none() => pages.first = Some((rows.len(), Arc::clone(&turn.mark))),
            Some((count, shape)) if shape == turn.mark.shape() => *count += 1,
            _ => pages.shapes.push((1, turn.mark.shape().clone())),
        }
        pages.last = Some(turn.mark);
        self.builder.extend(&rows);
        Ok(())
    }

    /// How many rows came.
    pub fn len(&self) -> usize {
        self.builder.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many runs of pages of one shape came behind the first page.
    pub fn runs(&self) -> usize {
        self.pages.shapes.len()
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
    pages: Pages,
}

impl Finished {
    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Where the export stands behind it.
    pub fn mark(&self) -> Option<&Mark> {
        self.pages.last.as_deref()
    }

    /// The pages as they came, for whoever goes on row by row; each is made when it is asked for.
    pub fn into_turns(self) -> impl Iterator<Item = Turn> + Send + 'static {
        let Self { table, pages } = self;
        let mut start = 0;
        let mut rows = move |count: usize| {
            let range = start..start + count;
            start += count;
            Rows::Visitors(range.map_while(|row| table.row(row)).collect())
        };
        let first = pages.first.map(|(count, mark)| {
            let trail = Trail::new(mark.behind(mark.rows()));
            (Turn::again(rows(count), mark), trail)
        });
        let (first, mut trail) = first.unzip();
        let shapes = pages.shapes.into_iter().flat_map(|(count, shape)| repeat_n(shape, count));
        let others = shapes.map_while(move |shape| {
            let rows = rows(shape.handed);
            let mark = trail.as_mut()?.step(shape, rows.identities());
            Some(Turn::again(rows, Arc::new(mark)))
        });
        first.into_iter().chain(others)
    }
}
