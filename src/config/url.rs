//! The URL of a request: the base URL, path templates, and the ids that are put into them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Host, Url};

use crate::error::{Error, Result, refuse};
use crate::text::message::{Advice, Message, Setting, message};
use crate::text::safe;

/// Characters that RFC 3986 calls unreserved stay as they are; all others in a segment are
/// percent-encoded.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The longest id that is put into a path, in bytes.
pub(crate) const MAX_SEGMENT: usize = 256;

/// The longest template, in bytes. A URL of 64 KiB has room for it and the longest query, if its
/// letters are ASCII and the ids in it are short.
const MAX_TEMPLATE: usize = 5_000;

/// The most of a template that logs and errors show, in characters.
const MAX_SHOWN_TEMPLATE: usize = 200;

/// A checked id, the only thing that is ever put into a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment(String);

impl Segment {
    /// Checks the id of an answer; the error says what is wrong with it.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        Err(if text.is_empty() {
            "is empty".to_owned()
        } else if text.len() > MAX_SEGMENT {
            format!("is longer than {MAX_SEGMENT} bytes")
        } else if text == "." || text == ".." {
            "is a path step, not an id".to_owned()
        } else if text.trim() != text {
            "has white space around it".to_owned()
        } else if text.starts_with(['"', '\'']) || text.ends_with('"') {
            // Command Prompt keeps the quotes of `set NAME="value"`.
            "has quotes around it".to_owned()
        } else if text.contains(char::REPLACEMENT_CHARACTER) {
            // A repaired id would be a different id.
            "contains U+FFFD, which replaces invalid characters".to_owned()
        } else if let Some(bad) = text.chars().find(|&c| forbidden(c)) {
            format!("contains {bad:?}, which cannot be part of an id")
        } else {
            return Ok(Self(text.to_owned()));
        })
    }

    /// Checks `text` that a user gave; `what` names it in the error.
    pub fn parse(what: impl Into<Message>, text: &str) -> Result<Self> {
        Self::of(text).or_else(|fault| {
            refuse(message![
                what,
                format!(" {fault}; copy it as the dashboard or the service shows it"),
            ])
        })
    }

    /// An id that is only used in a store, and never sent.
    pub(crate) fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The id, safe to show.
    pub(crate) fn shown(&self) -> String {
        safe(&self.0, MAX_SEGMENT)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn forbidden(c: char) -> bool {
    c.is_control() || c.is_whitespace() || matches!(c, '/' | '\\' | '?' | '#' | '%')
}

/// A path with `{project_id}` and `{id}` still in it. Logs and errors show this, not the filled-in
/// path.
#[derive(Debug, Clone)]
pub struct Template(String);

impl Template {
    /// Checks a path template that a user gave.
    pub fn parse(what: impl Into<Message>, text: &str) -> Result<Self> {
        let what = what.into();
        let example = match what == Setting::JobPath.into() {
            false => "/v1/analytics/{project_id}/visitors",
            true => "/v2/agent/{project_id}/job/{id}",
        };
        let fail = |why: &str| {
            let why = format!(" {why}; it looks like \"{example}\"");
            refuse(message![what.clone(), why])
        };
        if !text.starts_with('/') {
            return fail("must start with \"/\"");
        }
        if text.len() > MAX_TEMPLATE {
            return fail(&format!("is longer than {MAX_TEMPLATE} bytes"));
        }
        if text.contains(|c| c != '/' && forbidden(c)) {
            return fail(
                "must not contain a query, a fragment, white space, a control character, a backslash or a percent sign",
            );
        }
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return fail("contains U+FFFD, which replaces invalid characters");
        }
        for step in text.split('/').skip(1) {
            if matches!(step, "" | "." | "..") {
                return fail("must not contain empty, \".\" or \"..\" parts");
            }
            let bare = step.replace("{project_id}", "").replace("{id}", "");
            if bare.contains(['{', '}']) {
                return fail("may contain the placeholders {project_id} and {id} only");
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// A template of this crate's own.
    pub const fn own(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The template for logs and errors, shortened.
    pub(crate) fn shown(&self) -> String {
        safe(&self.0, MAX_SHOWN_TEMPLATE)
    }

    pub fn has_id(&self) -> bool {
        self.0.contains("{id}")
    }

    /// The path with its placeholders filled in, percent-encoded.
    fn fill(&self, project: Option<&Segment>, id: Option<&Segment>) -> Result<String> {
        let mut path = self.0.clone();
        for (mark, value) in [("{project_id}", project), ("{id}", id)] {
            if !path.contains(mark) {
                continue;
            }
            let segment = value.ok_or_else(|| {
                let path = self.shown();
                Error::argument(format!("the path {path} has no value for {mark}"))
            })?;
            let encoded = utf8_percent_encode(segment.as_str(), SEGMENT).to_string();
            path = path.replace(mark, &encoded);
        }
        Ok(path)
    }
}

/// The base URL of the platform's API: https, or http if it is a loopback literal or `allow_http`
/// is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    url: Url,
    loopback: bool,
}

impl BaseUrl {
    /// Checks `text`; `what` names it in the error.
    pub fn parse(what: impl Into<Message>, text: &str, allow_http: bool) -> Result<Self> {
        let what = what.into();
        let fail = |why: &str| {
            let why = format!(" {why}");
            Err(Error::configuration(message![what.clone(), why]))
        };
        if text.is_empty() {
            return fail("is empty; set it to the address of your documentation platform");
        }
        if text.trim() != text {
            return fail("has white space around it: remove it");
        }
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return fail("contains white space, a control character or a backslash");
        }
        if text.contains('"') || text.starts_with('\'') {
            return fail("contains quotes: remove them");
        }
        let Ok(url) = Url::parse(text) else {
            return fail("is not a URL; it looks like \"https://docs-api.example.com\"");
        };
        let scheme = url.scheme();
        let Some(host) = url.host().filter(|_| matches!(scheme, "https" | "http")) else {
            return fail("must start with https:// (or http:// for loopback)");
        };
        if !text.is_ascii() {
            if authority(text).is_ascii() {
                return fail("has letters outside ASCII in its path, which is not supported");
            }
            let shown = host.to_string();
            return fail(&format!(
                "has letters outside ASCII; if you trust this host, write it as {shown:?}"
            ));
        }
        if !url.username().is_empty() || url.password().is_some() || authority(text).contains('@') {
            return fail(
                "contains a user name or password: remove them, because the API key is the only \
             credential",
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return fail("contains a query or a fragment: give the address up to the path");
        }
        if text.contains('%') || url.path().contains("//") {
            return fail("has a percent sign, or an empty step in its path");
        }
        let loopback = is_loopback_literal(authority(text), &host);
        if scheme == "http" && !loopback && !allow_http {
            let why = format!(" {host} is plain http, which would show the API key to the network");
            let advice = Advice::UseHttps {};
            return Err(Error::configuration(message![what, why, advice]));
        }
        Ok(Self { url, loopback })
    }

    /// The URL, without a trailing slash.
    pub fn as_str(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Host and port, for errors.
    pub fn host_and_port(&self) -> String {
        let port = self.url.port_or_known_default();
        format!("{}:{}", self.host(), port.unwrap_or_default())
    }

    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether its host is a loopback literal.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    pub fn join(
        &self,
        template: &Template,
        project: Option<&Segment>,
        id: Option<&Segment>,
        query: &[(String, String)],
    ) -> Result<Url> {
        let mut text = self.as_str().to_owned() + &template.fill(project, id)?;
        if !query.is_empty() {
            text = text + "?" + &encoded(query);
        }
        let url = Url::parse(&text)
            .map_err(|error| Error::argument(format!("no URL can be made of it: {error}")))?;
        if url.origin() != self.url.origin() {
            return refuse("the path leads to another host: give a path of the service");
        }
        Ok(url)
    }
}

/// Query parameters as they stand in a URL.
pub(crate) fn encoded<'a>(query: impl IntoIterator<Item = &'a (String, String)>) -> String {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    text.extend_pairs(query).finish()
}

/// The authority as it was typed: the `url` crate turns `2130706433` into `127.0.0.1`.
fn authority(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// Whether a host is `localhost`, `127.x.y.z` or `[::1]`, not merely a name that resolves to one.
fn is_loopback_literal(authority: &str, host: &Host<&str>) -> bool {
    let typed = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => authority,
    };
    match host {
        Host::Domain(_) => typed.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => address.is_loopback() && typed == address.to_string(),
        Host::Ipv6(address) => address.is_loopback() && typed == "[::1]",
    }
}
