//! The state behind every iterator of rows: the page at hand, and the way to the next.
//!
//! Several threads or tasks may share it. A row is handed out under a short lock; a page is turned under a lock of the
//! runtime, which its turner keeps until the page is at hand, so that pages stay in order.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::bridge::{Next, Op, Port};
use super::handle::Handle;
use super::{convert, rows};
use crate::checkpoint::Checkpoint;
use crate::observer::Observer;
use crate::pager::{Mark, Pager, Paging, Turn};
use crate::rows::Totals;
use crate::visitors::Pages;

/// The pager, and how many of its pages were put at hand.
struct Engine {
    pager: Pager,
    /// A page that came and is not at hand yet: whoever asked for it may have been interrupted meanwhile.
    came: Option<Turn>,
    turns: u64,
}

/// A page whose rows are Python objects, and how far they were handed out.
struct PageAtHand {
    rows: vec::IntoIter<Py<PyAny>>,
    length: usize,
    totals: Option<Totals>,
    has_more: bool,
    mark: Arc<Mark>,
}

impl PageAtHand {
    /// The place behind the last row that was handed out.
    fn place(&self) -> Checkpoint {
        self.mark.behind(self.length - self.rows.len())
    }
}

struct State {
    pid: u32,
    engine: Arc<tokio::sync::Mutex<Engine>>,
    turns: u64,
    page: Option<PageAtHand>,
    /// Where it began, until there is a page.
    start: Checkpoint,
    handed: u64,
    totals: Option<Totals>,
    warnings: Vec<String>,
    /// Nothing is left, and whoever asked was told so.
    ended: bool,
}

impl Drop for State {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // A forked child: the parent's requests are not to be touched.
            std::mem::forget(Arc::clone(&self.engine));
        }
    }
}

impl State {
    fn place(&self) -> Checkpoint {
        self.page.as_ref().map_or_else(|| self.start.clone(), PageAtHand::place)
    }
}

/// See the module.
pub(super) struct Cursor {
    handle: Arc<Handle>,
    paging: Paging,
    /// Locked only while attached, and never while Python runs.
    state: Mutex<State>,
}

/// What is left of a page.
pub(super) struct Rest {
    pub(super) rows: Vec<Py<PyAny>>,
    pub(super) totals: Option<Totals>,
    pub(super) offset: u64,
    pub(super) has_more: bool,
}

/// How a caller is told that there is no more: `StopIteration` or `StopAsyncIteration`.
pub(super) type Stop = fn() -> PyErr;

