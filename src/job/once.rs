//! Creates a job, or sends a message, only once for each name: the name is in the store before the
//! request leaves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::client::observer::{About, LogFields, Note, OpenWait, UnrecordedJob};
use crate::client::{Client, Journal, messages};
use crate::clock::timestamp;
use crate::config::account::check_name;
use crate::config::url::{MAX_SEGMENT, Segment};
use crate::error::{Error, Kind, Outcome, Result, refuse};
use crate::job::wait::JobObserver;
use crate::job::{Job, NamedJob, Prompt};
use crate::store::{
    CreatedJob, Creation, FileLock, NameRecord, NameState, NamedWrite, OnceKey, OnceNames,
};
use crate::text::message::{Advice, Setting, message};
use crate::text::{json, safe};

/// The status of a job that no answer has shown, or that may have changed since.
pub(crate) const STATUS_UNKNOWN: &str = "unknown";

/// A name for a creation or a message, checked.
#[derive(Debug)]
pub struct OnceName(String);

impl OnceName {
    pub fn parse(name: String) -> Result<Self> {
        check_name(Setting::Once, &name)?;
        Ok(Self(name))
    }

    fn key(self, project: &Segment) -> OnceKey {
        OnceKey {
            project_id: project.as_str().to_owned(),
            name: self.0,
        }
    }
}

/// Creates a job, or sends a message to the job `to`. If that was done under this name before, it
/// sends nothing and returns the job of that time.
pub async fn write(
    client: &Client,
    project: Segment,
    to: Option<Segment>,
    prompt: Prompt,
    once: Option<OnceName>,
    observer: &dyn JobObserver,
) -> Result<Job> {
    let Some(name) = once else {
        return super::write(client, project, to, prompt, None, observer).await;
    };
    let key = name.key(&project);
    let names = names(client).map_err(Error::or_not_sent)?.clone();
    let write = NamedWrite {
        prompt: prompt.clone().into(),
        message_to: to.as_ref().map(|id| id.as_str().to_owned()),
    };
    let claimed = claim(client, &names, &key, &write, observer).await;
    let lock = match claimed.map_err(Error::or_not_sent)? {
        Ok(lock) => lock,
        Err((job, at)) => {
            let job = known_job(job, project).map_err(Error::or_not_sent)?;
            if let (None, Some(at)) = (to, at) {
                client.new_jobs().add(&job.project, &job.id, at);
            }
            observer.job(&job.id, false);
            return Ok(job);
        }
    };
    let creating = Arc::new(Creating {
        names: names.clone(),
        key: key.clone(),
        write: write.clone(),
        lock: Arc::new(lock),
        fault: Arc::default(),
        noted: AtomicBool::new(false),
    });
    let noted = Some(Arc::clone(&creating));
    let result = super::write(client, project, to, prompt, noted, observer).await;
    // Waits until the notes are on the disk, in case the caller ends its process now. A call whose
    // deadline passed while the store was locked has none, and waits no longer. Where the store is
    // locked only now, the call waits for as long as its deadline again. After that the notes are
    // written without it, or fail.
    let written = match creating.noted.load(Ordering::Relaxed) {
        true => {
            let store = &names.0.store;
            store.within(client.deadline(), names.written()).await
        }
        false => Ok(()),
    };
    let fault = crate::lock(&creating.fault).take().or(written.err());
    match result {
        Ok(job) => {
            if let Some(fault) = fault {
                let (id, why) = (job.id.as_str(), fault.message.to_string());
                let text = format!(
                    "the request under the name {key} was carried out for job {}, but the store {} it ({why}): its outcome \
                     counts as unknown until that is recorded",
                    safe(id, MAX_SEGMENT),
                    lacks(&fault),
                );
                let fields = about(client, &key, Some(id)).with(&fault);
                let about = UnrecordedJob {
                    job: id.to_owned(),
                    name: key.name,
                    why,
                    fields,
                };
                observer.note(Note::warning(text, About::Unrecorded(Box::new(about))));
            }
            Ok(job)
        }
        Err(mut error) => {
            if matches!(error.outcome, Some(Outcome::Unknown | Outcome::Applied)) {
                let exists = error.outcome == Some(Outcome::Applied);
                error.message.push(Advice::ResolveName {
                    name: key.name,
                    job: write.message_to,
                    exists,
                });
            } else if let Some(fault) = fault {
                let text = format!(
                    "nothing was done under the name {key}, but the store {} that ({}): its \
                     outcome counts as unknown until that is recorded",
                    lacks(&fault),
                    fault.message
                );
                let about = about(client, &key, None).with(&fault);
                observer.note(Note::warning(text, about));
            }
            Err(error)
        }
    }
}

