//! The tables behind [`crate::store::exports`].

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};

use crate::clock::{Clock, Millis};
use crate::dates::slices::Slice;
use crate::listing::rows::Totals;
use crate::store::exports::{Export, Range, Stock, What, is_final};
use crate::store::fault::Fault;
use crate::store::pages::{PageExtent, StoredPage, days, pack, page_size, totals, whole, wire};

/// How long after its last page an unfinished export is resumed whose range may still change.
const MAX_RESUME_AGE: Millis = 24 * 3_600_000;

/// The exports of one account.
pub(super) struct ExportTable<'a> {
    pub(super) account: i64,
    pub(super) transaction: &'a Transaction<'a>,
}

impl ExportTable<'_> {
    pub(super) fn insert(
        &self,
        range: &Range,
        what: What,
        page_size: u32,
        now: Millis,
    ) -> Result<Export, Fault> {
        let Range { project_id, path, date_from, date_to, settles: _ } = range;
        self.transaction.execute(
            "INSERT INTO export (account, project_id, path, date_from, date_to, kind, page_size, begun)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (self.account, project_id, path, date_from, date_to, what.as_str(), page_size, now),
        )?;
        Ok(Export {
            id: self.transaction.last_insert_rowid(),
            what,
            page_size,
            begun: now,
            finished: None,
            pages: 0,
            rows: 0,
            next: 0,
            totals: None,
        })
    }

    pub(super) fn stock(
        &self,
        range: &Range,
        what: What,
        page_size: u32,
        now: Millis,
    ) -> Result<Stock, Fault> {
        let (account, project, path, from, to, kind) = self.key(range, what);
        let read = |row: &Row<'_>| export(row, what);
        let finished = match range.settles {
            None => None,
            Some(settles) => self
                .transaction
                .prepare(&format!("{FINISHED} {STILL_FINAL} {LATEST_FIRST} LIMIT 1"))?
                .query_row((account, project, path, from, to, kind, settles, now), read)
                .optional()?,
        };
        let latest = self
            .transaction
            .prepare(&format!("{FINISHED} {LATEST_FIRST} LIMIT 1"))?
            .query_row((account, project, path, from, to, kind), read)
            .optional()?;
        let unfinished = self
            .transaction
            .prepare(UNFINISHED)?
            .query_row((account, project, path, from, to, kind, page_size), read)
            .optional()?;
        // One that a later, finished one has overtaken is not resumed.
        let unfinished =
            unfinished.filter(|export| latest.as_ref().is_none_or(|latest| latest.id < export.id));
        let mut stock = Stock { finished, unfinished, latest };
        if let Some(export) = &mut stock.unfinished {
            let walk = Walk::of(self.transaction, export.id)?;
            (export.pages, export.rows, export.next) = (walk.pages, walk.rows, walk.next);
            let last = "SELECT max(seen) FROM page WHERE export = ?1";
            let seen: Option<Millis> = self.transaction.query_row(last, [export.id], |row| row.get(0))?;
            // What lies in the future was written before the clock was set back.
            let age = now.saturating_sub(seen.unwrap_or(export.begun)).saturating_abs();
            if !is_final(export.begun, range.settles, now) && age > MAX_RESUME_AGE {
                stock.unfinished = None;
            }
        }
        Ok(stock)
    }

    /// The days of every range of one project and listing that was fetched by path, and how many rows each had when it was
    /// fetched last.
    pub(super) fn neighbours(&self, range: &Range) -> Result<Vec<(Slice, u64)>, Fault> {
        // What stands beside a maximum is of the row that has it.
        let mut found = self.transaction.prepare(
            "SELECT date_from, date_to, rows, max(begun) FROM export
             WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND kind = 'pages' AND finished IS NOT NULL
                 AND date_from IS NOT NULL AND date_to IS NOT NULL
             GROUP BY date_from, date_to",
        )?;
        let ranges = found.query_map((self.account, &range.project_id, &range.path), |row| {
            Ok(days(row, 0)?.zip(Some(whole(row.get(2)?))))
        })?;
        Ok(ranges.filter_map(rusqlite::Result::transpose).collect::<rusqlite::Result<_>>()?)
    }

    /// What the exports of a range have in common.
    fn key<'r>(&self, range: &'r Range, what: What) -> Key<'r> {
        let Range { project_id, path, date_from, date_to, settles: _ } = range;
        (self.account, project_id, path, date_from, date_to, what.as_str())
    }
}

