//! One logical call: what it is, and its attempts until one succeeds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use tokio::time::Instant;
use url::Url;

use crate::client::admission::Admitted;
use crate::client::attempt::{Failure, Head, MAX_ERROR_BODY};
use crate::client::observer::{Observer, Span};
use crate::client::retry::{self, Limits, Pace, RetryPlan};
use crate::client::throttle::Lane;
use crate::client::{Client, WaitOrStop, messages};
use crate::clock::Millis;
use crate::config::ApiKey;
use crate::config::url::{Segment, Template};
use crate::error::{Attempt, Error, Kind, Outcome, Result};
use crate::lock;

/// Where jobs are created.
pub const CREATE_JOB: &str = "/v2/agent/{project_id}/job";

/// A limit of the service. A budget can be kept for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit<'a> {
    /// Analytics requests, over all projects.
    Analytics,
    /// Jobs that are created in a project.
    Jobs(&'a Segment),
}

/// One logical call, before it becomes requests.
#[derive(Clone)]
pub struct Call {
    /// `GET` reads; everything else is a write.
    pub method: Method,
    /// The path. Logs and errors show it.
    pub path: Template,
    /// For `{project_id}`.
    pub project: Option<Segment>,
    /// For `{id}`.
    pub id: Option<Segment>,
    /// Query parameters.
    pub query: Vec<(String, String)>,
    /// JSON.
    pub body: Option<Bytes>,
    /// The kind of calls that are throttled together with it.
    pub lane: Lane,
    /// The largest answer, in bytes.
    pub cap: usize,
    /// Whether the path is one that the user gave.
    pub is_other: bool,
    /// The user's text. No error shows it, even if the service echoes it.
    pub prompt: Option<Arc<str>>,
    /// Notes its attempts beyond this process.
    pub journal: Option<Arc<dyn Journal>>,
    /// Shares the request with other calls that want the same page.
    pub flight: Option<Arc<dyn SingleFlight>>,
}

/// A note about a write. It outlives the process, and is there whenever the write may have happened.
pub trait Journal: Send + Sync {
    /// Notes that an attempt is about to leave, at `deadline` at the latest. Nothing is sent before the note is on the disk. The
    /// text of an error follows "not sent".
    fn begin(&self, deadline: Instant) -> BoxFuture<'_, Result<()>>;

    /// Notes that nothing happened, as is proven.
    fn nothing_happened(&self);
}

/// A request that several calls want at the same time. One of them sends it, and the others wait for its answer.
pub trait SingleFlight: Send + Sync {
    /// Waits until this call may send it, until `deadline` at the latest. Fails if another call has got the answer. The text of
    /// an error follows "not sent".
    fn enter<'a>(
        &'a self,
        deadline: Instant,
        observer: &'a dyn Observer,
    ) -> BoxFuture<'a, Result<()>>;

    /// Lets another call send it, while this one waits for the budget.
    fn leave(&self);

    /// Whether another call has got the answer.
    fn is_landed(&self) -> bool;
}

impl fmt::Debug for Call {
    /// Shows nothing that the user wrote.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", messages::call_name(self))
    }
}

impl Call {
    /// Whether it is a write. A write that is sent twice could do something twice.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// The limit that it counts against.
    pub fn limit(&self) -> Option<Limit<'_>> {
        let creates = self.method == Method::POST && self.path.as_str() == CREATE_JOB;
        match &self.project {
            _ if self.lane == Lane::Analytics => Some(Limit::Analytics),
            Some(project) if creates => Some(Limit::Jobs(project)),
            _ => None,
        }
    }
}

/// A whole 2xx answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub head: Box<Head>,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Why an answer cannot be read.
pub struct DecodeError {
    pub reason: String,
    /// Whether it is the requested object all the same. Then a write has happened.
    pub is_requested: bool,
}

impl From<String> for DecodeError {
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_requested: false,
        }
    }
}

/// A whole 2xx answer that is not read yet, and the attempts that led to it.
pub struct Received {
    client: Client,
    call: Call,
    pub answer: Answer,
    tries: Tries,
}

/// The attempts of a call so far.
pub(super) struct Tries {
    failed: Vec<Attempt>,
    pub(super) number: u32,
    /// The time of day at which the last one began.
    asked: Millis,
    /// How long the last one lasted.
    elapsed: Duration,
    /// How long the last one waited before it was sent.
    waited: Duration,
    pub(super) key: ApiKey,
    /// Whether it is another key than at first.
    renewed: bool,
    /// The last retry's share of the quota.
    last_retry: Option<Pace>,
    /// The span of the call, if its caller wants one.
    pub(super) span: Option<Box<dyn Span>>,
}

