//! What clients read of ranges, for any endpoint with counts: totals, plans, trends, comparisons, and filling the store.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use crate::client::{Client, OnBudget};
use crate::config::url::Segment;
use crate::dates::periods::Period;
use crate::dates::slices::{self, Every, Slice};
use crate::error::Error;
use crate::export::checkpoint::Checkpoint;
use crate::export::stored;
use crate::listing::Listing;
use crate::listing::endpoint::Endpoint;
use crate::python::bridge::inbox::Inbox;
use crate::python::client::BaseClient;
use crate::python::convert;
use crate::python::progress::{self, SLICES};
use crate::python::table::data::{Data, Meta};
use crate::python::table::plan::planned;
use crate::python::table::sync::synced;
use crate::python::table::wrap;
use crate::slices::sync::{self, OnRunning, SyncScope};
use crate::slices::{Subject, compare, plan, trend};

/// How a trend is read.
pub(super) struct TrendArguments {
    pub(super) every: Option<Every>,
    pub(super) by_path: bool,
    pub(super) whole: bool,
    pub(super) on_budget: OnBudget,
    pub(super) progress: Option<bool>,
}

impl BaseClient {
    fn project(&self, id: Option<&str>) -> PyResult<Segment> {
        Ok(self.handle.client()?.project(id)?)
    }

    /// The totals of a range.
    pub(super) fn totals(
        &self,
        name: &'static str,
        py: Python<'_>,
        endpoint: &'static Endpoint,
        (from, to): (Option<String>, Option<String>),
        on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let listing = Listing::of(endpoint, &self.project(project_id)?, from, to);
        let ask = move |client: Client, inbox: Arc<Inbox>| async move {
            stored::totals(&client.on_budget(on_budget), &listing, &*inbox).await
        };
        self.face.run(py, self.op(name, ask, convert::totals))
    }

    /// What some slices cost.
    pub(super) fn plan(
        &self,
        name: &'static str,
        py: Python<'_>,
        of: Subject,
        slices: Vec<Slice>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let project = self.project(project_id)?;
        let look = move |client, _| async move { plan::plan(&client, &project, slices, of).await };
        self.face.run(py, self.op(name, look, |py, plan| planned(py, &plan)))
    }

    /// What each slice has.
    pub(super) fn trend(
        &self,
        name: &'static str,
        py: Python<'_>,
        endpoint: &'static Endpoint,
        slices: Vec<Slice>,
        asked: TrendArguments,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let TrendArguments { every, by_path, whole, on_budget, progress } = asked;
        let slices = if whole { slices::whole(slices, every)? } else { slices };
        let bar = progress::bar(py, progress, Some(slices.len() as u64), SLICES)?;
        let project = self.project(project_id)?;
        let of = Subject::new(endpoint, by_path)?;
        let read = move |client: Client, inbox: Arc<Inbox>| async move {
            let trend = trend::trend(&client.on_budget(on_budget), &project, &slices, of, inbox).await?;
            Ok((Meta::of_trend(of, &project, &slices, every, &trend), trend))
        };
        let op =
            self.op(name, read, |py, (meta, trend)| wrap(py, Data { table: Arc::new(trend.table), meta }));
        self.face.run(py, op.progress(bar))
    }

    /// Two periods, path by path.
    pub(super) fn compare(
        &self,
        name: &'static str,
        py: Python<'_>,
        endpoint: &'static Endpoint,
        periods: [Period; 2],
        on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let project = self.project(project_id)?;
        let checkpoint = Arc::new(Mutex::new(None::<String>));
        let begun = Arc::clone(&checkpoint);
        let begins = move |place: Checkpoint| {
            *crate::lock(&begun) = Some(place.text());
        };
        let read = move |client: Client, inbox: Arc<Inbox>| async move {
            let client = client.on_budget(on_budget);
            let compared = compare::compare(&client, endpoint, &project, periods, inbox, begins).await?;
            Ok((Meta::of_comparison(endpoint, &project, periods, &compared), compared.table))
        };
        let op = self.op(name, read, |py, (meta, table)| wrap(py, Data { table: Arc::new(table), meta }));
        let tell = move |error: &Bound<'_, PyAny>| {
            let checkpoint = crate::lock(&checkpoint).clone();
            match error.hasattr("checkpoint")? {
                true => error.setattr("checkpoint", checkpoint),
                false => Ok(()),
            }
        };
        self.face.run(py, op.on_error(tell))
    }

    /// What the store lacks of some projects.
    pub(super) fn fill(
        &self,
        py: Python<'_>,
        wanted: SyncScope,
        on_budget: OnBudget,
        on_running: OnRunning,
        progress: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let count = wanted.projects.len() * wanted.slices.len();
        let bar = progress::bar(py, progress, Some(count as u64), SLICES)?;
        let no_store = || Error::configuration("sync fills a store: give the client one with store=");
        self.handle.client()?.exports().ok_or_else(no_store)?;
        let fill = move |client: Client, inbox: Arc<Inbox>| async move {
            let client = client.on_budget(on_budget);
            let exports = client.exports().ok_or_else(no_store)?;
            Ok(sync::sync(&client, exports, &wanted, on_running, inbox).await)
        };
        self.face.run(py, self.op("Client.sync", fill, synced).progress(bar))
    }
}
