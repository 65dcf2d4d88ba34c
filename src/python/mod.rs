//! The thin layer that knows Python. Nothing outside this folder names a Python type.
#![allow(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the docstrings of `_native.pyi` are written for Python"
)]
#![allow(
    unreachable_pub,
    reason = "the module is private, so `pub` ends at the crate"
)]
#![allow(
    clippy::too_many_arguments,
    reason = "a method has the arguments that it has in Python"
)]

/// The docstring of a public class or member, from `_native.pyi`: see `build.rs`.
macro_rules! doc {
    ($($part:tt)*) => {
        include_str!(concat!(env!("OUT_DIR"), "/docstrings/", $($part)*))
    };
}

/// The docstring of a client's method with the signature that the stub has, for
/// `text_signature = None`: pyo3 can show no default but a literal. `tests/client/test_clients.py`
/// calls each method with what its signature says.
macro_rules! signed {
    ($method:ident) => {
        doc!("Client.", stringify!($method), "()")
    };
}

/// The properties of a class, with their docstrings. Each is made of the interpreter and of what
/// its object holds, which are bound to these names.
macro_rules! getters {
    ($class:ident as $public:ident, |$slf:ident, $py:ident| $held:ident = $holds:expr; $($name:ident = $value:expr;)*) => {
        #[pymethods]
        impl $class {
            $(
                #[doc = doc!(stringify!($public), ".", stringify!($name))]
                #[getter]
                fn $name<'py>($slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
                    let ($py, $held) = ($slf.py(), $holds);
                    $value.into_bound_py_any($py)
                }
            )*
        }
    };
}

mod batch;
mod bridge;
mod client;
mod convert;
mod dates;
mod errors;
mod job;
mod listing;
mod logging;
mod prelude;
mod progress;
mod table;
mod tracing;
mod words;

/// The extension module, `docplatform._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        match super::bridge::runtime::in_main_interpreter(module.py()) {
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
    use super::{
        bridge::DrivenOperation,
        client::options::{_api_key, _check, _is_like_a_key, _proxy, CheckedKey},
        client::{_panic, AsyncClient, BlockingClient},
        convert::{_endpoints, _safe},
        dates::{_begun, _is_cut, _period},
        job::{_job, PyJob},
        listing::{AsyncPages, AsyncRows, AsyncVisitors, CurrentRows, ListedRows, Pages, Visitors},
        table::comparison::{_comparison, _site_change, Comparison},
        table::dataset::{_dataset_rows, _dataset_slices, _read_stored, PyDatasetRows},
        table::fix::FixList,
        table::whole_file::PyWholeFile,
        table::{_table, BaseTable, TrendTable, VisitorTable},
        tracing::_instrument,
        words::_all_parts,
    };
}
