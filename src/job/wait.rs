//! The polling loop: it waits for a job with growing intervals, until its status is final or the
//! time is up.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::client::observer::{About, LogFields, Note, Observer};
use crate::client::policy::spread;
use crate::client::{Client, messages};
use crate::config::url::Segment;
use crate::config::{seconds, seconds_or_zero};
use crate::error::{Error, Kind, Outcome, Result, refuse};
use crate::job::{self, ACTIVE, Job, Prompt};
use crate::text::message::{Advice, Setting, message};
use crate::text::safe;

/// Growth factor between successive poll intervals.
const POLL_GROWTH: f64 = 1.5;
/// Each interval varies by up to this share, so that many waits do not poll at the same time.
const POLL_JITTER: f64 = 0.2;
/// The least time that a poll may take, even if the wait's time is up before.
const LAST_POLL: Duration = Duration::from_secs(5);
/// The most of a status that is shown, in characters.
const MAX_STATUS: usize = 60;

/// Receives the events of a wait.
pub trait JobObserver: Observer {
    /// A poll came back. Resolves when the caller has looked at it.
    fn polled(&self, _job: &Job) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }

    /// The wait fails; `last` is the job's last snapshot.
    fn failed(&self, _last: Option<Job>) {}
}

#[derive(Debug, Clone)]
pub struct Wait<T = Duration, I = T> {
    /// How long to wait; `None` waits for ever.
    pub timeout: Option<T>,
    /// The first interval.
    pub poll_interval: I,
    /// The longest interval.
    pub max_poll_interval: I,
    /// Whether a failed job is an error.
    pub check: bool,
    /// Statuses that end the wait besides those of [`Job::is_final`].
    pub also_final: Vec<String>,
    /// The time for which a final status may be the old one, unless a poll has shown one that
    /// is not final.
    pub settle: T,
}

impl Wait {
    fn ends_at(&self, job: &Job) -> bool {
        job.is_final() || self.also_final.contains(&job.status)
    }
}

/// The options as a user gave them, in seconds. `None` stands for the default, except in `timeout`.
pub type WaitOptions = Wait<f64, Option<f64>>;

impl WaitOptions {
    /// The first interval, where none is given.
    pub const POLL_INTERVAL: f64 = 2.0;
    /// The longest interval, where none is given.
    pub const MAX_POLL_INTERVAL: f64 = 30.0;

    /// Checks them. If only one interval is given, the other's default adapts. If both are, the
    /// first may not be longer.
    pub fn validate(self) -> Result<Wait> {
        for (name, given) in [
            (Setting::PollInterval, self.poll_interval),
            (Setting::MaxPollInterval, self.max_poll_interval),
        ] {
            given.map(|given| seconds(name, given)).transpose()?;
        }
        let (first, longest) = match (self.poll_interval, self.max_poll_interval) {
            (Some(first), Some(longest)) if first > longest => {
                return refuse(message![
                    Setting::PollInterval,
                    format!(" ({first}) is longer than "),
                    Setting::MaxPollInterval,
                    format!(" ({longest})"),
                ]);
            }
            (Some(first), longest) => {
                (first, longest.unwrap_or(Self::MAX_POLL_INTERVAL.max(first)))
            }
            (None, Some(longest)) => (Self::POLL_INTERVAL.min(longest), longest),
            (None, None) => (Self::POLL_INTERVAL, Self::MAX_POLL_INTERVAL),
        };
        if let Some(wrong) = self
            .also_final
            .iter()
            .find(|status| status.trim().is_empty() || *status == ACTIVE)
        {
            return refuse(message![
                Setting::Final,
                format!(
                    " must name statuses of a job that has ended, not {:?}",
                    safe(wrong, MAX_STATUS)
                ),
            ]);
        }
        Ok(Wait {
            timeout: self
                .timeout
                .map(|timeout| seconds_or_zero(Setting::Timeout, timeout))
                .transpose()?,
            poll_interval: seconds(Setting::PollInterval, first)?,
            max_poll_interval: seconds(Setting::MaxPollInterval, longest)?,
            check: self.check,
            also_final: self.also_final,
            settle: seconds_or_zero(Setting::Settle, self.settle)?,
        })
    }
}

