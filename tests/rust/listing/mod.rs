//! The body of a page.

pub(crate) mod payload;
