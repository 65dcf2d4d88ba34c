//! The numbers of accounts in the store.

use rusqlite::Transaction;

use super::fault::Fault;
use crate::config::account::Owner;
use crate::store::pages::first;

/// The number of `owner`, if the store knows it.
pub(crate) fn find(transaction: &Transaction<'_>, owner: &Owner) -> Result<Option<i64>, Fault> {
    let label = owner.organization.label(&salt(transaction)?);
    let sql = "SELECT id FROM account WHERE base_url = ?1 AND organization = ?2";
    let owner = (&owner.base_url, label);
    first(transaction, sql, owner, |row| Ok(row.get(0)?))
}

/// The number of `owner`, which is added if the store does not know it yet.
pub(crate) fn number(transaction: &Transaction<'_>, owner: &Owner) -> Result<i64, Fault> {
    if let Some(known) = find(transaction, owner)? {
        return Ok(known);
    }
    let label = owner.organization.label(&salt(transaction)?);
    transaction.execute(
        "INSERT INTO account (base_url, organization) VALUES (?1, ?2)",
        (&owner.base_url, label),
    )?;
    Ok(transaction.last_insert_rowid())
}

pub(super) fn salt(transaction: &Transaction<'_>) -> Result<Vec<u8>, Fault> {
    Ok(
        transaction.query_row("SELECT value FROM meta WHERE name = 'salt'", [], |row| {
            row.get(0)
        })?,
    )
}
