//! The options of a client: their defaults, their environment variables, and their checks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use super::account::{Organization, Owner, Terms};
use crate::clock::millis;
use crate::config::headers::headers;
use crate::config::key::{ApiKey, Renewal};
use crate::config::url::{BaseUrl, Segment, Template};
use crate::config::{Limits, Settings, StoreSettings, Wire, seconds, seconds_or_zero};
use crate::error::{Error, Result, refuse};
use crate::text::message::{Advice, Message, Setting, message};

pub const ENV_API_KEY: &str = "DOCPLATFORM_API_KEY";
/// The path of a file with the API key, used if [`ENV_API_KEY`] is not set.
pub const ENV_API_KEY_FILE: &str = "DOCPLATFORM_API_KEY_FILE";
const ENV_BASE_URL: &str = "DOCPLATFORM_BASE_URL";
pub const ENV_PROJECT_ID: &str = "DOCPLATFORM_PROJECT_ID";
const ENV_ORGANIZATION: &str = "DOCPLATFORM_ORGANIZATION";

/// Passes the list of all options, each with its type and default, to the macro `$with`.
macro_rules! for_each_option {
    ($with:ident) => {
        $with! {
            /// The API key; from the environment if `None`.
            api_key: Option<SecretString> = None;
            /// The address of the platform's API; from the environment if `None`.
            base_url: Option<String> = None;
            /// The project of calls that name none; from the environment if `None`.
            project_id: Option<String> = None;
            /// Seconds for one attempt. A write has twice as long.
            timeout: f64 = 30.0;
            /// Seconds to resolve, connect and shake hands.
            connect_timeout: f64 = 5.0;
            /// Seconds for one call or one page, with its retries and pauses; waits for the budget,
            /// and the function that returns the API key, do not count.
            deadline: f64 = 90.0;
            /// Retries after the first attempt.
            max_retries: u32 = 2;
            /// The longest `Retry-After`, in seconds, after which a call retries.
            max_retry_after: f64 = 60.0;
            /// A proxy's URL; it may hold a user name and password.
            proxy: Option<SecretString> = None;
            /// Whether the environment's proxies are used.
            trust_env: bool = true;
            /// A PEM file of certificates to trust in addition to the system's.
            ca_bundle: Option<PathBuf> = None;
            /// Extra headers. Their values are secrets.
            headers: Vec<(String, SecretString)> = Vec::new();
            /// Whether plain http may leave the machine.
            allow_http: bool = false;
            /// The largest answer that is read, in bytes.
            max_response_bytes: u64 = 32 * 1024 * 1024;
            /// Where a job is read.
            job_path: String = "/v2/agent/{project_id}/job/{id}".to_owned();
            /// Analytics requests an hour, over all who share the ledger. From the environment if
            /// `None`; without that, no budget is kept.
            requests_per_hour: Option<u64> = None;
            /// Requests of that hour that are left to others; from the environment if `None`.
            reserve: Option<u64> = None;
            /// Jobs created in an hour in each project, over all who share the ledger. From the
            /// environment if `None`; without that, no such budget is kept.
            jobs_per_hour: Option<u64> = None;
            /// The path of the store; from the environment if `None`.
            store: Option<PathBuf> = None;
            /// Days after its end until a range is treated as final.
            settle_days: u32 = 2;
            /// Whether ranges in the store are fetched again.
            refresh: bool = false;
            /// The store's name for a budget that several keys share. From the environment if
            /// `None`; without that, the key stands for it.
            organization: Option<String> = None;
        }
    };
}
#[cfg(feature = "python")]
pub(crate) use for_each_option;

macro_rules! define_options {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// The options as the user gave them, unchecked. A client keeps them to make handles and
        /// copies.
        #[derive(Debug, Clone)]
        pub struct Options {
            $($(#[$doc])* pub $name: $type,)*
            /// The settings that came from the environment, each with its variable, which errors
            /// name.
            pub from_env: Vec<(&'static str, &'static str)>,
            /// The source of a newer key.
            pub renewal: Renewal,
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($name: $default,)* from_env: Vec::new(), renewal: Renewal::Never }
            }
        }
    };
}
for_each_option!(define_options);

