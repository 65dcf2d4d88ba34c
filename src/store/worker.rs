//! Who does a store's work: one thread of the process at a time, in the order in which it was asked for, and only as
//! long as there is something to do.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Handle;

use crate::error;
use crate::store::fault::Fault;
use crate::store::gate;
use crate::store::patience::Patience;

/// How long an open file is kept when there is nothing to do: an export over a quick line opens it once.
const IDLE: Duration = Duration::from_millis(10);

/// What is done with the file, or with the reason why it cannot be opened.
type Work = Box<dyn FnOnce(error::Result<&mut Connection>) + Send>;

/// A piece of work.
pub(super) struct Job {
    pub(super) patience: Patience,
    pub(super) work: Work,
}

impl Job {
    fn run(self, connection: error::Result<&mut Connection>) {
        let Self { patience, work } = self;
        patience.during(|| work(connection));
    }
}

/// How the file is opened.
pub(super) type Open = fn(&Path) -> Result<Connection, Fault>;

/// The work on one file.
pub(super) struct Worker {
    pub(super) path: PathBuf,
    open: Open,
    pid: u32,
    state: Mutex<State>,
    more: Condvar,
    /// What a forked child has instead: the parent's thread is not there, and may have left the lock closed.
    child: OnceLock<Arc<Self>>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Whether a thread is at it.
    served: bool,
}

impl Worker {
    pub(super) fn new(path: PathBuf, open: Open) -> Arc<Self> {
        let (state, more) = (Mutex::default(), Condvar::new());
        Arc::new(Self { path, open, pid: process::id(), state, more, child: OnceLock::new() })
    }

    /// Puts `job` behind those that are there.
    pub(super) fn submit(self: &Arc<Self>, job: Job) -> error::Result<()> {
        if self.pid != process::id() {
            return self.child.get_or_init(|| Self::new(self.path.clone(), self.open)).submit(job);
        }
        let mut state = self.state();
        state.jobs.push_back(job);
        if state.served {
            self.more.notify_one();
            return Ok(());
        }
        state.served = true;
        drop(state);
        let shift = Shift { worker: Arc::clone(self), over: false };
        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn_blocking(move || shift.serve()));
            return Ok(());
        }
        let thread = thread::Builder::new().name("docplatform-store".to_owned()).spawn(move || shift.serve());
        thread.map(drop).map_err(|error| Fault::Thread(error.to_string()).error(&self.path))
    }

    /// Whoever waits for a job hears that it will not be done.
    fn abandon(&self) {
        let mut state = self.state();
        let jobs = std::mem::take(&mut state.jobs);
        state.served = false;
        // Outside the lock: what they hold may ask for more.
        drop(state);
        drop(jobs);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, waiting at most so long for one.
    fn next(&self, idle: Duration) -> Option<Job> {
        let waited = self
            .more
            .wait_timeout_while(self.state(), idle, |state| state.jobs.is_empty() && !gate::forking());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.jobs.pop_front()
    }
}

/// A thread's turn. If it ends before its time (the runtime stopped, a job panicked), so do the jobs.
struct Shift {
    worker: Arc<Worker>,
    over: bool,
}

impl Shift {
    fn serve(mut self) {
        while let Some(job) = self.next() {
            self.work(job);
        }
    }

    /// The next job, or the end of the turn.
    fn next(&mut self) -> Option<Job> {
        let mut state = self.worker.state();
        let job = state.jobs.pop_front();
        state.served = job.is_some();
        self.over = job.is_none();
        job
    }

    /// Opens the file for `job` and whatever comes right behind it.
    fn work(&self, job: Job) {
        if !job.patience.wanted() {
            return;
        }
        let _pass = gate::enter();
        let mut connection = match job.patience.during(|| (self.worker.open)(&self.worker.path)) {
            Ok(connection) => connection,
            Err(fault) => return job.run(Err(fault.error(&self.worker.path))),
        };
        job.run(Ok(&mut connection));
        while !gate::forking()
            && let Some(job) = self.worker.next(IDLE)
        {
            if job.patience.wanted() {
                job.run(Ok(&mut connection));
            }
        }
    }
}

impl Drop for Shift {
    fn drop(&mut self) {
        if !self.over {
            self.worker.abandon();
        }
    }
}
