//! Periods as people name them.

pub(crate) mod periods;
