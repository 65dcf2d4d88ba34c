//! `FixList`: the problems that readers met. `docplatform._hooks.fix` finds them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::listing::endpoint::{Field, Holds, required};
use crate::python::bridge::call::CallOut as _;
use crate::python::bridge::operation::Face;
use crate::python::convert;
use crate::python::table::BaseTable;

/// A column that may be empty.
const fn optional(name: &'static str, holds: Holds) -> Field {
    Field {
        name,
        holds,
        required: false,
    }
}

pub(crate) const COLUMNS: &[Field] = &[
    optional("path", Holds::Text),
    optional("query", Holds::Text),
    required("readers", Holds::Integer),
    optional("human", Holds::Integer),
    required("thumbs_up", Holds::Integer),
    required("thumbs_down", Holds::Integer),
    required("unanswered", Holds::Integer),
    required("searches", Holds::Integer),
    optional("evidence", Holds::Json),
    required("why", Holds::Text),
    required("prompt", Holds::Text),
];

#[doc = doc!("FixList")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub(crate) struct FixList;

/// Calls the hook of this face: a `FixList`, or a coroutine of one.
pub(crate) fn find<'py>(
    client: &Bound<'py, PyAny>,
    face: Face,
    n: usize,
    unanswered: &Bound<'py, PyTuple>,
    how: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = client.py();
    let hook = match face {
        Face::Blocking => convert::hook(py, "fix", "blocking")?,
        Face::Async => convert::hook(py, "fix", "named")?.call_out(("Client.fix_first",))?,
    };
    hook.call_out((client, n, unanswered, how))
}
