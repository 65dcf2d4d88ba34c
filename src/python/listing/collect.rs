//! The ends of an export: a table, a frame of another library, or a file.

use std::io;
use std::path::PathBuf;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::OwnedMutexGuard;

use crate::error::{Error, Result};
use crate::export::file::{self, WrittenFile};
use crate::export::observer::ExportObserver;
use crate::export::stream::{ExportStream, Remainder};
use crate::python::bridge::cancel::add_note;
use crate::python::bridge::operation::Then;
use crate::python::listing::reader::{Kept, RowReader};
use crate::python::prelude::*;
use crate::python::table as tables;
use crate::python::table::data::Meta;
use crate::python::table::whole_file::PyWholeFile;
use crate::table::files;
use crate::table::formats::Format;
use crate::text::io_words;
use crate::text::message::Advice;

/// The result of an operation on the stream, which stays locked.
type Worked<T> = (OwnedMutexGuard<ExportStream>, Result<T>);

impl RowReader {
    /// An operation on everything left. It closes the current page, and begins with its remaining
    /// rows.
    fn work<T: Send + 'static>(
        self: &Arc<Self>,
        name: &'static str,
        work: impl for<'a> FnOnce(
            &'a mut ExportStream,
            Remainder,
            Arc<dyn ExportObserver>,
        ) -> BoxFuture<'a, Result<T>>
        + Send
        + 'static,
        finish: impl FnOnce(Python<'_>, Worked<T>) -> PyResult<Next> + Send + 'static,
    ) -> PyResult<Operation> {
        self.begin()?;
        self.handle.client()?;
        let reader = Arc::clone(self);
        let begin = move |inbox: Arc<Inbox>| {
            // On the caller's thread: the client may have been closed since the call.
            let (stream, _) = reader.stream();
            let client = reader.handle.client();
            async move {
                client?;
                let mut stream = stream.lock_owned().await;
                let result = work(&mut stream, reader.close_page(), inbox).await;
                Ok((stream, result))
            }
        };
        Ok(Operation::new(name, begin, finish)
            .hooks(Arc::clone(&self.handle.hooks))
            .among(&self.active)
            .on_error(self.tell_checkpoint()))
    }
}

/// The form in which a table is handed out.
pub enum TableEnd {
    Itself,
    /// The rows as dicts, which are made while further pages are on their way.
    Dicts,
    /// The result of a function of `docplatform._hooks.frames`.
    Frame(&'static str),
    /// A file that a library writes, for this way of `docplatform._hooks.frames`.
    Encoded(&'static str, Box<PyWholeFile>),
}

/// Reads all that is left into a table, and makes of it what is wanted. Where a frame cannot be
/// made, the error has the table; where a file cannot, the rows stay for the next call.
pub fn table(
    py: Python<'_>,
    reader: &Arc<RowReader>,
    name: &'static str,
    end: TableEnd,
) -> PyResult<Operation> {
    let owner = Arc::clone(reader);
    // Out of a file export comes no table: its rows stay for the next call.
    let is_file = matches!(end, TableEnd::Encoded(..));
    let dicts = matches!(end, TableEnd::Dicts).then(|| PyList::empty(py).unbind());
    let list = dicts.as_ref().map(|list| list.clone_ref(py));
    let mut op = reader.work(
        name,
        move |stream, left, observer| {
            async move {
                match stream.gather(left, &observer).await? {
                    (_, Some(error)) if is_file => Err(error),
                    made => Ok(made),
                }
            }
            .boxed()
        },
        move |py, (mut stream, result)| {
            let (made, broken) = match result {
                Ok(made) => made,
                Err(error) => return Err(failed(py, &owner, &stream, error)?),
            };
            let rows = made.len() as u64;
            let meta = Meta::new(&owner.listing(), &stream, &made);
            let table = tables::wrap(py, made, meta)?.into_bound(py);
            if let Some(error) = broken {
                let fails_again = fails_again(&error);
                let error = errors::to_py(py, error);
                owner.handed(rows, false, &mut stream);
                carry(&owner, error.value(py), &table)?;
                if rows > 0 {
                    let rows = "error.partial has the rows that came";
                    let rest = "; pass error.checkpoint as resume= to fetch the rest";
                    let how = how_to_continue(&owner, fails_again, rows, rest);
                    add_note(py, &error, &how);
                }
                return Err(error);
            }
            // A Ctrl-C that came meanwhile strikes while the rows are still the next call's.
            py.check_signals()?;
            let frames = import(py, "docplatform._hooks.frames")?;
            let partial = import(py, "functools")?.getattr("partial")?;
            let active = Arc::clone(&owner.active);
            let (call, then): (_, Then) = match end {
                TableEnd::Itself | TableEnd::Dicts => {
                    owner.handed(rows, true, &mut stream);
                    let made = dicts.map_or_else(|| table.unbind(), Py::into_any);
                    return Ok(Next::Value(made));
                }
                TableEnd::Frame(frame) => {
                    let call = partial.call_out((
                        frames.getattr("attempt")?,
                        frames.getattr(frame)?,
                        &table,
                    ))?;
                    let table = table.unbind();
                    let then = move |py: Python<'_>, made: Py<PyAny>| {
                        let (made, error): (Py<PyAny>, Option<Py<PyAny>>) = made.extract(py)?;
                        owner.handed(rows, true, &mut stream);
                        let Some(error) = error else {
                            return Ok(Next::Value(made));
                        };
                        carry(&owner, error.bind(py), table.bind(py))?;
                        Err(PyErr::from_value(error.into_bound(py)))
                    };
                    (call, Box::new(then))
                }
                TableEnd::Encoded(way, file) => {
                    let file = Bound::new(py, *file)?;
                    let call = partial.call_out((frames.getattr("encode")?, way, table, &file))?;
                    let file = file.unbind();
                    let then = move |_: Python<'_>, made: Py<PyAny>| {
                        let (file, path) = file.get().take()?;
                        let arrived = move |_: Python<'_>| {
                            owner.handed(rows, true, &mut stream);
                            Ok(made)
                        };
                        Ok(Next::Then(
                            commit(name, path, || file.commit(), arrived).among(&active),
                        ))
                    };
                    (call, Box::new(then))
                }
            };
            Ok(Next::Offload {
                call: call.unbind(),
                then,
            })
        },
    )?;
    op.callbacks.rows = list;
    Ok(op)
}

