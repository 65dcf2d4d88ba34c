//! Who fills a store: one process at a time. The file system keeps that, and drops it with the process.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::store::fault::Fault;
use crate::store::file::{beside, private};

/// The right to fill a store; it ends with this.
#[derive(Debug)]
pub struct SyncLock(File);

impl SyncLock {
    /// Takes it, unless somebody has it.
    pub(super) fn take(store: &Path) -> Result<Option<Self>, Fault> {
        // Beside the store: closing the store's own file anywhere in the process would drop SQLite's locks.
        let path = beside(store, "-sync");
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(Fault::NotALock);
        }
        let file = private().create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for SyncLock {
    fn drop(&mut self) {
        // A forked child has the file open, too: closing it here would not be enough. Where even this fails, it
        // ends with the process.
        let _ = self.0.unlock();
    }
}
