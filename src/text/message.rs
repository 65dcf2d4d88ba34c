//! A message as a list of parts: each face renders the settings and the advice in its own words.

use std::borrow::Cow;
use std::fmt;

/// A text for people. [`fmt::Display`] shows what happened, without advice: log lines and core tests need no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words of ours and facts, also foreign ones. Every face shows them as they are.
    Text(Cow<'static, str>),
    Setting(Setting, Mention),
    /// Advice at the end of a sentence.
    Advice(Advice),
}

/// How a sentence mentions a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mention {
    Name,
    /// As something to give.
    Argument,
    /// As something to give, with this text.
    Word(String),
    Number(u64),
    Flag(bool),
}

macro_rules! settings {
    ($($setting:ident $name:literal)*) => {
        /// The settings that messages name: arguments of Python, options of the command line.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Setting { $($setting),* }

        impl Setting {
            pub const ALL: &[Self] = &[$(Self::$setting),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$setting => $name),* }
            }
        }
    };
}

settings! {
    ApiKey "api_key"
    BaseUrl "base_url"
    Before "before"
    ByPath "by_path"
    CaBundle "ca_bundle"
    ConnectTimeout "connect_timeout"
    DateFrom "date_from"
    DateTo "date_to"
    Deadline "deadline"
    Every "every"
    JobPath "job_path"
    JobsPerHour "jobs_per_hour"
    Listing "listing"
    MaxPollInterval "max_poll_interval"
    MaxResponseBytes "max_response_bytes"
    MaxRetryAfter "max_retry_after"
    MaxRows "max_rows"
    N "n"
    OnBudget "on_budget"
    OnRunning "on_running"
    Once "once"
    Organization "organization"
    PageSize "page_size"
    Period "period"
    PollInterval "poll_interval"
    ProjectId "project_id"
    Projects "projects"
    Proxy "proxy"
    Refresh "refresh"
    RequestsPerHour "requests_per_hour"
    Reserve "reserve"
    Settle "settle"
    SettleDays "settle_days"
    Source "source"
    Status "status"
    Store "store"
    ThreadId "thread_id"
    Timeout "timeout"
    Whole "whole"
}

impl Setting {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// The setting as something to give.
    pub fn argument(self) -> Part {
        Part::Setting(self, Mention::Argument)
    }

    /// The setting with a value to copy.
    pub fn to(self, value: impl Into<Mention>) -> Part {
        Part::Setting(self, value.into())
    }
}

/// A fact of an advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    None,
    Flag(bool),
    Text(String),
}

/// A type of facts, with an example for tests of the faces.
trait OfFact: Clone + Into<Fact> {
    fn example(name: &str) -> Self;
}

macro_rules! advice {
    ($($(#[$doc:meta])* $advice:ident { $($fact:ident: $type:ty),* })*) => {
        /// What to do next, with its facts.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Advice { $($(#[$doc])* $advice { $($fact: $type),* }),* }

        impl Advice {
            /// One of each, for tests of the faces: a fact's text is its name.
            pub fn examples() -> Vec<Self> {
                vec![$(Self::$advice { $($fact: OfFact::example(stringify!($fact))),* }),*]
            }

            pub fn name(&self) -> &'static str {
                match self { $(Self::$advice { .. } => stringify!($advice)),* }
            }

            pub fn facts(&self) -> Vec<(&'static str, Fact)> {
                match self {
                    $(Self::$advice { $($fact),* } => vec![$((stringify!($fact), $fact.clone().into())),*]),*
                }
            }
        }
    };
}

advice! {
    /// An answer came out of a cache on the way.
    AvoidCache {}
    CallAfter { seconds: Option<String> }
    CallLater {}
    /// A redirect is not followed.
    ChangeAddress { location: String }
    ChangeRequest { has_text: bool }
    CheckIds {}
    /// `variable` is `None` if the key was an argument.
    CheckKey { variable: Option<String> }
    CheckKeyRights { write: bool }
    CheckNetwork {}
    CheckProxy {}
    /// A web page came instead of JSON.
    CheckPage {}
    FewerCalls {}
    /// A store has nothing yet.
    FillStore {}
    /// A store lacks a range; `every` is `None` for the range as a whole.
    FetchRange {
        listing: String,
        project: String,
        date_from: String,
        date_to: String,
        every: Option<String>,
        by_path: bool
    }
    /// A store has only slices of another length.
    FetchSlices { every: String }
    LookAtJob {}
    LookBeforeRepeat {}
    ProxyLogin {}
    ReadFromBeginning {}
    /// A job that the store could not record under its name.
    RecordJob { name: String, job: String }
    /// An unfinished creation; its job, where that is known.
    ResolveName { name: String, job: Option<String> }
    SmallerAnswers {}
    SupportedProxy {}
    /// A store has to be a file.
    TemporaryStore {}
    UseHttps {}
    WaitForBudget {}
    WaitForJob { job: String }
}

impl From<bool> for Fact {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<String>> for Fact {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::None, Self::Text)
    }
}

impl OfFact for bool {
    fn example(_: &str) -> Self {
        true
    }
}

impl OfFact for String {
    fn example(name: &str) -> Self {
        name.to_owned()
    }
}

impl OfFact for Option<String> {
    fn example(name: &str) -> Self {
        Some(name.to_owned())
    }
}

impl From<&str> for Mention {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for Mention {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl From<usize> for Mention {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<bool> for Mention {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
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

    /// Whether it says what to do next.
    pub fn advises(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Advice(_)))
    }

    /// The same about another setting.
    #[must_use]
    pub fn about(mut self, was: Setting, is: Setting) -> Self {
        for part in &mut self.0 {
            if let Part::Setting(setting, _) = part
                && *setting == was
            {
                *setting = is;
            }
        }
        self
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
        for part in &self.0 {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::Setting(setting, mention) => {
                    f.write_str(setting.name())?;
                    match mention {
                        Mention::Name | Mention::Argument => {}
                        Mention::Word(word) => write!(f, " {word}")?,
                        Mention::Number(number) => write!(f, " {number}")?,
                        Mention::Flag(flag) => write!(f, " {flag}")?,
                    }
                }
                Part::Advice(_) => {}
            }
        }
        Ok(())
    }
}

impl From<Part> for Message {
    fn from(part: Part) -> Self {
        Self(vec![part])
    }
}

impl From<Setting> for Message {
    fn from(setting: Setting) -> Self {
        Part::Setting(setting, Mention::Name).into()
    }
}

impl From<Advice> for Message {
    fn from(advice: Advice) -> Self {
        Part::Advice(advice).into()
    }
}

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Part::Text(text.into()).into()
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Part::Text(text.into()).into()
    }
}
