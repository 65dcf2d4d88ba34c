//! Rows to dicts, and what was found in them to warnings.

use std::collections::HashMap;
use std::ffi::CString;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::export::findings::Finding;
use crate::listing::rows::Rows;
use crate::python::bridge;
use crate::python::convert;
use crate::table::record::{Columns, Record};

/// A page's rows as Python objects.
pub(crate) fn to_py(py: Python<'_>, rows: &Rows) -> PyResult<Vec<Py<PyAny>>> {
    match rows {
        Rows::Visitors(rows) => {
            let mut dicts = Dicts::new(py, Columns::default());
            rows.iter().map(|row| dicts.make(row.into())).collect()
        }
        Rows::Json(rows) => rows.iter().map(|row| Ok(convert::json_out(py, row)?.unbind())).collect(),
    }
}

/// The same, at the end of a list.
pub(crate) fn extend(list: &Bound<'_, PyList>, rows: &Rows) -> PyResult<()> {
    to_py(list.py(), rows)?.into_iter().try_for_each(|row| list.append(row))
}

/// How many names of the service's choice are shared by the rows of a page or a table.
const SHARED: usize = 100;

/// Makes dicts of rows. Only our own names are interned, which keeps them for ever; those that the service chooses are
/// shared by the rows, and gone with them.
pub(crate) struct Dicts<'py, 'a> {
    py: Python<'py>,
    columns: Columns,
    names: HashMap<&'a str, Bound<'py, PyString>>,
}

impl<'py, 'a> Dicts<'py, 'a> {
    pub(crate) fn new(py: Python<'py>, columns: Columns) -> Self {
        Self { py, columns, names: HashMap::new() }
    }

    pub(crate) fn make(&mut self, Record { days, row }: Record<'a>) -> PyResult<Py<PyAny>> {
        let (py, columns) = (self.py, self.columns);
        let dict = PyDict::new(py);
        if let Some(days) = days.filter(|_| columns.days) {
            dict.set_item(intern!(py, "date_from"), convert::day(py, days.from)?)?;
            dict.set_item(intern!(py, "date_to"), convert::day(py, days.to)?)?;
        }
        if columns.paths {
            dict.set_item(intern!(py, "path"), PyString::new(py, row.path))?;
        }
        dict.set_item(intern!(py, "human"), row.human)?;
        dict.set_item(intern!(py, "ai"), row.ai)?;
        dict.set_item(intern!(py, "total"), row.total)?;
        for (name, value) in row.extra.into_iter().flatten() {
            let known = self.names.get(name.as_str()).cloned();
            let name = known.unwrap_or_else(|| {
                let made = PyString::new(py, &columns.extra(Some(name)));
                if self.names.len() < SHARED {
                    self.names.insert(name, made.clone());
                }
                made
            });
            dict.set_item(name, convert::json_out(py, value)?)?;
        }
        Ok(dict.into_any().unbind())
    }
}

/// A finding as a Python warning, raised `depth` Python frames up, not counting a coroutine's own:
/// where the user's code asked for the row.
pub(crate) fn warn(py: Python<'_>, finding: Finding, depth: i32) -> PyResult<()> {
    let class = if finding.is_change() { "DataChangedWarning" } else { "DataWarning" };
    let class = py.import("docplatform.errors")?.getattr(class)?;
    let text = CString::new(finding.to_string()).unwrap_or_default();
    PyErr::warn(py, &class, &text, depth + bridge::frames(py)?)
}
