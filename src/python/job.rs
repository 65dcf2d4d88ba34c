//! `Job`: data, not a handle. Clients act.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::config::url::Segment;
use crate::job;
use crate::python::convert;

#[doc = doc!("Job")]
#[pyclass(frozen, name = "Job", module = "docplatform", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct PyJob {
    pub(crate) inner: job::Job,
}

/// A core job as its Python object.
pub(crate) fn wrap(py: Python<'_>, job: job::Job) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyJob { inner: job })?.into_any())
}

/// The job that an argument names: a `Job` or its id.
pub(crate) enum JobArgument {
    /// A snapshot.
    Job(Box<job::Job>),
    /// An id.
    Id(Segment),
}

impl JobArgument {
    pub(crate) fn parse(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(job) = value.cast::<PyJob>() {
            return Ok(Self::Job(Box::new(job.get().inner.clone())));
        }
        Ok(Self::Id(Segment::parse("the job's id", &convert::text("job (a Job or its id)", value)?)?))
    }

    pub(crate) fn id(&self) -> &Segment {
        match self {
            Self::Job(job) => &job.id,
            Self::Id(id) => id,
        }
    }

    pub(crate) fn snapshot(self) -> Option<job::Job> {
        match self {
            Self::Job(job) => Some(*job),
            Self::Id(_) => None,
        }
    }

    /// The project: the one named, or the job's own; `None` leaves it to the client.
    pub(crate) fn project<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or(match self {
            Self::Job(job) => Some(job.project.as_str()),
            Self::Id(_) => None,
        })
    }
}

#[pymethods]
impl PyJob {
    #[doc = doc!("Job.id")]
    #[getter]
    fn id(&self) -> &str {
        self.inner.id.as_str()
    }

    #[doc = doc!("Job.status")]
    #[getter]
    fn status(&self) -> &str {
        &self.inner.status
    }

    #[doc = doc!("Job.source")]
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::named_tuple(py, "Source")?
            .call1((self.inner.repository.as_deref(), self.inner.reference.as_deref()))
    }

    #[doc = doc!("Job.model")]
    #[getter]
    fn model(&self) -> Option<&str> {
        self.inner.model.as_deref()
    }

    #[doc = doc!("Job.pr_link")]
    #[getter]
    fn pr_link(&self) -> Option<&str> {
        self.inner.pr_link.as_deref()
    }

    #[doc = doc!("Job.created_at")]
    #[getter]
    fn created_at<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner.created_at.map(|at| datetime(py, at)).transpose()
    }

    #[doc = doc!("Job.archived_at")]
    #[getter]
    fn archived_at<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner.archived_at.map(|at| datetime(py, at)).transpose()
    }

    #[doc = doc!("Job.project_id")]
    #[getter]
    fn project_id(&self) -> &str {
        self.inner.project.as_str()
    }

    #[doc = doc!("Job.is_final")]
    #[getter]
    fn is_final(&self) -> bool {
        self.inner.is_final()
    }

    #[doc = doc!("Job.raw")]
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::json_out(py, &self.inner.raw)
    }

    #[doc = doc!("Job.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let source = PyDict::new(py);
        source.set_item("repository", self.inner.repository.as_deref())?;
        source.set_item("ref", self.inner.reference.as_deref())?;
        let dict = PyDict::new(py);
        dict.set_item("id", self.id())?;
        dict.set_item("status", self.status())?;
        dict.set_item("source", source)?;
        dict.set_item("model", self.model())?;
        dict.set_item("pr_link", self.pr_link())?;
        dict.set_item("created_at", self.created_at(py)?)?;
        dict.set_item("archived_at", self.archived_at(py)?)?;
        dict.set_item("project_id", self.project_id())?;
        dict.set_item("is_final", self.is_final())?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let link = self
            .pr_link()
            .map_or_else(|| "None".to_owned(), |link| format!("'{}'", crate::text::safe(link, 200)));
        format!(
            "Job(id='{}', status='{}', pr_link={link})",
            crate::text::safe(self.id(), 256),
            crate::text::safe(self.status(), 60),
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("docplatform._hooks.notebook")?.getattr("job")?.call1((slf,))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> Option<bool> {
        other.cast::<Self>().ok().map(|other| self.inner == other.get().inner)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.project_id(), self.id(), self.status()).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let job = &slf.get().inner;
        let load = slf.py().import("docplatform._native")?.getattr("_job")?;
        Ok((load, (job.raw.to_string(), job.project.as_str().to_owned())))
    }
}

/// Makes a job again from what its pickle carries.
#[pyfunction]
pub(crate) fn _job(raw: &str, project_id: &str) -> PyResult<PyJob> {
    let project = Segment::parse("project_id", project_id)?;
    let raw = serde_json::from_str(raw).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let inner = job::Job::from_value(raw, project).map_err(PyValueError::new_err)?;
    Ok(PyJob { inner })
}

/// An aware `datetime` in UTC, to the microsecond.
pub(crate) fn datetime(py: Python<'_>, at: Timestamp) -> PyResult<Bound<'_, PyAny>> {
    static FROM_ISO: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let text = format!("{at:.6}").replace('Z', "+00:00");
    FROM_ISO.import(py, "datetime", "datetime")?.call_method1("fromisoformat", (text,))
}
