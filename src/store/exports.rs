//! Exports in the store: their pages, their times, and the next page to fetch.

use std::sync::Arc;

use rusqlite::{Connection, Row, ToSql, Transaction, params};

use super::{account, write};
use crate::clock::Millis;
use crate::dates::Moment;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::listing::Listing;
use crate::listing::endpoint::PagedBy;
use crate::listing::page::Totals;
use crate::store::ClientStore;
use crate::store::fault::Fault;
use crate::store::flights::PageQueues;
use crate::store::lock::{SyncLock, take_sync};
use crate::store::pages::{self, StoredPage, days, first, pack, page_size, totals, whole, wire};
use crate::text::named_enum;

/// The time after its last page in which an unfinished export is resumed, if its range may still
/// change.
const MAX_RESUME_AGE: Millis = 24 * 3_600_000;

named_enum! {
    /// A part of a range.
    Content {
        Totals = "totals",
        /// All its rows.
        Pages = "pages",
    }
}

impl Content {
    /// All rows where `pages` are wanted.
    pub fn of(pages: bool) -> Self {
        if pages { Self::Pages } else { Self::Totals }
    }
}

/// The store's name of a listing, and its dates as they go on the wire.
#[derive(Debug, Clone)]
pub struct Range {
    pub project_id: Option<String>,
    /// The path with its placeholders, and the filters after it as a query.
    pub path: String,
    pub date_from: Option<String>,
    pub date_to: Option<String>,
    /// The time from which it is treated as final; `None` for never.
    pub settles: Option<Millis>,
    pub paged_by: PagedBy,
}

impl Range {
    /// The range of a listing. It is final `settle_days` days after its end.
    pub(crate) fn of(listing: &Listing, settle_days: u32) -> Self {
        let date = |name| listing.filter(name).map(str::to_owned);
        let end = listing.filter("dateTo");
        let end = end.and_then(|date| Moment::parse("date_to", date).ok());
        Self {
            project_id: listing.project_id.clone(),
            path: listing.name(),
            date_from: date("dateFrom"),
            date_to: date("dateTo"),
            settles: end.and_then(|end| end.settles(settle_days)),
            paged_by: listing.paged_by(),
        }
    }
}

/// Whether an export that began at `begun` is final, for a range that is final from `settles` on.
/// One that seems to come from the future was fetched while the clock was wrong, at an unknown
/// time.
pub fn is_final(begun: Millis, settles: Option<Millis>, now: Millis) -> bool {
    settles.is_some_and(|settles| settles <= begun) && begun <= now
}

/// An export, finished or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// Its number in the store.
    pub id: i64,
    /// The wire's `limit`.
    pub page_size: u32,
    pub begun: Millis,
    /// When it was whole.
    pub finished: Option<Millis>,
    /// Pages from the first on, without a gap.
    pub pages: u64,
    /// Rows in them.
    pub rows: u64,
    /// The next offset of an unfinished export; 0 for a finished one.
    pub next: u64,
    /// The totals of the first page that came.
    pub totals: Option<Totals>,
}

/// The stored exports of a range.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StoredRange {
    /// Finished, and final when it was begun. It is not fetched again.
    pub finished: Option<Export>,
    /// Unfinished. It continues at its `next`.
    pub unfinished: Option<Export>,
    /// The last finished one, final or not, for an estimate of the pages.
    pub latest: Option<Export>,
}

/// The exports of one organization. A clone is the same.
#[derive(Debug, Clone)]
pub struct Exports(pub Arc<ClientStore>, pub(super) PageQueues);

impl Exports {
    pub fn new(client: Arc<ClientStore>) -> Self {
        Self(client, PageQueues::default())
    }

