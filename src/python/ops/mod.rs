//! Every operation of a client, once for both faces: arguments in, an [`Op`] out.

use std::sync::Arc;

use futures_util::future::Either;
use pyo3::prelude::*;

use super::handle::Handle;
use super::op::{Next, Op};
use super::port::Port;
use crate::client::Client;
use crate::error::Result;

mod jobs;
mod listings;
mod request;
mod visitors;

pub(super) use jobs::{create_job, follow_up, get_job, run_job, send_message, wait_for_job};
pub(super) use listings::{PagingArguments, paginate};
pub(super) use request::request;
pub(super) use visitors::{plan_visitors, sync, visitor_totals, visitor_trend, visitors};

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