#[derive(Debug)]
pub struct Target {
    pub project: Segment,
    pub id: Segment,
    /// Its last snapshot, if there is one.
    pub last: Option<Job>,
    /// Whether the first poll comes after an interval, because the job was just written to,
    /// or found under its name.
    pub rest_first: bool,
    /// The prompt that this call was given, if it has one: no error of a poll may show it.
    pub prompt: Option<Arc<str>>,
    /// Whether `run_job` has given it a name of `once=`.
    pub is_named: bool,
}

impl Target {
    /// The target of a job that was just created or written to, or found under its name.
    pub fn just_written(job: Job, prompt: Prompt) -> Self {
        let (project, id) = (job.project.clone(), job.id.clone());
        Self {
            project,
            id,
            last: Some(job),
            rest_first: true,
            prompt: Some(prompt.into()),
            is_named: false,
        }
    }
}

/// Polls until the job is final. If this call was to write to the job, each error says that the
/// write has happened, and how to go on without another one, whatever became of a poll.
pub async fn wait(
    client: &Client,
    mut target: Target,
    wait: &Wait,
    observer: &dyn JobObserver,
) -> Result<Job> {
    target.last = target.last.map(Job::current);
    let ended = until_final(client, &mut target, wait, observer).await;
    ended.map_err(|mut error| {
        let (last, id) = (target.last, target.id.shown());
        if target.rest_first {
            error.outcome = Some(Outcome::Applied);
            // The others say themselves how to go on.
            if !matches!(error.kind, Kind::JobFailed | Kind::WaitTimeout) {
                error.message.without_repeat();
                error.message.push(message![
                    format!("; job {id} has the prompt"),
                    Advice::WaitForJob {
                        job: id,
                        // A failed poll has not shown that it still runs.
                        runs: false,
                    }
                ]);
            }
        }
        observer.failed(last);
        error
    })
}

async fn until_final(
    client: &Client,
    target: &mut Target,
    wait: &Wait,
    observer: &dyn JobObserver,
) -> Result<Job> {
    let begun = Instant::now();
    let until = wait.timeout.map(|timeout| begun + timeout);
    let settled = begun + wait.settle;
    let mut stale = !wait.settle.is_zero();
    let mut unknown_statuses = Vec::new();
    let about = || {
        let (project, id) = (target.project.as_str(), target.id.as_str());
        messages::fields_of_job(client, Some(project), Some(id))
    };
    let missing_until = client.new_jobs().until(&target.project, &target.id);
    let mut interval = wait.poll_interval;
    observer.job(&target.id, false);
    if target.rest_first {
        let (at, _) = next_poll(client, &mut interval, wait, None);
        sleep_until_poll(at, until).await;
    }
    loop {
        // Boxed, so that thousands of sleeping waits are small.
        let prompt = target.prompt.clone();
        let poll_begun = Instant::now();
        let poll = Box::pin(job::get(
            client,
            &target.project,
            &target.id,
            prompt,
            observer,
        ));
        let polled = match until {
            None => poll.await,
            Some(until) => timeout_at(until.max(Instant::now() + LAST_POLL), poll)
                .await
                .unwrap_or_else(|_| Err(unanswered())),
        };
        let failure = match polled {
            // An answer is as old as its request, however late it comes.
            Ok((job, asked)) => {
                let is_final = wait.ends_at(&job);
                stale = stale && is_final && asked < settled;
                if !is_final && !job.is_known() && !unknown_statuses.contains(&job.status) {
                    observer.note(unknown_status(&job, about()));
                    unknown_statuses.push(job.status.clone());
                }
                observer.polled(&job).await;
                if is_final && !stale && !(wait.check && job.is_failed()) {
                    return Ok(job);
                }
                if is_final && !stale {
                    let named = target.is_named;
                    let what = format!("job {} failed", job.id.shown());
                    target.last = Some(job);
                    let message = message![what, Advice::LookAtJob { named }];
                    return Err(Error::new(Kind::JobFailed, message));
                }
                target.last = Some(job);
                None
            }
            Err(error)
                if is_tolerated(
                    &error,
                    missing_until.is_some_and(|until| poll_begun < until),
                ) =>
            {
                Some(error)
            }
            Err(error) => return Err(error),
        };
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(too_late(target, wait, failure));
        }
        let retry_after = failure.as_ref().and_then(|error| error.retry_after);
        let (mut at, asked) = next_poll(client, &mut interval, wait, retry_after);
        let granted = Instant::now() + asked;
        let by_service = granted >= at;
        if failure.is_none() && stale && at > settled {
            // From this time on, the old status is believed, so the next poll comes then.
            at = settled.max(Instant::now());
        }
        if let Some(error) = failure
            && until.is_some_and(|until| granted > until)
        {
            // The service asks for a longer pause than the wait has left.
            return Err(error);
        }
        if by_service {
            let pause = at.saturating_duration_since(Instant::now());
            client.note_pause(
                pause,
                &format!("the wait for job {}", target.id.shown()),
                messages::SERVICE_ASKED,
                about(),
                observer,
            );
        }
        sleep_until_poll(at, until).await;
    }
}

