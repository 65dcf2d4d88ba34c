//! The world of one run: its time, its lives, what was sent and answered, and the trace of it all.

#![allow(unsafe_code, reason = "a connection's state, while another has it")]

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use docplatform::clock::Clock;
use docplatform::error::Error;
use docplatform::store::StoreWork;
use rusqlite::ffi::{sqlite3, sqlite3_get_autocommit};
use rusqlite::types::FromSql;
use rusqlite::{Connection, Params};
use tokio::sync::{Notify, RwLock};
use tokio::time::Instant;
use xxhash_rust::xxh3::Xxh3;

use crate::disk::Queue;
use crate::scenario::{ADDRESSES, Kill, Scenario, What};
use crate::service::{Answered, Service};

/// The tenth of February 2026.
pub(crate) const BASE: u64 = 1_770_681_600_000;
/// More than any run needs: a bug that asks for ever should fail, not hang.
const MAX_REQUESTS: usize = 4_000;
/// More requests a violation does not show.
const MAX_LINES: usize = 8;

/// See the module.
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) path: PathBuf,
    begun: Instant,
    jump: Arc<AtomicI64>,
    pub(crate) wait: Arc<LockWait>,
    trace: Trace,
    steps: Vec<AtomicU64>,
    state: Mutex<State>,
    pub(crate) connection: Mutex<Connection>,
    /// How many pieces of work were done on it.
    pub(crate) works: AtomicU64,
    /// Work of processes that died: not even what dropping it would do goes on.
    pub(crate) buried: Mutex<Vec<StoreWork>>,
    /// A user who looks what became of a name does so while no call creates under it.
    pub(crate) names: [RwLock<()>; 3],
}

/// The record of a run's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    /// Its lines are not even written.
    None,
    Hash,
    Words,
}

/// What happened so far.
pub(crate) struct State {
    hash: Xxh3,
    pub(crate) words: Vec<String>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) violations: Vec<String>,
    pub(crate) service: Service,
    /// The number of each process's last life.
    lives: Vec<usize>,
    /// The listings that the store must have whole, so that they are not requested again.
    pub(crate) whole: BTreeSet<What>,
    /// Which prompts were used under which name.
    pub(crate) prompts: [[bool; 2]; 3],
    /// Under which names a user said what job there is, in a world whose store is deleted.
    pub(crate) resolved_again: [bool; 3],
}

/// A request, from the moment at which the client gave it to its connection.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) process: usize,
    pub(crate) life: usize,
    /// Which call it belongs to.
    pub(crate) tag: u64,
    pub(crate) lane: usize,
    pub(crate) address: usize,
    pub(crate) url: String,
    pub(crate) write: bool,
    pub(crate) begun: u64,
    pub(crate) left: Option<u64>,
    /// When the head of its answer came.
    pub(crate) answered: Option<u64>,
    pub(crate) ended: Option<u64>,
    /// How many requests had begun by then.
    pub(crate) before: usize,
    pub(crate) end: End,
    /// The job that it made or wrote to.
    pub(crate) effect: Option<String>,
    /// The page that it got.
    pub(crate) page: Option<Answered>,
}

impl Sent {
    /// Whether it makes a new job.
    pub(crate) fn creates(&self) -> bool {
        self.write && self.url.ends_with("/job")
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            process,
            life,
            tag,
            address,
            url,
            begun,
            left,
            answered,
            ended,
            end,
            effect,
            ..
        } = self;
        let time = |time: Option<u64>| time.map_or("never".to_owned(), |time| time.to_string());
        let (left, answered, ended) = (time(*left), time(*answered), time(*ended));
        write!(
            f,
            "call {tag} of {process}.{life}: begun {begun}, left {left}, answered {answered}, ended {ended} {end:?}"
        )?;
        if let Some(effect) = effect {
            write!(f, ", did {effect}")?;
        }
        let path = ADDRESSES
            .iter()
            .find_map(|address| url.strip_prefix(address));
        write!(f, " at {address}, {}", path.unwrap_or(url))
    }
}

/// The last of these requests, for a violation.
pub(crate) fn lines<'a>(sent: impl IntoIterator<Item = &'a Sent>) -> String {
    let lines: Vec<_> = sent
        .into_iter()
        .map(|sent| format!("\n  {sent:?}"))
        .collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].concat()
}

/// An error, for a violation.
pub(crate) fn in_short(error: &Error) -> String {
    format!(
        "\n  {:?}, {:?}, {:?}: {:.200}",
        error.kind,
        error.outcome,
        error.status,
        error.to_string()
    )
}

/// How it ended, as the client saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Open,
    Unsent {
        fatal: bool,
    },
    /// The client gave it up before, or after, it had left.
    GivenUp,
    TimedOut,
    Broke,
    /// A status that is no success, and what its `Retry-After` means.
    Status(u16, Option<u64>),
    BodyLost,
    Unusable,
    Good,
}

/// The wait of a piece of work for the file's lock. Time passes at its first transaction: until
/// then its clocks are behind.
#[derive(Default)]
pub(crate) struct LockWait {
    left: AtomicU64,
    /// The connection of the work.
    of: AtomicPtr<sqlite3>,
}

