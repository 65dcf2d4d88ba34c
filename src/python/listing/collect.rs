//! What ends an export: a table, a frame of some library, or a file.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt as _;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use tokio::sync::OwnedMutexGuard;

use crate::error::Error;
use crate::export::file::{self, Written};
use crate::export::gather::Finished;
use crate::python::bridge::op::{Next, Op};
use crate::python::convert;
use crate::python::errors;
use crate::python::listing::cursor::{Cursor, Worked};
use crate::python::listing::engine::Engine;
use crate::python::table::VisitorTable;
use crate::python::table::data::Meta;
use crate::python::table::whole_file::WholeFile;
use crate::table::formats::Format;

/// What becomes of a table in the end.
pub(crate) enum Into {
    Itself,
    /// The rows as dicts, which were made as their pages came.
    Dicts(Py<PyList>),
    /// What a function of `docplatform._hooks.frames` makes of it.
    Frame(&'static str),
    /// A Parquet file.
    Parquet(Box<WholeFile>),
}

/// Rows on their way to their caller, who alone has the engine. Should the caller leave before it has them, they go back.
struct OnTheWay {
    engine: OwnedMutexGuard<Engine>,
    finished: Option<Finished>,
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        if let Some(finished) = self.finished.take() {
            self.engine.put_back(finished);
        }
    }
}

impl OnTheWay {
    /// The caller has them.
    fn arrived(mut self, cursor: &Cursor, ended: bool) {
        if let Some(finished) = self.finished.take() {
            cursor.handed(finished.table().len() as u64, finished.mark(), ended, &self.engine);
        }
    }
}

/// Reads all that is left into a table, and makes of it what is wanted; where that fails, no row was handed out.
pub(crate) fn table(
    cursor: &Arc<Cursor>,
    name: &'static str,
    progress: Option<Py<PyAny>>,
    into: Into,
) -> PyResult<Op> {
    let owner = Arc::clone(cursor);
    let op = cursor.work(
        name,
        |engine, _, observer| async move { Ok(engine.collect(&observer).await) }.boxed(),
        move |py, Worked { mut engine, result }| {
            let broken = result.and_then(|read| read).err();
            if let (Some(error), Into::Parquet(_)) = (&broken, &into) {
                // Its rows stay for whoever goes on.
                return Err(failed(py, &owner, error.clone())?);
            }
            let gathered = engine.take_gathered();
            let finished = py.detach(|| gathered.finish());
            let meta = Meta::new(&owner.listing(), &engine);
            let table = VisitorTable::new(Arc::clone(finished.table()), meta);
            let way = OnTheWay { engine, finished: Some(finished) };
            let table = Bound::new(py, table)?;
            if let Some(error) = broken {
                way.arrived(&owner, false);
                let error = failed(py, &owner, error)?;
                if error.value(py).hasattr("partial")? {
                    error.value(py).setattr("partial", table)?;
                }
                return Err(error);
            }
            let frames = |name| py.import("docplatform._hooks.frames")?.getattr(name);
            let partial = py.import("functools")?.getattr("partial")?;
            let (call, file) = match into {
                Into::Itself => {
                    way.arrived(&owner, true);
                    return Ok(Next::Value(table.into_any().unbind()));
                }
                Into::Dicts(list) => {
                    way.arrived(&owner, true);
                    return Ok(Next::Value(list.into_any()));
                }
                Into::Frame(frame) => (partial.call1((frames(frame)?, table))?, None),
                Into::Parquet(file) => {
                    let file = Bound::new(py, *file)?;
                    let call = partial.call1((frames("encode_parquet")?, table, &file))?;
                    (call, Some(file.unbind()))
                }
            };
            let call = call.unbind();
            let inside = Arc::clone(owner.inside());
            let then = move |py: Python<'_>, made: Py<PyAny>| {
                let arrived = move |_: Python<'_>| {
                    way.arrived(&owner, true);
                    Ok(made)
                };
                let Some(file) = file else {
                    return arrived(py).map(Next::Value);
                };
                let (file, path) = file.get().take()?;
                Ok(Next::Then(commit(name, path, || file.commit(), arrived).inside(&inside)))
            };
            Ok(Next::Aside { call, then: Box::new(then) })
        },
    )?;
    Ok(op.progress(progress))
}

/// Reads all that is left into a list of dicts, which are made while further pages are on their way.
pub(crate) fn dicts(
    py: Python<'_>,
    cursor: &Arc<Cursor>,
    name: &'static str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Op> {
    let list = PyList::empty(py).unbind();
    let made = list.clone_ref(py);
    let op = table(cursor, name, progress, Into::Dicts(made))?;
    Ok(op.rows(list))
}

/// Writes all that is left into a file; its value is the number of rows.
pub(crate) fn file(
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
            // Only here: whoever was interrupted before finds what was there before. The engine is kept meanwhile: until
            // the caller knows of the file, nobody else is to have its rows.
            let inside = Arc::clone(owner.inside());
            let arrived = move |py: Python<'_>| {
                engine.keep();
                owner.handed(rows, mark.as_deref(), true, &engine);
                Ok(rows.into_pyobject(py)?.into_any().unbind())
            };
            Ok(Next::Then(commit(name, path, || file.commit(), arrived).inside(&inside)))
        },
    )?;
    Ok(op.progress(progress))
}

/// Has `commit` put a file in its place, on a thread that nobody waits for; its value is what `then` makes.
fn commit(
    name: &'static str,
    path: PathBuf,
    commit: impl FnOnce() -> io::Result<()> + Send + 'static,
    then: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
) -> Op {
    let work = move |_| async move { Ok(file::aside(commit).await) };
    Op::new(name, work, move |py, committed: io::Result<()>| {
        committed.map_err(|error| os_error(&path, &error))?;
        then(py).map(Next::Value)
    })
}

/// An error of the service, which tells where the export stands.
fn failed(py: Python<'_>, cursor: &Arc<Cursor>, error: Error) -> PyResult<PyErr> {
    let error = errors::to_py(py, error);
    cursor.tell_checkpoint()(error.value(py).as_any())?;
    Ok(error)
}

/// An error of the file system, with its number, so that Python makes the right class of it.
pub(crate) fn os_error(path: &std::path::Path, error: &io::Error) -> PyErr {
    let number = error.raw_os_error().or(match error.kind() {
        io::ErrorKind::InvalidInput => Some(EINVAL),
        _ => None,
    });
    let text = match error.raw_os_error() {
        // Without the number, which Python puts before it.
        Some(_) => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
        None => error.to_string(),
    };
    // A name as text: a `pathlib.Path` would have to be imported, which fails where the process is out of descriptors.
    match number {
        // Python knows which of its own numbers a number of Windows is.
        Some(number) if cfg!(windows) && error.raw_os_error().is_some() => {
            PyOSError::new_err((0, text, path.as_os_str().to_owned(), number))
        }
        Some(number) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => PyOSError::new_err(format!("{}: {text}", path.display())),
    }
}

const EINVAL: i32 = 22;

/// A path from Python.
pub(crate) fn path(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    value.extract().map_err(|_| convert::wrong_type("path", "a str or a path", value))
}
