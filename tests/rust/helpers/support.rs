//! Clients that use a script, calls to make with them, and an observer that keeps all reports.

use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use docplatform::client::observer::{Note, Observer};
use docplatform::client::throttle::Lane;
use docplatform::client::{Answer, Call, Client, ClientStore, Stats};
use docplatform::clock::{Clock, Millis};
use docplatform::config::account::{Organization, Owner};
use docplatform::config::url::{Segment, Template};
use docplatform::config::{ApiKey, Options};
use docplatform::error::{Error, Outcome, Result};
use docplatform::export::observer::ExportObserver;
use docplatform::job::wait::JobObserver;
use docplatform::job::{self, Job, Prompt};
use docplatform::store::Store;
use docplatform::text::message::{Advice, Part};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use http::Method;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(crate) use crate::helpers::script::{
    Reply, Script, Step, bare, query, reply, with_retry_after,
};

pub(crate) const KEY: &str = "dp_5ecretKey0123456789/abcdef+WXYZ";
pub(crate) const BASE_URL: &str = "https://docs.example.com/api";

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Keeps the notes, outcomes, jobs and polls of a call.
#[derive(Default)]
pub(crate) struct Recorder {
    notes: Mutex<Vec<Note>>,
    outcomes: Mutex<Vec<Option<Outcome>>>,
    /// Each with how many outcomes had been told before it.
    jobs: Mutex<Vec<(usize, Segment)>>,
    polls: Mutex<Vec<(Instant, Job)>>,
    last: Mutex<Option<Job>>,
    /// Whether its caller has gone.
    pub(crate) gone: std::sync::atomic::AtomicBool,
}

impl Recorder {
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap().clone()
    }

    /// All log lines.
    pub(crate) fn log(&self) -> String {
        self.notes()
            .into_iter()
            .map(|note| note.text + "\n")
            .collect()
    }

    /// The outcomes of the write so far, in order.
    pub(crate) fn outcomes(&self) -> Vec<Option<Outcome>> {
        self.outcomes.lock().unwrap().clone()
    }

    /// The outcome that an interrupted caller would get.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcomes().last().copied().flatten()
    }

    pub(crate) fn jobs(&self) -> Vec<Segment> {
        self.jobs
            .lock()
            .unwrap()
            .iter()
            .map(|(_, id)| id.clone())
            .collect()
    }

    /// How many outcomes were told before the first job was.
    pub(crate) fn outcomes_before_job(&self) -> Option<usize> {
        self.jobs
            .lock()
            .unwrap()
            .first()
            .map(|(outcomes, _)| *outcomes)
    }

    pub(crate) fn polls(&self) -> Vec<(Instant, Job)> {
        self.polls.lock().unwrap().clone()
    }

    /// The last snapshot of the job, after a wait that failed.
    pub(crate) fn last(&self) -> Option<Job> {
        self.last.lock().unwrap().clone()
    }
}

impl Observer for Recorder {
    fn note(&self, note: Note) {
        self.notes.lock().unwrap().push(note);
    }

    fn write(&self, outcome: Option<Outcome>) {
        self.outcomes.lock().unwrap().push(outcome);
    }

    fn leaves(&self) -> bool {
        self.write(Some(Outcome::Unknown));
        !self.gone.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn job(&self, id: &Segment, _runs: bool) {
        self.jobs
            .lock()
            .unwrap()
            .push((self.outcomes().len(), id.clone()));
    }
}

impl ExportObserver for Recorder {}

impl JobObserver for Recorder {
    fn polled(&self, job: &Job) -> BoxFuture<'static, ()> {
        self.polls
            .lock()
            .unwrap()
            .push((Instant::now(), job.clone()));
        std::future::ready(()).boxed()
    }

    fn failed(&self, last: Option<Job>) {
        *self.last.lock().unwrap() = last;
    }
}

/// A clock that a test sets, in milliseconds since 1970.
#[derive(Clone)]
pub(crate) struct Hands(Arc<AtomicI64>);

impl Hands {
    pub(crate) fn at(now: Millis) -> Self {
        Self(Arc::new(AtomicI64::new(now)))
    }

    pub(crate) fn clock(&self) -> Clock {
        let hands = self.clone();
        Clock::new(move || SystemTime::UNIX_EPOCH + millis(hands.now().unsigned_abs()))
    }

    pub(crate) fn now(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, now: Millis) {
        self.0.store(now, Ordering::Relaxed);
    }

    pub(crate) fn later(&self, by: Millis) {
        self.set(self.now() + by);
    }
}

