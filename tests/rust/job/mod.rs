//! Jobs: what their bodies hold, and waiting for them.

mod batch;
pub(crate) mod bodies;
pub(crate) mod intervals;
mod once;
pub(crate) mod settle;
pub(crate) mod waits;
