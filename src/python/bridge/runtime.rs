//! One tokio runtime a process: made at the first use, made again after a fork, stopped at exit.
//!
//! Why not one of pyo3-async-runtimes: it can be neither replaced after a fork nor stopped at exit.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;
use std::{io, process, ptr};

use pyo3::ffi::{PyInterpreterState_Get, PyInterpreterState_GetID};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::lock;
use crate::python::bridge::wake::{Waker, wait_for};
use crate::python::prelude::*;
use crate::store;

/// How long an idle blocking thread is kept. One starts with the runtime and stays, so that
/// blocking work runs even if the system gives no more threads.
const IDLE_THREAD_KEPT: Duration = Duration::from_hours(24 * 365);
/// How long exit waits: for blocked threads to step aside, for the runtime, and for the waker.
const EXIT_PATIENCE: Duration = Duration::from_millis(300);
/// How long exit waits for a slow disk: names of `once=` that are not in the store's one file are
/// lost to a copy of it.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
/// How long a blocked call waits before it looks for signals.
pub const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The runtime of one process. Leaked, so that no handle outlives it.
struct RuntimeSlot {
    pid: u32,
    /// Made for what the exiting thread does after the stop, in an `atexit` callback: it is not
    /// stopped again.
    at_exit: bool,
    waker: Waker,
    worker: RuntimeThread,
}

static SLOT: AtomicPtr<RuntimeSlot> = AtomicPtr::new(std::ptr::null_mut());
/// Set once the interpreter begins to exit.
static EXITING: AtomicBool = AtomicBool::new(false);
/// The thread that exits; it alone may still run Python.
static EXIT_THREAD: OnceLock<ThreadId> = OnceLock::new();
/// Threads inside a blocked call, between letting the interpreter go and having it again.
static BLOCKED: AtomicUsize = AtomicUsize::new(0);

/// The runtime of this process, for work that `writes` or not: where it cannot be started, nothing
/// was sent.
pub fn handle(py: Python<'_>, writes: bool) -> PyResult<Handle> {
    current(py, writes).map(|slot| slot.worker.handle.clone())
}

/// The way from this process's workers to Python.
pub fn waker(py: Python<'_>) -> PyResult<Waker> {
    current(py, false).map(|slot| slot.waker.clone())
}

fn current(py: Python<'_>, writes: bool) -> PyResult<&'static RuntimeSlot> {
    stand_aside(py);
    let at_exit = EXITING.load(Ordering::Acquire);
    let known = slot();
    if let Some(slot) = known
        && slot.pid == process::id()
        && slot.at_exit == at_exit
    {
        return Ok(slot);
    }
    keep_panics_quiet();
    let waker = Waker::start().map_err(|error| cannot_start(&error, writes))?;
    let worker = RuntimeThread::start().map_err(|error| cannot_start(&error, writes))?;
    let made: &'static RuntimeSlot = Box::leak(Box::new(RuntimeSlot {
        pid: process::id(),
        at_exit,
        waker,
        worker,
    }));
    // After a fork the parent's runtime is only a picture of threads that are not here: it is left
    // as it is.
    let won = SLOT.compare_exchange(
        known.map_or_else(ptr::null_mut, |known| ptr::from_ref(known).cast_mut()),
        ptr::from_ref(made).cast_mut(),
        Ordering::AcqRel,
        Ordering::Acquire,
    );
    if won.is_ok() {
        if known.is_some_and(|known| known.pid != process::id()) {
            // The parent's threads, which are not here.
            BLOCKED.store(0, Ordering::Release);
        }
        stop_at_exit(py)?;
    } else {
        // Another thread was faster (only without a GIL).
        made.stop(Duration::ZERO);
    }
    slot().ok_or_else(|| PyRuntimeError::new_err("docplatform has lost its threads"))
}

/// One of the three unsafe places of this crate; the others are `in_main_interpreter` and
/// `callout.rs`.
#[expect(unsafe_code)]
fn slot() -> Option<&'static RuntimeSlot> {
    // SAFETY: the pointer is null or came from `Box::leak` above; no slot is ever freed or written to.
    unsafe { SLOT.load(Ordering::Acquire).as_ref() }
}

/// Whether this is the interpreter that the process began with. Another one ends before the process
/// does, and would leave threads that ask for it; Python itself refuses only those that have a GIL
/// of their own.
#[expect(unsafe_code)]
pub fn in_main_interpreter(_py: Python<'_>) -> bool {
    // SAFETY: the interpreter is held, so there is a current one, and a valid pointer to it.
    unsafe { PyInterpreterState_GetID(PyInterpreterState_Get()) == 0 }
}

impl RuntimeSlot {
    /// Ends the threads; tasks are dropped, and their connections with them.
    fn stop(&self, patience: Duration) {
        self.worker.stop(patience);
        self.waker.stop(patience);
    }
}

