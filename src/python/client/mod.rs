//! `Client` and `AsyncClient`: every method once, in the class that both extend. Its face runs each method's operation.

pub(crate) mod handle;
pub(crate) mod options;
mod paging;
mod ranges;
mod request;

use std::sync::Arc;

use futures_util::future::Either;
use http::Method;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::client::{Call, Client, OnBudget};
use crate::clock::timestamp;
use crate::config::Options;
use crate::config::url::Segment;
use crate::dates::slices::Every;
use crate::error;
use crate::export::checkpoint::Checkpoint;
use crate::job;
use crate::job::once::{NameState, OnceName, ResolvedJob};
use crate::job::wait::{self, Target, WaitOptions};
use crate::listing::endpoint::{
    CALLER_STATS, CONVERSATIONS, Endpoint, FEEDBACK, FEEDBACK_BY_PAGE, SEARCHES, THREAD, VIEWS, VISITORS,
};
use crate::listing::{Listing, Shape};
use crate::python::bridge::inbox::Inbox;
use crate::python::bridge::operation::{Face, Next, Operation};
use crate::python::client::handle::Handle;
use crate::python::client::paging::{ListingArguments, PagingArguments};
use crate::python::client::ranges::TrendArguments;
use crate::python::job::{JobArgument, datetime, wrap as wrap_job};
use crate::python::listing;
use crate::python::{convert, errors};
use crate::slices::Subject;
use crate::slices::sync::{OnRunning, SyncScope};
use crate::store::Creation;

/// Makes a client again from what its pickle carries; the key comes from the environment.
#[pyfunction]
pub(crate) fn _client<'py>(
    class: &Bound<'py, PyType>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    class.call((), Some(settings))
}

/// A bug on purpose, so that a test can see what becomes of one.
#[pyfunction]
pub(crate) fn _panic(client: &Bound<'_, BaseClient>) -> PyResult<Py<PyAny>> {
    #[expect(clippy::panic)]
    let panic = |_| async { panic!("on purpose") };
    let op = Operation::new("Client._panic", panic, |py, ()| Ok(Next::Value(py.None())));
    client.get().face.run(client.py(), op)
}

/// What `Client` and `AsyncClient` have in common. Errors of wrong arguments show the name of this class: it reads as a
/// user's own variable does.
#[pyclass(frozen, subclass, module = "docplatform", name = "client")]
pub(crate) struct BaseClient {
    handle: Arc<Handle>,
    face: Face,
}

/// A class that users make clients of: its constructor, and the context manager of its face.
macro_rules! client_class {
    ($(#[$meta:meta])* $class:ident: $face:expr, $enter:ident, $exit:ident) => {
        $(#[$meta])*
        pub(crate) struct $class;

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (api_key = None, **settings), text_signature = "(api_key=None, *, \
                base_url=None, project_id=None, timeout=30.0, connect_timeout=5.0, deadline=90.0, max_retries=2, \
                max_retry_after=60.0, proxy=None, trust_env=True, ca_bundle=None, headers=None, allow_http=False, \
                max_response_bytes=33554432, job_path='/v2/agent/{project_id}/job/{id}', requests_per_hour=None, \
                reserve=None, jobs_per_hour=None, store=None, settle_days=2, organization=None)")]
            fn new(
                py: Python<'_>,
                api_key: Option<&Bound<'_, PyAny>>,
                settings: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<PyClassInitializer<Self>> {
                let base = BaseClient::new(py, $face, api_key, settings)?;
                Ok(PyClassInitializer::from(base).add_subclass(Self))
            }

            fn $enter(slf: Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                BaseClient::enter(slf.into_super(), concat!("Client.", stringify!($enter)))
            }

            #[pyo3(signature = (*exception))]
            fn $exit(slf: &Bound<'_, Self>, exception: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
                // An exception passes as it is.
                let _ = exception;
                slf.as_super().get().closed(slf.py(), concat!("Client.", stringify!($exit)))
            }
        }
    };
}

