//! Calls of Python from Rust, which an interpreter that exits may end in their middle.
//!
//! Before Python 3.14 a daemon thread that asks for an exiting interpreter is ended by
//! `pthread_exit`, which unwinds its stack, and would abort the process in the first Rust frame
//! that it meets. The frames here stop it: the thread sleeps for ever instead, as it does from 3.14
//! on. pyo3 does the same where it asks for the interpreter itself. Any function written in Python
//! may let the interpreter go, and so may an import.

use std::hint::black_box;
use std::mem::transmute;
use std::ptr;

use pyo3::ffi::{PyImport_Import, PyObject, PyObject_Call};

use crate::python::bridge::runtime;
use crate::python::prelude::*;

type Pointer = *mut PyObject;

/// Arguments of a call: a tuple.
pub trait Arguments<'py>:
    IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py, T> Arguments<'py> for T where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

/// The replacements of pyo3's `call1`, `call_method1` and `call`.
pub trait CallOut<'py>: PyAnyMethods<'py> {
    fn call_out_with(
        &self,
        arguments: impl Arguments<'py>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>>;

    fn call_out(&self, arguments: impl Arguments<'py>) -> PyResult<Object<'py>> {
        self.call_out_with(arguments, None)
    }

    fn call_method_out(
        &self,
        name: impl IntoPyObject<'py, Target = PyString>,
        arguments: impl Arguments<'py>,
    ) -> PyResult<Object<'py>> {
        self.getattr(name)?.call_out(arguments)
    }
}

impl<'py> CallOut<'py> for Object<'py> {
    #[expect(unsafe_code)]
    fn call_out_with(
        &self,
        arguments: impl Arguments<'py>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>> {
        let arguments = arguments.into_pyobject(self.py()).map_err(Into::into)?;
        let named = named.map_or(ptr::null_mut(), Bound::as_ptr);
        // SAFETY: the pointers are a valid object, a tuple, and a dict or null; the result is a new reference, or null with an
        // error set.
        unsafe {
            let call = transmute::<
                unsafe extern "C" fn(Pointer, Pointer, Pointer) -> Pointer,
                unsafe extern "C-unwind" fn(Pointer, Pointer, Pointer) -> Pointer,
            >(black_box(PyObject_Call));
            guarded(self.py(), || call(self.as_ptr(), arguments.as_ptr(), named))
        }
    }
}

/// A module, by its whole name.
#[expect(unsafe_code)]
pub fn import<'py>(py: Python<'py>, name: &str) -> PyResult<Object<'py>> {
    let name = PyString::intern(py, name);
    // SAFETY: the pointer is a valid str; the result is a new reference, or null with an error set.
    unsafe {
        let import = transmute::<
            unsafe extern "C" fn(Pointer) -> Pointer,
            unsafe extern "C-unwind" fn(Pointer) -> Pointer,
        >(black_box(PyImport_Import));
        guarded(py, || import(name.as_ptr()))
    }
}

/// The result of `ask`, if this thread is not ended meanwhile.
///
/// `ask` calls a function as "C-unwind" that the compiler does not know. pyo3 declares it as "C",
/// and the compiler takes such a function for one that never unwinds.
#[expect(unsafe_code)]
unsafe fn guarded(py: Python<'_>, ask: impl FnOnce() -> Pointer) -> PyResult<Object<'_>> {
    let sleep = Sleep;
    let result = ask();
    std::mem::forget(sleep);
    // SAFETY: as the caller says.
    unsafe { Bound::from_owned_ptr_or_err(py, result) }
}

/// Stops a thread that is unwound.
struct Sleep;

impl Drop for Sleep {
    fn drop(&mut self) {
        runtime::park();
    }
}
