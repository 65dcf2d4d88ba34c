//! Which files are accepted as a store, and which are left unchanged.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use docplatform::budget::{Budget, Ledger};
use docplatform::clock::Clock;
use docplatform::config::account::Terms;
use docplatform::error::{Error, Kind};
use docplatform::listing::endpoint::PagedBy;
use docplatform::store::{
    ClientStore, Content, Exports, Fault, Range, Store, StoredPage, after_fork, before_fork,
};
use http::HeaderMap;
use rusqlite::Connection;

use crate::budget::ledger::{key, opened, owner, place};
use crate::budget::policy::ticket;
use crate::helpers::support::{KEY, far};

fn refused(path: &Path) -> Error {
    let error = Store::open(path).expect_err("it should be refused");
    assert!(error.to_string().contains("store "), "{error}");
    error
}

/// Waits until no store of this process is open, for 5 s at most.
fn all_closed() {
    before_fork();
    after_fork(false);
}

/// A hundred requests an hour, counted in the store.
fn budget(store: &Store) -> Budget {
    Ledger::in_store(Clock::system(), store.clone(), owner(key(KEY)))
        .budget(Terms::new(100, 0).unwrap())
}

/// Enters one request.
async fn spend(store: &Store) {
    let budget = budget(store);
    ticket(&budget).await.answered(200, &HeaderMap::new(), None);
    assert_eq!(budget.left().await.unwrap(), 99);
}

#[tokio::test]
async fn a_store_is_one_file_that_any_tool_reads() {
    let (directory, path, store) = opened();
    spend(&store).await;
    let other = Connection::open(&path).unwrap();
    let (count, url): (i64, String) = other
        .query_row(
            "SELECT count(*), base_url FROM request JOIN account ON account.id = account",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!((count, url.as_str()), (1, "https://docs.example.com/api"));
    let check: String = other
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    drop(other);
    all_closed();
    let left = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(
        left.collect::<Vec<_>>(),
        ["visitors.db"],
        "the last to close leaves the one file"
    );
}

/// A killed process left the log, and the file was deleted or emptied after that.
/// Rows: N2.
#[tokio::test]
async fn a_store_that_is_missing_or_empty_beside_its_log_is_refused() {
    let (_directory, path) = place();
    spend(&Store::open(&path).unwrap()).await;
    all_closed();
    let other = Connection::open(&path).unwrap();
    other
        .execute("INSERT INTO meta (name, value) VALUES ('old', 1)", [])
        .unwrap();
    let log = path.with_extension("db-wal");
    std::mem::forget(other);
    let written = fs::read(&log).unwrap();
    assert!(!written.is_empty());
    fs::remove_file(&path).unwrap();
    for how in ["missing", "empty"] {
        let error = refused(&path);
        assert_eq!(error.kind, Kind::Configuration);
        assert!(error.to_string().contains(how), "{error}");
        assert!(error.to_string().contains("move the log away"), "{error}");
        assert_eq!(fs::read(&log).unwrap(), written);
        fs::write(&path, b"").unwrap();
    }
    fs::write(&log, b"").unwrap();
    spend(&Store::open(&path).unwrap()).await;
}

/// Rows: N1.
#[tokio::test]
async fn a_store_that_is_closed_is_whole_in_its_one_file_though_it_is_open_elsewhere() {
    let (_directory, path, store) = opened();
    let other = Connection::open(&path).unwrap();
    other
        .query_row("SELECT 1 FROM meta", [], |_| Ok(()))
        .unwrap();
    spend(&store).await;
    store.close().unwrap().unwrap().wait().unwrap();
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    let count = |file| -> i64 {
        let connection = Connection::open(file).unwrap();
        let sql = "SELECT count(*) FROM request";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count(&copy), 1);
    drop(other);
    // Four that are closed at the same moment: none finds itself the last.
    for _ in 0..20 {
        let stores = [(); 4].map(|()| Store::open(&path).unwrap());
        let closing = stores.each_ref().map(|store| store.close().unwrap());
        for closing in closing.into_iter().flatten() {
            closing.wait().unwrap();
        }
        assert!(!path.with_extension("db-wal").exists());
    }
}

/// SQLite reports both in the same way.
#[test]
fn a_lock_that_is_not_given_may_be_for_want_of_locks() {
    let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
    for fault in [
        Fault::from(rusqlite::Error::SqliteFailure(busy, None)),
        Fault::Late,
    ] {
        let error = fault.error(Path::new("visitors.db"));
        assert_eq!(error.kind, Kind::Store);
        assert!(
            error
                .to_string()
                .contains("when no other program is writing to it"),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("its file system may have no file locks"),
            "{error}"
        );
        assert!(!error.to_string().contains("another process"), "{error}");
    }
}

#[test]
fn the_same_key_looks_another_in_another_store() {
    let label = || {
        let (_directory, path, store) = opened();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(spend(&store));
        let label: String = Connection::open(&path)
            .unwrap()
            .query_row("SELECT organization FROM account", [], |row| row.get(0))
            .unwrap();
        assert!(label.starts_with("key:") && label.len() == 36, "{label}");
        label
    };
    assert_ne!(label(), label());
}

#[test]
fn what_is_no_store_is_left_byte_for_byte() {
    let foreign = |pragma: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let connection = Connection::open(file.path()).unwrap();
        connection
            .execute_batch(&format!(
                "CREATE TABLE mine (x); INSERT INTO mine VALUES (1); {pragma}"
            ))
            .unwrap();
        connection.close().unwrap();
        fs::read(file.path()).unwrap()
    };
    let store = |change: &dyn Fn(&Connection)| {
        let (_directory, path) = place();
        drop(Store::open(&path).unwrap());
        all_closed();
        let connection = Connection::open(&path).unwrap();
        change(&connection);
        connection.close().unwrap();
        fs::read(&path).unwrap()
    };
    let whole = store(&|_| {});
    let set = |name: &'static str, value: i64| {
        store(&move |connection| connection.pragma_update(None, name, value).unwrap())
    };
    for (what, bytes, words) in [
        (
            "text",
            b"path,human,ai,total\n".to_vec(),
            "not an SQLite file",
        ),
        ("noise", vec![0xa5; 10_000], "not an SQLite file"),
        ("short", b"S".to_vec(), "not an SQLite file"),
        ("foreign", foreign(""), "another program"),
        (
            "foreign with a log",
            foreign("PRAGMA journal_mode = WAL"),
            "another program",
        ),
        (
            "foreign that says who it is",
            foreign("PRAGMA application_id = 7; DROP TABLE mine"),
            "another program",
        ),
        ("later", set("user_version", 4), "version 4"),
        ("earlier", set("user_version", 0), "version 0"),
        ("cut off", whole[..8192].to_vec(), "damaged"),
        (
            "overwritten",
            [&whole[..100], &vec![0xff; whole.len() - 100]].concat(),
            "damaged",
        ),
    ] {
        let (_directory, path) = place();
        fs::write(&path, &bytes).unwrap();
        let error = refused(&path);
        assert!(error.to_string().contains(words), "{what}: {error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{what}: it was changed");
        assert_eq!(error.kind.class(None), "ConfigurationError", "{what}");
    }
}

