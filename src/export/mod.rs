//! Reading a listing to its end: paging, repeats, checkpoints, and where the pages come from.

pub mod checkpoint;
pub mod dedupe;
pub mod file;
pub mod findings;
mod flight;
pub mod observer;
pub mod page;
pub mod pager;
pub mod position;
pub mod service;
pub mod source;
pub(crate) mod stored;
pub mod stream;
