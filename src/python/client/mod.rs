//! `Client` and `AsyncClient`: one set of methods, two ways to run them.

pub(crate) mod handle;
pub(crate) mod ops;
pub(crate) mod options;

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::client::OnBudget;
use crate::config::Options;
use crate::dates::slices::Every;
use crate::job::wait::WaitOptions;
use crate::python::bridge;
use crate::python::bridge::op::{Next, Op};
use crate::python::client::handle::Handle;
use crate::python::client::ops::PagingArguments;
use crate::python::convert;
use crate::python::listing::{AsyncRows, AsyncVisitors, Rows, Visitors};
use crate::python::progress::{self, SLICES};
use crate::slices::sync::{OnRunning, Wanted};
use crate::store::What;

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
pub(crate) fn _panic(client: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    #[expect(clippy::panic)]
    let panic = |_| async { panic!("on purpose") };
    let op = Op::new("_panic", panic, |py, ()| Ok(Next::Value(py.None())));
    match client.is_instance_of::<Client>() {
        true => bridge::block(client.py(), op),
        false => bridge::awaitable(client.py(), op),
    }
}

macro_rules! client_face {
    ($Face:ident, $name:literal, $run:path, $Visitors:ident, $Rows:ident, $enter:ident, $exit:ident, $doc:literal) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "docplatform")]
        pub(crate) struct $Face {
            handle: Arc<Handle>,
        }

        impl $Face {
            fn closing(&self, name: &'static str) -> Op {
                let handle = Arc::clone(&self.handle);
                let close = move |py: Python<'_>| {
                    handle.close();
                    Ok(py.None())
                };
                Op::ready(name, close)
            }
        }

        #[pymethods]
        impl $Face {
            #[new]
            #[pyo3(signature = (api_key = None, **settings), text_signature = "(api_key=None, *, \
                base_url=None, project_id=None, timeout=30.0, connect_timeout=5.0, deadline=90.0, max_retries=2, \
                max_retry_after=60.0, proxy=None, trust_env=True, ca_bundle=None, headers=None, allow_http=False, \
                max_response_bytes=33554432, job_path='/v2/agent/{project_id}/job/{id}', requests_per_hour=None, reserve=0, store=None, \
                settle_days=2, organization=None)")]
            fn new(
                py: Python<'_>,
                api_key: Option<&Bound<'_, PyAny>>,
                settings: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<Self> {
                let mut options = Options::default();
                if let Some(key) = api_key {
                    options::set(&mut options, "api_key", key)?;
                }
                options::update(&mut options, settings)?;
                Ok(Self { handle: Arc::new(Handle::new(py, options, Arc::default())?) })
            }

            /// Asks the docs agent to do what `prompt` says; returns the new job, without waiting for it.
            #[pyo3(signature = (prompt, *, project_id = None))]
            fn create_job(
                &self,
                py: Python<'_>,
                prompt: &Bound<'_, PyAny>,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                $run(py, ops::create_job(concat!($name, ".create_job"), &self.handle, prompt, project_id)?)
            }

            /// Reads a job.
            #[pyo3(signature = (job, *, project_id = None))]
            fn get_job(
                &self,
                py: Python<'_>,
                job: &Bound<'_, PyAny>,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                $run(py, ops::get_job(concat!($name, ".get_job"), &self.handle, job, project_id)?)
            }

            /// Sends a follow-up message to a job; the answer may still show the old status.
            #[pyo3(signature = (job, prompt, *, project_id = None))]
            fn send_message(
                &self,
                py: Python<'_>,
                job: &Bound<'_, PyAny>,
                prompt: &Bound<'_, PyAny>,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                let name = concat!($name, ".send_message");
                $run(py, ops::send_message(name, &self.handle, job, prompt, project_id)?)
            }

            /// Polls a job until it is final.
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
                let how = WaitOptions { timeout, poll_interval, max_poll_interval, check, settle: 0.0 };
                let op = ops::wait_for_job(concat!($name, ".wait_for_job"), &self.handle, job, how, project_id)?;
                $run(py, op.on_poll(convert::callback("on_poll", on_poll)?))
            }

            /// Creates a job and waits until it is final.
            #[pyo3(signature = (prompt, *, timeout = Some(1800.0), poll_interval = None, max_poll_interval = None,
                check = true, on_poll = None, project_id = None),
                text_signature = "($self, prompt, *, timeout=1800.0, poll_interval=2.0, max_poll_interval=30.0, \
                check=True, on_poll=None, project_id=None)")]
            #[expect(clippy::too_many_arguments)]
            fn run_job(
                &self,
                py: Python<'_>,
                prompt: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = convert::timeout)] timeout: Option<f64>,
                #[pyo3(from_py_with = convert::poll_interval)] poll_interval: Option<f64>,
                #[pyo3(from_py_with = convert::max_poll_interval)] max_poll_interval: Option<f64>,
                check: bool,
                on_poll: Option<Bound<'_, PyAny>>,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                let how = WaitOptions { timeout, poll_interval, max_poll_interval, check, settle: 0.0 };
                let op = ops::run_job(concat!($name, ".run_job"), &self.handle, prompt, how, project_id)?;
                $run(py, op.on_poll(convert::callback("on_poll", on_poll)?))
            }

            /// Sends a follow-up message and waits until the job is final anew.
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
                let op = ops::follow_up(concat!($name, ".follow_up"), &self.handle, job, prompt, how, project_id)?;
                $run(py, op.on_poll(convert::callback("on_poll", on_poll)?))
            }

            /// The site's readers, page by page: an iterator of dicts. Sends nothing yet.
            #[pyo3(signature = (*, date_from = None, date_to = None, page_size = None, offset = None,
                max_rows = None, prefetch = 1, resume = None, strict = false, refresh = false,
                on_budget = OnBudget::Wait, project_id = None),
                text_signature = "($self, *, date_from=None, date_to=None, page_size=250, offset=0, max_rows=None, \
                prefetch=1, resume=None, strict=False, refresh=False, on_budget='wait', project_id=None)")]
            #[expect(clippy::too_many_arguments)]
            fn visitors(
                &self,
                date_from: Option<&Bound<'_, PyAny>>,
                date_to: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = convert::page_size)] page_size: Option<u32>,
                #[pyo3(from_py_with = convert::offset)] offset: Option<u64>,
                #[pyo3(from_py_with = convert::max_rows)] max_rows: Option<u64>,
                #[pyo3(from_py_with = convert::prefetch)] prefetch: u32,
                resume: Option<&str>,
                strict: bool,
                refresh: bool,
                #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
                project_id: Option<&str>,
            ) -> PyResult<$Visitors> {
                let paging =
                    PagingArguments { page_size, offset, max_rows, prefetch, strict, resume, on_budget, refresh };
                ops::visitors(&self.handle, date_from, date_to, project_id, &paging).map($Visitors::new)
            }

            /// The totals of a range: one request.
            #[pyo3(signature = (*, date_from = None, date_to = None, on_budget = OnBudget::Wait, project_id = None),
                text_signature = "($self, *, date_from=None, date_to=None, on_budget='wait', project_id=None)")]
            fn visitor_totals(
                &self,
                py: Python<'_>,
                date_from: Option<&Bound<'_, PyAny>>,
                date_to: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                let name = concat!($name, ".visitor_totals");
                $run(py, ops::visitor_totals(name, &self.handle, date_from, date_to, on_budget, project_id)?)
            }

            /// What a range costs, slice by slice, before anything is sent.
            #[pyo3(signature = (*, date_from, date_to, every = None, by_path = true, project_id = None))]
            fn plan_visitors(
                &self,
                py: Python<'_>,
                date_from: &Bound<'_, PyAny>,
                date_to: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = convert::every)] every: Option<Every>,
                by_path: bool,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                let slices = convert::slices(date_from, date_to, every)?;
                let name = concat!($name, ".plan_visitors");
                $run(py, ops::plan_visitors(name, &self.handle, slices, What::of(by_path), project_id)?)
            }

            /// Visitors slice by slice: a row a slice, or a row a slice and path.
            #[pyo3(signature = (*, date_from, date_to, every = Some(Every::Day), by_path = false,
                on_budget = OnBudget::Wait, progress = None, project_id = None),
                text_signature = "($self, *, date_from, date_to, every='day', by_path=False, on_budget='wait', \
                progress=None, project_id=None)")]
            #[expect(clippy::too_many_arguments)]
            fn visitor_trend(
                &self,
                py: Python<'_>,
                date_from: &Bound<'_, PyAny>,
                date_to: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = convert::every)] every: Option<Every>,
                by_path: bool,
                #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
                progress: Option<bool>,
                project_id: Option<&str>,
            ) -> PyResult<Py<PyAny>> {
                let name = concat!($name, ".visitor_trend");
                let slices = convert::slices(date_from, date_to, every)?;
                let bar = progress::bar(py, progress, Some(slices.len() as u64), SLICES)?;
                let what = What::of(by_path);
                let op = ops::visitor_trend(name, &self.handle, (slices, every), what, on_budget, project_id)?;
                $run(py, op.progress(bar))
            }

            /// Buys whatever the store does not have of some projects.
            #[pyo3(signature = (projects, *, date_from, date_to, every = Some(Every::Day), by_path = true,
                on_budget = OnBudget::Wait, on_running = OnRunning::Wait, progress = None),
                text_signature = "($self, projects, *, date_from, date_to, every='day', by_path=True, on_budget='wait', \
                on_running='wait', progress=None)")]
            #[expect(clippy::too_many_arguments)]
            fn sync(
                &self,
                py: Python<'_>,
                projects: &Bound<'_, PyAny>,
                date_from: &Bound<'_, PyAny>,
                date_to: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = convert::every)] every: Option<Every>,
                by_path: bool,
                #[pyo3(from_py_with = convert::on_budget)] on_budget: OnBudget,
                #[pyo3(from_py_with = convert::on_running)] on_running: OnRunning,
                progress: Option<bool>,
            ) -> PyResult<Py<PyAny>> {
                let slices = convert::slices(date_from, date_to, every)?;
                let projects = convert::projects(projects)?;
                let bar = progress::bar(py, progress, Some((projects.len() * slices.len()) as u64), SLICES)?;
                let wanted = Wanted { projects, slices, what: What::of(by_path) };
                let op = ops::sync(concat!($name, ".sync"), &self.handle, wanted, on_budget, on_running)?;
                $run(py, op.progress(bar))
            }

            /// The same paging for a sibling endpoint: an iterator of whatever it lists. Sends nothing yet.
            #[pyo3(signature = (path, *, items, has_more = "hasMore", params = None, page_size = None,
                offset = None, max_rows = None, prefetch = 1, resume = None),
                text_signature = "($self, path, *, items, has_more='hasMore', params=None, page_size=250, offset=0, \
                max_rows=None, prefetch=1, resume=None)")]
            #[expect(clippy::too_many_arguments)]
            fn paginate(
                &self,
                path: &str,
                items: &str,
                has_more: &str,
                params: Option<&Bound<'_, PyAny>>,
                #[pyo3(from_py_with = convert::page_size)] page_size: Option<u32>,
                #[pyo3(from_py_with = convert::offset)] offset: Option<u64>,
                #[pyo3(from_py_with = convert::max_rows)] max_rows: Option<u64>,
                #[pyo3(from_py_with = convert::prefetch)] prefetch: u32,
                resume: Option<&str>,
            ) -> PyResult<$Rows> {
                let (strict, on_budget, refresh) = (false, OnBudget::Wait, false);
                let paging =
                    PagingArguments { page_size, offset, max_rows, prefetch, strict, resume, on_budget, refresh };
                ops::paginate(&self.handle, path, items, has_more, params, &paging).map($Rows::new)
            }

            /// Any request of the service, with the client's auth, retries and errors; returns the JSON.
            #[pyo3(signature = (method, path, *, params = None, json = None))]
            fn request(
                &self,
                py: Python<'_>,
                method: &str,
                path: &str,
                params: Option<&Bound<'_, PyAny>>,
                json: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                $run(py, ops::request(py, concat!($name, ".request"), &self.handle, method, path, params, json)?)
            }

            /// A second handle on the same connections and counts, with other settings; closed apart.
            #[pyo3(signature = (**changes))]
            fn with_options(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
                Ok(Self { handle: Arc::new(self.handle.with_options(py, changes)?) })
            }

            /// Counts of this client and all its handles, at this moment, without I/O.
            #[getter]
            fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.handle.stats(py)
            }

            /// Closes the connections once no other handle needs them. Closing twice is fine.
            fn close(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                $run(py, self.closing(concat!($name, ".close")))
            }

            fn $enter(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
                slf.get().handle.client()?;
                let slf = slf.into_any();
                $run(py, Op::ready(concat!($name, ".", stringify!($enter)), |_| Ok(slf)))
            }

            #[pyo3(signature = (*exception))]
            fn $exit(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
                // An exception passes as it is.
                let _ = exception;
                $run(py, self.closing(concat!($name, ".", stringify!($exit))))
            }

            fn __repr__(&self) -> String {
                self.handle.repr($name)
            }

            fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.handle.html(py, $name)
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
                slf.get().handle.reduce(&slf.get_type())
            }
        }
    };
}

client_face!(
    Client,
    "Client",
    bridge::block,
    Visitors,
    Rows,
    __enter__,
    __exit__,
    "A blocking client for one documentation platform. Safe to share between threads."
);
client_face!(
    AsyncClient,
    "AsyncClient",
    bridge::awaitable,
    AsyncVisitors,
    AsyncRows,
    __aenter__,
    __aexit__,
    "An asyncio client for one documentation platform. Bound to no loop."
);
