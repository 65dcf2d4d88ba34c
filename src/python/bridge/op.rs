//! What an operation of a client is before it starts: its work, how its value is made, and what its caller wants to see
//! meanwhile.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::Error;
use crate::python::bridge::port::{Inside, Port};

/// Makes the Python value of a result, on the caller's thread.
pub(crate) type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Next> + Send>;
pub(crate) type Then = Box<dyn FnOnce(Python<'_>, Py<PyAny>) -> PyResult<Next> + Send>;
type Start = Box<dyn FnOnce(Arc<Port>) -> BoxFuture<'static, Result<Finish, Error>> + Send>;
pub(crate) type OnError = Box<dyn Fn(&Bound<'_, PyAny>) -> PyResult<()> + Send>;

/// What an operation's end leads to.
pub(crate) enum Next {
    /// Its value.
    Value(Py<PyAny>),
    /// Another operation, whose end is the end of this one.
    Then(Op),
    /// What `then` makes of the value of `call`, a call of Python that may take long: for a loop in another thread.
    Aside { call: Py<PyAny>, then: Then },
}

/// Who runs an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    Blocking,
    Async,
}

/// One operation of a client, not yet started.
pub(crate) struct Op {
    /// As Python names it, for warnings and representations.
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Whether it begins with a write: until the core knows more, nothing was sent.
    pub(crate) writes: bool,
    pub(crate) on_poll: Option<Py<PyAny>>,
    /// Shows how many rows came: see `docplatform._hooks.progress`.
    pub(crate) progress: Option<Py<PyAny>>,
    /// Takes rows as dicts as their pages come.
    pub(crate) rows: Option<Py<PyList>>,
    pub(crate) on_error: Option<OnError>,
    /// Who else works on the same.
    pub(crate) inside: Option<Arc<Inside>>,
}

/// What there is to do: on the caller's thread alone, or on the runtime first.
pub(crate) enum Work {
    Ready(Finish),
    Future { start: Start, in_place: bool },
}

impl Op {
    /// An operation that runs `future` on the runtime and makes its value with `finish`.
    pub(crate) fn new<T, F>(
        name: &'static str,
        future: impl FnOnce(Arc<Port>) -> F + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Next> + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        // `map`, not an async block: that would hold the future twice over.
        let start: Start = Box::new(move |port| {
            let made = |value| Box::new(move |py: Python<'_>| finish(py, value)) as Finish;
            future(port).map(move |result| result.map(made)).boxed()
        });
        Self {
            name,
            work: Work::Future { start, in_place: false },
            writes: false,
            on_poll: None,
            progress: None,
            rows: None,
            on_error: None,
            inside: None,
        }
    }

    /// An operation that needs nothing but the caller's thread.
    pub(crate) fn ready(
        name: &'static str,
        finish: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Self {
        Self::at_hand(name, move |py| finish(py).map(Next::Value))
    }

    /// As [`Op::ready`], where it may turn out that another operation has to follow.
    pub(crate) fn at_hand(
        name: &'static str,
        finish: impl FnOnce(Python<'_>) -> PyResult<Next> + Send + 'static,
    ) -> Self {
        Self {
            name,
            work: Work::Ready(Box::new(finish)),
            writes: false,
            on_poll: None,
            progress: None,
            rows: None,
            on_error: None,
            inside: None,
        }
    }

    /// Says that it begins with a write.
    pub(crate) fn writing(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Looks once, on the caller's thread, whether it is done already: a crossing costs more than most pages.
    pub(crate) fn in_place(mut self) -> Self {
        if let Work::Future { in_place, .. } = &mut self.work {
            *in_place = true;
        }
        self
    }

    /// Calls `on_poll` with every job that is polled.
    pub(crate) fn on_poll(mut self, on_poll: Option<Py<PyAny>>) -> Self {
        self.on_poll = on_poll;
        self
    }

    /// Shows on `progress` how many rows came.
    pub(crate) fn progress(mut self, progress: Option<Py<PyAny>>) -> Self {
        self.progress = progress;
        self
    }

    /// Puts the rows into `list` as dicts, page by page as they come, while others are on their way.
    pub(crate) fn rows(mut self, list: Py<PyList>) -> Self {
        self.rows = Some(list);
        self
    }

    /// Works on what only one at a time may work on.
    pub(crate) fn inside(mut self, inside: &Arc<Inside>) -> Self {
        self.inside = Some(Arc::clone(inside));
        self
    }

    /// Lets `on_error` add to the exception of a failure.
    pub(crate) fn on_error(
        mut self,
        on_error: impl Fn(&Bound<'_, PyAny>) -> PyResult<()> + Send + 'static,
    ) -> Self {
        self.on_error = Some(Box::new(on_error));
        self
    }

    /// The callback, for the garbage collector.
    pub(crate) fn callback(&self) -> Option<&Py<PyAny>> {
        self.on_poll.as_ref()
    }
}
