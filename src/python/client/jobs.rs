//! The client's methods for agent jobs.

use crate::clock::timestamp;
use crate::job::batch::{self, Batch};
use crate::job::once::OnceName;
use crate::job::wait::{self, Target, WaitOptions};
use crate::job::{self, NamedJob, Prompt};
use crate::python::batch::BatchResults;
use crate::python::client::BaseClient;
use crate::python::job::{argument as job_argument, datetime, wrap as wrap_job};
use crate::python::prelude::*;
use crate::python::progress;
use crate::store::NameState;

#[pymethods]
impl BaseClient {
    #[doc = signed!(create_job)]
    #[pyo3(signature = (prompt, *, once = None, on_budget = WaitOrStop::Wait, project_id = None), text_signature = None)]
    fn create_job(
        &self,
        py: Python<'_>,
        prompt: &Object<'_>,
        once: Option<&Object<'_>>,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let name = client_method!(create_job);
        self.write_job(name, py, None, prompt, once, on_budget, project_id, None)
    }

    #[doc = signed!(send_message)]
    #[pyo3(signature = (job, prompt, *, once = None, project_id = None), text_signature = None)]
    fn send_message(
        &self,
        py: Python<'_>,
        job: &Object<'_>,
        prompt: &Object<'_>,
        once: Option<&Object<'_>>,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let name = client_method!(send_message);
        self.write_job(
            name,
            py,
            Some(job),
            prompt,
            once,
            WaitOrStop::Wait,
            project_id,
            None,
        )
    }

    #[doc = signed!(run_job)]
    #[pyo3(signature = (prompt, *, once = None, on_budget = WaitOrStop::Wait, project_id = None, **options), text_signature = None)]
    fn run_job(
        &self,
        py: Python<'_>,
        prompt: &Object<'_>,
        once: Option<&Object<'_>>,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Returned {
        let wait = Some(wait_options("run_job", options)?);
        let name = client_method!(run_job);
        self.write_job(name, py, None, prompt, once, on_budget, project_id, wait)
    }

    #[doc = signed!(follow_up)]
    #[pyo3(signature = (job, prompt, *, once = None, project_id = None, **options), text_signature = None)]
    fn follow_up(
        &self,
        py: Python<'_>,
        job: &Object<'_>,
        prompt: &Object<'_>,
        once: Option<&Object<'_>>,
        project_id: Option<ProjectId>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Returned {
        let wait = Some(wait_options("follow_up", options)?);
        let name = client_method!(follow_up);
        self.write_job(
            name,
            py,
            Some(job),
            prompt,
            once,
            WaitOrStop::Wait,
            project_id,
            wait,
        )
    }

    #[doc = doc!("Client.get_job")]
    #[pyo3(signature = (job, *, project_id = None))]
    fn get_job(&self, py: Python<'_>, job: &Object<'_>, project_id: Option<ProjectId>) -> Returned {
        let (project, job) = self.locate(job, project_id.as_deref())?;
        let op = self.op(
            "Client.get_job",
            |client, inbox| async move { job::get(&client, &project, &job.id, None, &*inbox).await },
            |py, (job, _)| wrap_job(py, job),
        );
        self.face.run(py, op)
    }

    #[doc = signed!(wait_for_job)]
    #[pyo3(signature = (job, *, project_id = None, **options), text_signature = None)]
    fn wait_for_job(
        &self,
        py: Python<'_>,
        job: &Object<'_>,
        project_id: Option<ProjectId>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Returned {
        let (how, on_poll) = wait_options("wait_for_job", options)?;
        let how = how.validate()?;
        let (project, NamedJob { id, last }) = self.locate(job, project_id.as_deref())?;
        let target = Target {
            project,
            id,
            last,
            rest_first: false,
            prompt: None,
            is_named: false,
        };
        let op = self.op(
            "Client.wait_for_job",
            move |client, inbox| async move { wait::wait(&client, target, &how, &*inbox).await },
            wrap_job,
        );
        self.face.run(py, op.on_poll(on_poll))
    }

    #[doc = signed!(run_jobs)]
    #[pyo3(signature = (prompts, *, concurrency = 8, once = false, on_done = None, on_budget = WaitOrStop::Wait,
        progress = None, project_id = None, **options),
        text_signature = None)]
    fn run_jobs(
        &self,
        py: Python<'_>,
        prompts: &Object<'_>,
        #[pyo3(from_py_with = convert::concurrency)] concurrency: usize,
        #[pyo3(from_py_with = convert::once)] once: bool,
        #[pyo3(from_py_with = convert::on_done)] on_done: Option<Py<PyAny>>,
        on_budget: WaitOrStop,
        #[pyo3(from_py_with = convert::progress)] progress: Option<bool>,
        project_id: Option<ProjectId>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Returned {
        let (how, _) = wait_options("run_jobs", options)?;
        let prepare = || {
            let client = self.handle.client()?;
            let (names, tasks) = convert::tasks(&client, prompts, once)?;
            Ok((
                how.validate()?,
                client.project(project_id.as_deref())?,
                names,
                tasks,
            ))
        };
        let (how, project, names, tasks) = errors::not_sent(py, prepare())?;
        let most = Some(tasks.len() as u64);
        let bar = progress::bar(py, Some(progress::wanted(py, progress)?), most, "jobs")?;
        let batch = Batch::new(tasks.len());
        let results = Arc::new(BatchResults {
            batch: Arc::clone(&batch),
            names: PyList::new(py, names)?.unbind(),
            results: PyDict::new(py).unbind(),
            on_done,
            also_final: how.also_final.clone(),
        });
        let report = Arc::clone(&results);
        let mut op = self.op(
            "Client.run_jobs",
            move |client, inbox| async move {
                let creating = client.on_budget(on_budget);
                let limits = (concurrency, &how);
                batch::run(&creating, &client, &project, tasks, limits, &batch, &*inbox).await;
                Ok(())
            },
            move |py, ()| report.report(py),
        );
        op.callbacks.batch = Some(results);
        self.face.run(py, op.progress(bar))
    }

    #[doc = doc!("Client.resolve_once")]
    #[pyo3(signature = (name, job, *, project_id = None))]
    fn resolve_once(
        &self,
        py: Python<'_>,
        name: &Object<'_>,
        job: Option<&Object<'_>>,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let name = OnceName::parse(convert::text("name", name)?)?;
        let (project, job) = self.locate_any(job, project_id.as_deref())?;
        let op = self.op(
            "Client.resolve_once",
            |client, _| async move { job::once::resolve(&client, &project, name, job).await },
            |py, ()| Ok(py.None()),
        );
        self.face.run(py, op)
    }

    /// The names of `once=` in a project, for the command line: name, kind, state, job, and when it
    /// was begun.
    #[pyo3(signature = (*, project_id = None))]
    fn _once(&self, py: Python<'_>, project_id: Option<ProjectId>) -> Returned {
        let project = self.handle.client()?.project(project_id.as_deref())?;
        let list = |client, _| async move { job::once::list(&client, &project).await };
        let op = self.op("Client._once", list, |py, listed| {
            let items = listed.into_iter().map(|(creation, state)| {
                let (kind, done, doing) = match &creation.message_to {
                    None => ("creation", "created", "being created"),
                    Some(_) => ("message", "sent", "being sent"),
                };
                let state = match state {
                    NameState::Created => done,
                    NameState::Creating => doing,
                    NameState::Unknown => "unknown",
                };
                let begun = datetime(py, timestamp(creation.begun))?;
                let job = creation.job.map(|job| job.id).or(creation.message_to);
                Ok((creation.key.name, kind, state, job, begun))
            });
            items.collect::<PyResult<Vec<_>>>()?.into_py_any(py)
        });
        self.face.run(py, op)
    }
}