impl Options {
    /// Fills in the environment's values, so that a handle keeps what its client has.
    pub fn resolve(mut self, env: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let mut from_env = std::mem::take(&mut self.from_env);
        let mut look = |is_given: bool, setting, variable| {
            // An empty variable counts as not set.
            let value = env(variable).filter(|value| !is_given && !value.is_empty())?;
            from_env.push((setting, variable));
            Some(value)
        };
        // A repaired value would be a different one.
        let text = |variable, value: OsString| {
            value.into_string().map_err(|_| {
                Error::configuration(format!(
                    "{variable} holds bytes that are not valid UTF-8; set it again"
                ))
            })
        };
        let number = |variable, value: OsString| {
            let number = value.to_str().and_then(|value| value.parse().ok());
            number.ok_or_else(|| {
                Error::configuration(format!(
                    "{variable} must be a whole number from 0 to {}; it is {:?}",
                    u64::MAX,
                    value.to_string_lossy()
                ))
            })
        };
        let path = |_, value: OsString| Result::Ok(PathBuf::from(value));
        let has_key = self.api_key.is_some() || self.renewal != Renewal::Never;
        if let Some(value) = look(has_key, "api_key", ENV_API_KEY) {
            self.api_key = Some(text(ENV_API_KEY, value)?.into());
        } else if let Some(file) = look(has_key, "api_key", ENV_API_KEY_FILE) {
            self.api_key = Some(ApiKey::read_file(ENV_API_KEY_FILE, file.as_ref())?);
            self.renewal = Renewal::File(file.into());
        }
        macro_rules! fill {
            ($($setting:ident: $variable:expr, $read:expr;)*) => {
                $(if let Some(value) = look(self.$setting.is_some(), stringify!($setting), $variable) {
                    self.$setting = Some($read($variable, value)?);
                })*
            };
        }
        fill! {
            base_url: ENV_BASE_URL, text;
            project_id: ENV_PROJECT_ID, text;
            requests_per_hour: "DOCPLATFORM_REQUESTS_PER_HOUR", number;
            reserve: "DOCPLATFORM_RESERVE", number;
            jobs_per_hour: "DOCPLATFORM_JOBS_PER_HOUR", number;
            store: "DOCPLATFORM_STORE", path;
            organization: ENV_ORGANIZATION, text;
        }
        self.from_env = from_env;
        if self.store.as_deref() == Some(Path::new(":memory:")) {
            return refuse(message![
                self.name_of(Setting::Store),
                " is \":memory:\", but a store is a file, which all processes share: give the path of one",
                Advice::TemporaryStore {},
            ]);
        }
        // Absolute paths name the same files after the working directory changes, and after
        // unpickling elsewhere.
        let key_file = match &mut self.renewal {
            Renewal::File(path) => Some(path),
            _ => None,
        };
        let paths = [self.store.as_mut(), self.ca_bundle.as_mut(), key_file];
        for path in paths.into_iter().flatten() {
            // An empty path cannot be made absolute: it means no store, even if the environment
            // names one.
            if let Ok(whole) = std::path::absolute(&*path) {
                *path = whole;
            }
        }
        Ok(self)
    }

    /// The owner that the environment names: the address, and the organization or else the key.
    pub fn owner_of(
        env: impl Fn(&str) -> Option<OsString>,
    ) -> Result<(Option<String>, Option<Organization>)> {
        let wanted = [
            ENV_BASE_URL,
            ENV_ORGANIZATION,
            ENV_API_KEY,
            ENV_API_KEY_FILE,
        ];
        let found = Self::default().resolve(|name| wanted.contains(&name).then(|| env(name))?)?;
        let organization = found.owner()?;
        let base_url = |url: &String| {
            let url = BaseUrl::parse(found.name_of(Setting::BaseUrl), url, true)?;
            Ok(url.as_str().to_owned())
        };
        let base_url = found.base_url.as_ref().map(base_url).transpose()?;
        Ok((base_url, organization))
    }

    /// The organization, or else the key.
    fn owner(&self) -> Result<Option<Organization>> {
        let name = self.organization.as_ref();
        let named = name.map(|name| Organization::named(self.name_of(Setting::Organization), name));
        match named {
            None => Ok(self.key()?.map(Organization::Key)),
            named => named.transpose(),
        }
    }

    fn key(&self) -> Result<Option<ApiKey>> {
        let what = match self.variable_of(Setting::ApiKey) {
            Some(ENV_API_KEY_FILE) => message!["the file of ", ENV_API_KEY_FILE],
            _ => self.name_of(Setting::ApiKey),
        };
        let parse = |key| ApiKey::parse(what, key);
        self.api_key.as_ref().map(parse).transpose()
    }

    /// Where the value of `setting` came from, as errors name it: the argument, or the
    /// environment's variable.
    pub(crate) fn name_of(&self, setting: Setting) -> Message {
        self.variable_of(setting)
            .map_or_else(|| setting.into(), Message::from)
    }

