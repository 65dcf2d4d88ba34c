//! Rows to dicts, and what was found in them to warnings.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::dates::slices::Slice;
use crate::export::findings::Finding;
use crate::listing::columns::Cell;
use crate::listing::rows::{Row, Rows};
use crate::python::prelude::*;
use crate::python::{job, progress};
use crate::table::layout::Layout;

/// A page's rows as Python objects.
pub fn to_py(py: Python<'_>, rows: &Rows, days: Option<Slice>) -> PyResult<Vec<Py<PyAny>>> {
    let mut dicts = Dicts::new(
        py,
        Layout {
            days: days.is_some(),
            fields: rows.fields,
        },
    );
    if days.is_some() || !rows.is_plain() {
        return rows
            .iter()
            .map(|row| dicts.make(Row { days, ..row }))
            .collect();
    }
    // Most rows have only columns.
    let columns: Vec<_> = dicts.ours.iter().zip(&rows.columns).collect();
    let mut made = Vec::with_capacity(rows.len());
    for at in 0..rows.len() {
        let dict = PyDict::new(py);
        for (name, column) in &columns {
            put(&dict, name, column.cell(at), || None)?;
        }
        made.push(dict.into_any().unbind());
    }
    Ok(made)
}

/// The same, at the end of a list.
pub fn extend(list: &Bound<'_, PyList>, rows: &Rows, days: Option<Slice>) -> PyResult<()> {
    to_py(list.py(), rows, days)?
        .into_iter()
        .try_for_each(|row| list.append(row))
}

/// How many names of the service's choice are shared by the rows of a page or a table.
const SHARED: usize = 100;

/// Makes dicts of rows. Only our own names are interned, because CPython 3.12 keeps those for ever.
/// Names that the service chooses are shared by the rows, and gone with them.
pub struct Dicts<'py, 'a> {
    py: Python<'py>,
    layout: Layout,
    ours: Vec<Bound<'py, PyString>>,
    /// The names of a slice's columns.
    slice: [Bound<'py, PyString>; 3],
    names: HashMap<&'a str, Bound<'py, PyString>>,
}

impl<'py, 'a> Dicts<'py, 'a> {
    pub fn new(py: Python<'py>, layout: Layout) -> Self {
        let ours = layout.fields.iter();
        Self {
            py,
            layout,
            ours: ours.map(|field| PyString::intern(py, field.name)).collect(),
            slice: ["date_from", "date_to", "days"].map(|name| PyString::intern(py, name)),
            names: HashMap::new(),
        }
    }

    pub fn make(&mut self, row: Row<'a>) -> Returned {
        let (py, layout) = (self.py, self.layout);
        if let Some(bare) = row.bare() {
            return Ok(convert::json_out(py, bare)?.unbind());
        }
        let dict = PyDict::new(py);
        if let Some(days) = row.days.filter(|_| layout.days) {
            let [from, to, count] = &self.slice;
            dict.set_item(from, convert::day(py, days.from)?)?;
            dict.set_item(to, convert::day(py, days.to)?)?;
            dict.set_item(count, days.count())?;
        }
        for (column, name) in self.ours.iter().enumerate() {
            put(&dict, name, row.cell(column), || row.misfit(column))?;
        }
        for (name, value) in row.more() {
            let name = self.names.get(name.as_str()).cloned().unwrap_or_else(|| {
                let made = PyString::new(py, &layout.extra(Some(name)));
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

/// Puts a value into a row's dict.
#[inline]
fn put<'a>(
    dict: &Bound<'_, PyDict>,
    name: &Bound<'_, PyString>,
    cell: Cell<'_>,
    misfit: impl FnOnce() -> Option<&'a Value>,
) -> PyResult<()> {
    match cell {
        Cell::Text(text) => dict.set_item(name, PyString::new(dict.py(), text)),
        Cell::Integer(number) => dict.set_item(name, number),
        other => dict.set_item(name, value(dict.py(), other, misfit())?),
    }
}

/// A value as Python has it. `misfit`: what came in the place of one that does not fit its column.
pub fn value<'py>(
    py: Python<'py>,
    cell: Cell<'_>,
    misfit: Option<&Value>,
) -> PyResult<Object<'py>> {
    match cell {
        Cell::Null => match misfit {
            Some(value) => convert::json_out(py, value),
            None => Ok(py.None().into_bound(py)),
        },
        Cell::Text(text) => text.into_bound_py_any(py),
        Cell::Integer(number) => number.into_bound_py_any(py),
        Cell::Float(number) => number.into_bound_py_any(py),
        Cell::Bool(flag) => flag.into_bound_py_any(py),
        Cell::Time(micros) => {
            job::datetime(py, Timestamp::from_microsecond(micros).map_err(Error::bug)?)
        }
        Cell::Json(text) => convert::json_out(py, &serde_json::from_str(text).map_err(Error::bug)?),
    }
}

/// A finding as a Python warning, raised `depth` Python frames up: where the user's code asked for
/// the row.
pub fn warn(py: Python<'_>, finding: Finding, depth: i32) -> PyResult<()> {
    let class = if finding.is_change() {
        "DataChangedWarning"
    } else {
        "DataWarning"
    };
    let errors = import(py, "docplatform.errors")?;
    progress::warn(
        &errors.call_method_out(class, (finding.to_string(),))?,
        depth,
    )
}
