//! Spans of OpenTelemetry: `docplatform.otel.instrument()` says what makes them.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tokio::sync::oneshot;
use url::Url;

use crate::client::Call;
use crate::client::observer::{Span, Tracer};
use crate::error::Attempt;
use crate::python::bridge::call::CallOut as _;
use crate::python::bridge::runtime;
use crate::python::bridge::wake::Waker;
use crate::python::errors;

/// The object of `docplatform.otel` that makes spans.
static SPANS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// For `docplatform.otel`. Only the first object counts.
#[pyfunction]
pub(crate) fn _instrument(py: Python<'_>, spans: Py<PyAny>) {
    let _ = SPANS.set(py, spans);
}

/// What makes spans below the caller's. A process that is not instrumented pays for a look at [`SPANS`].
pub(crate) fn tracer(py: Python<'_>) -> PyResult<Option<Arc<dyn Tracer>>> {
    let Some(spans) = SPANS.get(py) else {
        return Ok(None);
    };
    // Where no thread can be started, the operation itself says so.
    let Ok(waker) = runtime::waker(py) else {
        return Ok(None);
    };
    let context = spans.bind(py).call_method_out(intern!(py, "context"), ());
    let tracer = |context: Bound<'_, PyAny>| {
        let context = Arc::new(Context(waker.clone(), Some(context.unbind())));
        Arc::new(CallerTracer { waker, context }) as Arc<dyn Tracer>
    };
    Ok(errors::watching(py, context)?.map(tracer))
}

/// Ends the span of a call, on the thread of its caller.
pub(crate) fn end(py: Python<'_>, span: Box<dyn Span>) -> PyResult<()> {
    let span: Box<dyn Any> = span;
    let record = span
        .downcast::<CallSpan>()
        .ok()
        .and_then(|mut span| span.record.take());
    record.map_or(Ok(()), |record| record.end(py))
}

struct CallerTracer {
    waker: Waker,
    context: Arc<Context>,
}

/// The caller's context in OpenTelemetry. It is dropped where the interpreter is held.
struct Context(Waker, Option<Py<PyAny>>);

impl Drop for Context {
    fn drop(&mut self) {
        let context = self.1.take();
        self.0.wake(move |_| drop(context));
    }
}

impl Tracer for CallerTracer {
    /// Python makes the span, on the thread that wakes callers: the caller of a prefetched page is not there.
    fn begin(&self, call: &Call, url: &Url) -> BoxFuture<'static, Option<Box<dyn Span>>> {
        let (sender, begun) = oneshot::channel();
        let (waker, context) = (self.waker.clone(), Arc::clone(&self.context));
        let (method, path) = (call.method.to_string(), call.path.shown());
        let (mut url, at) = (url.clone(), now());
        // It may hold anything.
        url.set_query(None);
        self.waker.wake(move |py| {
            let begin = || {
                let host = (url.host_str(), url.port_or_known_default());
                let facts = (&context.1, method, path, url.as_str(), host, at);
                let spans = SPANS.get(py)?.bind(py);
                Some(
                    spans
                        .call_method_out(intern!(py, "begin"), facts)
                        .and_then(|begun| begun.extract()),
                )
            };
            let begun = begin().map(|begun| errors::watching(py, begun));
            if let Some(Ok(Some(Some((span, header))))) = begun {
                let header: Option<String> = header;
                let record = Record {
                    span,
                    header: header.and_then(|header| header.parse().ok()),
                    attempts: Vec::new(),
                    ended: None,
                };
                let _ = sender.send(CallSpan {
                    waker,
                    record: Some(record),
                });
            }
        });
        begun
            .map(|begun| Some(Box::new(begun.ok()?) as Box<dyn Span>))
            .boxed()
    }
}

/// A span that Python made.
struct CallSpan {
    waker: Waker,
    /// `None` once it was ended.
    record: Option<Record>,
}

struct Record {
    span: Py<PyAny>,
    header: Option<HeaderValue>,
    /// Each with the time at which it ended.
    attempts: Vec<(u64, Attempt)>,
    ended: Option<(u64, Option<&'static str>)>,
}

impl Span for CallSpan {
    fn header(&self) -> Option<HeaderValue> {
        self.record.as_ref()?.header.clone()
    }

    fn attempted(&mut self, attempt: &Attempt) {
        if let Some(record) = &mut self.record {
            record.attempts.push((now(), attempt.clone()));
        }
    }

    fn end(&mut self, error: Option<&'static str>) {
        if let Some(record) = &mut self.record {
            record.ended = Some((now(), error));
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(mut record) = self.record.take() {
            record.ended.get_or_insert((now(), Some("cancelled")));
            self.waker.wake(move |py| {
                if let Err(error) = record.end(py) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
}

impl Record {
    fn end(self, py: Python<'_>) -> PyResult<()> {
        let attempt = |(at, attempt): (u64, Attempt)| {
            let seconds = (attempt.elapsed.as_secs_f64(), attempt.waited.as_secs_f64());
            (attempt.number, attempt.status, attempt.class, seconds, at)
        };
        let attempts: Vec<_> = self.attempts.into_iter().map(attempt).collect();
        let Some((spans, (at, error))) = SPANS.get(py).zip(self.ended) else {
            return Ok(());
        };
        let ended = spans
            .bind(py)
            .call_method_out(intern!(py, "end"), (self.span, attempts, error, at));
        errors::watching(py, ended).map(drop)
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
