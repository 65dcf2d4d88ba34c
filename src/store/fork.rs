//! A fork waits until no connection is open. SQLite has locks and mutexes for the whole process: a child that inherits
//! them while they are taken would wait for threads that it does not have, or believe that it holds its parent's locks.
//! Locked files are closed in the child, because a lock lasts as long as any process has its file open.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::store::worker::Worker;

/// How long a fork waits for connections to be closed. After that it happens anyway.
const MAX_FORK_WAIT: Duration = Duration::from_secs(5);

/// What this process has open.
struct OpenFiles {
    connections: usize,
    /// By number.
    locked: BTreeMap<u64, File>,
    next: u64,
    /// All that work in this process.
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
    /// Kept by the thread that forks, so that the child has it in a known state.
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
pub(super) struct Pass(());

/// Waits until no fork is under way.
pub(super) fn enter() -> Pass {
    let mut open = CHANGED
        .wait_while(open(), |_| forking())
        .unwrap_or_else(PoisonError::into_inner);
    open.connections += 1;
    Pass(())
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut open = open();
        open.connections = open.connections.saturating_sub(1);
        CHANGED.notify_all();
    }
}

/// A file that this process has locked. The lock ends with this; in a forked child there is none.
#[derive(Debug)]
pub(super) struct LockedFile(u64);

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
            // A child that was forked without Python has the file open, too: closing it here would not be enough. Where even
            // this fails, it ends with the process.
            let _ = file.unlock();
        }
    }
}

/// Whether connections are to be closed at once.
pub(super) fn forking() -> bool {
    FORKING.load(Ordering::Acquire) > 0
}

/// To be called before a fork, on the thread that forks: returns when no store is open, and keeps all closed.
pub fn before_fork() {
    FORKING.fetch_add(1, Ordering::AcqRel);
    let waited = CHANGED.wait_timeout_while(open(), MAX_FORK_WAIT, |open| open.connections > 0);
    let (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
    FORK_GUARD.set(Some(held));
}

/// To be called after it, in the parent as in the child, on the same thread.
pub fn after_fork(child: bool) {
    let Some(mut held) = FORK_GUARD.take() else {
        return;
    };
    if child {
        // The other threads, with what they had open, are not here.
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
