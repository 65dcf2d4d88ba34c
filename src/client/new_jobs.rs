//! Jobs that this client, or another under a name, has just created. The service may not find them
//! for some seconds.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::config::url::Segment;
use crate::lock;

/// A new job may not be found for this time.
const MAX_CREATION_LAG: Duration = Duration::from_secs(10);

/// Project, job, and the time until which the job may be missing.
#[derive(Default)]
pub(crate) struct NewJobs(Mutex<Vec<(Segment, Segment, Instant)>>);

impl NewJobs {
    /// Adds a job that was created at `at`. Removes those whose time is over.
    pub(crate) fn add(&self, project: &Segment, id: &Segment, at: Instant) {
        let mut jobs = lock(&self.0);
        jobs.retain(|&(.., until)| until > Instant::now());
        jobs.push((project.clone(), id.clone(), at + MAX_CREATION_LAG));
    }

    /// The time until which a job may be missing.
    pub(crate) fn until(&self, project: &Segment, id: &Segment) -> Option<Instant> {
        let jobs = lock(&self.0);
        jobs.iter()
            .find(|(of, job, _)| of == project && job == id)
            .map(|&(.., until)| until)
    }
}
