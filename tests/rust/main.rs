//! The core, without Python: a scripted transport, and a clock that tokio moves when every task
//! waits.

#![allow(
    clippy::disallowed_methods,
    reason = "#[tokio::test] blocks on each test"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "../../fuzz/answer.rs"]
mod answer;
mod any;
mod budget;
mod client;
mod config;
mod dates;
mod export;
mod helpers;
mod http;
mod job;
mod listing;
mod slices;
mod store;
mod table;
