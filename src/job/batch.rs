//! Many jobs at a time. Each is created and waited for by itself, and its state is known at every
//! moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;

use crate::client::Client;
use crate::client::observer::{Note, Observer, ObserverOptions, Span};
use crate::config::url::Segment;
use crate::error::{Error, Kind, Outcome, Result};
use crate::job::once::{self, OnceName};
use crate::job::wait::{self, JobObserver, Target, Wait};
use crate::job::{Job, Prompt};
use crate::lock;

/// A job that is to be created.
pub struct Task {
    pub prompt: Prompt,
    pub once: Option<OnceName>,
}

/// The state of a job of a batch.
#[derive(Default)]
enum JobState {
    /// No request has left, or each was refused.
    #[default]
    Waiting,
    /// Its creation is about to leave, or has left, and was not answered.
    Creating,
    /// It exists. Only its id is known.
    Created(Segment),
    /// It exists; its last snapshot.
    Running(Box<Job>),
    /// Its work here has ended, with a result or an error.
    Ended(Box<Ended>),
    /// Its result was handed out.
    Taken,
}

/// The result of a job, and for an error the last snapshot of the job.
pub struct Ended {
    pub result: Result<Job>,
    pub last: Option<Job>,
}

/// The states of a batch's jobs, shared by the work and by its caller.
pub struct Batch {
    states: Mutex<Vec<JobState>>,
    /// The caller was interrupted: no further job is created.
    is_over: AtomicBool,
    requests: Arc<AtomicU64>,
}

impl Batch {
    pub fn new(jobs: usize) -> Arc<Self> {
        let states = std::iter::repeat_with(JobState::default)
            .take(jobs)
            .collect();
        Arc::new(Self {
            states: Mutex::new(states),
            is_over: AtomicBool::default(),
            requests: Arc::default(),
        })
    }

    /// Requests that were sent for all its jobs.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The result of a job that has ended, once.
    pub fn take(&self, at: usize) -> Option<Ended> {
        let mut states = lock(&self.states);
        let state = states.get_mut(at)?;
        match std::mem::replace(state, JobState::Taken) {
            JobState::Ended(ended) => Some(*ended),
            other => {
                *state = other;
                None
            }
        }
    }

    /// The jobs that were begun and not handed out, with their places. Called after the last
    /// request has left.
    pub fn rest(&self) -> Vec<(usize, Ended)> {
        let states = std::mem::take(&mut *lock(&self.states));
        let known = states.into_iter().enumerate();
        known
            .filter_map(|(at, state)| Some((at, state.known()?)))
            .collect()
    }

    /// Whether a creation is under way: its answer may still come, or its job is being recorded.
    pub fn is_creating(&self) -> bool {
        let states = lock(&self.states);
        states
            .iter()
            .any(|state| matches!(state, JobState::Creating | JobState::Created(_)))
    }

    fn set(&self, at: usize, state: JobState) {
        if let Some(place) = lock(&self.states).get_mut(at) {
            *place = state;
        }
    }

    fn end(&self, at: usize, result: Result<Job>) {
        if let Some(place) = lock(&self.states).get_mut(at) {
            let last = match (&result, std::mem::take(place)) {
                (Err(_), JobState::Running(job)) => Some(*job),
                _ => None,
            };
            *place = JobState::Ended(Box::new(Ended { result, last }));
        }
    }
}

impl JobState {
    /// The job or error of a job whose caller was interrupted; `None` if it was not begun, or was
    /// handed out.
    fn known(self) -> Option<Ended> {
        let unconfirmed = |outcome, text: String| {
            Err(Error::new(Kind::UnconfirmedWrite, text).with_outcome(Some(outcome)))
        };
        let result = match self {
            Self::Waiting | Self::Taken => return None,
            Self::Ended(ended) => return Some(*ended),
            Self::Running(job) => Ok(*job),
            Self::Creating => unconfirmed(
                Outcome::Unknown,
                "its creation was under way when the call was interrupted: look on the platform before \
                 you create it again"
                    .to_owned(),
            ),
            Self::Created(id) => unconfirmed(
                Outcome::Applied,
                format!(
                    "job {} was created, but the call was interrupted before it could return the job: do \
                     not create it again",
                    id.shown()
                ),
            ),
        };
        Some(Ended { result, last: None })
    }
}

/// Receives the events of a batch.
pub trait BatchObserver: Observer {
    /// The work on the job at this place has ended: [`Batch::take`] has its result.
    fn ended(&self, _at: usize) {}
}

/// The observer of one job of a batch, which passes on its events.
struct BatchJobObserver<'a> {
    at: usize,
    batch: &'a Batch,
    all: &'a dyn BatchObserver,
}

impl Observer for BatchJobObserver<'_> {
    fn note(&self, note: Note) {
        self.all.note(note);
    }

    fn options(&self) -> ObserverOptions {
        ObserverOptions {
            requests: Some(Arc::clone(&self.batch.requests)),
            ..self.all.options()
        }
    }

    fn leaves(&self) -> bool {
        // The lock covers both steps, so that an interrupted caller finds this request in the
        // states.
        let mut states = lock(&self.batch.states);
        let leaves = self.all.leaves();
        self.batch.is_over.store(!leaves, Ordering::Relaxed);
        if let Some(state) = states.get_mut(self.at).filter(|_| leaves) {
            *state = JobState::Creating;
        }
        leaves
    }

    fn write(&self, outcome: Option<Outcome>) {
        if matches!(outcome, Some(Outcome::NotSent | Outcome::Rejected)) {
            self.batch.set(self.at, JobState::Waiting);
        }
    }

    fn job(&self, id: &Segment, _runs: bool) {
        let mut states = lock(&self.batch.states);
        if let Some(state) = states.get_mut(self.at)
            && !matches!(state, JobState::Running(_))
        {
            *state = JobState::Created(id.clone());
        }
    }

    fn span_ended(&self, span: Box<dyn Span>) {
        self.all.span_ended(span);
    }
}

impl JobObserver for BatchJobObserver<'_> {
    fn polled(&self, job: &Job) -> BoxFuture<'static, ()> {
        self.batch
            .set(self.at, JobState::Running(Box::new(job.clone())));
        Box::pin(std::future::ready(()))
    }
}

/// Creates the jobs and waits until each is final, at most `concurrency` at a time. The results are
/// in `batch`.
pub async fn run(
    creating: &Client,
    client: &Client,
    project: &Segment,
    tasks: Vec<Task>,
    (concurrency, wait): (usize, &Wait),
    batch: &Batch,
    all: &dyn BatchObserver,
) {
    let run_one = |(at, task): (usize, Task)| {
        // Boxed, so that waiting jobs are small.
        Box::pin(async move {
            if batch.is_over.load(Ordering::Relaxed) {
                return;
            }
            let observer = BatchJobObserver { at, batch, all };
            let result = async {
                let (project, prompt) = (project.clone(), task.prompt.clone());
                let job =
                    once::write(creating, project, None, prompt, task.once, &observer).await?;
                batch.set(at, JobState::Running(Box::new(job.clone().current())));
                wait::wait(
                    client,
                    Target::just_written(job, task.prompt),
                    wait,
                    &observer,
                )
                .await
            };
            let result = result.await;
            let not_sent = |error: &Error| error.outcome == Some(Outcome::NotSent);
            if batch.is_over.load(Ordering::Relaxed) && result.as_ref().is_err_and(not_sent) {
                return;
            }
            batch.end(at, result);
            all.ended(at);
        })
    };
    stream::iter(tasks.into_iter().enumerate())
        .for_each_concurrent(concurrency, run_one)
        .await;
}
