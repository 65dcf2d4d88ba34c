//! The options of a client: their defaults, their environment variables, and their checks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use super::account::{Organization, Owner, Terms};
use crate::config::headers::headers;
use crate::config::key::{ApiKey, Renewal};
use crate::config::url::{BaseUrl, Segment, Template};
use crate::config::{Settings, StoreSettings, Wire, seconds, seconds_or_zero};
use crate::error::{Error, Result};
use crate::text::message::{Advice, Message, Setting, message};

pub const ENV_API_KEY: &str = "DOCPLATFORM_API_KEY";
/// The path of a file with the API key, used if [`ENV_API_KEY`] is not set.
pub const ENV_API_KEY_FILE: &str = "DOCPLATFORM_API_KEY_FILE";
const ENV_BASE_URL: &str = "DOCPLATFORM_BASE_URL";
pub const ENV_PROJECT_ID: &str = "DOCPLATFORM_PROJECT_ID";
const ENV_REQUESTS_PER_HOUR: &str = "DOCPLATFORM_REQUESTS_PER_HOUR";
const ENV_RESERVE: &str = "DOCPLATFORM_RESERVE";
const ENV_JOBS_PER_HOUR: &str = "DOCPLATFORM_JOBS_PER_HOUR";
const ENV_STORE: &str = "DOCPLATFORM_STORE";
const ENV_ORGANIZATION: &str = "DOCPLATFORM_ORGANIZATION";

/// Passes the list of all options, each with its type and default, to the macro `$with`.
macro_rules! for_each_option {
    ($with:ident) => {
        $with! {
            /// The API key; from the environment if `None`.
            api_key: Option<SecretString> = None;
            /// The customer's address; from the environment if `None`.
            base_url: Option<String> = None;
            /// The project of calls that name none; from the environment if `None`.
            project_id: Option<String> = None;
            /// Seconds for one attempt. A write has twice as long.
            timeout: f64 = 30.0;
            /// Seconds to resolve, connect and shake hands.
            connect_timeout: f64 = 5.0;
            /// Seconds for one call or one page, with every retry and every pause.
            deadline: f64 = 90.0;
            /// Retries after the first attempt.
            max_retries: u32 = 2;
            /// The longest `Retry-After`, in seconds, that is waited for.
            max_retry_after: f64 = 60.0;
            /// A proxy's URL; it may hold a user name and password.
            proxy: Option<SecretString> = None;
            /// Whether the environment's proxies are used.
            trust_env: bool = true;
            /// A PEM file of certificates to trust besides the platform's.
            ca_bundle: Option<PathBuf> = None;
            /// Extra headers. Their values are secrets.
            headers: Vec<(String, SecretString)> = Vec::new();
            /// Whether plain http may leave the machine.
            allow_http: bool = false;
            /// The largest answer that is read, in bytes.
            max_response_bytes: u64 = 32 * 1024 * 1024;
            /// Where a job is read.
            job_path: String = "/v2/agent/{project_id}/job/{id}".to_owned();
            /// Analytics requests an hour, over all who share the ledger. From the environment if `None`; without that, no
            /// budget is kept.
            requests_per_hour: Option<u64> = None;
            /// Requests of that hour that are left to others; from the environment if `None`.
            reserve: Option<u64> = None;
            /// Jobs created in an hour in each project, over all who share the ledger. From the environment if `None`; without
            /// that, no such budget is kept.
            jobs_per_hour: Option<u64> = None;
            /// The path of the store; from the environment if `None`.
            store: Option<PathBuf> = None;
            /// Days after its end until a range is treated as final.
            settle_days: u32 = 2;
            /// Whether ranges in the store are fetched again.
            refresh: bool = false;
            /// The store's name for a budget that several keys share. From the environment if `None`; without that, the key
            /// stands for it.
            organization: Option<String> = None;
        }
    };
}
#[cfg(feature = "python")]
pub(crate) use for_each_option;