impl Tries {
    /// The attempt under way, which has ended.
    fn attempted(
        &mut self,
        status: Option<u16>,
        class: Option<&'static str>,
        error: String,
        sent: bool,
    ) -> Attempt {
        let attempt = Attempt {
            number: self.number,
            status,
            class,
            error,
            elapsed: self.elapsed,
            waited: self.waited,
            sent,
        };
        if let Some(span) = &mut self.span {
            span.attempted(&attempt);
        }
        attempt
    }

    /// Ends the call's span.
    fn end(&mut self, error: Option<&Error>, observer: &dyn Observer) {
        if let Some(mut span) = self.span.take() {
            span.end(error.map(|error| error.kind.class(error.status)));
            observer.span_ended(span);
        }
    }
}

impl Received {
    /// The time of day at which its request left. No data in it is older.
    pub(crate) fn asked(&self) -> Millis {
        self.tries.asked
    }

    /// How long its request lasted, until the answer was whole.
    pub(crate) fn elapsed(&self) -> Duration {
        self.tries.elapsed
    }

    /// Reads the answer with `decode`. If that fails, the call has failed.
    pub fn read<T, E: Into<DecodeError>>(
        mut self,
        observer: &dyn Observer,
        decode: impl FnOnce(&Answer) -> Result<T, E>,
    ) -> Result<T> {
        let error = match decode(&self.answer) {
            Ok(value) => {
                observer.write(self.call.is_write().then_some(Outcome::Applied));
                lock(&self.client.shared.retry_quota).give_back(self.tries.last_retry);
                self.client
                    .answered(&self.call, &self.answer.head, &mut self.tries, observer);
                return Ok(value);
            }
            Err(error) => error.into(),
        };
        let Answer { head, body, .. } = self.answer;
        let body = body.slice(..body.len().min(MAX_ERROR_BODY));
        let failure = Failure::Unreadable {
            head,
            reason: error.reason.into(),
            body,
            is_requested: error.is_requested,
        };
        let report = self
            .client
            .failed(&self.call, &failure, &mut self.tries, observer);
        let error = report.error(std::mem::take(&mut self.tries.failed), false);
        self.tries.end(Some(&error), observer);
        Err(error)
    }
}

impl Client {
    /// Sends `call` as often as the policy allows, and reads its whole 2xx answer with `decode`.
    pub async fn call<T, E: Into<DecodeError>>(
        &self,
        call: Call,
        observer: &dyn Observer,
        decode: impl FnOnce(&Answer) -> Result<T, E> + Send,
    ) -> Result<T> {
        self.fetch(call, &mut self.deadline(), observer)
            .await?
            .read(observer, decode)
    }

