//! Work on all that is left at once, for what ends an export: the current page is closed meanwhile.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use tokio::sync::OwnedMutexGuard;

use crate::error::Result;
use crate::export::observer::ExportObserver;
use crate::export::pager::Turn;
use crate::export::stream::{ExportStream, Remainder};
use crate::python::bridge::inbox::Inbox;
use crate::python::bridge::operation::{Next, Operation};
use crate::python::listing::reader::RowReader;

/// What an operation on the stream came to; nobody else has the stream yet.
pub(crate) struct Worked<T> {
    pub(crate) stream: OwnedMutexGuard<ExportStream>,
    pub(crate) result: Result<T>,
}

impl RowReader {
    /// An operation on all that is left, with no current page meanwhile: what is left of it comes first.
    pub(crate) fn work<T: Send + 'static>(
        self: &Arc<Self>,
        name: &'static str,
        work: impl for<'a> FnOnce(
            &'a mut ExportStream,
            Remainder,
            Arc<dyn ExportObserver>,
        ) -> BoxFuture<'a, Result<T>>
        + Send
        + 'static,
        finish: impl FnOnce(Python<'_>, Worked<T>) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Operation> {
        self.begin()?;
        self.handle.client()?;
        let reader = Arc::clone(self);
        let work = move |inbox: Arc<Inbox>| {
            // On the caller's thread: the client may have been closed since the call.
            let (stream, _) = reader.stream();
            let client = reader.handle.client();
            async move {
                client?;
                let mut stream = stream.lock_owned().await;
                let left = reader.close_page();
                let result = work(&mut stream, left, inbox).await;
                Ok(Worked { stream, result })
            }
        };
        Ok(Operation::new(name, work, finish).inside(&self.inside).on_error(self.tell_checkpoint()))
    }

    /// Where the export stands, with what is left of the current page, which hands out no more.
    fn close_page(&self) -> Remainder {
        let mut state = self.state();
        let (place, paging) = (state.place(), self.paging_after(state.handed));
        let rest = state.page.as_mut().filter(|page| !page.is_spent()).map(|page| {
            page.closed = true;
            let spent = page.source.len() - page.rows.len();
            let mut rows = page.source.clone();
            rows.select(&(0..).take(rows.len()).skip(spent).collect::<Vec<_>>());
            Turn { rows, findings: Vec::new(), mark: Arc::clone(&page.mark) }
        });
        Remainder { place, paging, rest }
    }

    /// The caller has `rows` more; `ended`: they were the last.
    pub(crate) fn handed(&self, rows: u64, ended: bool, stream: &mut ExportStream) {
        let last = stream.arrived();
        let mut state = self.state();
        state.start = last.map_or_else(|| state.place(), |mark| mark.behind(mark.rows()));
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
