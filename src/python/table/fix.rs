//! `FixList`: the problems that readers met. `docplatform._hooks.fix` finds them.

use crate::listing::endpoint::{Field, Holds, required};
use crate::python::prelude::*;
use crate::python::table::BaseTable;

/// A column that may be empty.
const fn optional(name: &'static str, holds: Holds) -> Field {
    Field {
        name,
        holds,
        required: false,
    }
}

pub const COLUMNS: &[Field] = &[
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
pub struct FixList;
