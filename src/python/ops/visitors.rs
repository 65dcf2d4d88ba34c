//! Operations on visitors: their rows, totals, plan and trend, and the store's upkeep.

use std::sync::Arc;

use pyo3::prelude::*;

use super::listings::PagingArguments;
use super::of_client;
use crate::client::{Client, OnBudget};
use crate::error::Error;
use crate::plan;
use crate::python::convert;
use crate::python::cursor::Cursor;
use crate::python::data::Meta;
use crate::python::handle::Handle;
use crate::python::op::{Next, Op};
use crate::python::plan::planned;
use crate::python::port::Port;
use crate::python::sync::synced;
use crate::python::table::TrendTable;
use crate::slices::{Every, Slice};
use crate::store::What;
use crate::stored;
use crate::sync::{self, OnRunning, Wanted};
use crate::visitors::Listing;

pub(in crate::python) fn visitors(
    handle: &Arc<Handle>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
    project_id: Option<&str>,
    arguments: &PagingArguments<'_>,
) -> PyResult<Arc<Cursor>> {
    let client = handle.client()?;
    let (from, to) = convert::range(date_from, date_to)?;
    arguments.cursor(handle, |place| {
        // What is not named comes from the checkpoint.
        let known = place.map(|place| &place.listing);
        let project = match (project_id, known.map(Listing::project).transpose()?.flatten()) {
            (None, Some(project)) => project,
            _ => client.project(project_id)?,
        };
        let filter = |name| known.and_then(|known| known.filter(name).map(str::to_owned));
        let (from, to) = (from.or_else(|| filter("dateFrom")), to.or_else(|| filter("dateTo")));
        Ok(Listing::visitors(&project, from, to))
    })
}

pub(in crate::python) fn visitor_totals(
    name: &'static str,
    handle: &Arc<Handle>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
    on_budget: OnBudget,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let client = handle.client()?;
    let (from, to) = convert::range(date_from, date_to)?;
    let listing = Listing::visitors(&client.project(project_id)?, from, to);
    let ask = move |client: Client, port: Arc<Port>| async move {
        stored::totals(&client.on_budget(on_budget), &listing, &*port).await
    };
    Ok(of_client(name, handle, ask, |py, totals| convert::totals(py, totals).map(Next::Value)))
}

pub(in crate::python) fn plan_visitors(
    name: &'static str,
    handle: &Arc<Handle>,
    slices: Vec<Slice>,
    what: What,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let project = handle.client()?.project(project_id)?;
    let look =
        move |client: Client, _: Arc<Port>| async move { plan::plan(&client, &project, slices, what).await };
    Ok(of_client(name, handle, look, |py, plan| planned(py, &plan).map(Next::Value)))
}

pub(in crate::python) fn visitor_trend(
    name: &'static str,
    handle: &Arc<Handle>,
    (slices, every): (Vec<Slice>, Option<Every>),
    what: What,
    on_budget: OnBudget,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let project = handle.client()?.project(project_id)?;
    let read = move |client: Client, port: Arc<Port>| async move {
        let trend = crate::trend::trend(&client.on_budget(on_budget), &project, &slices, what, port).await?;
        Ok((Meta::of_trend(&project, &slices, every, &trend), trend))
    };
    Ok(of_client(name, handle, read, |py, (meta, trend)| {
        let table = Bound::new(py, TrendTable::new(Arc::new(trend.table), meta))?;
        Ok(Next::Value(table.into_any().unbind()))
    }))
}

pub(in crate::python) fn sync(
    name: &'static str,
    handle: &Arc<Handle>,
    wanted: Wanted,
    on_budget: OnBudget,
    on_running: OnRunning,
) -> PyResult<Op> {
    let no_store = || Error::configuration("sync fills a store: give the client one with store=");
    handle.client()?.exports().ok_or_else(no_store)?;
    let fill = move |client: Client, port: Arc<Port>| async move {
        let client = client.on_budget(on_budget);
        let exports = client.exports().ok_or_else(no_store)?;
        Ok(sync::sync(&client, exports, &wanted, on_running, port).await)
    };
    Ok(of_client(name, handle, fill, |py, sync| synced(py, sync).map(Next::Value)))
}