/// The verb for a log line: the store was late and may still record it, or could not.
fn lacks(fault: &Error) -> &'static str {
    match fault.deadline_exceeded {
        true => "has not yet recorded",
        false => "could not record",
    }
}

/// Records the outcome of a name that was unknown: its job, or that nothing was done. Its job may
/// be recorded again.
pub async fn resolve(
    client: &Client,
    project: &Segment,
    name: OnceName,
    job: Option<NamedJob>,
) -> Result<()> {
    let key = name.key(project);
    let (names, deadline) = (names(client)?, client.deadline());
    let job = job.map(|NamedJob { id, last }| CreatedJob {
        id: id.as_str().to_owned(),
        body: last.map(|job| job.raw.to_string().into_bytes()),
    });
    match names
        .0
        .store
        .within(deadline, names.resolve(key.clone(), job))
        .await?
    {
        Some(true) => Ok(()),
        Some(false) => refuse(format!(
            "the name {key} of project '{}' has no unknown outcome, or not for this job, or another creation has the job: nothing was \
             changed; look at the names that the store has",
            key.project_id
        )),
        None => refuse(format!(
            "the request of the name {key} is under way at this moment: wait until that has ended"
        )),
    }
}

/// All names of a project, with their states.
pub async fn list(client: &Client, project: &Segment) -> Result<Vec<(Creation, NameState)>> {
    let (names, deadline) = (names(client)?, client.deadline());
    let all = names.all(project.as_str().to_owned());
    names.0.store.within(deadline, all).await
}

/// The names of a client; an error if it cannot keep any.
pub fn names(client: &Client) -> Result<&OnceNames> {
    client.names().ok_or_else(|| {
        Error::configuration(message![
            "the names of ",
            Setting::Once.argument(),
            " are kept in a store, and this client has none: pass ",
            Setting::Store.argument(),
            ", or set DOCPLATFORM_STORE",
        ])
    })
}

/// Waits until a name's request is this call's to send, or its job is known. `Err` has the job, and
/// when the request was sent: the service may not know a new job yet.
async fn claim(
    client: &Client,
    names: &OnceNames,
    key: &OnceKey,
    write: &NamedWrite,
    observer: &dyn JobObserver,
) -> Result<Result<FileLock, (CreatedJob, Option<Instant>)>> {
    let deadline = client.deadline();
    let mut wait = OpenWait::new(
        "another call under this name is under way",
        about(client, key, None),
    );
    loop {
        let found = names.claim(key.clone(), write.clone());
        match names.0.store.within(deadline, found).await? {
            NameRecord::Free(lock) => return Ok(Ok(lock)),
            NameRecord::Taken(Creation {
                job: Some(job),
                begun,
                ..
            }) => {
                // The job of a call that was waited for was created only now.
                let age = match wait.has_paused() {
                    true => 0,
                    false => (client.now() - begun).max(0).unsigned_abs(),
                };
                let at = Instant::now().checked_sub(Duration::from_millis(age));
                return Ok(Err((job, at)));
            }
            NameRecord::Taken(creation) => return Err(taken(key, creation, true)),
            NameRecord::Creating => {}
            NameRecord::OtherOwner(creation) => return Err(taken(key, creation, false)),
            NameRecord::OtherWrite(used) => {
                let used = match &used.message_to {
                    to if *to == write.message_to => "with another prompt".to_owned(),
                    None => "to create a job".to_owned(),
                    Some(id) => format!("for a message to job {}", safe(id, MAX_SEGMENT)),
                };
                return refuse(format!(
                    "the name {key} was used {used} in project '{}', so nothing was sent: use another name",
                    key.project_id
                ));
            }
        }
        wait.announce(
            observer,
            format_args!("another call under the name {key} is under way"),
        );
        if !wait.pause(deadline).await {
            let message = format!(
                "not sent within its deadline of {} s: another call under the name {key} is still under way; try again",
                client.settings().deadline.as_secs_f64(),
            );
            return Err(Error::new(Kind::Timeout, message).past_deadline());
        }
    }
}

