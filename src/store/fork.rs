//! Forks wait until no connection is open. SQLite keeps locks and mutexes for the whole process: a child that
//! inherits them half taken would wait for threads that it does not have, or believe that it holds locks of its parent.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a fork waits: a connection is closed after its job. One that takes longer is forked with.
const MAX_FORK_WAIT: Duration = Duration::from_secs(5);

/// Open connections.
static OPEN_CONNECTIONS: Mutex<usize> = Mutex::new(0);
/// Notified when a connection was closed, and when a fork is over.
static CHANGED: Condvar = Condvar::new();
/// Threads that are about to fork.
static FORKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Kept by the thread that forks, so that the child has it in a known state.
    static FORK_GUARD: RefCell<Option<MutexGuard<'static, usize>>> = const { RefCell::new(None) };
}

fn open() -> MutexGuard<'static, usize> {
    crate::lock(&OPEN_CONNECTIONS)
}

/// A connection is open as long as this lives.
pub(super) struct Pass(());

/// Waits until no fork is under way.
pub(super) fn enter() -> Pass {
    let mut open = CHANGED.wait_while(open(), |_| forking()).unwrap_or_else(PoisonError::into_inner);
    *open += 1;
    Pass(())
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut open = open();
        *open = open.saturating_sub(1);
        CHANGED.notify_all();
    }
}

/// Whether connections are to be closed at once.
pub(super) fn forking() -> bool {
    FORKING.load(Ordering::Acquire) > 0
}

/// To be called before a fork, on the thread that forks: returns when no store is open, and keeps all closed.
pub fn before_fork() {
    FORKING.fetch_add(1, Ordering::AcqRel);
    let waited = CHANGED.wait_timeout_while(open(), MAX_FORK_WAIT, |open| *open > 0);
    let (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
    FORK_GUARD.set(Some(held));
}

/// To be called after it, in the parent as in the child, on the same thread.
pub fn after_fork(child: bool) {
    let Some(mut held) = FORK_GUARD.take() else { return };
    if child {
        // The other threads, with what they had open, are not here.
        *held = 0;
        FORKING.store(0, Ordering::Release);
    } else {
        FORKING.fetch_sub(1, Ordering::AcqRel);
    }
    drop(held);
    CHANGED.notify_all();
}
