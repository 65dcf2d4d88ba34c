//! What became of a call, in words: log lines, and the errors that users see. `not_admitted`
//! decides the outcome; the errors of throttle, deadline and budget say that the same call may
//! succeed later.

use std::borrow::Cow;
use std::time::Duration;

use crate::budget::Slot;
use crate::client::attempt::{Failure, Head};
use crate::client::observer::{Level, LogFields, Note, Waiting};
use crate::client::policy::Verdict;
use crate::client::throttle::{Lane, MAX_THROTTLE};
use crate::client::{Call, Client, Limit};
use crate::config::url::{MAX_SEGMENT, Segment};
use crate::error::{Attempt, Error, Kind, Outcome};
use crate::text;
use crate::text::message::{Advice, Message, Setting, message};
use crate::text::redact;

/// The most of a body that an error keeps, in bytes of its text.
const MAX_BODY: usize = 256;
/// The most of a service's message that an error shows.
const MAX_MESSAGE: usize = 500;
/// The most of a header, or of an unreadable body, that is shown, in characters.
const MAX_HEADER: usize = 120;
/// The most of a foreign text that is looked at, in bytes: far more than is ever shown.
const MAX_SEARCHED: usize = 4096;
/// A run of this many characters identifies a prompt, wherever it stands, if a service echoes only
/// a part.
const PROMPT_RUN: usize = 24;

/// Why nothing is sent after a `Retry-After`.
pub(crate) const SERVICE_ASKED: &str = "the service asked this client to wait";
/// Why nothing is sent before a retry.
pub(crate) const ATTEMPT_FAILED: &str = "the last attempt failed";

/// The fields of a log record about a call.
pub(crate) fn fields(call: &Call, client: &Client) -> LogFields {
    let id = call.id.as_ref().filter(|_| call.lane != Lane::Analytics);
    LogFields {
        method: call.method.to_string(),
        path: call.path.shown(),
        ..fields_of_job(
            client,
            call.project.as_ref().map(Segment::as_str),
            id.map(Segment::as_str),
        )
    }
}

/// The fields of a log record about a project and a job.
pub(crate) fn fields_of_job(
    client: &Client,
    project: Option<&str>,
    job: Option<&str>,
) -> LogFields {
    LogFields {
        project_id: project.map(|id| shown_id(client, id)),
        job_id: job.map(|id| shown_id(client, id)),
        host: client.settings.base_url.host().to_owned(),
        ..LogFields::default()
    }
}

/// An id for display. A secret in it is withheld.
fn shown_id(client: &Client, id: &str) -> String {
    let id = redact::withhold(id, client.secret_in(id));
    text::safe(&id, MAX_SEGMENT)
}

pub(crate) fn answered(call: &Call, client: &Client, head: &Head, attempt: Attempt) -> Note {
    let request_id = head
        .request_id
        .as_deref()
        .map(|id| header(call, client, id));
    let id = request_id
        .as_ref()
        .map_or_else(String::new, |id| format!(" (request id {id})"));
    let text = format!(
        "{}: {} after {:.3} s{id}",
        call.name(),
        head.status,
        attempt.elapsed.as_secs_f64()
    );
    let about = LogFields {
        status: attempt.status,
        attempt: Some(attempt),
        request_id,
        ..fields(call, client)
    };
    Note::new(Level::Debug, text).about(about)
}

/// The error of a call that is not admitted. `why` is the end of its text. The last attempt that
/// was sent says whether the call was answered.
pub(crate) fn not_admitted(call: &Call, why: Error, attempts: Vec<Attempt>) -> Error {
    let sent = attempts.iter().rfind(|attempt| attempt.sent);
    let (arrived, refused) = (sent.is_some(), sent.and_then(|attempt| attempt.status));
    let lead = match refused {
        // The body of a read's answer was lost.
        Some(200..300) => "answered, but not wholly, and not sent again".to_owned(),
        Some(status) => format!("refused with {status}, and not sent again"),
        None if arrived => "not answered, and not sent again".to_owned(),
        None => "not sent".to_owned(),
    };
    let outcome = match refused.filter(|_| call.is_write()) {
        Some(_) => Outcome::Rejected,
        None => Outcome::NotSent,
    };
    let mut why = why.prefixed(format!("{}: {lead}", call.name()));
    why.attempts = attempts;
    // A read that was sent, or ran out of time, has no outcome.
    let has_outcome = call.is_write() || (why.kind != Kind::Timeout && !arrived);
    why.with_outcome(has_outcome.then_some(outcome))
}

