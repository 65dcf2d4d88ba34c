//! The ledger in the store: an [`Account`] is read, changed by the policy and written back in one
//! transaction.

use rusqlite::{Connection, Transaction};

use crate::budget::policy::{Account, Announced, Entry, HOUR};
use crate::clock::{Clock, Millis};
use crate::config::account::Owner;
use crate::store::{Fault, account, whole, wire, write};

/// The greatest difference between two clocks that the ledger allows for. A request is kept for this
/// time after it stops counting. A request whose time is further in the future does not count.
const MAX_CLOCK_ERROR: Millis = 24 * 3_600_000;
/// The latest time in a store, so that sums cannot overflow.
const MAX_MILLIS: Millis = 1 << 52;

/// Changes the account of `owner`. No other process changes it meanwhile. The clock is read after
/// the wait for the lock.
pub(crate) fn change<T>(
    connection: &mut Connection,
    owner: &Owner,
    clock: &Clock,
    work: impl FnOnce(&mut Account, Millis) -> T,
) -> Result<T, Fault> {
    write(connection, |transaction| {
        let now = clock.now();
        let number = account::number(transaction, owner)?;
        let before = load(transaction, number, now)?;
        let mut after = before.clone();
        let result = work(&mut after, now);
        // A process that waits for the budget reads often, and changes nothing.
        if before != after {
            save(transaction, number, &before, &after)?;
            let expired = "DELETE FROM request WHERE account = ?1 AND until < ?2";
            transaction.execute(expired, (number, now - MAX_CLOCK_ERROR))?;
        }
        Ok(result)
    })
}

/// The account of `owner`. Reading it holds up no other process.
pub(crate) fn look(
    connection: &mut Connection,
    owner: &Owner,
    clock: &Clock,
) -> Result<Account, Fault> {
    let transaction = connection.transaction()?;
    match account::find(&transaction, owner)? {
        Some(number) => load(&transaction, number, clock.now()),
        None => Ok(Account::default()),
    }
}

fn load(transaction: &Transaction<'_>, number: i64, now: Millis) -> Result<Account, Fault> {
    let mut account = Account::default();
    let ahead = now + MAX_CLOCK_ERROR;
    let mut entries = transaction.prepare(
        "SELECT id, at, answered, until FROM request WHERE account = ?1 AND until > ?2 AND at <= ?3",
    )?;
    let mut rows = entries.query((number, now, ahead))?;
    while let Some(row) = rows.next()? {
        let (at, answered) = (time(row.get(1)?), row.get::<_, Option<i64>>(2)?.map(time));
        let entry = Entry::new(at, answered, time(row.get(3)?) - at - HOUR);
        account.entries.insert(row.get(0)?, entry);
    }
    let mut announced = transaction.prepare(
        "SELECT name, at, until, remaining FROM told WHERE account = ?1 AND until > ?2 AND at <= ?3",
    )?;
    let mut rows = announced.query((number, now, ahead))?;
    while let Some(row) = rows.next()? {
        let announced = Announced {
            at: time(row.get(1)?),
            until: time(row.get(2)?),
            remaining: whole(row.get(3)?),
        };
        account.announced.insert(row.get(0)?, announced);
    }
    // Numbers are rows, so they count over all accounts. The first one is random: a process whose
    // file was deleted must not settle a request of the next file.
    let last = "SELECT coalesce(max(id), abs(random() % 2147483648)) FROM request";
    let last: i64 = transaction.query_row(last, [], |row| row.get(0))?;
    account.next = last.saturating_add(1);
    Ok(account)
}

fn time(millis: i64) -> Millis {
    millis.clamp(0, MAX_MILLIS)
}

fn save(
    transaction: &Transaction<'_>,
    number: i64,
    before: &Account,
    after: &Account,
) -> Result<(), Fault> {
    let mut put = transaction.prepare(
        "INSERT OR REPLACE INTO request (id, account, at, answered, until) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (id, entry) in &after.entries {
        if before.entries.get(id) != Some(entry) {
            put.execute((id, number, entry.at, entry.answered, entry.until()))?;
        }
    }
    let mut delete = transaction.prepare("DELETE FROM request WHERE id = ?1")?;
    for id in before.entries.keys() {
        if !after.entries.contains_key(id) {
            delete.execute([id])?;
        }
    }
    let mut put = transaction.prepare(
        "INSERT OR REPLACE INTO told (account, name, at, until, remaining) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (name, announced) in &after.announced {
        let remaining = wire(announced.remaining);
        if before.announced.get(name) != Some(announced) {
            put.execute((number, name, announced.at, announced.until, remaining))?;
        }
    }
    Ok(())
}