impl LockWait {
    pub(crate) fn begin(&self, connection: &Connection, waits: u64) {
        // SAFETY: it is only asked for its state, by the work that has it.
        self.of
            .store(unsafe { connection.handle() }, Ordering::Relaxed);
        self.left.store(waits, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// How far the clocks are behind.
    fn left(&self) -> u64 {
        let left = self.left.load(Ordering::Relaxed);
        // SAFETY: the connection is open while its work is done, on this thread.
        if left > 0 && unsafe { sqlite3_get_autocommit(self.of.load(Ordering::Relaxed)) } == 0 {
            self.end();
            return 0;
        }
        left
    }
}

/// A process, from its start to its end.
pub(crate) struct Life {
    pub(crate) world: Arc<World>,
    pub(crate) process: usize,
    pub(crate) number: usize,
    dead: AtomicBool,
    pub(crate) killed: Notify,
    pub(crate) queue: Mutex<Queue>,
}

impl World {
    pub(crate) fn new(
        scenario: Scenario,
        place: &Path,
        connection: Connection,
        trace: Trace,
    ) -> Arc<Self> {
        let state = State {
            hash: Xxh3::new(),
            words: Vec::new(),
            sent: Vec::new(),
            violations: Vec::new(),
            service: Service::new(&scenario),
            lives: vec![0; scenario.processes.len() + 1],
            whole: BTreeSet::new(),
            prompts: Default::default(),
            resolved_again: Default::default(),
        };
        Arc::new(Self {
            path: place.join("visitors.db"),
            begun: Instant::now(),
            jump: Arc::default(),
            wait: Arc::default(),
            trace,
            // One more for who looks at the end.
            steps: (0..=scenario.processes.len())
                .map(|_| AtomicU64::new(0))
                .collect(),
            state: Mutex::new(state),
            connection: Mutex::new(connection),
            works: AtomicU64::new(0),
            buried: Mutex::default(),
            names: Default::default(),
            scenario,
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Milliseconds since the run began.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }

    /// The time of day by a clock that nobody sets: the service's.
    pub(crate) fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.base() + self.now())
    }

    /// When the run began, in milliseconds since 1970.
    pub(crate) fn base(&self) -> u64 {
        BASE + self.scenario.start
    }

    /// The one value that the store's file has for a question.
    pub(crate) fn value<T: FromSql>(&self, sql: &str, its: impl Params) -> T {
        let connection = self.connection.lock().unwrap();
        connection.query_row(sql, its, |row| row.get(0)).unwrap()
    }

    /// The machine's clock.
    pub(crate) fn clock(&self) -> Clock {
        let (begun, base, wait) = (self.begun, self.base(), Arc::clone(&self.wait));
        let now = move || {
            let passed = u64::try_from(begun.elapsed().as_millis()).unwrap();
            SystemTime::UNIX_EPOCH + Duration::from_millis(base + passed - wait.left())
        };
        let jump = Arc::clone(&self.jump);
        let wall = move || {
            let by = jump.load(Ordering::Relaxed);
            let passed = Duration::from_millis(by.unsigned_abs());
            if by < 0 {
                now() - passed
            } else {
                now() + passed
            }
        };
        Clock::new(wall)
    }

    pub(crate) fn set_clock(&self, by: i64) {
        self.jump.fetch_add(by, Ordering::Relaxed);
        self.note(|| format!("the clock is set by {by} ms"));
    }

    /// A line of the trace.
    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        if self.trace == Trace::None {
            return;
        }
        let line = format!("{:>9} {}", self.now(), line());
        let mut state = self.state();
        state.hash.update(line.as_bytes());
        if self.trace == Trace::Words {
            state.words.push(line);
        }
    }

    pub(crate) fn violation(&self, what: impl Into<String>) {
        let what = what.into();
        self.note(|| format!("VIOLATION: {what}"));
        self.state().violations.push(what);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.state().hash.digest()
    }

    /// A request is given to a connection.
    pub(crate) fn begin(&self, request: Sent) -> usize {
        let mut state = self.state();
        let number = state.sent.len();
        state.sent.push(request);
        // A panic with the state locked would end the run, and not only this process.
        drop(state);
        assert!(number < MAX_REQUESTS, "requests without end");
        number
    }

    /// The number of a process's last life.
    pub(crate) fn life_of(&self, process: usize) -> usize {
        self.state().lives[process]
    }

    /// A request ended, unless it had before.
    pub(crate) fn end(&self, request: usize, end: End) {
        let now = self.now();
        let mut state = self.state();
        let before = state.sent.len();
        let sent = &mut state.sent[request];
        if sent.end == End::Open {
            (sent.end, sent.ended, sent.before) = (end, Some(now), before);
            let (tag, left) = (sent.tag, sent.left);
            drop(state);
            self.note(|| format!("#{request} of {tag} ended: {end:?}, left {left:?}"));
        }
    }

    /// Drops what died, and what that leaves.
    pub(crate) fn bury(&self) {
        loop {
            let buried = std::mem::take(&mut *self.buried.lock().unwrap());
            if buried.is_empty() {
                break;
            }
        }
    }

    /// The requests of a call.
    pub(crate) fn of_call(&self, tag: u64) -> Vec<Sent> {
        self.state()
            .sent
            .iter()
            .filter(|sent| sent.tag == tag)
            .cloned()
            .collect()
    }
}

impl Life {
    pub(crate) fn new(world: &Arc<World>, process: usize, number: usize) -> Arc<Self> {
        world.state().lives[process] = number;
        let (dead, killed, queue) = Default::default();
        Arc::new(Self {
            world: Arc::clone(world),
            process,
            number,
            dead,
            killed,
            queue,
        })
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    pub(crate) fn die(&self) {
        if !self.dead.swap(true, Ordering::Relaxed) {
            self.world.note(|| format!("process {} dies", self.process));
            self.killed.notify_one();
        }
    }

    /// A step out of the process. `false`: it is dead, and the step is not done.
    pub(crate) fn step(&self) -> bool {
        if self.is_dead() {
            return false;
        }
        let number = self.world.steps[self.process].fetch_add(1, Ordering::Relaxed) + 1;
        let is_now = |kill: &&Kill| kill.process == self.process && kill.step == number;
        let Some(kill) = self.world.scenario.kills.iter().find(is_now) else {
            return true;
        };
        self.die();
        kill.after
    }
}
