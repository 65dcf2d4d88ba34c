//! How many rows the ranges around another one had: what an estimate of it rests on.

use rusqlite::Transaction;

use crate::store::fault::Fault;
use crate::store::pages::whole;

/// A finished range, as it went on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The first day.
    pub date_from: String,
    /// The day after the last.
    pub date_to: String,
    /// How many rows it had when it was fetched last.
    pub rows: u64,
}

/// Every range of one project and listing that was fetched by path.
pub(super) fn find(
    transaction: &Transaction<'_>,
    account: i64,
    project_id: Option<&str>,
    path: &str,
) -> Result<Vec<Neighbour>, Fault> {
    // What stands beside a maximum is of the row that has it.
    let mut found = transaction.prepare(
        "SELECT date_from, date_to, rows, max(begun) FROM export
         WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND kind = 'pages' AND finished IS NOT NULL
             AND date_from IS NOT NULL AND date_to IS NOT NULL
         GROUP BY date_from, date_to",
    )?;
    let rows = found.query_map((account, project_id, path), |row| {
        Ok(Neighbour { date_from: row.get(0)?, date_to: row.get(1)?, rows: whole(row.get(2)?) })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
