//! Calls of Python from Rust, which an interpreter that exits may end in their middle.
//!
//! Before Python 3.14 a daemon thread that asks for an exiting interpreter is ended by `pthread_exit`, which unwinds
//! its stack, and would abort the process in the first Rust frame that it meets. The frames here stop it: the thread
//! sleeps for ever instead, as it does from 3.14 on. pyo3 does the same where it asks for the interpreter itself. Any
//! function written in Python may let the interpreter go, and so may an import.

use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::python::bridge::runtime;

/// Arguments of a call: a tuple.
pub(crate) trait Arguments<'py>:
    IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py, T> Arguments<'py> for T where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

/// What pyo3 calls `call1`, `call_method1` and `call`.
pub(crate) trait CallOut<'py> {
    fn call_out(&self, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>>;

    fn call_method_out(
        &self,
        name: impl IntoPyObject<'py, Target = PyString>,
        arguments: impl Arguments<'py>,
    ) -> PyResult<Bound<'py, PyAny>>;

    fn call_out_with(
        &self,
        arguments: impl Arguments<'py>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>>;
}

impl<'py> CallOut<'py> for Bound<'py, PyAny> {
    fn call_out(&self, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.call_out_with(arguments, None)
    }

    fn call_method_out(
        &self,
        name: impl IntoPyObject<'py, Target = PyString>,
        arguments: impl Arguments<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.getattr(name)?.call_out(arguments)
    }

    fn call_out_with(
        &self,
        arguments: impl Arguments<'py>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = arguments.into_pyobject(self.py()).map_err(Into::into)?;
        call(self, &arguments, named)
    }
}

#[expect(unsafe_code)]
// Through "C-unwind", or the compiler would take it that no unwinding comes out of them.
unsafe extern "C-unwind" {
    fn PyObject_Call(
        callable: *mut PyObject,
        arguments: *mut PyObject,
        named: *mut PyObject,
    ) -> *mut PyObject;
    fn PyImport_Import(name: *mut PyObject) -> *mut PyObject;
}

#[expect(unsafe_code)]
fn call<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let named = named.map_or(std::ptr::null_mut(), Bound::as_ptr);
    let sleep = Sleep;
    // SAFETY: all are valid objects, the second a tuple, the third a dict or null; the result is a new reference, or null
    // with an error set.
    let result = unsafe {
        let result = PyObject_Call(callable.as_ptr(), arguments.as_ptr(), named);
        Bound::from_owned_ptr_or_err(callable.py(), result)
    };
    std::mem::forget(sleep);
    result
}

/// A module, by its whole name.
#[expect(unsafe_code)]
pub(crate) fn import<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::intern(py, name);
    let sleep = Sleep;
    // SAFETY: the name is a valid str; the result is a new reference, or null with an error set.
    let result = unsafe { Bound::from_owned_ptr_or_err(py, PyImport_Import(name.as_ptr())) };
    std::mem::forget(sleep);
    result
}

/// Keeps a thread that is unwound from going any further.
struct Sleep;

impl Drop for Sleep {
    fn drop(&mut self) {
        runtime::park();
    }
}
