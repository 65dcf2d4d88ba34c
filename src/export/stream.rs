//! Hands an export to its caller: page by page, as a table, or into a file. No row is lost if a call is abandoned: the
//! next call starts where that one began, and fetches its pages again. A store saves these requests.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::file::{Writing, WrittenFile, aside};
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
    /// Where the call began whose rows its caller does not have yet.
    begun: Option<Begun>,
    /// The last page of that call.
    pub(crate) last: Option<Arc<PagePosition>>,
    /// Requests of pagers before this one.
    requests: u64,
    /// What pagers before this one found, in words.
    found: Vec<String>,
    /// How many pages were taken.
    pub turns: u64,
}

/// Where an export stands, and what is left of it.
pub struct Remainder {
    /// After the last row that was handed out.
    pub place: Checkpoint,
    /// How it continues there.
    pub paging: Paging,
    /// What is left of the current page.
    pub rest: Option<CheckedPage>,
}

struct Begun {
    place: Checkpoint,
    paging: Paging,
    found: Vec<String>,
}

impl ExportStream {
    /// What `source` has from `place` on.
    pub fn new(source: Arc<dyn Source>, place: Checkpoint, paging: Paging) -> Self {
        let fields = place.listing.endpoint().fields;
        let is_sliced = place
            .listing
            .slices()
            .is_ok_and(|slices| !slices.is_empty());
        Self {
            layout: if is_sliced {
                Layout::sliced(fields)
            } else {
                Layout::of(fields)
            },
            pager: Pager::new(Arc::clone(&source), place, paging),
            source,
            ready: VecDeque::new(),
            begun: None,
            last: None,
            requests: 0,
            found: Vec::new(),
            turns: 0,
        }
    }

    /// Gets the next page, which stays until [`ExportStream::take`] takes it; there is none at the end.
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
        self.turns += 1;
        self.ready.pop_front()
    }

    /// The next page, for the caller that keeps it until its own caller has it.
    pub(crate) async fn next(
        &mut self,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<Option<CheckedPage>> {
        match self.ready.pop_front() {
            Some(turn) => Ok(Some(turn)),
            None => self.pager.next_page(observer).await,
        }
    }

    /// Gathers all that is left into a table. If that breaks off, the table has the rows that came, beside the error.
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

    /// Writes all that is left into a file, up to its name.
    pub async fn write(
        &mut self,
        left: Remainder,
        target: PathBuf,
        format: Format,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<io::Result<WrittenFile>> {
        self.begin(left);
        let layout = self.layout;
        match aside(move || Writing::begin(target, format, layout)).await {
            Ok(writing) => writing.pages(self, observer).await,
            Err(error) => {
                // Nothing was read.
                self.begun = None;
                Ok(Err(error))
            }
        }
    }

    /// The caller has the rows of the call; returns the last page that they came in.
    pub fn arrived(&mut self) -> Option<Arc<PagePosition>> {
        self.begun = None;
        self.last.take()
    }

    /// Begins a call whose rows are its caller's when [`ExportStream::arrived`] says so.
    fn begin(
        &mut self,
        Remainder {
            place,
            paging,
            rest,
        }: Remainder,
    ) {
        self.rewind();
        self.begun = Some(Begun {
            place,
            paging,
            found: self.warnings(),
        });
        self.last = None;
        if let Some(rest) = rest {
            self.ready.push_front(rest);
        }
    }

    /// Goes back to where a call began whose rows its caller did not get.
    fn rewind(&mut self) {
        let Some(Begun {
            place,
            paging,
            found,
        }) = self.begun.take()
        else {
            return;
        };
        self.requests += self.pager.requests();
        self.pager = Pager::new(Arc::clone(&self.source), place, paging);
        self.ready.clear();
        self.found = found;
    }

    /// How many requests were sent, retries included.
    pub fn requests(&self) -> u64 {
        self.requests + self.pager.requests()
    }

    /// The totals that the export began with, once a page came.
    pub fn totals(&self) -> Option<Totals> {
        self.pager.totals()
    }

    /// All that was found so far, in words.
    pub fn warnings(&self) -> Vec<String> {
        let fresh = self
            .pager
            .warnings()
            .into_iter()
            .filter(|text| !self.found.contains(text));
        self.found.iter().cloned().chain(fresh).collect()
    }
}