    /// The deadline of a call that begins now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.settings.deadline
    }

    /// Like [`Client::call`], without reading the answer. Waits for the budget move `deadline`.
    pub(crate) async fn fetch(
        &self,
        call: Call,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Received> {
        let url = self.settings.base_url.join(
            &call.path,
            call.project.as_ref(),
            call.id.as_ref(),
            &call.query,
        )?;
        observer.write(call.is_write().then_some(Outcome::NotSent));
        let mut tries = Tries {
            failed: Vec::new(),
            number: 0,
            asked: Millis::default(),
            elapsed: Duration::ZERO,
            waited: Duration::ZERO,
            key: Box::pin(self.key(deadline, observer)).await?,
            renewed: false,
            last_retry: None,
            span: match observer.options().tracer {
                Some(tracer) => tracer.begin(&call, &url).await,
                None => None,
            },
        };
        match self.send(&call, url, &mut tries, deadline, observer).await {
            Ok(answer) => Ok(Received {
                client: self.clone(),
                call,
                answer,
                tries,
            }),
            Err(error) => {
                let is_landed = call
                    .flight
                    .as_ref()
                    .is_some_and(|flight| flight.is_landed());
                tries.end((!is_landed).then_some(&error), observer);
                Err(error)
            }
        }
    }

    /// The retry loop.
    async fn send(
        &self,
        call: &Call,
        url: Url,
        tries: &mut Tries,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<Answer> {
        let write = call.is_write();
        let budget = call.limit().and_then(|limit| self.budget_of(limit));
        loop {
            tries.number += 1;
            let number = tries.number;
            let admitted = self
                .admit(call, budget.as_ref(), deadline, &mut tries.waited, observer)
                .await;
            let Admitted { permit, ticket } = admitted.map_err(|why| {
                messages::not_admitted(call, why, std::mem::take(&mut tries.failed))
            })?;
            Self::check_caller(call, observer)?;
            let begun = Instant::now();
            tries.asked = self.now();
            // Boxed, so that thousands of waiting calls are small, and only those under way are large.
            let answer =
                Box::pin(self.attempt(call, url.clone(), ticket, tries, *deadline, observer)).await;
            tries.elapsed = begun.elapsed();
            let failure = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };

            let report = self.failed(call, &failure, tries, observer);
            if let Some(journal) = &call.journal
                && matches!(
                    report.verdict.outcome,
                    Some(Outcome::NotSent | Outcome::Rejected)
                )
            {
                journal.nothing_happened();
            }
            let retry_after = failure.head().and_then(|head| head.retry_after);
            let status = failure.head().map(|head| head.status);
            let spent = status == Some(429) && budget.is_some();
            // A 401 rejects a request before anything is done. So a write is repeated as safely as a read: once, with another key.
            if status == Some(401) && !tries.renewed {
                drop(permit);
                if let Some(newer) = Box::pin(self.newer_key(&tries.key, deadline, observer)).await
                {
                    (tries.key, tries.renewed) = (newer, true);
                    tries.waited = Duration::ZERO;
                    continue;
                }
                return Err(report.error(std::mem::take(&mut tries.failed), false));
            }
            // With a budget, the ledger has the wait that the service asked for, however long it is.
            let asked = retry_after.filter(|_| !spent);
            // A write is retried only after a time that the service names.
            let waits_for_slot = spent && (!write || retry_after.is_some());
            let retry = report.verdict.retry.map(|pace| match waits_for_slot {
                true => Pace::Throttled,
                false => pace,
            });
            // The attempt with another key is no retry.
            let retries = number - u32::from(tries.renewed);
            let mut pause = match self.plan_retry(retry, asked, retries, *deadline) {
                RetryPlan::Pause(pause) => pause,
                plan => {
                    let failed = std::mem::take(&mut tries.failed);
                    return Err(report.error(failed, plan == RetryPlan::Deadline));
                }
            };
            if spent
                && self.on_budget == WaitOrStop::Stop
                && retry_after.is_none_or(|retry_after| retry_after > pause)
            {
                // The ledger would refuse it after the pause as well.
                pause = Duration::ZERO;
            }
            tries.last_retry = retry;
            drop(permit);
            let why = if asked.is_some() {
                messages::SERVICE_ASKED
            } else {
                messages::ATTEMPT_FAILED
            };
            let about = Some(messages::fields(call, self).into());
            self.pause(
                pause,
                &format!("{}: retry {number}", messages::call_name(call)),
                why,
                about,
                observer,
            )
            .await;
            tries.waited = pause;
        }
    }

    /// Checks that the caller of a write still waits.
    fn check_caller(call: &Call, observer: &dyn Observer) -> Result<()> {
        if !call.is_write() || observer.leaves() {
            return Ok(());
        }
        if let Some(journal) = &call.journal {
            journal.nothing_happened();
        }
        let text = "the caller stopped waiting, so the request was not sent";
        Err(Error::new(Kind::Misuse, text).with_outcome(Some(Outcome::NotSent)))
    }

    /// Whether and when a failed attempt is retried: by the policy, and as far as the retry quota allows.
    fn plan_retry(
        &self,
        retry: Option<Pace>,
        asked: Option<Duration>,
        number: u32,
        deadline: Instant,
    ) -> RetryPlan {
        let time_left = deadline.saturating_duration_since(Instant::now());
        let limits = Limits {
            max_retries: self.settings.max_retries,
            max_retry_after: self.settings.max_retry_after,
        };
        let plan = retry::plan(retry, asked, number, limits, time_left, || self.jitter());
        match (plan, retry) {
            (RetryPlan::Pause(_), Some(pace)) if !lock(&self.shared.retry_quota).take(pace) => {
                RetryPlan::GiveUp
            }
            _ => plan,
        }
    }

    /// Notes that an attempt and its call succeeded.
    fn answered(&self, call: &Call, head: &Head, tries: &mut Tries, observer: &dyn Observer) {
        let attempt = tries.attempted(Some(head.status), None, String::new(), true);
        if observer.options().debugs {
            observer.note(messages::answered(call, self, head, attempt));
        }
        tries.end(None, observer);
    }

    /// Notes and logs that an attempt has failed.
    fn failed<'a>(
        &'a self,
        call: &'a Call,
        failure: &'a Failure,
        tries: &mut Tries,
        observer: &dyn Observer,
    ) -> messages::Failed<'a> {
        let verdict = retry::judge(call.is_write(), failure);
        observer.write(verdict.outcome);
        let report = messages::Failed {
            call,
            client: self,
            failure,
            verdict,
        };
        let attempt = tries.attempted(
            failure.head().map(|head| head.status),
            Some(report.class()),
            report.attempt(),
            !matches!(failure, Failure::Unsent { .. }),
        );
        observer.note(report.note(&attempt));
        tries.failed.push(attempt);
        report
    }
}
