//! Does a store's work in order, on one thread. The thread ends soon after the last work, so that a fork rarely meets it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use std::{mem, process, thread};

use rusqlite::Connection;
use tokio::runtime::Handle;

use crate::store::fault::Fault;
use crate::store::fork;
use crate::store::patience::Patience;
use crate::{error, lock};

/// How long an idle file stays open, so that a quick export opens it only once.
const MAX_IDLE: Duration = Duration::from_millis(10);

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

pub(super) type Open = fn(&Path) -> Result<Connection, Fault>;

/// The work on one file.
pub(super) struct Worker {
    pub(super) path: PathBuf,
    open: Open,
    desk: Option<Desk>,
    pid: u32,
    /// The way to the thread, if there is one.
    thread: Mutex<Option<Sender<StoreWork>>>,
    /// What a forked child has instead: the parent's thread is not there, and may have left the lock closed.
    child: OnceLock<Arc<Self>>,
}

impl Worker {
    pub(super) fn new(path: PathBuf, open: Open, desk: Option<Desk>) -> Arc<Self> {
        Arc::new(Self {
            path,
            open,
            desk,
            pid: process::id(),
            thread: Mutex::default(),
            child: OnceLock::new(),
        })
    }

    /// Has `work` done after all that was submitted before.
    pub(super) fn submit(self: &Arc<Self>, mut work: StoreWork) -> error::Result<()> {
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
        let mut thread = lock(&self.thread);
        if let Some(sender) = &*thread {
            match sender.send(work) {
                Ok(()) => return Ok(()),
                // It ended before its time: the work panicked.
                Err(unsent) => work = unsent.0,
            }
        }
        let (sender, queue) = mpsc::channel();
        let worker = Arc::clone(self);
        let serve = move || {
            worker.work(work, &queue);
            while let Some(work) = worker.next(&queue) {
                worker.work(work, &queue);
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
    fn next(&self, queue: &Receiver<StoreWork>) -> Option<StoreWork> {
        // Locked: nothing can be submitted between the look and the end.
        let mut thread = lock(&self.thread);
        let work = queue.try_recv().ok();
        if work.is_none() {
            *thread = None;
        }
        work
    }

    /// Opens the file for `work` and whatever comes right after it.
    fn work(&self, work: StoreWork, queue: &Receiver<StoreWork>) {
        if !work.patience.wanted() {
            return;
        }
        let _pass = fork::enter();
        let mut connection = match work.patience.during(|| (self.open)(&self.path)) {
            Ok(connection) => connection,
            Err(fault) => return work.perform(Err(fault.error(&self.path))),
        };
        work.perform(Ok(&mut connection));
        while !fork::forking()
            && let Ok(work) = queue.recv_timeout(MAX_IDLE)
        {
            work.perform(Ok(&mut connection));
        }
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
