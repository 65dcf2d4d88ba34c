//! `Client` and `AsyncClient`: every method once, in the class that both extend, by subject in the
//! modules below. Its face runs each method's operation.

/// A method's name, for its operation.
macro_rules! client_method {
    ($method:ident) => {
        concat!("Client.", stringify!($method))
    };
}

pub mod handle;
pub mod hooks;
mod jobs;
mod listings;
pub mod options;
mod paging;
mod ranges;
mod request;

use std::sync::Mutex;

use futures_util::future::Either;
use pyo3::types::PyCFunction;

use crate::config::Options;
use crate::error;
use crate::lock;
use crate::python::bridge::{self, NOT_AWAITED};
use crate::python::client::handle::Handle;
use crate::python::client::hooks::Hooks;
use crate::python::prelude::*;

/// Panics, for a test of what a bug becomes.
#[pyfunction]
pub fn _panic(client: &Bound<'_, BaseClient>) -> Returned {
    #[expect(clippy::panic)]
    let panic = |_| async { panic!("on purpose") };
    let op = Operation::new("Client._panic", panic, |py, ()| Ok(Next::Value(py.None())));
    client.get().face.run(client.py(), op)
}

/// The base of `Client` and `AsyncClient`. Errors of wrong arguments show its name, so it reads as
/// a user's own variable does.
#[pyclass(frozen, subclass, weakref, module = "docplatform", name = "client")]
pub struct BaseClient {
    handle: Arc<Handle>,
    face: Face,
}

/// A class that users make clients of: its constructor, and the context manager of its face.
macro_rules! client_class {
    ($(#[$meta:meta])* $class:ident: $face:expr, $enter:ident, $exit:ident) => {
        $(#[$meta])*
        pub struct $class;

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (api_key = None, **settings), text_signature = None)]
            fn new(
                py: Python<'_>,
                api_key: Option<&Object<'_>>,
                settings: Option<&Bound<'_, PyDict>>,
            ) -> PyResult<PyClassInitializer<Self>> {
                let base = BaseClient::new(py, $face, api_key, settings)?;
                Ok(PyClassInitializer::from(base).add_subclass(Self))
            }

            fn $enter(slf: Bound<'_, Self>) -> Returned {
                BaseClient::enter(slf.into_super(), concat!("Client.", stringify!($enter)))
            }

            #[pyo3(signature = (*exception))]
            fn $exit(slf: &Bound<'_, Self>, exception: &Bound<'_, PyTuple>) -> Returned {
                // An exception passes as it is.
                let _ = exception;
                slf.as_super().get().closed(slf.py(), concat!("Client.", stringify!($exit)))
            }
        }
    };
}

client_class! {
    #[doc = doc!("Client()")]
    #[pyclass(frozen, extends = BaseClient, module = "docplatform", name = "Client")]
    BlockingClient: Face::Blocking, __enter__, __exit__
}

client_class! {
    #[doc = doc!("AsyncClient()")]
    #[pyclass(frozen, extends = BaseClient, module = "docplatform")]
    AsyncClient: Face::Async, __aenter__, __aexit__
}

impl BaseClient {
    fn new(
        py: Python<'_>,
        face: Face,
        api_key: Option<&Object<'_>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (mut options, mut hooks) = (Options::default(), Hooks::default());
        if let Some(key) = api_key {
            options::set(&mut options, &mut hooks, "api_key", key)?;
        }
        options::update(&mut options, &mut hooks, settings)?;
        let options = handle::resolve(py, options, |_| true)?;
        Self::of(py, Handle::new(py, options, hooks)?, face)
    }

    fn of(py: Python<'_>, handle: Handle, face: Face) -> PyResult<Self> {
        let Hooks {
            api_key,
            on_attempt,
        } = &*handle.hooks;
        if let Some(function) = api_key.as_ref().filter(|_| face == Face::Blocking) {
            bridge::refuse_coroutine_function("api_key", function.bind(py), NOT_AWAITED)?;
        }
        if let Some(function) = on_attempt {
            let why = "which is not awaited: use a plain function";
            bridge::refuse_coroutine_function("on_attempt", function.bind(py), why)?;
        }
        if face == Face::Async {
            bridge::prepare(py)?;
        }
        Ok(Self {
            handle: Arc::new(handle),
            face,
        })
    }

