//! `Job`: data, not a handle. Clients act.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use crate::client::observer::UnrecordedJob;
use crate::job::{self, NamedJob};
use crate::python::prelude::*;
use crate::python::progress;

#[doc = doc!("Job")]
#[pyclass(frozen, name = "Job", module = "docplatform", skip_from_py_object)]
#[derive(Clone)]
pub struct PyJob(job::Job);

pub fn wrap(py: Python<'_>, job: job::Job) -> Returned {
    PyJob(job).into_py_any(py)
}

/// The job of an argument, and its project: the one named, or the job's own. `None` means the
/// client's.
pub fn argument<'a>(
    value: &'a Object<'_>,
    named: Option<&'a str>,
) -> PyResult<(NamedJob, Option<&'a str>)> {
    if let Ok(job) = value.cast::<PyJob>() {
        let job = &job.get().0;
        let known = NamedJob {
            id: job.id.clone(),
            last: Some(job.clone()),
        };
        return Ok((known, named.or(Some(job.project.as_str()))));
    }
    let id = convert::text("job (a Job or its id)", value)?;
    let id = Segment::parse("the job's id", &id)?;
    Ok((NamedJob { id, last: None }, named))
}

getters! {
    PyJob as Job, |slf, py| job = &slf.get().0;
    id = job.id.as_str();
    status = job.status.as_str();
    source = convert::named_tuple(py, "Source", (job.repository.as_deref(), job.reference.as_deref()))?;
    model = job.model.as_deref();
    pr_link = job.pr_link.as_deref();
    created_at = job.created_at.map(|at| datetime(py, at)).transpose()?;
    archived_at = job.archived_at.map(|at| datetime(py, at)).transpose()?;
    project_id = job.project.as_str();
    is_final = job.is_final();
    raw = convert::json_out(py, &job.raw)?;
}

#[pymethods]
impl PyJob {
    #[doc = doc!("Job.to_dict")]
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(slf.py());
        for name in [
            "id",
            "status",
            "source",
            "model",
            "pr_link",
            "created_at",
            "archived_at",
            "project_id",
            "is_final",
        ] {
            let value = slf.getattr(name)?;
            let value = match name {
                "source" => value.call_method_out("_asdict", ())?,
                _ => value,
            };
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let link = self.0.pr_link.as_ref();
        let link = link.map_or("None".to_owned(), |link| format!("'{}'", safe(link, 200)));
        format!(
            "Job(id='{}', status='{}', pr_link={link})",
            self.0.id.shown(),
            safe(&self.0.status, 60),
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> Returned {
        convert::call_hook(slf.py(), "notebook", "job", (slf,))
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        self.0 == other.get().0
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let job = &self.0;
        (job.project.as_str(), job.id.as_str(), &job.status).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Object<'py>, (String, String))> {
        let job = &slf.get().0;
        let load = import(slf.py(), "docplatform._native")?.getattr("_job")?;
        Ok((load, (job.raw.to_string(), job.project.as_str().to_owned())))
    }
}

/// Makes a job again from what its pickle carries.
#[pyfunction]
pub fn _job(raw: &str, project_id: &str) -> PyResult<PyJob> {
    let project = Segment::parse(Setting::ProjectId, project_id)?;
    let raw =
        serde_json::from_str(raw).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let job = job::Job::from_value(raw, project).map_err(PyValueError::new_err)?;
    Ok(PyJob(job))
}

/// An aware `datetime` in UTC, to the microsecond.
pub fn datetime(py: Python<'_>, at: Timestamp) -> PyResult<Object<'_>> {
    let text = format!("{at:.6}").replace('Z', "+00:00");
    import(py, "datetime")?
        .getattr("datetime")?
        .call_method_out("fromisoformat", (text,))
}

/// Warns of a status that this client does not know, where the user's code made the call.
pub fn warn_status(py: Python<'_>, text: &str, status: &str, job: String) -> PyResult<()> {
    let status = status.to_owned();
    let message = message![text.to_owned(), Advice::EndAtStatus { status, job }];
    progress::warn(&errors::of_class(py, "DataWarning", &message)?, 1)
}

/// Warns of a job that the store could not record, where the user's code made the call.
pub fn warn_unrecorded(py: Python<'_>, text: &str, unrecorded: &UnrecordedJob) -> PyResult<()> {
    let advice = Advice::RecordJob {
        name: unrecorded.name.clone(),
        job: unrecorded.job.clone(),
    };
    let message = message![text.to_owned(), advice];
    let warning = errors::of_class(py, "UnrecordedJobWarning", &message)?;
    for (name, value) in [
        ("name", &unrecorded.name),
        ("job_id", &unrecorded.job),
        ("reason", &unrecorded.why),
    ] {
        warning.setattr(name, value)?;
    }
    progress::warn(&warning, 1)
}
