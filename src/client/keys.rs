//! The API key in use. Where it is a function, the caller is asked for it before the first request,
//! and again after a 401. A key's file is read again after a 401.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::client::observer::{About, Level, Note, Observer};
use crate::client::{Client, Shared};
use crate::config::{ApiKey, Renewal};
use crate::error::{Error, Kind, Result};
use crate::lock;
use crate::text::message::{Message, Setting, message};

/// The number of keys that are kept. The service may repeat an old one in an error.
const MAX_KNOWN: usize = 8;
/// The pause before the next caller is asked, after the last one left without an answer.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The keys of a client and its handles; the last one is in use.
pub(super) struct Keys(Mutex<Vec<ApiKey>>);

impl Keys {
    pub(super) fn new(first: Option<&ApiKey>) -> Self {
        Self(Mutex::new(first.cloned().into_iter().collect()))
    }

    pub(super) fn known(&self) -> Vec<ApiKey> {
        lock(&self.0).clone()
    }

    /// The key in use, unless it is the `refused` one.
    fn newer_than(&self, refused: Option<&ApiKey>) -> Option<ApiKey> {
        let known = lock(&self.0);
        known.last().filter(|key| refused != Some(key)).cloned()
    }

    /// Takes a `key` that replaces the `refused` one, and returns the key in use. It is another one
    /// if that came meanwhile.
    fn put(&self, key: ApiKey, refused: Option<&ApiKey>) -> ApiKey {
        let mut known = lock(&self.0);
        if let Some(newer) = known.last().filter(|key| refused != Some(key)) {
            return newer.clone();
        }
        known.retain(|other| *other != key);
        known.push(key.clone());
        if known.len() > MAX_KNOWN {
            known.remove(0);
        }
        key
    }
}

/// Asks a caller to call its function for the API key.
#[derive(Clone)]
pub struct KeyRequest {
    shared: Arc<Shared>,
    refused: Option<ApiKey>,
    answered: Arc<Mutex<Option<oneshot::Sender<ApiKey>>>>,
}

impl KeyRequest {
    /// Whether another caller brought a newer key meanwhile. The function is not called then.
    pub fn is_over(&self) -> bool {
        let newer = self.shared.keys.newer_than(self.refused.as_ref());
        newer.map(|key| self.answer(key)).is_some()
    }

    /// Takes the key that the function returned, unless another caller brought a newer one
    /// meanwhile.
    pub fn answer(&self, key: ApiKey) {
        let key = self.shared.keys.put(key, self.refused.as_ref());
        // The call may have ended meanwhile.
        let answered = lock(&self.answered).take();
        let _ = answered.map(|answered| answered.send(key));
    }
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRequest")
    }
}

impl Client {
    /// The key for a call's first attempt.
    pub(super) async fn key(
        &self,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Result<ApiKey> {
        let key = match self.shared.keys.newer_than(None) {
            None => self.ask(None, deadline, observer).await,
            known => known,
        };
        key.ok_or_else(|| {
            let text = message![
                ", because the function of ",
                Setting::ApiKey,
                " was not called in time"
            ];
            Error::new(Kind::Timeout, text).past_deadline()
        })
    }

    /// Another key than the one that was `refused` with a 401, if there is one.
    pub(super) async fn newer_key(
        &self,
        refused: &ApiKey,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Option<ApiKey> {
        // Another call may have brought it.
        let newer = self.shared.keys.newer_than(Some(refused));
        if newer.is_some() {
            return newer;
        }
        let key = match &self.settings.renewal {
            Renewal::Never => None,
            Renewal::Function(_) => self.ask(Some(refused), deadline, observer).await,
            Renewal::File(path) => {
                let (path, from) = (path.clone(), self.settings.api_key_from);
                let what = from.map_or_else(|| Setting::ApiKey.into(), Message::from);
                let read = move || {
                    let key = ApiKey::read_file(what, &path)?;
                    ApiKey::parse("its file", &key)
                };
                let read = spawn_blocking(read).await;
                match read.unwrap_or_else(|panic| Err(Error::bug(panic))) {
                    Ok(key) => Some(self.shared.keys.put(key, Some(refused))),
                    Err(error) => {
                        let text = format!("no newer API key was found: {}", error.message);
                        observer.note(Note::new(Level::Warning, text));
                        None
                    }
                }
            }
        };
        key.filter(|key| key != refused)
    }

    /// The key that the caller's function returns. The deadline does not run while a caller that
    /// answers is waited for, because the caller of a prefetched page may come late.
    async fn ask(
        &self,
        refused: Option<&ApiKey>,
        deadline: &mut Instant,
        observer: &dyn Observer,
    ) -> Option<ApiKey> {
        while Instant::now() < *deadline {
            let (answered, came) = oneshot::channel();
            let request = KeyRequest {
                shared: Arc::clone(&self.shared),
                refused: refused.cloned(),
                answered: Arc::new(Mutex::new(Some(answered))),
            };
            let text = "the caller is asked for the key".to_owned();
            let begun = Instant::now();
            observer.note(Note::new(Level::Debug, text).about(About::Key(request)));
            if let Ok(key) = came.await {
                *deadline += begun.elapsed();
                return Some(key);
            }
            sleep(ASK_AGAIN).await;
        }
        None
    }
}
