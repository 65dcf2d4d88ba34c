//! Work on all that is left at once, for what ends an export: the page at hand is closed meanwhile.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use tokio::sync::OwnedMutexGuard;

use crate::error::Result;
use crate::export::checkpoint::Checkpoint;
use crate::export::observer::ExportObserver;
use crate::export::pager::{Paging, Turn};
use crate::export::trail::Mark;
use crate::listing::rows::Rows;
use crate::python::bridge::op::{Next, Op};
use crate::python::bridge::port::Port;
use crate::python::listing::cursor::Cursor;
use crate::python::listing::engine::Engine;

/// Where an export stands, and how it goes on from there.
type Place = (Checkpoint, Paging);

/// What an operation on the engine came to; nobody else has the engine yet.
pub(crate) struct Worked<T> {
    pub(crate) engine: OwnedMutexGuard<Engine>,
    pub(crate) result: Result<T>,
}

impl Cursor {
    /// An operation on all that is left, with no page at hand meanwhile: what is left of it comes first.
    pub(crate) fn work<T: Send + 'static>(
        self: &Arc<Self>,
        name: &'static str,
        work: impl for<'a> FnOnce(&'a mut Engine, Place, Arc<dyn ExportObserver>) -> BoxFuture<'a, Result<T>>
        + Send
        + 'static,
        finish: impl FnOnce(Python<'_>, Worked<T>) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Op> {
        self.begin()?;
        self.handle.client()?;
        let cursor = Arc::clone(self);
        let work = move |port: Arc<Port>| {
            // On the caller's thread: the client may have been closed since the call.
            let (engine, _) = cursor.engine();
            let client = cursor.handle.client();
            async move {
                client?;
                let mut engine = engine.lock_owned().await;
                let (place, rest) = cursor.close_page();
                engine.settle(rest);
                let result = work(&mut engine, place, port).await;
                Ok(Worked { engine, result })
            }
        };
        Ok(Op::new(name, work, finish).inside(&self.inside).on_error(self.tell_checkpoint()))
    }

    /// Where the export stands, and what is left of the page at hand, which hands out no more.
    fn close_page(&self) -> (Place, Option<Turn>) {
        let mut state = self.state();
        let place = (state.place(), self.paging_behind(state.handed));
        let rest = state.page.as_mut().filter(|page| !page.is_spent()).map(|page| {
            page.closed = true;
            let spent = page.source.len() - page.rows.len();
            let rows = Rows::Visitors(page.source.iter().skip(spent).collect());
            Turn::again(rows, Arc::clone(&page.mark))
        });
        (place, rest)
    }

    /// Notes that `rows` more were handed out, up to `mark`; `ended`: they were the last.
    pub(crate) fn handed(&self, rows: u64, mark: Option<&Mark>, ended: bool, engine: &Engine) {
        let mut state = self.state();
        if let Some(mark) = mark {
            state.start = mark.behind(mark.rows());
        } else {
            state.start = state.place();
        }
        state.handed += rows;
        state.ended |= ended;
        state.totals = state.totals.or(engine.totals());
        state.warnings = engine.warnings();
        let old = state.page.take();
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
    }
}
