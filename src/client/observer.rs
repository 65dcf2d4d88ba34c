//! Reports of a running call to its caller. The caller shows them in a log, a callback or an
//! exception's note.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::HeaderValue;
use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};
use url::Url;

use crate::client::{Call, KeyRequest};
use crate::config::url::Segment;
use crate::error::{Attempt, Error, Outcome};

/// Shorter waits are not logged.
pub(crate) const MIN_LOGGED_WAIT: Duration = Duration::from_secs(1);
/// The header that names the span of a request.
pub const TRACEPARENT: &str = "traceparent";

/// How much a note matters.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// Details. A success is noted only for an observer whose [`ObserverOptions::debugs`] is true,
    /// a request for the key always.
    Debug,
    /// Something that the user may want to know while the call goes on.
    Info,
    /// Something went wrong and is being dealt with.
    Warning,
}

/// A line for the log: no key, no prompt.
#[derive(Debug, Clone)]
pub struct Note {
    pub level: Level,
    pub text: String,
    pub waiting: Option<Waiting>,
    /// Its subject, for programs.
    pub about: Option<About>,
}

/// The subject of a line.
#[derive(Debug, Clone)]
pub enum About {
    /// A call, one attempt of it, or a job, a name or a listing.
    Call(Box<LogFields>),
    /// The caller's function is to be called for the API key.
    Key(KeyRequest),
    /// A job that was created, or got a message, under a name. The store could not record it.
    Unrecorded(Box<UnrecordedJob>),
    /// A job's status that this client does not know.
    UnknownStatus {
        status: String,
        fields: Box<LogFields>,
    },
}

/// The fields of a log record.
#[derive(Debug, Clone, Default)]
pub struct LogFields {
    pub method: String,
    pub path: String,
    pub project_id: Option<String>,
    pub job_id: Option<String>,
    /// The host of the service.
    pub host: String,
    /// The attempt that has ended; `None` where the line is about the whole call.
    pub attempt: Option<Attempt>,
    /// The status of the answer that the line reports.
    pub status: Option<u16>,
    /// The class of the error that the line reports.
    pub error_type: Option<&'static str>,
    /// The service's name for it, shortened for display.
    pub request_id: Option<String>,
}

impl LogFields {
    /// The fields of a line that reports `error`.
    pub(crate) fn with(self, error: &Error) -> Self {
        Self {
            status: error.status,
            error_type: Some(error.kind.class(error.status)),
            ..self
        }
    }
}

impl From<LogFields> for About {
    fn from(fields: LogFields) -> Self {
        Self::Call(Box::new(fields))
    }
}

/// A job that was created, or got a message, under a name. The store could not record it.
#[derive(Debug, Clone)]
pub struct UnrecordedJob {
    pub name: String,
    pub job: String,
    pub why: String,
    pub fields: LogFields,
}

/// A pause without requests.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub why: &'static str,
    /// When the next request goes out, if that is known.
    pub until: Option<Timestamp>,
    /// Whether the program would seem to hang if nothing showed the wait.
    pub long: bool,
}

impl Waiting {
    pub const LONG: Duration = Duration::from_secs(10);

    /// A wait of this length, up to a time of day.
    pub fn new(why: &'static str, length: Duration, until: Timestamp) -> Self {
        Self {
            why,
            until: Some(until),
            long: length > Self::LONG,
        }
    }
}

/// A wait for another call, with pauses between two checks. Its end is unknown. It is logged after
/// a while, and again once it is long.
pub(crate) struct OpenWait {
    why: &'static str,
    fields: LogFields,
    begun: Instant,
    /// Shorter waits are not logged.
    pub(crate) min_logged: Duration,
    /// The next pause.
    step: Duration,
    /// Whether it was long when it was announced last.
    announced: Option<bool>,
}

impl OpenWait {
    const FIRST_PAUSE: Duration = Duration::from_millis(20);
    const LONGEST_PAUSE: Duration = Duration::from_millis(500);

