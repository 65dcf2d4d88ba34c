//! Locks that the file system keeps, and drops with the process: a file that one holds at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

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

/// A locked file that is removed with its lock.
#[derive(Debug)]
pub struct FileLock {
    file: LockedFile,
    path: PathBuf,
}

impl FileLock {
    /// Takes it, unless another has it.
    pub(super) fn take(path: PathBuf) -> Result<Option<Self>, Fault> {
        while let Some(file) = take(&path)? {
            // The one who had it may have removed the file that was opened here.
            if is_at(&file, &path)? {
                return Ok(Some(Self {
                    file: LockedFile::keep(file),
                    path,
                }));
            }
        }
        Ok(None)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Locked until it is gone: who opens it meanwhile sees that it is no longer there. Windows keeps an open file.
        if cfg!(unix) && self.file.is_ours() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether an open file is the one that stands at `path`.
fn is_at(file: &File, path: &Path) -> Result<bool, Fault> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let open = file.metadata()?;
        Ok(fs::symlink_metadata(path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (open.dev(), open.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}
