//! What a user may give, what the environment says where nothing was given, and how it is checked.

use std::ffi::OsString;
use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use super::account::{Organization, Owner, Terms};
use crate::config::Memory;
use crate::config::Settings;
use crate::config::Wire;
use crate::config::headers::headers;
use crate::config::key::ApiKey;
use crate::config::seconds::{seconds, seconds_or_zero};
use crate::config::url::{BaseUrl, Segment, Template};
use crate::error::{Error, Result};

/// Environment variables that stand in for arguments that were not given.
pub const ENV_API_KEY: &str = "DOCPLATFORM_API_KEY";
/// See [`ENV_API_KEY`].
pub const ENV_BASE_URL: &str = "DOCPLATFORM_BASE_URL";
/// See [`ENV_API_KEY`].
pub const ENV_PROJECT_ID: &str = "DOCPLATFORM_PROJECT_ID";

/// What a user may give, unchecked. Kept by a client so that a handle or a copy can be made of it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The API key; from the environment where `None`.
    pub api_key: Option<SecretString>,
    /// The customer's address; from the environment where `None`.
    pub base_url: Option<String>,
    /// The project where a call names none; from the environment where `None`.
    pub project_id: Option<String>,
    /// Seconds for one attempt; a write has twice that.
    pub timeout: f64,
    /// Seconds to resolve, connect and shake hands.
    pub connect_timeout: f64,
    /// Seconds for one call or one page, with every retry and every pause.
    pub deadline: f64,
    /// Retries after the first attempt.
    pub max_retries: u32,
    /// The longest `Retry-After`, in seconds, that is waited for.
    pub max_retry_after: f64,
    /// A proxy's URL; it may hold a user name and password.
    pub proxy: Option<SecretString>,
    /// Whether the environment's proxies count.
    pub trust_env: bool,
    /// A PEM file of certificates to trust besides the platform's.
    pub ca_bundle: Option<PathBuf>,
    /// Extra headers. Their values are secrets.
    pub headers: Vec<(String, SecretString)>,
    /// Whether plain http may leave the machine.
    pub allow_http: bool,
    /// The largest answer that is read, in bytes.
    pub max_response_bytes: u64,
    /// Where a job is read.
    pub job_path: String,
    /// Analytics requests an hour, over all who share the ledger; `None`: no budget is kept.
    pub requests_per_hour: Option<u64>,
    /// How many of them are left to others.
    pub reserve: u64,
    /// The file that remembers.
    pub store: Option<PathBuf>,
    /// How many days after its end a range is taken to change no more.
    pub settle_days: u32,
    /// The name under which the store keeps a budget that several keys share; the key stands for it where `None`.
    pub organization: Option<String>,
    /// The settings that the environment gave: errors name its variable.
    pub from_env: Vec<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api_key: None,
            base_url: None,
            project_id: None,
            timeout: 30.0,
            connect_timeout: 5.0,
            deadline: 90.0,
            max_retries: 2,
            max_retry_after: 60.0,
            proxy: None,
            trust_env: true,
            ca_bundle: None,
            headers: Vec::new(),
            allow_http: false,
            max_response_bytes: 32 * 1024 * 1024,
            job_path: "/v2/agent/{project_id}/job/{id}".to_owned(),
            requests_per_hour: None,
            reserve: 0,
            store: None,
            settle_days: 2,
            organization: None,
            from_env: Vec::new(),
        }
    }
}

impl Options {
    /// The same with the environment's values where nothing was given, so that a handle keeps what its client has.
    pub fn resolve(mut self, env: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let mut look = |setting, variable| {
            // An empty variable is as good as none.
            let Some(value) = env(variable).filter(|value| !value.is_empty()) else {
                return Ok(None);
            };
            self.from_env.push(setting);
            // Repaired, it would be another one.
            value.into_string().map(Some).map_err(|_| {
                Error::configuration(format!("{variable} holds bytes that are not valid UTF-8; set it again"))
            })
        };
        if self.api_key.is_none() {
            self.api_key = look("api_key", ENV_API_KEY)?.map(SecretString::from);
        }
        if self.base_url.is_none() {
            self.base_url = look("base_url", ENV_BASE_URL)?;
        }
        if self.project_id.is_none() {
            self.project_id = look("project_id", ENV_PROJECT_ID)?;
        }
        // Files stay the same ones when the working directory changes, and where a pickled client is read.
        for path in [&mut self.store, &mut self.ca_bundle].into_iter().flatten() {
            // An empty path has no whole form; whoever opens it says so.
            if let Ok(whole) = std::path::absolute(&*path) {
                *path = whole;
            }
        }
        Ok(self)
    }

    /// Where the value of `setting` came from, as errors name it: the argument, or the environment's variable.
    pub(crate) fn name_of<'a>(&self, setting: &'a str, variable: &'a str) -> &'a str {
        if self.from_env.contains(&setting) { variable } else { setting }
    }

    /// Checks everything; `env` looks an environment variable up.
    pub fn validate(&self, env: impl Fn(&str) -> Option<OsString>) -> Result<Settings> {
        self.clone().resolve(env)?.check()
    }

