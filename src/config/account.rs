//! The owner of budgets and exports, and the number of requests an hour that is allowed.

use crate::clock::Millis;
use crate::config::ApiKey;
use crate::config::url::Segment;
use crate::error::{Result, refuse};
use crate::text::message::{Message, message};

/// The longest name that a user gives, in bytes.
const MAX_NAME: usize = 200;

/// Checks a name that a user gives; `what` names its source in the error.
pub(crate) fn check_name(what: impl Into<Message>, name: &str) -> Result<()> {
    let fault = if name.trim().is_empty()
        || name.len() > MAX_NAME
        || name.contains(char::is_control)
    {
        format!(
            " must be a name of at most {MAX_NAME} bytes, not blank and without control characters"
        )
    } else if name.trim() != name {
        format!(" has white space around it, as in {name:?}: remove it")
    } else {
        return Ok(());
    };
    refuse(message![what, fault])
}

/// The users who share a budget and its exports.
#[derive(Debug, Clone, PartialEq)]
pub enum Organization {
    /// The holder of this key. The store knows it by a keyed hash.
    Key(ApiKey),
    /// Everyone who gives this name: the holders of several keys of one organization.
    Name(String),
    /// Everyone of an organization who creates jobs in this project.
    Jobs(Segment, Box<Self>),
}

impl Organization {
    /// Checks a name; `what` names its source in the error.
    pub fn named(what: impl Into<Message>, name: &str) -> Result<Self> {
        check_name(what, name)?;
        Ok(Self::Name(name.to_owned()))
    }

    /// The label under which the store keeps it.
    pub(crate) fn label(&self, salt: &[u8]) -> String {
        match self {
            Self::Key(key) => format!("key:{}", key.fingerprint(salt)),
            Self::Name(name) => format!("name:{name}"),
            // A project's id cannot contain a slash.
            Self::Jobs(project, of) => format!("jobs:{}/{}", project.as_str(), of.label(salt)),
        }
    }
}

/// An organization at an address.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    pub base_url: String,
    pub organization: Organization,
}

impl Owner {
    /// The owner of the limit of new jobs in a project.
    pub(crate) fn jobs_of(&self, project: &Segment) -> Self {
        let organization = Organization::Jobs(project.clone(), Box::new(self.organization.clone()));
        Self {
            base_url: self.base_url.clone(),
            organization,
        }
    }
}

/// The limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Requests in an hour, over all who share the ledger.
    pub per_hour: u64,
    /// Requests of that hour that are left to others.
    pub reserve: u64,
    /// The longest time from a request's entry to its answer: the request may wait for other calls
    /// before it is sent.
    pub patience: Millis,
}

impl Terms {
    /// `per_hour` requests an hour, less the `reserve` for others. `None` if that leaves no
    /// request.
    pub fn new(per_hour: u64, reserve: u64) -> Option<Self> {
        (reserve < per_hour).then_some(Self {
            per_hour,
            reserve,
            patience: 0,
        })
    }
}
