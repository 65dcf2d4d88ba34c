//! The checked settings of a client. [`Options`] is what a user gives; [`Options::validate`] makes
//! [`Settings`] of it.

pub mod account;
pub mod url;

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::url::{BaseUrl, Segment, Template};
use crate::error::{Result, refuse};
use crate::text::message::{Message, message};
use crate::text::redact;
use account::{Owner, Terms};

mod headers;
mod key;
mod options;

use key::KEY_PREFIX;
#[cfg(feature = "python")]
pub(crate) use key::is_like_a_key;
pub use key::{ApiKey, Renewal};
#[cfg(feature = "python")]
pub(crate) use options::for_each_option;
pub use options::{ENV_API_KEY, ENV_API_KEY_FILE, ENV_PROJECT_ID, Options};

/// Shorter values of headers are not searched for as secrets.
const MIN_SECRET_HEADER: usize = 8;

/// Checked settings. Printing them shows no secret. [`Options`] describes the fields that have the
/// same names.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `None`: the function of [`Renewal::Function`] is asked for it.
    pub api_key: Option<ApiKey>,
    pub renewal: Renewal,
    /// The environment's variable that the key came from; `None` if it was an argument.
    pub api_key_from: Option<&'static str>,
    pub base_url: BaseUrl,
    /// The project of calls that name none.
    pub project_id: Option<Segment>,
    pub timeout: Duration,
    pub deadline: Duration,
    pub limits: Limits,
    /// The user's headers, which every request carries besides the client's own.
    pub headers: HeaderMap,
    pub max_response_bytes: usize,
    pub job_path: Template,
    /// The settings of the connections.
    pub wire: Wire,
    pub terms: Option<Terms>,
    /// The budget of new jobs in each project.
    pub job_terms: Option<Terms>,
    pub settle_days: u32,
    pub refresh: bool,
    /// The settings of the store; `None` without a store.
    pub store: Option<StoreSettings>,
}

/// The bounds of a call's retries.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Retries after the first attempt.
    pub max_retries: u32,
    /// The longest `Retry-After` after which a call retries. A budget, a throttle and a wait for a
    /// job may wait longer.
    pub max_retry_after: Duration,
}

/// The settings of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreSettings {
    pub path: PathBuf,
    /// The owner of its requests and exports.
    pub owner: Owner,
}

impl Settings {
    /// The name of the secret that `text` repeats, as it is or encoded: one of `keys`, or a value
    /// of the user's headers.
    pub(crate) fn secret_in(&self, text: &str, keys: &[ApiKey]) -> Option<&'static str> {
        [text, &redact::decoded(text)].into_iter().find_map(|text| {
            if keys.iter().any(|key| key.is_in(text)) {
                return Some("the API key");
            }
            let is_in = |value: &str| {
                value.len() >= MIN_SECRET_HEADER && redact::repeats(text, value, KEY_PREFIX)
            };
            let mut values = self.headers.values();
            values
                .any(|value| str::from_utf8(value.as_bytes()).is_ok_and(is_in))
                .then_some("a header of yours")
        })
    }
}

/// The settings of a connection pool: two clients share one only if these, the key and the address
/// are the same.
#[derive(Debug, Clone)]
pub struct Wire {
    pub connect_timeout: Duration,
    pub proxy: Option<SecretString>,
    pub trust_env: bool,
    pub ca_bundle: Option<PathBuf>,
}

impl PartialEq for Wire {
    fn eq(&self, other: &Self) -> bool {
        let proxy = |wire: &Self| wire.proxy.as_ref().map(|p| p.expose_secret().to_owned());
        self.connect_timeout == other.connect_timeout
            && proxy(self) == proxy(other)
            && self.trust_env == other.trust_env
            && self.ca_bundle == other.ca_bundle
    }
}

pub fn seconds(what: impl Into<Message>, value: f64) -> Result<Duration> {
    positive(what, value, value > 0.0, "above 0")
}

pub fn seconds_or_zero(what: impl Into<Message>, value: f64) -> Result<Duration> {
    positive(what, value, value >= 0.0, "0 or more")
}

fn positive(what: impl Into<Message>, value: f64, fits: bool, bound: &str) -> Result<Duration> {
    /// A hundred years: far beyond any use, far below any overflow.
    const MAX_SECONDS: f64 = 100.0 * 365.0 * 86_400.0;
    if value.is_finite() && fits && value <= MAX_SECONDS {
        return Ok(Duration::from_secs_f64(value));
    }
    let text = format!(
        " must be a finite number of seconds, {bound} and at most {MAX_SECONDS}; it is {value:?}"
    );
    refuse(message![what, text])
}