    fn check(&self) -> Result<Settings> {
        let api_key = self
            .api_key
            .as_ref()
            .ok_or_else(|| Error::configuration(format!("no API key: pass api_key= or set {ENV_API_KEY}")))?;
        let base_url = self.base_url.as_ref().ok_or_else(|| {
            Error::configuration(format!(
                "no base URL: pass base_url= or set {ENV_BASE_URL} to the address of your documentation platform"
            ))
        })?;
        let api_key = ApiKey::parse(self.name_of("api_key", ENV_API_KEY), api_key)?;
        let base_url = BaseUrl::parse(self.name_of("base_url", ENV_BASE_URL), base_url, self.allow_http)?;
        let project = |id: &String| {
            Segment::parse(self.name_of("project_id", ENV_PROJECT_ID), id)
                .map_err(|error| Error::configuration(error.message.clone()))
        };
        let project_id = self.project_id.as_ref().map(project).transpose()?;
        let max_response_bytes = usize::try_from(self.max_response_bytes)
            .ok()
            // The texts of a page are to fit into one Arrow array.
            .filter(|bytes| (1024..=1 << 29).contains(bytes))
            .ok_or_else(|| {
                Error::argument("max_response_bytes must be 1024 (1 KiB) to 536870912 (512 MiB)")
            })?;
        let job_path = Template::parse("job_path", &self.job_path)?;
        if !job_path.has_id() {
            return Err(Error::argument("job_path must contain {id}"));
        }
        let terms = match self.requests_per_hour {
            Some(per_hour) => Some(Terms::new(per_hour, self.reserve)?),
            None if self.reserve > 0 => {
                return Err(Error::argument("reserve is a part of requests_per_hour: give that, too"));
            }
            None => None,
        };
        let organization = match &self.organization {
            Some(name) => Organization::named(name)?,
            None => Organization::Key(api_key.clone()),
        };
        let owner = Owner { base_url: base_url.as_str().to_owned(), organization };
        Ok(Settings {
            api_key,
            api_key_from: self.name_of("api_key", ENV_API_KEY),
            base_url,
            project_id,
            timeout: seconds("timeout", self.timeout)?,
            deadline: seconds("deadline", self.deadline)?,
            max_retries: self.max_retries,
            max_retry_after: seconds_or_zero("max_retry_after", self.max_retry_after)?,
            headers: headers(&self.headers)?,
            max_response_bytes,
            job_path,
            wire: Wire {
                connect_timeout: seconds("connect_timeout", self.connect_timeout)?,
                proxy: self.proxy.clone(),
                trust_env: self.trust_env,
                ca_bundle: self.ca_bundle.clone(),
            },
            terms,
            settle_days: self.settle_days,
            memory: self.store.clone().map(|path| Memory { path, owner }),
        })
    }

    /// Why these options may not be written down (pickled), if so: they hold secrets besides the key.
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
        options.validate(|_| None).unwrap_err().message.clone()
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = message(&Options::default());
        assert!(error.contains(ENV_API_KEY), "{error}");
        let error = message(&Options { base_url: None, ..options() });
        assert!(error.contains(ENV_BASE_URL), "{error}");
    }

    #[test]
    fn the_environment_stands_in() {
        let env = |name: &str| match name {
            ENV_API_KEY => Some("dp_key".into()),
            ENV_BASE_URL => Some("https://env.example.com".into()),
            ENV_PROJECT_ID => Some("from-env".into()),
            _ => None,
        };
        let settings = Options::default().validate(env).unwrap();
        assert_eq!(settings.base_url.as_str(), "https://env.example.com");
        assert_eq!(settings.project_id.unwrap().as_str(), "from-env");
        let settings = Options { project_id: Some("given".to_owned()), ..options() }.validate(env).unwrap();
        assert_eq!(settings.project_id.unwrap().as_str(), "given");
        assert_eq!(settings.base_url.as_str(), "https://docs.example.com");
    }

    #[cfg(unix)]
    #[test]
    fn a_wrong_setting_is_named_as_it_was_given() {
        use std::os::unix::ffi::OsStringExt as _;
        let settings = [
            ("api_key", ENV_API_KEY, " dp_key", "has white space around it"),
            ("base_url", ENV_BASE_URL, "https://docs.example.com\n", "has white space around it"),
            ("project_id", ENV_PROJECT_ID, "demo ", "has white space around it"),
            ("project_id", ENV_PROJECT_ID, "de\u{fffd}mo", "holds U+FFFD"),
        ];
        for (setting, variable, bad, why) in settings {
            let mut given = options();
            match setting {
                "api_key" => given.api_key = Some(bad.into()),
                "base_url" => given.base_url = Some(bad.to_owned()),
                _ => given.project_id = Some(bad.to_owned()),
            }
            let error = message(&given);
            assert!(error.starts_with(&format!("{setting} {why}")), "{error}");

            let unset = Options { api_key: None, base_url: None, ..Options::default() };
            let env = |bad: OsString| {
                move |name: &str| match name {
                    _ if name == variable => Some(bad.clone()),
                    ENV_API_KEY => Some("dp_key".into()),
                    ENV_BASE_URL => Some("https://docs.example.com".into()),
                    _ => None,
                }
            };
            let error = unset.validate(env(bad.into())).unwrap_err();
            assert!(error.message.starts_with(&format!("{variable} {why}")), "{error}");
            let error = unset.validate(env(OsString::from_vec(b"pr\xffd".to_vec()))).unwrap_err();
            assert!(error.message.starts_with(&format!("{variable} holds bytes that are not")), "{error}");
        }
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
            let error = message(&Options { api_key: Some(bad.into()), ..options() });
            assert!(!error.contains("secret") && !error.contains("sécret"), "{error}");
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
        assert!(!shown.contains("0123456789") && !shown.contains("hush"), "{shown}");
        assert_eq!(settings.api_key.hint(), Some("ghij"));
    }

    #[test]
    fn reserved_and_broken_headers_are_refused() {
        for (name, value) in [
            ("Authorization", "x"),
            ("HOST", "x"),
            ("a b", "x"),
            ("x-a", "a\r\nb"),
            ("accept-encoding", "gzip"),
        ] {
            let given = vec![(name.to_owned(), SecretString::from(value))];
            assert!(Options { headers: given, ..options() }.validate(|_| None).is_err(), "{name}");
        }
    }
}
