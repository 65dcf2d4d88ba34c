//! Jobs of the docs agent: create, read, message.

pub mod batch;
pub mod once;
pub mod wait;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::client::messages;
use crate::client::throttle::Lane;
use crate::client::{Answer, CREATE_JOB, Call, Client, DecodeError};
use crate::config::url::{Segment, Template};
use crate::dates::parse_instant;
use crate::error::{Error, Result, refuse};
use crate::job::once::{Creating, STATUS_UNKNOWN};
use crate::job::wait::JobObserver;
use crate::text::json;
use http::Method;

/// The status of a job at work.
const ACTIVE: &str = "active";
const MESSAGE: &str = "/v2/agent/{project_id}/job/{id}/message";
/// The largest answer about a job that is read.
const MAX_JOB_BYTES: usize = 4 * 1024 * 1024;

/// A job as the service showed it.
#[derive(Debug, Clone)]
pub struct Job {
    /// The identifier; safe to stand in a path.
    pub id: Segment,
    /// As the service spells it, or `unknown` where no answer has shown it. A word this client does
    /// not know is not final.
    pub status: String,
    /// `source.repository`.
    pub repository: Option<String>,
    /// `source.ref`.
    pub reference: Option<String>,
    pub model: Option<String>,
    pub pr_link: Option<String>,
    pub created_at: Option<Timestamp>,
    pub archived_at: Option<Timestamp>,
    /// The project it was asked for in.
    pub project: Segment,
    /// The whole body.
    pub raw: Value,
    /// Whether it is the store's record of a name, and not an answer.
    pub is_recorded: bool,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        // All other fields are read from these, and a record equals the answer that it was made of.
        self.project == other.project && self.raw == other.raw
    }
}

impl Eq for Job {}

impl Job {
    /// Whether polling can stop. An unknown status is not final.
    pub fn is_final(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "archived" | "failed")
    }

    /// Whether this client knows its status.
    pub fn is_known(&self) -> bool {
        self.is_final() || self.status == ACTIVE
    }

    /// Whether it ended without a result.
    pub fn is_failed(&self) -> bool {
        self.status == "failed"
    }

    /// Whether its status may have changed since: it is from the store's record of a name, and was
    /// not final.
    pub fn is_outdated(&self) -> bool {
        self.is_recorded && !self.is_final()
    }

    /// The same job, without a status that may have changed.
    #[must_use]
    pub fn current(mut self) -> Self {
        if self.is_outdated() {
            STATUS_UNKNOWN.clone_into(&mut self.status);
            if let Some(status) = self.raw.get_mut("status") {
                *status = STATUS_UNKNOWN.into();
            }
        }
        self
    }

    /// Reads a job from a body. `id` and `status` must be there; any other field may be missing or
    /// null.
    pub fn from_value(raw: Value, project: Segment) -> Result<Self, String> {
        if !raw.is_object() {
            return Err(json::wrong_type(&raw, "an object"));
        }
        let text = |path: &str| match raw.pointer(&format!("/{}", path.replace('.', "/"))) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(format!("{path}: {}", json::wrong_type(other, "a string"))),
        };
        let needed = |path: &str| {
            text(path)?
                .filter(|text| !text.is_empty())
                .ok_or_else(|| format!("{path}: missing, null or empty"))
        };
        let instant = |path: &str| {
            let parse =
                |text: String| parse_instant(&text).map_err(|error| format!("{path}: {error}"));
            text(path)?.map(parse).transpose()
        };
        if let Some(source) = raw
            .get("source")
            .filter(|source| !source.is_object() && !source.is_null())
        {
            return Err(format!("source: {}", json::wrong_type(source, "an object")));
        }
        Ok(Self {
            id: Segment::of(&needed("id")?).map_err(|fault| format!("id: {fault}"))?,
            status: needed("status")?,
            repository: text("source.repository")?,
            reference: text("source.ref")?,
            model: text("model")?,
            pr_link: text("prLink")?,
            created_at: instant("createdAt")?,
            archived_at: instant("archivedAt")?,
            project,
            raw,
            is_recorded: false,
        })
    }
}

/// A job that a caller names, by its id or as the service showed it.
pub struct NamedJob {
    pub id: Segment,
    pub last: Option<Job>,
}

