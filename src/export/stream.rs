//! Hands an export to its caller: page by page, as a table, or into a file. No row is lost if a call is abandoned.
//!
//! The rows of a table are kept until its caller has it: the next call for a table continues with them, and any other call
//! gets them again page by page. The rows of an unfinished file are not kept, because a file may have more rows than fit
//! into memory: the next call starts where that one began.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::{Error, Result};
use crate::export::checkpoint::Checkpoint;
use crate::export::file::{Writing, Written, aside};
use crate::export::observer::ExportObserver;
use crate::export::pager::{Pager, Paging, Source, Turn};
use crate::export::replay::Replay;
use crate::export::trail::{Arrival, Mark};
use crate::listing::rows::Totals;
use crate::table::formats::Format;
use crate::table::record::Layout;
use crate::table::{Builder, Table};

/// See the module. It has one caller at a time, which may drop its future at any await.
pub struct ExportStream {
    source: Arc<dyn Source>,
    pager: Pager,
    /// The columns of its tables and files.
    layout: Layout,
    /// Pages that come before all others.
    ready: VecDeque<Turn>,
    /// Pages that were fetched for a call whose caller left; they come before the pager's.
    replay: Option<Replay>,
    /// Where the call began whose rows its caller does not have yet.
    begun: Option<Begun>,
    rows: Gathered,
    /// How they came.
    arrival: Option<Arrival>,
    /// The last page of that call.
    pub(crate) last: Option<Arc<Mark>>,
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
    pub rest: Option<Turn>,
}

struct Begun {
    place: Checkpoint,
    paging: Paging,
    found: Vec<String>,
}

/// The rows of a table that its caller does not have yet.
enum Gathered {
    None,
    Some(Box<Builder>),
    Finishing(JoinHandle<Table>),
    All(Arc<Table>),
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
            replay: None,
            begun: None,
            rows: Gathered::None,
            arrival: None,
            last: None,
            requests: 0,
            found: Vec::new(),
            turns: 0,
        }
    }

    /// Gets the next page, which stays until [`ExportStream::take`] takes it; there is none at the end.
    pub async fn peek(&mut self, observer: &Arc<dyn ExportObserver>) -> Result<()> {
        self.rewind().await?;
        if let Some(turn) = self.next(observer).await? {
            self.ready.push_front(turn);
        }
        Ok(())
    }

    /// The page that [`ExportStream::peek`] got.
    pub fn front(&self) -> Option<&Turn> {
        self.ready.front()
    }
    pub fn take(&mut self) -> Option<Turn> {
        self.turns += 1;
        self.ready.pop_front()
    }

    /// The next page, for the caller that keeps it until its own caller has it.
    pub(crate) async fn next(
        &mut self,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<Option<Turn>> {
        if let Some(turn) = self.ready.pop_front() {
            return Ok(Some(turn));
        }
        if let Some(turn) = self.replay.as_mut().and_then(Iterator::next) {
            return Ok(Some(turn));
        }
        self.replay = None;
        self.pager.next_page(observer).await
    }

    /// Gathers all that is left; [`ExportStream::table`] has it, also what came before an error.
    pub async fn gather(
        &mut self,
        left: Remainder,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<()> {
        if matches!(self.rows, Gathered::None) {
            self.begin(left).await?;
            self.rows = Gathered::Some(Box::new(Builder::new(self.layout)));
        }
        self.pager.remember_all();
        while matches!(self.rows, Gathered::Some(_))
            && let Some(Turn {
                rows,
                findings,
                mark,
            }) = self.next(observer).await?
            && let Gathered::Some(builder) = &mut self.rows
        {
            observer.found(findings);
            builder.extend(&rows);
            let days = mark.shape().days;
            if let Some(days) = days {
                builder.end_slice(days);
            }
            match &mut self.arrival {
                Some(arrival) => arrival.add(&mark),
                None => self.arrival = Some(Arrival::new(Arc::clone(&mark), rows.len())),
            }
            self.last = Some(mark);
            observer.rows(rows, days);
            observer.progress(builder.len() as u64);
        }
        Ok(())
    }

    /// The table of all that was gathered; made on a thread that holds nobody up.
    pub async fn table(&mut self) -> Result<Arc<Table>> {
        if let Gathered::Some(builder) = &mut self.rows {
            let builder = std::mem::replace(builder, Box::new(Builder::new(self.layout)));
            self.rows = Gathered::Finishing(spawn_blocking(move || builder.finish()));
        }
        if let Gathered::Finishing(task) = &mut self.rows {
            self.rows = Gathered::All(Arc::new(task.await.map_err(Error::bug)?));
        }
        match &self.rows {
            Gathered::All(table) => Ok(Arc::clone(table)),
            _ => Err(Error::bug("nothing was gathered")),
        }
    }

    /// Like [`ExportStream::table`], of what came before an error. If the caller does not get it, its rows are handed out again.
    pub async fn partial(&mut self) -> Result<Arc<Table>> {
        let table = self.table().await?;
        self.hand_out_again(Arc::clone(&table));
        Ok(table)
    }

    /// Writes all that is left into a file, up to its name.
    pub async fn write(
        &mut self,
        left: Remainder,
        target: PathBuf,
        format: Format,
        observer: &Arc<dyn ExportObserver>,
    ) -> Result<io::Result<Written>> {
        self.begin(left).await?;
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
    pub fn arrived(&mut self) -> Option<Arc<Mark>> {
        self.rows = Gathered::None;
        self.arrival = None;
        self.replay = None;
        self.begun = None;
        self.last.take()
    }

    /// Begins a call whose rows are its caller's when [`ExportStream::arrived`] says so.
    async fn begin(
        &mut self,
        Remainder {
            place,
            paging,
            rest,
        }: Remainder,
    ) -> Result<()> {
        self.rewind().await?;
        self.begun = Some(Begun {
            place,
            paging,
            found: self.warnings(),
        });
        self.last = None;
        if let Some(rest) = rest {
            self.ready.push_front(rest);
        }
        Ok(())
    }

    /// Goes back to where a call began whose rows nobody got.
    async fn rewind(&mut self) -> Result<()> {
        if !matches!(self.rows, Gathered::None) {
            let table = self.table().await?;
            self.hand_out_again(table);
        }
        if let Some(Begun {
            place,
            paging,
            found,
        }) = self.begun.take()
        {
            self.requests += self.pager.requests();
            self.pager = Pager::new(Arc::clone(&self.source), place, paging);
            self.ready.clear();
            self.replay = None;
            self.found = found;
        }
        Ok(())
    }

    /// Hands out the rows of a table again, page by page, before those of the pager.
    fn hand_out_again(&mut self, table: Arc<Table>) {
        if let Some(arrival) = self.arrival.take() {
            self.replay = Some(arrival.replay(table));
        }
        self.rows = Gathered::None;
        self.begun = None;
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
