//! Does a store's work in order, on one thread. The thread ends soon after the last work, so that a fork rarely meets it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use std::{mem, process, thread};

use rusqlite::Connection;
use tokio::runtime::Handle;

use crate::store::fault::Fault;
use crate::store::file::beside;
use crate::store::fork;
use crate::store::patience::Patience;
use crate::{error, lock};

/// How long an idle file stays open, so that a quick export opens it only once.
const MAX_IDLE: Duration = Duration::from_millis(10);
/// How often a closed file is opened again so that SQLite removes its log. Before each try comes a longer pause.
const MAX_LOG_REMOVALS: u32 = 6;

/// What is done with the file, or with the reason why it cannot be opened.
type Run = Box<dyn FnOnce(error::Result<&mut Connection>) + Send>;

pub struct StoreWork {
    pub(super) patience: Patience,
    pub(super) run: Run,
}

impl StoreWork {
    /// Does it, unless nobody wants it any more.
    pub fn perform(self, connection: error::Result<&mut Connection>) {
        let Self { patience, run } = self;
        if patience.wanted() {
            patience.during(|| run(connection));
        }
    }
}

/// Takes work in place of a thread: a simulation does it when its disk would, or never.
pub type Desk = Arc<dyn Fn(StoreWork) + Send + Sync>;

/// What the thread is asked for.
enum Task {
    Work(StoreWork),
    /// Closes the file, and then answers.
    Close(SyncSender<error::Result<()>>),
}

pub(super) type Open = fn(&Path) -> Result<Connection, Fault>;

/// The work on one file.
pub(super) struct Worker {
    pub(super) path: PathBuf,
    open: Open,
    desk: Option<Desk>,
    pid: u32,
    /// The way to the thread, if there is one.
    thread: Mutex<Option<Sender<Task>>>,
    /// What a forked child has instead: the parent's thread is not there, and may have left the lock closed.
    child: OnceLock<Arc<Self>>,
}

impl Worker {
    pub(super) fn new(path: PathBuf, open: Open, desk: Option<Desk>) -> Arc<Self> {
        let worker = Arc::new(Self {
            path,
            open,
            desk,
            pid: process::id(),
            thread: Mutex::default(),
            child: OnceLock::new(),
        });
        fork::register(&worker);
        worker
    }

    /// Has `work` done after all that was submitted before.
    pub(super) fn submit(self: &Arc<Self>, work: StoreWork) -> error::Result<()> {
        if let Some(desk) = &self.desk {
            desk(work);
            return Ok(());
        }
        if self.pid != process::id() {
            return self
                .child
                .get_or_init(|| Self::new(self.path.clone(), self.open, None))
                .submit(work);
        }
        self.send(Task::Work(work))
    }

    /// Closes the file after all that was submitted before, and then answers. `false`: nothing is open, and no log is left.
    pub(super) fn close(
        self: &Arc<Self>,
        closed: SyncSender<error::Result<()>>,
    ) -> error::Result<bool> {
        if self.pid != process::id() {
            return match self.child.get() {
                Some(child) => child.close(closed),
                None => Ok(false),
            };
        }
        let is_closed = lock(&self.thread).is_none() && !self.log().exists();
        if is_closed || self.desk.is_some() {
            return Ok(false);
        }
        self.send(Task::Close(closed)).map(|()| true)
    }

    fn send(self: &Arc<Self>, mut task: Task) -> error::Result<()> {
        let mut thread = lock(&self.thread);
        if let Some(sender) = &*thread {
            match sender.send(task) {
                Ok(()) => return Ok(()),
                // It ended before its time: the work panicked.
                Err(unsent) => task = unsent.0,
            }
        }
        let (sender, queue) = mpsc::channel();
        let worker = Arc::clone(self);
        let serve = move || {
            worker.perform(task, &queue);
            while let Some(task) = worker.next(&queue) {
                worker.perform(task, &queue);
            }
        };
        if let Ok(runtime) = Handle::try_current() {
            // One of its threads is there already, and its clock, if a test has paused it, stands still meanwhile.
            drop(runtime.spawn_blocking(serve));
        } else {
            let begun = thread::Builder::new()
                .name("docplatform-store".to_owned())
                .spawn(serve);
            begun.map_err(|error| Fault::Thread(error.to_string()).error(&self.path))?;
        }
        *thread = Some(sender);
        Ok(())
    }

    /// What is left to do; `None` ends the thread.
    fn next(&self, queue: &Receiver<Task>) -> Option<Task> {
        // Locked: nothing can be submitted between the look and the end.
        let mut thread = lock(&self.thread);
        let task = queue.try_recv().ok();
        if task.is_none() {
            *thread = None;
        }
        task
    }

    fn perform(&self, task: Task, queue: &Receiver<Task>) {
        let asked = match task {
            Task::Work(work) => self.work(work, queue),
            Task::Close(closed) => Some(closed),
        };
        if let Some(closed) = asked {
            self.remove_log();
            // The caller may have left.
            let _ = closed.send(Ok(()));
        }
    }

    /// Opens the file for `work` and whatever comes right after it, and closes it. Returns who is waiting for that.
    fn work(
        &self,
        work: StoreWork,
        queue: &Receiver<Task>,
    ) -> Option<SyncSender<error::Result<()>>> {
        if !work.patience.wanted() {
            return None;
        }
        let _pass = fork::enter();
        let mut connection = match work.patience.during(|| (self.open)(&self.path)) {
            Ok(connection) => connection,
            Err(fault) => {
                work.perform(Err(fault.error(&self.path)));
                return None;
            }
        };
        work.perform(Ok(&mut connection));
        while !fork::forking()
            && let Ok(task) = queue.recv_timeout(MAX_IDLE)
        {
            match task {
                Task::Work(work) => work.perform(Ok(&mut connection)),
                Task::Close(closed) => return Some(closed),
            }
        }
        None
    }

    /// Has SQLite remove the log that it left. The last connection to a file removes it, but of two that are closed at
    /// the same moment neither is the last.
    fn remove_log(&self) {
        for tries in 0..MAX_LOG_REMOVALS {
            if !self.log().exists() || !self.path.exists() {
                return;
            }
            if tries > 0 {
                thread::sleep(Duration::from_millis(fastrand::u64(1..=1 << tries)));
            }
            let _pass = fork::enter();
            // Another process that uses the file keeps the log. What this process wrote is then in the file all the same.
            if let Ok(connection) = (self.open)(&self.path) {
                let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            }
        }
    }

    fn log(&self) -> PathBuf {
        beside(&self.path, "-wal")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.pid != process::id() {
            // The parent's thread may have been forked with a lock of the channel in its hand.
            mem::forget(self.thread.get_mut().map(Option::take));
        }
    }
}
