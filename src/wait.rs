//! Waiting for a job: growing intervals, a deadline, and a final status that may be the old one.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::client::Client;
use crate::config::{seconds, seconds_or_zero};
use crate::endpoint::Segment;
use crate::error::{Error, Kind, Result};
use crate::jobs::{self, Job};
use crate::observer::Observer;

/// Each interval is so much longer than the one before.
const GROWTH: f64 = 1.5;
/// Each interval is up to so much shorter or longer, so that many waits do not poll in step.
const JITTER: f64 = 0.2;
/// How long after its creation a job may not be found yet.
const UNBORN: Duration = Duration::from_secs(10);

/// How to wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// How long; `None` for ever.
    pub timeout: Option<Duration>,
    /// The first interval.
    pub poll_interval: Duration,
    /// The longest interval.
    pub max_poll_interval: Duration,
    /// Whether a failed job is an error.
    pub check: bool,
    /// For so long a final status may be the old one, until a poll has shown another.
    pub settle: Duration,
}

impl Wait {
    /// Checks what a user gave, in seconds.
    pub fn new(
        timeout: Option<f64>,
        poll_interval: f64,
        max_poll_interval: f64,
        check: bool,
        settle: f64,
    ) -> Result<Self> {
        let wait = Self {
            timeout: timeout.map(|timeout| seconds_or_zero("timeout", timeout)).transpose()?,
            poll_interval: seconds("poll_interval", poll_interval)?,
            max_poll_interval: seconds("max_poll_interval", max_poll_interval)?,
            check,
            settle: seconds_or_zero("settle", settle)?,
        };
        if wait.poll_interval > wait.max_poll_interval {
            return Err(Error::argument(format!(
                "poll_interval ({poll_interval}) is longer than max_poll_interval ({max_poll_interval})"
            )));
        }
        Ok(wait)
    }
}

/// What is waited for.
#[derive(Debug, Clone)]
pub struct Target {
    /// The job's project.
    pub project: Segment,
    /// The job.
    pub id: Segment,
    /// What is known of it.
    pub last: Option<Job>,
    /// Whether the first poll comes after an interval: it was only just created or written to.
    pub rest_first: bool,
}

impl Target {
    /// A job that was only just created or written to: its first poll comes after an interval.
    pub fn just_written(job: Job) -> Self {
        Self { project: job.project.clone(), id: job.id.clone(), last: Some(job), rest_first: true }
    }
}

/// Polls until the job is final.
pub async fn wait(client: &Client, target: Target, wait: Wait, observer: &dyn Observer) -> Result<Job> {
    let begun = Instant::now();
    let until = wait.timeout.map(|timeout| begun + timeout);
    let settled = begun + wait.settle;
    let mut stale = !wait.settle.is_zero();
    let mut last = target.last;
    let own = last.as_ref().filter(|job| job.project == target.project);
    let unborn = own.and_then(|job| job.created_here).map(|at| at + UNBORN);
    let mut interval = wait.poll_interval;
    if let Some(job) = &last {
        observer.job(job);
    }
    if target.rest_first {
        let at = next_poll(client, &mut interval, &wait, None);
        rest(at, until).await;
    }
    loop {
        let borne = match jobs::get(client, &target.project, &target.id, observer).await {
            Ok(mut job) => {
                job.created_here = last.as_ref().and_then(|job| job.created_here);
                observer.job(&job);
                observer.polled(&job).await;
                stale = stale && job.is_final() && Instant::now() < settled;
                if job.is_final() && !stale {
                    return finish(job, wait.check);
                }
                last = Some(job);
                None
            }
            Err(error) if bearable(&error, unborn) => Some(error),
            Err(error) => return Err(error.with_job(last)),
        };
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(too_late(&target.id, wait.timeout, last, borne));
        }
        let told = borne.as_ref().and_then(|error| error.retry_after);
        let mut at = next_poll(client, &mut interval, &wait, told);
        if stale && at > settled && last.as_ref().is_some_and(Job::is_final) {
            // Once settled the old status counts: look then, not an interval later.
            at = settled.max(Instant::now());
        }
        if let Some(error) = borne
            && told.is_some()
            && until.is_some_and(|until| at > until)
        {
            // The service wants a longer pause than is left.
            return Err(error.with_job(last));
        }
        rest(at, until).await;
    }
}

/// Whether a failed poll is to be borne: the next may succeed, or the job may not have come into being yet.
fn bearable(error: &Error, unborn: Option<Instant>) -> bool {
    let missing = error.kind == Kind::Status && error.status == Some(404);
    error.transient || (missing && unborn.is_some_and(|unborn| Instant::now() < unborn))
}

/// When to poll next; the interval grows.
fn next_poll(client: &Client, interval: &mut Duration, wait: &Wait, told: Option<Duration>) -> Instant {
    let jittered = interval.mul_f64(1.0 - JITTER + 2.0 * JITTER * client.jitter().clamp(0.0, 1.0));
    *interval = interval.mul_f64(GROWTH).min(wait.max_poll_interval);
    Instant::now() + jittered.max(told.unwrap_or_default())
}

/// Rests until `at`, but polls once more at the very end.
async fn rest(at: Instant, until: Option<Instant>) {
    sleep_until(until.map_or(at, |until| at.min(until))).await;
}

fn finish(job: Job, check: bool) -> Result<Job> {
    if check && job.is_failed() {
        let message = format!("job {} failed; its last snapshot is in the error's `job`", job.id.as_str());
        return Err(Error::new(Kind::JobFailed, message).with_job(Some(job)));
    }
    Ok(job)
}

fn too_late(id: &Segment, timeout: Option<Duration>, last: Option<Job>, borne: Option<Error>) -> Error {
    let status = last.as_ref().map_or("never seen", |job| job.status.as_str());
    let message = format!(
        "job {} was not final after {} s (last status: {}); it goes on by itself, and a new wait_for_job takes it up",
        id.as_str(),
        timeout.unwrap_or_default().as_secs_f64(),
        crate::text::safe(status, 60),
    );
    Error::new(Kind::WaitTimeout, message).with_job(last).because(borne)
}
