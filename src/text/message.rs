//! A message as a list of parts: each face renders the settings and the advice in its own words.

use std::borrow::Cow;
use std::{fmt, mem};

use serde::Serialize;
use serde_json::Value;

use crate::text::named_enum;

/// A text for people. [`fmt::Display`] shows the facts without the advice, as a log does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Plain words and facts. Every face shows them as they are.
    Text(Cow<'static, str>),
    /// A setting by its name.
    Setting(Setting),
    /// A setting as something to give: with this value, or with `null` for any.
    Argument(Setting, Value),
    /// Advice at the end of a sentence.
    Advice(Advice),
}

named_enum! {
    /// The settings that messages name: arguments of Python, options of the command line.
    Setting {
        ApiKey = "api_key",
        BaseUrl = "base_url",
        Before = "before",
        ByPath = "by_path",
        CaBundle = "ca_bundle",
        ConnectTimeout = "connect_timeout",
        DateFrom = "date_from",
        DateTo = "date_to",
        Deadline = "deadline",
        Every = "every",
        Final = "final",
        JobPath = "job_path",
        JobsPerHour = "jobs_per_hour",
        Listing = "listing",
        MaxPollInterval = "max_poll_interval",
        MaxResponseBytes = "max_response_bytes",
        MaxRetryAfter = "max_retry_after",
        MaxRows = "max_rows",
        N = "n",
        Of = "of",
        OnBudget = "on_budget",
        OnRunning = "on_running",
        Once = "once",
        Organization = "organization",
        PageSize = "page_size",
        Period = "period",
        PollInterval = "poll_interval",
        ProjectId = "project_id",
        Projects = "projects",
        Proxy = "proxy",
        Refresh = "refresh",
        RequestsPerHour = "requests_per_hour",
        Reserve = "reserve",
        Resume = "resume",
        Settle = "settle",
        SettleDays = "settle_days",
        Source = "source",
        Status = "status",
        Store = "store",
        ThreadId = "thread_id",
        Timeout = "timeout",
        Until = "until",
        Whole = "whole",
    }
}

impl Setting {
    /// The setting as something to give.
    pub fn argument(self) -> Part {
        self.to(Value::Null)
    }

    /// The setting with a value to copy.
    pub fn to(self, value: impl Into<Value>) -> Part {
        Part::Argument(self, value.into())
    }
}

macro_rules! advice {
    ($($(#[$doc:meta])* $advice:ident { $($fact:ident: $type:ty),* })*) => {
        /// The next step, with its facts.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        pub enum Advice { $($(#[$doc])* $advice { $($fact: $type),* }),* }

        impl Advice {
            /// One of each, without facts: for tests of the faces.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$advice { $($fact: Default::default()),* }),*]
            }
        }
    };
}

advice! {
    /// An answer came out of a cache on the way.
    AvoidCache {}
    CallAfter { seconds: Option<u64> }
    CallLater {}
    /// A redirect is not followed.
    ChangeAddress { location: String }
    ChangeRequest { has_text: bool }
    /// `job_path`: a job was read at a path that a setting may change.
    CheckIds { job_path: bool }
    /// `variable` is `None` if the key was an argument.
    CheckKey { variable: Option<String> }
    CheckKeyRights { write: bool }
    CheckNetwork {}
    /// `from`: the argument or the variable that names the proxy, where that is known.
    CheckProxy { from: Option<String> }
    /// Something else than the service answered: HTML or XML came instead of JSON, or a status 511.
    CheckPage {}
    /// A path that the user gave.
    CheckPath {}
    /// A write has happened.
    DoNotRepeat {}
    /// A status that the client does not know.
    EndAtStatus { status: String, job: String }
    FewerCalls {}
    /// A store has nothing yet, or nothing of a listing; without `by_path`, none of its totals.
    FillStore { listing: Option<String>, every: Option<String>, by_path: bool }
    /// A store lacks a range; `every` is `None` for the range as a whole.
    FetchRange {
        listing: String,
        project: String,
        date_from: String,
        date_to: String,
        every: Option<String>,
        by_path: bool
    }
    /// A store has only other slices.
    /// `stored`: the length of slices that the store has, if it is a usual one.
    FetchSlices { listing: String, every: String, stored: Option<String> }
    /// A job that failed; `named`: it keeps its name of `once`.
    LookAtJob { named: bool }
    LookBeforeRepeat {}
    /// Findings are errors.
    NotStrict {}
    ProxyLogin { from: Option<String> }
    ReadFromBeginning {}
    /// A job that the store could not record under its name.
    RecordJob { name: String, job: String }
    /// A name whose outcome is not recorded; its job, where that is known. `exists`: the request
    /// was certainly carried out.
    ResolveName { name: String, job: Option<String>, exists: bool }
    SmallerAnswers {}
    SupportedProxy {}
    /// A store has to be a file.
    TemporaryStore {}
    UseHttps {}
    WaitForBudget {}
    WaitForJob { job: String, runs: bool }
    /// A 429 without `Retry-After`, which the budget takes for a spent one.
    WaitForReset {}
}

/// A message of several parts.
macro_rules! message {
    ($($part:expr),* $(,)?) => {{
        let mut message = $crate::text::message::Message::default();
        $(message.push($part);)*
        message
    }};
}
pub(crate) use message;

impl Message {
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    pub fn push(&mut self, more: impl Into<Self>) {
        self.0.append(&mut more.into().0);
    }

    /// The first advice.
    pub fn advice(&self) -> Option<&Advice> {
        self.0.iter().find_map(|part| match part {
            Part::Advice(advice) => Some(advice),
            _ => None,
        })
    }

    /// Takes out the advice of a failed read to make the call again.
    pub fn without_repeat(&mut self) {
        self.0.retain(|part| {
            !matches!(
                part,
                Part::Advice(
                    Advice::CallAfter { .. } | Advice::CallLater {} | Advice::FewerCalls {}
                )
            )
        });
    }

    /// Puts `beginning` before it.
    pub fn prepend(&mut self, beginning: impl Into<Self>) {
        self.0.splice(..0, beginning.into().0);
    }

    /// Names another setting in place of `was`.
    pub fn rename(&mut self, was: Setting, is: Setting) {
        for part in &mut self.0 {
            if *part == Part::Setting(was) {
                *part = is.into();
            }
        }
    }

    /// Gives an advice of this kind these facts.
    pub fn complete(&mut self, advice: &Advice) {
        for part in &mut self.0 {
            if let Part::Advice(known) = part
                && mem::discriminant(known) == mem::discriminant(advice)
            {
                *known = advice.clone();
            }
        }
    }

    /// The same with other texts.
    #[must_use]
    pub fn map(mut self, change: impl Fn(&str) -> String) -> Self {
        for part in &mut self.0 {
            if let Part::Text(text) = part {
                *text = change(text).into();
            }
        }
        self
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Setting(setting) | Part::Argument(setting, Value::Null) => {
                f.write_str(setting.as_str())
            }
            Part::Argument(setting, value) => write!(f, "{} {value}", setting.as_str()),
            Part::Advice(_) => Ok(()),
        })
    }
}

impl<T: Into<Part>> From<T> for Message {
    fn from(part: T) -> Self {
        Self(vec![part.into()])
    }
}

impl From<Setting> for Part {
    fn from(setting: Setting) -> Self {
        Self::Setting(setting)
    }
}

impl From<Advice> for Part {
    fn from(advice: Advice) -> Self {
        Self::Advice(advice)
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Part {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}
