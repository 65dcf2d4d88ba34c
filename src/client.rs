//! `call`: auth, gate, place, attempt, retry, decode. The only way to the transport.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use crate::budget::{Budget, Grant, Ledger, Slot, Ticket};
use crate::clock::{Clock, Millis};
use crate::config::Settings;
use crate::endpoint::{Segment, Template};
use crate::error::{Attempt, Error, Kind, Outcome, Result};
use crate::gate::{Lane, Shared};
use crate::observer::{Level, Note, Observer};
use crate::report;
use crate::retry::{self, Failure, Head, LAST_CALL, Limits, Plan};
use crate::retry_after::retry_after;
use crate::store::{Exports, Owner, Store};
use crate::trace::TRACEPARENT;
use crate::transport::{Incoming, Outgoing, SendError, Transport};

/// Reads in flight at one time, and idle connections kept for them. With [`MAX_WRITES`] this keeps one
/// client within 64 connections, also while finished connections wait to be closed.
pub const MAX_READS: usize = 24;
/// Writes in flight at one time; each has a connection of its own.
pub const MAX_WRITES: usize = 12;
/// The most of an error's body that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long the body of an error may take.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The most memory that is set aside for a body before it came.
const BELIEVED: usize = 256 * 1024;
/// A pause longer than this is told before it begins.
const TELL: Duration = Duration::from_secs(1);

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
        write!(f, "Call({})", report::what(self))
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

/// Counts of a client and all its handles.
#[derive(Debug, Default)]
pub struct Stats {
    requests: AtomicU64,
    retries: AtomicU64,
    waited_micros: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Snapshot {
    /// Requests that were sent, retries included.
    pub requests: u64,
    /// Retries among them.
    pub retries: u64,
    /// Seconds spent in pauses.
    pub waited: f64,
}

impl Stats {
    /// The counts now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            requests: self.requests.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            waited: Duration::from_micros(self.waited_micros.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }

    fn paused(&self, pause: Duration) {
        let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
        self.waited_micros.fetch_add(micros, Ordering::Relaxed);
    }
}

/// What a client and its handles share.
struct Pool {
    transport: Arc<dyn Transport>,
    reads: Semaphore,
    writes: Semaphore,
    shared: Shared,
    jitter: Box<dyn Fn() -> f64 + Send + Sync>,
    clock: Clock,
    ledger: Ledger,
    exports: Option<Exports>,
}

/// What a call does that the budget does not grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnBudget {
    /// It waits, and says so.
    #[default]
    Wait,
    /// It is not sent.
    Stop,
}

/// The store of a client, and the clock that it goes by.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// The store.
    pub store: Store,
    /// The clock.
    pub clock: Clock,
    /// Whose it is.
    pub owner: Owner,
}

/// A place among the requests in flight, with the budget's leave.
struct Place<'a> {
    permit: SemaphorePermit<'a>,
    ticket: Option<Ticket>,
}

/// The core client. A clone is the same client.
#[derive(Clone)]
pub struct Client {
    settings: Arc<Settings>,
    pool: Arc<Pool>,
    stats: Arc<Stats>,
    on_budget: OnBudget,
}

impl Client {
    /// A client with connections of its own, that keeps its budget by itself. `jitter` gives random numbers from 0 to 1.
    pub fn new(
        settings: impl Into<Arc<Settings>>,
        transport: Arc<dyn Transport>,
        stats: Arc<Stats>,
        jitter: impl Fn() -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self::with_memory(settings, transport, stats, jitter, None)
    }

    /// As [`Client::new`], with a store.
    pub fn with_memory(
        settings: impl Into<Arc<Settings>>,
        transport: Arc<dyn Transport>,
        stats: Arc<Stats>,
        jitter: impl Fn() -> f64 + Send + Sync + 'static,
        remembered: Option<Remembered>,
    ) -> Self {
        let (clock, ledger, exports) = match remembered {
            None => (Clock::system(), Ledger::in_memory(Clock::steady()), None),
            Some(Remembered { store, clock, owner }) => (
                clock.clone(),
                Ledger::in_store(clock.clone(), store.clone(), owner.clone()),
                Some(Exports::new(store, clock, owner)),
            ),
        };
        let pool = Pool {
            transport,
            reads: Semaphore::new(MAX_READS),
            writes: Semaphore::new(MAX_WRITES),
            shared: Shared::default(),
            jitter: Box::new(jitter),
            clock,
            ledger,
            exports,
        };
        Self { settings: settings.into(), pool: Arc::new(pool), stats, on_budget: OnBudget::default() }
    }