    /// The stored exports of `range`, as an export with this page size would use them now.
    pub async fn stored_range(
        &self,
        range: Range,
        content: Content,
        page_size: u32,
    ) -> Result<StoredRange> {
        let look = move |transaction: &Transaction<'_>, account, now| {
            stored_range(transaction, account, &range, content, page_size, now)
        };
        self.read(look).await
    }

    /// Reads with the number of the client's account. The default if the store does not know the
    /// account.
    async fn read<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, i64, Millis) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let client = Arc::clone(&self.0);
        let look = move |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            match account::find(&transaction, &client.owner)? {
                Some(account) => work(&transaction, account, client.clock.now()),
                None => Ok(T::default()),
            }
        };
        self.0.store.run(look).await
    }

    /// The days of every range of the project and listing of `range` that was fetched by path, and
    /// how many rows each had when it was fetched last.
    pub async fn neighbours(&self, range: Range) -> Result<Vec<(Slice, u64)>> {
        let look = move |transaction: &Transaction<'_>, account, _| {
            // SQLite takes the other columns from the row that has the maximum.
            let mut found = transaction.prepare(
                "SELECT date_from, date_to, rows, max(begun) FROM export
                 WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND kind = 'pages' AND finished IS NOT NULL
                     AND date_from IS NOT NULL AND date_to IS NOT NULL
                 GROUP BY date_from, date_to",
            )?;
            let ranges = found
                .query_and_then((account, &range.project_id, &range.path), |row| {
                    Ok(days(row, 0)?.zip(Some(whole(row.get(2)?))))
                })?;
            ranges.filter_map(Result::transpose).collect()
        };
        self.read(look).await
    }

    /// The finished export, or the unfinished one to resume, or a new one. `refresh`: a new one in
    /// any case.
    ///
    /// If two processes begin at one time, with one page size and no refresh, the second continues
    /// the export of the first.
    pub async fn begin(
        &self,
        range: Range,
        content: Content,
        page_size: u32,
        refresh: bool,
    ) -> Result<Export> {
        let begin = self.0.writing(move |transaction, client| {
            let now = client.clock.now();
            let account = account::number(transaction, &client.owner)?;
            let found = match refresh {
                true => StoredRange::default(),
                false => stored_range(transaction, account, &range, content, page_size, now)?,
            };
            if let Some(export) = found.finished.or(found.unfinished) {
                return Ok(export);
            }
            transaction.execute(
                "INSERT INTO export
                     (account, project_id, path, date_from, date_to, kind, page_size, begun)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (
                    account,
                    &range.project_id,
                    &range.path,
                    &range.date_from,
                    &range.date_to,
                    content.as_str(),
                    page_size,
                    now,
                ),
            )?;
            Ok(Export {
                id: transaction.last_insert_rowid(),
                page_size,
                begun: now,
                ..Export::default()
            })
        });
        self.0.store.run(begin).await
    }

    /// Keeps a page whose request began at `asked`, and returns whether the export is whole with
    /// it. Unless the export was finished before, the page is on the disk when this returns. `date`
    /// is the service's time, which counts where it is later: this machine's clock may be behind.
    ///
    /// If another process has fetched the same page, the first one stays, unless this one was
    /// requested with more rows. The page is stored even if the future is dropped after its first
    /// poll. `lock` is dropped once the page is there.
    pub async fn put(
        &self,
        export: i64,
        page: StoredPage,
        totals: Option<Totals>,
        asked: Millis,
        date: Option<Millis>,
        lock: impl Send + 'static,
    ) -> Result<bool> {
        let client = Arc::clone(&self.0);
        let put = move |connection: &mut Connection| {
            let body = pack(&page.body)?;
            let whole = write(connection, |transaction| {
                // Read only now: another export may have begun while this one waited for the lock.
                let now = client.clock.now().max(date.unwrap_or(asked));
                put(transaction, export, &page, body, totals, asked, now)
            })?;
            drop(lock);
            Ok(whole)
        };
        self.0.store.see_to(put).await
    }

    /// Drops the page at `offset`, so that it is fetched again. The export goes on there.
    pub async fn reject(&self, export: i64, offset: u64) -> Result<()> {
        let drop = self.0.writing(move |transaction, _| {
            let page = r#"DELETE FROM page WHERE export = ?1 AND "offset" = ?2"#;
            if transaction.execute(page, (export, wire(offset)))? > 0 {
                let unfinished = "UPDATE export SET finished = NULL WHERE id = ?1";
                transaction.execute(unfinished, [export])?;
            }
            Ok(())
        });
        self.0.store.see_to(drop).await
    }

    pub async fn page(&self, export: i64, offset: u64) -> Result<Option<StoredPage>> {
        let find = move |connection: &mut _| pages::find(connection, export, pages::AT, offset);
        self.0.store.run(find).await
    }

    /// The last page that begins before `offset`, if there is one.
    pub async fn page_before(&self, export: i64, offset: u64) -> Result<Option<StoredPage>> {
        let find = move |connection: &mut _| pages::find(connection, export, pages::BEFORE, offset);
        self.0.store.run(find).await
    }

    /// The right to fill the store, unless another has it.
    pub async fn lock(&self) -> Result<Option<SyncLock>> {
        let client = Arc::clone(&self.0);
        let take = move |_: &mut _| take_sync(client.store.path());
        self.0.store.run(take).await
    }
}

