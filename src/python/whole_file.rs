//! Files that are whole or not there, for libraries that write files themselves.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use super::collect::{self, os_error};
use crate::files;

/// A file under a temporary name, for libraries that write files themselves: see `files.rs`.
#[pyclass(frozen, module = "docplatform._native", name = "_WholeFile")]
pub(super) struct WholeFile(Mutex<Option<files::WholeFile>>, PathBuf);

#[pymethods]
impl WholeFile {
    #[new]
    #[pyo3(signature = (path, *, aside = None))]
    pub(super) fn new(path: &Bound<'_, PyAny>, aside: Option<PathBuf>) -> PyResult<Self> {
        let path = collect::path(path)?;
        let file =
            files::WholeFile::create_in(aside.as_deref(), &path).map_err(|error| os_error(&path, &error))?;
        Ok(Self(Mutex::new(Some(file)), path))
    }

    /// The temporary name.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.file().as_ref().map(|file| file.path().to_owned())
    }

    /// Puts it in the target's place.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.file().take();
        let commit = || file.map_or(Ok(()), files::WholeFile::commit);
        py.detach(commit).map_err(|error| os_error(&self.1, &error))
    }

    /// Removes it, unless it was put in its place.
    fn discard(&self) {
        let file = self.file().take();
        drop(file);
    }
}

impl WholeFile {
    fn file(&self) -> MutexGuard<'_, Option<files::WholeFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