    /// A second handle with other settings on the same connections, gates and counts; `None` where the
    /// change needs connections of its own.
    pub fn with(&self, settings: impl Into<Arc<Settings>>) -> Option<Self> {
        let settings = settings.into();
        let (old, new) = (&self.settings, &settings);
        let same = Arc::ptr_eq(old, new)
            || (old.base_url == new.base_url
                && old.api_key == new.api_key
                && old.wire == new.wire
                && old.memory == new.memory);
        same.then(|| Self { settings, ..self.clone() })
    }

    /// The same client, which does so where the budget grants no request.
    #[must_use]
    pub fn on_budget(&self, on_budget: OnBudget) -> Self {
        Self { on_budget, ..self.clone() }
    }

    /// The budget of analytics requests, where one is kept.
    pub fn budget(&self) -> Option<Budget> {
        self.settings.terms.map(|terms| self.pool.ledger.budget(terms))
    }

    /// The time of day, as it and its store know it.
    pub(crate) fn now(&self) -> Millis {
        self.pool.clock.now()
    }

    /// The exports in its store, where it has one.
    pub fn exports(&self) -> Option<&Exports> {
        self.pool.exports.as_ref()
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The counts.
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// A random number from 0 to 1.
    pub(crate) fn jitter(&self) -> f64 {
        (self.pool.jitter)()
    }

    /// The project of a call: the one named, or the client's.
    pub fn project(&self, named: Option<&str>) -> Result<Segment> {
        if let Some(id) = named {
            return Segment::parse("project_id", id);
        }
        self.settings.project_id.clone().ok_or_else(|| {
            Error::configuration(format!(
                "no project: pass project_id= to the call or the client, or set {}",
                crate::config::ENV_PROJECT_ID
            ))
        })
    }

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
        let write = call.is_write();
        let url =
            self.settings.base_url.join(&call.path, call.project.as_ref(), call.id.as_ref(), &call.query)?;
        let mut deadline = Instant::now() + self.settings.deadline;
        let budget = self.budget().filter(|_| call.lane == Lane::Analytics);
        observer.write(write.then_some(Outcome::NotSent));
        let mut attempts = Vec::new();
        let mut waited = Duration::ZERO;
        let mut last_retry = None;
        let mut number = 0;
        loop {
            number += 1;
            let place = self.place(&call, budget.as_ref(), &mut deadline, &mut waited, observer).await;
            let Place { permit, ticket } = place.map_err(|mut error| {
                // Failed attempts of this very call say more than the gate that they closed.
                error.attempts = std::mem::take(&mut attempts);
                error
            })?;
            if write {
                observer.write(Some(Outcome::Unknown));
            }
            if number > 1 {
                self.stats.retries.fetch_add(1, Ordering::Relaxed);
            }
            let begun = Instant::now();
            // Boxed: thousands of calls that stand in line are small, only those under way are large.
            let answer = Box::pin(self.attempt(&call, url.clone(), ticket, deadline, observer)).await;
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
                    observer.write(None);
                    self.pool.shared.give_back(last_retry);
                    return Ok(value);
                }
                Err(failure) => failure,
            };

            let verdict = retry::judge(write, &failure);
            observer.write(verdict.outcome);
            let told = failure.head().and_then(|head| head.retry_after);
            let status = failure.head().map(|head| head.status);
            // A refusal stands in the ledger, for all who share it.
            let spent = status == Some(429) && budget.is_some();
            if let (Some(told), Some(status @ (429 | 503)), false) = (told, status, spent) {
                self.pool.shared.close(call.lane, status, told);
            }
            let report = report::Failed { call: &call, settings: &self.settings, failure: &failure, verdict };
            let attempt =
                Attempt { number, status, error: report.attempt(), elapsed: begun.elapsed(), waited };
            observer.note(report.note(&attempt));
            attempts.push(attempt);

