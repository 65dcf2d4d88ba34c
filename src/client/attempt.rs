//! One attempt of a call: a request, to the last byte of its answer, and how it may fail.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
};
use http::{HeaderMap, HeaderValue};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::budget::Ticket;
use crate::client::observer::{Note, Observer, TRACEPARENT};
use crate::client::retry::Tries;
use crate::client::{Answer, Call, Client, messages};
use crate::clock::{Clock, Millis};
use crate::error::Result;
use crate::http::retry_after::{date, retry_after};
use crate::http::{Departure, Incoming, Outgoing, SendError};
use crate::text::message::{Advice, Message, message};

/// The most of an error's body that is read.
pub(super) const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long the body of an error may take.
const MAX_ERROR_BODY_TIME: Duration = Duration::from_secs(5);
/// The most memory that is reserved for a body before it arrives.
const MAX_PREALLOCATION: usize = 256 * 1024;
/// A timer that fires later than this was delayed: the process was stopped, or the machine slept.
const MIN_STALL: Duration = Duration::from_millis(10);
/// How long an answer that came meanwhile may then take to be read.
const MAX_CATCH_UP: Duration = Duration::from_secs(1);
/// The number of times that the runtime may run the connection, so that it reads its socket.
const MAX_YIELDS: u32 = 8;

/// The head of an answer, as far as it matters here.
#[derive(Debug, Clone, Default)]
pub struct Head {
    pub status: u16,
    /// `x-request-id`.
    pub request_id: Option<String>,
    /// The wait of `Retry-After`.
    pub retry_after: Option<Duration>,
    pub content_type: Option<String>,
    /// `location`, for a redirect that is not followed.
    pub location: Option<String>,
    /// `date`, in milliseconds since 1970.
    pub date: Option<Millis>,
}

