//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use docplatform::table::files::WholeFile;

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

fn is_unnamed(file: &WholeFile) -> bool {
    file.path().starts_with("/proc/self/fd")
}

fn write(target: &Path, text: &str) -> io::Result<()> {
    let mut file = WholeFile::create(target)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

fn refused(target: &Path) -> io::Error {
    WholeFile::create(target).expect_err("it should be refused")
}

/// Rows: J1, J4.
#[test]
fn the_target_is_as_it_was_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("visitors.csv");
    for before in [None, Some("before")] {
        if let Some(before) = before {
            fs::write(&target, before).unwrap();
        }
        let mut file = WholeFile::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), before);
        let temporary = file.path().to_owned();
        assert_eq!(fs::read_to_string(&temporary).unwrap(), "half");
        if is_unnamed(&file) {
            assert_eq!(
                names(folder.path()).len(),
                usize::from(before.is_some()),
                "no signal leaves anything"
            );
        } else {
            assert_eq!(
                temporary.parent(),
                Some(folder.path()),
                "the rename stays within the file system"
            );
        }
        drop(file);
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), before);
        assert!(!temporary.exists());
    }
    // Two at a time: the last that ends is there, whole.
    let (mut one, mut other) = (
        WholeFile::create(&target).unwrap(),
        WholeFile::create(&target).unwrap(),
    );
    one.write_all(b"one").unwrap();
    other.write_all(b"other").unwrap();
    one.write_all(b", and more").unwrap();
    other.commit().unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "other");
    one.commit().unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "one, and more");
    assert_eq!(names(folder.path()), ["visitors.csv"]);
}

/// Rows: J3.
#[test]
fn what_is_no_file_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let missing = folder.path().join("missing");
    for (target, kind) in [
        (inside.clone(), io::ErrorKind::IsADirectory),
        (missing.join("visitors.csv"), io::ErrorKind::NotFound),
        // A folder's name, whether it is there or not: a rename to it would fail at the end of the
        // export.
        (missing.join(""), io::ErrorKind::IsADirectory),
        (missing.join("."), io::ErrorKind::IsADirectory),
        (missing.join(".."), io::ErrorKind::IsADirectory),
        ("".into(), io::ErrorKind::NotFound),
        ("/".into(), io::ErrorKind::IsADirectory),
    ] {
        assert_eq!(refused(&target).kind(), kind, "{}", target.display());
    }
    let file = folder.path().join("file");
    fs::write(&file, "before").unwrap();
    assert_eq!(
        refused(&file.join("visitors.csv")).kind(),
        io::ErrorKind::NotADirectory
    );
    assert_eq!(names(folder.path()), ["file", "inside"]);
    assert!(names(&inside).is_empty());
}

#[test]
fn a_new_file_may_stand_beside_the_process() {
    // The folder is that of the process: it is not changed here, as other tests share it.
    let file = WholeFile::create(Path::new("visitors.csv")).unwrap();
    assert!(is_unnamed(&file) || file.path().parent() == Some(&*std::env::current_dir().unwrap()));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Rows: J3.
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        for there in [true, false] {
            if there {
                fs::write(&real, "secret").unwrap();
            }
            let _ = fs::remove_file(&link);
            symlink(&real, &link).unwrap();
            write(&link, "export").unwrap();
            assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&link).unwrap(), "export");
            assert_eq!(
                fs::read_to_string(&real).ok().as_deref(),
                there.then_some("secret")
            );
            let _ = fs::remove_file(&real);
        }
        fs::remove_file(&link).unwrap();
        symlink("link", &link).unwrap();
        let error = refused(&link);
        assert!(error.raw_os_error().is_some(), "{error}");
        fs::remove_file(&link).unwrap();
        symlink(folder.path(), &link).unwrap();
        assert_eq!(refused(&link).kind(), io::ErrorKind::IsADirectory);
    }

    /// Rows: J3.
    #[test]
    fn what_was_made_read_only_or_is_no_regular_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "before").unwrap();
        set_mode(&target, 0o444);
        assert_eq!(refused(&target).kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&target).unwrap(), "before");
        fs::remove_file(&target).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&target)
                .status()
                .unwrap()
                .success()
        );
        let error = refused(&target);
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert!(
            refused(Path::new("/dev/null"))
                .to_string()
                .contains("not a regular file")
        );
        assert_eq!(names(folder.path()), ["target"]);
    }

    /// Rows: J3.
    #[test]
    fn permissions_are_those_of_the_file_before_or_what_any_program_would_make() {
        let folder = tempfile::tempdir().unwrap();
        let (target, usual) = (folder.path().join("target"), folder.path().join("usual"));
        File::create(&usual).unwrap();
        write(&target, "new").unwrap();
        assert_eq!(mode(&target), mode(&usual));
        for before in [0o600, 0o640, 0o666, 0o755] {
            set_mode(&target, before);
            write(&target, "again").unwrap();
            assert_eq!(mode(&target), before);
        }
    }

    /// Rows: J2.
    #[test]
    fn a_file_opened_by_name_is_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "before").unwrap();
        set_mode(&target, 0o604);
        let file = WholeFile::create(&target).unwrap();
        // As libraries do that write files themselves.
        File::create(file.path())
            .unwrap()
            .write_all(b"theirs")
            .unwrap();
        file.commit().unwrap();
        assert_eq!(
            (fs::read_to_string(&target).unwrap(), mode(&target)),
            ("theirs".to_owned(), 0o604)
        );
        assert_eq!(names(folder.path()), ["target"]);
    }

    /// Rows: J2.
    #[test]
    fn a_folder_that_may_only_be_written_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        set_mode(folder.path(), 0o300);
        let done = write(&target, "new").and_then(|()| write(&target, "newer"));
        set_mode(folder.path(), 0o700);
        done.unwrap();
        assert_eq!(
            (
                fs::read_to_string(&target).unwrap().as_str(),
                names(folder.path()).len()
            ),
            ("newer", 1)
        );
    }
}