client_class! {
    #[doc = doc!("Client")]
    #[pyclass(frozen, extends = BaseClient, module = "docplatform", name = "Client")]
    BlockingClient: Face::Blocking, __enter__, __exit__
}

client_class! {
    #[doc = doc!("AsyncClient")]
    #[pyclass(frozen, extends = BaseClient, module = "docplatform")]
    AsyncClient: Face::Async, __aenter__, __aexit__
}

impl BaseClient {
    fn new(
        py: Python<'_>,
        face: Face,
        api_key: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = Options::default();
        if let Some(key) = api_key {
            options::set(&mut options, "api_key", key)?;
        }
        options::update(&mut options, settings)?;
        Ok(Self { handle: Arc::new(Handle::new(py, options, Arc::default())?), face })
    }

    /// As the user names its class.
    fn class(&self) -> &'static str {
        match self.face {
            Face::Blocking => "Client",
            Face::Async => "AsyncClient",
        }
    }

    fn enter(slf: Bound<'_, Self>, name: &'static str) -> PyResult<Py<PyAny>> {
        slf.get().handle.client()?;
        let (py, face) = (slf.py(), slf.get().face);
        let slf = slf.into_any().unbind();
        face.run(py, Operation::ready(name, |_| Ok(slf)))
    }

    fn closed(&self, py: Python<'_>, name: &'static str) -> PyResult<Py<PyAny>> {
        let handle = Arc::clone(&self.handle);
        let close = move |py: Python<'_>| {
            handle.close();
            Ok(py.None())
        };
        self.face.run(py, Operation::ready(name, close))
    }

    /// An operation of this client, which it asks its handle for when it begins, on the caller's thread: the client may
    /// have been closed since the call, or the process forked.
    fn op<T, F>(
        &self,
        name: &'static str,
        future: impl FnOnce(Client, Arc<Inbox>) -> F + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Operation
    where
        T: Send + 'static,
        F: Future<Output = error::Result<T>> + Send + 'static,
    {
        let handle = Arc::clone(&self.handle);
        let begin = move |inbox| match handle.client() {
            Ok(client) => Either::Left(future(client, inbox)),
            Err(error) => Either::Right(std::future::ready(Err(error))),
        };
        Operation::new(name, begin, |py, value| finish(py, value).map(Next::Value))
    }

    /// Runs the operation of a write. Whatever keeps it from beginning, nothing was sent.
    fn write(&self, py: Python<'_>, begin: impl FnOnce() -> PyResult<Operation>) -> PyResult<Py<PyAny>> {
        self.face.run(py, errors::not_sent(py, begin())?.writing())
    }

    /// What one of the service's endpoints lists.
    fn list(
        &self,
        py: Python<'_>,
        endpoint: &'static Endpoint,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let arguments = ListingArguments::parse(endpoint, period, options)?;
        listing::rows(py, self.face, arguments.cursor(endpoint, &self.handle)?)
    }

    /// One object of the service, as a dict.
    fn object(
        &self,
        name: &'static str,
        py: Python<'_>,
        call: Call,
        on_budget: OnBudget,
    ) -> PyResult<Py<PyAny>> {
        let ask = move |client: Client, inbox: Arc<Inbox>| async move {
            client.on_budget(on_budget).call(call, &*inbox, request::decode_object).await
        };
        self.face.run(py, self.op(name, ask, |py, value| request::answer(py, &value, false)))
    }

    /// Where a job is: its project, and the job or its id.
    fn locate(&self, job: &Bound<'_, PyAny>, project_id: Option<&str>) -> PyResult<(Segment, JobArgument)> {
        let client = self.handle.client()?;
        let job = JobArgument::parse(job)?;
        Ok((client.project(job.project(project_id))?, job))
    }
}

