//! Faults of a store, and their error texts.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::{Error, Kind};
use crate::text::message::{Advice, message};
use crate::text::{io_words, safe};

/// The reason why a store cannot be used, or why work in it failed.
#[derive(Debug)]
pub enum Fault {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    NoDirectory,
    /// It is not there, or there is nothing in it.
    Missing,
    /// It is missing, empty or another file, as this says, but its log is there.
    LogAlone(&'static str),
    /// It is not a plain file, but this.
    NotAFile(&'static str),
    /// The lock of this name is not a plain file.
    NotALock(String),
    NoDatabase,
    /// It belongs to another program.
    Foreign,
    /// A change stands beside it, half done.
    Unfinished,
    Newer(i64),
    /// It may be read but not written.
    ReadOnly,
    /// Others on the machine can read it, and that cannot be changed.
    Open(io::Error),
    /// Its content is damaged.
    Damaged(String),
    /// An export, or a page of it, was deleted meanwhile.
    Deleted(i64),
    /// It did not answer in the time that a call gave it.
    Late,
    /// No thread of its own can be started for it.
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
        let mut kind = match self {
            Self::Deleted(_) | Self::Late | Self::Thread(_) => Kind::Store,
            _ => Kind::Configuration,
        };
        let text = match self {
            Self::Sqlite(error) => {
                let text;
                (kind, text) = match error.sqlite_error_code() {
                    Some(ErrorCode::NotADatabase) => return Self::NoDatabase.error(path),
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                        Kind::Store,
                        format!("it stayed locked for too long, and nothing was read or changed. {LOCKED}"),
                    ),
                    Some(ErrorCode::DiskFull) => (
                        Kind::Store,
                        "the disk is full, and nothing of this change was kept: free some space, and call again"
                            .to_owned(),
                    ),
                    // Also where the log's shared memory finds no room.
                    Some(ErrorCode::SystemIoFailure) => (
                        Kind::Store,
                        format!("it cannot be read or written ({error}); see whether its disk is full"),
                    ),
                    Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (
                        kind,
                        format!(
                            "it or its folder cannot be opened or written ({error}): change the permissions, or give another path"
                        ),
                    ),
                    Some(ErrorCode::ConstraintViolation) => (
                        Kind::Store,
                        format!("it conflicts with what the store has, or that was deleted meanwhile ({error}): start again"),
                    ),
                    // A table or a column that is not there, or a value of a wrong type.
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown | ErrorCode::TypeMismatch) | None => {
                        return Self::Damaged(error.to_string()).error(path);
                    }
                    Some(_) => (Kind::Store, format!("it failed: {error}")),
                };
                text
            }
            Self::Io(error) => {
                format!(
                    "it cannot be used ({}): change that, or give another path",
                    io_words(error)
                )
            }
            Self::NoDirectory => {
                "its directory does not exist: create it, or give another path".to_owned()
            }
            Self::Missing => "there is no store there: check the path".to_owned(),
            Self::LogAlone(how) => {
                format!(
                    "it is {how}, but its log (the same name and -wal at its end) is there, with what was written last: put the \
                     file back beside it, or move the log away to go on without what is in it, such as the names of jobs"
                )
            }
            Self::NotAFile(what) => format!("it is {what}; give the path of a file"),
            Self::NotALock(name) => format!("its lock {name} is not a plain file: remove it"),
            Self::NoDatabase => {
                format!("it is not an SQLite file, or its beginning is damaged; {ANOTHER}")
            }
            Self::Foreign => {
                format!("it is the database of another program; {ANOTHER}")
            }
            Self::Unfinished => {
                format!(
                    "a transaction is unfinished in it: if another process opens it at this moment, try again; otherwise {ANOTHER}"
                )
            }
            Self::Newer(version) => {
                format!(
                    "a later docplatform wrote it (version {version}), so it was left unchanged: update \
                     docplatform, or give another path"
                )
            }
            Self::ReadOnly => {
                "you may not write to it: change its permissions, or give another path".to_owned()
            }
            Self::Open(error) => {
                format!(
                    "other users can read it, and that cannot be changed ({}); give another path",
                    io_words(error)
                )
            }
            Self::Damaged(what) => {
                format!(
                    "it is damaged ({}): move it away, and recover what you can with SQLite's .recover",
                    safe(what, 200)
                )
            }
            Self::Deleted(export) => {
                format!("export {export}, or a page of it, was deleted meanwhile: read it again")
            }
            Self::Late => {
                format!("it did not answer in time. {LOCKED}")
            }
            Self::Thread(error) => format!("no thread can be started for it: {error}"),
        };
        let store = format!("store {}: ", safe(&path.display().to_string(), 300));
        let mut message = message![store, text];
        if matches!(self, Self::Missing) {
            message.push(Advice::FillStore {
                listing: None,
                every: None,
                by_path: true,
            });
        }
        Error::new(kind, message)
    }
}

/// SQLite reports a lock of another process and a file system without locks (`ENOLCK`) as the same.
const LOCKED: &str = "Try again when no other program is writing to it; \
                      if none is, put it on a local disk: its file system may have no file locks";
const ANOTHER: &str = "it was left unchanged: give another path";
