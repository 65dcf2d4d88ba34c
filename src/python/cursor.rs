//! The state behind every iterator of rows: the page at hand, and the way to the next.
//!
//! Several threads or tasks may share it. A row is handed out under a short lock; a page is turned under a lock of the
//! runtime, which its turner keeps until the page is at hand, so that pages stay in order.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use futures_util::future::BoxFuture;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::engine::Engine;
use super::handle::Handle;
use super::op::{Next, Op};
use super::port::Port;
use super::{convert, rows};
use crate::checkpoint::Checkpoint;
use crate::client::OnBudget;
use crate::error::Result;
use crate::findings::Finding;
use crate::observer::Observer;
use crate::pager::{Mark, Paging, Turn};
use crate::rows::{Rows, Totals};
use crate::visitor_rows::VisitorRows;
use crate::visitors::Listing;

/// A page whose rows are Python objects, and how far they were handed out.
struct PageAtHand {
    rows: vec::IntoIter<Py<PyAny>>,
    /// How many of the page's rows were handed out.
    handed: usize,
    /// The rest went another way.
    closed: bool,
    /// The same rows as they came, for whoever wants the rest otherwise.
    source: VisitorRows,
    totals: Option<Totals>,
    has_more: bool,
    mark: Arc<Mark>,
}

impl PageAtHand {
    /// The place behind the last row that was handed out.
    fn place(&self) -> Checkpoint {
        self.mark.behind(self.handed)
    }

    fn is_spent(&self) -> bool {
        self.closed || self.rows.len() == 0
    }
}

struct State {
    pid: u32,
    engine: Arc<AsyncMutex<Engine>>,
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

/// How pages are bought.
#[derive(Clone, Copy)]
pub(super) struct Buying {
    /// What happens where the budget grants none.
    pub(super) on_budget: OnBudget,
    /// Whether those that are held will not do.
    pub(super) refresh: bool,
}

/// See the module.
pub(super) struct Cursor {
    handle: Arc<Handle>,
    buying: Buying,
    paging: Paging,
    /// Locked for moments, and never while Python runs.
    state: Mutex<State>,
}

/// Where an export stands, and how it goes on from there.
pub(super) type Place = (Checkpoint, Paging);

/// What an operation on the engine came to; nobody else has the engine yet.
pub(super) struct Worked<T> {
    pub(super) engine: OwnedMutexGuard<Engine>,
    pub(super) result: Result<T>,
}

/// What is left of a page.
pub(super) struct Rest {
    pub(super) rows: Vec<Py<PyAny>>,
    pub(super) totals: Option<Totals>,
    pub(super) offset: u64,
    pub(super) has_more: bool,
}

/// What a caller wants besides a row.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// How it is told that there is no more: `StopIteration` or `StopAsyncIteration`.
    pub(super) stop: fn() -> PyErr,
    /// How many Python frames up the code is that a warning is about.
    pub(super) depth: i32,
}

impl Cursor {
    pub(super) fn new(
        handle: Arc<Handle>,
        buying: Buying,
        start: Checkpoint,
        paging: Paging,
    ) -> PyResult<Arc<Self>> {
        let state = State {
            pid: process::id(),
            engine: engine(&handle, buying, start.clone(), paging)?,
            turns: 0,
            page: None,
            // An export that was finished before asks for no page any more.
            totals: start.totals().filter(|_| start.done),
            start,
            handed: 0,
            warnings: Vec::new(),
            ended: false,
        };
        Ok(Arc::new(Self { handle, buying, paging, state: Mutex::new(state) }))
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
        let page = state.page.as_mut().filter(|page| !page.closed)?;
        let row = page.rows.next()?;
        page.handed += 1;
        state.handed += 1;
        Some(row)
    }

    /// All that is left of the page at hand.
    pub(super) fn take_rest(&self) -> Option<Rest> {
        let mut state = self.state();
        let page = state.page.as_mut().filter(|page| !page.is_spent())?;
        let offset = page.place().offset;
        let rows: Vec<_> = page.rows.by_ref().collect();
        page.handed += rows.len();
        let rest = Rest { offset, totals: page.totals, has_more: page.has_more, rows };
        state.handed += rest.rows.len() as u64;
        Some(rest)
    }