/// The thread that reads, writes and parses. A page costs 110 µs of processor time on two of them,
/// and 72 on one, where nothing has to be woken: measured on collected exports.
struct RuntimeThread {
    handle: Handle,
    stop: Mutex<Option<oneshot::Sender<Duration>>>,
    thread: JoinHandle<()>,
}

impl RuntimeThread {
    /// A thread of our own around a runtime without threads: one of tokio's that cannot be started
    /// is a panic.
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .thread_name("docplatform-aside")
            .thread_keep_alive(IDLE_THREAD_KEPT)
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let aside = AssertUnwindSafe(|| drop(handle.spawn_blocking(|| ())));
        if catch_unwind(aside).is_err() {
            let _ = take_panic_location();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (stop, stopped) = oneshot::channel();
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the thread that the runtime runs on"
        )]
        let run = move || {
            let patience = runtime.block_on(stopped).unwrap_or(Duration::ZERO);
            // Tasks are dropped, and their connections with them.
            runtime.shutdown_timeout(patience);
        };
        let thread = thread::Builder::new()
            .name("docplatform".to_owned())
            .spawn(run)?;
        Ok(Self {
            handle,
            stop: Mutex::new(Some(stop)),
            thread,
        })
    }

    /// Ends it, and waits for that.
    fn stop(&self, patience: Duration) {
        let stop = lock(&self.stop).take();
        if let Some(stop) = stop {
            let _ = stop.send(patience);
        }
        wait_for(patience, || self.thread.is_finished());
    }
}

fn cannot_start(error: &io::Error, writes: bool) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::WouldBlock => {
            "Allow this process more threads (ulimit -u, or the pids limit of its container), or use fewer"
        }
        _ => "Close files, or allow this process more of them (ulimit -n)",
    };
    let text = format!(
        "docplatform cannot start its threads: {error}. Nothing was sent. {advice}, and call again"
    );
    Error::new(Kind::Connect, text).with_outcome(writes.then_some(Outcome::NotSent))
}

/// Registers the stop with `atexit`, and the closing of the stores with `multiprocessing`, whose
/// children may end without `atexit`.
pub fn stop_at_exit(py: Python<'_>) -> PyResult<()> {
    /// The process that has registered it.
    static REGISTERED: AtomicU32 = AtomicU32::new(0);
    if REGISTERED.swap(process::id(), Ordering::AcqRel) == process::id() {
        return Ok(());
    }
    let stop = pyo3::wrap_pyfunction!(stop, py)?;
    import(py, "atexit")?.call_method_out("register", (stop,))?;
    let close = pyo3::wrap_pyfunction!(close_stores, py)?;
    import(py, "docplatform._hooks.children")?
        .call_method_out("at_end", (close,))
        .map(drop)
}

/// Puts what was written into the one file of each store.
#[pyfunction]
fn close_stores(py: Python<'_>) {
    py.detach(|| store::close_all(CLOSE_PATIENCE));
}

/// Stops the runtime before the interpreter goes: no worker may ask for it, and no blocked thread
/// wake in it, later. Then closes the stores.
#[pyfunction]
fn stop(py: Python<'_>) {
    let _ = EXIT_THREAD.set(thread::current().id());
    EXITING.store(true, Ordering::Release);
    let slot = slot().filter(|slot| slot.pid == process::id());
    py.detach(|| {
        // A forked child that never used it has nothing to stop, and nobody to wait for.
        if let Some(slot) = slot {
            wait_for(EXIT_PATIENCE, || BLOCKED.load(Ordering::Acquire) == 0);
            store::leave_runtime();
            slot.stop(EXIT_PATIENCE);
        }
        store::close_all(CLOSE_PATIENCE);
    });
}

thread_local! {
    static PANIC_LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Notes where a panic was, for its exception, and prints nothing. This is the hook of this
/// extension alone.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info
                .location()
                .map(|at| format!(" ({}:{})", at.file(), at.line()));
            PANIC_LOCATION.set(place.unwrap_or_default());
        }));
    });
}

/// Where the last panic of this thread was.
pub fn take_panic_location() -> String {
    PANIC_LOCATION.take()
}

/// Runs `wait`, which returns within a [`SIGNAL_CHECK_INTERVAL`], without holding the interpreter.
pub fn blocked(py: Python<'_>, wait: impl FnOnce() + Send) {
    BLOCKED.fetch_add(1, Ordering::AcqRel);
    py.detach(|| {
        wait();
        if must_stand_aside() {
            BLOCKED.fetch_sub(1, Ordering::AcqRel);
            park();
        }
    });
    // Only now: exit waits until this thread has the interpreter again, or is parked.
    BLOCKED.fetch_sub(1, Ordering::AcqRel);
}

/// Parks every thread but the one that exits. An error would only be printed as the traceback of a
/// dying thread.
fn stand_aside(py: Python<'_>) {
    if must_stand_aside() {
        py.detach(park);
    }
}

fn must_stand_aside() -> bool {
    EXITING.load(Ordering::Acquire) && EXIT_THREAD.get() != Some(&thread::current().id())
}

pub fn park() {
    loop {
        thread::park();
    }
}
