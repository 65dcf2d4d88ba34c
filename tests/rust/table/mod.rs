//! Tables and the files made of them.

pub(crate) mod columns;
pub(crate) mod files;
pub(crate) mod formats;