    /// The operation that turns pages until `take` takes something.
    pub(super) fn next<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        how: How,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Op> {
        let cursor = Arc::clone(self);
        self.turn(name, how.depth, move |py, more| {
            if let Some(taken) = take(&cursor) {
                return finish(py, taken).map(Next::Value);
            }
            if more {
                // Another caller was faster, or all rows of the page were repeats.
                return cursor.next(name, how, take, finish).map(Next::Then);
            }
            cursor.state().ended = true;
            Err((how.stop)())
        })
    }

    /// As [`Cursor::next`], for a caller that may never await it: a row at hand is taken only then.
    pub(super) fn next_lazily<T: 'static>(
        self: &Arc<Self>,
        name: &'static str,
        how: How,
        take: fn(&Self) -> Option<T>,
        finish: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Op> {
        if self.state().page.as_ref().is_none_or(PageAtHand::is_spent) {
            return self.next(name, how, take, finish);
        }
        let cursor = Arc::clone(self);
        Ok(Op::at_hand(name, move |py| match take(&cursor) {
            Some(taken) => finish(py, taken).map(Next::Value),
            None => cursor.next(name, how, take, finish).map(Next::Then),
        }))
    }

    /// The totals, from the first page; that page is kept for whoever asks for rows.
    pub(super) fn totals(self: &Arc<Self>, name: &'static str) -> PyResult<Op> {
        let known = self.state().totals;
        if let Some(totals) = known {
            return Ok(Op::ready(name, move |py| convert::totals(py, totals)));
        }
        let cursor = Arc::clone(self);
        self.turn(name, 1, move |py, more| {
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
        depth: i32,
        then: impl FnOnce(Python<'_>, bool) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Op> {
        // A closed client hands out no more pages.
        self.handle.client()?;
        let (engine, seen) = self.engine()?;
        let made_in = process::id();
        let cursor = Arc::clone(self);
        let turn = move |port: Arc<Port>| {
            // On the caller's thread: the client may have been closed since the call.
            let client = cursor.handle.client();
            async move {
                client?;
                if process::id() != made_in {
                    // Begun behind a fork: this engine is the parent's. Look again, as if another caller had been
                    // faster.
                    std::mem::forget(engine);
                    return Ok(None);
                }
                let mut guard = engine.lock_owned().await;
                if guard.turns != seen {
                    return Ok(None);
                }
                let observer: Arc<dyn Observer> = port;
                guard.settle(None);
                guard.turn(&observer).await?;
                Ok(Some(guard))
            }
        };
        let cursor = Arc::clone(self);
        let finish = move |py: Python<'_>, turned: Option<OwnedMutexGuard<Engine>>| {
            let Some(mut engine) = turned else {
                return then(py, true);
            };
            let Some(turn) = engine.next() else {
                return then(py, false);
            };
            let rows = rows::to_py(py, &turn.rows)?;
            let Some(turn) = engine.take_next() else {
                return then(py, false);
            };
            engine.turns += 1;
            let findings = cursor.put(turn, rows, &engine);
            drop(engine);
            for finding in findings {
                rows::warn(py, finding, depth)?;
            }
            then(py, true)
        };
        Ok(Op::new(name, turn, finish).in_place().on_error(self.tell_checkpoint()))
    }

    /// Has an error tell where the export stands.
    pub(super) fn tell_checkpoint(
        self: &Arc<Self>,
    ) -> impl Fn(&Bound<'_, PyAny>) -> PyResult<()> + Send + 'static {
        let cursor = Arc::clone(self);
        move |error| {
            if error.hasattr("checkpoint")? {
                error.setattr("checkpoint", cursor.checkpoint())?;
            }
            Ok(())
        }
    }

    /// Makes a page that came the page at hand; returns what was found in it. Attached: it drops the rows of the old one.
    fn put(&self, turn: Turn, rows: Vec<Py<PyAny>>, engine: &Engine) -> Vec<Finding> {
        let length = turn.mark.rows();
        let page = PageAtHand {
            handed: length.saturating_sub(rows.len()),
            rows: rows.into_iter(),
            closed: false,
            source: match turn.rows {
                Rows::Visitors(rows) => rows,
                Rows::Json(_) => VisitorRows::default(),
            },
            totals: turn.totals,
            has_more: turn.has_more,
            mark: turn.mark,
        };
        let mut state = self.state();
        state.turns = engine.turns;
        state.totals = state.totals.or(turn.totals);
        state.warnings = engine.warnings();
        let old = state.page.replace(page);
        drop(state);
        // Outside the lock: dropping rows may run Python.
        drop(old);
        turn.findings
    }

    /// An operation on all that is left, with no page at hand meanwhile: what is left of it comes first.
    pub(super) fn work<T: Send + 'static>(
        self: &Arc<Self>,
        name: &'static str,
        work: impl for<'a> FnOnce(&'a mut Engine, Place, Arc<dyn Observer>) -> BoxFuture<'a, Result<T>>
        + Send
        + 'static,
        finish: impl FnOnce(Python<'_>, Worked<T>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Op> {
        self.begin()?;
        self.handle.client()?;
        let cursor = Arc::clone(self);
        let work = move |port: Arc<Port>| {
            // On the caller's thread, in the process where it is awaited.
            let engine = cursor.engine();
            let client = cursor.handle.client();
            async move {
                client?;
                let (engine, _) = engine?;
                let mut engine = engine.lock_owned().await;
                let (place, rest) = cursor.close_page();
                engine.settle(rest);
                let result = work(&mut engine, place, port).await;
                Ok(Worked { engine, result })
            }
        };
        let finish = move |py: Python<'_>, worked| finish(py, worked).map(Next::Value);
        Ok(Op::new(name, work, finish).on_error(self.tell_checkpoint()))
    }

    /// Where the export stands, and what is left of the page at hand, which hands out no more.
    fn close_page(&self) -> (Place, Option<Turn>) {
        let mut state = self.state();
        let place = (state.place(), self.paging_behind(state.handed));
        let rest = state.page.as_mut().filter(|page| !page.is_spent()).map(|page| {
            page.closed = true;
            let spent = page.source.len() - page.rows.len();
            Turn {
                rows: Rows::Visitors(page.source.iter().skip(spent).collect()),
                totals: page.totals,
                offset: page.place().offset,
                has_more: page.has_more,
                findings: Vec::new(),
                mark: Arc::clone(&page.mark),
            }
        });
        (place, rest)
    }

    /// Notes that `rows` more were handed out, up to `mark`; `ended`: they were the last.
    pub(super) fn handed(&self, rows: u64, mark: Option<&Mark>, ended: bool, engine: &Engine) {
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

    /// What is listed.
    pub(super) fn listing(&self) -> Listing {
        self.state().start.listing.clone()
    }

    /// The most rows that are still handed out, where that is known.
    pub(super) fn most(&self) -> Option<u64> {
        self.paging_behind(self.state().handed).max_rows
    }

    /// How it goes on behind so many rows.
    fn paging_behind(&self, handed: u64) -> Paging {
        let left = self.paging.max_rows.map(|most| most.saturating_sub(handed));
        Paging { max_rows: left, ..self.paging }
    }

    /// The engine, made anew in a forked child, whose parent's requests are not its own.
    fn engine(&self) -> Result<(Arc<AsyncMutex<Engine>>, u64)> {
        let mut state = self.state();
        if state.pid != process::id() {
            // What is left of the page at hand is at hand here too.
            let unread = state.page.as_ref().filter(|page| !page.is_spent());
            let unread = unread.map(|page| (page.rows.len() as u64, page.mark.behind(page.mark.rows())));
            let (unread, place) = unread.unwrap_or_else(|| (0, state.place()));
            let paging = self.paging_behind(state.handed + unread);
            let ours = engine(&self.handle, self.buying, place, paging)?;
            let parents = std::mem::replace(&mut state.engine, ours);
            std::mem::forget(parents);
            state.pid = process::id();
            state.turns = 0;
        }
        Ok((Arc::clone(&state.engine), state.turns))
    }
}

fn engine(
    handle: &Handle,
    buying: Buying,
    place: Checkpoint,
    paging: Paging,
) -> Result<Arc<AsyncMutex<Engine>>> {
    let client = handle.client()?.on_budget(buying.on_budget);
    // What this export has bought anew already is not bought once more.
    let anew = buying.refresh && place.rows == 0;
    Ok(Arc::new(AsyncMutex::new(Engine::new(client, anew, place, paging))))
}
