//! Dates, periods and slices.

mod moments;
pub(crate) mod periods;
mod slices;
