//! Spans of OpenTelemetry, which `docplatform.otel` makes.

use std::any::Any;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderValue;
use tokio::sync::oneshot;
use url::Url;

use crate::client::Call;
use crate::client::observer::{Span, Tracer};
use crate::error::Attempt;
use crate::python::bridge::runtime;
use crate::python::bridge::wake::Waker;
use crate::python::prelude::*;

/// The object of `docplatform.otel` that makes spans.
static SPANS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sets the object of `docplatform.otel`. Only the first call counts.
#[pyfunction]
pub fn _instrument(py: Python<'_>, spans: Py<PyAny>) {
    let _ = SPANS.set(py, spans);
}

/// Makes spans below the caller's, if the process is instrumented.
pub fn tracer(py: Python<'_>) -> PyResult<Option<Arc<dyn Tracer>>> {
    let Some(spans) = SPANS.get(py) else {
        return Ok(None);
    };
    // If no thread can be started, the operation itself says so.
    let Ok(waker) = runtime::waker(py) else {
        return Ok(None);
    };
    let context = spans.bind(py).call_method_out("context", ());
    let tracer = |context: Object<'_>| {
        let context = Arc::new(context.unbind());
        Arc::new(CallerTracer { waker, context }) as Arc<dyn Tracer>
    };
    Ok(errors::watching(py, context)?.map(tracer))
}

/// Ends the span of a call, on the thread of its caller.
pub fn end(py: Python<'_>, span: Box<dyn Span>) -> PyResult<()> {
    let span: Box<dyn Any> = span;
    match span.downcast::<CallSpan>() {
        Ok(mut span) => span.facts.take().map_or(Ok(()), |facts| facts.end(py)),
        Err(_) => Ok(()),
    }
}

struct CallerTracer {
    waker: Waker,
    /// The caller's context in OpenTelemetry.
    context: Arc<Py<PyAny>>,
}

impl Tracer for CallerTracer {
    /// Python makes the span on the thread that wakes callers, because a prefetched page has no
    /// caller yet.
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
                let facts = (&*context, method, path, url.as_str(), host, at);
                let Some(spans) = SPANS.get(py) else {
                    return Ok(None);
                };
                spans
                    .bind(py)
                    .call_method_out("begin", facts)?
                    .extract::<Option<(Py<PyAny>, Option<String>)>>()
            };
            if let Ok(Some(Some((span, header)))) = errors::watching(py, begin()) {
                let facts = SpanFacts {
                    span,
                    header: header.and_then(|header| header.parse().ok()),
                    attempts: Vec::new(),
                    ended: None,
                };
                let _ = sender.send(CallSpan {
                    waker,
                    facts: Some(facts),
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
    /// `None` after its end.
    facts: Option<SpanFacts>,
}

struct SpanFacts {
    span: Py<PyAny>,
    header: Option<HeaderValue>,
    /// Each attempt has the time of its end.
    attempts: Vec<(u64, Attempt)>,
    ended: Option<(u64, Option<&'static str>)>,
}

impl Span for CallSpan {
    fn header(&self) -> Option<HeaderValue> {
        self.facts.as_ref()?.header.clone()
    }

    fn attempted(&mut self, attempt: &Attempt) {
        if let Some(facts) = &mut self.facts {
            facts.attempts.push((now(), attempt.clone()));
        }
    }

    fn end(&mut self, error: Option<&'static str>) {
        if let Some(facts) = &mut self.facts {
            facts.ended = Some((now(), error));
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if let Some(mut facts) = self.facts.take() {
            facts.ended.get_or_insert((now(), Some("cancelled")));
            self.waker.wake(move |py| {
                if let Err(error) = facts.end(py) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
}

impl SpanFacts {
    fn end(self, py: Python<'_>) -> PyResult<()> {
        let attempts = self.attempts.into_iter().map(|(at, attempt)| {
            let seconds = (attempt.elapsed.as_secs_f64(), attempt.waited.as_secs_f64());
            (attempt.number, attempt.status, attempt.class, seconds, at)
        });
        let attempts: Vec<_> = attempts.collect();
        let Some((spans, (at, error))) = SPANS.get(py).zip(self.ended) else {
            return Ok(());
        };
        let ended = spans
            .bind(py)
            .call_method_out("end", (self.span, attempts, error, at));
        errors::watching(py, ended).map(drop)
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
