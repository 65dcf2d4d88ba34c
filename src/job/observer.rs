//! The events of a wait for a job, for its caller.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::client::observer::Observer;
use crate::job::Job;

/// Receives the events of a wait.
pub trait JobObserver: Observer {
    /// A poll came back. Resolves when the caller has looked at it.
    fn polled(&self, _job: &Job) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }

    /// The wait fails; `last` is the job's last snapshot.
    fn failed(&self, _last: Option<Job>) {}
}