/// A prompt, checked. Nothing prints it.
#[derive(Clone)]
pub struct Prompt(Arc<str>);

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt(…)")
    }
}

impl From<Prompt> for Arc<str> {
    fn from(prompt: Prompt) -> Self {
        prompt.0
    }
}

impl Prompt {
    /// Refuses a prompt of white space alone. No cap is documented.
    pub fn parse(text: String) -> Result<Self> {
        if text.trim().is_empty() {
            return refuse("the prompt is empty: say in plain words what the agent is to do");
        }
        Ok(Self(text.into()))
    }
}

/// Reads a job, and says when the attempt began that brought it. No error shows the `prompt`.
pub async fn get(
    client: &Client,
    project: &Segment,
    id: &Segment,
    prompt: Option<Arc<str>>,
    observer: &dyn JobObserver,
) -> Result<(Job, Instant)> {
    let read = Call::read(client.settings().job_path.clone(), Some(project.clone()));
    let call = Call {
        id: Some(id.clone()),
        lane: Lane::Jobs,
        cap: Some(MAX_JOB_BYTES),
        prompt: prompt.clone(),
        ..read
    };
    let secret = |text: &str| messages::repeated_secret(client, prompt.as_deref(), text);
    let received = client.fetch(call, &mut client.deadline(), observer).await?;
    let asked = Instant::now() - received.elapsed();
    let job = received.read(observer, |answer| decode(answer, project, Some(id), secret))?;
    Ok((job, asked))
}

/// Creates a job, or sends a message to the job `to`, with a note in the store if it is done once.
async fn write(
    client: &Client,
    project: Segment,
    to: Option<Segment>,
    prompt: Prompt,
    creating: Option<Arc<Creating>>,
    observer: &dyn JobObserver,
) -> Result<Job> {
    let body = serde_json::json!({ "prompt": &*prompt.0 }).to_string();
    let path = if to.is_some() { MESSAGE } else { CREATE_JOB };
    let call = Call {
        method: Method::POST,
        id: to.clone(),
        body: Some(body.into()),
        lane: Lane::Writes,
        cap: Some(MAX_JOB_BYTES),
        prompt: Some(Arc::clone(&prompt.0)),
        journal: creating.clone().map(|creating| creating as _),
        ..Call::read(Template::own(path.to_owned()), Some(project.clone()))
    };
    let secret = |text: &str| messages::repeated_secret(client, Some(&prompt.0), text);
    let decode = |answer: &Answer| {
        decode(answer, &project, to.as_ref(), secret).inspect(|job| {
            observer.job(&job.id, !job.is_final());
            if let Some(creating) = &creating {
                creating.done(job, &answer.body);
            }
        })
    };
    let written = client.call(call, observer, decode).await;
    let job = written.map_err(Error::or_not_sent)?;
    if to.is_none() {
        client.new_jobs().add(&job.project, &job.id, Instant::now());
    }
    Ok(job)
}

/// Whether a status is such a word as services use, which is shown even if it is a whole prompt.
fn is_plain(status: &str) -> bool {
    status.len() <= 24 && status.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
}

/// Reads a job from an answer. It must be the `asked` one, if there is one. Its status, which is
/// shown, may not repeat a `secret`, unless it is a plain word.
fn decode(
    answer: &Answer,
    project: &Segment,
    asked: Option<&Segment>,
    secret: impl Fn(&str) -> Option<&'static str>,
) -> Result<Job, DecodeError> {
    let raw = json::parse::<Value>(&answer.body)?.value;
    let id = raw.get("id").and_then(Value::as_str);
    let id = id.and_then(|id| Segment::of(id).ok());
    match (id, asked) {
        (Some(id), Some(asked)) if *asked != id => Err(DecodeError::from(format!(
            "it is about job {:?}, not the requested one",
            crate::text::safe(id.as_str(), 60)
        ))),
        (id, _) => Job::from_value(raw, project.clone())
            .and_then(|job| match secret(&job.status) {
                Some(secret) if !is_plain(&job.status) => {
                    Err(format!("status: it repeats {secret}"))
                }
                _ => Ok(job),
            })
            .map_err(|reason| DecodeError {
                reason,
                is_requested: id.is_some(),
            }),
    }
}