macro_rules! define_options {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)*) => {
        /// The options as the user gave them, unchecked. A client keeps them to make handles and copies.
        #[derive(Debug, Clone)]
        pub struct Options {
            $($(#[$doc])* pub $name: $type,)*
            /// The settings that came from the environment, each with its variable, which errors name.
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
                    "{variable} must be a whole number from 0 on; it is {:?}",
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
            ($($setting:ident: $variable:ident, $read:expr;)*) => {
                $(if let Some(value) = look(self.$setting.is_some(), stringify!($setting), $variable) {
                    self.$setting = Some($read($variable, value)?);
                })*
            };
        }
        fill! {
            base_url: ENV_BASE_URL, text;
            project_id: ENV_PROJECT_ID, text;
            requests_per_hour: ENV_REQUESTS_PER_HOUR, number;
            reserve: ENV_RESERVE, number;
            jobs_per_hour: ENV_JOBS_PER_HOUR, number;
            store: ENV_STORE, path;
            organization: ENV_ORGANIZATION, text;
        }
        self.from_env = from_env;
        if self.store.as_deref() == Some(Path::new(":memory:")) {
            return Err(Error::argument(message![
                self.name_of(Setting::Store),
                " is \":memory:\", but a store is a file, which all processes share: give the path of one",
                Advice::TemporaryStore {},
            ]));
        }
        // Absolute paths name the same files after the working directory changes, and after unpickling elsewhere.
        for path in [&mut self.store, &mut self.ca_bundle].into_iter().flatten() {
            // An empty path cannot be made absolute: it means no store, even if the environment names one.
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
        let organization = match (&found.organization, &found.api_key) {
            (Some(name), _) => Some(Organization::named(
                found.name_of(Setting::Organization),
                name,
            )?),
            (None, Some(key)) => Some(Organization::Key(ApiKey::parse(
                found.name_of(Setting::ApiKey),
                key,
            )?)),
            (None, None) => None,
        };
        let base_url = found
            .base_url
            .as_ref()
            .map(|url| BaseUrl::parse(found.name_of(Setting::BaseUrl), url, true));
        Ok((
            base_url.transpose()?.map(|url| url.as_str().to_owned()),
            organization,
        ))
    }

    /// Where the value of `setting` came from, as errors name it: the argument, or the environment's variable.
    pub(crate) fn name_of(&self, setting: Setting) -> Message {
        self.variable_of(setting)
            .map_or_else(|| setting.into(), Message::from)
    }

    /// The environment's variable that the value of `setting` came from.
    pub(crate) fn variable_of(&self, setting: Setting) -> Option<&'static str> {
        let mut from_env = self.from_env.iter();
        let (_, variable) = from_env.find(|(from_env, _)| *from_env == setting.name())?;
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
        let parse = |key| ApiKey::parse(self.name_of(Setting::ApiKey), key);
        let api_key = self.api_key.as_ref().map(parse).transpose()?;
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
            return Err(Error::argument(message![
                Setting::JobPath,
                " must contain {id}"
            ]));
        }
        let organization = match &self.organization {
            Some(name) => Some(Organization::named(
                self.name_of(Setting::Organization),
                name,
            )?),
            None => api_key.clone().map(Organization::Key),
        };
        let deadline = seconds(Setting::Deadline, self.deadline)?;
        let store = self.store.clone();
        let store = store.filter(|path| !path.as_os_str().is_empty()).map(|path| {
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
            max_retries: self.max_retries,
            max_retry_after: seconds_or_zero(Setting::MaxRetryAfter, self.max_retry_after)?,
            headers: headers(&self.headers)?,
            max_response_bytes,
            job_path,
            wire: Wire {
                connect_timeout: seconds(Setting::ConnectTimeout, self.connect_timeout)?,
                proxy: self.proxy.clone(),
                trust_env: self.trust_env,
                ca_bundle: self.ca_bundle.clone(),
            },
            terms: self.terms()?.map(|terms| terms.patient(deadline)),
            job_terms: self
                .jobs_per_hour
                .map(|jobs| self.job_terms(jobs))
                .transpose()?
                .map(|terms| terms.patient(deadline)),
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
            (None, _) => Err(Error::argument(message![
                reserve,
                " is a part of ",
                per_hour,
                ": set that too"
            ])),
            (Some(0), _) => Err(Error::argument(message![
                per_hour,
                " must be 1 or more, or no request could ever be sent"
            ])),
            (Some(hour), left) => Terms::new(hour, left).map(Some).ok_or_else(|| {
                let why = format!(", or no request could ever be sent; they are {left} and {hour}");
                Error::argument(message![reserve, " must be less than ", per_hour, why])
            }),
        }
    }

    fn job_terms(&self, per_hour: u64) -> Result<Terms> {
        Terms::new(per_hour, 0).ok_or_else(|| {
            let per_hour = self.name_of(Setting::JobsPerHour);
            Error::argument(message![
                per_hour,
                " must be 1 or more, or no job could be created"
            ])
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            api_key: Some("dp_0123456789abcdefghij".into()),
            base_url: Some("https://docs.example.com".to_owned()),
            ..Options::default()
        }
    }

    fn message(options: &Options) -> String {
        options.validate(|_| None).unwrap_err().to_string()
    }

    #[test]
    fn the_environment_stands_in() {
        let env = |name: &str| {
            let value = match name {
                ENV_API_KEY => "dp_key",
                ENV_BASE_URL => "https://env.example.com",
                ENV_PROJECT_ID => "from-env",
                ENV_REQUESTS_PER_HOUR => "100",
                ENV_RESERVE => "10",
                ENV_STORE => "/env.db",
                ENV_ORGANIZATION => "acme",
                _ => return None,
            };
            Some(value.into())
        };
        let settings = Options::default().validate(env).unwrap();
        assert_eq!(settings.base_url.as_str(), "https://env.example.com");
        assert_eq!(settings.project_id.unwrap().as_str(), "from-env");
        assert_eq!(
            settings.terms,
            Some(Terms {
                per_hour: 100,
                reserve: 10,
                patience: 90_000
            })
        );
        let organization = Organization::Name("acme".to_owned());
        let owner = Owner {
            base_url: "https://env.example.com".to_owned(),
            organization,
        };
        assert_eq!(
            settings.store,
            Some(StoreSettings {
                path: "/env.db".into(),
                owner
            })
        );
        let given = Options {
            reserve: Some(0),
            store: Some("/given.db".into()),
            ..options()
        };
        let settings = given.validate(env).unwrap();
        assert_eq!(
            settings.terms,
            Some(Terms {
                per_hour: 100,
                reserve: 0,
                patience: 90_000
            })
        );
        assert_eq!(settings.store.unwrap().path, PathBuf::from("/given.db"));
        let none = Options {
            store: Some(PathBuf::new()),
            ..options()
        }
        .validate(env)
        .unwrap();
        assert_eq!(none.store, None, "none, whatever the environment says");
        let settings = Options {
            project_id: Some("given".to_owned()),
            ..options()
        }
        .validate(env)
        .unwrap();
        assert_eq!(settings.project_id.unwrap().as_str(), "given");
        assert_eq!(settings.base_url.as_str(), "https://docs.example.com");
    }

    #[cfg(unix)]
    #[test]
    fn a_wrong_setting_is_named_as_it_was_given() {
        use std::os::unix::ffi::OsStringExt as _;
        let settings = [
            (
                "api_key",
                ENV_API_KEY,
                " dp_key",
                "has white space around it",
            ),
            (
                "base_url",
                ENV_BASE_URL,
                "https://docs.example.com\n",
                "has white space around it",
            ),
            (
                "project_id",
                ENV_PROJECT_ID,
                "demo ",
                "has white space around it",
            ),
            (
                "organization",
                ENV_ORGANIZATION,
                "acme ",
                "has white space around it",
            ),
            (
                "project_id",
                ENV_PROJECT_ID,
                "de\u{fffd}mo",
                "contains U+FFFD",
            ),
        ];
        for (setting, variable, bad, why) in settings {
            let mut given = options();
            match setting {
                "api_key" => given.api_key = Some(bad.into()),
                "base_url" => given.base_url = Some(bad.to_owned()),
                "organization" => given.organization = Some(bad.to_owned()),
                _ => given.project_id = Some(bad.to_owned()),
            }
            let error = message(&given);
            assert!(error.starts_with(&format!("{setting} {why}")), "{error}");

            let unset = Options {
                api_key: None,
                base_url: None,
                ..Options::default()
            };
            let env = |bad: OsString| {
                move |name: &str| match name {
                    _ if name == variable => Some(bad.clone()),
                    ENV_API_KEY => Some("dp_key".into()),
                    ENV_BASE_URL => Some("https://docs.example.com".into()),
                    _ => None,
                }
            };
            let error = unset.validate(env(bad.into())).unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("{variable} {why}")),
                "{error}"
            );
            let error = unset
                .validate(env(OsString::from_vec(b"pr\xffd".to_vec())))
                .unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("{variable} holds bytes that are not")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_wrong_budget_names_the_variables_it_came_from() {
        let wrong = |variables: &[(&str, &str)]| {
            let env = |name: &str| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| value.into())
            };
            options().validate(env).unwrap_err().to_string()
        };
        for bad in ["many", "-1", "1.5"] {
            let error = wrong(&[(ENV_REQUESTS_PER_HOUR, bad)]);
            assert!(
                error.starts_with("DOCPLATFORM_REQUESTS_PER_HOUR must be a whole number"),
                "{error}"
            );
        }
        let error = wrong(&[(ENV_RESERVE, "5")]);
        assert!(
            error.starts_with("DOCPLATFORM_RESERVE is a part of requests_per_hour"),
            "{error}"
        );
        let error = wrong(&[(ENV_RESERVE, "5"), (ENV_REQUESTS_PER_HOUR, "5")]);
        assert!(
            error
                .starts_with("DOCPLATFORM_RESERVE must be less than DOCPLATFORM_REQUESTS_PER_HOUR"),
            "{error}"
        );
        let error = wrong(&[(ENV_ORGANIZATION, "a\nb")]);
        assert!(
            error.starts_with("DOCPLATFORM_ORGANIZATION must be a name"),
            "{error}"
        );
        let error = wrong(&[(ENV_STORE, ":memory:")]);
        assert!(
            error.starts_with("DOCPLATFORM_STORE is \":memory:\", but a store is a file"),
            "{error}"
        );
        let error = message(&Options {
            store: Some(":memory:".into()),
            ..options()
        });
        assert!(
            error.starts_with("store is \":memory:\", but a store is a file"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_key_may_stand_in_a_file_that_nobody_else_can_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = std::env::temp_dir().join(format!("docplatform-key-{}", std::process::id()));
        let env = |name: &str| (name == ENV_API_KEY_FILE).then(|| file.clone().into_os_string());
        let read = || {
            Options {
                api_key: None,
                ..options()
            }
            .validate(env)
        };
        let error = read().unwrap_err();
        assert!(
            error.to_string().starts_with("DOCPLATFORM_API_KEY_FILE: "),
            "{error}"
        );
        std::fs::write(&file, "dp_0123456789abcdefghij\n").unwrap();
        for (mode, is_read) in [(0o600, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read().is_ok(), is_read, "{mode:o}");
        }
        assert!(read().unwrap_err().to_string().contains("chmod 600"));
        let key = "dp_key".to_owned();
        assert_eq!(
            Options {
                api_key: Some(key.into()),
                ..options()
            }
            .validate(env)
            .unwrap()
            .api_key_from,
            None
        );
        std::fs::remove_file(&file).unwrap();
    }

    /// Rows: G9.
    #[test]
    fn bad_keys_are_refused_and_never_shown() {
        for bad in [
            "",
            "dp_secret\n",
            "dp_se cret",
            "dp_secret\0",
            "dp_sécret",
            "Bearer dp_secret",
            "bearer dp_secret",
            "\"dp_secret\"",
            "'dp_secret'",
            "dp_\u{7f}secret",
        ] {
            let error = message(&Options {
                api_key: Some(bad.into()),
                ..options()
            });
            assert!(
                !error.contains("secret") && !error.contains("sécret"),
                "{error}"
            );
        }
        // Nor is a key in place of the name of its file.
        for (name, is_shown) in [
            ("dp_secret0123456789abcdef", false),
            ("dp_secret0123456789/abcdef", false),
            ("/run/dp_secret0123456789abcdef", true),
            ("dp_secret0123456789abcdef.txt", true),
        ] {
            let env = |variable: &str| (variable == ENV_API_KEY_FILE).then(|| name.into());
            let error = Options {
                api_key: None,
                ..options()
            }
            .validate(env)
            .unwrap_err();
            assert!(
                error.to_string().starts_with("DOCPLATFORM_API_KEY_FILE: "),
                "{error}"
            );
            assert_eq!(error.to_string().contains("secret"), is_shown, "{error}");
        }
    }

    /// Rows: H8.
    #[test]
    fn settings_print_no_secret() {
        let settings = Options {
            headers: vec![("x-team".to_owned(), "hush".into())],
            proxy: Some("http://user:hush@proxy:1".into()),
            ..options()
        }
        .validate(|_| None)
        .unwrap();
        let shown = format!("{settings:?}");
        assert!(
            !shown.contains("0123456789") && !shown.contains("hush"),
            "{shown}"
        );
        assert_eq!(settings.api_key.unwrap().hint(), Some("ghij"));
    }
}
