//! The store's file and what it keeps.

pub(crate) mod exports;
pub(crate) mod files;
