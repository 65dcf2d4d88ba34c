//! The escape hatch: any request to the service.

use std::sync::Arc;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use crate::client::throttle::Lane;
use crate::client::{Answer, Call, Client};
use crate::config::url::Template;
use crate::error::{Error, Kind, Outcome};
use crate::python::bridge::op::{Next, Op};
use crate::python::bridge::port::Port;
use crate::python::client::handle::Handle;
use crate::python::client::ops::of_client;
use crate::python::{convert, errors};

/// The escape hatch's call: any path of the service, with auth, retries and errors.
fn request_call(
    client: &Client,
    method: http::Method,
    path: &str,
    params: Option<&Bound<'_, PyAny>>,
    json: Option<&Bound<'_, PyAny>>,
) -> PyResult<Call> {
    let template = plain_path(path)?;
    let read = method == http::Method::GET;
    let body = json.map(|json| convert::json_in("json", json)).transpose()?;
    if read && body.is_some() {
        return Err(PyValueError::new_err("a GET takes params, not json"));
    }
    Ok(Call {
        lane: if read { Lane::of_read(path) } else { Lane::Writes },
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

pub(crate) fn request(
    py: Python<'_>,
    name: &'static str,
    handle: &Arc<Handle>,
    method: &str,
    path: &str,
    params: Option<&Bound<'_, PyAny>>,
    json: Option<&Bound<'_, PyAny>>,
) -> PyResult<Op> {
    let method = http::Method::from_bytes(method.to_ascii_uppercase().as_bytes())
        .ok()
        .filter(|method| matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
        .ok_or_else(|| PyValueError::new_err("method must be GET, POST, PUT, PATCH or DELETE"))?;
    let write = method != http::Method::GET;
    let call = handle
        .client()
        .map_err(PyErr::from)
        .and_then(|client| request_call(&client, method, path, params, json));
    let call = if write { errors::not_sent(py, call) } else { call }?;
    let ask = move |client: Client, port: Arc<Port>| async move {
        let decode = |answer: &Answer| match answer.body.is_empty() {
            true => Ok(serde_json::Value::Null),
            false => crate::text::json::parse_exact(&answer.body),
        };
        client.call(call, &*port, decode).await
    };
    let finish = move |py: Python<'_>, value: serde_json::Value| match convert::json_out(py, &value) {
        Ok(value) => Ok(Next::Value(value.unbind())),
        // A number with more digits than Python reads.
        Err(error) if error.is_instance_of::<PyException>(py) => {
            let (kind, what) = match write {
                true => (Kind::UnconfirmedWrite, "it happened, but "),
                false => (Kind::Response, ""),
            };
            let text = format!("{name}: {what}Python cannot hold the answer: {error}");
            let outcome = write.then_some(Outcome::Applied);
            Err(errors::to_py(py, Error::new(kind, text).with_outcome(outcome)))
        }
        Err(error) => Err(error),
    };
    let op = of_client(name, handle, ask, finish);
    Ok(if write { op.writing() } else { op })
}

/// A path that a user gave, with no placeholder but the project's.
pub(crate) fn plain_path(path: &str) -> PyResult<Template> {
    let template = Template::parse("path", path)?;
    if template.has_id() {
        return Err(PyValueError::new_err("path may hold {project_id}; put the id in as it is"));
    }
    Ok(template)
}
