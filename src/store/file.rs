//! Opens the file, after a check that it is a store. Only SQLite opens it once it has its name,
//! because closing a file drops all locks of the process on it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom as _, SystemRandom};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};

use crate::store::busy;
use crate::store::fault::Fault;

/// The bytes of "docp". `file` and `PRAGMA application_id` show them as 1685021552.
const APPLICATION_ID: i64 = 0x646f_6370;
const SCHEMA_VERSION: i64 = 3;
/// The bytes of salt that key the fingerprints.
const SALT_BYTES: usize = 32;
/// Makes the export numbers of a new file begin at random. A process that began an export in a
/// deleted file does not find its number in the next file.
const START_NUMBERS: &str =
    "INSERT INTO sqlite_sequence (name, seq) VALUES ('export', abs(random() % 2147483648))";

/// The absolute path, so that the working directory may change.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, Fault> {
    let whole = std::path::absolute(path)?;
    let (Some(directory), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Err(Fault::NotAFile("a directory"));
    };
    match directory.canonicalize() {
        Ok(directory) => Ok(directory.join(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Fault::NoDirectory),
        Err(error) => Err(error.into()),
    }
}

/// Opens the file, after making it where there is none.
pub(super) fn open(path: &Path) -> Result<Connection, Fault> {
    match look(path) {
        Err(Fault::Missing) => {
            create(path)?;
            look(path)?;
        }
        looked => looked?,
    }
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // SQLite does not apply a left log before the file is known to be a store.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if version(&connection.unchecked_transaction()?)? != Some(SCHEMA_VERSION) {
        make_private(path)?;
        fill(&mut connection)?;
    }
    if connection.is_readonly(MAIN_DB)? {
        return Err(Fault::ReadOnly);
    }
    make_private(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    use_log(&connection)?;
    Ok(connection)
}

/// Opens a store that is there, and changes no data. Its end may put a log that was left into the
/// file.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, Fault> {
    look(path)?;
    // A process with the right to write keeps the log as a client does.
    let connection = match ours(connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)) {
        // The log's shared memory cannot be made. Without a log, no process writes, and no lock is
        // needed.
        Err(Fault::Sqlite(error))
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
            ) && !has(path, "-wal") =>
        {
            let uri = url::Url::from_file_path(path);
            let mut uri = uri.map_err(|()| Fault::NotAFile("not an absolute path"))?;
            uri.set_query(Some("immutable=1"));
            let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            ours(connect(uri.as_str(), access))?
        }
        opened => opened?,
    };
    connection.pragma_update(None, "query_only", true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// A connection to a store, and to nothing else.
fn ours(opened: Result<Connection, Fault>) -> Result<Connection, Fault> {
    let connection = opened?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let found = version(&connection.unchecked_transaction()?)?;
    found.map(|_| connection).ok_or(Fault::Missing)
}

/// Checks the file before SQLite opens it.
fn look(path: &Path) -> Result<(), Fault> {
    // Checked first: another process creates the file before its log.
    let has_log = has(path, "-wal");
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        Err(_) if has_log => return Err(Fault::LogAlone("missing")),
        Err(_) => return Err(Fault::Missing),
    };
    Err(match found.len() {
        _ if found.is_symlink() => Fault::NotAFile("a symbolic link"),
        _ if found.is_dir() => Fault::NotAFile("a directory"),
        _ if !found.is_file() => Fault::NotAFile("not a plain file"),
        0 if has_log => Fault::LogAlone("empty"),
        // SQLite takes a single byte for an empty file.
        1 => Fault::NoDatabase,
        // SQLite would apply a journal, and so change a file that may not be a store.
        _ if has(path, "-journal") => Fault::Unfinished,
        _ => return Ok(()),
    })
}

/// Whether there is something in the file beside it.
fn has(path: &Path, suffix: &str) -> bool {
    fs::metadata(beside(path, suffix)).is_ok_and(|found| found.len() > 0)
}

fn connect(file: impl AsRef<Path>, access: OpenFlags) -> Result<Connection, Fault> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_handler(Some(busy::wait))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Requests are scarce, so data is on the disk before the next request is sent.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Chooses the log mode: readers read while one process writes. The file keeps this choice.
fn use_log(connection: &Connection) -> Result<(), Fault> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    Err(Fault::Io(io::Error::other(
        "its file system has no shared memory, which several processes need",
    )))
}

/// The version of a store; `None` for an empty file.
fn version(transaction: &Transaction<'_>) -> Result<Option<i64>, Fault> {
    let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    match (application, version) {
        (APPLICATION_ID, known @ 1..=SCHEMA_VERSION) => Ok(Some(known)),
        (APPLICATION_ID, newer) if newer > SCHEMA_VERSION => Err(Fault::Newer(newer)),
        (APPLICATION_ID, other) => Err(Fault::Damaged(format!("version {other}"))),
        _ => {
            let things: i64 =
                transaction
                    .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
            let bare = application == 0 && version == 0 && things == 0;
            if bare { Ok(None) } else { Err(Fault::Foreign) }
        }
    }
}

/// Creates the tables of a new file, or what later versions added to an older store.
fn fill(connection: &mut Connection) -> Result<(), Fault> {
    let mut salt = [0_u8; SALT_BYTES];
    SystemRandom::new()
        .fill(&mut salt)
        .map_err(|_| io::Error::other("the system gives no random numbers"))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let before = version(&transaction)?;
    if before.is_none() {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.execute("INSERT INTO meta (name, value) VALUES ('salt', ?1)", [salt])?;
        transaction.execute(START_NUMBERS, [])?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    // Another process may have been faster.
    let before = before.unwrap_or(0);
    if before < 2 {
        transaction.execute_batch(include_str!("once.sql"))?;
    }
    if before < SCHEMA_VERSION {
        transaction.execute_batch(include_str!("messages.sql"))?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    Ok(transaction.commit()?)
}

/// Creates the file under another name and then links it to its own, or renames it where links do
/// not work, so that no process sees half of it.
fn create(path: &Path) -> Result<(), Fault> {
    let new = beside(
        path,
        &format!(".{}-{:016x}.new", std::process::id(), fastrand::u64(..)),
    );
    let made = make(&new).and_then(|()| match fs::hard_link(&new, path) {
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // The file system has no links.
        Err(_) if !path.exists() => Ok(fs::rename(&new, path)?),
        other => Ok(other?),
    });
    let _ = fs::remove_file(&new);
    made
}

/// Options to write a file, which only its owner may read if it is new.
pub(super) fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make(path: &Path) -> Result<(), Fault> {
    private().create_new(true).open(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    fill(&mut connection)?;
    use_log(&connection)?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Makes the file and SQLite's files beside it readable for the owner alone.
fn make_private(path: &Path) -> Result<(), Fault> {
    #[cfg(unix)]
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        use std::os::unix::fs::PermissionsExt as _;
        let Ok(found) = fs::symlink_metadata(&file) else {
            continue;
        };
        if found.is_file() && found.permissions().mode() & 0o077 != 0 {
            let set = fs::set_permissions(&file, fs::Permissions::from_mode(0o600));
            if let Err(error) = set
                && error.kind() != ErrorKind::NotFound
            {
                return Err(Fault::Open(error));
            }
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The device of a file, and its number there.
pub(super) type FileId = (u64, u64);

/// The file that has this path now. `None` if there is none, or where the system does not let an
/// open file be deleted.
#[cfg(unix)]
pub(super) fn id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
pub(super) fn id(_: &Path) -> Option<FileId> {
    None
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
