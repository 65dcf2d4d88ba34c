//! Every operation of a client, once for both faces: arguments in, an [`Op`] out.

use std::sync::Arc;

use futures_util::future::Either;
use pyo3::prelude::*;

use crate::client::Client;
use crate::error::Result;
use crate::python::bridge::op::{Next, Op};
use crate::python::bridge::port::Port;
use crate::python::client::handle::Handle;

mod jobs;
mod listings;
mod request;
mod visitors;

pub(crate) use jobs::{create_job, follow_up, get_job, run_job, send_message, wait_for_job};
pub(crate) use listings::{PagingArguments, paginate};
pub(crate) use request::request;
pub(crate) use visitors::{plan_visitors, sync, visitor_totals, visitor_trend, visitors};

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