/// The page size that a full page needs to be the whole listing for a call with `page_size`. Only a
/// page that is the only one may lack rows of a larger one.
pub(super) fn whole_page(paged_by: PagedBy, page_size: u32) -> u32 {
    match paged_by {
        PagedBy::Nothing => page_size,
        _ => 0,
    }
}

fn stored_range(
    transaction: &Transaction<'_>,
    account: i64,
    range: &Range,
    content: Content,
    page_size: u32,
    now: Millis,
) -> Result<StoredRange, Fault> {
    let of_range = params![
        account,
        range.project_id,
        range.path,
        range.date_from,
        range.date_to,
        content.as_str()
    ];
    let find = |which: &str, more: &[&dyn ToSql]| {
        let sql = format!("{OF_RANGE} {which}");
        first(transaction, &sql, &*[of_range, more].concat(), export)
    };
    // None if the range is never final: SQL compares nothing with NULL.
    let whole_page = whole_page(range.paged_by, page_size);
    let finished = find(STILL_FINAL, params![range.settles, now, whole_page])?;
    let latest = find(FINISHED, &[])?;
    // An unfinished export is not resumed after a later one has finished.
    let mut unfinished = find(UNFINISHED, params![page_size])?
        .filter(|export| latest.as_ref().is_none_or(|latest| latest.id < export.id));
    if let Some(export) = &mut unfinished {
        let walk = Walk::of(transaction, export.id)?;
        (export.pages, export.rows, export.next) = (walk.pages, walk.rows, walk.next);
        let last = "SELECT max(seen) FROM page WHERE export = ?1";
        let seen: Option<Millis> = transaction.query_row(last, [export.id], |row| row.get(0))?;
        // A time in the future was written before the clock was set back.
        let age = now
            .saturating_sub(seen.unwrap_or(export.begun))
            .saturating_abs();
        if !is_final(export.begun, range.settles, now) && age > MAX_RESUME_AGE {
            unfinished = None;
        }
    }
    Ok(StoredRange {
        finished,
        unfinished,
        latest,
    })
}

/// The exports of a range. With each condition below, an index finds the row in a few steps. A test
/// checks SQLite's plan.
const OF_RANGE: &str = "SELECT id, page_size, begun, finished, pages, rows, human, ai, total FROM export
    WHERE account = ?1 AND project_id IS ?2 AND path = ?3 AND date_from IS ?4 AND date_to IS ?5 AND kind = ?6";
const FINISHED: &str = "AND finished IS NOT NULL ORDER BY begun DESC, id DESC LIMIT 1";
/// See [`is_final`].
const STILL_FINAL: &str = "AND finished IS NOT NULL AND begun >= ?7 AND begun <= ?8 AND (page_size >= ?9 OR rows < page_size)
    ORDER BY begun DESC, id DESC LIMIT 1";
const UNFINISHED: &str = "AND page_size = ?7 AND finished IS NULL ORDER BY id DESC LIMIT 1";

fn export(row: &Row<'_>) -> Result<Export, Fault> {
    let count = |column| {
        let number = row.get::<_, Option<i64>>(column);
        number.map(|number| number.map_or(0, whole))
    };
    Ok(Export {
        id: row.get(0)?,
        page_size: page_size(row, 1)?,
        begun: row.get(2)?,
        finished: row.get(3)?,
        pages: count(4)?,
        rows: count(5)?,
        next: 0,
        totals: totals(row, 6)?,
    })
}