impl Cursor {
    pub(super) fn new(handle: Arc<Handle>, start: Checkpoint, paging: Paging) -> PyResult<Arc<Self>> {
        let state = State {
            pid: process::id(),
            engine: engine(&handle, start.clone(), paging)?,
            turns: 0,
            page: None,
            // An export that was finished before asks for no page any more.
            totals: start.totals().filter(|_| start.done),
            start,
            handed: 0,
            warnings: Vec::new(),
            ended: false,
        };
        Ok(Arc::new(Self { handle, paging, state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a pass. One after the end is a mistake that silence would hide.
    pub(super) fn begin(&self) -> PyResult<()> {
        if self.state().ended {
            return Err(PyRuntimeError::new_err(
                "this iterator was read to its end; call the client's method again for a new one",
            ));
        }
        Ok(())
    }

    /// Where the export stands: behind the last row that was handed out.
    pub(super) fn checkpoint(&self) -> String {
        self.state().place().text()
    }

    /// What it lists and how far it is, without asking for anything.
    pub(super) fn repr(&self, class: &str) -> String {
        let place = self.state().place();
        let mut parts = vec![format!("path='{}'", crate::text::safe(place.listing.path(), 120))];
        for (name, value) in place.listing.query() {
            parts.push(format!("{name}='{}'", crate::text::safe(value, 60)));
        }
        format!("{class}({}, {} rows handed out)", parts.join(", "), place.rows)
    }

    /// As `repr`, for notebooks.
    pub(super) fn html<'py>(&self, py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
        let place = self.state().place();
        let mut fields = vec![("path", place.listing.path().to_owned())];
        fields.extend(place.listing.query().iter().map(|(name, value)| (name.as_str(), value.clone())));
        fields.push(("rows handed out", place.rows.to_string()));
        convert::html(py, class, &fields)
    }

    /// What was found so far, in words.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    /// A row of the page at hand.
    pub(super) fn take_row(&self) -> Option<Py<PyAny>> {
        let mut state = self.state();
        let row = state.page.as_mut()?.rows.next()?;
        state.handed += 1;
        Some(row)
    }

    /// All that is left of the page at hand.
    pub(super) fn take_rest(&self) -> Option<Rest> {
        let mut state = self.state();
        let page = state.page.as_mut().filter(|page| page.rows.len() > 0)?;
        let offset = page.place().offset;
        let rows: Vec<_> = page.rows.by_ref().collect();
        let rest = Rest { offset, totals: page.totals, has_more: page.has_more, rows };
        state.handed += rest.rows.len() as u64;
        Some(rest)
    }

    /// The operation that turns pages until `take` takes something.
    pub(super) fn next<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        stop: Stop,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Op> {
        let cursor = Arc::clone(self);
        self.turn(name, move |py, more| {
            if let Some(taken) = take(&cursor) {
                return finish(py, taken).map(Next::Value);
            }
            if more {
                // Another caller was faster, or all rows of the page were repeats.
                return cursor.next(name, stop, take, finish).map(Next::Then);
            }
            cursor.state().ended = true;
            Err(stop())
        })
    }

    /// As [`Cursor::next`], for a caller that may never await it: a row at hand is taken only then.
    pub(super) fn next_lazily<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        stop: Stop,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Op> {
        if self.state().page.as_ref().is_none_or(|page| page.rows.len() == 0) {
            return self.next(name, stop, take, finish);
        }
        let cursor = Arc::clone(self);
        Ok(Op::at_hand(name, move |py| match take(&cursor) {
            Some(taken) => finish(py, taken).map(Next::Value),
            None => cursor.next(name, stop, take, finish).map(Next::Then),
        }))
    }

    /// The totals, from the first page; that page is kept for whoever asks for rows.
    pub(super) fn totals(self: &Arc<Self>, name: &'static str) -> PyResult<Op> {
        let known = self.state().totals;
        if let Some(totals) = known {
            return Ok(Op::ready(name, move |py| convert::totals(py, totals)));
        }
        let cursor = Arc::clone(self);
        self.turn(name, move |py, more| {
            let totals = cursor.state().totals;
            match totals {
                Some(totals) => convert::totals(py, totals).map(Next::Value),
                None if more => cursor.totals(name).map(Next::Then),
                None => Err(PyRuntimeError::new_err(
                    "no page was asked for, so there are no totals; use visitor_totals()",
                )),
            }
        })
    }

    /// The operation that turns a page, unless another caller has just done so.
    fn turn(
        self: &Arc<Self>,
        name: &'static str,
        then: impl FnOnce(Python<'_>, bool) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Op> {
        // A closed client hands out no more pages.
        self.handle.client()?;
        let (engine, seen) = self.engine()?;
        let made_in = process::id();
        let cursor = Arc::clone(self);
        let turn = move |port: Arc<Port>| {
            // On the caller's thread: the client may have been closed since the call.
            let open = cursor.handle.client();
            async move {
                open?;
                if process::id() != made_in {
                    // Begun behind a fork: this engine is the parent's. Look again, as if another caller had been
                    // faster.
                    std::mem::forget(engine);
                    return Ok(None);
                }
                let mut guard = engine.lock_owned().await;
                let engine = &mut *guard;
                if engine.turns != seen {
                    return Ok(None);
                }
                if engine.came.is_none() {
                    let observer: Arc<dyn Observer> = port;
                    engine.came = engine.pager.next_page(&observer).await?;
                }
                Ok(Some(guard))
            }
        };
        let cursor = Arc::clone(self);
        let finish = move |py: Python<'_>, turned: Option<tokio::sync::OwnedMutexGuard<Engine>>| {
            let Some(mut engine) = turned else {
                return then(py, true);
            };
            let Some(turn) = &engine.came else {
                return then(py, false);
            };
            cursor.put(py, turn, engine.turns + 1, engine.pager.warnings())?;
            engine.turns += 1;
            let findings = engine.came.take().map(|turn| turn.findings);
            drop(engine);
            for finding in findings.into_iter().flatten() {
                rows::warn(py, finding)?;
            }
            then(py, true)
        };
        let cursor = Arc::clone(self);
        let on_error = move |error: &Bound<'_, PyAny>| {
            if error.hasattr("checkpoint")? {
                error.setattr("checkpoint", cursor.checkpoint())?;
            }
            Ok(())
        };
        Ok(Op::new(name, turn, finish).in_place().on_error(on_error))
    }

    /// Makes a page that came the page at hand.
    fn put(&self, py: Python<'_>, turn: &Turn, turns: u64, warnings: Vec<String>) -> PyResult<()> {
        let made = rows::to_py(py, &turn.rows)?;
        let page = PageAtHand {
            length: made.len(),
            rows: made.into_iter(),
            totals: turn.totals,
            has_more: turn.has_more,
            mark: Arc::clone(&turn.mark),
        };
        let mut state = self.state();
        state.turns = turns;
        state.totals = state.totals.or(turn.totals);
        state.warnings = warnings;
        let old = state.page.replace(page);
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
        Ok(())
    }

    /// The pager, made anew in a forked child, whose parent's requests are not its own.
    fn engine(&self) -> PyResult<(Arc<tokio::sync::Mutex<Engine>>, u64)> {
        let mut state = self.state();
        if state.pid != process::id() {
            let left = self.paging.max_rows.map(|most| most.saturating_sub(state.handed));
            let paging = Paging { max_rows: left, ..self.paging };
            let ours = engine(&self.handle, state.place(), paging)?;
            let parents = std::mem::replace(&mut state.engine, ours);
            std::mem::forget(parents);
            state.pid = process::id();
            state.turns = 0;
        }
        Ok((Arc::clone(&state.engine), state.turns))
    }
}

fn engine(handle: &Handle, place: Checkpoint, paging: Paging) -> PyResult<Arc<tokio::sync::Mutex<Engine>>> {
    let pages = Pages { client: handle.client()?, listing: Arc::new(place.listing.clone()) };
    let pager = Pager::new(Arc::new(pages), place, paging);
    Ok(Arc::new(tokio::sync::Mutex::new(Engine { pager, came: None, turns: 0 })))
}
