//! The client for a documentation platform: a core that knows the service and not Python, and under the feature
//! `python` a thin layer that knows Python and not HTTP.

pub mod budget;
pub mod checkpoint;
pub mod client;
pub mod clock;
pub mod coming;
pub mod config;
pub mod dates;
pub mod endpoint;
pub mod error;
pub mod export;
pub mod extras;
pub mod files;
pub mod findings;
pub mod formats;
pub mod gate;
pub mod gather;
pub mod held;
pub mod http;
pub mod jobs;
pub mod json;
pub mod observer;
pub mod pager;
pub mod plan;
#[cfg(feature = "python")]
mod python;
mod quick;
pub mod rate_limit;
pub mod record;
mod redact;
mod report;
pub mod retry;
pub mod retry_after;
pub mod rows;
mod seen;
pub mod slices;
pub mod store;
pub mod stored;
pub mod sync;
pub mod table;
pub mod text;
pub mod trace;
pub mod transport;
pub mod trend;
pub mod visitor_rows;
pub mod visitors;
pub mod wait;
