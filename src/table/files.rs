//! Files that are whole or not there: a file without a name where the system has such, else one under a temporary name in
//! the same folder; fsync; then the name, and the folder's fsync.
//!
//! A file without a name disappears with its process, however that ends. One with a temporary name is left behind if the
//! process cannot clean up: after SIGKILL, and after SIGTERM and SIGHUP, which Python does not handle.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is not in its place yet. Dropped before [`WholeFile::commit`], it is removed, and the target is as it was.
#[derive(Debug)]
pub struct WholeFile {
    draft: Draft,
    /// Where it can be opened meanwhile.
    path: PathBuf,
    /// Where it has a temporary name, if it needs one.
    aside: PathBuf,
    target: PathBuf,
    /// The target's folder; `None` if it may not be read.
    folder: Option<File>,
    /// What the target is at present, if it exists.
    before: Option<Metadata>,
}

#[derive(Debug)]
enum Draft {
    Unnamed(File),
    Named(NamedTempFile),
}

impl WholeFile {
    /// Begins a file that is to stand at `target`, in place of what may be there. A link is replaced, not followed.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::create_in(None, target)
    }

    /// The same with the temporary name in another folder of the file system, where readers of the target's do not look.
    pub fn create_in(aside: Option<&Path>, target: &Path) -> io::Result<Self> {
        if target.as_os_str().is_empty() {
            return Err(io::Error::from_raw_os_error(ENOENT));
        }
        // A folder's name, whether it is there or not: what was asked for would be lost once it is renamed.
        let name = target.file_name().map(OsStr::as_encoded_bytes);
        if name.is_none_or(|name| !target.as_os_str().as_encoded_bytes().ends_with(name)) {
            return Err(io::Error::from_raw_os_error(EISDIR));
        }
        // Wherever the process goes meanwhile.
        let target = std::path::absolute(target)?;
        let before = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::Error::from_raw_os_error(EISDIR)),
            Ok(found) if !found.is_file() || is_in_dev(&target) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is not a regular file, and only such a file can be replaced: give another path",
                ));
            }
            Ok(found) if found.permissions().readonly() => {
                return Err(io::Error::from_raw_os_error(EACCES));
            }
            Ok(found) => {
                // A user who may not write it may not replace it either, though the folder would let them.
                File::options().append(true).open(&target)?;
                Some(found)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let home = folder(&target);
        let aside = aside.unwrap_or(home).to_owned();
        let (draft, path) = if let Some((file, path)) = unnamed(&aside) {
            (Draft::Unnamed(file), path)
        } else {
            let mut options = File::options();
            // As any program would make it: the user's umask takes from it.
            options.read(true).write(true).create_new(true);
            // With an `open` of our own, errors keep their numbers.
            let file = temporary().make_in(&aside, |path| options.open(path))?;
            let path = file.path().to_owned();
            (Draft::Named(file), path)
        };
        // Now: a failure after the rename would be reported of a file that is in its place.
        let folder = if cfg!(unix) {
            File::open(home).ok()
        } else {
            None
        };
        Ok(Self {
            draft,
            path,
            aside,
            target,
            folder,
            before,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.draft {
            Draft::Unnamed(file) => file.write_all(bytes),
            Draft::Named(file) => file.write_all(bytes),
        }
    }

    /// Puts it in the target's place, so that it survives a crash of the machine.
    pub fn commit(self) -> io::Result<()> {
        self.seal()?.commit()
    }

    /// Has the disk keep it; what is left to do is quick.
    pub fn seal(self) -> io::Result<Sealed> {
        // Another writer may have made a new file of it.
        // Windows writes out only what may be written.
        let written = File::options()
            .read(true)
            .write(cfg!(windows))
            .open(&self.path)?;
        if let Some(before) = &self.before {
            written.set_permissions(before.permissions())?;
        }
        written.sync_all()?;
        Ok(Sealed(self))
    }
}

/// A file that is whole, and not in its place yet. Dropped, it is removed.
#[derive(Debug)]
pub struct Sealed(WholeFile);

impl Sealed {
    /// Puts it in the target's place.
    pub fn commit(self) -> io::Result<()> {
        let WholeFile {
            draft,
            path,
            aside,
            target,
            folder,
            before,
        } = self.0;
        match draft {
            Draft::Named(file) => drop(file.persist(&target).map_err(|error| error.error)?),
            // Kept open until it has its name. What is there cannot be replaced without a second name.
            Draft::Unnamed(_file) if before.is_none() && link(&path, &target).is_ok() => {}
            Draft::Unnamed(_file) => {
                let named = temporary().make_in(&aside, |name| link(&path, name))?;
                named.persist(&target).map_err(|error| error.error)?;
            }
        }
        match folder.map_or(Ok(()), |folder| folder.sync_all()) {
            Err(error) if error.raw_os_error() != Some(EINVAL) => Err(io::Error::other(format!(
                "the file is complete, but a power loss may still undo it, because its folder could \
                 not be written to the disk ({error})"
            ))),
            // Or a file system that has no fsync for folders.
            _ => Ok(()),
        }
    }
}

fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".docplatform-").suffix(".part");
    builder
}

/// A file without a name that can get one in `folder`, and where it can be opened until then; `None` if the system or
/// the file system has no such files. What else is wrong is found with a named one.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<(File, PathBuf)> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{Mode, OFlags};

    let mode = Mode::from_raw_mode(0o666);
    let file = rustix::fs::open(
        folder,
        OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC,
        mode,
    )
    .ok()?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Where /proc is not mounted it could never be named.
    path.exists().then(|| (file.into(), path))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> Option<(File, PathBuf)> {
    None
}

/// Gives a file without a name one that nothing has yet.
#[cfg(target_os = "linux")]
fn link(open: &Path, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_open: &Path, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) const EINVAL: i32 = 22;
const ENOENT: i32 = 2;
// Windows has numbers of its own, and refuses a folder as it refuses what may not be written.
const EACCES: i32 = if cfg!(windows) { 5 } else { 13 };
const EISDIR: i32 = if cfg!(windows) { EACCES } else { 21 };

/// Whether it is in /dev, however it is named: a link there, such as /dev/stdout, would be gone for the whole system.
fn is_in_dev(target: &Path) -> bool {
    folder(target)
        .canonicalize()
        .is_ok_and(|folder| folder == Path::new("/dev"))
}

fn folder(target: &Path) -> &Path {
    target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
