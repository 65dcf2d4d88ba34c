//! The names that nearly every file of this layer uses.

pub(super) use std::sync::Arc;

pub(super) use pyo3::IntoPyObjectExt as _;
pub(super) use pyo3::exceptions::{
    PyException, PyIndexError, PyKeyError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
pub(super) use pyo3::gc::{PyTraverseError, PyVisit};
pub(super) use pyo3::prelude::*;
pub(super) use pyo3::sync::PyOnceLock;
pub(super) use pyo3::types::{PyCapsule, PyDict, PyList, PyString, PyTuple, PyType};

pub(super) use crate::client::{Client, WaitOrStop};
pub(super) use crate::config::url::Segment;
pub(super) use crate::error::{Error, Kind, Outcome};
pub(super) use crate::python::bridge::callout::{Arguments, CallOut as _, import};
pub(super) use crate::python::bridge::inbox::Inbox;
pub(super) use crate::python::bridge::operation::{Face, Next, Operation};
pub(super) use crate::python::convert::ProjectId;
pub(super) use crate::python::{convert, errors};
pub(super) use crate::text::message::{Advice, Message, Setting, message};
pub(super) use crate::text::safe;

/// An object of Python, of any class.
pub(super) type Object<'py> = Bound<'py, PyAny>;

/// The result of a function that Python calls: an object, or an exception.
pub(super) type Returned = PyResult<Py<PyAny>>;
