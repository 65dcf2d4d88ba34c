//! One logical call: what it is, and the attempts that it becomes until one is good.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::client::Client;
use crate::client::OnBudget;
use crate::client::admission::Place;
use crate::client::attempt::MAX_ERROR_BODY;
use crate::client::messages;
use crate::client::observer::Observer;
use crate::client::retry::{self, Failure, Head, Limits, Plan};
use crate::client::throttle::Lane;
use crate::config::url::{Segment, Template};
use crate::error::{Attempt, Error, Kind, Outcome, Result};

/// One logical call, before it becomes requests.
#[derive(Clone)]
pub struct Call {
    /// `GET` reads; everything else is a write.
    pub method: Method,
    /// Where to; also what logs and errors show.
    pub path: Template,
    /// For `{project_id}`.
    pub project: Option<Segment>,
    /// For `{id}`.
    pub id: Option<Segment>,
    /// Query parameters.
    pub query: Vec<(String, String)>,
    /// JSON.
    pub body: Option<Bytes>,
    /// What it is throttled with.
    pub lane: Lane,
    /// The largest answer, in bytes.
    pub cap: usize,
    /// What the user wrote, so that no error shows it where the service echoes it.
    pub prompt: Option<Arc<str>>,
}

impl fmt::Debug for Call {
    /// Without what the user wrote.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", messages::what(self))
    }
}

impl Call {
    /// Whether sending it twice could do something twice.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }
}

/// A whole 2xx answer.
#[derive(Debug)]
pub struct Answer {
    /// Its head.
    pub head: Box<Head>,
    /// Its body.
    pub body: Bytes,
}

impl Client {
    /// Sends `call`, as often as the policy allows, until `decode` gets a whole 2xx answer.
    pub async fn call<T>(
        &self,
        call: Call,
        observer: &dyn Observer,
        decode: impl Fn(&Answer) -> Result<T, String> + Send,
    ) -> Result<T> {
        self.call_early(call, observer, |_| false, decode).await
    }

    /// As [`Client::call`]; where `arrived` says so of a whole 2xx answer, others have a turn before it is decoded.
    pub async fn call_early<T>(
        &self,
        call: Call,
        observer: &dyn Observer,
        arrived: impl Fn(&Answer) -> bool + Send,
        decode: impl Fn(&Answer) -> Result<T, String> + Send,
    ) -> Result<T> {
        let mut deadline = self.deadline();
        self.call_by(call, &mut deadline, observer, arrived, decode).await
    }

    /// The deadline of a call that begins now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.settings.deadline
    }

    /// As [`Client::call_early`], as a part of what ends at `deadline`, which waits for the budget put off.
    pub(crate) async fn call_by<T>(
        &self,
        call: Call,
        deadline: &mut Instant,
        observer: &dyn Observer,
        arrived: impl Fn(&Answer) -> bool + Send,
        decode: impl Fn(&Answer) -> Result<T, String> + Send,
    ) -> Result<T> {
        let write = call.is_write();
        let url =
            self.settings.base_url.join(&call.path, call.project.as_ref(), call.id.as_ref(), &call.query)?;
        let budget = self.budget().filter(|_| call.lane == Lane::Analytics);
        observer.write(write.then_some(Outcome::NotSent));
        let mut attempts = Vec::new();
        let mut waited = Duration::ZERO;
        let mut last_retry = None;
        let mut number = 0;
        loop {
            number += 1;
            let place = self.place(&call, budget.as_ref(), deadline, &mut waited, observer).await;
            let Place { permit, ticket } = place.map_err(|mut error| {
                // Failed attempts of this very call say more than the gate that they closed.
                error.attempts = std::mem::take(&mut attempts);
                error
            })?;
            if write && !observer.leaves() {
                let error = Error::new(Kind::Misuse, "the caller has gone, so the request was not sent");
                return Err(error.with_outcome(Some(Outcome::NotSent)));
            }
            let begun = Instant::now();
            // Boxed: thousands of calls that stand in line are small, only those under way are large.
            let answer =
                Box::pin(self.attempt(&call, url.clone(), ticket, number > 1, *deadline, observer)).await;
            if answer.as_ref().is_ok_and(&arrived) {
                yield_now().await;
            }
            let failure = match answer.and_then(|answer| {
                decode(&answer).map_err(|reason| Failure::Unreadable {
                    head: answer.head.clone(),
                    reason,
                    body: answer.body.slice(..answer.body.len().min(MAX_ERROR_BODY)),
                })
            }) {
                Ok(value) => {
                    observer.write(write.then_some(Outcome::Applied));
                    self.pool.shared.give_back(last_retry);
                    return Ok(value);
                }
                Err(failure) => failure,
            };

            let verdict = retry::judge(write, &failure);
            observer.write(verdict.outcome);
            let told = failure.head().and_then(|head| head.retry_after);
            let status = failure.head().map(|head| head.status);
            let spent = status == Some(429) && budget.is_some();
            if let (Some(told), Some(status @ (429 | 503))) = (told, status) {
                self.pool.shared.close(call.lane, status, told);
            }
            let report =
                messages::Failed { call: &call, settings: &self.settings, failure: &failure, verdict };
            let attempt = Attempt {
                number,
                status,
                error: report.attempt(),
                elapsed: begun.elapsed(),
                waited,
                sent: !matches!(failure, Failure::Unsent { .. }),
            };
            observer.note(report.note(&attempt));
            attempts.push(attempt);

            let left = deadline.saturating_duration_since(Instant::now());
            let limits = Limits {
                max_retries: self.settings.max_retries,
                max_retry_after: self.settings.max_retry_after,
            };
            // What the service asked for under a budget is the ledger's to keep, however long.
            let asked = told.filter(|_| !spent);
            let mut plan = retry::plan(verdict.retry, asked, number, limits, left, || self.jitter());
            if let (Plan::Pause(_), Some(pace)) = (plan, verdict.retry)
                && !self.pool.shared.take(pace)
            {
                plan = Plan::GiveUp;
            }
            let Plan::Pause(mut pause) = plan else {
                return Err(report.error(attempts, plan == Plan::Deadline));
            };
            if spent && self.on_budget == OnBudget::Stop && told.is_none_or(|told| told > pause) {
                // The ledger would refuse it after the pause as well.
                pause = Duration::ZERO;
            }
            last_retry = verdict.retry;
            drop(permit);
            self.pause(pause, &format!("{}: retry {number}", report.what()), observer).await;
            waited = pause;
        }
    }
}
