//! Iteration: the rows of the current page, and the turn to the next page.

use crate::export::findings::Finding;
use crate::export::observer::ExportObserver;
use crate::export::pager::CheckedPage;
use crate::export::stream::ExportStream;
use crate::python::listing::reader::{CurrentPage, RowReader};
use crate::python::listing::rows;
use crate::python::prelude::*;

/// How an iterator goes on.
#[derive(Clone, Copy)]
pub struct Iteration {
    /// The method, as Python names it.
    pub name: &'static str,
    /// Takes the next from the current page, if it has one.
    pub take: fn(&RowReader, Python<'_>) -> PyResult<Option<Py<PyAny>>>,
    /// How the end is reported: `StopIteration` or `StopAsyncIteration`.
    pub stop: fn() -> PyErr,
    /// How many Python frames up the code is that a warning is about.
    pub depth: i32,
}

impl RowReader {
    pub fn take_row(&self) -> Option<Py<PyAny>> {
        let mut state = self.state();
        let row = state
            .page
            .as_mut()
            .filter(|page| !page.closed)?
            .rows
            .next()?;
        state.handed += 1;
        Some(row)
    }

    /// The rest of the current page, as a page of its own. The page is made before its rows are
    /// taken, so that Ctrl-C leaves them for the next call.
    pub fn take_rest(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let (position, offset, rows) = {
                let state = self.state();
                let Some(page) = state.page.as_ref().filter(|page| !page.is_spent()) else {
                    return Ok(None);
                };
                let rows: Vec<_> = page
                    .rows
                    .as_slice()
                    .iter()
                    .map(|row| row.clone_ref(py))
                    .collect();
                (Arc::clone(&page.position), page.place().offset, rows)
            };
            let (count, has_more) = (rows.len(), position.has_more);
            let rows = PyList::new(py, rows)?;
            let made = match position.totals {
                Some(totals) => {
                    let totals = convert::totals(py, totals)?;
                    convert::named_tuple(py, "VisitorsPage", (rows, totals, offset, has_more))?
                }
                None => convert::named_tuple(py, "RowsPage", (rows, offset, has_more))?,
            };
            let mut state = self.state();
            // Another thread may have taken some of them meanwhile.
            let is_it = |page: &&mut CurrentPage| {
                !page.closed && Arc::ptr_eq(&page.position, &position) && page.rows.len() == count
            };
            if let Some(page) = state.page.as_mut().filter(is_it) {
                page.rows = Vec::new().into_iter();
                state.handed += count as u64;
                return Ok(Some(made));
            }
        }
    }

    /// The operation that reads pages until something can be taken.
    pub fn next(self: &Arc<Self>, how: Iteration) -> PyResult<Operation> {
        let reader = Arc::clone(self);
        self.turn(how.name, how.depth, move |py, more| {
            if let Some(taken) = (how.take)(&reader, py)? {
                return Ok(Next::Value(taken));
            }
            if more {
                // Another caller was faster, or all rows of the page were repeats.
                return reader.next(how).map(Next::Then);
            }
            reader.state().ended = true;
            Err((how.stop)())
        })
    }

    /// Like [`RowReader::next`], for a caller that may never await it: a row that is there is taken
    /// only then.
    pub fn next_lazily(self: &Arc<Self>, how: Iteration) -> PyResult<Operation> {
        if self.state().page.as_ref().is_none_or(CurrentPage::is_spent) {
            return self.next(how);
        }
        let reader = Arc::clone(self);
        Ok(Operation::ready(how.name, move |py| {
            match (how.take)(&reader, py)? {
                Some(taken) => Ok(Next::Value(taken)),
                None => reader.next(how).map(Next::Then),
            }
        }))
    }

    /// The totals, from the first page; that page is kept for a caller that asks for rows.
    pub fn totals(self: &Arc<Self>, name: &'static str) -> PyResult<Operation> {
        let known = self.state().totals;
        if let Some(totals) = known {
            return Ok(Operation::ready(name, move |py| {
                convert::totals(py, totals).map(Next::Value)
            }));
        }
        let reader = Arc::clone(self);
        self.turn(name, 1, move |py, more| {
            let totals = reader.state().totals;
            match totals {
                Some(totals) => convert::totals(py, totals).map(Next::Value),
                None if more => reader.totals(name).map(Next::Then),
                None => Err(PyRuntimeError::new_err(
                    "no page was requested, so there are no totals: use visitor_totals() or view_totals()",
                )),
            }
        })
    }

    /// The operation that turns to the next page, unless another caller just did.
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
        let turner = Arc::clone(self);
        let op = Operation::new(
            name,
            move |inbox| {
                // On the caller's thread: the client may have been closed since the call.
                let client = reader.handle.client();
                async move {
                    client?;
                    let mut guard = stream.lock_owned().await;
                    if guard.pages_taken != seen {
                        return Ok(None);
                    }
                    let observer: Arc<dyn ExportObserver> = inbox;
                    guard.peek(&observer).await?;
                    Ok(Some(guard))
                }
            },
            move |py, turned| {
                let Some(mut stream) = turned else {
                    return then(py, true);
                };
                let Some(turn) = stream.front() else {
                    return then(py, false);
                };
                let rows = rows::to_py(py, &turn.rows, turn.position.days)?;
                let Some(turn) = stream.take() else {
                    return then(py, false);
                };
                let findings = turner.put(turn, rows, &stream);
                drop(stream);
                for finding in findings {
                    rows::warn(py, finding, depth)?;
                }
                // A Ctrl-C that came meanwhile strikes before a row is taken.
                py.check_signals()?;
                then(py, true)
            },
        );
        Ok(op
            .in_place()
            .hooks(Arc::clone(&self.handle.hooks))
            .among(&self.active)
            .on_error(self.tell_checkpoint()))
    }

    /// Makes a page that came the current page; returns what was found in it. Attached: it drops
    /// the rows of the old one.
    fn put(&self, turn: CheckedPage, rows: Vec<Py<PyAny>>, stream: &ExportStream) -> Vec<Finding> {
        let page = CurrentPage {
            rows: rows.into_iter(),
            closed: false,
            source: turn.rows,
            position: turn.position,
        };
        let totals = page.position.totals;
        let mut state = self.state();
        state.pages_taken = stream.pages_taken;
        state.totals = state.totals.or(totals);
        state.warnings = stream.warnings();
        let old = state.page.replace(page);
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
        turn.findings
    }
}
