//! Operations on jobs: create, get, message, wait, follow up.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::client::Client;
use crate::config::url::Segment;
use crate::job::Job;
use crate::job::wait::{self, Target, WaitOptions};
use crate::python::bridge::op::{Next, Op};
use crate::python::bridge::port::Port;
use crate::python::client::handle::Handle;
use crate::python::client::ops::of_client;
use crate::python::job::{self, JobArgument};
use crate::python::{convert, errors};

/// Where an operation's job is: the project and the id.
struct Place {
    project: Segment,
    job: JobArgument,
}

impl Place {
    fn find(handle: &Arc<Handle>, job: &Bound<'_, PyAny>, project_id: Option<&str>) -> PyResult<Self> {
        let client = handle.client()?;
        let job = JobArgument::parse(job)?;
        let project = client.project(job.project(project_id))?;
        Ok(Self { project, job })
    }
}

fn finish(py: Python<'_>, job: Job) -> PyResult<Next> {
    job::wrap(py, job).map(Next::Value)
}

pub(crate) fn create_job(
    name: &'static str,
    handle: &Arc<Handle>,
    prompt: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    errors::not_sent(
        prompt.py(),
        (|| {
            let client = handle.client()?;
            let prompt = convert::prompt(prompt)?;
            let project = client.project(project_id)?;
            let create = move |client: Client, port: Arc<Port>| async move {
                crate::job::create(&client, project, prompt, &*port).await
            };
            Ok(of_client(name, handle, create, finish).writing())
        })(),
    )
}

pub(crate) fn get_job(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let Place { project, job } = Place::find(handle, job, project_id)?;
    let get = move |client: Client, port: Arc<Port>| async move {
        crate::job::get(&client, &project, job.id(), None, &*port).await
    };
    Ok(of_client(name, handle, get, finish))
}

pub(crate) fn send_message(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    prompt: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    errors::not_sent(
        prompt.py(),
        (|| {
            let Place { project, job } = Place::find(handle, job, project_id)?;
            let prompt = convert::prompt(prompt)?;
            let id = job.id().clone();
            let send = move |client: Client, port: Arc<Port>| async move {
                crate::job::message(&client, project, id, prompt, &*port).await
            };
            Ok(of_client(name, handle, send, finish).writing())
        })(),
    )
}

pub(crate) fn wait_for_job(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    how: WaitOptions,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let how = how.validate()?;
    let Place { project, job } = Place::find(handle, job, project_id)?;
    let target =
        Target { project, id: job.id().clone(), last: job.snapshot(), rest_first: false, prompt: None };
    let wait =
        move |client: Client, port: Arc<Port>| async move { wait::wait(&client, target, how, &*port).await };
    Ok(of_client(name, handle, wait, finish))
}

pub(crate) fn run_job(
    name: &'static str,
    handle: &Arc<Handle>,
    prompt: &Bound<'_, PyAny>,
    how: WaitOptions,
    project_id: Option<&str>,
) -> PyResult<Op> {
    errors::not_sent(
        prompt.py(),
        (|| {
            let how = how.validate()?;
            let client = handle.client()?;
            let prompt = convert::prompt(prompt)?;
            let project = client.project(project_id)?;
            let run = move |client: Client, port: Arc<Port>| async move {
                let job = crate::job::create(&client, project, prompt.clone(), &*port).await?;
                wait::wait(&client, Target::just_written(job, prompt), how, &*port).await
            };
            Ok(of_client(name, handle, run, finish).writing())
        })(),
    )
}

pub(crate) fn follow_up(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    prompt: &Bound<'_, PyAny>,
    how: WaitOptions,
    project_id: Option<&str>,
) -> PyResult<Op> {
    errors::not_sent(
        prompt.py(),
        (|| {
            let how = how.validate()?;
            let Place { project, job } = Place::find(handle, job, project_id)?;
            let prompt = convert::prompt(prompt)?;
            let id = job.id().clone();
            let run = move |client: Client, port: Arc<Port>| async move {
                let job = crate::job::message(&client, project, id, prompt.clone(), &*port).await?;
                wait::wait(&client, Target::just_written(job, prompt), how, &*port).await
            };
            Ok(of_client(name, handle, run, finish).writing())
        })(),
    )
}
