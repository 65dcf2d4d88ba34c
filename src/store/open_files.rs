//! The connections and locked files that this process has open.
//!
//! A fork waits until no connection is open, for some seconds at most. SQLite has locks and mutexes
//! for the whole process, and a child that inherits them locked would wait for threads that it does
//! not have, or believe that it holds its parent's locks. The child closes locked files, because a
//! lock lasts as long as any process has its file open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::store::worker::Worker;

/// The longest wait of a fork for open connections.
const MAX_FORK_WAIT: Duration = Duration::from_secs(5);

/// The open connections and files of this process.
struct OpenFiles {
    connections: usize,
    /// By number.
    locked: BTreeMap<u64, File>,
    next: u64,
    /// The workers of this process.
    workers: Vec<Weak<Worker>>,
}

static OPEN_FILES: Mutex<OpenFiles> = Mutex::new(OpenFiles {
    connections: 0,
    locked: BTreeMap::new(),
    next: 0,
    workers: Vec::new(),
});
/// Notified when a connection was closed, and when a fork is over.
static CHANGED: Condvar = Condvar::new();
static FORKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Held by the thread that forks, so that the child has the files in a known state.
    static FORK_GUARD: RefCell<Option<MutexGuard<'static, OpenFiles>>> = const { RefCell::new(None) };
}

fn open() -> MutexGuard<'static, OpenFiles> {
    crate::lock(&OPEN_FILES)
}

/// Remembers a worker, for the end of the process.
pub(super) fn register(worker: &Arc<Worker>) {
    let mut open = open();
    open.workers.retain(|worker| worker.strong_count() > 0);
    open.workers.push(Arc::downgrade(worker));
}

/// The workers of this process.
pub(super) fn workers() -> Vec<Arc<Worker>> {
    open().workers.iter().filter_map(Weak::upgrade).collect()
}

/// A connection is open as long as this lives.
pub(super) struct ConnectionGuard(());

/// Counts a connection as open, as soon as no fork is under way.
pub(super) fn open_connection() -> ConnectionGuard {
    let mut open = CHANGED
        .wait_while(open(), |_| forking())
        .unwrap_or_else(PoisonError::into_inner);
    open.connections += 1;
    ConnectionGuard(())
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut open = open();
        open.connections = open.connections.saturating_sub(1);
        CHANGED.notify_all();
    }
}

/// A file that this process has locked. The lock ends with this; in a forked child there is none.
#[derive(Debug)]
pub struct LockedFile(u64);

impl LockedFile {
    /// Keeps a file that is locked.
    pub(super) fn keep(file: File) -> Self {
        let mut open = open();
        let number = open.next;
        open.next += 1;
        open.locked.insert(number, file);
        Self(number)
    }

    /// Whether this process has it, and not the one that it was forked from.
    pub(super) fn is_ours(&self) -> bool {
        open().locked.contains_key(&self.0)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if let Some(file) = open().locked.remove(&self.0) {
            // A child that was forked without Python has the file open, too, so closing it is not
            // enough. If this fails, the lock ends with the process.
            let _ = file.unlock();
        }
    }
}

/// Whether connections are to be closed at once.
pub(super) fn forking() -> bool {
    FORKING.load(Ordering::Acquire) > 0
}

/// Called before a fork, on the thread that forks. Waits until no connection is open, but not for
/// ever, and lets none be opened until the fork is over.
pub fn before_fork() {
    FORKING.fetch_add(1, Ordering::AcqRel);
    let waited = CHANGED.wait_timeout_while(open(), MAX_FORK_WAIT, |open| open.connections > 0);
    let (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
    FORK_GUARD.set(Some(held));
}

/// Called after a fork on the same thread, in the parent and in the child.
pub fn after_fork(child: bool) {
    let Some(mut held) = FORK_GUARD.take() else {
        return;
    };
    if child {
        // The parent's other threads are not in the child. Its locked files are, and are closed.
        held.connections = 0;
        held.locked.clear();
        held.workers.clear();
        FORKING.store(0, Ordering::Release);
    } else {
        FORKING.fetch_sub(1, Ordering::AcqRel);
    }
    drop(held);
    CHANGED.notify_all();
}
