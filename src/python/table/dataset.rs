//! Reads a store without a client, for `docplatform.dataset`.

use arrow_array::{RecordBatch, RecordBatchIterator};

use crate::clock::Clock;
use crate::dates::Moment;
use crate::dates::slices::{self, Every};
use crate::listing::endpoint::Endpoint;
use crate::python::listing::collect;
use crate::python::prelude::*;
use crate::python::table::data::Meta;
use crate::python::table::{arrow, wrap};
use crate::python::{bridge, dates};
use crate::slices::Subject;
use crate::slices::dataset::{self, OwnerFilter, SliceSelection};
use crate::slices::reading::{self, StoreQuery};
use crate::store::{Content, FinishedExports};

/// The slices in a store, by project and day: export, base URL, project, first day, day after the
/// last, the time of the first request, rows, whether it was final.
#[pyfunction]
pub fn _dataset_slices(
    py: Python<'_>,
    store: &Object<'_>,
    every: Option<Every>,
    listing: &'static Endpoint,
    projects: Option<&Object<'_>>,
    date_from: Option<&Object<'_>>,
    date_to: Option<&Object<'_>>,
    #[pyo3(from_py_with = convert::base_url)] base_url: Option<String>,
    #[pyo3(from_py_with = convert::organization)] organization: Option<String>,
    #[pyo3(from_py_with = convert::settle_days)] settle_days: u32,
) -> Returned {
    let every = every
        .ok_or_else(|| PyValueError::new_err("every must be \"day\", \"week\" or \"month\""))?;
    let (from, to) = dates::ends(None, date_from, date_to)?;
    let whole_day =
        |moment: Option<Moment>, what| moment.map(|day| day.whole_day(what)).transpose();
    let selection = SliceSelection {
        endpoint: listing,
        every,
        projects: projects.map(convert::ids).transpose()?,
        from: whole_day(from, Setting::DateFrom)?,
        to: whole_day(to, Setting::DateTo)?,
    };
    let file = collect::path_of("store", store)?;
    let owner = owner(base_url, organization);
    let of = Subject {
        endpoint: listing,
        content: Content::Pages,
    };
    let op = Operation::new(
        "_dataset_slices",
        move |_| async move {
            let read = async {
                let stored = FinishedExports::of(&file, listing)?;
                owner.latest(&stored, of.content).await
            };
            selection.choose(read.await.map_err(|error| filled(error, of, Some(every)))?)
        },
        move |py, slices| {
            // After the store was read: what a sync began meanwhile would lie in the future, and
            // count as not yet final.
            let now = Clock::system().now();
            let tuples = slices.into_iter().map(|one| {
                let settled = one.is_final(settle_days, now);
                let (first, end) = (
                    convert::day(py, one.days.from)?,
                    convert::day(py, one.days.to)?,
                );
                Ok((
                    one.export,
                    one.base_url,
                    one.project_id,
                    first,
                    end,
                    one.begun,
                    one.rows,
                    settled,
                ))
            });
            tuples
                .collect::<PyResult<Vec<_>>>()?
                .into_py_any(py)
                .map(Next::Value)
        },
    );
    bridge::block(py, op)
}

/// The rows of an export in a store.
#[pyfunction]
pub fn _dataset_rows(
    py: Python<'_>,
    store: &Object<'_>,
    export: i64,
    listing: &'static Endpoint,
    #[pyo3(from_py_with = convert::settle_days)] settle_days: u32,
) -> Returned {
    let file = collect::path_of("store", store)?;
    let op = Operation::new(
        "_dataset_rows",
        move |_| async move {
            let stored = FinishedExports::of(&file, listing)?;
            dataset::rows(listing, &stored, export, settle_days, Clock::system().now()).await
        },
        move |py, rows| {
            PyDatasetRows(rows, listing)
                .into_py_any(py)
                .map(Next::Value)
        },
    );
    bridge::block(py, op)
}

/// An error that advises to fill the store, if it does: with these slices.
fn filled(mut error: Error, of: Subject, every: Option<Every>) -> Error {
    error.message.complete(&reading::fill(of, every));
    error
}

/// A range of a listing in a store: see `docplatform.read_visitors` and `docplatform.read_views`.
#[pyfunction]
#[pyo3(signature = (store, listing, every, by_path, *, period = None, date_from = None, date_to = None, project_id = None,
    base_url = None, organization = None, settle_days = 2))]
pub fn _read_stored(
    py: Python<'_>,
    store: &Object<'_>,
    listing: &'static Endpoint,
    every: Option<Every>,
    #[pyo3(from_py_with = convert::by_path)] by_path: bool,
    period: Option<&Object<'_>>,
    date_from: Option<&Object<'_>>,
    date_to: Option<&Object<'_>>,
    project_id: Option<ProjectId>,
    #[pyo3(from_py_with = convert::base_url)] base_url: Option<String>,
    #[pyo3(from_py_with = convert::organization)] organization: Option<String>,
    #[pyo3(from_py_with = convert::settle_days)] settle_days: u32,
) -> Returned {
    let clock = Clock::system();
    let slices = slices::begun(
        dates::slices(period, date_from, date_to, every)?,
        every,
        clock.today(),
    )?;
    let file = collect::path_of("store", store)?;
    let of = Subject {
        endpoint: listing,
        content: Content::of(by_path),
    };
    let query = StoreQuery {
        of,
        project: project_id.as_deref().map(str::to_owned),
        owner: owner(base_url, organization),
        slices: slices.clone(),
        every,
        settle_days,
        now: clock.now(),
        store: file.display().to_string(),
    };
    let op = Operation::new(
        "_read_stored",
        move |_| async move {
            let read = async { query.read(&FinishedExports::of(&file, listing)?).await };
            read.await.map_err(|error| filled(error, of, every))
        },
        move |py, stored| {
            let project = Segment::stored(&stored.project);
            let meta = if every.is_none() && by_path {
                Meta::of_stored(of, &project, &slices, &stored)
            } else {
                Meta::of_trend(of, &project, &slices, every, &stored.trend)
            };
            wrap(py, stored.trend.table, meta).map(Next::Value)
        },
    );
    bridge::block(py, op)
}

fn owner(base_url: Option<String>, organization: Option<String>) -> OwnerFilter {
    OwnerFilter {
        base_url,
        organization,
        env: |name| std::env::var_os(name),
    }
}

/// Rows in the columns of a dataset.
#[pyclass(frozen, module = "docplatform._native", name = "_DatasetRows")]
pub struct PyDatasetRows(Vec<RecordBatch>, &'static Endpoint);

#[pymethods]
impl PyDatasetRows {
    fn __len__(&self) -> usize {
        self.0.iter().map(RecordBatch::num_rows).sum()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Object<'py>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.0.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, dataset::schema(self.1));
        arrow::stream(py, Box::new(reader))
    }
}
