//! Every operation of a client, once for both faces: arguments in, an [`Op`] out.

use std::sync::Arc;

use futures_util::future::Either;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::cursor::{Buying, Cursor};
use super::data::Meta;
use super::handle::Handle;
use super::job::JobArgument;
use super::op::{Next, Op};
use super::plan::planned;
use super::port::Port;
use super::sync::synced;
use super::table::TrendTable;
use super::{convert, job};
use crate::checkpoint::{Checkpoint, check_page_size};
use crate::client::{Answer, Call, Client, OnBudget};
use crate::endpoint::{Segment, Template};
use crate::error::{Error, Outcome, Result};
use crate::gate::Lane;
use crate::jobs::{self, Job};
use crate::pager::{Paging, WINDOW};
use crate::plan;
use crate::slices::{Every, Slice};
use crate::store::What;
use crate::stored;
use crate::sync::{self, OnRunning, Wanted};
use crate::visitors::{self, Listing};
use crate::wait::{self, Target, WaitOptions};

/// The most pages that are asked for ahead.
const MOST_PREFETCH: u32 = 16;

/// An operation of a client, which it asks its handle for when it begins, on the caller's thread: the client may have
/// been closed since the call, or the process forked.
fn of_client<T, F>(
    name: &'static str,
    handle: &Arc<Handle>,
    future: impl FnOnce(Client, Arc<Port>) -> F + Send + 'static,
    finish: impl FnOnce(Python<'_>, T) -> PyResult<Next> + Send + 'static,
) -> Op
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let handle = Arc::clone(handle);
    let begin = move |port| match handle.client() {
        Ok(client) => Either::Left(future(client, port)),
        Err(error) => Either::Right(std::future::ready(Err(error))),
    };
    Op::new(name, begin, finish)
}

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

pub(super) fn create_job(
    name: &'static str,
    handle: &Arc<Handle>,
    prompt: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let client = handle.client()?;
    let prompt = convert::prompt(prompt)?;
    let project = client.project(project_id)?;
    let create = move |client: Client, port: Arc<Port>| async move {
        jobs::create(&client, project, prompt, &*port).await
    };
    Ok(of_client(name, handle, create, finish))
}

pub(super) fn get_job(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let Place { project, job } = Place::find(handle, job, project_id)?;
    let get = move |client: Client, port: Arc<Port>| async move {
        jobs::get(&client, &project, job.id(), None, &*port).await
    };
    Ok(of_client(name, handle, get, finish))
}

pub(super) fn send_message(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    prompt: &Bound<'_, PyAny>,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let Place { project, job } = Place::find(handle, job, project_id)?;
    let prompt = convert::prompt(prompt)?;
    let id = job.id().clone();
    let send = move |client: Client, port: Arc<Port>| async move {
        jobs::message(&client, project, id, prompt, &*port).await
    };
    Ok(of_client(name, handle, send, finish))
}

