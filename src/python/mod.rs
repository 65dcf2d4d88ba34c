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
    ($member:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/docstrings/", $member))
    };
}

/// The docstring of a client's method with the signature that the stub has, for `text_signature = None`: pyo3 can show no default but a
/// literal. `tests/client/test_clients.py` calls each method with what its signature says.
macro_rules! signed {
    ($method:ident) => {
        include_str!(concat!(
            env!("OUT_DIR"),
            "/docstrings/Client.",
            stringify!($method),
            "()"
        ))
    };
}

/// The properties of a class, with their docstrings. Each is made of the object, which is bound to the name before its value.
macro_rules! getters {
    ($class:ident as $public:ident, $slf:ident: $($name:ident = $value:expr;)*) => {
        #[pymethods]
        impl $class {
            $(
                #[doc = include_str!(concat!(env!("OUT_DIR"), "/docstrings/", stringify!($public), ".", stringify!($name)))]
                #[getter]
                fn $name<'py>($slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                    pyo3::IntoPyObjectExt::into_bound_py_any($value, $slf.py())
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
    use super::bridge::DrivenOperation;
    #[pymodule_export]
    use super::client::options::{_api_key, _check, _proxy, CheckedKey};
    #[pymodule_export]
    use super::client::{_panic, AsyncClient, BlockingClient};
    #[pymodule_export]
    use super::convert::{_endpoints, _safe};
    #[pymodule_export]
    use super::dates::{_begun, _is_cut, _period};
    #[pymodule_export]
    use super::job::{_job, PyJob};
    #[pymodule_export]
    use super::listing::{
        AsyncPages, AsyncRows, AsyncVisitors, CurrentRows, ListedRows, Pages, Visitors,
    };
    #[pymodule_export]
    use super::table::comparison::{_comparison, _site_change, Comparison};
    #[pymodule_export]
    use super::table::dataset::{_dataset_rows, _dataset_slices, _read_stored, PyDatasetRows};
    #[pymodule_export]
    use super::table::fix::FixList;
    #[pymodule_export]
    use super::table::whole_file::PyWholeFile;
    #[pymodule_export]
    use super::table::{_table, BaseTable, TableRows, TrendTable, VisitorTable};
    #[pymodule_export]
    use super::tracing::_instrument;
    #[pymodule_export]
    use super::words::_all_parts;
}
