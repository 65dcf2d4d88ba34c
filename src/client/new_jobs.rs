//! The jobs that a client has just created: for some seconds the service may not find them.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::config::url::Segment;
use crate::lock;

/// How long after its creation a job may not be found yet.
const MAX_CREATION_LAG: Duration = Duration::from_secs(10);

/// Each with its project, and until when it may be missing.
#[derive(Default)]
pub(crate) struct NewJobs(Mutex<Vec<(Segment, Segment, Instant)>>);

impl NewJobs {
    /// Notes a job that was created at `at`, and forgets those that must be found by now.
    pub(crate) fn add(&self, project: &Segment, id: &Segment, at: Instant) {
        let mut jobs = lock(&self.0);
        jobs.retain(|&(.., until)| until > Instant::now());
        jobs.push((project.clone(), id.clone(), at + MAX_CREATION_LAG));
    }

    /// Until when a job may be missing.
    pub(crate) fn until(&self, project: &Segment, id: &Segment) -> Option<Instant> {
        let jobs = lock(&self.0);
        jobs.iter()
            .find(|(of, job, _)| of == project && job == id)
            .map(|&(.., until)| until)
    }
}