pub(super) fn wait_for_job(
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

pub(super) fn run_job(
    name: &'static str,
    handle: &Arc<Handle>,
    prompt: &Bound<'_, PyAny>,
    how: WaitOptions,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let how = how.validate()?;
    let client = handle.client()?;
    let prompt = convert::prompt(prompt)?;
    let project = client.project(project_id)?;
    let run = move |client: Client, port: Arc<Port>| async move {
        let job = jobs::create(&client, project, prompt.clone(), &*port).await?;
        wait::wait(&client, Target::just_written(job, prompt), how, &*port).await
    };
    Ok(of_client(name, handle, run, finish))
}

pub(super) fn follow_up(
    name: &'static str,
    handle: &Arc<Handle>,
    job: &Bound<'_, PyAny>,
    prompt: &Bound<'_, PyAny>,
    how: WaitOptions,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let how = how.validate()?;
    let Place { project, job } = Place::find(handle, job, project_id)?;
    let prompt = convert::prompt(prompt)?;
    let id = job.id().clone();
    let run = move |client: Client, port: Arc<Port>| async move {
        let job = jobs::message(&client, project, id, prompt.clone(), &*port).await?;
        wait::wait(&client, Target::just_written(job, prompt), how, &*port).await
    };
    Ok(of_client(name, handle, run, finish))
}

pub(super) fn visitor_totals(
    name: &'static str,
    handle: &Arc<Handle>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
    on_budget: OnBudget,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let client = handle.client()?;
    let (from, to) = convert::range(date_from, date_to)?;
    let listing = Listing::visitors(&client.project(project_id)?, from, to);
    let ask = move |client: Client, port: Arc<Port>| async move {
        stored::totals(&client.on_budget(on_budget), &listing, &*port).await
    };
    Ok(of_client(name, handle, ask, |py, totals| convert::totals(py, totals).map(Next::Value)))
}

pub(super) fn plan_visitors(
    name: &'static str,
    handle: &Arc<Handle>,
    slices: Vec<Slice>,
    what: What,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let project = handle.client()?.project(project_id)?;
    let look =
        move |client: Client, _: Arc<Port>| async move { plan::plan(&client, &project, slices, what).await };
    Ok(of_client(name, handle, look, |py, plan| planned(py, &plan).map(Next::Value)))
}

pub(super) fn visitor_trend(
    name: &'static str,
    handle: &Arc<Handle>,
    (slices, every): (Vec<Slice>, Option<Every>),
    what: What,
    on_budget: OnBudget,
    project_id: Option<&str>,
) -> PyResult<Op> {
    let project = handle.client()?.project(project_id)?;
    let read = move |client: Client, port: Arc<Port>| async move {
        let trend = crate::trend::trend(&client.on_budget(on_budget), &project, &slices, what, port).await?;
        Ok((Meta::of_trend(&project, &slices, every, &trend), trend))
    };
    Ok(of_client(name, handle, read, |py, (meta, trend)| {
        let table = Bound::new(py, TrendTable::new(Arc::new(trend.table), meta))?;
        Ok(Next::Value(table.into_any().unbind()))
    }))
}

pub(super) fn sync(
    name: &'static str,
    handle: &Arc<Handle>,
    wanted: Wanted,
    on_budget: OnBudget,
    on_running: OnRunning,
) -> PyResult<Op> {
    let no_store = || Error::configuration("sync fills a store: give the client one with store=");
    handle.client()?.exports().ok_or_else(no_store)?;
    let fill = move |client: Client, port: Arc<Port>| async move {
        let client = client.on_budget(on_budget);
        let exports = client.exports().ok_or_else(no_store)?;
        Ok(sync::sync(&client, exports, &wanted, on_running, port).await)
    };
    Ok(of_client(name, handle, fill, |py, sync| synced(py, sync).map(Next::Value)))
}

/// The escape hatch's call: any path of the service, with auth, retries and errors.
fn request_call(
    client: &Client,
    method: &str,
    path: &str,
    params: Option<&Bound<'_, PyAny>>,
    json: Option<&Bound<'_, PyAny>>,
) -> PyResult<Call> {
    let method = http::Method::from_bytes(method.to_ascii_uppercase().as_bytes())
        .ok()
        .filter(|method| matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
        .ok_or_else(|| PyValueError::new_err("method must be GET, POST, PUT, PATCH or DELETE"))?;
    let template = plain_path(path)?;
    let read = method == http::Method::GET;
    let body = json.map(|json| convert::json_in("json", json)).transpose()?;
    if read && body.is_some() {
        return Err(PyValueError::new_err("a GET takes params, not json"));
    }
    Ok(Call {
        lane: if read { visitors::lane(path) } else { Lane::Writes },
        method,
        project: path.contains("{project_id}").then(|| client.project(None)).transpose()?,
        path: template,
        id: None,
        query: convert::params(params)?,
        prompt: body.as_ref().and_then(|body| Some(body.get("prompt")?.as_str()?.into())),
        body: body.map(|body| body.to_string().into()),
        cap: client.settings().max_response_bytes,
    })
}

pub(super) fn request(
    name: &'static str,
    handle: &Arc<Handle>,
    method: &str,
    path: &str,
    params: Option<&Bound<'_, PyAny>>,
    json: Option<&Bound<'_, PyAny>>,
) -> PyResult<Op> {
    let client = handle.client()?;
    let call = request_call(&client, method, path, params, json)?;
    let not_sent = call.is_write().then_some(Outcome::NotSent);
    let ask = move |client: Client, port: Arc<Port>| async move {
        let decode = |answer: &Answer| match answer.body.is_empty() {
            true => Ok(serde_json::Value::Null),
            false => crate::json::parse(&answer.body).map(|parsed| parsed.value),
        };
        client.call(call, &*port, decode).await.map_err(|error| {
            let outcome = error.outcome.or(not_sent);
            error.with_outcome(outcome)
        })
    };
    Ok(of_client(name, handle, ask, |py, value| Ok(Next::Value(convert::json_out(py, &value)?.unbind()))))
}

/// A path that a user gave, with no placeholder but the project's.
fn plain_path(path: &str) -> PyResult<Template> {
    let template = Template::parse("path", path)?;
    if template.has_id() {
        return Err(PyValueError::new_err("path may hold {project_id}; put the id in as it is"));
    }
    Ok(template)
}

/// Arguments of a paged listing that are the same for all.
pub(super) struct PagingArguments<'a> {
    pub(super) page_size: Option<u32>,
    pub(super) offset: Option<u64>,
    pub(super) max_rows: Option<u64>,
    pub(super) prefetch: u32,
    pub(super) strict: bool,
    pub(super) resume: Option<&'a str>,
    pub(super) on_budget: OnBudget,
    pub(super) refresh: bool,
}

pub(super) fn visitors(
    handle: &Arc<Handle>,
    date_from: Option<&Bound<'_, PyAny>>,
    date_to: Option<&Bound<'_, PyAny>>,
    project_id: Option<&str>,
    arguments: &PagingArguments<'_>,
) -> PyResult<Arc<Cursor>> {
    let client = handle.client()?;
    let (from, to) = convert::range(date_from, date_to)?;
    arguments.cursor(handle, |place| {
        // What is not named comes from the checkpoint.
        let known = place.map(|place| &place.listing);
        let project = match (project_id, known.map(Listing::project).transpose()?.flatten()) {
            (None, Some(project)) => project,
            _ => client.project(project_id)?,
        };
        let filter = |name| known.and_then(|known| known.filter(name).map(str::to_owned));
        let (from, to) = (from.or_else(|| filter("dateFrom")), to.or_else(|| filter("dateTo")));
        Ok(Listing::visitors(&project, from, to))
    })
}

pub(super) fn paginate(
    handle: &Arc<Handle>,
    path: &str,
    items: &str,
    has_more: &str,
    params: Option<&Bound<'_, PyAny>>,
    arguments: &PagingArguments<'_>,
) -> PyResult<Arc<Cursor>> {
    let client = handle.client()?;
    let template = plain_path(path)?;
    let project = path.contains("{project_id}").then(|| client.project(None)).transpose()?;
    let query = convert::params(params)?;
    arguments.cursor(handle, |_| Listing::of(&template, project.as_ref(), query, items, has_more))
}

impl PagingArguments<'_> {
    /// The cursor over what `listing` makes of the arguments and a checkpoint, which must agree.
    fn cursor(
        &self,
        handle: &Arc<Handle>,
        listing: impl FnOnce(Option<&Checkpoint>) -> Result<Listing>,
    ) -> PyResult<Arc<Cursor>> {
        let page_size = self.page_size.unwrap_or(Paging::PAGE_SIZE);
        check_page_size(page_size)?;
        if self.prefetch > MOST_PREFETCH {
            return Err(PyValueError::new_err(format!("prefetch must be 0 to {MOST_PREFETCH}")));
        }
        if self.refresh && self.resume.is_some() {
            return Err(PyValueError::new_err(
                "resume goes on with what was bought, and refresh buys anew: give one of them",
            ));
        }
        let base_url = handle.settings().base_url.as_str();
        let place = self.resume.map(|text| Checkpoint::parse(text, base_url)).transpose()?;
        let listing = listing(place.as_ref())?;
        let place = match place {
            None => Checkpoint::new(base_url, listing, page_size, self.offset.unwrap_or_default()),
            Some(place) => {
                let other_pages = self.page_size.is_some_and(|page_size| page_size != place.page_size);
                if place.listing != listing || other_pages || self.offset.is_some() {
                    return Err(PyValueError::new_err(
                        "resume: the checkpoint is of another query; leave out what it knows \
                         (dates, project_id, page_size, offset), or give the same dates, project and page size",
                    ));
                }
                place
            }
        };
        let paging = Paging {
            max_rows: self.max_rows,
            prefetch: self.prefetch,
            strict: self.strict,
            window: Some(WINDOW),
        };
        let buying = Buying { on_budget: self.on_budget, refresh: self.refresh };
        Cursor::new(Arc::clone(handle), buying, place, paging)
    }
}
