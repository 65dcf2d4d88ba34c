//! `FixList`: the problems that readers met. `docplatform._hooks.fix` finds them.

use crate::listing::endpoint::{ColumnKind, Field, optional, required};
use crate::python::prelude::*;
use crate::python::table::BaseTable;

pub const FIX_COLUMNS: &[Field] = &[
    optional("path", ColumnKind::Text),
    optional("query", ColumnKind::Text),
    required("readers", ColumnKind::Integer),
    optional("human", ColumnKind::Integer),
    required("thumbs_up", ColumnKind::Integer),
    required("thumbs_down", ColumnKind::Integer),
    required("unanswered", ColumnKind::Integer),
    required("searches", ColumnKind::Integer),
    optional("evidence", ColumnKind::Json),
    required("why", ColumnKind::Text),
    required("prompt", ColumnKind::Text),
];

#[doc = doc!("FixList")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub struct FixList;
