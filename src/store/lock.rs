//! Locks that the file system keeps, and drops with the process: a file that one holds at a time.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::store::fault::Fault;
use crate::store::file::{beside, private};
use crate::store::fork::LockedFile;

/// Opens the file at `path`, which is made where there is none, and locks it, unless another has it locked.
pub(super) fn take(path: &Path) -> Result<Option<File>, Fault> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Fault::NotALock);
    }
    let file = private().create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The right to fill a store: one process has it at a time. It ends with this.
#[derive(Debug)]
pub struct SyncLock {
    _file: LockedFile,
}

impl SyncLock {
    /// Takes it, unless another has it.
    pub(super) fn take(store: &Path) -> Result<Option<Self>, Fault> {
        // Beside the store: closing the store's own file anywhere in the process would drop SQLite's locks.
        Ok(take(&beside(store, "-sync"))?.map(|file| Self {
            _file: LockedFile::keep(file),
        }))
    }
}
