//! A plan, and what a sync did, as Python sees them.

use crate::python::prelude::*;
use crate::slices::plan::Plan;
use crate::slices::sync::{FailedSlice, Sync, SyncCounts};
use crate::store::Content;

pub fn planned(py: Python<'_>, plan: &Plan) -> Returned {
    let slices = plan.slices.iter().map(|planned| {
        let values = (
            convert::day(py, planned.slice.from)?,
            convert::day(py, planned.slice.to)?,
            planned.requests,
            planned.cached,
            planned.exact,
            planned.estimated,
        );
        convert::named_tuple(py, "PlanSlice", values)
    });
    let slices = PyTuple::new(py, slices.collect::<PyResult<Vec<_>>>()?)?;
    let cached: u64 = plan.slices.iter().map(|planned| planned.cached).sum();
    let exact = plan.slices.iter().all(|planned| planned.exact);
    let is_of_totals = plan.content == Content::Totals;
    let values = (
        plan.requests(),
        cached,
        exact,
        plan.hours,
        slices,
        is_of_totals,
    );
    convert::named_tuple(py, "Plan", values)
}

/// The report of a sync as its named tuple, or the error that it ended with. The error carries the
/// report.
pub fn synced(py: Python<'_>, sync: Sync) -> Returned {
    let SyncCounts {
        slices,
        cached,
        open,
        requests,
        rows,
        left,
        hours,
    } = sync.filled;
    let fields = (slices, cached, open, requests, rows, left, hours);
    let report = convert::named_tuple(py, "SyncReport", fields)?;
    let error = match sync.ended {
        Some(error) => errors::to_py(py, error),
        None if sync.failures.is_empty() => return Ok(report),
        None => failed(py, sync.failures, sync.gave_up)?,
    };
    if error.is_instance(
        py,
        &import(py, "docplatform.errors")?.getattr("DocPlatformError")?,
    ) {
        error.value(py).setattr("report", report)?;
    }
    Err(error)
}

/// The most failures that an error's text lists.
const MAX_LISTED: usize = 3;

fn failed(py: Python<'_>, failures: Vec<FailedSlice>, gave_up: bool) -> PyResult<PyErr> {
    let what = match gave_up {
        true => "the sync stopped after repeated failures; the next one continues",
        false => {
            "some slices could not be fetched, and those after them may not have been tried; after you removed the causes, \
             another sync fetches what is missing"
        }
    };
    let mut message = message![what];
    for (at, one) in failures.iter().take(MAX_LISTED).enumerate() {
        let mark = if at == 0 { ':' } else { ';' };
        let project = safe(&one.project, 60);
        message.push(format!(
            "{mark} {} of {project} from {}: ",
            one.listing, one.slice.from
        ));
        message.push(one.error.message.clone());
    }
    if failures.len() > MAX_LISTED {
        message.push(format!("; and {} more", failures.len() - MAX_LISTED));
    }
    let error = errors::of_class(py, "SyncError", &message)?;
    let failures = failures.into_iter().map(|failed| {
        let values = (
            failed.project,
            convert::day(py, failed.slice.from)?,
            convert::day(py, failed.slice.to)?,
            errors::to_py(py, failed.error).into_value(py),
            failed.listing,
        );
        convert::named_tuple(py, "SyncFailure", values)
    });
    error.setattr(
        "failures",
        PyTuple::new(py, failures.collect::<PyResult<Vec<_>>>()?)?,
    )?;
    Ok(PyErr::from_value(error))
}
