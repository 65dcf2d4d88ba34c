//! Jobs: bodies, waits, batches and names.

mod batch;
pub(crate) mod bodies;
pub(crate) mod intervals;
mod once;
pub(crate) mod settle;
pub(crate) mod waits;