type Key<'r> = (i64, &'r Option<String>, &'r str, &'r Option<String>, &'r Option<String>, &'static str);

// Each of these is answered by an index in a few steps, whatever there is of a range: a test looks at SQLite's plan.

const FINISHED: &str = "SELECT id, page_size, begun, finished, pages, rows, human, ai, total FROM export
    WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND date_from IS ?4 AND date_to IS ?5 AND kind = ?6
        AND finished IS NOT NULL";
/// [`crate::store::exports::is_final`].
const STILL_FINAL: &str = "AND begun >= ?7 AND begun <= ?8";
const LATEST_FIRST: &str = "ORDER BY begun DESC, id DESC";
const UNFINISHED: &str = "SELECT id, page_size, begun, finished, pages, rows, human, ai, total FROM export
    WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND date_from IS ?4 AND date_to IS ?5 AND kind = ?6
        AND page_size = ?7 AND finished IS NULL
    ORDER BY id DESC LIMIT 1";

/// When exports that seem to come from the future were begun is unknown: the clock was ahead, and
/// was set back. That is written down, for the time when they lie in the past again.
///
/// Numbers rise and, after this, so does time: the last export shows whether there are such.
pub(super) fn doubt(connection: &mut Connection, clock: &Clock) -> Result<(), Fault> {
    let last = "SELECT max(begun, ifnull(finished, begun)) FROM export ORDER BY id DESC LIMIT 1";
    let last: Option<Millis> = connection.query_row(last, [], |row| row.get(0)).optional()?;
    // Only after that look: another process may be faster.
    if last.is_none_or(|last| last <= clock.now()) {
        return Ok(());
    }
    let transaction = immediate(connection)?;
    transaction.execute(
        "UPDATE export SET begun = iif(begun > ?1, 0, begun), finished = min(finished, ?1)
         WHERE begun > ?1 OR finished > ?1",
        [clock.now()],
    )?;
    Ok(transaction.commit()?)
}

fn export(row: &Row<'_>, what: What) -> rusqlite::Result<Export> {
    let count = |column| row.get::<_, Option<i64>>(column).map(|number| whole(number.unwrap_or(0)));
    Ok(Export {
        id: row.get(0)?,
        what,
        page_size: page_size(row, 1)?,
        begun: row.get(2)?,
        finished: row.get(3)?,
        pages: count(4)?,
        rows: count(5)?,
        next: 0,
        totals: totals(row, 6)?,
    })
}

/// A transaction that nobody else can come between.
pub(super) fn immediate(connection: &mut Connection) -> Result<Transaction<'_>, Fault> {
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

pub(super) fn put(
    connection: &mut Connection,
    export: i64,
    page: &StoredPage,
    totals: Option<Totals>,
) -> Result<bool, Fault> {
    let body = pack(&page.body)?;
    let transaction = immediate(connection)?;
    // A longer answer takes the place of one that was cut short by the rows that were wanted.
    transaction.execute(
        r#"INSERT INTO page (export, "offset", asked, rows, has_more, seen, size, body)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
           ON CONFLICT DO UPDATE SET asked = excluded.asked, rows = excluded.rows, has_more = excluded.has_more,
               seen = excluded.seen, size = excluded.size, body = excluded.body
           WHERE excluded.asked > asked"#,
        (
            export,
            wire(page.offset),
            page.asked,
            wire(page.rows),
            page.has_more,
            page.seen,
            wire(page.body.len() as u64),
            body,
        ),
    )?;
    // By the service's clock it may have come before it was asked for: then this machine's is ahead.
    transaction.execute("UPDATE export SET begun = ?2 WHERE id = ?1 AND begun > ?2", (export, page.seen))?;
    if let Some(totals) = totals {
        transaction.execute(
            "UPDATE export SET human = ?2, ai = ?3, total = ?4 WHERE id = ?1 AND total IS NULL",
            (export, totals.human, totals.ai, totals.total),
        )?;
    }
    let whole = ended(&transaction, export)? && finish(&transaction, export, page.seen)?;
    transaction.commit()?;
    Ok(whole)
}

