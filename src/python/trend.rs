//! Plans, trends and the store's filling as Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::convert;
use crate::endpoint::Segment;
use crate::plan::Plan;
use crate::trend::Filled;

/// A plan as its named tuple.
pub(super) fn plan(py: Python<'_>, plan: &Plan) -> PyResult<Py<PyAny>> {
    let class = convert::named_tuple(py, "PlanSlice")?;
    let slices = plan.slices.iter().map(|planned| {
        let (from, to) = (convert::day(py, planned.slice.from)?, convert::day(py, planned.slice.to)?);
        class.call1((from, to, planned.requests, planned.held, planned.exact))
    });
    let slices = PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
    let held: u64 = plan.slices.iter().map(|planned| planned.held).sum();
    let exact = plan.slices.iter().all(|planned| planned.exact);
    let class = convert::named_tuple(py, "Plan")?;
    Ok(class.call1((plan.requests(), held, exact, plan.hours, slices))?.unbind())
}

/// What was put into the store, as its named tuple.
pub(super) fn report(py: Python<'_>, filled: Filled) -> PyResult<Py<PyAny>> {
    let Filled { slices, held, open, requests, rows } = filled;
    let class = convert::named_tuple(py, "SyncReport")?;
    Ok(class.call1((slices, held, open, requests, rows))?.unbind())
}

/// Ids of projects: some, or one.
pub(super) fn projects(value: &Bound<'_, PyAny>) -> PyResult<Vec<Segment>> {
    let id = |id: &Bound<'_, PyAny>| Ok(Segment::parse("projects", &convert::text("projects", id)?)?);
    if value.is_instance_of::<PyString>() {
        return Ok(vec![id(value)?]);
    }
    let all = value.try_iter().map_err(|_| convert::wrong_type("projects", "ids of projects", value))?;
    all.map(|project| id(&project?)).collect()
}
