//! The trait for sending one request. `reqwest.rs` implements it for the client, and tests have
//! scripted transports.

use crate::text::message::Message;
pub mod proxy;
pub mod rate_limit;
pub mod reqwest;
pub mod retry_after;

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// Reads in flight at one time, and idle connections kept for them. With [`MAX_WRITES`] this keeps
/// one client within 64 connections, also while finished connections wait to be closed.
pub const MAX_READS: usize = 24;
/// Writes in flight at one time; each has a connection of its own.
pub const MAX_WRITES: usize = 12;

/// A request, ready to be written.
pub struct Outgoing {
    /// `GET` reads; everything else is a write.
    pub method: Method,
    /// With its query.
    pub url: Url,
    /// Everything but what the transport adds: `Host`, `Content-Length`, `User-Agent` if the user
    /// gave none, and for plain http a proxy's login.
    pub headers: HeaderMap,
    /// JSON, if there is a body.
    pub body: Option<Bytes>,
}

impl fmt::Debug for Outgoing {
    /// Without the body, which contains the user's prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outgoing({} {})", self.method, self.url.path())
    }
}

/// Decides whether a request leaves. The connection asks before it writes, the attempt when it
/// gives up, and the first one wins. So the outcome is known, whichever timer ends the attempt.
#[derive(Clone)]
pub struct Departure(Arc<Stage>);

struct Stage {
    /// Whether it left. Not set while that is open.
    left: OnceLock<bool>,
    on_leave: Box<dyn Fn() + Send + Sync>,
}

impl Departure {
    /// Calls `on_leave` once, when the request leaves.
    pub fn new(on_leave: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(Stage {
            left: OnceLock::new(),
            on_leave: Box::new(on_leave),
        }))
    }

    /// For the transport, before it writes the first byte. On `false`, it must not write anything.
    pub fn leave(&self) -> bool {
        *self.0.left.get_or_init(|| {
            (self.0.on_leave)();
            true
        })
    }

    /// For the caller that waits for the answer: gives the request up. `true` proves that no byte
    /// of it is ever written.
    pub fn withdraw(&self) -> bool {
        !self.0.left.get_or_init(|| false)
    }

    /// Whether it was given up.
    pub fn is_withdrawn(&self) -> bool {
        self.0.left.get() == Some(&false)
    }
}

impl fmt::Debug for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Departure({:?})", self.0.left)
    }
}

/// An answer's head, and the way to its body.
pub struct Incoming {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Box<dyn Body>,
}

/// A body that arrives in pieces.
pub trait Body: Send {
    /// The next piece; `None` at the end of a complete body, an error if it broke off.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>>;
}

/// Why there is no answer's head.
#[derive(Debug)]
pub enum SendError {
    /// Proven: no byte of the request was written.
    Unsent {
        /// In words, without the URL.
        reason: Message,
        /// Trying again cannot help: a fault of TLS, a login that the proxy wants, a request that
        /// cannot be made.
        fatal: bool,
    },
    /// Bytes may have left.
    Ambiguous {
        /// In words, without the URL.
        reason: Message,
    },
}

/// Sends one request once. Follows no redirect, retries nothing, adds no credential but the
/// proxy's.
pub trait Transport: Send + Sync {
    /// Sends, and waits for the head of the answer. Nothing is written before [`Departure::leave`]
    /// allows it. Dropping the future drops the connection.
    fn send(
        &self,
        request: Outgoing,
        departure: Departure,
    ) -> BoxFuture<'_, Result<Incoming, SendError>>;
}
