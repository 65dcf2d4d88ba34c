//! The client's calls: policy, retries, throttling, writes and what is shown of them.

pub(crate) mod keys;
pub(crate) mod policy;
pub(crate) mod retries;
pub(crate) mod secrets;
pub(crate) mod shared;
pub(crate) mod spans;
pub(crate) mod throttle;
pub(crate) mod wire;
pub(crate) mod writes;
