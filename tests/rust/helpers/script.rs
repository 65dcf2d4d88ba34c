//! A transport that answers from a script.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use docplatform::http::{Body, Departure, Incoming, Outgoing, SendError, Transport};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use url::Url;

/// More than any test needs.
const MOST_REQUESTS: usize = 50_000;

/// The fate of one request.
pub(crate) enum Step {
    /// No byte is written.
    Unsent { fatal: bool },
    /// The connection breaks off before a head.
    Ambiguous,
    /// A connection is never had.
    Connecting,
    /// Neither a head nor an end.
    Never,
    /// A head comes.
    Reply(Reply),
}

/// An answer's head, and what follows it.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    headers: HeaderMap,
    after: Duration,
    chunks: VecDeque<Bytes>,
    pace: Duration,
    end: End,
}

/// How a body ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Whole,
    Broken,
    Never,
    Flood,
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

pub(crate) fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    Reply {
        status,
        headers: HeaderMap::new(),
        after: Duration::ZERO,
        chunks: VecDeque::from([body.into()]),
        pace: Duration::ZERO,
        end: End::Whole,
    }
}

/// A status with nothing else.
pub(crate) fn bare(status: u16) -> Step {
    reply(status, "").into()
}

/// A status with a `Retry-After`.
pub(crate) fn with_retry_after(status: u16, retry_after: &str) -> Step {
    reply(status, "").header("retry-after", retry_after).into()
}

impl Reply {
    /// Adds a header; one name may be given several times.
    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
        self.headers.append(HeaderName::from_static(name), value);
        self
    }

    /// The head comes only then.
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// The body comes in these pieces, one each `pace`.
    pub(crate) fn drip(mut self, pieces: usize, piece: &'static str, pace: Duration) -> Self {
        self.chunks = vec![Bytes::from_static(piece.as_bytes()); pieces].into();
        self.pace = pace;
        self
    }

    /// The body breaks off behind what was given.
    pub(crate) fn broken(mut self) -> Self {
        self.end = End::Broken;
        self
    }

    /// The body never ends, and nothing more comes.
    pub(crate) fn hang(mut self) -> Self {
        self.end = End::Never;
        self
    }

    /// The body never ends, and more always comes.
    pub(crate) fn flood(mut self) -> Self {
        self.end = End::Flood;
        self
    }
}

/// A request that the client gave to the transport.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    /// On tokio's clock.
    pub(crate) at: Instant,
}

impl Sent {
    /// A query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<u64> {
        query(&self.url, name)
    }
}

/// A query parameter that is a number.
pub(crate) fn query(url: &Url, name: &str) -> Option<u64> {
    let found = url.query_pairs().find(|(other, _)| other == name)?;
    found.1.parse().ok()
}

/// Requests under way, until their future or their body is dropped.
#[derive(Default)]
struct Flights {
    now: AtomicUsize,
    most: AtomicUsize,
    flooded: AtomicUsize,
}

struct Flight(Arc<Flights>);

impl Flight {
    fn begin(flights: &Arc<Flights>) -> Self {
        let now = flights.now.fetch_add(1, Ordering::SeqCst) + 1;
        flights.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(flights))
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

type Handler = Box<dyn FnMut(&Outgoing) -> Step + Send>;

/// See the module.
pub(crate) struct Script {
    handler: Mutex<Handler>,
    sent: Mutex<Vec<Sent>>,
    flights: Arc<Flights>,
}

impl Script {
    /// Answers one request after another; one more is a failure of the test.
    pub(crate) fn new<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> Arc<Self> {
        let mut steps: VecDeque<Step> = steps.into_iter().map(Into::into).collect();
        Self::each(move |request| {
            steps
                .pop_front()
                .unwrap_or_else(|| panic!("one request too many: {}", request.url))
        })
    }

    /// Answers each request as `handler` says.
    pub(crate) fn each(handler: impl FnMut(&Outgoing) -> Step + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            handler: Mutex::new(Box::new(handler)),
            sent: Mutex::default(),
            flights: Arc::default(),
        })
    }

    /// The requests so far.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// How many requests the client gave to the transport so far.
    pub(crate) fn count(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    /// The time from each request to the next.
    pub(crate) fn gaps(&self) -> Vec<Duration> {
        self.sent()
            .windows(2)
            .map(|pair| pair[1].at - pair[0].at)
            .collect()
    }

    /// Requests under way now.
    pub(crate) fn in_flight(&self) -> usize {
        self.flights.now.load(Ordering::SeqCst)
    }

    /// The most requests that were ever under way together.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.flights.most.load(Ordering::SeqCst)
    }

    /// Bytes that were read of floods.
    pub(crate) fn flooded(&self) -> usize {
        self.flights.flooded.load(Ordering::SeqCst)
    }
}

impl Transport for Script {
    fn send(
        &self,
        request: Outgoing,
        departure: Departure,
    ) -> BoxFuture<'_, Result<Incoming, SendError>> {
        let flight = Flight::begin(&self.flights);
        async move {
            // A bug that asks for ever should fail, not hang.
            assert!(self.count() < MOST_REQUESTS, "requests without end");
            let step = (self.handler.lock().unwrap())(&request);
            let Outgoing {
                method,
                url,
                headers,
                body,
            } = request;
            self.sent.lock().unwrap().push(Sent {
                method,
                url,
                headers,
                body,
                at: Instant::now(),
            });
            let reply = match step {
                Step::Unsent { fatal } => {
                    return Err(SendError::Unsent {
                        reason: "scripted: unsent".into(),
                        fatal,
                    });
                }
                Step::Connecting => std::future::pending().await,
                _ if !departure.leave() => panic!("given up before it was sent"),
                Step::Ambiguous => {
                    return Err(SendError::Ambiguous {
                        reason: "scripted: broke off".into(),
                    });
                }
                Step::Never => std::future::pending().await,
                Step::Reply(reply) => reply,
            };
            if !reply.after.is_zero() {
                // As in life, the connection is read by a task of its own, which needs turns for
                // that.
                let arrival = tokio::spawn(async move {
                    sleep(reply.after).await;
                    yield_now().await;
                });
                arrival.await.unwrap();
            }
            Ok(Incoming {
                status: StatusCode::from_u16(reply.status).unwrap(),
                headers: reply.headers.clone(),
                body: Box::new(Rest { reply, flight }),
            })
        }
        .boxed()
    }
}

struct Rest {
    reply: Reply,
    flight: Flight,
}

impl Body for Rest {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>> {
        async {
            if !self.reply.pace.is_zero() {
                sleep(self.reply.pace).await;
            }
            if let Some(chunk) = self.reply.chunks.pop_front() {
                return Ok(Some(chunk));
            }
            match self.reply.end {
                End::Whole => Ok(None),
                End::Broken => Err("scripted: the body broke off".to_owned()),
                End::Never => std::future::pending().await,
                End::Flood => {
                    let chunk = Bytes::from_static(&[b' '; 16 * 1024]);
                    self.flight
                        .0
                        .flooded
                        .fetch_add(chunk.len(), Ordering::SeqCst);
                    Ok(Some(chunk))
                }
            }
        }
        .boxed()
    }
}