/// This test program again, as another process that runs one ignored test alone.
pub(crate) fn process(test: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args([
        test,
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    program
}

/// A deadline that no test meets.
pub(crate) fn far() -> Instant {
    Instant::now() + secs(365 * 24 * 3600)
}

/// The settings of most tests.
pub(crate) fn options() -> Options {
    Options {
        api_key: Some(KEY.into()),
        base_url: Some(BASE_URL.to_owned()),
        project_id: Some("demo".to_owned()),
        ..Options::default()
    }
}

/// A client with dice of its own.
pub(crate) fn client_throwing(
    script: &Arc<Script>,
    options: &Options,
    dice: impl Fn() -> f64 + Send + Sync + 'static,
) -> Client {
    let settings = options.validate(|_| None).unwrap();
    Client::new(
        settings,
        Arc::clone(script) as _,
        Arc::<Stats>::default(),
        dice,
        None,
    )
}

/// A client whose dice always show `jitter`.
pub(crate) fn client_with(script: &Arc<Script>, options: &Options, jitter: f64) -> Client {
    client_throwing(script, options, move || jitter)
}

/// Numbers from 0 to 1 in no obvious order.
pub(crate) fn dice() -> impl Fn() -> f64 + Send + Sync + 'static {
    let random = Mutex::new(fastrand::Rng::with_seed(7));
    move || random.lock().unwrap().f64()
}

/// A client that remembers in `store`.
pub(crate) fn client_in_store_with(
    script: &Arc<Script>,
    options: &Options,
    store: &Store,
    clock: Clock,
    jitter: f64,
) -> Client {
    let organization = Organization::Key(ApiKey::parse("api_key", &KEY.into()).unwrap());
    let (settings, stats) = (options.validate(|_| None).unwrap(), Arc::<Stats>::default());
    let owner = Owner {
        base_url: settings.base_url.as_str().to_owned(),
        organization,
    };
    let remembered = ClientStore {
        store: store.clone(),
        clock,
        owner,
    };
    Client::new(
        settings,
        Arc::clone(script) as _,
        stats,
        move || jitter,
        Some(remembered),
    )
}

/// The same without jitter.
pub(crate) fn client_in_store(
    script: &Arc<Script>,
    options: &Options,
    store: &Store,
    clock: Clock,
) -> Client {
    client_in_store_with(script, options, store, clock, 0.0)
}

/// A client with the usual settings and no jitter: the shortest pauses.
pub(crate) fn client(script: &Arc<Script>) -> Client {
    client_with(script, &options(), 0.0)
}

pub(crate) fn segment(id: &str) -> Segment {
    Segment::parse("id", id).unwrap()
}

pub(crate) fn advises(error: &Error, advice: Advice) -> bool {
    error.message.parts().contains(&Part::Advice(advice))
}

/// Any read.
pub(crate) fn read() -> Call {
    Call {
        method: Method::GET,
        path: Template::own("/v2/thing".to_owned()),
        project: None,
        id: None,
        query: Vec::new(),
        body: None,
        lane: Lane::Jobs,
        cap: None,
        is_other: false,
        prompt: None,
        journal: None,
        flight: None,
    }
}

/// Any read of analytics.
pub(crate) fn analytics() -> Call {
    Call {
        lane: Lane::Analytics,
        ..read()
    }
}

/// Any write.
pub(crate) fn write() -> Call {
    Call {
        method: Method::POST,
        body: Some(Bytes::from_static(b"{}")),
        lane: Lane::Writes,
        ..read()
    }
}

/// An answer that anything takes.
pub(crate) fn good() -> Step {
    reply(200, "{}").into()
}

/// Takes any JSON.
pub(crate) fn json(answer: &Answer) -> Result<serde_json::Value, String> {
    docplatform::text::json::parse(&answer.body).map(|parsed| parsed.value)
}

/// One call, JSON expected.
pub(crate) async fn call(client: &Client, call: Call) -> Result<serde_json::Value> {
    client.call(call, &Recorder::default(), json).await
}

/// One call that fails.
pub(crate) async fn fail(client: &Client, of: Call) -> Error {
    call(client, of).await.expect_err("the call should fail")
}

/// Creates a job in the project "demo".
pub(crate) async fn create(
    client: &Client,
    prompt: &str,
    observer: &dyn JobObserver,
) -> Result<Job> {
    let prompt = Prompt::parse(prompt.to_owned()).unwrap();
    job::once::write(client, segment("demo"), None, prompt, None, observer).await
}

/// Sends a message to the job of [`job_body`].
pub(crate) async fn message(
    client: &Client,
    prompt: &str,
    observer: &dyn JobObserver,
) -> Result<Job> {
    let prompt = Prompt::parse(prompt.to_owned()).unwrap();
    let to = Some(segment("job_1"));
    job::once::write(client, segment("demo"), to, prompt, None, observer).await
}

/// Reads the job of [`job_body`].
pub(crate) async fn get(client: &Client, observer: &dyn JobObserver) -> Result<Job> {
    let (project, id) = (segment("demo"), segment("job_1"));
    let (job, _) = job::get(client, &project, &id, None, observer).await?;
    Ok(job)
}

/// Any prompt.
pub(crate) fn prompt() -> Prompt {
    Prompt::parse("Fix the docs".to_owned()).unwrap()
}

/// A job's body.
pub(crate) fn job_body(status: &str) -> String {
    format!(r#"{{"id": "job_1", "status": "{status}"}}"#)
}

/// A handle on the same client, with other settings.
pub(crate) fn handle(client: &Client, change: Options) -> Client {
    client.with(change.validate(|_| None).unwrap()).unwrap()
}

/// Begins `count` calls of a client at one time.
pub(crate) fn all_of<F: Future<Output: Send + 'static> + Send + 'static>(
    count: usize,
    client: &Client,
    work: impl Fn(Client) -> F,
) -> Vec<JoinHandle<F::Output>> {
    (0..count)
        .map(|_| tokio::spawn(work(client.clone())))
        .collect()
}

/// Their results.
pub(crate) async fn ends<T>(all: Vec<JoinHandle<T>>) -> Vec<T> {
    join_all(all)
        .await
        .into_iter()
        .map(std::result::Result::unwrap)
        .collect()
}