    pub(crate) fn new(why: &'static str, fields: LogFields) -> Self {
        Self {
            why,
            fields,
            begun: Instant::now(),
            min_logged: MIN_LOGGED_WAIT,
            step: Self::FIRST_PAUSE,
            announced: None,
        }
    }

    pub(crate) fn has_paused(&self) -> bool {
        self.step > Self::FIRST_PAUSE
    }

    /// Pauses until the next check; `false` if `deadline` comes first.
    pub(crate) async fn pause(&mut self, deadline: Instant) -> bool {
        let at = Instant::now() + self.step;
        self.step = (self.step * 2).min(Self::LONGEST_PAUSE);
        if at <= deadline {
            sleep_until(at).await;
        }
        at <= deadline
    }

    /// Announces the wait for `what` where that is due; to be called now and then.
    pub(crate) fn announce(&mut self, observer: &dyn Observer, what: impl fmt::Display) {
        let lasts = self.begun.elapsed();
        let long = lasts > Waiting::LONG;
        if lasts >= self.min_logged && self.announced.replace(long) != Some(long) {
            let waiting = Waiting {
                why: self.why,
                until: None,
                long,
            };
            let text = format!("{what}: waiting for it");
            observer.note(Note::waiting(text, waiting, self.fields.clone()));
        }
    }
}

impl Note {
    pub fn new(level: Level, text: String) -> Self {
        Self {
            level,
            text,
            waiting: None,
            about: None,
        }
    }

    pub(crate) fn warning(text: String, about: impl Into<About>) -> Self {
        Self::new(Level::Warning, text).about(about)
    }

    /// A line about a pause.
    pub(crate) fn waiting(text: String, waiting: Waiting, about: LogFields) -> Self {
        Self {
            waiting: Some(waiting),
            ..Self::new(Level::Info, text).about(about)
        }
    }

    pub(crate) fn about(self, about: impl Into<About>) -> Self {
        Self {
            about: Some(about.into()),
            ..self
        }
    }

    /// The attempt that has ended, if it is about one.
    pub fn attempt(&self) -> Option<&Attempt> {
        match &self.about {
            Some(About::Call(fields)) => fields.attempt.as_ref(),
            _ => None,
        }
    }
}

/// Makes a span for each call of a caller.
pub trait Tracer: Send + Sync {
    /// Begins the span of a call; `None` if there is none.
    fn begin(&self, call: &Call, url: &Url) -> BoxFuture<'static, Option<Box<dyn Span>>>;
}

/// The span of a call. If the span is dropped before its end, the call was dropped.
pub trait Span: Any + Send + Sync {
    /// The `traceparent` that names it.
    fn header(&self) -> Option<HeaderValue>;

    /// An attempt has ended.
    fn attempted(&mut self, attempt: &Attempt);

    /// The call has ended, with an error of this class if it failed.
    fn end(&mut self, error: Option<&'static str>);
}

/// The wishes of an observer.
#[derive(Clone, Default)]
pub struct ObserverOptions {
    /// Whether successes are noted.
    pub debugs: bool,
    /// A further count of the requests that leave.
    pub requests: Option<Arc<AtomicU64>>,
    /// Makes the spans of its calls.
    pub tracer: Option<Arc<dyn Tracer>>,
}

pub trait Observer: Send + Sync {
    fn note(&self, note: Note);

    fn options(&self) -> ObserverOptions {
        ObserverOptions::default()
    }

    /// The outcome of the write that is under way or was answered. `None` for a read.
    fn write(&self, _outcome: Option<Outcome>) {}

    /// Asks whether a write may leave, right before it does. Its outcome is unknown after that.
    /// `false`: the caller was interrupted, and knows that nothing was sent.
    fn leaves(&self) -> bool {
        self.write(Some(Outcome::Unknown));
        true
    }

    /// Gets the job of a creation, a message or a wait, and whether it is known to run, for the
    /// note of an interrupt. Called before the write counts as applied, so that at any moment the
    /// job or the outcome is known.
    fn job(&self, _id: &Segment, _runs: bool) {}

    /// Gets the span of a call that has ended.
    fn span_ended(&self, _span: Box<dyn Span>) {}
}
