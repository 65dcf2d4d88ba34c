//! The trace that the caller is in, where the user's process traces with OpenTelemetry.

use http::HeaderValue;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::client::observer::TRACEPARENT;
use crate::python::bridge::call::{CallOut as _, import};
use crate::python::errors;

/// The `traceparent` of the current span, from the caller's thread and context. A process that has not imported
/// OpenTelemetry has no spans, and pays for a look into `sys.modules`.
pub(crate) fn current(py: Python<'_>) -> PyResult<Option<HeaderValue>> {
    // A finalizer at the very end finds no modules any more, and no span either.
    let Ok(modules) = import(py, "sys").and_then(|sys| sys.getattr(intern!(py, "modules"))) else {
        return Ok(None);
    };
    let Some(trace) = modules
        .cast::<PyDict>()?
        .get_item(intern!(py, "opentelemetry.trace"))?
    else {
        return Ok(None);
    };
    errors::watching(py, ask(&trace)).map(Option::flatten)
}

/// Asks the propagator that the user configured, which may be none. Of what it writes only the header that names the
/// trace is sent: baggage may hold anything, and is not for this service.
fn ask(trace: &Bound<'_, PyAny>) -> PyResult<Option<HeaderValue>> {
    let py = trace.py();
    let span = trace
        .getattr(intern!(py, "get_current_span"))?
        .call_out(())?;
    let context = span.call_method_out(intern!(py, "get_span_context"), ())?;
    if !context.getattr(intern!(py, "is_valid"))?.is_truthy()? {
        return Ok(None);
    }
    let carrier = PyDict::new(py);
    import(py, "opentelemetry.propagate")?
        .getattr("inject")?
        .call_out((&carrier,))?;
    let Some(value) = carrier.get_item(TRACEPARENT)? else {
        return Ok(None);
    };
    // What cannot stand in a header is not sent; everything else is the propagator's business.
    let value = HeaderValue::from_str(&value.extract::<String>()?).ok();
    Ok(value.filter(|value| !value.is_empty()))
}
