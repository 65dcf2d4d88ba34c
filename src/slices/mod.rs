//! A range slice by slice: what it costs, its trend, a comparison with another, and filling and
//! reading the store.

pub mod compare;
pub mod dataset;
pub mod judge;
pub mod plan;
pub mod reader;
pub mod reading;
pub mod sync;
pub mod trend;

use crate::error::{Result, refuse};
use crate::listing::endpoint::Endpoint;
use crate::store::Content;
use crate::text::message::{Setting, message};

/// The listing, and the part of it that is read of each slice of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub endpoint: &'static Endpoint,
    pub content: Content,
}

impl Subject {
    /// All rows of an endpoint, or its totals. Not every endpoint has totals.
    pub fn new(endpoint: &'static Endpoint, by_path: bool) -> Result<Self> {
        if by_path || endpoint.totals {
            return Ok(Self {
                endpoint,
                content: Content::of(by_path),
            });
        }
        refuse(message![
            Setting::ByPath.to(false),
            format!(
                " reads totals, which the service does not have of {}: leave it out",
                endpoint.name
            ),
        ])
    }
}
