//! What ends an export: a table, a frame of some library, or a file.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::cursor::{Cursor, Worked};
use super::data::Meta;
use super::op::Op;
use super::table::VisitorTable;
use super::{convert, errors};
use crate::error::Error;
use crate::export::Written;
use crate::formats::Format;

/// What an error of the service leaves of the rows that came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The error carries them, and they were handed out with it.
    Partial,
    /// They stay for whoever goes on.
    Kept,
}

/// Reads all that is left into a table, and makes of it what `convert` does; where that fails, no row was handed out.
pub(super) fn table(
    cursor: &Arc<Cursor>,
    name: &'static str,
    progress: Option<Py<PyAny>>,
    rest: Rest,
    convert: impl FnOnce(Bound<'_, VisitorTable>) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Op> {
    let owner = Arc::clone(cursor);
    let op = cursor.work(
        name,
        |engine, _, observer| async move { Ok(engine.collect(&observer).await) }.boxed(),
        move |py, Worked { mut engine, result }| {
            let broken = result.and_then(|read| read).err();
            if let (Some(error), Rest::Kept) = (&broken, rest) {
                return Err(failed(py, &owner, error.clone())?);
            }
            let gathered = engine.take_gathered();
            let finished = py.detach(|| gathered.finish());
            let meta = Meta::new(&owner.listing(), &engine);
            // The engine is kept until it is sure that the caller gets the rows: nobody else is to have them.
            let made =
                Bound::new(py, VisitorTable::new(Arc::clone(finished.table()), meta)).and_then(|table| {
                    match broken.is_some() {
                        true => Ok(table.into_any().unbind()),
                        false => convert(table),
                    }
                });
            let made = match made {
                Ok(made) => made,
                Err(error) => {
                    engine.put_back(finished);
                    return Err(error);
                }
            };
            owner.handed(finished.table().len() as u64, finished.mark(), broken.is_none(), &engine);
            drop(engine);
            let Some(error) = broken else {
                return Ok(made);
            };
            let error = failed(py, &owner, error)?;
            if error.value(py).hasattr("partial")? {
                error.value(py).setattr("partial", made)?;
            }
            Err(error)
        },
    )?;
    Ok(op.progress(progress))
}

/// Reads all that is left into a list of dicts, which are made while further pages are on their way.
pub(super) fn dicts(
    py: Python<'_>,
    cursor: &Arc<Cursor>,
    name: &'static str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Op> {
    let list = PyList::empty(py).unbind();
    let made = list.clone_ref(py);
    let op = table(cursor, name, progress, Rest::Partial, |_| Ok(made.into_any()))?;
    Ok(op.rows(list))
}

/// Writes all that is left into a file; its value is the number of rows.
pub(super) fn file(
    cursor: &Arc<Cursor>,
    name: &'static str,
    progress: Option<Py<PyAny>>,
    target: PathBuf,
    format: Format,
) -> PyResult<Op> {
    let owner = Arc::clone(cursor);
    let path = target.clone();
    let op = cursor.work(
        name,
        move |engine, place, observer| {
            async move { engine.write(place, target, format, &observer).await }.boxed()
        },
        move |py, Worked { mut engine, result }| {
            let written = match result {
                Ok(written) => written.map_err(|error| os_error(&path, &error))?,
                Err(error) => return Err(failed(py, &owner, error)?),
            };
            let Written { file, rows, mark } = written;
            // Only here: whoever was interrupted before finds what was there before.
            py.detach(|| file.commit()).map_err(|error| os_error(&path, &error))?;
            engine.keep();
            owner.handed(rows, mark.as_deref(), true, &engine);
            Ok(rows.into_pyobject(py)?.into_any().unbind())
        },
    )?;
    Ok(op.progress(progress))
}

/// An error of the service, which tells where the export stands.
fn failed(py: Python<'_>, cursor: &Arc<Cursor>, error: Error) -> PyResult<PyErr> {
    let error = errors::to_py(py, error);
    cursor.tell_checkpoint()(error.value(py).as_any())?;
    Ok(error)
}

/// An error of the file system, with its number, so that Python makes the right class of it.
pub(super) fn os_error(path: &std::path::Path, error: &io::Error) -> PyErr {
    let number = error.raw_os_error().or(match error.kind() {
        io::ErrorKind::InvalidInput => Some(EINVAL),
        _ => None,
    });
    let text = match error.raw_os_error() {
        // Without the number, which Python puts before it.
        Some(_) => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
        None => error.to_string(),
    };
    match number {
        // Python knows which of its own numbers a number of Windows is.
        Some(number) if cfg!(windows) && error.raw_os_error().is_some() => {
            PyOSError::new_err((0, text, path.to_owned(), number))
        }
        Some(number) => PyOSError::new_err((number, text, path.to_owned())),
        None => PyOSError::new_err(format!("{}: {text}", path.display())),
    }
}

const EINVAL: i32 = 22;

/// What an export counts.
pub(super) const ROWS: &str = "rows";
/// What a trend counts.
pub(super) const SLICES: &str = "slices";

/// What shows how far something is, of so many `unit`s at most, where that is wanted.
pub(super) fn progress(
    py: Python<'_>,
    wanted: Option<bool>,
    most: Option<u64>,
    unit: &str,
) -> PyResult<Option<Py<PyAny>>> {
    if !wanted.unwrap_or(false) {
        return Ok(None);
    }
    let bar = py.import("docplatform._progress")?.getattr("bar")?.call1((most, unit))?;
    Ok(Some(bar.unbind()))
}

/// A path from Python.
pub(super) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    value.extract().map_err(|_| convert::wrong_type("path", "a str or a path", value))
}
