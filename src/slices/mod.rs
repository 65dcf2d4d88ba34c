//! A range slice by slice: what it costs, its trend, a comparison with another, and filling and reading the store.

pub mod compare;
pub mod dataset;
pub mod plan;
pub mod reading;
pub mod sync;
pub mod trend;

use crate::listing::endpoint::Endpoint;
use crate::store::What;

/// What is read of each slice of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// Of which endpoint.
    pub endpoint: &'static Endpoint,
    /// What of it.
    pub what: What,
}
