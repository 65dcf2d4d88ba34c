//! The client for a documentation platform: a core that knows the service and not Python, and under
//! the feature `python` a thin layer that knows Python and leaves HTTP to the core.

pub mod budget;
pub mod client;
pub mod clock;
pub mod config;
pub mod dates;
pub mod error;
pub mod export;
pub mod http;
pub mod job;
pub mod listing;
#[cfg(feature = "python")]
mod python;
pub mod slices;
pub mod store;
pub mod table;
pub mod text;

/// Locks `mutex`, also after a panic elsewhere: nothing in this crate is left half done in one, and
/// none is held over an await.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
