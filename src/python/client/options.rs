//! Settings from Python: one place that knows each name.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use secrecy::SecretString;

use crate::config::{Options, Settings};
use crate::python::convert;

/// Puts `changes` into `options`. A name that is none is a `TypeError`, as for any Python function.
pub(crate) fn update(options: &mut Options, changes: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    for (name, value) in changes.into_iter().flat_map(PyDictMethods::iter) {
        set(options, name.extract()?, &value)?;
    }
    Ok(())
}

/// Sets one option.
pub(crate) fn set(options: &mut Options, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let given = || (!value.is_none()).then_some(value);
    let text = || given().map(|value| convert::text(name, value)).transpose();
    let path = || {
        let path = given().map(PyAnyMethods::extract::<PathBuf>).transpose();
        path.map_err(|_| convert::wrong_type(name, "a path", value))
    };
    options.from_env.retain(|from_env| *from_env != name);
    match name {
        "api_key" => options.api_key = text()?.map(SecretString::from),
        "base_url" => options.base_url = text()?,
        "project_id" => options.project_id = text()?,
        "timeout" => options.timeout = convert::seconds(name, value)?,
        "connect_timeout" => options.connect_timeout = convert::seconds(name, value)?,
        "deadline" => options.deadline = convert::seconds(name, value)?,
        "max_retries" => options.max_retries = convert::whole(name, value)?,
        "max_retry_after" => options.max_retry_after = convert::seconds(name, value)?,
        "proxy" => options.proxy = text()?.map(SecretString::from),
        "trust_env" => options.trust_env = flag(name, value)?,
        "ca_bundle" => options.ca_bundle = path()?,
        "headers" => {
            let pairs = given().map(|value| convert::pairs(name, value)).transpose()?;
            let secret = |(name, value)| (name, SecretString::from(value));
            options.headers = pairs.unwrap_or_default().into_iter().map(secret).collect();
        }
        "allow_http" => options.allow_http = flag(name, value)?,
        "max_response_bytes" => options.max_response_bytes = convert::whole(name, value)?,
        "job_path" => options.job_path = convert::text(name, value)?,
        "requests_per_hour" => {
            options.requests_per_hour = given().map(|value| convert::whole(name, value)).transpose()?;
        }
        "reserve" => options.reserve = convert::whole(name, value)?,
        "store" => options.store = path()?,
        "settle_days" => options.settle_days = convert::whole(name, value)?,
        "organization" => options.organization = text()?,
        _ => {
            return Err(PyTypeError::new_err(format!("{name:?} is no setting of a docplatform client")));
        }
    }
    Ok(())
}

/// What a pickle carries: everything but the key. The environment's address and project travel too.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    options: &Options,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    use secrecy::ExposeSecret;
    let dict = PyDict::new(py);
    dict.set_item("base_url", settings.base_url.as_str())?;
    dict.set_item("project_id", settings.project_id.as_ref().map(crate::config::url::Segment::as_str))?;
    dict.set_item("timeout", options.timeout)?;
    dict.set_item("connect_timeout", options.connect_timeout)?;
    dict.set_item("deadline", options.deadline)?;
    dict.set_item("max_retries", options.max_retries)?;
    dict.set_item("max_retry_after", options.max_retry_after)?;
    // Without user info: a client whose proxy has it is not pickled.
    dict.set_item("proxy", options.proxy.as_ref().map(ExposeSecret::expose_secret))?;
    dict.set_item("trust_env", options.trust_env)?;
    dict.set_item("ca_bundle", options.ca_bundle.as_ref())?;
    dict.set_item("allow_http", options.allow_http)?;
    dict.set_item("max_response_bytes", options.max_response_bytes)?;
    dict.set_item("job_path", &options.job_path)?;
    dict.set_item("requests_per_hour", options.requests_per_hour)?;
    dict.set_item("reserve", options.reserve)?;
    dict.set_item("store", options.store.as_ref())?;
    dict.set_item("settle_days", options.settle_days)?;
    dict.set_item("organization", options.organization.as_ref())?;
    Ok(dict)
}

fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| convert::wrong_type(name, "True or False", value))
}