#[test]
fn a_log_that_another_program_left_is_not_worked_in() {
    let (_directory, path) = place();
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE mine (x)")
        .unwrap();
    let (copy, log) = (path.with_extension("copy"), path.with_extension("copy-wal"));
    fs::copy(&path, &copy).unwrap();
    fs::copy(path.with_extension("db-wal"), &log).unwrap();
    let before = (fs::read(&copy).unwrap(), fs::read(&log).unwrap());
    assert!(refused(&copy).to_string().contains("another program"));
    assert_eq!((fs::read(&copy).unwrap(), fs::read(&log).unwrap()), before);
}

#[test]
fn a_transaction_that_another_program_left_is_not_rolled_back() {
    let (_directory, path) = place();
    fs::write(&path, b"").unwrap();
    let journal = path.with_extension("db-journal");
    fs::write(&journal, b"half done").unwrap();
    assert!(refused(&path).to_string().contains("unfinished"));
    assert_eq!(fs::read(&path).unwrap(), b"");
    assert_eq!(fs::read(&journal).unwrap(), b"half done");
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let (_directory, path) = place();
    fs::write(&path, b"").unwrap();
    spend(&Store::open(&path).unwrap()).await;
}

#[test]
fn paths_that_cannot_be_a_file() {
    let (directory, _) = place();
    assert!(
        refused(directory.path())
            .to_string()
            .contains("a directory")
    );
    assert!(refused(Path::new("/")).to_string().contains("a directory"));
    let error = refused(&directory.path().join("missing").join("visitors.db"));
    assert!(
        error.to_string().contains("directory does not exist"),
        "{error}"
    );
    assert_eq!(error.kind, Kind::Configuration);
    assert!(
        fs::read_dir(directory.path()).unwrap().next().is_none(),
        "nothing was made"
    );
}