/// Whether it may be whole: it is of one page, or its last one is there.
fn ended(transaction: &Transaction<'_>, export: i64) -> Result<bool, Fault> {
    let ended = "SELECT kind = 'totals' OR EXISTS (SELECT 1 FROM page WHERE export = ?1 AND has_more = 0)
                 FROM export WHERE id = ?1";
    Ok(transaction.query_row(ended, [export], |row| row.get(0))?)
}

/// Closes it, if it is whole.
fn finish(transaction: &Transaction<'_>, export: i64, seen: Millis) -> Result<bool, Fault> {
    let walk = Walk::of(transaction, export)?;
    transaction.execute(
        "UPDATE export SET finished = ?2, pages = ?3, rows = ?4
         WHERE id = ?1 AND finished IS NULL AND (kind = 'totals' OR ?5)",
        (export, seen, wire(walk.pages), wire(walk.rows), walk.whole),
    )?;
    if walk.whole {
        // What lies beyond the end, or between the pages, was asked for on speculation.
        let mut stray = transaction.prepare(r#"DELETE FROM page WHERE export = ?1 AND "offset" = ?2"#)?;
        for offset in &walk.stray {
            stray.execute((export, wire(*offset)))?;
        }
    }
    let finished = "SELECT finished IS NOT NULL FROM export WHERE id = ?1";
    Ok(transaction.query_row(finished, [export], |row| row.get(0))?)
}

/// The way through an export's pages, from the first one on as a pager goes.
struct Walk {
    pages: u64,
    rows: u64,
    next: u64,
    whole: bool,
    /// The offsets of pages that are not on it.
    stray: Vec<u64>,
}

impl Walk {
    fn of(transaction: &Transaction<'_>, export: i64) -> Result<Self, Fault> {
        let columns = PageExtent::SQL_COLUMNS;
        let mut pages = transaction.prepare(&format!("SELECT {columns} FROM page WHERE export = ?1"))?;
        let mut places = BTreeMap::new();
        for place in pages.query_map([export], PageExtent::read)? {
            let place = place?;
            places.insert(place.offset, place);
        }
        let mut walk = Self { pages: 0, rows: 0, next: 0, whole: false, stray: Vec::new() };
        while !walk.whole
            && let Some(place) = places.remove(&walk.next)
        {
            walk.pages += 1;
            walk.rows = walk.rows.saturating_add(place.rows);
            walk.next = place.next();
            walk.whole = !place.has_more;
        }
        walk.stray = places.into_keys().collect();
        Ok(walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_costs_the_same_few_steps_however_often_it_was_fetched() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("schema.sql")).unwrap();
        let range = "account=? AND project_id=? AND path=? AND date_from=? AND date_to=? AND kind=?";
        for (query, parameters, plan) in [
            (
                format!("{FINISHED} {STILL_FINAL} {LATEST_FIRST} LIMIT 1"),
                8,
                format!("export_finished ({range} AND begun>? AND begun<?)"),
            ),
            (format!("{FINISHED} {LATEST_FIRST} LIMIT 1"), 6, format!("export_finished ({range})")),
            (UNFINISHED.to_owned(), 7, format!("export_unfinished ({range} AND page_size=?)")),
        ] {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let nothing = rusqlite::params_from_iter(vec![rusqlite::types::Null; parameters]);
            let steps = explain.query_map(nothing, |row| row.get::<_, String>(3)).unwrap();
            // No more than that: nothing is sorted.
            let steps: Vec<_> = steps.collect::<Result<_, _>>().unwrap();
            assert_eq!(steps, [format!("SEARCH export USING INDEX {plan}")]);
        }
    }
}
