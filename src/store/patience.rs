//! How long a piece of work waits for a lock on the file: until its time is over or its caller is gone. It is kept in a
//! thread local, because SQLite's busy handler is a function pointer without data.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long work waits for a lock, counted from when it was asked for: what stands in line waits at the same time.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(30);
/// The longest pause between two tries.
const MAX_LOCK_PAUSE: Duration = Duration::from_millis(10);

thread_local! {
    /// Of the work that this thread does.
    static CURRENT: RefCell<Option<Patience>> = const { RefCell::new(None) };
}

#[derive(Clone)]
pub(super) struct Patience {
    until: Instant,
    /// Gone when the caller is; `None`: the work is done in any case.
    caller: Option<Weak<()>>,
}

impl Patience {
    /// Of work that is done in any case.
    pub(super) fn in_any_case() -> Self {
        Self {
            until: Instant::now() + MAX_LOCK_WAIT,
            caller: None,
        }
    }

    /// Of work that is wanted for as long as the second value lives.
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

    /// Does `work`, which meets locks with this patience.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        let result = work();
        CURRENT.set(None);
        result
    }
}

/// SQLite's busy handler: waits a moment, and says whether to try again.
pub(super) fn wait(tries: i32) -> bool {
    let patient = |patience: &Patience| patience.wanted() && Instant::now() < patience.until;
    let again = CURRENT.with_borrow(|current| current.as_ref().is_some_and(patient));
    if again {
        let tries = u64::try_from(tries).unwrap_or(0);
        thread::sleep(Duration::from_millis(1 + tries).min(MAX_LOCK_PAUSE));
    }
    again
}