#[test]
fn a_winding_path_is_made_straight() {
    let (directory, path) = place();
    let winding = directory
        .path()
        .join("..")
        .join(directory.path().file_name().unwrap())
        .join("visitors.db");
    let store = Store::open(&winding).unwrap();
    assert_eq!(
        store.path(),
        path.parent()
            .unwrap()
            .canonicalize()
            .unwrap()
            .join("visitors.db")
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn it_is_for_its_owner_alone() {
        let (_directory, path, store) = opened();
        // While another connection is open, the files beside it stay.
        let other = Connection::open(&path).unwrap();
        spend(&store).await;
        let mut files = vec![path.clone()];
        files.extend(["db-wal", "db-shm"].map(|suffix| path.with_extension(suffix)));
        for file in &files {
            assert_eq!(mode(file), 0o600, "{}", file.display());
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        Store::open(&path).unwrap();
        for file in &files {
            assert_eq!(mode(file), 0o600, "{}", file.display());
        }
        drop(other);
    }

    #[test]
    fn a_symbolic_link_is_not_followed() {
        let (directory, path) = place();
        let target = directory.path().join("target");
        for there in [false, true] {
            if there {
                fs::write(&target, b"precious").unwrap();
            }
            let _ = fs::remove_file(&path);
            symlink(&target, &path).unwrap();
            assert!(refused(&path).to_string().contains("symbolic link"));
        }
        assert_eq!(fs::read(&target).unwrap(), b"precious");
    }

    #[tokio::test]
    async fn a_directory_may_be_a_symbolic_link() {
        let (directory, path) = place();
        let link = directory.path().join("link");
        symlink(directory.path(), &link).unwrap();
        spend(&Store::open(&link.join("visitors.db")).unwrap()).await;
        assert!(path.exists());
    }

    #[test]
    fn a_pipe_is_no_file() {
        let (_directory, path) = place();
        let made = std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap();
        assert!(made.success());
        assert!(refused(&path).to_string().contains("not a plain file"));
    }

    /// Whether this user may write anyway.
    fn may_all(directory: &Path) -> bool {
        fs::write(directory.join("probe"), b"").is_ok()
    }

    /// Rows: M3.
    #[test]
    fn what_may_not_be_written_is_said() {
        let (directory, path) = place();
        drop(Store::open(&path).unwrap());
        all_closed();
        let bytes = fs::read(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).unwrap();
        if !may_all(directory.path()) {
            assert_eq!(refused(&path).kind, Kind::Configuration);
            assert_eq!(
                refused(&path.with_extension("new")).kind,
                Kind::Configuration
            );
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[tokio::test]
async fn a_panic_in_a_piece_of_work_ends_that_piece() {
    let (_directory, _path, store) = opened();
    let error = store
        .run(|_| -> Result<(), _> { panic!("on purpose") })
        .await
        .unwrap_err();
    assert_eq!(error.kind, Kind::Internal);
    spend(&store).await;
}

#[tokio::test]
async fn damage_that_shows_late_is_an_error_too() {
    let (_directory, _path, store) = opened();
    store
        .run(|connection| Ok(connection.execute_batch("DROP TABLE request")?))
        .await
        .unwrap();
    let error = budget(&store).acquire(far()).await.unwrap_err();
    assert!(
        error.to_string().contains("damaged") && error.to_string().contains("no such table"),
        "{error}"
    );
}

/// Rows: M3.
#[tokio::test]
async fn a_store_that_is_removed_is_made_again() {
    let (_directory, path, store) = opened();
    spend(&store).await;
    // Before it is closed, it would live on under no name.
    all_closed();
    fs::remove_file(&path).unwrap();
    spend(&store).await;
    assert!(path.exists());
}

/// Rows: M3, M11.
#[cfg(unix)]
#[tokio::test]
async fn what_is_written_into_a_busy_store_is_in_the_file_that_has_its_path() {
    for suffixes in [&["", "-wal", "-shm"][..], &[""]] {
        let (_directory, path, store) = opened();
        let beside = |suffix: &str| path.with_extension(format!("db{suffix}"));
        let files: Vec<_> = suffixes.iter().map(|suffix| beside(suffix)).collect();
        let remove = move |connection: &mut Connection| {
            connection.execute("INSERT INTO meta (name, value) VALUES ('before', 1)", [])?;
            files.iter().try_for_each(fs::remove_file)?;
            Ok(())
        };
        let write = |connection: &mut Connection| {
            Ok(connection.execute("INSERT INTO meta (name, value) VALUES ('after', 1)", [])?)
        };
        let (removed, written) = tokio::join!(store.run(remove), store.run(write));
        removed.unwrap();
        all_closed();
        if suffixes.len() == 3 {
            written.unwrap();
            let names = "SELECT count(*) FROM meta WHERE name IN ('before', 'after')";
            let there = Connection::open(&path).unwrap();
            let count: i64 = there.query_row(names, [], |row| row.get(0)).unwrap();
            assert_eq!(count, 1);
        } else {
            // The log has what was written last.
            let error = written.unwrap_err().to_string();
            assert!(error.contains("it is missing, but its log"), "{error}");
        }
    }
}

/// Rows: M3.
#[cfg(unix)]
#[tokio::test]
async fn the_log_of_a_file_that_was_replaced_gets_into_no_other() {
    let (_directory, path, store) = opened();
    all_closed();
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    let replace = {
        let path = path.clone();
        move |connection: &mut Connection| {
            connection.execute("INSERT INTO meta (name, value) VALUES ('before', 1)", [])?;
            Ok(fs::rename(&copy, &path)?)
        }
    };
    store.run(replace).await.unwrap();
    let count = |connection: &mut Connection| {
        let names = "SELECT count(*) FROM meta WHERE name = 'before'";
        Ok(connection.query_row(names, [], |row| row.get::<_, i64>(0))?)
    };
    for _ in 0..2 {
        let error = store.run(count).await.unwrap_err().to_string();
        assert!(
            error.contains("it is another file than before, but its log"),
            "{error}"
        );
        // Also after the file was closed.
        all_closed();
    }
    fs::remove_file(path.with_extension("db-wal")).unwrap();
    assert_eq!(store.run(count).await.unwrap(), 0);
}

/// Rows: M3.
#[tokio::test]
async fn an_export_that_was_begun_before_the_store_was_removed_is_none_of_the_next_store() {
    let (_directory, path, store) = opened();
    let exports = Exports::new(Arc::new(ClientStore {
        store,
        clock: Clock::system(),
        owner: owner(key(KEY)),
    }));
    let begin = |project: &str| {
        let range = Range {
            project_id: Some(project.to_owned()),
            path: "/v1/analytics/{project_id}/visitors".to_owned(),
            date_from: None,
            date_to: None,
            settles: None,
            paged_by: PagedBy::Offset,
        };
        exports.begin(range, Content::Pages, 250, false)
    };
    let before = begin("before").await.unwrap();
    all_closed();
    fs::remove_file(&path).unwrap();
    let after = begin("after").await.unwrap();
    let page = StoredPage {
        offset: 0,
        asked: 250,
        rows: 1,
        has_more: false,
        seen: 1,
        body: b"{}".to_vec(),
    };
    let error = exports
        .put(before.id, page, None, 0, None, ())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("deleted meanwhile"), "{error}");
    assert_eq!(exports.page(after.id, 0).await.unwrap(), None);
}

/// Rows: M3.
#[tokio::test]
async fn a_request_that_was_entered_before_the_store_was_removed_is_none_of_the_next_store() {
    let (_directory, path, store) = opened();
    let (before, after) = (budget(&store), budget(&store));
    let never_sent = before.acquire(far()).await.unwrap();
    all_closed();
    fs::remove_file(&path).unwrap();
    ticket(&after).await.answered(200, &HeaderMap::new(), None);
    drop(never_sent);
    assert_eq!(before.left().await.unwrap(), 99);
}

#[tokio::test]
async fn no_file_is_open_during_a_fork() {
    let (_directory, path, store) = opened();
    spend(&store).await;
    for _ in 0..5 {
        store
            .run(|connection| Ok(connection.execute("UPDATE meta SET name = name", [])?))
            .await
            .unwrap();
        before_fork();
        assert!(
            !path.with_extension("db-wal").exists(),
            "the last connection takes its log with it"
        );
        after_fork(false);
    }
}

#[test]
fn work_can_be_done_without_a_runtime() {
    let (_directory, _path, store) = opened();
    let tables = store
        .ask(|connection| {
            Ok(connection.query_row(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table'",
                [],
                |row| row.get::<_, i64>(0),
            )?)
        })
        .unwrap()
        .wait()
        .unwrap();
    assert!(tables >= 6);
}
