//! What a page may and must hold.

pub(crate) mod payload;