            if spent && (number <= self.settings.max_retries || self.on_budget == OnBudget::Stop) {
                // The ledger knows for how long.
                waited = Duration::ZERO;
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let limits = Limits {
                max_retries: self.settings.max_retries,
                max_retry_after: self.settings.max_retry_after,
            };
            let mut plan = retry::plan(verdict.retry, told, number, limits, left, || self.jitter());
            if let (Plan::Pause(_), Some(pace)) = (plan, verdict.retry)
                && !self.pool.shared.take(pace)
            {
                plan = Plan::GiveUp;
            }
            let Plan::Pause(pause) = plan else {
                return Err(report.error(attempts, plan == Plan::Deadline));
            };
            last_retry = verdict.retry;
            drop(permit);
            self.pause(pause, &format!("{}: retry {number}", report.what()), observer).await;
            waited = pause;
        }
    }

    /// Waits until the gate is open, a place is free and the budget grants a request; adds its pauses to `waited`.
    /// The deadline does not run while it waits for the budget.
    async fn place(
        &self,
        call: &Call,
        budget: Option<&Budget>,
        deadline: &mut Instant,
        waited: &mut Duration,
        observer: &dyn Observer,
    ) -> Result<Place<'_>> {
        let places = if call.is_write() { &self.pool.writes } else { &self.pool.reads };
        let mut told = None;
        loop {
            // A write that goes out with no time left for its answer would only leave an unknown outcome.
            let last_call = deadline.checked_sub(LAST_CALL).unwrap_or(*deadline);
            if let Some(gate) = self.pool.shared.closed(call.lane) {
                let now = Instant::now();
                let left = gate.until.saturating_duration_since(now);
                if gate.until > last_call {
                    return Err(
                        report::closed_gate(call, gate.status, left).with_outcome(Some(Outcome::NotSent))
                    );
                }
                let spread = left + retry::spread(gate.told, self.jitter());
                let pause = spread.min(last_call.saturating_duration_since(now));
                self.pause(pause, &format!("{}: throttled", report::what(call)), observer).await;
                *waited += pause;
            }
            let Ok(place) = timeout_at(last_call, places.acquire()).await else {
                let not_sent = call.is_write().then_some(Outcome::NotSent);
                return Err(report::no_place(call, self.settings.deadline).with_outcome(not_sent));
            };
            let permit = place.map_err(|_| Error::new(Kind::Misuse, "the client is closed"))?;
            let ticket = match budget {
                None => None,
                Some(budget) => match budget.acquire().await? {
                    Grant::Granted(ticket) => Some(ticket),
                    Grant::Wait(slot) => {
                        drop(permit);
                        if self.on_budget == OnBudget::Stop {
                            return Err(report::budget_spent(call, slot));
                        }
                        let begun = Instant::now();
                        self.nap(call, slot, &mut told, observer).await;
                        *waited += begun.elapsed();
                        *deadline += begun.elapsed();
                        continue;
                    }
                },
            };
            // The gate may have closed while this call stood in line.
            if self.pool.shared.closed(call.lane).is_none() {
                return Ok(Place { permit, ticket });
            }
        }
    }

    /// Waits for the budget, at most until it is worth asking again. Says so where the next slot is another than `told`.
    async fn nap(&self, call: &Call, slot: Slot, told: &mut Option<Slot>, observer: &dyn Observer) {
        /// Slots move a little as answers come in.
        const SAME: Duration = Duration::from_mins(1);
        if slot.wait > TELL && told.is_none_or(|told| slot.at.duration_since(told.at).unsigned_abs() > SAME) {
            observer.note(report::waits_for_budget(call, slot));
            *told = Some(slot);
        }
        let nap = slot.nap();
        sleep(nap).await;
        self.stats.paused(nap);
    }

    async fn pause(&self, pause: Duration, why: &str, observer: &dyn Observer) {
        if pause > TELL {
            let text = format!("{why}: waiting {:.1} s", pause.as_secs_f64());
            observer.note(Note::new(Level::Info, text));
        }
        sleep(pause).await;
        self.stats.paused(pause);
    }

    /// One request, to the last byte of its answer.
    async fn attempt(
        &self,
        call: &Call,
        url: Url,
        mut ticket: Option<Ticket>,
        deadline: Instant,
        observer: &dyn Observer,
    ) -> Result<Answer, Failure> {
        let timeout = self.settings.timeout * if call.is_write() { 2 } else { 1 };
        let until = deadline.min(Instant::now() + timeout);
        let late = || {
            if until == deadline {
                "no whole answer within the call's deadline".to_owned()
            } else {
                format!("no whole answer within {} s", timeout.as_secs_f64())
            }
        };
        let request = Outgoing {
            method: call.method.clone(),
            url,
            headers: self
                .headers(call, observer)
                .map_err(|error| Failure::Unsent { reason: error.message.clone(), fatal: true })?,
            body: call.body.clone(),
        };
        self.stats.requests.fetch_add(1, Ordering::Relaxed);
        observer.sent();
        if let Some(ticket) = &mut ticket {
            ticket.sending();
        }
        let mut incoming = match timeout_at(until, self.pool.transport.send(request)).await {
            Ok(Ok(incoming)) => incoming,
            Ok(Err(error)) => {
                if let (Some(ticket), SendError::Unsent { .. }) = (ticket, &error) {
                    ticket.unsent();
                }
                return Err(error.into());
            }
            Err(_) => return Err(Failure::Ambiguous { reason: late(), timeout: true }),
        };

        let (told, malformed) = retry_after(&incoming.headers, SystemTime::now());
        if malformed {
            let text = format!("{}: a Retry-After that cannot be understood is ignored", report::what(call));
            observer.note(Note::new(Level::Warning, text));
        }
        if let Some(ticket) = ticket {
            ticket.answered(incoming.status.as_u16(), &incoming.headers, told);
        }
        let head = Box::new(Head::new(incoming.status.as_u16(), &incoming.headers, told));
        let success = incoming.status.is_success();
        let cap = if success { call.cap } else { MAX_ERROR_BODY };
        // A refusal is known by its head: its words are worth a moment, not the whole timeout.
        let patience = if success { until } else { until.min(Instant::now() + LAST_WORDS) };
        let body = match encoding(&incoming.headers) {
            None => timeout_at(patience, read(&mut incoming, cap)).await,
            Some(encoding) => Ok(Err(Lost::Unusable(format!(
                "identity was asked for, but the body is encoded as {encoding}"
            )))),
        };
        if !success {
            // The head decides, also where the body is cut.
            let body = match body {
                Ok(Ok(body) | Err(Lost::TooLarge(body))) => body.into(),
                _ => Bytes::new(),
            };
            return Err(Failure::Refused { head, body });
        }
        match body {
            Ok(Ok(body)) => Ok(Answer { head, body: body.into() }),
            Ok(Err(Lost::Broken(reason))) => Err(Failure::BodyLost { head, reason, timeout: false }),
            Ok(Err(Lost::Unusable(reason))) => Err(Failure::Unreadable { head, reason, body: Bytes::new() }),
            Ok(Err(Lost::TooLarge(body))) => Err(Failure::Unreadable {
                head,
                reason: format!("the answer is larger than {cap} bytes (see max_response_bytes)"),
                body: Bytes::from(body).slice(..MAX_ERROR_BODY.min(cap)),
            }),
            Err(_) => Err(Failure::BodyLost { head, reason: late(), timeout: true }),
        }
    }

    fn headers(&self, call: &Call, observer: &dyn Observer) -> Result<HeaderMap> {
        let mut headers = self.settings.headers.clone();
        headers.insert(AUTHORIZATION, self.settings.api_key.header()?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // One that the user set holds.
        if let Some(trace) = observer.trace().filter(|_| !headers.contains_key(TRACEPARENT)) {
            headers.insert(TRACEPARENT, trace.header());
        }
        Ok(headers)
    }
}

enum Lost {
    Broken(String),
    TooLarge(Vec<u8>),
    Unusable(String),
}

async fn read(incoming: &mut Incoming, cap: usize) -> Result<Vec<u8>, Lost> {
    // What the service says of the length, where that is believable: a body is not copied to grow.
    let length = incoming.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = Vec::with_capacity(length.unwrap_or(0).min(cap).min(BELIEVED));
    while let Some(chunk) = incoming.body.chunk().await.map_err(Lost::Broken)? {
        let room = cap - body.len();
        if chunk.len() > room {
            body.extend_from_slice(chunk.get(..room).unwrap_or_default());
            return Err(Lost::TooLarge(body));
        }
        if body.capacity() - body.len() < chunk.len() {
            // Doubling, but never beyond the cap: a flood costs no more memory than was allowed.
            let wanted = (body.capacity() * 2).max(body.len() + chunk.len()).min(cap);
            body.reserve_exact(wanted - body.len());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The content encoding, where there is one.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let all: Vec<_> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .filter(|value| !value.eq_ignore_ascii_case("identity"))
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}