fn put(
    transaction: &Transaction<'_>,
    export: i64,
    page: &StoredPage,
    body: Vec<u8>,
    totals: Option<Totals>,
    asked: Millis,
    now: Millis,
) -> Result<bool, Fault> {
    // Another call may have finished it meanwhile. Its pages stay as they are, because they lead to
    // each other.
    let is_finished = "SELECT finished IS NOT NULL FROM export WHERE id = ?1";
    let finished = first(transaction, is_finished, [export], |row| Ok(row.get(0)?));
    if finished? == Some(true) {
        return Ok(true);
    }
    // The export begins with its first request, which may have waited for the budget. If a page
    // came before its request by the service's clock, this machine's clock is ahead.
    transaction.execute(
        "UPDATE export SET begun = min(?2, iif(EXISTS (SELECT 1 FROM page WHERE export = ?1), begun, ?2)) WHERE id = ?1",
        (export, asked.min(page.seen)),
    )?;
    // An answer to a request for more rows replaces one to a request for fewer.
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
    if let Some(totals) = totals {
        transaction.execute(
            "UPDATE export SET human = ?2, ai = ?3, total = ?4 WHERE id = ?1 AND total IS NULL",
            (export, totals.human, totals.ai, totals.total),
        )?;
    }
    // The time of exports from the future is unknown: the clock was ahead, and was set back. This
    // is done only after a page came, so that a reader whose clock is behind changes nothing.
    transaction.execute(
        "UPDATE export SET begun = 0, finished = min(finished, ?1) WHERE begun > ?1",
        [now],
    )?;
    // An export may be whole if it is of totals, which one page has, or if its last page is there.
    let ended =
        "SELECT kind = 'totals' OR EXISTS (SELECT 1 FROM page WHERE export = ?1 AND has_more = 0)
         FROM export WHERE id = ?1";
    if !transaction.query_row(ended, [export], |row| row.get(0))? {
        return Ok(false);
    }
    let walk = Walk::of(transaction, export)?;
    let finished = transaction.execute(
        "UPDATE export SET finished = ?2, pages = ?3, rows = ?4 WHERE id = ?1 AND (kind = 'totals' OR ?5)",
        (
            export,
            page.seen,
            wire(walk.pages),
            wire(walk.rows),
            walk.whole,
        ),
    )?;
    if walk.whole {
        // Pages that were prefetched, or fetched for an offset, may lie beyond the end, or overlap.
        for offset in walk.stray {
            let stray = r#"DELETE FROM page WHERE export = ?1 AND "offset" = ?2"#;
            transaction.execute(stray, (export, wire(offset)))?;
        }
    }
    Ok(finished > 0)
}

/// The way through an export's pages, from the first one on as a pager goes.
#[derive(Default)]
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
        let sql = format!(
            r#"SELECT {} FROM page WHERE export = ?1 ORDER BY "offset""#,
            StoredPage::EXTENT
        );
        let mut pages = transaction.prepare(&sql)?;
        let mut walk = Self::default();
        for place in pages.query_map([export], StoredPage::read)? {
            let place = place?;
            if walk.whole || place.offset != walk.next {
                walk.stray.push(place.offset);
                continue;
            }
            walk.pages += 1;
            walk.rows = walk.rows.saturating_add(place.rows);
            walk.next = place.next();
            walk.whole = !place.has_more;
        }
        Ok(walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_costs_the_same_few_steps_however_often_it_was_fetched() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(include_str!("schema.sql"))
            .unwrap();
        let range =
            "account=? AND project_id=? AND path=? AND date_from=? AND date_to=? AND kind=?";
        for (which, parameters, plan) in [
            (
                STILL_FINAL,
                9,
                format!("export_finished ({range} AND begun>? AND begun<?)"),
            ),
            (FINISHED, 6, format!("export_finished ({range})")),
            (
                UNFINISHED,
                7,
                format!("export_unfinished ({range} AND page_size=?)"),
            ),
        ] {
            let mut explain = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {OF_RANGE} {which}"))
                .unwrap();
            let nothing = rusqlite::params_from_iter(vec![rusqlite::types::Null; parameters]);
            let steps = explain
                .query_map(nothing, |row| row.get::<_, String>(3))
                .unwrap();
            // No more than that: nothing is sorted.
            let steps: Vec<_> = steps.collect::<Result<_, _>>().unwrap();
            assert_eq!(steps, [format!("SEARCH export USING INDEX {plan}")]);
        }
    }
}