impl BaseClient {
    /// Where a job is: its project, and the job or its id.
    fn locate(&self, job: &Object<'_>, project_id: Option<&str>) -> PyResult<(Segment, NamedJob)> {
        let client = self.handle.client()?;
        let (job, project) = job_argument(job, project_id)?;
        Ok((client.project(project)?, job))
    }

    /// The same for a job that there may be.
    fn locate_any(
        &self,
        job: Option<&Object<'_>>,
        project_id: Option<&str>,
    ) -> PyResult<(Segment, Option<NamedJob>)> {
        match job {
            Some(job) => self
                .locate(job, project_id)
                .map(|(project, job)| (project, Some(job))),
            None => Ok((self.handle.client()?.project(project_id)?, None)),
        }
    }

    /// Sends a prompt to a job, or to a new one, and may `wait` for the job.
    fn write_job(
        &self,
        name: &'static str,
        py: Python<'_>,
        job: Option<&Object<'_>>,
        prompt: &Object<'_>,
        once: Option<&Object<'_>>,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
        wait: Option<(WaitOptions, Option<Py<PyAny>>)>,
    ) -> Returned {
        let (how, on_poll) = wait.unzip();
        self.write(py, || {
            let how = how.map(WaitOptions::validate).transpose()?;
            let (project, job) = self.locate_any(job, project_id.as_deref())?;
            let prompt = Prompt::parse(convert::text("prompt", prompt)?)?;
            let once = convert::once_name(&self.handle.client()?, once)?;
            let is_named = job.is_none() && once.is_some();
            let op = self.op(
                name,
                move |client, inbox| async move {
                    let writer = client.on_budget(on_budget);
                    let (to, text) = (job.map(|job| job.id), prompt.clone());
                    let job = job::once::write(&writer, project, to, text, once, &*inbox).await?;
                    let Some(how) = how else { return Ok(job) };
                    let target = Target {
                        is_named,
                        ..Target::just_written(job, prompt)
                    };
                    wait::wait(&client, target, &how, &*inbox).await
                },
                wrap_job,
            );
            Ok(op.on_poll(on_poll.flatten()))
        })
    }
}

/// The arguments of a wait, and the function that gets each poll.
fn wait_options(
    method: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(WaitOptions, Option<Py<PyAny>>)> {
    let (is_batch, settles) = (method == "run_jobs", method == "follow_up");
    let mut how = WaitOptions {
        timeout: Some(1800.0),
        poll_interval: None,
        max_poll_interval: None,
        check: !is_batch,
        also_final: Vec::new(),
        settle: if settles { 15.0 } else { 0.0 },
    };
    let mut on_poll = None;
    for (name, value) in options.into_iter().flatten() {
        let name = convert::text("an argument's name", &name)?;
        match name.as_str() {
            "timeout" => how.timeout = convert::optional(&name, &value, convert::seconds)?,
            "poll_interval" => how.poll_interval = Some(convert::seconds(&name, &value)?),
            "max_poll_interval" => how.max_poll_interval = Some(convert::seconds(&name, &value)?),
            "final" => how.also_final = convert::final_statuses(&value)?,
            "settle" if settles => how.settle = convert::seconds(&name, &value)?,
            "check" if !is_batch => how.check = convert::flag(&name, &value)?,
            "on_poll" if !is_batch => on_poll = convert::callback(&name, &value)?,
            _ => return Err(convert::unexpected(method, &name)),
        }
    }
    Ok((how, on_poll))
}
