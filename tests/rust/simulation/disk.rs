//! The disk. The scenario decides whether a store's work is done, when, and in what order.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use docplatform::store::{Fault, Store, StoreExecutor, StoreWork};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::dice::Dice;
use crate::world::{Life, World};

/// The longest that a piece of work waits for a lock of the file.
pub(crate) const MAX_LOCK_WAIT: u64 = 30_000;

/// The work that waits for the disk of a process.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: VecDeque<StoreWork>,
    is_served: bool,
    done: u64,
}

/// The store of a process.
pub(crate) fn store(life: &Arc<Life>) -> Store {
    let life = Arc::clone(life);
    let path = life.world.path.clone();
    let desk: StoreExecutor = Arc::new(move |work| {
        if life.is_dead() {
            return life.world.buried.lock().unwrap().push(work);
        }
        let serve = {
            let mut queue = life.queue.lock().unwrap();
            queue.waiting.push_back(work);
            !std::mem::replace(&mut queue.is_served, true)
        };
        if !serve {
            return;
        }
        if life.world.scenario.disk.latency == 0 {
            while perform(&life, 0) {}
        } else if Handle::try_current().is_ok() {
            let life = Arc::clone(&life);
            tokio::spawn(async move {
                loop {
                    let took = latency(&life);
                    sleep(Duration::from_millis(took)).await;
                    if !perform(&life, took) {
                        break;
                    }
                }
            });
        }
    });
    Store::done_by(&path, desk).unwrap()
}

/// Drops the work that waited in a process that died, with its locks and its callers' answers.
pub(crate) fn lose(life: &Life) {
    let lost = std::mem::take(&mut life.queue.lock().unwrap().waiting);
    life.world.buried.lock().unwrap().extend(lost);
}

fn dice(life: &Life) -> Dice {
    let done = life.queue.lock().unwrap().done;
    Dice::of(
        life.world.scenario.seed,
        &[2, life.process as u64, life.number as u64, done],
    )
}

/// How long the next piece takes.
fn latency(life: &Life) -> u64 {
    let longest = life.world.scenario.disk.latency;
    let mut dice = dice(life);
    // Most of the time a slow disk is quick.
    if dice.chance(70) {
        dice.below(longest.min(5) + 1)
    } else {
        dice.below(2 * longest + 1).min(MAX_LOCK_WAIT)
    }
}

/// Does the first piece that waits, which took so long; `false`: there is none.
fn perform(life: &Life, took: u64) -> bool {
    let mut dice = dice(life);
    let work = {
        let mut queue = life.queue.lock().unwrap();
        queue.done += 1;
        let Some(work) = queue.waiting.pop_front() else {
            queue.is_served = false;
            return false;
        };
        work
    };
    if !life.step() {
        life.world.buried.lock().unwrap().push(work);
        lose(life);
        return false;
    }
    let world = &life.world;
    let number = world.works.fetch_add(1, Ordering::Relaxed) + 1;
    if world.scenario.deletions.contains(&number) {
        delete(world);
    }
    let fails = (dice.next(), dice.chance(world.scenario.disk.failing));
    let end = match fails {
        _ if took >= MAX_LOCK_WAIT => WorkEnd::Unopened(busy()),
        (which, true) => failure(which),
        _ => WorkEnd::Done,
    };
    let told = match end {
        WorkEnd::Done => "done",
        WorkEnd::Unopened(_) => "failed",
        WorkEnd::Uncommitted => "failed to commit",
    };
    if let WorkEnd::Unopened(fault) = &end {
        work.perform(Err(fault.error(&world.path)));
    } else {
        let is_refused = matches!(end, WorkEnd::Uncommitted);
        let mut connection = world.connection.lock().unwrap();
        // The work spent a part of the time in line. Its first transaction takes the rest.
        world.wait.begin(&connection, dice.below(took + 1));
        let wait = Arc::clone(&world.wait);
        let committed = move || {
            wait.end();
            is_refused
        };
        connection.commit_hook(Some(committed)).unwrap();
        work.perform(Ok(&mut connection));
        connection.commit_hook(None::<fn() -> bool>).unwrap();
        world.wait.end();
    }
    if !matches!(end, WorkEnd::Done) || world.scenario.disk.latency > 0 {
        world.note(|| format!("disk of {}: {told}", life.process));
    }
    true
}

/// The end of a piece of work.
enum WorkEnd {
    Done,
    /// The file cannot be opened.
    Unopened(Fault),
    /// It is done to its end, and then nothing of it stays.
    Uncommitted,
}

fn busy() -> Fault {
    Fault::Sqlite(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
        None,
    ))
}

fn failure(which: u64) -> WorkEnd {
    let sqlite = |code| {
        Fault::Sqlite(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(code),
            None,
        ))
    };
    WorkEnd::Unopened(match which % 6 {
        0 => Fault::Io(std::io::Error::from_raw_os_error(28)),
        1 => sqlite(rusqlite::ffi::SQLITE_FULL),
        2 => sqlite(rusqlite::ffi::SQLITE_IOERR),
        3 => busy(),
        _ => return WorkEnd::Uncommitted,
    })
}

/// A connection to an empty store in memory: the tables of one that the client made.
pub(crate) fn in_memory(directory: &Path) -> Connection {
    let path = directory.join("template.db");
    Store::open(&path).unwrap();
    let template = Connection::open(&path).unwrap();
    let memory = Connection::open_in_memory().unwrap();
    // The plans do not depend on the values: SQLite need not make them again for each.
    memory
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .unwrap();
    let mut schema = template
        .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let statements = schema.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for statement in statements {
        memory.execute_batch(&statement.unwrap()).unwrap();
    }
    memory
        .execute(
            "INSERT INTO meta (name, value) VALUES ('salt', zeroblob(32))",
            [],
        )
        .unwrap();
    let numbers = "SELECT count(*) FROM sqlite_sequence WHERE name = 'export'";
    let starts_anywhere: i64 = template.query_row(numbers, [], |row| row.get(0)).unwrap();
    memory
        .execute(
            "INSERT INTO meta (name, value) VALUES ('starts', ?1)",
            [starts_anywhere],
        )
        .unwrap();
    #[cfg(keeps_statements)]
    crate::statements::keep(&memory);
    memory
}

/// Makes it empty again.
pub(crate) fn empty(connection: &Connection) {
    connection
        .execute_batch(
            "DELETE FROM once; DELETE FROM page; DELETE FROM export; DELETE FROM request; DELETE FROM told;
             DELETE FROM account;",
        )
        .unwrap();
    begin_file(connection, 0);
}

/// Somebody deletes the file: the next work makes another one.
fn delete(world: &World) {
    let connection = world.connection.lock().unwrap();
    empty(&connection);
    begin_file(&connection, world.works.load(Ordering::Relaxed));
    drop(connection);
    world.note(|| "the store is deleted".to_owned());
}

/// Begins a file as the client does: each has a salt of its own, and numbers its exports from
/// somewhere else on.
fn begin_file(connection: &Connection, number: u64) {
    connection
        .execute("DELETE FROM sqlite_sequence", [])
        .unwrap();
    for sql in [
        "UPDATE meta SET value = cast(printf('%032d', ?1) AS BLOB) WHERE name = 'salt'",
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'export', ?1 * 1000 * value FROM meta WHERE name = 'starts'",
    ] {
        connection.execute(sql, [number.cast_signed()]).unwrap();
    }
}
