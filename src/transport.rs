//! The door out. The client knows only this trait; `http.rs` is the real one, tests script their own.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// A request, ready to be written.
pub struct Outgoing {
    /// `GET` reads; everything else is a write.
    pub method: Method,
    /// With its query.
    pub url: Url,
    /// Everything but what the transport adds (`Host`, `Content-Length`).
    pub headers: HeaderMap,
    /// JSON, where there is a body.
    pub body: Option<Bytes>,
}

impl fmt::Debug for Outgoing {
    /// Without the body, which holds what the user wrote.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outgoing({} {})", self.method, self.url.path())
    }
}

/// An answer's head, and the way to its body.
pub struct Incoming {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// What follows the head.
    pub body: Box<dyn Body>,
}

/// A body that arrives in pieces.
pub trait Body: Send {
    /// The next piece; `None` at the end that the framing promised, an error where it broke off.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>>;
}

/// Why no head came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// Proven: no byte of the request was written.
    Unsent {
        /// In words, without the URL.
        reason: String,
        /// Trying again cannot help: a certificate, a host name.
        fatal: bool,
    },
    /// Bytes may have left.
    Ambiguous {
        /// In words, without the URL.
        reason: String,
    },
}

/// Sends one request once. Follows no redirect, retries nothing, adds no credential.
pub trait Transport: Send + Sync {
    /// Sends, and waits for the head of the answer. Dropping the future drops the connection.
    fn send(&self, request: Outgoing) -> BoxFuture<'_, Result<Incoming, SendError>>;
}
