//! Operations on visitors: their rows, totals, plan and trend, and the store's upkeep.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::client::{Client, OnBudget};
use crate::dates::slices::{Every, Slice};
use crate::error::Error;
use crate::export::stored;
use crate::listing::Listing;
use crate::python::bridge::op::{Next, Op};
use crate::python::bridge::port::Port;
use crate::python::client::handle::Handle;
use crate::python::client::ops::listings::PagingArguments;
use crate::python::client::ops::of_client;
use crate::python::convert;
use crate::python::listing::cursor::Cursor;
use crate::python::table::TrendTable;
use crate::python::table::data::Meta;
use crate::python::table::plan::planned;
use crate::python::table::sync::synced;
use crate::slices::plan;
use crate::slices::sync::{self, OnRunning, Wanted};
use crate::store::What;

pub(crate) fn visitors(
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

pub(crate) fn visitor_totals(
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

pub(crate) fn plan_visitors(
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

pub(crate) fn visitor_trend(
    name: &'static str,
    handle: &Arc<Handle>,
    (slices, every): (Vec<Slice>, Option<Every>),
    what: What,
    on_budget: OnBudget,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let project = handle.client()?.project(project_id)?;
    let read = move |client: Client, port: Arc<Port>| async move {
        let trend =
            crate::slices::trend::trend(&client.on_budget(on_budget), &project, &slices, what, port).await?;
        Ok((Meta::of_trend(&project, &slices, every, &trend), trend))
    };
    Ok(of_client(name, handle, read, |py, (meta, trend)| {
        let table = Bound::new(py, TrendTable::new(Arc::new(trend.table), meta))?;
        Ok(Next::Value(table.into_any().unbind()))
    }))
}

pub(crate) fn sync(
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
