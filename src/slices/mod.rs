//! A range slice by slice: what it costs, its trend, and filling and reading the store.

pub mod dataset;
pub mod plan;
pub mod reading;
pub mod sync;
pub mod trend;
