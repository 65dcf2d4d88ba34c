//! The API key.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use crate::error::{Error, Result};
use crate::text::message::{Message, message};
use crate::text::{io_words, redact, safe};

/// Only the last four letters of a key at least this long are ever shown.
const MIN_HINTED_KEY: usize = 20;

/// The longest ending of a file's name. What comes after the last dot of a key is longer.
const MAX_ENDING: usize = 5;

/// A key's beginning of this many characters, its fixed prefix included, is as secret as the key.
pub(super) const KEY_PREFIX: usize = 16;

/// Any run of this many characters of its secret part is as secret as the key.
const KEY_PART: usize = 9;

/// The most bytes that are read of a key's file: a device may never end.
const MAX_KEY_FILE: u64 = 4096;

/// The longest wait for its content: it may be a pipe whose writer starts later.
const MAX_KEY_FILE_WAIT: Duration = Duration::from_secs(5);

/// The most of a path that an error shows, in characters.
const MAX_SHOWN_PATH: usize = 300;

/// The bytes of a key's fingerprint: enough that no two keys share one.
const FINGERPRINT: usize = 16;

/// The API key, in a type that cannot be printed; wiped from memory when it is dropped (best
/// effort).
#[derive(Clone, Debug)]
pub struct ApiKey(SecretString);

/// The source of a newer key after a 401.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Renewal {
    /// No source.
    #[default]
    Never,
    /// Its file is read again.
    File(PathBuf),
    /// A function of the user's is called, for the first key as well. The number tells functions
    /// apart.
    Function(u64),
}

impl ApiKey {
    /// Checks a key; `what` names it in the error, which never contains it.
    pub fn parse(what: impl Into<Message>, text: &SecretString) -> Result<Self> {
        let key = text.expose_secret();
        let fault = if key.is_empty() {
            "is empty"
        } else if key.trim() != key {
            "has white space around it: remove it (a line end from a file, blanks from the dashboard's page)"
        } else if key
            .get(..7)
            .is_some_and(|start| start.eq_ignore_ascii_case("bearer "))
        {
            "starts with \"Bearer \"; give the key alone"
        } else if key.contains(char::is_whitespace) {
            "contains white space; copy it again from the dashboard"
        } else if key.contains(['"', '\'', '`']) {
            "contains quotes; give the key alone"
        } else if !key.bytes().all(|b| b.is_ascii_graphic()) {
            "contains characters that no key has; copy it again from the dashboard"
        } else {
            return Ok(Self(text.clone()));
        };
        Err(Error::configuration(message![what, " ", fault]))
    }

    /// Reads a key's file; `what` names it in errors. The file must be readable by its owner only.
    pub fn read_file(what: impl Into<Message>, path: &Path) -> Result<SecretString> {
        let shown = safe(&path.display().to_string(), MAX_SHOWN_PATH);
        let what = what.into();
        let fail = |why: &str| Err(Error::configuration(message![what, format!(": {why}")]));
        match read_within(path.to_owned(), MAX_KEY_FILE_WAIT) {
            Ok((found, _)) if is_open_to_others(&found) => fail(&format!(
                "others have access to the file of the API key: chmod 600 {shown}"
            )),
            // Editors of Windows put a byte order mark in front.
            Ok((_, text)) => {
                let text = text.expose_secret();
                Ok(text.trim_start_matches('\u{feff}').trim().into())
            }
            // The name may be the key itself, so the error of a file that cannot be read does not
            // show it.
            Err(error) if error.kind() == ErrorKind::NotFound && is_like_a_key(path) => fail(
                "there is no file of the name that it has; if that is the API key itself, it belongs into \
                 DOCPLATFORM_API_KEY",
            ),
            Err(error) if error.kind() != ErrorKind::InvalidData && is_like_a_key(path) => {
                fail(&format!(
                    "its file cannot be read: {}; if the name is the API key itself, it belongs into \
                     DOCPLATFORM_API_KEY",
                    io_words(&error)
                ))
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => fail(&format!(
                "the file of the API key is not UTF-8 text: save it as UTF-8: {shown}"
            )),
            Err(error) => fail(&format!(
                "the file of the API key cannot be read: {shown}: {}",
                io_words(&error)
            )),
        }
    }

    /// The last four letters of a long key, for people to tell keys apart.
    pub fn hint(&self) -> Option<&str> {
        let key = self.0.expose_secret();
        if key.len() < MIN_HINTED_KEY {
            return None;
        }
        key.get(key.len() - 4..)
    }

    /// The value of the `Authorization` header, marked sensitive.
    pub(crate) fn header(&self) -> Result<HeaderValue> {
        let text = SecretString::from(format!("Bearer {}", self.0.expose_secret()));
        let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| {
            Error::configuration(
                "the API key has characters that a header cannot have: copy it again from the dashboard",
            )
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A fingerprint that tells keys apart, for a holder of `salt`. The key cannot be computed from
    /// it.
    pub(crate) fn fingerprint(&self, salt: &[u8]) -> String {
        let salt = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, salt);
        let tag = ring::hmac::sign(&salt, self.0.expose_secret().as_bytes());
        tag.as_ref()
            .iter()
            .take(FINGERPRINT)
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    /// Whether `text` repeats the key, or enough of it to give it away.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let key = self.0.expose_secret();
        // A service may leave out the prefix, because all keys of a kind share it.
        let secret = key.split_once('_').map_or(key, |(_, secret)| secret);
        redact::repeats(text, key, KEY_PREFIX) || redact::repeats_part(text, secret, KEY_PART)
    }
}

/// Reads the beginning of a file on its own thread, because a pipe without a writer never answers.
fn read_within(path: PathBuf, patience: Duration) -> io::Result<(Metadata, SecretString)> {
    let (sender, answer) = mpsc::channel();
    let read = move || {
        let file = File::open(path)?;
        let found = file.metadata()?;
        if found.len() > MAX_KEY_FILE {
            let long = format!("it is longer than {MAX_KEY_FILE} bytes");
            return Err(io::Error::other(long));
        }
        let mut text = String::new();
        let read = file.take(MAX_KEY_FILE).read_to_string(&mut text);
        // Wiped, like the key itself.
        let text = SecretString::from(text);
        read.map(|_| (found, text))
    };
    thread::Builder::new().spawn(move || drop(sender.send(read())))?;
    let late = format!("it did not end within {} s", patience.as_secs());
    let read = answer.recv_timeout(patience);
    read.unwrap_or_else(|_| Err(io::Error::new(ErrorKind::TimedOut, late)))
}

/// Whether the name of a file that cannot be read may be a key: it is long and relative, and has no
/// short ending and no directory that exists.
pub(crate) fn is_like_a_key(name: &Path) -> bool {
    let is_ending = |ending: &OsStr| ending.len() <= MAX_ENDING;
    let is_long = name.as_os_str().len() >= MIN_HINTED_KEY;
    let is_long = is_long && !name.extension().is_some_and(is_ending);
    let is_bare = |directory: &Path| directory.as_os_str().is_empty() || !directory.exists();
    is_long && !name.is_absolute() && name.parent().is_none_or(is_bare)
}

/// A pipe is accepted, because its permissions do not say who can read it.
#[cfg(unix)]
fn is_open_to_others(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.is_file() && found.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

impl PartialEq for ApiKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_ends_with_an_error() {
        use std::os::fd::AsRawFd as _;
        let (silent, writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", silent.as_raw_fd());
        let read = read_within(path.into(), Duration::from_millis(1));
        assert_eq!(read.unwrap_err().kind(), ErrorKind::TimedOut);
        drop(writer);
    }
}
