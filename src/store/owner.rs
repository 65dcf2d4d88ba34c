//! Whose requests and exports they are.

use rusqlite::{OptionalExtension as _, Transaction};

use super::fault::Fault;
use crate::config::ApiKey;
use crate::error::{Error, Result};

/// The longest name of an organization, in bytes.
const LONGEST: usize = 200;

/// Who shares a budget, and what was bought with it.
#[derive(Debug, Clone, PartialEq)]
pub enum Organization {
    /// Whoever has this key. The store knows it by a keyed hash.
    Key(ApiKey),
    /// Whoever gives this name: the holders of several keys of one organization.
    Name(String),
}

impl Organization {
    /// Checks a name.
    pub fn named(name: &str) -> Result<Self> {
        if name.trim().is_empty() || name.len() > LONGEST || name.contains(char::is_control) {
            return Err(Error::argument(format!(
                "organization must be a name of 1 to {LONGEST} bytes without control characters"
            )));
        }
        Ok(Self::Name(name.to_owned()))
    }

    /// As the store writes it.
    fn label(&self, salt: &[u8]) -> String {
        match self {
            Self::Key(key) => format!("key:{}", key.fingerprint(salt)),
            Self::Name(name) => format!("name:{name}"),
        }
    }
}

/// An organization at an address.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// The service.
    pub base_url: String,
    /// The organization.
    pub organization: Organization,
}

impl Owner {
    /// Its number, where the store knows it.
    pub(super) fn find(&self, transaction: &Transaction<'_>) -> Result<Option<i64>, Fault> {
        let label = self.label(transaction)?;
        let known = transaction
            .prepare("SELECT id FROM account WHERE base_url = ?1 AND organization = ?2")?
            .query_row((&self.base_url, &label), |row| row.get(0))
            .optional()?;
        Ok(known)
    }

    /// Its number, after writing it down where the store does not know it yet.
    pub(super) fn number(&self, transaction: &Transaction<'_>) -> Result<i64, Fault> {
        if let Some(known) = self.find(transaction)? {
            return Ok(known);
        }
        let label = self.label(transaction)?;
        transaction.execute(
            "INSERT INTO account (base_url, organization) VALUES (?1, ?2)",
            (&self.base_url, &label),
        )?;
        Ok(transaction.last_insert_rowid())
    }

    fn label(&self, transaction: &Transaction<'_>) -> Result<String, Fault> {
        let salt: Vec<u8> =
            transaction.query_row("SELECT value FROM meta WHERE name = 'salt'", [], |row| row.get(0))?;
        Ok(self.organization.label(&salt))
    }
}
