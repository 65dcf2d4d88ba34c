//! The core, without Python: a scripted transport, and a clock that tokio moves when every task waits.

#![allow(clippy::disallowed_methods, reason = "#[tokio::test] blocks on each test")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../../fuzz/answer.rs"]
mod answer;
mod any;
mod budget;
mod corpus;
mod early;
mod exports;
mod files;
mod formats;
mod intervals;
mod irregular;
mod jobs;
mod ledger;
mod moving;
mod paging;
mod payload;
mod policy;
mod prefetch;
mod resume;
mod retries;
mod script;
mod secrets;
mod service;
mod settle;
mod shared;
mod site;
mod spending;
mod store_files;
mod stored;
mod support;
mod syncs;
mod syncs_killed;
mod tables;
mod throttle;
mod trends;
mod waits;
mod wire;
mod writes;
