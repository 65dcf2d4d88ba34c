//! The client's methods for ranges of an endpoint with counts: totals, plans, trends, comparisons,
//! and the sync.

use std::sync::Mutex;

use crate::clock::Millis;
use crate::dates::slices::{self, Every, Slice};
use crate::export::checkpoint::Checkpoint;
use crate::export::source;
use crate::listing::Listing;
use crate::listing::endpoint::{Endpoint, VIEWS, VISITORS};
use crate::lock;
use crate::python::client::BaseClient;
use crate::python::dates;
use crate::python::prelude::*;
use crate::python::progress;
use crate::python::table::data::Meta;
use crate::python::table::reports::{planned, synced};
use crate::python::table::wrap;
use crate::slices::sync::{self, SyncScope};
use crate::slices::{Subject, compare, plan, trend};

/// The methods for the ranges of an endpoint with counts, under the names that Python has for them.
macro_rules! range_methods {
    ($($endpoint:ident: $totals:ident, $plan:ident, $trend:ident, $compare:ident;)*) => {
        #[pymethods]
        impl BaseClient {
            $(
                #[doc = signed!($totals)]
                #[pyo3(signature = (period = None, *, date_from = None, date_to = None, on_budget = WaitOrStop::Wait,
                    project_id = None), text_signature = None)]
                fn $totals(
                    &self,
                    py: Python<'_>,
                    period: Option<&Object<'_>>,
                    date_from: Option<&Object<'_>>,
                    date_to: Option<&Object<'_>>,
                    on_budget: WaitOrStop,
                    project_id: Option<ProjectId>,
                ) -> Returned {
                    let (from, to) = dates::range(period, date_from, date_to)?;
                    let listing = Listing::of($endpoint, &self.project(project_id)?, from, to);
                    let op = self.op(
                        client_method!($totals),
                        move |client, inbox| async move { source::totals(&client.on_budget(on_budget), &listing, &*inbox).await },
                        convert::totals,
                    );
                    self.face.run(py, op)
                }

                #[doc = signed!($plan)]
                #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = None, by_path = None,
                    whole = false, before = None, project_id = None), text_signature = None)]
                fn $plan(
                    &self,
                    py: Python<'_>,
                    period: Option<&Object<'_>>,
                    date_from: Option<&Object<'_>>,
                    date_to: Option<&Object<'_>>,
                    every: Option<Every>,
                    #[pyo3(from_py_with = convert::by_path_or_none)] by_path: Option<bool>,
                    #[pyo3(from_py_with = convert::whole)] whole: bool,
                    before: Option<&Object<'_>>,
                    project_id: Option<ProjectId>,
                ) -> Returned {
                    let is_of_slices = date_from.or(date_to).is_some() || every.is_some() || whole || by_path == Some(false);
                    let slices = match before {
                        None => self.begun(dates::slices(period, date_from, date_to, every)?, every, whole)?,
                        Some(_) if is_of_slices => return Err(PyValueError::new_err(
                            "before plans a comparison, which reads two periods as a whole by path: leave out date_from, date_to, \
                             every, by_path and whole",
                        )),
                        Some(before) => dates::compared(period, before)?,
                    };
                    let of = Subject::new($endpoint, by_path.unwrap_or(every.is_none()))?;
                    self.plan(client_method!($plan), py, of, slices, project_id)
                }

                #[doc = signed!($trend)]
                #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = Some(Every::Day),
                    by_path = false, whole = false, on_budget = WaitOrStop::Wait, progress = None, project_id = None),
                    text_signature = None)]
                fn $trend(
                    &self,
                    py: Python<'_>,
                    period: Option<&Object<'_>>,
                    date_from: Option<&Object<'_>>,
                    date_to: Option<&Object<'_>>,
                    every: Option<Every>,
                    #[pyo3(from_py_with = convert::by_path)] by_path: bool,
                    #[pyo3(from_py_with = convert::whole)] whole: bool,
                    on_budget: WaitOrStop,
                    #[pyo3(from_py_with = convert::progress)] progress: Option<bool>,
                    project_id: Option<ProjectId>,
                ) -> Returned {
                    let slices = self.begun(dates::slices(period, date_from, date_to, every)?, every, whole)?;
                    let of = Subject::new($endpoint, by_path)?;
                    let project = self.project(project_id)?;
                    let bar = progress::bar(py, progress, Some(slices.len() as u64), "slices")?;
                    let op = self.op(
                        client_method!($trend),
                        move |client, inbox| async move {
                            let trend = trend::trend(&client.on_budget(on_budget), &project, &slices, of, inbox).await?;
                            Ok((Meta::of_trend(of, &project, &slices, every, &trend), trend.table))
                        },
                        |py, (meta, table)| wrap(py, table, meta),
                    );
                    self.face.run(py, op.progress(bar))
                }

                #[doc = signed!($compare)]
                #[pyo3(signature = (period = None, before = None, *, on_budget = WaitOrStop::Wait, project_id = None),
                    text_signature = None)]
                fn $compare(
                    &self,
                    py: Python<'_>,
                    period: Option<&Object<'_>>,
                    before: Option<&Object<'_>>,
                    on_budget: WaitOrStop,
                    project_id: Option<ProjectId>,
                ) -> Returned {
                    let periods = dates::two_periods(period, before)?;
                    let project = self.project(project_id)?;
                    let checkpoint = Arc::new(Mutex::new(None));
                    let begun = Arc::clone(&checkpoint);
                    let op = self.op(
                        client_method!($compare),
                        move |client, inbox| async move {
                            let client = client.on_budget(on_budget);
                            let begins = move |place: Checkpoint| *lock(&begun) = Some(place.text());
                            let compared = compare::compare(&client, $endpoint, &project, periods, inbox, begins).await?;
                            Ok((Meta::of_comparison($endpoint, Some(&project), periods, &compared), compared.table))
                        },
                        |py, (meta, table)| wrap(py, table, meta),
                    );
                    self.face.run(py, op.on_error(move |error| errors::tell_checkpoint(error, lock(&checkpoint).clone())))
                }
            )*
        }
    };
}

