//! The request budget: its policy, its ledger and what calls do under it.

mod jobs;
pub(crate) mod ledger;
pub(crate) mod policy;
pub(crate) mod spending;
