//! SQLite's busy handler: work waits for a lock on the file until its time is over or its caller
//! has left. The timeout is a thread local, because the handler is a function pointer without data.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for a lock, counted from the submission of the work.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(30);
/// The longest pause between two tries.
const MAX_LOCK_PAUSE: Duration = Duration::from_millis(10);

thread_local! {
    /// The timeout of this thread's current work.
    static CURRENT: RefCell<Option<BusyTimeout>> = const { RefCell::new(None) };
}

#[derive(Clone)]
pub(super) struct BusyTimeout {
    until: Instant,
    /// Dead after the caller has left. `None` for work that is done in any case.
    caller: Option<Weak<()>>,
}

impl BusyTimeout {
    /// The timeout of work that is done in any case.
    pub(super) fn in_any_case() -> Self {
        Self {
            until: Instant::now() + MAX_LOCK_WAIT,
            caller: None,
        }
    }

    /// The timeout of work that is wanted while the second value lives.
    pub(super) fn of_caller() -> (Self, Arc<()>) {
        let caller = Arc::new(());
        (
            Self {
                caller: Some(Arc::downgrade(&caller)),
                ..Self::in_any_case()
            },
            caller,
        )
    }

    /// Whether the work is still to be done.
    pub(super) fn wanted(&self) -> bool {
        self.caller
            .as_ref()
            .is_none_or(|caller| caller.strong_count() > 0)
    }

    /// Does `work` with this timeout.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        let result = work();
        CURRENT.set(None);
        result
    }
}

/// The busy handler. It pauses, and says whether to try again.
pub(super) fn wait(tries: i32) -> bool {
    let patient = |timeout: &BusyTimeout| timeout.wanted() && Instant::now() < timeout.until;
    let again = CURRENT.with_borrow(|current| current.as_ref().is_some_and(patient));
    if again {
        let tries = u64::try_from(tries).unwrap_or(0);
        thread::sleep(Duration::from_millis(1 + tries).min(MAX_LOCK_PAUSE));
    }
    again
}
