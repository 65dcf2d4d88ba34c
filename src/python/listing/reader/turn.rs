//! Iteration: the rows of the current page, and the turn to the next page.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::OwnedMutexGuard;

use crate::export::findings::Finding;
use crate::export::observer::ExportObserver;
use crate::export::pager::Turn;
use crate::export::stream::ExportStream;
use crate::listing::rows::Totals;
use crate::python::bridge::inbox::Inbox;
use crate::python::bridge::operation::{Next, Operation};
use crate::python::convert;
use crate::python::listing::reader::{PageAtHand, RowReader};
use crate::python::listing::rows;

pub(crate) struct Rest {
    pub(crate) rows: Vec<Py<PyAny>>,
    pub(crate) totals: Option<Totals>,
    pub(crate) offset: u64,
    pub(crate) has_more: bool,
}

/// What a caller wants besides a row.
#[derive(Clone, Copy)]
pub(crate) struct How {
    /// How the end is reported: `StopIteration` or `StopAsyncIteration`.
    pub(crate) stop: fn() -> PyErr,
    /// How many Python frames up the code is that a warning is about.
    pub(crate) depth: i32,
}

impl RowReader {
    pub(crate) fn take_row(&self) -> Option<Py<PyAny>> {
        let mut state = self.state();
        let page = state.page.as_mut().filter(|page| !page.closed)?;
        let row = page.rows.next()?;
        state.handed += 1;
        Some(row)
    }

    pub(crate) fn take_rest(&self) -> Option<Rest> {
        let mut state = self.state();
        let page = state.page.as_mut().filter(|page| !page.is_spent())?;
        let offset = page.place().offset;
        let rows: Vec<_> = page.rows.by_ref().collect();
        let shape = page.mark.shape();
        let rest = Rest { offset, totals: shape.totals, has_more: shape.has_more, rows };
        state.handed += rest.rows.len() as u64;
        Some(rest)
    }

    /// The operation that turns pages until `take` takes something.
    pub(crate) fn next<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        how: How,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Operation> {
        let reader = Arc::clone(self);
        self.turn(name, how.depth, move |py, more| {
            if let Some(taken) = take(&reader) {
                return finish(py, taken).map(Next::Value);
            }
            if more {
                // Another caller was faster, or all rows of the page were repeats.
                return reader.next(name, how, take, finish).map(Next::Then);
            }
            reader.state().ended = true;
            Err((how.stop)())
        })
    }

    /// Like [`RowReader::next`], for a caller that may never await it: a row that is there is taken only then.
    pub(crate) fn next_lazily<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        how: How,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Operation> {
        if self.state().page.as_ref().is_none_or(PageAtHand::is_spent) {
            return self.next(name, how, take, finish);
        }
        let reader = Arc::clone(self);
        Ok(Operation::ready(name, move |py| match take(&reader) {
            Some(taken) => finish(py, taken).map(Next::Value),
            None => reader.next(name, how, take, finish).map(Next::Then),
        }))
    }

    /// The totals, from the first page; that page is kept for a caller that asks for rows.
    pub(crate) fn totals(self: &Arc<Self>, name: &'static str) -> PyResult<Operation> {
        let known = self.state().totals;
        if let Some(totals) = known {
            return Ok(Operation::ready(name, move |py| convert::totals(py, totals).map(Next::Value)));
        }
        let reader = Arc::clone(self);
        self.turn(name, 1, move |py, more| {
            let totals = reader.state().totals;
            match totals {
                Some(totals) => convert::totals(py, totals).map(Next::Value),
                None if more => reader.totals(name).map(Next::Then),
                None => Err(PyRuntimeError::new_err(
                    "no page was requested, so there are no totals: use visitor_totals()",
                )),
            }
        })
    }

    /// The operation that turns a page, unless another caller has just done so.
    fn turn(
        self: &Arc<Self>,
        name: &'static str,
        depth: i32,
        then: impl FnOnce(Python<'_>, bool) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Operation> {
        // A closed client hands out no more pages.
        self.handle.client()?;
        let (stream, seen) = self.stream();
        let reader = Arc::clone(self);
        let turn = move |inbox: Arc<Inbox>| {
            // On the caller's thread: the client may have been closed since the call.
            let client = reader.handle.client();
            async move {
                client?;
                let mut guard = stream.lock_owned().await;
                if guard.turns != seen {
                    return Ok(None);
                }
                let observer: Arc<dyn ExportObserver> = inbox;
                guard.peek(&observer).await?;
                Ok(Some(guard))
            }
        };
        let reader = Arc::clone(self);
        let finish = move |py: Python<'_>, turned: Option<OwnedMutexGuard<ExportStream>>| {
            let Some(mut stream) = turned else {
                return then(py, true);
            };
            let Some(turn) = stream.front() else {
                return then(py, false);
            };
            let rows = rows::to_py(py, &turn.rows, turn.mark.shape().days)?;
            let Some(turn) = stream.take() else {
                return then(py, false);
            };
            let findings = reader.put(turn, rows, &stream);
            drop(stream);
            for finding in findings {
                rows::warn(py, finding, depth)?;
            }
            then(py, true)
        };
        Ok(Operation::new(name, turn, finish)
            .in_place()
            .inside(&self.inside)
            .on_error(self.tell_checkpoint()))
    }

    /// Makes a page that came the current page; returns what was found in it. Attached: it drops the rows of the old one.
    fn put(&self, turn: Turn, rows: Vec<Py<PyAny>>, stream: &ExportStream) -> Vec<Finding> {
        let page = PageAtHand { rows: rows.into_iter(), closed: false, source: turn.rows, mark: turn.mark };
        let totals = page.mark.shape().totals;
        let mut state = self.state();
        state.turns = stream.turns;
        state.totals = state.totals.or(totals);
        state.warnings = stream.warnings();
        let old = state.page.replace(page);
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
        turn.findings
    }
}