/// Whether the same call would fail in the same way.
fn fails_again(error: &Error) -> bool {
    let advice = error.message.advice();
    matches!(
        advice,
        Some(Advice::ReadFromBeginning {} | Advice::NotStrict {})
    )
}

/// What to do after an export broke off. Without a store, `rows` says where its rows are, and
/// `rest` how to get the rest.
fn how_to_continue(reader: &Arc<RowReader>, fails_again: bool, rows: &str, rest: &str) -> String {
    match reader.kept() {
        Kept::InStore { refresh } if refresh || fails_again => {
            "what was fetched is in the store".into()
        }
        Kept::Never | Kept::WithStore if fails_again => rows.into(),
        Kept::InStore { .. } => {
            "what was fetched is in the store: make the same call again to continue".into()
        }
        Kept::Never => format!("{rows}{rest}"),
        Kept::WithStore => format!(
            "{rows}{rest}. With a client that has store= it is kept, and the same call continues"
        ),
    }
}

/// Has an error carry the rows that came, and the checkpoint after them.
fn carry(reader: &Arc<RowReader>, error: &Object<'_>, table: &Object<'_>) -> PyResult<()> {
    error.setattr("partial", table)?;
    error.setattr("checkpoint", reader.checkpoint())
}

/// Writes all that is left into a file; its value is the number of rows.
pub fn file(
    reader: &Arc<RowReader>,
    name: &'static str,
    path: &Object<'_>,
    format: Format,
) -> PyResult<Operation> {
    let owner = Arc::clone(reader);
    let path = path_of("path", path)?;
    let target = path.clone();
    reader.work(
        name,
        move |stream, left, observer| {
            async move { stream.write(left, target, format, &observer).await }.boxed()
        },
        move |py, (mut stream, result)| {
            let written = match result {
                Ok(written) => written.map_err(|error| os_error(&path, &error))?,
                Err(error) => return Err(failed(py, &owner, &stream, error)?),
            };
            let WrittenFile { file, rows } = written;
            // Only here: a caller that was interrupted before finds what was there before. The
            // stream is kept meanwhile: until the caller knows of the file, no other caller gets
            // its rows.
            let active = Arc::clone(&owner.active);
            let arrived = move |py: Python<'_>| {
                owner.handed(rows, true, &mut stream);
                rows.into_py_any(py)
            };
            Ok(Next::Then(
                commit(name, path, || file.commit(), arrived).among(&active),
            ))
        },
    )
}

/// Has `commit` put a file in its place, on a thread of its own; its value is what `then` makes.
fn commit(
    name: &'static str,
    path: PathBuf,
    commit: impl FnOnce() -> io::Result<()> + Send + 'static,
    then: impl FnOnce(Python<'_>) -> Returned + Send + 'static,
) -> Operation {
    Operation::new(
        name,
        move |_| async move { Ok(file::run_blocking(commit).await) },
        move |py, committed| {
            committed.map_err(|error| os_error(&path, &error))?;
            then(py).map(Next::Value)
        },
    )
}

/// An error of the service, which tells where the export stands.
fn failed(
    py: Python<'_>,
    reader: &Arc<RowReader>,
    stream: &ExportStream,
    error: Error,
) -> PyResult<PyErr> {
    let failed = error.attempts.iter().filter(|attempt| attempt.sent).count() as u64;
    let fails_again = fails_again(&error);
    let error = errors::to_py(py, error);
    reader.tell_checkpoint()(error.value(py).as_any())?;
    if stream.requests() > failed {
        let lost = "no file was written, and what was fetched is lost";
        let how = how_to_continue(reader, fails_again, lost, "");
        add_note(py, &error, &how);
    }
    Ok(error)
}

/// An error of the file system, with its number, so that Python makes the right class of it.
pub fn os_error(path: &std::path::Path, error: &io::Error) -> PyErr {
    let number = error.raw_os_error().or(match error.kind() {
        io::ErrorKind::InvalidInput => Some(files::EINVAL),
        _ => None,
    });
    // Python puts the number before it.
    let text = io_words(error);
    // A name as text: a `pathlib.Path` would have to be imported, which fails where the process is
    // out of descriptors.
    match number {
        // Python knows which of its own numbers a number of Windows is.
        Some(number) if cfg!(windows) && error.raw_os_error().is_some() => {
            PyOSError::new_err((0, text, path.as_os_str().to_owned(), number))
        }
        Some(number) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => PyOSError::new_err(format!("{}: {text}", path.display())),
    }
}

pub fn path_of(what: &str, value: &Object<'_>) -> PyResult<PathBuf> {
    value.extract().map_err(|error: PyErr| {
        let py = value.py();
        match error.is_instance_of::<PyValueError>(py) {
            true => convert::wrong(what, format!(" cannot be a path: {}", error.value(py))),
            false => convert::wrong_type(what, "a str or a path", value),
        }
    })
}
