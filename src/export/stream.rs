//! Hands an export to its caller: page by page, as a table, or into a file. No row is lost if a
//! call is abandoned: the next call starts where that one began, and fetches its pages again. A
//! store saves these requests.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::file::{FileWriter, WrittenFile, run_blocking};
use crate::export::observer::ExportObserver;
use crate::export::page::Source;
use crate::export::pager::{CheckedPage, Pager, Paging};
use crate::export::position::PagePosition;
use crate::listing::page::Totals;
use crate::table::formats::Format;
use crate::table::layout::Layout;
use crate::table::{Table, TableBuilder};

/// See the module. It has one caller at a time, which may drop its future at any await.
pub struct ExportStream {
    source: Arc<dyn Source>,
    pager: Pager,
    /// The columns of its tables and files.
    layout: Layout,
    /// Pages that come before the pager's.
    ready: VecDeque<CheckedPage>,
    /// The start of the call, until its caller has the rows, and the findings before it.
    call_start: Option<(Remainder, Vec<String>)>,
    /// The last page of that call.
    pub(crate) last: Option<Arc<PagePosition>>,
    /// Requests of pagers before this one.
    requests: u64,
    /// Findings of pagers before this one, in words.
    found: Vec<String>,
    /// How many pages were taken.
    pub pages_taken: u64,
}

/// The position of an export, and the rest of its current page.
pub struct Remainder {
    /// The position after the last row that was handed out.
    pub place: Checkpoint,
    /// The options of paging from there on.
    pub paging: Paging,
    /// The rest of the current page.
    pub rest: Option<CheckedPage>,
}

impl ExportStream {
    /// The pages of `source` from `place` on.
    pub fn new(source: Arc<dyn Source>, place: Checkpoint, paging: Paging) -> Self {
        let fields = place.listing.endpoint().fields;
        let is_sliced = place
            .listing
            .slices()
            .is_ok_and(|slices| !slices.is_empty());
        Self {
            layout: Layout {
                days: is_sliced,
                fields,
            },
            pager: Pager::new(Arc::clone(&source), place, paging),
            source,
            ready: VecDeque::new(),
            call_start: None,
            last: None,
            requests: 0,
            found: Vec::new(),
            pages_taken: 0,
        }
    }

    /// Gets the next page, which stays until [`ExportStream::take`] takes it; there is none at the
    /// end.
    pub async fn peek(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<()> {
        self.rewind();
        if let Some(turn) = self.next(observer).await? {
            self.ready.push_front(turn);
        }
        Ok(())
    }

    /// The page that [`ExportStream::peek`] got.
    pub fn front(&self) -> Option<&CheckedPage> {
        self.ready.front()
    }
    pub fn take(&mut self) -> Option<CheckedPage> {
        self.pages_taken += 1;
        self.ready.pop_front()
    }

    /// The next page, without keeping it for another call.
    pub(crate) async fn next(
        &mut self,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<Option<CheckedPage>> {
        match self.ready.pop_front() {
            Some(turn) => Ok(Some(turn)),
            None => self.pager.next_page(observer).await,
        }
    }

    /// Gathers all remaining rows into a table. After an error, the table has the rows before it.
    pub async fn gather(
        &mut self,
        left: Remainder,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<(Arc<Table>, Option<Error>)> {
        self.begin(left);
        self.pager.remember_all();
        let mut builder = TableBuilder::new(self.layout);
        let error = loop {
            let CheckedPage {
                rows,
                findings,
                position,
            } = match self.next(observer).await {
                Ok(Some(turn)) => turn,
                end => break end.err(),
            };
            observer.found(findings);
            builder.extend(&rows);
            let days = position.days;
            if let Some(days) = days {
                builder.end_slice(days);
            }
            self.last = Some(position);
            observer.rows(rows, days);
            observer.progress(builder.len() as u64);
        };
        // A long table would hold up the runtime's worker.
        let table = spawn_blocking(move || builder.finish());
        Ok((Arc::new(table.await.map_err(Error::bug)?), error))
    }

    /// Writes all remaining rows into a file, which does not have its name yet.
    pub async fn write(
        &mut self,
        left: Remainder,
        target: PathBuf,
        format: Format,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<io::Result<WrittenFile>> {
        self.begin(left);
        let layout = self.layout;
        match run_blocking(move || FileWriter::begin(target, format, layout)).await {
            Ok(writer) => writer.pages(self, observer).await,
            Err(error) => {
                // Nothing was read.
                self.call_start = None;
                Ok(Err(error))
            }
        }
    }

    /// Ends a call whose caller has all rows; returns the position of their last page.
    pub fn arrived(&mut self) -> Option<Arc<PagePosition>> {
        self.call_start = None;
        self.last.take()
    }

    /// Begins a call. [`ExportStream::arrived`] ends it.
    fn begin(&mut self, mut left: Remainder) {
        self.rewind();
        self.last = None;
        if let Some(rest) = left.rest.take() {
            self.ready.push_front(rest);
        }
        self.call_start = Some((left, self.warnings()));
    }

    /// Goes back to the start of a call that did not end.
    fn rewind(&mut self) {
        if let Some((start, found)) = self.call_start.take() {
            self.requests += self.pager.requests();
            self.pager = Pager::new(Arc::clone(&self.source), start.place, start.paging);
            self.ready.clear();
            self.found = found;
        }
    }

    /// How many requests were sent, retries included.
    pub fn requests(&self) -> u64 {
        self.requests + self.pager.requests()
    }

    /// The totals at the beginning of the export; `None` before the first page.
    pub fn totals(&self) -> Option<Totals> {
        self.pager.totals()
    }

    /// All findings so far, in words.
    pub fn warnings(&self) -> Vec<String> {
        let mut fresh = self.pager.warnings();
        fresh.retain(|text| !self.found.contains(text));
        [self.found.clone(), fresh].concat()
    }
}
