//! Does a store's work in order, on one thread: of the runtime, or of its own where none runs. The
//! file is closed soon after the last work, so that a fork rarely meets it open.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use std::{mem, process, thread};

use rusqlite::Connection;
use tokio::runtime::Handle;

use crate::store::busy::BusyTimeout;
use crate::store::fault::Fault;
use crate::store::file::{self, FileId, beside};
use crate::store::open_files;
use crate::{error, lock};

/// How long an idle file stays open, so that a quick export opens it only once.
const MAX_IDLE: Duration = Duration::from_millis(10);
/// How often a closed file is opened again so that SQLite removes its log. Before each try but the
/// first comes a random pause, whose limit doubles.
const MAX_LOG_REMOVALS: u32 = 6;

/// Whether the runtime is about to end. Its end drops the calls under way, and what these still
/// write to the store would be lost on a thread of the runtime.
static RUNTIME_ENDS: AtomicBool = AtomicBool::new(false);

/// From now on, a store that needs a thread gets one of its own.
pub fn leave_runtime() {
    RUNTIME_ENDS.store(true, Ordering::Release);
}

/// Takes the connection, or the error of opening the file.
type Run = Box<dyn FnOnce(error::Result<&mut Connection>) + Send>;

pub struct StoreWork {
    pub(super) timeout: BusyTimeout,
    pub(super) run: Run,
}

impl StoreWork {
    /// Does the work, unless its caller has left.
    pub fn perform(self, connection: error::Result<&mut Connection>) {
        if self.timeout.wanted() {
            self.timeout.during(|| (self.run)(connection));
        }
    }
}

/// Does work in place of the thread. A simulation delays or loses it.
pub type StoreExecutor = Arc<dyn Fn(StoreWork) + Send + Sync>;

/// A task of the thread.
enum WorkerTask {
    Work(StoreWork),
    /// Closes the file, and then answers.
    Close(SyncSender<error::Result<()>>),
}

pub(super) type Open = fn(&Path) -> Result<Connection, Fault>;

/// The work on one file.
pub(super) struct Worker {
    pub(super) path: PathBuf,
    open: Open,
    executor: Option<StoreExecutor>,
    pid: u32,
    /// The way to the thread, if there is one.
    thread: Mutex<Option<Sender<WorkerTask>>>,
    /// The log of a file that was replaced while it was open. It belongs to that file.
    left_log: Mutex<Option<FileId>>,
    /// The worker of a forked child. The parent's thread is not there, and may have left the lock
    /// closed.
    child: OnceLock<Arc<Self>>,
}

impl Worker {
    pub(super) fn new(path: PathBuf, open: Open, executor: Option<StoreExecutor>) -> Arc<Self> {
        let worker = Arc::new(Self {
            path,
            open,
            executor,
            pid: process::id(),
            thread: Mutex::default(),
            left_log: Mutex::default(),
            child: OnceLock::new(),
        });
        open_files::register(&worker);
        worker
    }

    /// Submits `work`. It is done after all earlier work.
    pub(super) fn submit(self: &Arc<Self>, work: StoreWork) -> error::Result<()> {
        if let Some(executor) = &self.executor {
            executor(work);
            return Ok(());
        }
        if self.pid != process::id() {
            return self
                .child
                .get_or_init(|| Self::new(self.path.clone(), self.open, None))
                .submit(work);
        }
        self.send(WorkerTask::Work(work))
    }

    /// Closes the file after all earlier work, and then answers. `false`: nothing is open, and no
    /// log is left, or this process has no thread for it, or another executor does the work.
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
        if is_closed || self.executor.is_some() {
            return Ok(false);
        }
        self.send(WorkerTask::Close(closed)).map(|()| true)
    }

    fn send(self: &Arc<Self>, mut task: WorkerTask) -> error::Result<()> {
        let mut thread = lock(&self.thread);
        if let Some(sender) = &*thread {
            match sender.send(task) {
                Ok(()) => return Ok(()),
                // The thread ended early: something besides the work panicked, or the runtime
                // dropped it.
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
        let runtime = Handle::try_current().ok();
        if let Some(runtime) = runtime.filter(|_| !RUNTIME_ENDS.load(Ordering::Acquire)) {
            // The runtime keeps threads for such work. A clock that a test has paused stands still
            // meanwhile.
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

    /// The next task; `None` ends the thread.
    fn next(&self, queue: &Receiver<WorkerTask>) -> Option<WorkerTask> {
        // Under the lock, no task can come between this check and the end.
        let mut thread = lock(&self.thread);
        let task = queue.try_recv().ok();
        if task.is_none() {
            *thread = None;
        }
        task
    }

    fn perform(&self, task: WorkerTask, queue: &Receiver<WorkerTask>) {
        let mut next = Some(task);
        while let Some(task) = next {
            next = match task {
                WorkerTask::Work(work) => self.work(work, queue),
                WorkerTask::Close(closed) => {
                    self.remove_log();
                    // The caller may have left.
                    let _ = closed.send(Ok(()));
                    None
                }
            };
        }
    }

    /// Opens the file for `work` and the tasks right after it, and closes it. Returns a task that
    /// has to follow.
    fn work(&self, work: StoreWork, queue: &Receiver<WorkerTask>) -> Option<WorkerTask> {
        if !work.timeout.wanted() {
            return None;
        }
        let _open = open_files::open_connection();
        let before = file::id(&self.path);
        let mut connection = match work.timeout.during(|| self.open_file()) {
            Ok(connection) => connection,
            Err(fault) => {
                work.perform(Err(fault.error(&self.path)));
                return None;
            }
        };
        let opened = before.or_else(|| file::id(&self.path));
        work.perform(Ok(&mut connection));
        let log = file::id(&self.log());
        let mut next = None;
        while next.is_none()
            && !open_files::forking()
            && let Ok(task) = queue.recv_timeout(MAX_IDLE)
        {
            match task {
                WorkerTask::Work(work) if file::id(&self.path) == opened => {
                    work.perform(Ok(&mut connection));
                }
                // It would be lost in a file that was deleted or replaced.
                other => next = Some(other),
            }
        }
        // SQLite leaves the log of a file that was deleted or replaced as it is.
        if file::id(&self.path) != opened && file::id(&self.log()) == log {
            *lock(&self.left_log) = log;
        }
        next
    }

    /// Opens the file, unless what is in the log of another one would get into it.
    fn open_file(&self) -> Result<Connection, Fault> {
        let log = file::id(&self.log());
        if log.is_some() && log == *lock(&self.left_log) && self.path.exists() {
            return Err(Fault::LogAlone("another file than before"));
        }
        (self.open)(&self.path)
    }

    /// Makes SQLite remove its log. The last connection to a file removes it. If two are closed at
    /// the same moment, neither is the last.
    fn remove_log(&self) {
        for tries in 0..MAX_LOG_REMOVALS {
            if !self.log().exists() || !self.path.exists() {
                return;
            }
            if tries > 0 {
                thread::sleep(Duration::from_millis(fastrand::u64(1..=1 << tries)));
            }
            let _open = open_files::open_connection();
            // Another process may keep the log: what it still reads there gets into the file later.
            if let Ok(connection) = self.open_file() {
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
            // The parent's thread may have held a lock of the channel during the fork.
            mem::forget(self.thread.get_mut().map(Option::take));
        }
    }
}
