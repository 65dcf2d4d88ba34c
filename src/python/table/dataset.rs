//! Reads a store without a client, for `docplatform.dataset`.

use arrow_array::{RecordBatch, RecordBatchIterator};

use crate::clock::Clock;
use crate::dates::slices::{self, Every};
use crate::listing::endpoint::Endpoint;
use crate::python::listing::collect;
use crate::python::prelude::*;
use crate::python::table::data::Meta;
use crate::python::table::{arrow, wrap};
use crate::python::{bridge, dates};
use crate::slices::Subject;
use crate::slices::dataset::{self, OwnerFilter, SliceSelection};
use crate::slices::reading::{StoreAnswer, StoreQuery};
use crate::store::{Content, FinishedExport, FinishedExports};

/// The slices in a store, by project and day: export, base URL, project, first day, day after the last, the time of the first
/// request, rows, whether it was final.
#[pyfunction]
pub fn _dataset_slices(
    py: Python<'_>,
    store: &Bound<'_, PyAny>,
    every: Option<Every>,
    listing: &'static Endpoint,
    projects: Option<&Bound<'_, PyAny>>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = convert::base_url)] base_url: Option<String>,
    #[pyo3(from_py_with = convert::organization)] organization: Option<String>,
    #[pyo3(from_py_with = convert::settle_days)] settle_days: u32,
) -> Returned {
    let every = every
        .ok_or_else(|| PyValueError::new_err("every must be \"day\", \"week\" or \"month\""))?;
    let (from, to) = dates::ends(None, date_from, date_to)?;
    let from = from
        .map(|from| from.whole_day(Setting::DateFrom))
        .transpose()?;
    let to = to.map(|to| to.whole_day(Setting::DateTo)).transpose()?;
    let projects = projects.map(convert::ids).transpose()?;
    let file = collect::path_of("store", store)?;
    let (selection, owner) = (
        SliceSelection {
            endpoint: listing,
            every,
            projects,
            from,
            to,
        },
        owner(base_url, organization),
    );
    let look = move |_| async move {
        let stored = FinishedExports::of(&file, listing.path)?;
        selection.choose(owner.latest(&stored, Content::Pages).await?)
    };
    let finish = move |py: Python<'_>, slices: Vec<FinishedExport>| {
        // After the store was read: what a sync began meanwhile would lie in the future, and count as not yet final.
        let now = Clock::system().now();
        let tuple = |export: FinishedExport| {
            let settled = export.is_final(settle_days, now);
            let FinishedExport {
                export,
                base_url,
                project_id,
                days,
                begun,
                rows,
                ..
            } = export;
            let (first, end) = (convert::day(py, days.from)?, convert::day(py, days.to)?);
            Ok((
                export, base_url, project_id, first, end, begun, rows, settled,
            ))
        };
        let tuples: PyResult<Vec<_>> = slices.into_iter().map(tuple).collect();
        tuples?.into_py_any(py).map(Next::Value)
    };
    bridge::block(py, Operation::new("_dataset_slices", look, finish))
}

/// The rows of an export in a store.
#[pyfunction]
pub fn _dataset_rows(
    py: Python<'_>,
    store: &Bound<'_, PyAny>,
    export: i64,
    listing: &'static Endpoint,
    #[pyo3(from_py_with = convert::settle_days)] settle_days: u32,
) -> Returned {
    let file = collect::path_of("store", store)?;
    let read = move |_| async move {
        let stored = FinishedExports::of(&file, listing.path)?;
        dataset::rows(listing, &stored, export, settle_days, Clock::system().now()).await
    };
    let finish = move |py: Python<'_>, rows| {
        let rows = PyDatasetRows(rows, listing);
        rows.into_py_any(py).map(Next::Value)
    };
    bridge::block(py, Operation::new("_dataset_rows", read, finish))
}

/// A range of a listing in a store: see `docplatform.read_visitors` and `docplatform.read_views`.
#[pyfunction]
#[pyo3(signature = (store, listing, every, by_path, *, period = None, date_from = None, date_to = None, project_id = None,
    base_url = None, organization = None, settle_days = 2))]
pub fn _read_stored(
    py: Python<'_>,
    store: &Bound<'_, PyAny>,
    listing: &'static Endpoint,
    every: Option<Every>,
    #[pyo3(from_py_with = convert::by_path)] by_path: bool,
    period: Option<&Bound<'_, PyAny>>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
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
    let read = move |_| async move { query.read(&FinishedExports::of(&file, listing.path)?).await };
    let finish = move |py: Python<'_>, stored: StoreAnswer| {
        let project = Segment::stored(&stored.project);
        let meta = if every.is_none() && by_path {
            Meta::of_stored(of, &project, &slices, &stored)
        } else {
            Meta::of_trend(of, &project, &slices, every, &stored.trend)
        };
        wrap(py, stored.trend.table, meta).map(Next::Value)
    };
    bridge::block(py, Operation::new("_read_stored", read, finish))
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
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.0.clone().into_iter().map(Ok);
        arrow::stream(
            py,
            Box::new(RecordBatchIterator::new(batches, dataset::schema(self.1))),
        )
    }
}
