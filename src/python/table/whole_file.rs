//! Files that are whole or not there, for libraries that write files themselves.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use crate::python::listing::collect::{self, os_error};
use crate::python::prelude::*;
use crate::table::files;

/// A file that is not in its place yet, for libraries that write files themselves: see `files.rs`.
#[pyclass(frozen, module = "docplatform._native", name = "_WholeFile")]
pub struct PyWholeFile(Mutex<Option<files::WholeFile>>, PathBuf);

#[pymethods]
impl PyWholeFile {
    #[new]
    #[pyo3(signature = (path, *, aside = None))]
    pub fn new(path: &Object<'_>, aside: Option<PathBuf>) -> PyResult<Self> {
        let path = collect::path_of("path", path)?;
        let file = files::WholeFile::create_in(aside.as_deref(), &path)
            .map_err(|error| os_error(&path, &error))?;
        Ok(Self(Mutex::new(Some(file)), path))
    }

    /// The path at which it can be opened until then.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.file().as_ref().map(|file| file.path().to_owned())
    }
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        let (file, path) = self.take()?;
        py.detach(|| file.commit())
            .map_err(|error| os_error(&path, &error))
    }

    /// Removes it, unless it was put in its place.
    fn discard(&self) {
        let file = self.file().take();
        drop(file);
    }

    fn __enter__(file: Py<Self>) -> Py<Self> {
        file
    }

    /// After an error it is removed, and the system's error names it: a library's own may name no
    /// file.
    fn __exit__(
        &self,
        _kind: &Object<'_>,
        error: &Object<'_>,
        _traceback: &Object<'_>,
    ) -> PyResult<()> {
        if error.is_none() {
            return Ok(());
        }
        self.discard();
        let py = error.py();
        if error.is_instance_of::<PyOSError>()
            && error.getattr("filename")?.is_none()
            && let Ok(number) = error.getattr("errno")?.extract()
        {
            let named = os_error(&self.1, &io::Error::from_raw_os_error(number));
            for attribute in ["strerror", "filename"] {
                error.setattr(attribute, named.value(py).getattr(attribute)?)?;
            }
        }
        Ok(())
    }
}

impl PyWholeFile {
    /// The file itself, and where it is to stand.
    pub fn take(&self) -> PyResult<(files::WholeFile, PathBuf)> {
        let file = self.file().take();
        let file = file.ok_or_else(|| {
            PyRuntimeError::new_err("this file was committed or discarded before")
        })?;
        Ok((file, self.1.clone()))
    }

    fn file(&self) -> MutexGuard<'_, Option<files::WholeFile>> {
        crate::lock(&self.0)
    }
}
