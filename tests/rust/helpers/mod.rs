//! A scripted transport, services that answer as the real one does, and clients of both.

pub(crate) mod script;
pub(crate) mod service;
pub(crate) mod site;
pub(crate) mod support;
