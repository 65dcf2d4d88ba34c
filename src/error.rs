//! The one error of the crate: what happened, what it means for a write, and what was tried. The
//! texts of failed calls are made in `client/messages.rs`, and each face renders them:
//! `python/words.rs`, and `cli/phrases.py` of the command line.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::text::message::Message;
use crate::text::named_enum;

named_enum! {
    /// The kind of a failure, by the name of its class: `ValueError` and `RuntimeError` are
    /// Python's own, all others are in `docplatform`.
    #[derive(Default)]
    Kind {
        /// A setting is missing or unusable.
        Configuration = "ConfigurationError",
        /// A wrong argument, found before anything was sent.
        Argument = "ValueError",
        /// An object used after its end, such as a closed client, or a call that its process ended.
        Misuse = "RuntimeError",
        /// The service was not reached: no byte of the last attempt was written.
        Connect = "ConnectError",
        /// An attempt or the whole call ran out of time.
        Timeout = "RequestTimeoutError",
        /// The connection failed during a read.
        Transport = "TransportError",
        /// A write that may have happened, or one that happened but whose answer cannot be read.
        UnconfirmedWrite = "UnconfirmedWriteError",
        /// A 2xx answer to a read that cannot be used.
        Response = "ResponseError",
        /// An answer whose head refuses the request.
        Status = "StatusError",
        /// Not sent, or not sent again: an earlier answer asked this client to wait.
        HeldBack = "RateLimitError",
        /// The service broke its paging rule, or a strict export found something.
        Pagination = "PaginationError",
        /// The job ended as `failed`.
        JobFailed = "JobFailedError",
        /// A job was not final in time.
        WaitTimeout = "WaitTimeoutError",
        /// A budget or the service grants no request now, and the caller would not wait.
        Budget = "BudgetError",
        /// The store could not be read or written.
        Store = "DocPlatformError",
        /// Another sync fills the store, and the caller would not wait.
        StoreBusy = "StoreBusyError",
        /// A bug in this crate.
        #[default]
        Internal = "DocPlatformError",
    }
}

impl Kind {
    /// The name of its class; a `Status` error's depends on the status.
    pub fn class(self, status: Option<u16>) -> &'static str {
        match status.filter(|_| self == Self::Status) {
            Some(400) => "BadRequestError",
            Some(401) => "AuthenticationError",
            Some(403) => "PermissionDeniedError",
            Some(404) => "NotFoundError",
            Some(409) => "ConflictError",
            Some(422) => "UnprocessableError",
            Some(429) => "RateLimitError",
            Some(500..) => "ServerError",
            _ => self.as_str(),
        }
    }
}

named_enum! {
    /// The outcome of a write that did not return.
    Outcome {
        /// No byte of the last attempt was written. Each before it was refused, or not written
        /// either.
        NotSent = "not_sent",
        /// The head of a final answer refused it. Its body may be lost.
        Rejected = "rejected",
        /// Bytes may have left, and no answer says whether the write happened; or the name of
        /// `once=` belongs to another owner.
        Unknown = "unknown",
        /// It happened: the object that was asked for came. It cannot be read, the wait for it
        /// failed, or the call was interrupted.
        Applied = "applied",
    }
}

/// One try of a call.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// 1 for the first.
    pub number: u32,
    /// The status, if an answer's head came.
    pub status: Option<u16>,
    /// The class of its error; `None` after a success.
    pub class: Option<&'static str>,
    /// The failure in words, with the service's request id if it gave one.
    pub error: String,
    pub elapsed: Duration,
    /// The pause before it.
    pub waited: Duration,
    /// Whether any of the request may have left this machine.
    pub sent: bool,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A wrong argument as a result.
pub(crate) fn refuse<T>(message: impl Into<Message>) -> Result<T> {
    Err(Error::argument(message))
}

/// The crate's one error. Boxed: results stay small.
#[derive(Debug, Clone)]
pub struct Error(Box<Details>);

/// The facts of an [`Error`].
#[derive(Debug, Clone, Default)]
pub struct Details {
    pub kind: Kind,
    /// The text for people, complete and without secrets.
    pub message: Message,
    /// The outcome of a write. For a read, only `NotSent` is used.
    pub outcome: Option<Outcome>,
    pub status: Option<u16>,
    /// The service's own message, if the body has one.
    pub service_message: Option<String>,
    /// The beginning of the answer's body.
    pub body: Option<String>,
    pub request_id: Option<String>,
    /// How long to wait, as the service asked; for a call that was held back, what is left of it.
    pub retry_after: Option<Duration>,
    /// The next time at which the budget or the service may grant a request.
    pub resets_at: Option<Timestamp>,
    /// Whether the same call may succeed later, as the retry policy sees it.
    pub transient: bool,
    /// Whether the deadline left no time for an attempt.
    pub deadline_exceeded: bool,
    pub attempts: Vec<Attempt>,
    pub source: Option<Error>,
}

impl Error {
    /// An error with a kind and a message, and nothing else.
    pub fn new(kind: Kind, message: impl Into<Message>) -> Self {
        Self(Box::new(Details {
            kind,
            message: message.into(),
            ..Details::default()
        }))
    }

    pub fn argument(message: impl Into<Message>) -> Self {
        Self::new(Kind::Argument, message)
    }

    pub fn configuration(message: impl Into<Message>) -> Self {
        Self::new(Kind::Configuration, message)
    }

    /// An error that only a bug in this crate can cause, or that is never shown.
    pub fn bug(what: impl fmt::Display) -> Self {
        Self::new(
            Kind::Internal,
            format!("a bug in docplatform: {what}; please report it"),
        )
    }

    /// The same error, with what it means for a write.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Option<Outcome>) -> Self {
        self.0.outcome = outcome;
        self
    }

    /// The same error of a step before the request: nothing was sent, unless its outcome says more.
    #[must_use]
    pub fn or_not_sent(self) -> Self {
        let outcome = self.outcome.or(Some(Outcome::NotSent));
        self.with_outcome(outcome)
    }

    /// The same error, of a call whose deadline leaves no time: it may succeed later.
    #[must_use]
    pub fn past_deadline(mut self) -> Self {
        (self.0.deadline_exceeded, self.0.transient) = (true, true);
        self
    }

    /// The same error, whose text begins with `beginning`.
    #[must_use]
    pub fn prefixed(mut self, beginning: impl Into<Message>) -> Self {
        self.0.message.prepend(beginning);
        self
    }

    /// The same error, with the one that caused it.
    #[must_use]
    pub fn because(mut self, source: Option<Self>) -> Self {
        self.0.source = source;
        self
    }
}

impl std::ops::Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl std::ops::DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}