impl Head {
    pub(crate) fn new(status: u16, headers: &HeaderMap, retry_after: Option<Duration>) -> Self {
        let text = |name: &str| {
            let value = headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let id = headers.get("x-request-id");
        Self {
            status,
            // A repaired id would be a different one.
            request_id: id.and_then(|id| String::from_utf8(id.as_bytes().to_vec()).ok()),
            retry_after,
            content_type: text("content-type"),
            location: text("location"),
            date: date(headers).map(Clock::read),
        }
    }
}

/// One attempt that failed.
#[derive(Debug)]
pub enum Failure {
    /// Proven: no byte was written.
    Unsent {
        reason: Message,
        /// Trying again cannot help: TLS, the proxy or the request itself is wrong.
        fatal: bool,
    },
    /// Bytes may have left and no head came.
    Ambiguous {
        reason: Message,
        /// It took too long, rather than broke off.
        timeout: bool,
    },
    /// A complete head that refuses, or is no final answer.
    Refused { head: Box<Head>, body: Bytes },
    /// A 2xx head whose body was lost on the way.
    BodyLost {
        head: Box<Head>,
        reason: Message,
        /// It took too long, rather than broke off.
        timeout: bool,
    },
    /// A 2xx head and a body that cannot be used: too large, encoded, not JSON, of the wrong shape.
    Unreadable {
        head: Box<Head>,
        reason: Message,
        body: Bytes,
        /// Whether it is the requested object all the same.
        is_requested: bool,
    },
}

impl Failure {
    /// The head, if one came.
    pub fn head(&self) -> Option<&Head> {
        match self {
            Self::Unsent { .. } | Self::Ambiguous { .. } => None,
            Self::Refused { head, .. }
            | Self::BodyLost { head, .. }
            | Self::Unreadable { head, .. } => Some(head),
        }
    }
}

impl Client {
    /// One request, to the last byte of its answer.
    pub(super) async fn attempt(
        &self,
        call: &Call,
        url: Url,
        ticket: Option<Ticket>,
        tries: &Tries,
        deadline: Instant,
        observer: &dyn Observer,
    ) -> Result<Answer, Failure> {
        let timeout = self.settings.timeout * if call.is_write() { 2 } else { 1 };
        let until = deadline.min(Instant::now() + timeout);
        let late = |what: &str| match until == deadline {
            true => Message::from(format!("{what} within the call's deadline")),
            false => format!("{what} within {} s", timeout.as_secs_f64()).into(),
        };
        let request = Outgoing {
            method: call.method.clone(),
            url,
            headers: self.headers(call, tries).map_err(|error| Failure::Unsent {
                reason: error.message.clone(),
                fatal: true,
            })?,
            body: call.body.clone(),
        };
        let retry = tries.failed.iter().any(|attempt| attempt.sent);
        let (stats, counted) = (Arc::clone(&self.stats), observer.options().requests);
        let departure = Departure::new(move || {
            stats.sent(retry);
            if let Some(counted) = &counted {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut entry = EntryGuard {
            ticket,
            departure: departure.clone(),
            call,
        };
        let sent = self.transport.send(request, departure.clone());
        let mut incoming = match within(until, sent).await {
            Some(Ok(incoming)) => Ok(incoming),
            Some(Err(SendError::Unsent { reason, fatal })) if departure.withdraw() => {
                Err(Failure::Unsent { reason, fatal })
            }
            Some(Err(SendError::Unsent { reason, .. } | SendError::Ambiguous { reason })) => {
                Err(Failure::Ambiguous {
                    reason,
                    timeout: false,
                })
            }
            None if departure.withdraw() => Err(Failure::Unsent {
                reason: late("no connection"),
                fatal: false,
            }),
            None => Err(Failure::Ambiguous {
                reason: late("no whole answer"),
                timeout: true,
            }),
        }?;

        let status = incoming.status.as_u16();
        let (after, malformed) = retry_after(&incoming.headers, self.store_state.clock.time());
        if malformed {
            let text = format!("{}: an unreadable Retry-After was ignored", call.name());
            observer.note(Note::warning(text, messages::fields(call, self)));
        }
        // Its body may take a while.
        if let (Some(after), 429 | 503) = (after, status) {
            let in_ledger = status == 429 && call.limit().is_some();
            self.shared
                .throttle
                .throttle(call.lane, status, after, in_ledger);
        }
        match entry.ticket.take() {
            Some(ticket) => ticket.answered(status, &incoming.headers, after),
            // This handle has no budget, but another one of the client may have one, whose ledger has
            // to know of the 429.
            None => {
                if let Some(limit) = call.limit().filter(|_| status == 429) {
                    let ledger = self.store_state.ledger(limit);
                    ledger.refused(&incoming.headers, after);
                }
            }
        }
        let head = Box::new(Head::new(status, &incoming.headers, after));
        let success = incoming.status.is_success();
        let (own, patience) = match success {
            true => (call.cap, until),
            // The head tells that it is a refusal. Its text is worth a moment, and not the whole
            // timeout.
            false => (
                Some(MAX_ERROR_BODY),
                until.min(Instant::now() + MAX_ERROR_BODY_TIME),
            ),
        };
        let most = self.settings.max_response_bytes;
        let cap = own.map_or(most, |own| own.min(most));
        let body = match encoding(&incoming.headers) {
            None => {
                // A larger setting helps unless the call's own cap is reached first.
                let advised = own.is_none_or(|own| most < own);
                within(patience, read(&mut incoming, cap, advised)).await
            }
            Some(encoding) => {
                let reason =
                    format!("no compression was requested, but the body is encoded as {encoding}");
                Some(Err(BodyError::Unusable(reason.into(), Bytes::new())))
            }
        };
        let (reason, timeout) = match body {
            // The head decides, also where the body is cut.
            body if !success => {
                let body = match body {
                    Some(Ok(body) | Err(BodyError::Unusable(_, body))) => body,
                    _ => Bytes::new(),
                };
                return Err(Failure::Refused { head, body });
            }
            Some(Ok(body)) => {
                return Ok(Answer {
                    head,
                    headers: incoming.headers,
                    body,
                });
            }
            Some(Err(BodyError::Unusable(reason, body))) => {
                return Err(Failure::Unreadable {
                    head,
                    reason,
                    body: body.slice(..body.len().min(MAX_ERROR_BODY)),
                    is_requested: false,
                });
            }
            Some(Err(BodyError::Broken(reason))) => (reason.into(), false),
            None => (late("no whole answer"), true),
        };
        Err(Failure::BodyLost {
            head,
            reason,
            timeout,
        })
    }

    fn headers(&self, call: &Call, tries: &Tries) -> Result<HeaderMap> {
        let mut headers = self.settings.headers.clone();
        headers.insert(AUTHORIZATION, tries.key.header()?);
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // A header that the user set stays.
        if let Some(span) = tries.span.as_ref().and_then(|span| span.header())
            && !headers.contains_key(TRACEPARENT)
        {
            headers.insert(TRACEPARENT, span);
        }
        Ok(headers)
    }
}

/// A request's entry in the ledger and in the call's journal, until its answer comes. If the
/// attempt ends earlier, the entries stay only if the request left.
struct EntryGuard<'a> {
    ticket: Option<Ticket>,
    departure: Departure,
    call: &'a Call,
}

impl Drop for EntryGuard<'_> {
    fn drop(&mut self) {
        if self.departure.withdraw() {
            self.call.nothing_happened();
        } else if let Some(ticket) = &mut self.ticket {
            ticket.sent();
        }
    }
}

/// The output of `future`, unless it takes until `until`. After a stop of the process its timers
/// are over, and an answer that came in time is still in its socket. It is read.
async fn within<T>(until: Instant, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    if let Ok(done) = timeout_at(until, &mut future).await {
        return Some(done);
    }
    if until.elapsed() > MIN_STALL {
        return timeout(MAX_CATCH_UP, future).await.ok();
    }
    for _ in 0..MAX_YIELDS {
        // The connection is read by a task of its own.
        yield_now().await;
        if let Some(done) = future.as_mut().now_or_never() {
            return Some(done);
        }
    }
    None
}

/// The reason why a body cannot be used.
enum BodyError {
    Broken(String),
    /// It is too large, and its beginning is kept. Or it is encoded, and nothing is kept.
    Unusable(Message, Bytes),
}

/// Reads a body of at most `cap` bytes. If `advised`, a larger `max_response_bytes` would help.
async fn read(incoming: &mut Incoming, cap: usize, advised: bool) -> Result<Bytes, BodyError> {
    let length = incoming.headers.get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut next = incoming.body.chunk().await.map_err(BodyError::Broken)?;
    // Most bodies come in one piece, which is not copied.
    if let Some(body) = next.take_if(|body| Some(body.len()) == length && body.len() <= cap) {
        return Ok(body);
    }
    // Reserve what the service announces, up to a limit, so that the body is not copied while it
    // grows.
    let mut body = Vec::with_capacity(length.unwrap_or(0).min(cap).min(MAX_PREALLOCATION));
    while let Some(chunk) = next {
        let room = cap - body.len();
        if chunk.len() > room {
            body.extend_from_slice(chunk.get(..room).unwrap_or_default());
            let fact = format!("the answer is larger than {cap} bytes");
            let reason = if advised {
                message![fact, Advice::SmallerAnswers {}]
            } else {
                message![fact, ", the most that is read of such an answer"]
            };
            return Err(BodyError::Unusable(reason, body.into()));
        }
        if body.capacity() - body.len() < chunk.len() {
            // The capacity doubles up to the cap, so that a huge answer takes no more memory than
            // allowed.
            let wanted = (body.capacity() * 2).max(body.len() + chunk.len()).min(cap);
            body.reserve_exact(wanted - body.len());
        }
        body.extend_from_slice(&chunk);
        next = incoming.body.chunk().await.map_err(BodyError::Broken)?;
    }
    Ok(body.into())
}

/// The content encoding, if there is one.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let all: Vec<_> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case("identity"))
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}
