//! Files that are whole or not there. They are written without a name if the system can do that,
//! otherwise under a temporary name, by default in the same folder. After fsync they get their
//! name, and then the folder gets fsync.
//!
//! A file without a name disappears with its process, however that ends. A file with a temporary
//! name, which a file gets for a moment when it replaces another, remains if the process cannot
//! clean up: after SIGKILL, and after SIGTERM and SIGHUP where the program does not handle them.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is not in its place yet. Dropped before [`WholeFile::commit`], it is removed, and
/// the target is as it was.
#[derive(Debug)]
pub struct WholeFile {
    draft: Draft,
    /// The path at which it can be opened until then.
    path: PathBuf,
    /// The folder for a temporary name.
    temporary_folder: PathBuf,
    target: PathBuf,
    /// The target's folder; `None` if it may not be read, and on Windows.
    folder: Option<File>,
    /// The metadata of the file that was at the target at the beginning, if there was one.
    before: Option<Metadata>,
}

#[derive(Debug)]
enum Draft {
    Unnamed(File),
    Named(NamedTempFile),
}

impl WholeFile {
    /// Begins a file that will replace `target`. A link is replaced, not followed.
    pub fn create(target: &Path) -> io::Result<Self> {
        Self::create_in(None, target)
    }

    /// The same with the temporary name in another folder of the file system, where readers of the
    /// target's do not look.
    pub fn create_in(temporary_folder: Option<&Path>, target: &Path) -> io::Result<Self> {
        let fail = |number| Err(io::Error::from_raw_os_error(number));
        if target.as_os_str().is_empty() {
            return fail(ENOENT);
        }
        // A path that ends like a folder's, whether the folder exists or not.
        let name = target.file_name().map(OsStr::as_encoded_bytes);
        if name.is_none_or(|name| !target.as_os_str().as_encoded_bytes().ends_with(name)) {
            return fail(EISDIR);
        }
        // The process may change its working directory meanwhile.
        let target = std::path::absolute(target)?;
        let before = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return fail(EISDIR),
            Ok(found) if !found.is_file() || is_in_dev(&target) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is not a regular file, and only such a file can be replaced: give another path",
                ));
            }
            Ok(found) if found.permissions().readonly() => return fail(EACCES),
            Ok(found) => {
                // A user who may not write it may not replace it either, though the folder would
                // let them.
                File::options().append(true).open(&target)?;
                Some(found)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let home = folder(&target);
        let temporary_folder = temporary_folder.unwrap_or(home).to_owned();
        let (draft, path) = if let Some((file, path)) = unnamed(&temporary_folder) {
            (Draft::Unnamed(file), path)
        } else {
            let mut options = File::options();
            // The user's umask applies, as for any program.
            options.read(true).write(true).create_new(true);
            // The errors of `File::open` keep their numbers.
            let file = temporary().make_in(&temporary_folder, |path| options.open(path))?;
            let path = file.path().to_owned();
            (Draft::Named(file), path)
        };
        // Opened now, because a failure after the rename would be reported although the file is in
        // its place.
        let folder = File::open(home).ok().filter(|_| cfg!(unix));
        Ok(Self {
            draft,
            path,
            temporary_folder,
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

    /// Writes it to the disk; the remaining step is quick.
    pub fn seal(self) -> io::Result<CompleteFile> {
        // Opened by its path, because a library that writes the file itself may have replaced it.
        // Windows writes out only what is open for writing.
        let written = File::options()
            .read(true)
            .write(cfg!(windows))
            .open(&self.path)?;
        if let Some(before) = &self.before {
            written.set_permissions(before.permissions())?;
        }
        written.sync_all()?;
        Ok(CompleteFile(self))
    }
}

/// A file that is whole, and not in its place yet. Dropped, it is removed.
#[derive(Debug)]
pub struct CompleteFile(WholeFile);

impl CompleteFile {
    /// Puts it in the target's place.
    pub fn commit(self) -> io::Result<()> {
        let WholeFile {
            draft,
            path,
            temporary_folder,
            target,
            folder,
            before,
        } = self.0;
        match draft {
            Draft::Named(file) => drop(file.persist(&target).map_err(|error| error.error)?),
            // The file stays open until it has its name. An existing file can only be replaced by
            // way of a second name.
            Draft::Unnamed(_file) if before.is_none() && link(&path, &target).is_ok() => {}
            Draft::Unnamed(_file) => {
                temporary()
                    .make_in(&temporary_folder, |name| link(&path, name))?
                    .persist(&target)
                    .map_err(|error| error.error)?;
            }
        }
        match folder.map_or(Ok(()), |folder| folder.sync_all()) {
            Err(error) if error.raw_os_error() != Some(EINVAL) => Err(io::Error::other(format!(
                "the file is complete, but a power loss may still undo it, because its folder could \
                 not be written to the disk ({error})"
            ))),
            // `EINVAL`: the file system has no fsync for folders.
            _ => Ok(()),
        }
    }
}

fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".docplatform-").suffix(".part");
    builder
}

/// A file without a name that can get one in `folder`, and the path to open it; `None` if the
/// system or the file system has no such files. The named file then finds every other fault.
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
    // Without /proc it could never get a name.
    path.exists().then(|| (file.into(), path))
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> Option<(File, PathBuf)> {
    None
}

/// Gives a file without a name a new name.
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

/// Whether it is in /dev, by any name. Replacing a link there, such as /dev/stdout, would remove it
/// for the whole system.
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