/// The throttle keeps the call from being sent.
pub(crate) fn still_throttled(status: u16, time_left: Duration) -> Error {
    // Rounded up, so that the advice is not too early.
    let seconds = time_left.as_secs() + u64::from(time_left.subsec_nanos() > 0);
    let text = message![
        ", because the service asked this client to wait",
        Advice::CallAfter {
            seconds: Some(seconds)
        }
    ];
    let mut error = Error::new(Kind::HeldBack, text).past_deadline();
    (error.status, error.retry_after) = (Some(status), Some(time_left));
    error
}

/// The call's time is over before it could be sent.
pub(crate) fn too_late(deadline: Duration, why: &str) -> Error {
    let text = format!(
        " within its deadline of {} s, because {why}",
        deadline.as_secs_f64()
    );
    Error::new(Kind::Timeout, message![text, Advice::FewerCalls {}]).past_deadline()
}

/// The line about an earlier request whose end the ledger does not know yet.
pub(crate) fn not_settled(client: &Client, fault: &Error) -> Note {
    let text = format!(
        "the store could not record the end of an earlier request, which counts as sent until a later \
         request records it: {}",
        fault.message,
    );
    Note::warning(text, fields_of_job(client, None, None).with(fault))
}

/// Why a call is granted no request, and the setting that this comes from, if it is one.
fn held(call: &Call, slot: Slot) -> (&'static str, Option<Setting>) {
    match call.limit() {
        _ if slot.by_service => ("the limit of the service is reached", None),
        Some(Limit::Jobs(_)) => (
            "the budget of new jobs is spent",
            Some(Setting::JobsPerHour),
        ),
        _ => (
            "the request budget is spent",
            Some(Setting::RequestsPerHour),
        ),
    }
}

pub(crate) fn waits_for_budget(call: &Call, client: &Client, slot: Slot) -> Note {
    let (why, _) = held(call, slot);
    let text = format!(
        "{}: {why}: waiting for the next request until {:.0} ({:.0} s)",
        call.name(),
        slot.at,
        slot.wait.as_secs_f64().ceil(),
    );
    let waiting = Waiting::new(why, slot.wait, slot.at);
    Note::waiting(text, waiting, fields(call, client))
}

/// The budget has no free request, and the call does not wait.
pub(crate) fn budget_spent(call: &Call, slot: Slot) -> Error {
    let (why, setting) = held(call, slot);
    let setting = setting.map_or_else(Message::default, |setting| message![" (", setting, ")"]);
    let when = format!(
        "; the next request may go out at {:.0} (in {:.0} s)",
        slot.at,
        slot.wait.as_secs_f64().ceil(),
    );
    let text = message![": ", why, setting, when, Advice::WaitForBudget {}];
    let mut error = Error::new(Kind::Budget, text);
    (error.resets_at, error.transient) = (Some(slot.at), true);
    error
}

/// A failed attempt, for its log line and its error.
pub(crate) struct Failed<'a> {
    pub(crate) call: &'a Call,
    pub(crate) client: &'a Client,
    pub(crate) failure: &'a Failure,
    pub(crate) verdict: Verdict,
}

