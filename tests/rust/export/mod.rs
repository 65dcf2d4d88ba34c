//! Reading a listing to its end.

pub(crate) mod early;
pub(crate) mod flights;
pub(crate) mod irregular;
pub(crate) mod memory;
pub(crate) mod moving;
pub(crate) mod paging;
pub(crate) mod prefetch;
pub(crate) mod resume;
pub(crate) mod stored;
pub(crate) mod stream;