    /// As the user names its class.
    fn class(&self) -> &'static str {
        match self.face {
            Face::Blocking => "Client",
            Face::Async => "AsyncClient",
        }
    }

    fn enter(slf: Bound<'_, Self>, name: &'static str) -> Returned {
        slf.get().handle.client()?;
        let (py, face) = (slf.py(), slf.get().face);
        let slf = slf.into_any().unbind();
        face.run(py, Operation::ready(name, |_| Ok(Next::Value(slf))))
    }

    fn closed(&self, py: Python<'_>, name: &'static str) -> Returned {
        let handle = Arc::clone(&self.handle);
        let close = move |py: Python<'_>| {
            let Some(closing) = handle.close().map(Mutex::new) else {
                return Ok(Next::Value(py.None()));
            };
            let wait = PyCFunction::new_closure(py, None, None, move |args, _| {
                handle::wait(args.py(), |step| lock(&closing).wait_for(step)).map(drop)
            })?;
            Ok(Next::Offload {
                call: wait.into_any().unbind(),
                then: Box::new(|_, none| Ok(Next::Value(none))),
            })
        };
        self.face.run(py, Operation::ready(name, close))
    }

    /// An operation of this client, which it asks its handle for when it begins, on the caller's
    /// thread: the client may have been closed since the call, or the process forked.
    fn op<T, F>(
        &self,
        name: &'static str,
        future: impl FnOnce(Client, Arc<Inbox>) -> F + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> Returned + Send + 'static,
    ) -> Operation
    where
        T: Send + 'static,
        F: Future<Output = error::Result<T>> + Send + 'static,
    {
        let handle = Arc::clone(&self.handle);
        let begin = move |inbox| match handle.client() {
            Ok(client) => Either::Left(future(client, inbox)),
            Err(error) => Either::Right(std::future::ready(Err(error))),
        };
        let hooks = Arc::clone(&self.handle.hooks);
        Operation::new(name, begin, |py, value| finish(py, value).map(Next::Value)).hooks(hooks)
    }

    /// Runs the operation of a write. If it cannot begin, nothing was sent.
    fn write(&self, py: Python<'_>, begin: impl FnOnce() -> PyResult<Operation>) -> Returned {
        self.face.run(py, errors::not_sent(py, begin())?.writing())
    }
}

#[pymethods]
impl BaseClient {
    #[doc = doc!("Client.with_options")]
    #[pyo3(signature = (**changes))]
    fn with_options(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> Returned {
        let handle = self.handle.with_options(py, changes)?;
        let base = PyClassInitializer::from(Self::of(py, handle, self.face)?);
        Ok(match self.face {
            Face::Blocking => Py::new(py, base.add_subclass(BlockingClient))?.into_any(),
            Face::Async => Py::new(py, base.add_subclass(AsyncClient))?.into_any(),
        })
    }

    #[doc = doc!("Client.stats")]
    #[getter]
    fn stats(&self, py: Python<'_>) -> Returned {
        self.handle.stats(py)
    }

    #[doc = doc!("Client.close")]
    fn close(&self, py: Python<'_>) -> Returned {
        self.closed(py, "Client.close")
    }

    fn __repr__(&self) -> String {
        self.handle.repr(self.class())
    }

    fn _repr_html_(&self, py: Python<'_>) -> Returned {
        self.handle.html(py, self.class())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Object<'py>, ())> {
        slf.get().handle.reduce(&slf.get_type())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match Arc::strong_count(&self.handle) {
            1 => hooks::traverse(&self.handle.hooks, &visit),
            // An iterator or a coroutine uses it as well.
            _ => Ok(()),
        }
    }
}