impl Failed<'_> {
    /// The class of the error that the attempt would be.
    pub(crate) fn class(&self) -> &'static str {
        let status = self.failure.head().map(|head| head.status);
        self.verdict.kind.class(status)
    }

    /// The attempt in a few words, led by its class.
    pub(crate) fn attempt(&self) -> String {
        let mut words = format!("{}: {}", self.class(), self.reason());
        if let Some(id) = self.request_id() {
            words.push_str(&format!(" (request id {id})"));
        }
        words
    }

    pub(crate) fn note(&self, attempt: &Attempt) -> Note {
        let text = format!(
            "{}: attempt {} failed after {:.3} s: {}",
            self.call.name(),
            attempt.number,
            attempt.elapsed.as_secs_f64(),
            attempt.error,
        );
        let about = LogFields {
            status: attempt.status,
            error_type: attempt.class,
            attempt: Some(attempt.clone()),
            request_id: self.request_id(),
            ..fields(self.call, self.client)
        };
        Note::warning(text, about)
    }

    pub(crate) fn error(&self, attempts: Vec<Attempt>, deadline_exceeded: bool) -> Error {
        let sent = attempts.iter().any(|attempt| attempt.sent);
        let begin = format!("{}: {}", self.call.name(), self.lead(sent));
        let mut message = message![begin, self.reason()];
        if self.verdict.kind == Kind::UnconfirmedWrite {
            if matches!(self.failure, Failure::Unreadable { body, .. } if is_markup(body)) {
                message.push(Advice::CheckPage {});
            }
            message.push(match self.verdict.outcome {
                Some(Outcome::Applied) => Advice::DoNotRepeat {},
                _ => Advice::LookBeforeRepeat {},
            });
        } else if message.advice().is_none()
            && let Some(advice) = self.advice()
        {
            message.push(advice);
        }
        message.push(self.ids());
        if attempts.len() > 1 {
            message.push(format!(" ({} attempts)", attempts.len()));
        }
        if deadline_exceeded {
            message.push(" (no further attempt: the call's deadline leaves no time for it)");
        }
        let mut error = Error::new(self.verdict.kind, message).with_outcome(self.verdict.outcome);
        error.attempts = attempts;
        error.deadline_exceeded = deadline_exceeded;
        error.transient = self.verdict.retry.is_some();
        error.request_id = self.request_id();
        if let Some(head) = self.failure.head() {
            error.status = Some(head.status);
            error.retry_after = head.retry_after.map(|wait| wait.min(MAX_THROTTLE));
        }
        if let Some(body) = self.body() {
            error.service_message = self.service_message(body);
            error.body = Some(self.clip(body));
        }
        error
    }

    /// The ids of the path. Log lines have the project and the job as fields.
    fn ids(&self) -> String {
        let shown = |name, id: &Option<Segment>| {
            let id = id.as_ref()?;
            Some(format!("{name} '{}'", shown_id(self.client, id.as_str())))
        };
        let of_id = match self.call.lane {
            Lane::Analytics => "conversation",
            _ => "job",
        };
        let (project, id) = (&self.call.project, &self.call.id);
        let ids = shown("project", project)
            .into_iter()
            .chain(shown(of_id, id));
        match ids.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            ids => format!(" ({ids})"),
        }
    }

    fn body(&self) -> Option<&[u8]> {
        match self.failure {
            Failure::Refused { body, .. } | Failure::Unreadable { body, .. } => Some(body),
            _ => None,
        }
    }

    /// The beginning of a body. Secrets are looked for before it is cut, as half of one might not
    /// be found.
    fn clip(&self, body: &[u8]) -> String {
        let body = String::from_utf8_lossy(body);
        let body = redacted(self.call, self.client, &body);
        let (beginning, _) = body.split_at(body.floor_char_boundary(MAX_BODY));
        text::safe(beginning, MAX_BODY)
    }

    fn service_message(&self, body: &[u8]) -> Option<String> {
        let plain = || {
            let kind = self.failure.head()?.content_type.as_deref()?;
            let words = kind
                .starts_with("text/plain")
                .then(|| String::from_utf8_lossy(body))?;
            Some(words.trim().to_owned()).filter(|words| !words.is_empty())
        };
        text::service_message(body)
            .or_else(plain)
            .map(|words| self.words(&words))
    }

    fn words(&self, foreign: &str) -> String {
        text::safe(&redacted(self.call, self.client, foreign), MAX_MESSAGE)
    }

    fn header(&self, value: &str) -> String {
        header(self.call, self.client, value)
    }

    fn request_id(&self) -> Option<String> {
        Some(self.header(self.failure.head()?.request_id.as_deref()?))
    }

    /// The beginning: what matters most about a write. `sent`: whether an attempt has left.
    fn lead(&self, sent: bool) -> &'static str {
        match (self.verdict.kind, self.verdict.outcome) {
            (Kind::UnconfirmedWrite, Some(Outcome::Applied)) => {
                "the service did it, but its answer cannot be used: "
            }
            (Kind::UnconfirmedWrite, _) => "the service may or may not have done it: ",
            (_, Some(Outcome::NotSent)) if sent => "not sent again: ",
            (_, Some(Outcome::NotSent)) => "not sent: ",
            _ => "",
        }
    }

    /// Why, without what was tried.
    fn reason(&self) -> Message {
        let words = |reason: &Message| reason.clone().map(|text| self.words(text));
        match self.failure {
            Failure::Unsent { reason, .. } => {
                let host = self.client.settings().base_url.host_and_port();
                message![host, ": ", words(reason)]
            }
            Failure::Ambiguous { reason, .. } | Failure::BodyLost { reason, .. } => words(reason),
            Failure::Unreadable {
                head, reason, body, ..
            } => {
                let kind = head.content_type.as_deref().unwrap_or("no content type");
                let begins = match self.clip(body) {
                    none if none.is_empty() => String::new(),
                    some => format!(", begins {:?}", text::safe(&some, MAX_HEADER)),
                };
                let answer = format!(" (content type {}{begins})", self.header(kind));
                let reason = match is_markup(body) {
                    true => "HTML or XML came instead of JSON".into(),
                    false => words(reason),
                };
                message![format!("status {}: ", head.status), reason, answer]
            }
            Failure::Refused { head, body } => {
                let usual = || {
                    let status = http::StatusCode::from_u16(head.status).ok()?;
                    status.canonical_reason().map(str::to_owned)
                };
                let words = self.service_message(body).or_else(usual);
                let words = words.as_deref().unwrap_or("no message");
                format!("status {}: {words}", head.status).into()
            }
        }
    }

    fn has_budget(&self) -> bool {
        let limit = self.call.limit();
        limit.is_some_and(|limit| self.client.budget_of(limit).is_some())
    }

    fn advice(&self) -> Option<Advice> {
        let head = match self.failure {
            Failure::Refused { head, .. } => head,
            // The reason says all that is known where a retry cannot help.
            Failure::Unsent { fatal: true, .. } => return None,
            Failure::Unsent { .. } => return Some(Advice::CheckNetwork {}),
            Failure::Ambiguous { .. } | Failure::BodyLost { .. } => {
                return Some(Advice::CallLater {});
            }
            Failure::Unreadable { body, .. } if is_markup(body) => {
                return Some(Advice::CheckPage {});
            }
            Failure::Unreadable { .. } => return None,
        };
        Some(match head.status {
            304 if head.location.is_none() => Advice::AvoidCache {},
            300..=399 => Advice::ChangeAddress {
                location: self.header(head.location.as_deref().unwrap_or("nowhere")),
            },
            401 => Advice::CheckKey {
                variable: self.client.settings().api_key_from.map(str::to_owned),
            },
            403 => Advice::CheckKeyRights {
                write: self.call.is_write(),
            },
            404 | 410 if self.call.is_other => Advice::CheckPath {},
            404 | 410 => Advice::CheckIds {
                job_path: self.call.path.as_str() == self.client.settings().job_path.as_str(),
            },
            407 => Advice::CheckProxy { from: None },
            511 => Advice::CheckPage {},
            408 | 425 | 500.. => Advice::CallLater {},
            429 if head.retry_after.is_none() && self.has_budget() => Advice::WaitForReset {},
            429 => Advice::CallAfter {
                seconds: head
                    .retry_after
                    .map(|wait| wait.min(MAX_THROTTLE).as_secs()),
            },
            _ => Advice::ChangeRequest {
                has_text: self
                    .body()
                    .is_some_and(|body| self.service_message(body).is_some()),
            },
        })
    }
}

/// Whether a body is HTML or XML, such as a login page or the answer of another server.
fn is_markup(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// A header of the service's, for display.
fn header(call: &Call, client: &Client, value: &str) -> String {
    text::safe(&redacted(call, client, value), MAX_HEADER)
}

/// `text`, or a note in its place where it repeats the key, a header of the user's, the prompt, or
/// a prompt of another call.
fn redacted<'a>(call: &Call, client: &Client, text: &'a str) -> Cow<'a, str> {
    let text = searched(text);
    redact::withhold(text, repeated_secret(client, call.prompt.as_deref(), text))
}

/// The beginning of `text`, in which secrets are searched for.
fn searched(text: &str) -> &str {
    text.split_at(text.floor_char_boundary(MAX_SEARCHED)).0
}

/// The name of the secret that the beginning of `text` repeats.
pub(crate) fn repeated_secret(
    client: &Client,
    prompt: Option<&str>,
    text: &str,
) -> Option<&'static str> {
    let text = searched(text);
    let prompt = prompt.is_some_and(|prompt| redact::repeats(text, prompt, PROMPT_RUN));
    let prompt = (prompt || redact::has_prompt_field(text)).then_some("the prompt");
    client.secret_in(text).or(prompt)
}
