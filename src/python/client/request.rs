//! The escape hatch: any request to the service.

use http::Method;
use serde_json::Value;

use crate::client::throttle::Lane;
use crate::client::{Answer, CREATE_JOB, Call, DecodeError};
use crate::config::url::Template;
use crate::error::Result;
use crate::python::client::BaseClient;
use crate::python::prelude::*;

#[pymethods]
impl BaseClient {
    #[doc = signed!(request)]
    #[pyo3(signature = (method, path, *, params = None, json = None, headers = None, timeout = None, raw = false,
        on_budget = WaitOrStop::Wait, project_id = None),
        text_signature = None)]
    fn request(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = convert::method)] method: &str,
        #[pyo3(from_py_with = convert::path)] path: &str,
        params: Option<&Object<'_>>,
        json: Option<&Object<'_>>,
        headers: Option<&Object<'_>>,
        #[pyo3(from_py_with = convert::timeout)] timeout: Option<f64>,
        #[pyo3(from_py_with = convert::raw)] raw: bool,
        on_budget: WaitOrStop,
        project_id: Option<ProjectId>,
    ) -> Returned {
        let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes())
            .ok()
            .filter(|method| matches!(method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
            .ok_or_else(|| {
                PyValueError::new_err("method must be GET, POST, PUT, PATCH or DELETE")
            })?;
        let write = method != Method::GET;
        let call = || {
            let headers = headers.map_or(Ok(Vec::new()), |all| convert::pairs("headers", all))?;
            let client = self.handle.client()?;
            let settings = self.handle.settings_for(headers, timeout, raw)?;
            let template = plain_path(path)?;
            let body = json.map(convert::json_in).transpose()?;
            if !write && body.is_some() {
                return Err(PyValueError::new_err("a GET takes params, not json"));
            }
            let project = project(&client, path, project_id.as_deref(), None)?;
            let (template, project) = match new_job_in(path) {
                // A project in the path counts against the same budget.
                Some(id) => (
                    Template::own(CREATE_JOB.to_owned()),
                    Some(Segment::parse("the project in path", id)?),
                ),
                None => (template, project),
            };
            let call = Call::read(template, project);
            let call = Call {
                is_other: true,
                lane: if write { Lane::Writes } else { call.lane },
                method,
                query: convert::params(params)?,
                prompt: body
                    .as_ref()
                    .and_then(|body| Some(body.get("prompt")?.as_str()?.into())),
                body: body.map(|body| body.to_string().into()),
                ..call
            };
            Ok((settings, call))
        };
        let call = call();
        let (settings, call) = if write {
            errors::not_sent(py, call)
        } else {
            call
        }?;
        let with_settings =
            move |client: Client| client.with(settings).unwrap_or(client).on_budget(on_budget);
        let name = "Client.request";
        let op = if raw {
            let ask = move |client, inbox: Arc<Inbox>| async move {
                let whole = |answer: &Answer| Ok::<_, DecodeError>(answer.clone());
                with_settings(client).call(call, &*inbox, whole).await
            };
            self.op(name, ask, response)
        } else {
            let ask = move |client, inbox: Arc<Inbox>| async move {
                with_settings(client).call(call, &*inbox, decode).await
            };
            self.op(name, ask, convert::answer)
        };
        self.face.run(py, if write { op.writing() } else { op })
    }
}

/// The object of an answer. People wrote its texts, so they may be repaired.
pub(super) fn decode_object(answer: &Answer) -> std::result::Result<Value, String> {
    match crate::text::json::parse::<Value>(&answer.body)?.value {
        object @ Value::Object(_) => Ok(object),
        other => Err(crate::text::json::wrong_type(&other, "an object")),
    }
}

/// The JSON of an answer, which may have no body.
fn decode(answer: &Answer) -> std::result::Result<Value, String> {
    match answer.body.is_empty() {
        true => Ok(Value::Null),
        false => crate::text::json::parse_exact(&answer.body),
    }
}

/// The answer as it came.
fn response(py: Python<'_>, answer: Answer) -> Returned {
    let headers = PyDict::new(py);
    for name in answer.headers.keys() {
        let values: Vec<_> = answer
            .headers
            .get_all(name)
            .into_iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        headers.set_item(name.as_str(), values.join(", "))?;
    }
    let values = (answer.head.status, headers, &*answer.body);
    convert::named_tuple(py, "Response", values)
}

/// The project of a path that has a place for it: `id`, or the one that is `known` from a
/// checkpoint, or the client's.
pub(super) fn project(
    client: &Client,
    path: &str,
    id: Option<&str>,
    known: Option<&str>,
) -> Result<Option<Segment>> {
    match path.contains("{project_id}") {
        true => client.project(id.or(known)).map(Some),
        false if id.is_some() => Err(Error::argument(
            "project_id stands nowhere in this path: write {project_id} where it goes",
        )),
        false => Ok(None),
    }
}

/// The project in a path that creates jobs.
fn new_job_in(path: &str) -> Option<&str> {
    let (before, after) = CREATE_JOB.split_once("{project_id}")?;
    let id = path.strip_prefix(before)?.strip_suffix(after)?;
    (!id.contains(['/', '{'])).then_some(id)
}

/// A path that a user gave, with no placeholder but the project's.
pub(super) fn plain_path(path: &str) -> PyResult<Template> {
    let template = Template::parse("path", path)?;
    if template.has_id() {
        return Err(PyValueError::new_err(
            "path may contain the placeholder {project_id} only: write other ids as they are",
        ));
    }
    Ok(template)
}
