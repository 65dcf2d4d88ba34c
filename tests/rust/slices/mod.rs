//! Trends, comparisons, plans and syncs.

pub(crate) mod compare;
pub(crate) mod sync;
pub(crate) mod trend;
