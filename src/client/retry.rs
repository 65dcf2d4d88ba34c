//! The retry loop: the attempts of a call until one succeeds. `policy.rs` decides what follows a
//! failure, but for a 401: that is tried once more here, if there is a newer key.

use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use crate::client::attempt::{Failure, MAX_ERROR_BODY};
use crate::client::call::{Answer, Call, DecodeError};
use crate::client::observer::{Observer, Span};
use crate::client::policy::{self, Pace, Refusal, RetryPlan};
use crate::client::{Client, WaitOrStop, messages};
use crate::clock::Millis;
use crate::config::ApiKey;
use crate::error::{Attempt, Error, Kind, Outcome, Result};
use crate::lock;

/// A complete 2xx answer that is not decoded yet, and the attempts that led to it.
pub struct Received {
    client: Client,
    call: Call,
    pub answer: Answer,
    tries: Tries,
}

/// The attempts of a call so far.
pub(super) struct Tries {
    pub(super) failed: Vec<Attempt>,
    pub(super) number: u32,
    /// When the latest attempt began.
    sent_at: Millis,
    /// How long the latest attempt lasted.
    elapsed: Duration,
    /// The pauses before the latest attempt.
    waited: Duration,
    pub(super) key: ApiKey,
    /// Whether a 401 led to a second key.
    renewed: bool,
    /// The pace of the latest retry. A success gives its share of the retry quota back.
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
    /// The time of day at which its last attempt began. No data in it is older.
    pub(crate) fn sent_at(&self) -> Millis {
        self.tries.sent_at
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
                let (head, tries) = (&self.answer.head, &mut self.tries);
                let attempt = tries.attempted(Some(head.status), None, String::new(), true);
                if observer.options().debugs {
                    observer.note(messages::answered(&self.call, &self.client, head, attempt));
                }
                tries.end(None, observer);
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

    /// Like [`Client::call`], without reading the answer. The time spent waiting for the budget and
    /// for the caller's key is added to `deadline`.
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
            sent_at: Millis::default(),
            elapsed: Duration::ZERO,
            waited: Duration::ZERO,
            key: Box::pin(self.key(deadline, observer))
                .await
                .map_err(|why| messages::not_admitted(&call, why, Vec::new()))?,
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
                let flight = call.flight.as_ref();
                let is_landed = flight.is_some_and(|flight| flight.is_landed());
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
        let budget = call.limit().and_then(|limit| self.budget_of(limit));
        loop {
            tries.number += 1;
            let number = tries.number;
            let admitted = self
                .admit(call, budget.as_ref(), deadline, &mut tries.waited, observer)
                .await;
            let (permit, ticket) = admitted.map_err(|why| {
                messages::not_admitted(call, why, std::mem::take(&mut tries.failed))
            })?;
            if call.is_write() && !observer.leaves() {
                call.nothing_happened();
                let text = "the caller stopped waiting, so the request was not sent";
                return Err(Error::new(Kind::Misuse, text).with_outcome(Some(Outcome::NotSent)));
            }
            let begun = Instant::now();
            tries.sent_at = self.now();
            // Boxed, so that thousands of waiting calls are small, and only those under way are
            // large.
            let answer =
                Box::pin(self.attempt(call, url.clone(), ticket, tries, *deadline, observer)).await;
            tries.elapsed = begun.elapsed();
            let failure = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };

            let report = self.failed(call, &failure, tries, observer);
            if matches!(
                report.verdict.outcome,
                Some(Outcome::NotSent | Outcome::Rejected)
            ) {
                call.nothing_happened();
            }
            let status = failure.head().map(|head| head.status);
            // A 401 comes before anything is done, so even a write may be sent again. This happens
            // once, with a new key.
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
            let refusal = Refusal {
                retry_after: failure.head().and_then(|head| head.retry_after),
                in_ledger: status == Some(429) && budget.is_some(),
                stops: self.on_budget == WaitOrStop::Stop,
            };
            let pace = report.verdict.retry;
            // The repetition with a new key does not use up `max_retries`. Logs and statistics
            // count it.
            let retries = number - u32::from(tries.renewed);
            let time_left = deadline.saturating_duration_since(Instant::now());
            let (limits, jitter) = (self.settings.limits, || self.jitter());
            let pause = match policy::plan(pace, refusal, retries, limits, time_left, jitter) {
                RetryPlan::Pause(pause)
                    if pace.is_some_and(|pace| lock(&self.shared.retry_quota).take(pace)) =>
                {
                    pause
                }
                plan => {
                    let failed = std::mem::take(&mut tries.failed);
                    return Err(report.error(failed, plan == RetryPlan::Deadline));
                }
            };
            tries.last_retry = pace;
            drop(permit);
            let why = match refusal.pause().filter(|asked| !asked.is_zero()) {
                Some(_) => messages::SERVICE_ASKED,
                None => messages::ATTEMPT_FAILED,
            };
            let what = format!("retry {number}");
            self.pause(call, pause, &what, why, observer).await;
            tries.waited = pause;
        }
    }

    /// Notes and logs that an attempt has failed.
    fn failed<'a>(
        &'a self,
        call: &'a Call,
        failure: &'a Failure,
        tries: &mut Tries,
        observer: &dyn Observer,
    ) -> messages::Failed<'a> {
        let verdict = policy::judge(call.is_write(), failure);
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