fn known_job(known: CreatedJob, project: Segment) -> Result<Job> {
    let raw = match &known.body {
        Some(body) => json::parse::<serde_json::Value>(body).map(|parsed| parsed.value),
        None => Ok(serde_json::json!({ "id": known.id, "status": STATUS_UNKNOWN })),
    };
    match raw.and_then(|raw| Job::from_value(raw, project)) {
        Ok(job) => Ok(Job {
            is_recorded: true,
            ..job
        }),
        Err(why) => Err(Error::new(
            Kind::Store,
            format!("the store's copy of the job cannot be read: {why}"),
        )),
    }
}

/// The error of a name whose outcome is unknown, or that another owner used for the same prompt at
/// this address: a key or an organization that changed is far more likely than two jobs that are
/// the same.
fn taken(key: &OnceKey, creation: Creation, is_ours: bool) -> Error {
    let job = creation.job.map(|job| job.id);
    let outcome = match &job {
        Some(id) => format!("its job is {}", safe(id, MAX_SEGMENT)),
        None => {
            "whether it was carried out is not known, or not yet: look on the platform".to_owned()
        }
    };
    let begun = timestamp(creation.begun);
    let what = match is_ours {
        true => {
            format!("not sent: a request under the name {key} began at {begun:.0}, and {outcome}")
        }
        false => format!(
            "not sent: the name {key} was used for this prompt in project '{}' at {begun:.0}, with another API key or another \
             organization, and {outcome}",
            key.project_id,
        ),
    };
    let advice = Advice::ResolveName {
        name: key.name.clone(),
        exists: job.is_some(),
        job: job.or(creation.message_to),
    };
    Error::new(Kind::UnconfirmedWrite, message![what, advice]).with_outcome(Some(Outcome::Unknown))
}

/// The fields of a log record about a name.
fn about(client: &Client, key: &OnceKey, job: Option<&str>) -> LogFields {
    messages::fields_of_job(client, Some(&key.project_id), job)
}

/// A request under way: its note in the store. No other call sends the same meanwhile.
pub(crate) struct Creating {
    names: OnceNames,
    key: OnceKey,
    write: NamedWrite,
    /// Held until all that was noted is written, also where the call was dropped before.
    lock: Arc<FileLock>,
    /// Why something could not be written.
    fault: Arc<Mutex<Option<Error>>>,
    /// Whether it stands in the store that the request is about to leave.
    noted: AtomicBool,
}

impl Creating {
    pub(crate) fn done(&self, job: &Job, body: &[u8]) {
        let job = CreatedJob {
            id: job.id.as_str().to_owned(),
            body: Some(body.to_vec()),
        };
        self.names
            .done(self.key.clone(), self.write.clone(), job, self.ended());
    }

    /// Keeps the lock until a piece of work has ended, and remembers why it failed.
    fn ended(&self) -> impl FnOnce(Error) + Send + 'static + use<> {
        let (lock, fault) = (Arc::clone(&self.lock), Arc::clone(&self.fault));
        move |error| {
            *crate::lock(&fault) = Some(error);
            drop(lock);
        }
    }
}

impl Journal for Creating {
    fn begin(&self, deadline: Instant) -> BoxFuture<'_, Result<()>> {
        async move {
            let undo = Undo(self);
            let noted = self.names.begin(self.key.clone(), self.write.clone());
            let noted = self.names.0.store.within(deadline, noted).await;
            noted.map_err(|error| {
                let name = &self.key;
                error.prefixed(format!(
                    ", because the store could not record the name {name}: "
                ))
            })?;
            std::mem::forget(undo);
            self.noted.store(true, Ordering::Relaxed);
            Ok(())
        }
        .boxed()
    }

    fn nothing_happened(&self) {
        self.names.free(self.key.clone(), self.ended());
    }
}

/// Frees the name of a note that its call did not wait for.
struct Undo<'a>(&'a Creating);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        self.0.nothing_happened();
    }
}
