//! What can be wrong with a store, and texts that say what to do.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Error, Kind};
use crate::text::message::{Advice, Message, message};
use crate::text::{io_words, safe};

/// Why a store cannot be used, or a piece of work in it not be done.
#[derive(Debug)]
pub enum Fault {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    NoDirectory,
    /// It is not there, or there is nothing in it.
    Missing,
    /// It is missing or empty, as this says, but its log is there.
    LogAlone(&'static str),
    /// It is not a plain file, but this.
    NotAFile(&'static str),
    /// Its lock is not a plain file.
    NotALock,
    NoDatabase,
    /// It belongs to another program.
    Foreign,
    /// A change of another program stands beside it, half done.
    Unfinished,
    Newer(i64),
    /// It may be read but not written.
    ReadOnly,
    /// Others on the machine can read it, and that cannot be changed.
    Open(io::Error),
    /// Its content is damaged.
    Damaged(String),
    /// An export was deleted meanwhile.
    Deleted(i64),
    /// A call's deadline ended before it answered.
    Late,
    /// No thread can be started for it.
    Thread(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fault {
    /// The crate's error for the store at `path`.
    pub fn error(&self, path: &Path) -> Error {
        let (kind, what) = self.words();
        Error::new(
            kind,
            message![
                format!("store {}: ", safe(&path.display().to_string(), 300)),
                what
            ],
        )
    }

    fn words(&self) -> (Kind, Message) {
        let setting = |what: String| (Kind::Configuration, what.into());
        match self {
            Self::Sqlite(error) => {
                let (kind, what) = sqlite(error);
                (kind, what.into())
            }
            Self::Io(error) => setting(format!(
                "it cannot be used ({}): change that, or give another path",
                io_words(error)
            )),
            Self::NoDirectory => {
                setting("its directory does not exist: create it, or give another path".to_owned())
            }
            Self::Missing => (
                Kind::Configuration,
                message![
                    "there is no such file: check the path",
                    Advice::FillStore {}
                ],
            ),
            Self::LogAlone(how) => setting(format!(
                "it is {how}, but its log (the same name and -wal at its end) is there, with what was written last: put the \
                 file back beside it, or move the log away to begin a new store, without the names of jobs and the requests of this one"
            )),
            Self::NotAFile(what) => setting(format!("it is {what}; give the path of a file")),
            Self::NotALock => setting(
                "the file with the same name and -sync at its end is not a plain file: remove it"
                    .to_owned(),
            ),
            Self::NoDatabase => setting(no_database()),
            Self::Foreign => setting(format!("it is the database of another program; {ANOTHER}")),
            Self::Unfinished => setting(format!(
                "a transaction of another program is unfinished in it; {ANOTHER}"
            )),
            Self::Newer(version) => setting(format!(
                "a later docplatform wrote it (version {version}), so it was left unchanged: update \
                 docplatform, or give another path"
            )),
            Self::ReadOnly => setting(
                "you may not write to it: change its permissions, or give another path".to_owned(),
            ),
            Self::Open(error) => setting(format!(
                "other users can read it, and that cannot be changed ({}); give another path",
                io_words(error)
            )),
            Self::Damaged(what) => setting(damaged(what)),
            Self::Deleted(export) => (
                Kind::Store,
                format!("export {export} was deleted meanwhile: start it again").into(),
            ),
            Self::Late => (
                Kind::Store,
                format!("it did not answer within the call's deadline; nothing is lost. {LOCKED}")
                    .into(),
            ),
            Self::Thread(error) => (
                Kind::Store,
                format!("no thread can be started for it: {error}").into(),
            ),
        }
    }
}

/// SQLite reports a lock of another process and a file system without locks (`ENOLCK`) as the same.
const LOCKED: &str = "Try again when no other program is writing to it; \
                      if none is, put it on a local disk: its file system may have no file locks";
const ANOTHER: &str = "it was left unchanged: give another path";

fn no_database() -> String {
    format!("it is not an SQLite file, or its beginning is damaged; {ANOTHER}")
}

fn damaged(what: &str) -> String {
    format!(
        "it is damaged ({}): move it away, and recover what you can with SQLite's .recover",
        safe(what, 200)
    )
}

fn sqlite(error: &rusqlite::Error) -> (Kind, String) {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => (Kind::Configuration, no_database()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (Kind::Store, format!("it stayed locked for too long, and nothing was read or changed. {LOCKED}"))
        }
        Some(ErrorCode::DiskFull) => (
            Kind::Store,
            "the disk is full, and nothing of this change was kept: free some space, and call again"
                .to_owned(),
        ),
        // Also where the log's shared memory finds no room.
        Some(ErrorCode::SystemIoFailure) => {
            (Kind::Store, format!("it cannot be read or written ({text}); see whether its disk is full"))
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (
            Kind::Configuration,
            format!(
                "it or its folder cannot be written ({text}): change the permissions, or give another path"
            ),
        ),
        Some(ErrorCode::ConstraintViolation) => (
            Kind::Store,
            format!("the data that this belongs to was deleted meanwhile ({text}): start again"),
        ),
        // A table or a column that is not there, or a value of a wrong type.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch) | None => {
            (Kind::Configuration, damaged(&text))
        }
        Some(_) => (Kind::Store, format!("it failed: {text}")),
    }
}
