//! `FixList`: the problems that readers met. `docplatform._hooks.fix` finds them.

use crate::listing::endpoint::{Field, fields};
use crate::python::prelude::*;
use crate::python::table::BaseTable;

pub const FIX_COLUMNS: &[Field] = fields![
    Text "path",
    Text "query",
    Integer "readers" required,
    Integer "human",
    Integer "thumbs_up" required,
    Integer "thumbs_down" required,
    Integer "unanswered" required,
    Integer "searches" required,
    Json "evidence",
    Text "why" required,
    Text "prompt" required,
];

#[doc = doc!("FixList")]
#[pyclass(frozen, extends = BaseTable, module = "docplatform")]
pub struct FixList;
