//! One logical call and its answer, as data. Its attempts are in `retry.rs`.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use tokio::time::Instant;

use crate::client::attempt::Head;
use crate::client::observer::Observer;
use crate::client::throttle::Lane;
use crate::config::url::{Segment, Template};
use crate::error::Result;

/// Where jobs are created.
pub const CREATE_JOB: &str = "/v2/agent/{project_id}/job";

/// A limit of the service. A budget can be kept for it.
#[derive(Debug, Clone, Copy)]
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
    /// The largest answer of this call, in bytes, unless `max_response_bytes` is less.
    pub cap: Option<usize>,
    /// Whether the path is one that the user gave.
    pub is_other: bool,
    /// The user's text. No error shows it, even if the service echoes it.
    pub prompt: Option<Arc<str>>,
    /// Notes its attempts beyond this process.
    pub journal: Option<Arc<dyn Journal>>,
    /// Shares the request with other calls that want the same page.
    pub flight: Option<Arc<dyn SingleFlight>>,
}

impl Call {
    /// A read of `path`, with nothing but what every call has.
    pub(crate) fn read(path: Template, project: Option<Segment>) -> Self {
        Self {
            method: Method::GET,
            lane: Lane::of_read(path.as_str()),
            path,
            project,
            id: None,
            query: Vec::new(),
            body: None,
            cap: None,
            is_other: false,
            prompt: None,
            journal: None,
            flight: None,
        }
    }
}

/// A note about a write. It outlives the process, and is there whenever the write may have
/// happened.
pub trait Journal: Send + Sync {
    /// Notes that an attempt is about to leave, at `deadline` at the latest. Nothing is sent before
    /// the note is on the disk. The text of an error follows "not sent".
    fn begin(&self, deadline: Instant) -> BoxFuture<'_, Result<()>>;

    /// Notes that nothing happened, as is proven.
    fn nothing_happened(&self);
}

/// A request that several calls want at the same time. One of them sends it, and the others wait
/// for its answer.
pub trait SingleFlight: Send + Sync {
    /// Waits until this call may send it, until `deadline` at the latest. Fails if another call has
    /// got the answer. The text of an error follows "not sent".
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
    /// Shows no query and no body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", self.name())
    }
}

impl Call {
    /// The call in words: method and path template, never the query, and ids only where
    /// the user wrote them into the path.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path.shown())
    }

    /// Whether it is a write. A write that is sent twice could do something twice.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// Notes that nothing happened, if the call has a journal.
    pub(super) fn nothing_happened(&self) {
        if let Some(journal) = &self.journal {
            journal.nothing_happened();
        }
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
