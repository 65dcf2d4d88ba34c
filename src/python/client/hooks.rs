//! User functions that a client calls, on the thread or in the loop of the caller.

use std::sync::atomic::{AtomicU64, Ordering};

use secrecy::SecretString;

use crate::client::KeyRequest;
use crate::config::{ApiKey, Options, Renewal};
use crate::python::bridge::operation::Event;
use crate::python::prelude::*;

/// The name of a function's key in errors.
const RETURNED: &str = "the key that the function of api_key returned";

#[derive(Default)]
pub struct Hooks {
    pub api_key: Option<Py<PyAny>>,
    pub on_attempt: Option<Py<PyAny>>,
}

impl Hooks {
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        let clone = |hook: &Option<Py<PyAny>>| hook.as_ref().map(|hook| hook.clone_ref(py));
        Self {
            api_key: clone(&self.api_key),
            on_attempt: clone(&self.on_attempt),
        }
    }

    /// Takes `value` as the function of the API key, if it is one; says whether it is.
    pub(super) fn take_key(&mut self, options: &mut Options, value: &Object<'_>) -> bool {
        static FUNCTIONS: AtomicU64 = AtomicU64::new(0);
        let is_function = value.is_callable();
        self.api_key = is_function.then(|| value.clone().unbind());
        options.renewal = match is_function {
            true => Renewal::Function(FUNCTIONS.fetch_add(1, Ordering::Relaxed)),
            false => Renewal::Never,
        };
        is_function
    }

    /// Calls the function of `api_key=`, unless another caller did meanwhile. `outcome` is that of
    /// a write.
    pub fn ask_key(
        &self,
        py: Python<'_>,
        request: KeyRequest,
        outcome: Option<Outcome>,
    ) -> PyResult<Option<Event>> {
        let Some(function) = self.api_key.as_ref().filter(|_| !request.is_over()) else {
            return Ok(None);
        };
        let returned = function.bind(py).call_out(())?.unbind();
        let then = move |py: Python<'_>, returned: Py<PyAny>| {
            let key: SecretString = convert::text(RETURNED, returned.bind(py))?.into();
            let parsed = ApiKey::parse(RETURNED, &key);
            request.answer(parsed.map_err(|error: Error| error.with_outcome(outcome))?);
            Ok(())
        };
        Ok(Some(Event::Called {
            name: "api_key",
            returned,
            then: Box::new(then),
        }))
    }
}

/// Shows the functions to the garbage collector, if nothing else holds them. Such a function often
/// refers to its client.
pub(super) fn traverse(hooks: &Arc<Hooks>, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    match Arc::strong_count(hooks) {
        1 => {
            visit.call(&hooks.api_key)?;
            visit.call(&hooks.on_attempt)
        }
        _ => Ok(()),
    }
}
