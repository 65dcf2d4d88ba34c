//! Runs seeds, one world after another, and cuts down those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::{Builder, Handle};
use tokio::time::{sleep, timeout};

use crate::scenario::Scenario;
use crate::world::{Trace, World};
use crate::{checks, disk, process};

/// A run that takes longer has a wait without end.
const MAX_TIME: Duration = Duration::from_hours(60 * 24);
/// Work that goes on after the last process has ended is over by then.
const REST: Duration = Duration::from_hours(1);

/// The most that is shown of a run: violations, lines of its history, and characters of each.
const MAX_VIOLATIONS: usize = 2;
const MAX_FIRST: usize = 8;
pub(crate) const MAX_LAST: usize = 20;
const MAX_WIDTH: usize = 220;

/// Where worlds are made.
pub(crate) struct Runs {
    directory: TempDir,
    connection: Option<Connection>,
}

/// How one ended.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) hash: u64,
    pub(crate) violations: Vec<String>,
    pub(crate) words: Vec<String>,
    pub(crate) requests: usize,
}

impl Runs {
    pub(crate) fn new() -> Self {
        // In memory where there is such a place: locks are files.
        let directory = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let connection = Some(disk::in_memory(directory.path()));
        Self {
            directory,
            connection,
        }
    }

    /// Runs a seed without some parts of its scenario.
    pub(crate) fn run(&mut self, seed: u64, cut: &[usize], trace: Trace) -> Run {
        let scenario = Scenario::draw(seed).without(cut);
        let connection = self
            .connection
            .take()
            .unwrap_or_else(|| disk::in_memory(self.directory.path()));
        disk::empty(&connection);
        fastrand::seed(seed);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let entered = runtime.enter();
        let world = World::new(scenario.clone(), self.directory.path(), connection, trace);
        drop(entered);
        let ran = catch_unwind(AssertUnwindSafe(|| runtime.block_on(live(&world))));
        if ran.is_err() {
            world.violation("it panicked");
        }
        world.bury();
        drop(runtime);
        world.bury();
        let (violations, words, requests) = {
            let mut state = world.state();
            let violations = std::mem::take(&mut state.violations);
            (
                violations,
                std::mem::take(&mut state.words),
                state.sent.len(),
            )
        };
        let hash = world.hash();
        // Whatever a run has left behind is no part of the next one.
        self.connection =
            Arc::into_inner(world).map(|world| world.connection.into_inner().unwrap());
        Run {
            scenario,
            hash,
            violations,
            words,
            requests,
        }
    }

    /// The command that runs a failing seed again, without all that it fails without.
    pub(crate) fn command(&mut self, seed: u64) -> String {
        let parts = Scenario::draw(seed).parts();
        let mut cut = Vec::new();
        for part in 0..parts {
            cut.push(part);
            if self.run(seed, &cut, Trace::None).violations.is_empty() {
                cut.pop();
            }
        }
        let cut: Vec<_> = cut.iter().map(ToString::to_string).collect();
        format!("make simulate SEED={seed} WITHOUT={}", cut.join(","))
    }
}

impl Run {
    /// The violations, the history and the world of a run, for people: no more than a page.
    pub(crate) fn told(&self, last: usize) -> String {
        let mut lines = Vec::new();
        for violation in self.violations.iter().take(MAX_VIOLATIONS) {
            lines.push("VIOLATION".to_owned());
            lines.extend(violation.lines().map(str::to_owned));
        }
        // Where a disk did what it should, and what follows the first violation, explains nothing.
        let is_telling = |line: &&String| !line.ends_with(": done");
        let until = self
            .words
            .iter()
            .position(|line| line.contains("VIOLATION"))
            .unwrap_or(self.words.len());
        let words: Vec<_> = self.words[..until].iter().filter(is_telling).collect();
        let (first, last) = (words.len().min(MAX_FIRST), words.len().saturating_sub(last));
        lines.push(format!("HISTORY, in milliseconds: {} lines", words.len()));
        lines.extend(words[..first].iter().map(ToString::to_string));
        if last > first {
            lines.push("          ...".to_owned());
        }
        lines.extend(words[last.max(first)..].iter().map(ToString::to_string));
        let Scenario {
            faults,
            fault_chance,
            habits,
            disk,
            settings,
            kills,
            jumps,
            deletions,
            ..
        } = &self.scenario;
        lines.push("WORLD".to_owned());
        lines.push(format!(
            "{fault_chance} % {faults:?}, {kills:?}, {jumps:?}, deleted at {deletions:?}"
        ));
        lines.extend([
            format!("{habits:?}"),
            format!("{disk:?}"),
            format!("{settings:?}"),
        ]);
        let clip = |line: String| line.chars().take(MAX_WIDTH).collect::<String>();
        lines.into_iter().map(clip).collect::<Vec<_>>().join("\n")
    }
}

/// All that happens in a world.
async fn live(world: &Arc<World>) {
    let processes = (0..world.scenario.processes.len())
        .map(|number| tokio::spawn(process::live(Arc::clone(world), number)));
    let all = futures_util::future::join_all(processes);
    let clock = tokio::spawn(set_clock(Arc::clone(world)));
    match timeout(MAX_TIME, all).await {
        Err(_) => world.violation("a wait without end"),
        Ok(ended) => {
            for process in ended {
                process.unwrap();
            }
            clock.abort();
            sleep(REST).await;
            // Of a process that was killed after its last call, while its store had work left.
            world.bury();
            let tasks = Handle::current().metrics().num_alive_tasks();
            if tasks > 0 {
                world.violation(format!("{tasks} tasks go on"));
            }
        }
    }
    process::spend(world).await;
    checks::check(world);
}

async fn set_clock(world: Arc<World>) {
    let mut jumps = world.scenario.jumps.clone();
    jumps.sort_by_key(|jump| jump.at);
    for jump in jumps {
        sleep(Duration::from_millis(jump.at.saturating_sub(world.now()))).await;
        world.set_clock(jump.by);
    }
}