range_methods! {
    VISITORS: visitor_totals, plan_visitors, visitor_trend, compare_visitors;
    VIEWS: view_totals, plan_views, view_trend, compare_views;
}

#[pymethods]
impl BaseClient {
    /// The plan of a range of any listing, for the command line.
    #[pyo3(signature = (listing, *, date_from, date_to, every, by_path, whole = false, project_id = None))]
    fn _plan(
        &self,
        py: Python<'_>,
        listing: &'static Endpoint,
        date_from: &Object<'_>,
        date_to: &Object<'_>,
        every: Option<Every>,
        #[pyo3(from_py_with = convert::by_path)] by_path: bool,
        #[pyo3(from_py_with = convert::whole)] whole: bool,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let slices = dates::slices(None, Some(date_from), Some(date_to), every)?;
        let slices = self.begun(slices, every, whole)?;
        let of = Subject::new(listing, by_path)?;
        if let Some(id) = &project_id {
            convert::listed_project(id)?;
        }
        self.plan("Client._plan", py, of, slices, project_id)
    }

    /// The hours that some requests take at the budget, for dry runs of several plans.
    fn _hours(&self, py: Python<'_>, requests: u64) -> Returned {
        let op = self.op(
            "Client._hours",
            move |client, _| async move { plan::hours(&client, requests).await },
            |py, hours| hours.into_py_any(py),
        );
        self.face.run(py, op)
    }

    #[doc = signed!(sync)]
    #[pyo3(signature = (projects, period = None, *, listing = vec![VISITORS], date_from = None, date_to = None, every = Some(Every::Day),
        by_path = true, until = None, on_budget = WaitOrStop::Wait, on_running = WaitOrStop::Wait, progress = None),
        text_signature = None)]
    fn sync(
        &self,
        py: Python<'_>,
        projects: &Object<'_>,
        period: Option<&Object<'_>>,
        #[pyo3(from_py_with = convert::listings)] listing: Vec<&'static Endpoint>,
        date_from: Option<&Object<'_>>,
        date_to: Option<&Object<'_>>,
        every: Option<Every>,
        #[pyo3(from_py_with = convert::by_path)] by_path: bool,
        #[pyo3(from_py_with = convert::until)] until: Option<Millis>,
        on_budget: WaitOrStop,
        #[pyo3(from_py_with = convert::on_running)] on_running: WaitOrStop,
        #[pyo3(from_py_with = convert::progress)] progress: Option<bool>,
    ) -> Returned {
        let slices = dates::slices(period, date_from, date_to, every)?;
        let slices = self.begun(slices, every, false)?;
        let wanted = SyncScope {
            projects: convert::projects(projects)?,
            slices,
            of: listing
                .into_iter()
                .map(|endpoint| Subject::new(endpoint, by_path))
                .collect::<Result<_, _>>()?,
            until,
        };
        let count = wanted.projects.len() * wanted.slices.len() * wanted.of.len();
        let Some(exports) = self.handle.client()?.exports().cloned() else {
            let store = Setting::Store.argument();
            let why = message!["sync fills a store: give the client one with ", store];
            return Err(Error::configuration(why).into());
        };
        let bar = progress::bar(py, progress, Some(count as u64), "slices")?;
        let op = self.op(
            "Client.sync",
            move |client, inbox| async move {
                let client = client.on_budget(on_budget);
                Ok(sync::sync(&client, &exports, &wanted, on_running, inbox).await)
            },
            synced,
        );
        self.face.run(py, op.progress(bar))
    }
}

impl BaseClient {
    /// The slices that have begun; with `whole`, those of them that are a whole day, week or month.
    fn begun(&self, slices: Vec<Slice>, every: Option<Every>, whole: bool) -> PyResult<Vec<Slice>> {
        let slices = if whole {
            slices::whole(slices, every)?
        } else {
            slices
        };
        Ok(slices::begun(slices, every, self.handle.client()?.today())?)
    }

    fn project(&self, id: Option<ProjectId>) -> PyResult<Segment> {
        Ok(self.handle.client()?.project(id.as_deref())?)
    }

    fn plan(
        &self,
        name: &'static str,
        py: Python<'_>,
        of: Subject,
        slices: Vec<Slice>,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let project = self.project(project_id)?;
        let op = self.op(
            name,
            move |client, _| async move { plan::plan(&client, &project, slices, of).await },
            |py, plan| planned(py, &plan),
        );
        self.face.run(py, op)
    }
}
