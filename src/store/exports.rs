//! Exports in the store: what was fetched, when, and what is left to fetch.

use std::sync::Arc;

use rusqlite::Connection;

use super::account;
use crate::clock::Millis;
use crate::dates::Moment;
use crate::dates::slices::Slice;
use crate::error::Result;
use crate::listing::Listing;
use crate::listing::rows::Totals;
use crate::store::ClientStore;
use crate::store::export_table::{self, ExportTable};
use crate::store::lock::SyncLock;
use crate::store::pages::{self, StoredPage, Which};

/// Which part of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Totals,
    /// All its rows.
    Pages,
}

impl What {
    /// All rows where `pages` are wanted.
    pub fn of(pages: bool) -> Self {
        if pages { Self::Pages } else { Self::Totals }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Totals => "totals",
            Self::Pages => "pages",
        }
    }
}

/// What is listed, as it goes on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub project_id: Option<String>,
    /// The path, with its placeholders.
    pub path: String,
    pub date_from: Option<String>,
    pub date_to: Option<String>,
    /// When it is treated as final; `None`: never.
    pub settles: Option<Millis>,
}

impl Range {
    /// Of a listing; it is final `settle_days` days after its end.
    pub(crate) fn of(listing: &Listing, settle_days: u32) -> Self {
        let date = |name| listing.filter(name).map(str::to_owned);
        let (date_from, date_to) = (date("dateFrom"), date("dateTo"));
        let end = date_to.as_deref().and_then(|date| Moment::parse("date_to", date).ok());
        let settles = end.and_then(|end| end.settles(settle_days));
        let project_id = listing.project_id().map(str::to_owned);
        Self { project_id, path: listing.name(), date_from, date_to, settles }
    }
}

/// Whether an export that began at `begun` is final, for a range that is final from `settles` on. One that seems to come
/// from the future was fetched while the clock was wrong, at an unknown time.
pub fn is_final(begun: Millis, settles: Option<Millis>, now: Millis) -> bool {
    settles.is_some_and(|settles| settles <= begun) && begun <= now
}

/// An export, finished or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Its number in the store.
    pub id: i64,
    /// What it is of its range.
    pub what: What,
    /// The wire's `limit`.
    pub page_size: u32,
    pub begun: Millis,
    /// When it was whole.
    pub finished: Option<Millis>,
    /// Pages from the first on, without a gap.
    pub pages: u64,
    /// Rows in them.
    pub rows: u64,
    /// Where an unfinished one goes on; 0 for a finished one.
    pub next: u64,
    /// The totals of the first page that came.
    pub totals: Option<Totals>,
}

/// What the store has of a range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stock {
    /// Finished, and settled when it was begun: it need not be fetched again.
    pub finished: Option<Export>,
    /// Unfinished: it continues at its `next`.
    pub unfinished: Option<Export>,
    /// The last one that was finished, settled or not: how many pages it may be.
    pub latest: Option<Export>,
}

/// The exports of one organization. A clone is the same.
#[derive(Debug, Clone)]
pub struct Exports(pub Arc<ClientStore>);

impl Exports {
    /// What there is of `range`, if it were exported now with this page size.
    pub async fn stock(&self, range: Range, what: What, page_size: u32) -> Result<Stock> {
        let client = Arc::clone(&self.0);
        let look = move |connection: &mut Connection| {
            export_table::doubt(connection, &client.clock)?;
            let transaction = connection.transaction()?;
            // An organization that the store does not know has nothing.
            let Some(account) = account::find(&transaction, &client.owner)? else {
                return Ok(Stock::default());
            };
            ExportTable { account, transaction: &transaction }.stock(
                &range,
                what,
                page_size,
                client.clock.now(),
            )
        };
        self.0.store.run(look).await
    }

    /// The days of every range of the project and listing of `range` that was fetched by path, and how many rows it had.
    pub async fn neighbours(&self, range: Range) -> Result<Vec<(Slice, u64)>> {
        let client = Arc::clone(&self.0);
        let look = move |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let Some(account) = account::find(&transaction, &client.owner)? else { return Ok(Vec::new()) };
            ExportTable { account, transaction: &transaction }.neighbours(&range)
        };
        self.0.store.run(look).await
    }

    /// The finished export, or the unfinished one to resume, or a new one. `refresh`: a new one in any case.
    ///
    /// Of two processes that begin at one time, the second continues with the first one's.
    pub async fn begin(&self, range: Range, what: What, page_size: u32, refresh: bool) -> Result<Export> {
        let client = Arc::clone(&self.0);
        let begin = move |connection: &mut Connection| {
            export_table::doubt(connection, &client.clock)?;
            let transaction = export_table::immediate(connection)?;
            let now = client.clock.now();
            let account = account::number(&transaction, &client.owner)?;
            let table = ExportTable { account, transaction: &transaction };
            let found = if refresh { Stock::default() } else { table.stock(&range, what, page_size, now)? };
            let export = match found.finished.or(found.unfinished) {
                Some(export) => export,
                None => table.insert(&range, what, page_size, now)?,
            };
            transaction.commit()?;
            Ok(export)
        };
        self.0.store.run(begin).await
    }

    /// Keeps a page, and tells whether the export is whole with it. It is on the disk when this returns.
    ///
    /// Of a page that another process has fetched as well, the first stays. Dropping the future does not prevent it.
    pub async fn put(&self, export: i64, page: StoredPage, totals: Option<Totals>) -> Result<bool> {
        self.0.store.see_to(move |connection| export_table::put(connection, export, &page, totals)).await
    }

    pub async fn page(&self, export: i64, offset: u64) -> Result<Option<StoredPage>> {
        self.0.store.run(move |connection| pages::find(connection, export, Which::At(offset))).await
    }

    /// The last page that begins before `offset`, if there is one.
    pub async fn page_before(&self, export: i64, offset: u64) -> Result<Option<StoredPage>> {
        self.0.store.run(move |connection| pages::find(connection, export, Which::Before(offset))).await
    }

    /// The right to fill the store, unless another has it.
    pub async fn lock(&self) -> Result<Option<SyncLock>> {
        let client = Arc::clone(&self.0);
        self.0.store.run(move |_| SyncLock::take(client.store.path())).await
    }
}
