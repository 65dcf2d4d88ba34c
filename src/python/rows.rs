//! Rows to dicts, and what was found in them to warnings.

use std::ffi::CString;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};

use super::convert;
use crate::findings::Finding;
use crate::record::{Columns, Record};
use crate::rows::Rows;
use crate::visitor_rows::VisitorRow;

/// A page's rows as Python objects.
pub(super) fn to_py(py: Python<'_>, rows: &Rows) -> PyResult<Vec<Py<PyAny>>> {
    match rows {
        Rows::Visitors(rows) => rows.iter().map(|row| visitor(py, row)).collect(),
        Rows::Json(rows) => rows.iter().map(|row| Ok(convert::json_out(py, row)?.unbind())).collect(),
    }
}

/// The same, at the end of a list.
pub(super) fn extend(list: &Bound<'_, PyList>, rows: &Rows) -> PyResult<()> {
    to_py(list.py(), rows)?.into_iter().try_for_each(|row| list.append(row))
}

pub(super) fn visitor(py: Python<'_>, row: VisitorRow<'_>) -> PyResult<Py<PyAny>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "path"), PyString::new(py, row.path))?;
    dict.set_item(intern!(py, "human"), row.human)?;
    dict.set_item(intern!(py, "ai"), row.ai)?;
    dict.set_item(intern!(py, "total"), row.total)?;
    for (name, value) in row.extra.iter().flat_map(|extra| extra.iter()) {
        dict.set_item(PyString::intern(py, name), convert::json_out(py, value)?)?;
    }
    Ok(dict.into_any().unbind())
}

/// A row of a table.
pub(super) fn record(py: Python<'_>, columns: Columns, record: Record<'_>) -> PyResult<Py<PyAny>> {
    if columns == Columns::default() {
        return visitor(py, record.row);
    }
    let dict = PyDict::new(py);
    if let Some(days) = record.days {
        dict.set_item(intern!(py, "date_from"), convert::day(py, days.from)?)?;
        dict.set_item(intern!(py, "date_to"), convert::day(py, days.to)?)?;
    }
    let row = visitor(py, record.row)?;
    dict.update(row.bind(py).cast::<PyMapping>()?)?;
    if !columns.paths {
        dict.del_item(intern!(py, "path"))?;
    }
    Ok(dict.into_any().unbind())
}

/// A finding as a Python warning, raised `depth` Python frames up: where the user's code asked for the row.
pub(super) fn warn(py: Python<'_>, finding: Finding, depth: i32) -> PyResult<()> {
    let class = if finding.is_change() { "DataChangedWarning" } else { "DataWarning" };
    let class = py.import("docplatform.errors")?.getattr(class)?;
    let text = CString::new(finding.to_string()).unwrap_or_default();
    PyErr::warn(py, &class, &text, depth)
}
