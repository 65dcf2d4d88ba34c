//! A plan as Python sees it.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::python::bridge::call::CallOut as _;
use crate::python::convert;
use crate::slices::plan::Plan;
use crate::store::What;

/// A plan as its named tuple.
pub(crate) fn planned(py: Python<'_>, plan: &Plan) -> PyResult<Py<PyAny>> {
    let class = convert::named_tuple(py, "PlanSlice")?;
    let slices = plan.slices.iter().map(|planned| {
        let (from, to) = (convert::day(py, planned.slice.from)?, convert::day(py, planned.slice.to)?);
        class.call_out((from, to, planned.requests, planned.cached, planned.exact, planned.estimated))
    });
    let slices = PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
    let cached: u64 = plan.slices.iter().map(|planned| planned.cached).sum();
    let exact = plan.slices.iter().all(|planned| planned.exact);
    let class = convert::named_tuple(py, "Plan")?;
    Ok(class
        .call_out((plan.requests(), cached, exact, plan.hours, slices, plan.what == What::Totals))?
        .unbind())
}
