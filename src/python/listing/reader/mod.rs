//! The reader of all iterators of rows: the current page, and the way to the next.
//!
//! Several threads or tasks may share it. A row is handed out under a short lock; a page is turned
//! under a lock of the runtime, which its turner keeps until the page has come, so that pages stay
//! in order.
//!
//! Here is where an export stands; `turn` hands its rows out.

use std::sync::{Mutex, MutexGuard};
use std::{process, vec};

use tokio::sync::Mutex as AsyncMutex;

use crate::export::checkpoint::Checkpoint;
use crate::export::pager::{CheckedPage, Paging};
use crate::export::position::PagePosition;
use crate::export::source;
use crate::export::stream::{ExportStream, Remainder};
use crate::listing::Listing;
use crate::listing::page::Totals;
use crate::listing::rows::Rows;
use crate::python::bridge::inbox::ActiveOperations;
use crate::python::client::handle::Handle;
use crate::python::prelude::*;

mod turn;

pub(crate) use turn::Iteration;

/// A page whose rows are Python objects, and how far they were handed out.
struct CurrentPage {
    rows: vec::IntoIter<Py<PyAny>>,
    /// The rest went another way.
    closed: bool,
    /// The same rows as they came, for a caller that wants the rest in another form.
    source: Rows,
    position: Arc<PagePosition>,
}

impl CurrentPage {
    /// The position after the last row that was handed out.
    fn place(&self) -> Checkpoint {
        self.position
            .checkpoint(self.position.rows().saturating_sub(self.rows.len()))
    }

    fn is_spent(&self) -> bool {
        self.closed || self.rows.len() == 0
    }
}

struct ReaderState {
    pid: u32,
    stream: Arc<AsyncMutex<ExportStream>>,
    pages_taken: u64,
    page: Option<CurrentPage>,
    /// Where it stands while there is no page.
    start: Checkpoint,
    handed: u64,
    totals: Option<Totals>,
    warnings: Vec<String>,
    /// Nothing is left, and the caller was told so.
    ended: bool,
}

impl Drop for ReaderState {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // A forked child: the parent's requests are not to be touched.
            std::mem::forget(Arc::clone(&self.stream));
        }
    }
}

impl ReaderState {
    fn place(&self) -> Checkpoint {
        self.page
            .as_ref()
            .map_or_else(|| self.start.clone(), CurrentPage::place)
    }
}

/// Where the pages are kept that an export fetched.
pub enum Kept {
    /// No store keeps pages of this listing.
    Never,
    /// In the client's store; `refresh`: the same call would fetch them again.
    InStore { refresh: bool },
    /// Nowhere, because the client has no store.
    WithStore,
}

pub struct RowReader {
    pub(super) handle: Arc<Handle>,
    /// Whether the rows are fetched even if the store has them.
    refresh: bool,
    paging: Paging,
    pub(super) active: Arc<ActiveOperations>,
    /// Locked for moments, and never while Python runs.
    state: Mutex<ReaderState>,
}

impl RowReader {
    /// `refresh`: the rows are fetched even if the store has them.
    pub fn new(
        handle: Arc<Handle>,
        on_budget: WaitOrStop,
        refresh: bool,
        start: Checkpoint,
        paging: Paging,
    ) -> PyResult<Arc<Self>> {
        let source = source::source(handle.client()?.on_budget(on_budget), &start, refresh);
        let stream = ExportStream::new(source, start.clone(), paging);
        let state = ReaderState {
            pid: process::id(),
            stream: Arc::new(AsyncMutex::new(stream)),
            pages_taken: 0,
            page: None,
            // An export that was finished before asks for no page any more.
            totals: start.totals.filter(|_| start.done),
            start,
            handed: 0,
            warnings: Vec::new(),
            ended: false,
        };
        Ok(Arc::new(Self {
            handle,
            refresh,
            paging,
            active: Arc::new(ActiveOperations::new()),
            state: Mutex::new(state),
        }))
    }

    fn state(&self) -> MutexGuard<'_, ReaderState> {
        crate::lock(&self.state)
    }

    /// Begins a pass. One after the end is a mistake that silence would hide.
    pub fn begin(&self) -> PyResult<()> {
        if self.state().ended {
            return Err(PyRuntimeError::new_err(
                "this iterator was read to its end; call the client's method again for a new one",
            ));
        }
        Ok(())
    }

    /// Where to continue: after the last row that was handed out.
    pub fn checkpoint(&self) -> String {
        self.state().place().text()
    }

    pub fn tell_checkpoint(
        self: &Arc<Self>,
    ) -> impl Fn(&Object<'_>) -> PyResult<()> + Send + 'static {
        let reader = Arc::clone(self);
        move |error| errors::tell_checkpoint(error, Some(reader.checkpoint()))
    }

    /// Where the pages are kept that came.
    pub fn kept(&self) -> Kept {
        if !self.state().place().listing.is_known() {
            Kept::Never
        } else if self.handle.settings.store.is_some() {
            Kept::InStore {
                refresh: self.refresh,
            }
        } else {
            Kept::WithStore
        }
    }

    /// The listing and its position, without a request.
    pub fn repr(&self, class: &str) -> String {
        let place = self.state().place();
        let mut shown = format!("{class}(path='{}'", safe(&place.listing.path, 120));
        for (name, value) in &place.listing.query {
            shown += &format!(", {name}='{}'", safe(value, 60));
        }
        format!("{shown}, {} rows handed out)", place.rows)
    }

    pub fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    pub fn listing(&self) -> Listing {
        self.state().start.listing.clone()
    }

    /// The most rows that are still handed out, if that is known.
    pub fn most(&self) -> Option<u64> {
        self.paging_after(self.state().handed).max_rows
    }

    /// How it continues after that many rows.
    fn paging_after(&self, handed: u64) -> Paging {
        let left = self.paging.max_rows.map(|most| most.saturating_sub(handed));
        Paging {
            max_rows: left,
            ..self.paging
        }
    }

    /// The stream, and how many pages had been taken when this reader last saw it.
    pub(super) fn stream(&self) -> (Arc<AsyncMutex<ExportStream>>, u64) {
        let state = self.state();
        (Arc::clone(&state.stream), state.pages_taken)
    }

    /// Where the export stands, with what is left of the current page, which hands out no more.
    pub(super) fn close_page(&self) -> Remainder {
        let mut state = self.state();
        let (place, paging) = (state.place(), self.paging_after(state.handed));
        let rest = state
            .page
            .as_mut()
            .filter(|page| !page.is_spent())
            .map(|page| {
                page.closed = true;
                let spent = page.source.len() - page.rows.len();
                let mut rows = page.source.clone();
                rows.select(&(0..).take(rows.len()).skip(spent).collect::<Vec<_>>());
                CheckedPage {
                    rows,
                    findings: Vec::new(),
                    position: Arc::clone(&page.position),
                }
            });
        Remainder {
            place,
            paging,
            rest,
        }
    }

    /// The caller has `rows` more; `ended`: they were the last.
    pub(super) fn handed(&self, rows: u64, ended: bool, stream: &mut ExportStream) {
        let last = stream.arrived();
        let mut state = self.state();
        state.start = match last {
            Some(position) => position.checkpoint(position.rows()),
            None => state.place(),
        };
        state.handed += rows;
        state.ended |= ended;
        state.totals = state.totals.or(stream.totals());
        state.warnings = stream.warnings();
        let old = state.page.take();
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
    }
}