/// Whether a failed poll is tolerated: the next may succeed, or the job may not exist yet.
fn is_tolerated(error: &Error, may_be_missing: bool) -> bool {
    let missing = error.kind == Kind::Status && error.status == Some(404);
    error.transient || (missing && may_be_missing)
}

/// The time of the next poll, and the pause that the service asked for. The interval grows.
fn next_poll(
    client: &Client,
    interval: &mut Duration,
    wait: &Wait,
    retry_after: Option<Duration>,
) -> (Instant, Duration) {
    let jittered =
        interval.mul_f64(1.0 - POLL_JITTER + 2.0 * POLL_JITTER * client.jitter().clamp(0.0, 1.0));
    *interval = interval.mul_f64(POLL_GROWTH).min(wait.max_poll_interval);
    let asked = retry_after.map_or(Duration::ZERO, |wait| wait + spread(wait, client.jitter()));
    (Instant::now() + jittered.max(asked), asked)
}

/// Sleeps until `at`, but no longer than `until`.
async fn sleep_until_poll(at: Instant, until: Option<Instant>) {
    sleep_until(until.map_or(at, |until| at.min(until))).await;
}

fn too_late(target: &Target, wait: &Wait, failure: Option<Error>) -> Error {
    let id = &target.id;
    let last = target.last.as_ref().filter(|job| !job.is_outdated());
    let status = last.map_or("never seen", |job| job.status.as_str());
    let is_final = last.is_some_and(|job| wait.ends_at(job));
    let said = match target.rest_first {
        // After a message, a final status may be the old one.
        true if is_final => "showed no new status within",
        // No message followed it, so only a poll could say more.
        false if is_final => "could not be read within",
        _ => "was not final after",
    };
    let foreign = last.is_some_and(|job| !is_final && !job.is_known());
    let mut message = message![format!(
        "job {} {said} {} s (last status: {}{})",
        id.shown(),
        wait.timeout.unwrap_or_default().as_secs_f64(),
        safe(status, MAX_STATUS),
        if foreign {
            ", which this client does not know"
        } else {
            ""
        },
    )];
    if let Some(failure) = &failure {
        message.push(format!("; its last poll failed: {}", failure.message));
    }
    message.push(match foreign {
        true => Advice::EndAtStatus {
            status: safe(status, MAX_STATUS),
            job: id.shown(),
        },
        false => Advice::WaitForJob {
            job: id.shown(),
            // A failed poll has not shown that it still runs.
            runs: failure.is_none() && !is_final,
        },
    });
    Error::new(Kind::WaitTimeout, message).because(failure)
}

/// The error of a last poll that brought no result in its time.
fn unanswered() -> Error {
    let mut error = Error::new(Kind::Timeout, "no result came within its time".to_owned());
    error.transient = true;
    error
}

/// The log line about an unknown status.
fn unknown_status(job: &Job, fields: LogFields) -> Note {
    let status = safe(&job.status, MAX_STATUS);
    let text = format!(
        "job {} has the status '{status}', which this client does not know: the wait goes on",
        job.id.shown(),
    );
    let fields = Box::new(fields);
    Note::warning(text, About::UnknownStatus { status, fields })
}
