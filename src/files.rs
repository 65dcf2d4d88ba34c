//! Files that are whole or not there: a temporary name in the same folder, fsync, rename.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file under a temporary name. Dropped before [`WholeFile::commit`], it is removed, and the target is as it was.
#[derive(Debug)]
pub struct WholeFile {
    file: NamedTempFile,
    target: PathBuf,
    /// What the target is at present, where it exists.
    before: Option<Metadata>,
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
            Ok(found) if !found.is_file() => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is no regular file, and only such a file can be replaced",
                ));
            }
            Ok(found) if found.permissions().readonly() => return Err(io::Error::from_raw_os_error(EACCES)),
            Ok(found) => {
                // Whoever may not write it may not replace it either, though the folder would let them.
                File::options().append(true).open(&target)?;
                Some(found)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut options = File::options();
        // As any program would make it: the user's umask takes from it.
        options.read(true).write(true).create_new(true);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".docplatform-").suffix(".part");
        // With an `open` of our own, errors keep their numbers.
        let file = builder.make_in(aside.unwrap_or(folder(&target)), |path| options.open(path))?;
        Ok(Self { file, target, before })
    }

    /// The temporary name.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes at the end.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Puts it in the target's place, safe from a crash of the machine.
    pub fn commit(self) -> io::Result<()> {
        self.seal()?.commit()
    }

    /// Has the disk keep it; what is left to do is quick.
    pub fn seal(self) -> io::Result<Sealed> {
        // Whoever wrote under the name may have made a new file of it.
        // Windows writes out only what may be written.
        let written = File::options().read(true).write(cfg!(windows)).open(self.file.path())?;
        if let Some(before) = &self.before {
            written.set_permissions(before.permissions())?;
        }
        written.sync_all()?;
        Ok(Sealed(self))
    }
}

/// A file that is whole, still under its temporary name. Dropped, it is removed.
#[derive(Debug)]
pub struct Sealed(WholeFile);

impl Sealed {
    /// Puts it in the target's place.
    pub fn commit(self) -> io::Result<()> {
        let WholeFile { file, target, .. } = self.0;
        file.persist(&target).map_err(|error| error.error)?;
        #[cfg(unix)]
        File::open(folder(&target))?.sync_all()?;
        Ok(())
    }
}

const ENOENT: i32 = 2;
// Windows has numbers of its own, and refuses a folder as it refuses what may not be written.
const EACCES: i32 = if cfg!(windows) { 5 } else { 13 };
const EISDIR: i32 = if cfg!(windows) { EACCES } else { 21 };

fn folder(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