    /// The environment's variable that the value of `setting` came from.
    pub(crate) fn variable_of(&self, setting: Setting) -> Option<&'static str> {
        let mut from_env = self.from_env.iter();
        let (_, variable) = from_env.find(|(from_env, _)| *from_env == setting.as_str())?;
        Some(variable)
    }

    /// Checks everything; `env` looks up environment variables.
    pub fn validate(&self, env: impl Fn(&str) -> Option<OsString>) -> Result<Settings> {
        self.clone().resolve(env)?.check()
    }

    /// Checks everything, without the environment.
    pub(crate) fn check(&self) -> Result<Settings> {
        if self.api_key.is_none() && self.renewal == Renewal::Never {
            return Err(Error::configuration(message![
                "no API key: pass ",
                Setting::ApiKey.argument(),
                format!(" or set {ENV_API_KEY} (or {ENV_API_KEY_FILE})"),
            ]));
        }
        let base_url = self.base_url.as_ref().ok_or_else(|| {
            Error::configuration(message![
                "no base URL: pass ",
                Setting::BaseUrl.argument(),
                format!(" or set {ENV_BASE_URL} to the address of your documentation platform"),
            ])
        })?;
        let api_key = self.key()?;
        let base_url = BaseUrl::parse(self.name_of(Setting::BaseUrl), base_url, self.allow_http)?;
        let project = |id: &String| {
            Segment::parse(self.name_of(Setting::ProjectId), id)
                .map_err(|error| Error::configuration(error.message.clone()))
        };
        let project_id = self.project_id.as_ref().map(project).transpose()?;
        let max_response_bytes = usize::try_from(self.max_response_bytes)
            .ok()
            // The texts of a page must fit into one Arrow array.
            .filter(|bytes| (1024..=1 << 29).contains(bytes))
            .ok_or_else(|| {
                Error::argument(message![
                    Setting::MaxResponseBytes,
                    " must be 1024 (1 KiB) to 536870912 (512 MiB)",
                ])
            })?;
        let job_path = Template::parse(Setting::JobPath, &self.job_path)?;
        if !job_path.has_id() {
            return refuse(message![Setting::JobPath, " must contain {id}"]);
        }
        let organization = self.owner()?;
        let deadline = seconds(Setting::Deadline, self.deadline)?;
        let patient = |terms| Terms {
            patience: millis(deadline),
            ..terms
        };
        let path = self.store.clone();
        let path = path.filter(|path| !path.as_os_str().is_empty());
        let store = path.map(|path| {
            let organization = organization.ok_or_else(|| {
                Error::configuration(message![
                    Setting::ApiKey,
                    " is a function, so its keys may change, and a store keeps budget, ranges and names for one account: \
                     name the account with ",
                    Setting::Organization.argument(),
                ])
            })?;
            let base_url = base_url.as_str().to_owned();
            let owner = Owner { base_url, organization };
            Result::Ok(StoreSettings { path, owner })
        });
        let store = store.transpose()?;
        Ok(Settings {
            api_key,
            renewal: self.renewal.clone(),
            api_key_from: self.variable_of(Setting::ApiKey),
            base_url,
            project_id,
            timeout: seconds(Setting::Timeout, self.timeout)?,
            deadline,
            limits: Limits {
                max_retries: self.max_retries,
                max_retry_after: seconds_or_zero(Setting::MaxRetryAfter, self.max_retry_after)?,
            },
            headers: headers(&self.headers)?,
            max_response_bytes,
            job_path,
            wire: Wire {
                connect_timeout: seconds(Setting::ConnectTimeout, self.connect_timeout)?,
                proxy: self.proxy.clone(),
                trust_env: self.trust_env,
                ca_bundle: self.ca_bundle.clone(),
            },
            terms: self.terms()?.map(patient),
            job_terms: self.job_terms()?.map(patient),
            settle_days: self.settle_days,
            refresh: self.refresh,
            store,
        })
    }

    fn terms(&self) -> Result<Option<Terms>> {
        let per_hour = self.name_of(Setting::RequestsPerHour);
        let reserve = self.name_of(Setting::Reserve);
        match (self.requests_per_hour, self.reserve.unwrap_or(0)) {
            (None, 0) => Ok(None),
            (None, _) => refuse(message![
                reserve,
                " is a part of ",
                per_hour,
                ": set that too"
            ]),
            (Some(0), _) => refuse(message![
                per_hour,
                " must be 1 or more, or no request could ever be sent"
            ]),
            (Some(hour), left) => Terms::new(hour, left).map(Some).ok_or_else(|| {
                let why = format!(", or no request could ever be sent; they are {left} and {hour}");
                Error::argument(message![reserve, " must be less than ", per_hour, why])
            }),
        }
    }

    fn job_terms(&self) -> Result<Option<Terms>> {
        let terms = |per_hour| {
            Terms::new(per_hour, 0).ok_or_else(|| {
                let why = " must be 1 or more, or no job could be created";
                Error::argument(message![self.name_of(Setting::JobsPerHour), why])
            })
        };
        self.jobs_per_hour.map(terms).transpose()
    }

    /// The option that forbids pickling, because it holds a secret besides the key.
    pub fn secret(&self) -> Option<&'static str> {
        if !self.headers.is_empty() {
            return Some("headers");
        }
        let userinfo = |proxy: &SecretString| proxy.expose_secret().contains('@');
        self.proxy.as_ref().is_some_and(userinfo).then_some("proxy")
    }
}
