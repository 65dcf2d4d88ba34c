//! File locks, which the file system drops with the process.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::store::fault::Fault;
use crate::store::file::{beside, private};
use crate::store::open_files::LockedFile;

/// Opens or creates the file at `path`, and locks it; `None` if it is locked already.
fn take(path: &Path) -> Result<Option<File>, Fault> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Err(Fault::NotALock(crate::text::safe(&name, 200)));
    }
    let file = private().create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The right to fill a store, which one sync has at a time.
pub type SyncLock = LockedFile;

/// Takes the right to fill a store; `None` if another sync has it, in this process or another.
pub(super) fn take_sync(store: &Path) -> Result<Option<SyncLock>, Fault> {
    // A file of its own: closing the store's file anywhere in the process would drop SQLite's
    // locks.
    Ok(take(&beside(store, "-sync"))?.map(LockedFile::keep))
}

/// A locked file. On Unix it is removed with its lock.
#[derive(Debug)]
pub struct FileLock {
    file: LockedFile,
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock; `None` if another process or call has it.
    pub(super) fn take(path: PathBuf) -> Result<Option<Self>, Fault> {
        while let Some(file) = take(&path)? {
            // The last holder may have removed the file that was opened here.
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
        // The file is removed before it is unlocked, so that another process sees that it is gone.
        // Windows keeps an open file.
        if cfg!(unix) && self.file.is_ours() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether an open file is the one at `path`.
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
