//! The thin layer that knows Python. Nothing outside this folder names a Python type.

mod arrow;
mod bridge;
mod client;
mod collect;
mod convert;
mod cursor;
mod data;
mod drive;
mod engine;
mod errors;
mod handle;
mod held;
mod job;
mod logging;
mod op;
mod operation;
mod ops;
mod options;
mod plan;
mod port;
mod progress;
mod rows;
mod running;
mod runtime;
mod sync;
mod table;
mod tracing;
mod visitors;
mod waker;
mod whole_file;

/// The extension module, `docplatform._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        match super::runtime::in_main_interpreter(module.py()) {
            true => Ok(()),
            false => Err(PyImportError::new_err(
                "docplatform cannot be used in a subinterpreter: import it in the main one, or use a process of its own",
            )),
        }
    }

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use super::client::{_client, _panic, AsyncClient, Client};
    #[pymodule_export]
    use super::convert::{_is_cut, _safe};
    #[pymodule_export]
    use super::held::{_held_rows, _held_slices, HeldRows};
    #[pymodule_export]
    use super::job::{_job, Job};
    #[pymodule_export]
    use super::operation::Operation;
    #[pymodule_export]
    use super::table::{_table, _trend, TableRows, TrendTable, VisitorTable};
    #[pymodule_export]
    use super::visitors::{AsyncRows, AsyncVisitors, AtHand, Rows, Visitors};
    #[pymodule_export]
    use super::whole_file::WholeFile;
}