#[pymethods]
impl BaseClient {
    #[doc = doc!("Client.create_job")]
    #[pyo3(signature = (prompt, *, once = None, on_budget = OnBudget::Wait, project_id = None),
        text_signature = "($self, prompt, *, once=None, on_budget='wait', project_id=None)")]
    fn create_job(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        once: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        self.write(py, || {
            let client = self.handle.client()?;
            let prompt = convert::prompt(prompt)?;
            let once = convert::once_name(&client, once)?;
            let project = client.project(project_id)?;
            let create = move |client: Client, inbox: Arc<Inbox>| async move {
                job::once::create(&client.on_budget(on_budget), project, prompt, once, &*inbox).await
            };
            Ok(self.op("Client.create_job", create, wrap_job))
        })
    }

    #[doc = doc!("Client.get_job")]
    #[pyo3(signature = (job, *, project_id = None))]
    fn get_job(
        &self,
        py: Python<'_>,
        job: &Bound<'_, PyAny>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (project, job) = self.locate(job, project_id)?;
        let get = |client, inbox: Arc<Inbox>| async move {
            job::get(&client, &project, job.id(), None, &*inbox).await
        };
        self.face.run(py, self.op("Client.get_job", get, wrap_job))
    }

    #[doc = doc!("Client.send_message")]
    #[pyo3(signature = (job, prompt, *, project_id = None))]
    fn send_message(
        &self,
        py: Python<'_>,
        job: &Bound<'_, PyAny>,
        prompt: &Bound<'_, PyAny>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        self.write(py, || {
            let (project, job) = self.locate(job, project_id)?;
            let (id, prompt) = (job.id().clone(), convert::prompt(prompt)?);
            let send = |client, inbox: Arc<Inbox>| async move {
                job::message(&client, project, id, prompt, &*inbox).await
            };
            Ok(self.op("Client.send_message", send, wrap_job))
        })
    }

    #[doc = doc!("Client.wait_for_job")]
    #[pyo3(signature = (job, *, timeout = Some(1800.0), poll_interval = None, max_poll_interval = None,
        check = true, on_poll = None, project_id = None),
        text_signature = "($self, job, *, timeout=1800.0, poll_interval=2.0, max_poll_interval=30.0, \
        check=True, on_poll=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn wait_for_job(
        &self,
        py: Python<'_>,
        job: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = convert::timeout)] timeout: Option<f64>,
        #[pyo3(from_py_with = convert::poll_interval)] poll_interval: Option<f64>,
        #[pyo3(from_py_with = convert::max_poll_interval)] max_poll_interval: Option<f64>,
        check: bool,
        on_poll: Option<Bound<'_, PyAny>>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let how = WaitOptions { timeout, poll_interval, max_poll_interval, check, settle: 0.0 }.validate()?;
        let (project, job) = self.locate(job, project_id)?;
        let id = job.id().clone();
        let target = Target { project, id, last: job.snapshot(), rest_first: false, prompt: None };
        let wait =
            move |client, inbox: Arc<Inbox>| async move { wait::wait(&client, target, how, &*inbox).await };
        let op = self.op("Client.wait_for_job", wait, wrap_job);
        self.face.run(py, op.on_poll(convert::callback("on_poll", on_poll)?))
    }

    #[doc = doc!("Client.run_job")]
    #[pyo3(signature = (prompt, *, once = None, on_budget = OnBudget::Wait, timeout = Some(1800.0), poll_interval = None,
        max_poll_interval = None, check = true, on_poll = None, project_id = None),
        text_signature = "($self, prompt, *, once=None, on_budget='wait', timeout=1800.0, poll_interval=2.0, \
        max_poll_interval=30.0, check=True, on_poll=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn run_job(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        once: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        #[pyo3(from_py_with = convert::timeout)] timeout: Option<f64>,
        #[pyo3(from_py_with = convert::poll_interval)] poll_interval: Option<f64>,
        #[pyo3(from_py_with = convert::max_poll_interval)] max_poll_interval: Option<f64>,
        check: bool,
        on_poll: Option<Bound<'_, PyAny>>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let how = WaitOptions { timeout, poll_interval, max_poll_interval, check, settle: 0.0 };
        self.write(py, || {
            let how = how.validate()?;
            let client = self.handle.client()?;
            let prompt = convert::prompt(prompt)?;
            let once = convert::once_name(&client, once)?;
            let project = client.project(project_id)?;
            let run = move |client: Client, inbox: Arc<Inbox>| async move {
                let creating = client.on_budget(on_budget);
                let job = job::once::create(&creating, project, prompt.clone(), once, &*inbox).await?;
                wait::wait(&client, Target::just_written(job, prompt), how, &*inbox).await
            };
            let op = self.op("Client.run_job", run, wrap_job);
            Ok(op.on_poll(convert::callback("on_poll", on_poll)?))
        })
    }

    #[doc = doc!("Client.resolve_once")]
    #[pyo3(signature = (name, job, *, project_id = None))]
    fn resolve_once(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        job: Option<&Bound<'_, PyAny>>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let client = self.handle.client()?;
        let name = OnceName::parse(convert::text("name", name)?)?;
        let job = job.map(JobArgument::parse).transpose()?;
        let project = client.project(job.as_ref().map_or(project_id, |job| job.project(project_id)))?;
        let job = job.map(|job| match job {
            JobArgument::Job(job) => ResolvedJob::Snapshot(job),
            JobArgument::Id(id) => ResolvedJob::Id(id),
        });
        let resolve = |client, _| async move { job::once::resolve(&client, &project, name, job).await };
        self.face.run(py, self.op("Client.resolve_once", resolve, |py, ()| Ok(py.None())))
    }

    /// The names of `once=` in a project, for the command line: name, state, job, and when it was begun.
    #[pyo3(signature = (*, project_id = None))]
    fn _once(&self, py: Python<'_>, project_id: Option<&str>) -> PyResult<Py<PyAny>> {
        let project = self.handle.client()?.project(project_id)?;
        let list = |client, _| async move { job::once::list(&client, &project).await };
        let op = self.op("Client._once", list, |py, listed: Vec<(Creation, NameState)>| {
            let list = PyList::empty(py);
            for (creation, state) in listed {
                let state = match state {
                    NameState::Created => "created",
                    NameState::Creating => "being created",
                    NameState::Unknown => "unknown",
                };
                let begun = datetime(py, timestamp(creation.begun))?;
                list.append((creation.key.name, state, creation.job.map(|job| job.id), begun))?;
            }
            Ok(list.into_any().unbind())
        });
        self.face.run(py, op)
    }

    #[doc = doc!("Client.follow_up")]
    #[pyo3(signature = (job, prompt, *, settle = 15.0, timeout = Some(1800.0), poll_interval = None,
        max_poll_interval = None, check = true, on_poll = None, project_id = None),
        text_signature = "($self, job, prompt, *, settle=15.0, timeout=1800.0, poll_interval=2.0, \
        max_poll_interval=30.0, check=True, on_poll=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn follow_up(
        &self,
        py: Python<'_>,
        job: &Bound<'_, PyAny>,
        prompt: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = convert::settle)] settle: f64,
        #[pyo3(from_py_with = convert::timeout)] timeout: Option<f64>,
        #[pyo3(from_py_with = convert::poll_interval)] poll_interval: Option<f64>,
        #[pyo3(from_py_with = convert::max_poll_interval)] max_poll_interval: Option<f64>,
        check: bool,
        on_poll: Option<Bound<'_, PyAny>>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let how = WaitOptions { timeout, poll_interval, max_poll_interval, check, settle };
        self.write(py, || {
            let how = how.validate()?;
            let (project, job) = self.locate(job, project_id)?;
            let (id, prompt) = (job.id().clone(), convert::prompt(prompt)?);
            let run = move |client, inbox: Arc<Inbox>| async move {
                let job = job::message(&client, project, id, prompt.clone(), &*inbox).await?;
                wait::wait(&client, Target::just_written(job, prompt), how, &*inbox).await
            };
            let op = self.op("Client.follow_up", run, wrap_job);
            Ok(op.on_poll(convert::callback("on_poll", on_poll)?))
        })
    }

    #[doc = doc!("Client.visitors")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, page_size=None, offset=0, max_rows=None, prefetch=1, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn visitors(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, VISITORS, period, options)
    }

    #[doc = doc!("Client.views")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, page_size=None, offset=0, max_rows=None, prefetch=1, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn views(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, VIEWS, period, options)
    }

    #[doc = doc!("Client.searches")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, every=None, page_size=None, max_rows=None, prefetch=1, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn searches(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, SEARCHES, period, options)
    }

    #[doc = doc!("Client.feedback")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, source=None, status=None, every=None, page_size=None, max_rows=None, prefetch=1, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn feedback(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, FEEDBACK, period, options)
    }

    #[doc = doc!("Client.feedback_by_page")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, source=None, status=None, every=None, page_size=None, max_rows=None, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn feedback_by_page(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, FEEDBACK_BY_PAGE, period, options)
    }

    #[doc = doc!("Client.conversations")]
    #[pyo3(signature = (period = None, **options), text_signature = "($self, period=None, *, date_from=None, \
        date_to=None, every=None, page_size=None, max_rows=None, prefetch=1, resume=None, strict=False, refresh=False, \
        on_budget='wait', project_id=None)")]
    fn conversations(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.list(py, CONVERSATIONS, period, options)
    }

    #[doc = doc!("Client.visitor_totals")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, on_budget = OnBudget::Wait,
        project_id = None),
        text_signature = "($self, period=None, *, date_from=None, date_to=None, on_budget='wait', project_id=None)")]
    fn visitor_totals(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let dates = convert::range(period, date_from, date_to)?;
        self.totals("Client.visitor_totals", py, VISITORS, dates, on_budget, project_id)
    }

    #[doc = doc!("Client.view_totals")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, on_budget = OnBudget::Wait,
        project_id = None),
        text_signature = "($self, period=None, *, date_from=None, date_to=None, on_budget='wait', project_id=None)")]
    fn view_totals(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let dates = convert::range(period, date_from, date_to)?;
        self.totals("Client.view_totals", py, VIEWS, dates, on_budget, project_id)
    }

    #[doc = doc!("Client.conversation")]
    #[pyo3(signature = (thread_id, *, on_budget = OnBudget::Wait, project_id = None),
        text_signature = "($self, thread_id, *, on_budget='wait', project_id=None)")]
    fn conversation(
        &self,
        py: Python<'_>,
        thread_id: &str,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let id = Segment::parse("thread_id", thread_id)?;
        let call = request::get(&self.handle.client()?, THREAD, project_id, Some(id), (None, None))?;
        self.object("Client.conversation", py, call, on_budget)
    }

    #[doc = doc!("Client.caller_stats")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, on_budget = OnBudget::Wait,
        project_id = None),
        text_signature = "($self, period=None, *, date_from=None, date_to=None, on_budget='wait', project_id=None)")]
    fn caller_stats(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let dates = convert::range(period, date_from, date_to)?;
        let call = request::get(&self.handle.client()?, CALLER_STATS, project_id, None, dates)?;
        self.object("Client.caller_stats", py, call, on_budget)
    }

    #[doc = doc!("Client.plan_visitors")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = None, by_path = None, project_id = None))]
    #[expect(clippy::too_many_arguments)]
    fn plan_visitors(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: Option<bool>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(period, date_from, date_to, every)?;
        let of = Subject::new(VISITORS, by_path.unwrap_or(every.is_none()))?;
        self.plan("Client.plan_visitors", py, of, slices, project_id)
    }

    #[doc = doc!("Client.plan_views")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = None, by_path = None, project_id = None))]
    #[expect(clippy::too_many_arguments)]
    fn plan_views(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: Option<bool>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(period, date_from, date_to, every)?;
        let of = Subject::new(VIEWS, by_path.unwrap_or(every.is_none()))?;
        self.plan("Client.plan_views", py, of, slices, project_id)
    }

    /// What a range of any listing costs, for the command line.
    #[pyo3(signature = (listing, *, date_from, date_to, every, by_path, project_id = None))]
    #[expect(clippy::too_many_arguments)]
    fn _plan(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = convert::listing)] listing: &'static Endpoint,
        date_from: &Bound<'_, PyAny>,
        date_to: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: bool,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(None, Some(date_from), Some(date_to), every)?;
        self.plan("Client._plan", py, Subject::new(listing, by_path)?, slices, project_id)
    }

    #[doc = doc!("Client.visitor_trend")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = Some(Every::Day),
        by_path = false, whole = false, on_budget = OnBudget::Wait, progress = None, project_id = None),
        text_signature = "($self, period=None, *, date_from=None, date_to=None, every='day', by_path=False, whole=False, \
        on_budget='wait', progress=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn visitor_trend(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: bool,
        whole: bool,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        progress: Option<bool>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(period, date_from, date_to, every)?;
        let asked = TrendArguments { every, by_path, whole, on_budget, progress };
        self.trend("Client.visitor_trend", py, VISITORS, slices, asked, project_id)
    }

    #[doc = doc!("Client.view_trend")]
    #[pyo3(signature = (period = None, *, date_from = None, date_to = None, every = Some(Every::Day),
        by_path = false, whole = false, on_budget = OnBudget::Wait, progress = None, project_id = None),
        text_signature = "($self, period=None, *, date_from=None, date_to=None, every='day', by_path=False, whole=False, \
        on_budget='wait', progress=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn view_trend(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: bool,
        whole: bool,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        progress: Option<bool>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(period, date_from, date_to, every)?;
        let asked = TrendArguments { every, by_path, whole, on_budget, progress };
        self.trend("Client.view_trend", py, VIEWS, slices, asked, project_id)
    }

    #[doc = doc!("Client.compare_visitors")]
    #[pyo3(signature = (period = None, before = None, *, on_budget = OnBudget::Wait, project_id = None),
        text_signature = "($self, period=None, before=None, *, on_budget='wait', project_id=None)")]
    fn compare_visitors(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        before: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let periods = convert::two_periods(period, before)?;
        self.compare("Client.compare_visitors", py, VISITORS, periods, on_budget, project_id)
    }

    #[doc = doc!("Client.compare_views")]
    #[pyo3(signature = (period = None, before = None, *, on_budget = OnBudget::Wait, project_id = None),
        text_signature = "($self, period=None, before=None, *, on_budget='wait', project_id=None)")]
    fn compare_views(
        &self,
        py: Python<'_>,
        period: Option<&Bound<'_, PyAny>>,
        before: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let periods = convert::two_periods(period, before)?;
        self.compare("Client.compare_views", py, VIEWS, periods, on_budget, project_id)
    }

    #[doc = doc!("Client.sync")]
    #[pyo3(signature = (projects, period = None, *, listing = VISITORS, date_from = None, date_to = None, every = Some(Every::Day),
        by_path = true, on_budget = OnBudget::Wait, on_running = OnRunning::Wait, progress = None),
        text_signature = "($self, projects, period=None, *, listing='visitors', date_from=None, date_to=None, every='day', \
        by_path=True, on_budget='wait', on_running='wait', progress=None)")]
    #[expect(clippy::too_many_arguments)]
    fn sync(
        &self,
        py: Python<'_>,
        projects: &Bound<'_, PyAny>,
        period: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::listing)] listing: &'static Endpoint,
        date_from: Option<&Bound<'_, PyAny>>,
        date_to: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::every)] every: Option<Every>,
        by_path: bool,
        #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
        #[pyo3(from_py_with = convert::on_running)] on_running: OnRunning,
        progress: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let slices = convert::slices(period, date_from, date_to, every)?;
        let projects = convert::projects(projects)?;
        let wanted = SyncScope { projects, slices, of: Subject::new(listing, by_path)? };
        self.fill(py, wanted, on_budget, on_running, progress)
    }

    #[doc = doc!("Client.paginate")]
    #[pyo3(signature = (path, *, items, has_more = "hasMore", next_cursor = None, params = None,
        page_size = None, offset = None, max_rows = None, prefetch = 1, resume = None, project_id = None),
        text_signature = "($self, path, *, items, has_more='hasMore', next_cursor=None, params=None, page_size=250, \
        offset=0, max_rows=None, prefetch=1, resume=None, project_id=None)")]
    #[expect(clippy::too_many_arguments)]
    fn paginate(
        &self,
        py: Python<'_>,
        path: &str,
        items: &str,
        has_more: &str,
        next_cursor: Option<String>,
        params: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = convert::page_size)] page_size: Option<u32>,
        #[pyo3(from_py_with = convert::offset)] offset: Option<u64>,
        #[pyo3(from_py_with = convert::max_rows)] max_rows: Option<u64>,
        #[pyo3(from_py_with = convert::prefetch)] prefetch: u32,
        resume: Option<String>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (strict, on_budget, refresh) = (false, OnBudget::Wait, false);
        let arguments =
            PagingArguments { page_size, offset, max_rows, prefetch, strict, resume, on_budget, refresh };
        let client = self.handle.client()?;
        let template = request::plain_path(path)?;
        let query = convert::params(params)?;
        if next_cursor.is_some() && (prefetch > 1 || offset.is_some()) {
            return Err(PyValueError::new_err(
                "with next_cursor each page names the next one: prefetch must be 0 or 1, and there is no offset",
            ));
        }
        let shape = Shape { items: items.to_owned(), has_more: has_more.to_owned(), next_cursor };
        let listing = |place: Option<&Checkpoint>| {
            let known = place.and_then(|place| place.listing.project_id());
            let project = request::project(&client, path, project_id, known)?;
            Listing::other(&template, project.as_ref(), query, shape)
        };
        listing::rows(py, self.face, arguments.cursor(&self.handle, listing)?)
    }

    #[doc = doc!("Client.request")]
    #[pyo3(signature = (method, path, *, params = None, json = None, project_id = None))]
    fn request(
        &self,
        py: Python<'_>,
        method: &str,
        path: &str,
        params: Option<&Bound<'_, PyAny>>,
        json: Option<&Bound<'_, PyAny>>,
        project_id: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
            .ok()
            .filter(|method| matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
            .ok_or_else(|| PyValueError::new_err("method must be GET, POST, PUT, PATCH or DELETE"))?;
        let write = method != Method::GET;
        let call = (|| request::call(&self.handle.client()?, method, path, params, json, project_id))();
        let call = if write { errors::not_sent(py, call) } else { call }?;
        let ask = |client: Client, inbox: Arc<Inbox>| async move {
            client.call(call, &*inbox, request::decode).await
        };
        let op = self.op("Client.request", ask, move |py, value| request::answer(py, &value, write));
        self.face.run(py, if write { op.writing() } else { op })
    }

    #[doc = doc!("Client.with_options")]
    #[pyo3(signature = (**changes))]
    fn with_options(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let handle = Arc::new(self.handle.with_options(py, changes)?);
        let base = PyClassInitializer::from(Self { handle, face: self.face });
        Ok(match self.face {
            Face::Blocking => Py::new(py, base.add_subclass(BlockingClient))?.into_any(),
            Face::Async => Py::new(py, base.add_subclass(AsyncClient))?.into_any(),
        })
    }

    #[doc = doc!("Client.stats")]
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.handle.stats(py)
    }

    #[doc = doc!("Client.close")]
    fn close(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.closed(py, "Client.close")
    }

    fn __repr__(&self) -> String {
        self.handle.repr(self.class())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.handle.html(py, self.class())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        slf.get().handle.reduce(&slf.get_type())
    }
}
